/* callback_read.h: the body of a callback -> what the provider says about its attempt.
 *
 * Our own form is an object with `outcome` ("succeeded" or "failed") and no members but `result`
 * and `error`; its result is the result itself, for which a contract's schema and checks hold and
 * its route's pointers don't. Anything else is the provider's own body, read like an answer by its
 * row, or by the contract and its route. */
#ifndef CORE_CALLBACK_READ_H
#define CORE_CALLBACK_READ_H

#include <stddef.h>

#include "base/rc.h"
#include "core/outcome.h"
#include "core/provider_def.h"

/* *outcome_out: RESULT, FAILED (provider_failed; contract_violation for a body that can't be used;
 * too_large for a result, or a provider's own body, past the row's max_result_bytes), or, where the
 * route's `doubt` holds, UNKNOWN: then the callback settles nothing. terms NULL: no contract. def
 * NULL: the provider's row is gone; without terms only our own form can be read then, and
 * RC_INVALID says that it isn't. RC_OK: outcome_release() it. */
MUST_CHECK enum rc callback_read(const struct provider_def *def, const struct terms *terms,
				 const char *body, size_t len, struct outcome *outcome_out);

#endif
