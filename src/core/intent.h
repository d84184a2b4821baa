/* intent.h: the body of a create -> an intent and its fingerprint.
 *
 * The intent is every member of the body, a left-out one equal to its default, times as instants.
 * Two intents are the same exactly when their fingerprints are: SHA-256 over a canonical form (see
 * json_canon) of all members. */
#ifndef CORE_INTENT_H
#define CORE_INTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/rc.h"
#include "core/flaws.h"
#include "core/job.h"

#define INTENT_DEPTH_MAX 64
#define INTENT_MAX_ATTEMPTS_DEFAULT 3

struct intent {
	char contract[NAME_MAX_LEN + 1]; /* one of the two is "" */
	char provider[NAME_MAX_LEN + 1];
	const char *input; /* inside the body, as written */
	size_t input_len;
	const char *metadata; /* inside the body, or "{}" */
	size_t metadata_len;
	uint32_t max_attempts;
	int64_t not_before_us; /* 0: none */
	int64_t expires_us;
	int64_t deadline_us;
	unsigned char fingerprint[SHA256_BYTES];
};

/* `root`: the parsed body, which must outlive the intent. RC_INVALID: `flaws` has them all.
 * RC_FAULT: no memory. */
MUST_CHECK enum rc intent_read(const struct json_value *root, struct intent *intent_out,
			       struct flaws *flaws);

#endif
