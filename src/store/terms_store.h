/* terms_store.h: by what a job's results are judged beside its provider's row: its contract, the
 * route, its input. */
#ifndef STORE_TERMS_STORE_H
#define STORE_TERMS_STORE_H

#include "base/id.h"
#include "base/rc.h"
#include "core/contract.h"
#include "core/job.h"
#include "store/db.h"

struct job_terms {
	bool has_contract;
	struct contract *contract; /* NULL: none, or this program can't read that version */
	const struct route *route; /* inside it; NULL: it doesn't name that provider */
	struct blob input;	   /* NULL: purged, or a tombstone */
};
void job_terms_release(struct job_terms *terms);

/* A contract's version and an input never change, so this is true for longer than the reading. In a
 * transaction or outside. RC_NOT_FOUND: no such job. */
MUST_CHECK enum rc terms_store_read(struct db *db, const struct id *job_id, const char *provider,
				    struct job_terms *terms_out);

#endif
