/* answer.h: a provider's answer while it comes in: what its header says, and its body up to a cap.
 * Knows no libcurl. */
#ifndef PROVIDER_ANSWER_H
#define PROVIDER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define ANSWER_HEADER_MAX_BYTES 65536 /* interim answers and trailers included */
#define ANSWER_VALUE_MAX_BYTES 128    /* of Retry-After and Date; a longer one can't be read */

enum sighting { SEEN_NEVER, SEEN_ONCE, SEEN_TWICE };

struct header_value {
	enum sighting sighting;
	size_t len;
	char bytes[ANSWER_VALUE_MAX_BYTES];
};

struct answer {
	size_t header_bytes;
	bool begun;    /* something came back */
	bool overflow; /* more header than ANSWER_HEADER_MAX_BYTES */
	bool bad_line; /* a header line without a name */
	bool no_memory;
	/* From here on each status line starts anew, so an interim answer leaves nothing behind. */
	uint32_t status; /* 0: no status line yet */
	bool header_done;
	bool chunked;
	bool encoded;
	bool two_lengths;
	bool has_length;
	uint64_t length;
	struct header_value retry_after;
	struct header_value date;
	bool too_large;
	struct text body;
};

void answer_init(struct answer *answer, size_t body_max_bytes);
void answer_release(struct answer *answer);

/* One line of the header as it came, line end included. False: it can't go on. */
bool answer_line(struct answer *answer, const char *line, size_t len);

/* A piece of the decoded body. What is over the cap is dropped and remembered as too_large. False:
 * no memory. */
bool answer_body(struct answer *answer, const char *bytes, size_t len);

/* Only the close says where the body ends. */
bool answer_close_delimited(const struct answer *answer);

/* Milliseconds from the answer's own Date, or from now_us where it has no readable one; -1 for none
 * (see retry_after.h). */
int64_t answer_retry_after_ms(const struct answer *answer, int64_t now_us);

#endif
