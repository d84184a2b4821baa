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
	bool begun; /* a row of it was read */
	bool large; /* its payloads were left out: see SQL_JOBS_LOOK */
};

/* All rows of a run JOB_AND_ATTEMPTS statement, which are one job: RC_OK; RC_NOT_FOUND: no row at
 * all; RC_CONFLICT: a row, but no job in it (the left side of a left join only). */
MUST_CHECK enum rc rows_job(struct stmt *st, struct job_row *row_out);

/* The same for a statement about several jobs, whose rows may come in any order: which job the next
 * row is of (RC_NOT_FOUND: no more); the rest of that row, into what is there of the job so far
 * (zeroed at first, and to be released in any case); and, when all rows were read, its attempts in
 * their order. */
MUST_CHECK enum rc rows_next(struct stmt *st, struct id *id_out);
MUST_CHECK enum rc rows_merge(struct stmt *st, const struct id *id, struct job_row *row);
void rows_whole(struct job_row *row);

/* The next row of a list. RC_NOT_FOUND: no more. */
MUST_CHECK enum rc rows_list_job(struct stmt *st, struct job *job_out);
MUST_CHECK enum rc rows_attempt(struct stmt *st, struct attempt *attempt_out);

/* The job as it is now, by id, whoever asks. */
MUST_CHECK enum rc rows_read_job(struct db *db, const struct id *id, struct job *job_out);

extern const struct id ID_ABOVE_ALL; /* ff..ff: where a list begins */

#endif
