#include <stdlib.h>
#include <string.h>

#include "store/job_store.h"
#include "store/rows.h"
#include "store/stmt.h"

struct identify {
	const struct caller *caller;
	struct identity *who;
};

static enum rc identify(struct db *db, void *arg)
{
	const struct identify *want = arg;
	struct stmt *st = db_stmt(db, SQL_IDENTIFY);
	char role[16];

	bind_bytes(st, want->caller->token_sha256, SHA256_BYTES);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	want->who->owner_len = col_bytes(st, want->who->owner, OWNER_MAX);
	want->who->owner[want->who->owner_len] = '\0';
	if (!role_parse(role, col_bytes(st, role, sizeof role), &want->who->role))
		rc = RC_NOT_FOUND;
	stmt_done(st);
	return rc;
}

enum rc job_store_identify(struct db *db, const struct caller *caller,
			   struct identity *identity_out)
{
	struct identify want = { caller, identity_out };

	*identity_out = (struct identity){ .role = ROLE_USER };
	if (!caller->has_token) {
		if (!caller->owner || caller->owner_len < 1 || caller->owner_len > OWNER_MAX)
			return RC_NOT_FOUND;
		memcpy(identity_out->owner, caller->owner, caller->owner_len);
		identity_out->owner_len = caller->owner_len;
		return RC_OK;
	}
	enum rc rc = db_read(db, identify, &want);

	if (rc == RC_OK && caller->owner &&
	    (caller->owner_len != identity_out->owner_len ||
	     memcmp(caller->owner, identity_out->owner, caller->owner_len) != 0))
		return RC_NOT_FOUND;
	return rc;
}

struct get {
	const struct caller *caller;
	const struct id *id;
	struct job_row row;
};

static enum rc get(struct db *db, void *arg)
{
	struct get *want = arg;
	struct stmt *st =
		db_stmt(db, want->caller->has_token ? SQL_JOB_GET_BY_TOKEN : SQL_JOB_GET_BY_OWNER);

	bind_id(st, want->id);
	if (want->caller->has_token)
		bind_bytes(st, want->caller->token_sha256, SHA256_BYTES);
	else
		bind_bytes(st, want->caller->owner, want->caller->owner_len);
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? rows_job(st, &want->row) : rc;
}

enum rc job_store_get(struct db *db, const struct caller *caller, const struct id *id,
		      struct job *job_out)
{
	struct get want = { .caller = caller, .id = id };
	struct identity who;
	enum rc rc = RC_OK;

	*job_out = (struct job){ 0 };
	if (caller->has_token && caller->owner)
		rc = job_store_identify(db, caller, &who);
	if (rc == RC_OK)
		rc = db_read(db, get, &want);
	if (rc == RC_OK)
		*job_out = want.row.job;
	if (!caller->has_token)
		return rc;
	if (rc == RC_CONFLICT)
		return RC_NOT_FOUND;
	return rc == RC_NOT_FOUND ? RC_INVALID : rc;
}

static enum rc read_job(struct db *db, void *arg)
{
	struct get *want = arg;

	return rows_read_job(db, want->id, &want->row.job);
}

enum rc job_store_read(struct db *db, const struct identity *who, const struct id *id,
		       struct job *job_out)
{
	struct get want = { .id = id };
	enum rc rc = db_read(db, read_job, &want);
	const struct job *job = &want.row.job;

	*job_out = (struct job){ 0 };
	if (rc == RC_OK && who->role != ROLE_OPERATOR &&
	    (job->owner.len != who->owner_len ||
	     memcmp(job->owner.bytes, who->owner, who->owner_len) != 0)) {
		job_release(&want.row.job);
		return RC_NOT_FOUND;
	}
	if (rc == RC_OK)
		*job_out = want.row.job;
	return rc;
}

struct list {
	const struct identity *who;
	const struct job_filter *filter;
	struct job *jobs;
	size_t len;
};

/* What the column `listed` holds for a state (see sql/); 0: NULL. */
static uint64_t listed(enum job_state state)
{
	switch (state) {
	case JOB_UNKNOWN: return 1;
	case JOB_FAILED: return 2;
	case JOB_CANCELLED: return 3;
	case JOB_QUEUED:
	case JOB_RUNNING:
	case JOB_SUCCEEDED:
	case JOB_STATE__MAX: break;
	}
	return 0;
}

static struct stmt *list_statement(struct db *db, const struct list *want)
{
	const struct job_filter *f = want->filter;
	const char *state = f->has_state ? job_state_name(f->state) : NULL;
	bool user = want->who->role != ROLE_OPERATOR;
	struct stmt *st;

	if (user || f->owner) {
		st = db_stmt(db, SQL_JOB_LIST_OWNER);
		bind_bytes(st, user ? want->who->owner : f->owner,
			   user ? want->who->owner_len : f->owner_len);
	} else if (f->has_state && listed(f->state)) {
		st = db_stmt(db, SQL_JOB_LIST_LISTED);
		bind_u64(st, listed(f->state));
	} else if (f->has_state && job_open(f->state)) {
		st = db_stmt(db, SQL_JOB_LIST_STATE);
		bind_str(st, state);
	} else {
		st = db_stmt(db, SQL_JOB_LIST);
	}
	bind_id(st, f->has_before ? &f->before : &ID_ABOVE_ALL);
	bind_str(st, f->contract);
	bind_str(st, f->contract);
	bind_str(st, f->provider);
	bind_str(st, f->provider);
	bind_str(st, state);
	bind_str(st, state);
	bind_u64(st, f->limit + 1u);
	return st;
}

static enum rc list(struct db *db, void *arg)
{
	struct list *want = arg;

	for (size_t i = 0; i < want->len; i++)
		job_release(&want->jobs[i]);
	want->len = 0;
	struct stmt *st = list_statement(db, want);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && want->len <= want->filter->limit) {
		rc = rows_list_job(st, &want->jobs[want->len]);
		if (rc == RC_OK)
			want->len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc job_store_list(struct db *db, const struct identity *who, const struct job_filter *filter,
		       struct job **jobs_out, size_t *len_out, bool *more_out)
{
	struct list want = { who, filter, calloc(filter->limit + 1u, sizeof(struct job)), 0 };

	if (!want.jobs)
		return RC_FAULT;
	enum rc rc = db_read(db, list, &want);

	if (rc != RC_OK) {
		job_list_free(want.jobs, want.len);
		return rc;
	}
	*more_out = want.len > filter->limit;
	if (*more_out)
		job_release(&want.jobs[--want.len]);
	*jobs_out = want.jobs;
	*len_out = want.len;
	return RC_OK;
}

void job_list_free(struct job *jobs, size_t len)
{
	for (size_t i = 0; i < len; i++)
		job_release(&jobs[i]);
	free(jobs);
}
