/* rows.h: rows -> structs. Private to store. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include <stdbool.h>

#include "base/digest.h"
#include "core/job.h"
#include "store/stmt.h"

/* A job with what only store looks at. */
struct job_row {
	struct job job;
	bool has_fingerprint; /* false: a tombstone */
	unsigned char fingerprint[SHA256_BYTES];
};

/* All rows of a run JOB_AND_ATTEMPTS statement, which are one job: RC_OK; RC_NOT_FOUND: no row at
 * all; RC_CONFLICT: a row, but no job in it (the left side of a left join only). */
MUST_CHECK enum rc rows_job(struct stmt *st, struct job_row *row_out);

/* The next row of a list. RC_NOT_FOUND: no more. */
MUST_CHECK enum rc rows_list_job(struct stmt *st, struct job *job_out);
MUST_CHECK enum rc rows_attempt(struct stmt *st, struct attempt *attempt_out);

/* The job as it is now, by id, whoever asks. */
MUST_CHECK enum rc rows_read_job(struct db *db, const struct id *id, struct job *job_out);

extern const struct id ID_ABOVE_ALL; /* ff..ff: where a list begins */

#endif
