#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

const struct id ID_ABOVE_ALL = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				   0xff, 0xff, 0xff, 0xff, 0xff } };

/* A name that this program doesn't know was written by a newer one. What is only shown stays at its
 * first value; a state is never made up. */
#define COL_ENUM(st, out, parse)                                                                   \
	do {                                                                                       \
		char name_[64];                                                                    \
		size_t len_ = col_bytes(st, name_, sizeof name_);                                  \
		(void)parse(name_, len_, out);                                                     \
	} while (0)

static bool read_job_columns(struct stmt *st, struct job_row *row)
{
	struct job *job = &row->job;
	bool ok = col_blob(st, &job->owner);

	ok = col_blob(st, &job->key) && ok; /* without memory, too, the next column is the next */
	row->has_fingerprint = col_bytes(st, row->fingerprint, SHA256_BYTES) == SHA256_BYTES;
	col_name(st, job->contract, sizeof job->contract);
	job->contract_version = (uint32_t)col_u64(st);
	col_name(st, job->provider, sizeof job->provider);
	char state[32];

	bool known = job_state_parse(state, col_bytes(st, state, sizeof state), &job->state);

	ok = ok && known;
	job->version = col_u64(st);
	job->revision = col_u64(st);
	job->has_completed_by = col_id(st, &job->completed_by);
	ok = ok && col_blob(st, &job->input) && col_blob(st, &job->metadata) &&
	     col_blob(st, &job->result);
	if (!ok)
		return false;
	job->max_attempts = (uint32_t)col_u64(st);
	job->attempt_count = (uint32_t)col_u64(st);
	job->not_before_us = col_time(st);
	job->expires_us = col_time(st);
	job->deadline_us = col_time(st);
	job->run_after_us = col_time(st);
	job->purged_us = col_time(st);
	job->created_us = col_time(st);
	job->updated_us = col_time(st);
	COL_ENUM(st, &job->error_reason, reason_parse);
	ok = col_blob(st, &job->error_detail);
	job->has_error_attempt = col_id(st, &job->error_attempt_id);
	job->effect_done = col_u64(st) != 0;
	ok = ok && col_blob(st, &job->passed_over);
	job->past_deadline = ok && col_u64(st) != 0;
	return ok;
}

static bool read_attempt_columns(struct stmt *st, struct attempt *attempt, bool *present_out)
{
	*attempt = (struct attempt){ 0 };
	*present_out = col_id(st, &attempt->id);
	if (!*present_out)
		return true;
	(void)col_id(st, &attempt->job_id);
	attempt->number = (uint32_t)col_u64(st);
	col_name(st, attempt->provider, sizeof attempt->provider);
	char state[32];
	bool ok = attempt_state_parse(state, col_bytes(st, state, sizeof state), &attempt->state);

	COL_ENUM(st, &attempt->phase, phase_parse);
	COL_ENUM(st, &attempt->reason, reason_parse);
	attempt->http_status = (uint32_t)col_u64(st);
	attempt->version_read = col_u64(st);
	ok = ok && col_blob(st, &attempt->detail) && col_blob(st, &attempt->note);
	if (!ok)
		return false;

	attempt->started_us = col_time(st);
	attempt->finished_us = col_time(st);
	ok = ok && col_blob(st, &attempt->reference);
	attempt->asked = (uint32_t)col_u64(st);
	attempt->next_ask_us = col_time(st);
	ok = ok && col_blob(st, &attempt->last_answer) && col_blob(st, &attempt->settled_by);
	if (!ok)
		return false;
	attempt->settled_us = col_time(st);
	attempt->has_certificate = col_id(st, &attempt->certificate_id);
	return true;
}

static bool add_attempt(struct job *job, const struct attempt *attempt)
{
	struct attempt *longer = realloc(job->attempts, (job->attempts_len + 1) * sizeof *longer);

	if (!longer)
		return false;
	job->attempts = longer;
	job->attempts[job->attempts_len++] = *attempt;
	if (attempt_in_doubt(attempt->state)) {
		job->in_doubt = true;
		job->asked_about = attempt->next_ask_us != 0;
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct attempt *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

static void swap(struct blob *a, struct blob *b)
{
	struct blob kept = *a;

	*a = *b;
	*b = kept;
}

/* Each row repeats the job; the payloads come with the row of attempt 1, which need not be the
 * first to arrive. */
enum rc rows_merge(struct stmt *st, const struct id *id, struct job_row *row)
{
	struct job_row repeat = { 0 };
	struct job_row *into = row->begun ? &repeat : row;
	struct attempt attempt;
	bool present;
	enum rc rc = RC_FAULT;

	into->begun = true;
	into->job.id = *id;
	if (!read_job_columns(st, into))
		goto out;
	if (repeat.job.input.bytes) {
		swap(&row->job.input, &repeat.job.input);
		swap(&row->job.metadata, &repeat.job.metadata);
		swap(&row->job.result, &repeat.job.result);
	}
	row->large = col_u64(st) != 0;
	if (!read_attempt_columns(st, &attempt, &present) ||
	    (present && !add_attempt(&row->job, &attempt))) {
		attempt_release(&attempt);
		goto out;
	}
	rc = RC_OK;
out:
	job_release(&repeat.job);
	return rc;
}

enum rc rows_next(struct stmt *st, struct id *id_out)
{
	enum rc rc = stmt_fetch(st);

	if (rc != RC_OK || col_id(st, id_out))
		return rc;
	stmt_done(st);
	return RC_CONFLICT;
}

void rows_whole(struct job_row *row)
{
	if (row->job.attempts_len > 1)
		qsort(row->job.attempts, row->job.attempts_len, sizeof *row->job.attempts,
		      by_number);
}

enum rc rows_job(struct stmt *st, struct job_row *row_out)
{
	struct id id;
	enum rc rc;

	*row_out = (struct job_row){ 0 };
	while ((rc = rows_next(st, &id)) == RC_OK && (rc = rows_merge(st, &id, row_out)) == RC_OK)
		continue;
	if (rc != RC_NOT_FOUND || !row_out->begun) {
		job_release(&row_out->job);
		return rc;
	}
	rows_whole(row_out);
	return RC_OK;
}

enum rc rows_list_job(struct stmt *st, struct job *job_out)
{
	struct job_row row = { 0 };
	enum rc rc = stmt_fetch(st);

	*job_out = (struct job){ 0 };
	if (rc != RC_OK)
		return rc;
	(void)col_id(st, &row.job.id);
	if (!read_job_columns(st, &row)) {
		job_release(&row.job);
		return RC_FAULT;
	}
	uint64_t doubt = col_u64(st); /* 1: an attempt is in doubt; 2: and asked about */

	row.job.in_doubt = doubt != 0;
	row.job.asked_about = doubt == 2;
	*job_out = row.job;
	return RC_OK;
}

enum rc rows_attempt(struct stmt *st, struct attempt *attempt_out)
{
	bool present;
	enum rc rc = stmt_fetch(st);

	if (rc != RC_OK)
		return rc;
	if (!read_attempt_columns(st, attempt_out, &present)) {
		attempt_release(attempt_out);
		return RC_FAULT;
	}
	return RC_OK;
}

enum rc rows_read_job(struct db *db, const struct id *id, struct job *job_out)
{
	struct stmt *st = db_stmt(db, SQL_JOB_GET);
	struct job_row row;

	*job_out = (struct job){ 0 };
	bind_id(st, id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = rows_job(st, &row);
	if (rc == RC_OK)
		*job_out = row.job;
	return rc;
}
