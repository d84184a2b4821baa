/* provider_def.h: a provider's row: an outside HTTP service that can do the work, and how to read
 * what it says. */
#ifndef CORE_PROVIDER_DEF_H
#define CORE_PROVIDER_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/flaws.h"
#include "core/job.h"

#define PROVIDER_MAX_BYTES 65536 /* of a definition */
#define PROVIDER_HEADERS_MAX 32
#define PROVIDER_HEADER_NAME_MAX 256 /* bytes */
#define PROVIDER_OUTCOMES_MAX 64

enum override {
	OVERRIDE_SUCCEEDED,
	OVERRIDE_FAILED,
	OVERRIDE_RETRY,
	OVERRIDE_UNKNOWN,
	OVERRIDE__MAX
};

enum result_as { RESULT_AS_VALUE, RESULT_AS_JSON, RESULT_AS_TEXT, RESULT_AS__MAX };

struct provider_header {
	char *name;
	char *value; /* may hold ${env:NAME} and ${file:PATH}, which the poller alone reads */
};

struct provider_outcome {
	uint32_t status; /* 100 to 599; 0 stands for `empty`: a 2xx without a body */
	enum override means;
};

/* What the provider's own word for the state of its work means. */
enum status_means { STATUS_SUCCEEDED, STATUS_FAILED, STATUS_WORKING, STATUS_MEANS__MAX };

#define PROVIDER_STATUS_WORDS_MAX 64

struct provider_status_word {
	char *word;
	enum status_means means;
};

struct provider_def {
	char *url; /* http or https, absolute, no user info, no fragment */
	char *method;
	struct provider_header headers[PROVIDER_HEADERS_MAX];
	size_t headers_len;
	uint32_t connect_timeout_ms; /* 1 to 600,000; default 5,000; no longer than the lease */
	uint32_t timeout_ms;	/* 1 to 86,400,000; default 30,000; the whole exchange, connecting
				   included */
	uint32_t max_in_flight; /* 1 to 100,000; default 64; all pollers together */
	uint32_t max_result_bytes; /* 1 to 67,108,864; default 1,048,576; after decoding */
	char *key_header;	   /* default Idempotency-Key */
	bool key_honoured;	   /* default false */
	bool side_effects;	   /* default true */
	struct provider_outcome outcomes[PROVIDER_OUTCOMES_MAX];
	size_t outcomes_len;
	uint32_t retry_base_ms; /* 1 to 86,400,000; default 1,000 */
	uint32_t retry_max_ms;	/* retry_base_ms to 86,400,000; default 300,000 */
	char *result_pointer;	/* RFC 6901; default "" */
	enum result_as result_as;
	bool enabled; /* default true */

	/* 202: the provider has taken the work and answers later. Without this row a 202 is read
	 * like any 2xx. */
	bool has_accepted;
	char *accepted_reference; /* pointer to the provider's own name for the work; NULL: it gives
				     none */
	uint32_t accepted_deadline_ms; /* then the attempt is unknown; 1,000 to 2,592,000,000;
					  default 3,600,000 */

	/* How to ask what became of an attempt: GET, with the row's headers. The URL may hold
	 * placeholders (see fill.h). */
	bool has_status;
	char *status_url;
	char *status_state; /* pointer to its word for the state */
	struct provider_status_word status_words[PROVIDER_STATUS_WORDS_MAX];
	size_t status_words_len;
	char *status_result; /* pointer to the result; default "" */

	/* A cancel is passed on; its answer decides nothing unless it proves the end. */
	bool has_cancel;
	char *cancel_url;    /* may hold placeholders */
	char *cancel_method; /* default POST */
	bool cancel_proves;  /* a 2xx proves that the work has no effect and never will */
};

/* Read a definition from a parsed JSON text. RC_OK: *def_out is the caller's,
 * provider_def_release() it. RC_INVALID: each flaw is added to `flaws` with its pointer (unknown
 * members are named, nothing is ignored). RC_FAULT: no memory. Header values: no CR, LF or NUL
 * (field-value of RFC 9110); names are tokens; the names that the poller sets itself (Host,
 * Content-Length, Transfer-Encoding, Connection, traceparent, User-Agent, the key header) are
 * refused. */
MUST_CHECK enum rc provider_def_read(const struct json_value *json, struct provider_def *def_out,
				     struct flaws *flaws);
void provider_def_release(struct provider_def *def);

/* How long the answer to a status query or a cancel may take: not the time for the work itself. */
#define PROVIDER_QUESTION_MAX_MS 30000
uint32_t provider_def_question_ms(const struct provider_def *def);

/* A URL of the row that can't be filled without the provider's reference. */
bool provider_def_needs_reference(const char *url);

/* There is a way to ask what became of work: its status, or the same request again under its key.
 * named: the provider's reference to it is known. */
bool provider_def_can_ask(const struct provider_def *def, bool named);

/* Adds the whole definition as JSON, defaults filled in: what is stored, and what a GET shows.
 * Reading it back gives the same definition. */
void provider_def_write(const struct provider_def *def, struct text *out);

#endif
