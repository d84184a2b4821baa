/* result_read.h: a provider's whole body -> the result in it, by a pointer and `as`. */
#ifndef CORE_RESULT_READ_H
#define CORE_RESULT_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/provider_def.h"

#define RESULT_DEPTH_MAX 64

enum result_verdict {
	RESULT_FOUND,
	RESULT_BROKEN,	/* not what is due: the contract is violated */
	RESULT_UNENDED, /* a body without a proven end that may be part of a longer one */
	RESULT_VERDICT__MAX
};

/* Where in a body the result is. */
struct result_place {
	const char *pointer;
	enum result_as as;
};

/* The body itself is the text, and needn't be JSON. */
bool result_is_body(const struct result_place *place);

/* All three: `ends_proven`: HTTP told where the body ends and that all of it came. RC_OK: the
 * verdict, and where it isn't FOUND a sentence part in `why`, without any of the payload. RC_FAULT:
 * no memory, or `result` is full. */

/* The body as JSON, by the strict scanner. FOUND: *doc_out is the caller's, json_free() it; else it
 * is NULL. `body` must outlive it. */
MUST_CHECK enum rc result_parse(const char *body, size_t len, bool ends_proven,
				struct json_doc **doc_out, enum result_verdict *verdict_out,
				struct text *why);

/* What stands at the place, byte for byte. */
MUST_CHECK enum rc result_take(const struct result_place *place, const struct json_value *root,
			       enum result_verdict *verdict_out, struct text *result,
			       struct text *why);

/* The body as one string; for result_is_body() alone. */
MUST_CHECK enum rc result_take_body(const char *body, size_t len, bool ends_proven,
				    enum result_verdict *verdict_out, struct text *result,
				    struct text *why);

#endif
