/* status_read.h: what a provider says about work that it has taken: its reference in a 202, its
 * state in a status answer. */
#ifndef CORE_STATUS_READ_H
#define CORE_STATUS_READ_H

#include <stddef.h>

#include "base/rc.h"
#include "base/text.h"
#include "core/outcome.h"
#include "core/provider_def.h"

/* A string, or a number as written, at the row's pointer; "" where there is none that can be used
 * (control bytes, too long). RC_FAULT: no memory. */
MUST_CHECK enum rc accepted_reference(const struct provider_def *def, const char *body, size_t len,
				      char reference_out[REFERENCE_MAX_BYTES + 1]);

/* A whole 2xx answer whose state the row knows decides; all else keeps the doubt, and `detail` says
 * what was seen: kind RESULT, FAILED (provider_failed, or contract_violation where it succeeded
 * without a usable result) or UNKNOWN.
 *
 * The answer to a question has a shape of its own, and the row says where the result stands in it:
 * so of `terms` (NULL: no contract) only the schema and the checks apply, as for any result that is
 * told as such. The route's result, doubt and require name places of the answer to the work itself;
 * here they would find another thing, or nothing, and turn good work into a violation. */
MUST_CHECK enum rc status_of(const struct seen *seen, const struct provider_def *def,
			     const struct terms *terms, struct outcome *outcome_out);

/* The answer to a cancel: CANCELLED for a whole 200, 203 or 204 where the row says that it proves
 * the end; else UNKNOWN, in words. A 202 only takes the wish down, and proves nothing. */
MUST_CHECK enum rc cancel_of(const struct seen *seen, const struct provider_def *def,
			     struct outcome *outcome_out);

#endif
