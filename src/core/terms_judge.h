/* terms_judge.h: what a provider's body or a result means, by the provider's row and by the terms
 * of a contract. Private to core: outcome.c, status_read.c and callback_read.c say what was seen
 * before.
 *
 * Each adds to outcome->detail, which already says what came ("the provider answered 200"), and
 * decides: RESULT with the result; FAILED with contract_violation; UNKNOWN. What a contract can't
 * judge is never a success: it is a violation, in words that say so. `terms` NULL: no contract. */
#ifndef CORE_TERMS_JUDGE_H
#define CORE_TERMS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rc.h"
#include "core/contract.h"
#include "core/outcome.h"
#include "core/provider_def.h"

/* A success's whole body. First the route's `doubt` (one holds: UNKNOWN, gateway), then its
 * `require`, then what stands at its pointer, then the contract's schema and checks. A body that
 * isn't JSON is a violation where JSON is due; taken as text it meets no requirement, and is a
 * doubt where it means to be JSON (begins with { or [) and the route has one. def may be NULL where
 * there are terms. RC_FAULT: no memory, or outcome->result is full. */
MUST_CHECK enum rc terms_judge_body(const struct provider_def *def, const struct terms *terms,
				    const char *body, size_t len, bool ends_proven,
				    struct outcome *outcome);

/* The result itself, as it stands in outcome->result: schema and checks, no pointers. */
MUST_CHECK enum rc terms_judge_result(const struct provider_def *def, const struct terms *terms,
				      struct outcome *outcome);

/* The provider has done the work, and what it says of it can't be used. */
void terms_unusable(const struct provider_def *def, const struct terms *terms, enum reason reason,
		    const char *words, struct outcome *outcome);

#endif
