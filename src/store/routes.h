/* routes.h: where a job with a contract may go next, decided inside the transaction that sends it
 * there. Private to store.
 *
 * The first route is always open. Every other one needs a certificate that is valid at this moment:
 * the claim asks again, so that one that dies in between stops the fail-over. */
#ifndef STORE_ROUTES_H
#define STORE_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/contract.h"
#include "core/job.h"
#include "store/certificate_store.h"
#include "store/db.h"
#include "store/lock.h"

/* Whether an operator, or the fallback button, may name this provider. */
enum gate {
	GATE_OPEN,
	GATE_NO_SUCH_PROVIDER,
	GATE_DISABLED,	    /* a provider without a contract, or a first route */
	GATE_NOT_CERTIFIED, /* *standing_out says why */
	GATE__MAX
};
MUST_CHECK enum rc routes_gate(struct db *db, const struct locked_job *job, const char *provider,
			       enum gate *gate_out, enum standing *standing_out);

/* The provider of the job's first route. RC_NOT_FOUND: there is no such version. */
MUST_CHECK enum rc routes_first(struct db *db, const struct locked_job *job, char *provider_out);

struct route_choice {
	bool stop;			 /* no route is left, or the contract says stop */
	bool fresh;			 /* a route that this job hasn't tried: no back-off */
	char provider[NAME_MAX_LEN + 1]; /* where to go */
};

/* After an attempt at `from` failed for certain: by the contract's policy for the reason. The
 * routes that were passed over are kept on the job, with why. retryable: the failure left nothing
 * behind and may be repeated there by its nature. */
MUST_CHECK enum rc routes_choose(struct db *db, const struct locked_job *job, const char *from,
				 enum reason reason, bool retryable,
				 struct route_choice *choice_out);

/* The job is queued along a route that may not be taken any more: it goes on to the next one that
 * may, or fails for good. */
MUST_CHECK enum rc routes_again(struct db *db, const struct id *job_id);

#endif
