/* result_read.h: a provider's whole body -> the result in it, by the row's pointer and `as`. */
#ifndef CORE_RESULT_READ_H
#define CORE_RESULT_READ_H

#include <stdbool.h>
#include <stddef.h>

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

/* `ends_proven`: HTTP told where the body ends and that all of it came. RC_OK: *verdict_out, and in
 * `result` the JSON text byte for byte, or in `why` a sentence part without any of the payload.
 * RC_FAULT: no memory. Both texts are the caller's and begin empty. */
MUST_CHECK enum rc result_read(const struct provider_def *def, const char *body, size_t len,
			       bool ends_proven, enum result_verdict *verdict_out,
			       struct text *result, struct text *why);

#endif
