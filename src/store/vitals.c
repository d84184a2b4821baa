#include "store/vitals.h"

#include "base/clock.h"
#include "store/stmt.h"

static enum rc read_one(struct stmt *st)
{
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? stmt_fetch(st) : rc;
}

static enum rc read_job_and_time(struct db *db, enum sql id, bool *has_out, struct id *job_out,
				 int64_t *us_out)
{
	struct stmt *st = db_stmt(db, id);
	enum rc rc = read_one(st);

	*has_out = rc == RC_OK;
	if (rc == RC_NOT_FOUND)
		return RC_OK;
	if (rc != RC_OK)
		return rc;
	(void)col_id(st, job_out);
	*us_out = col_time(st);
	stmt_done(st);
	return RC_OK;
}

static enum rc read_counts(struct db *db, struct vitals *v)
{
	struct stmt *st = db_stmt(db, SQL_VITALS);
	enum rc rc = read_one(st);

	if (rc != RC_OK)
		return rc;
	v->database_now_us = col_time(st);
	v->pollers_alive = col_u64(st);
	v->first_lease_us = col_time(st);
	v->pollers_dead = col_u64(st);
	v->unknown_attempts = col_u64(st);
	v->strict = col_u64(st) != 0;
	v->durable = col_u64(st) == 1;
	v->races_total = col_u64(st);
	stmt_done(st);
	st = db_stmt(db, SQL_VITALS_STRANDED);
	rc = read_one(st);
	if (rc != RC_OK)
		return rc;
	v->stranded = col_u64(st);
	stmt_done(st);
	return RC_OK;
}

static enum rc read_outbox(struct db *db, struct vitals *v)
{
	struct stmt *st = db_stmt(db, SQL_VITALS_OUTBOX);
	enum rc rc = read_one(st);

	if (rc != RC_OK)
		return rc;
	v->endpoints_disabled = col_u64(st);
	v->messages_given_up = col_u64(st);
	stmt_done(st);
	st = db_stmt(db, SQL_VITALS_FAILING);
	rc = read_one(st);
	if (rc != RC_OK)
		return rc;
	v->messages_failing = col_u64(st);
	col_name(st, v->failing_answer, sizeof v->failing_answer);
	stmt_done(st);
	return RC_OK;
}

enum rc vitals_read(struct db *db, struct vitals *vitals_out)
{
	struct vitals *v = vitals_out;

	*v = (struct vitals){ 0 };
	enum rc rc = read_counts(db, v);

	v->packet_max_bytes = db_packet_max(db);

	if (rc == RC_OK)
		rc = read_outbox(db, v);
	if (rc == RC_OK)
		rc = read_job_and_time(db, SQL_VITALS_DUE, &v->has_oldest_due, &v->oldest_due,
				       &v->oldest_due_us);
	if (rc == RC_OK)
		rc = read_job_and_time(db, SQL_VITALS_UNKNOWN, &v->has_oldest_unknown,
				       &v->oldest_unknown, &v->oldest_unknown_us);
	return rc;
}

enum rc vitals_read_node(struct db *db, struct node_vitals *node_out)
{
	struct stmt *st = db_stmt(db, SQL_VITALS_NODE);
	enum rc rc = read_one(st);

	*node_out = (struct node_vitals){ .size = 0 };
	if (rc != RC_OK)
		return rc;
	col_name(st, node_out->status, sizeof node_out->status);
	col_name(st, node_out->state, sizeof node_out->state);
	node_out->size = col_u64(st);
	node_out->sound = col_u64(st) == 1;
	stmt_done(st);
	return RC_OK;
}

struct trial {
	struct id id;
	bool done;
};

static enum rc try_writing(struct db *db, void *arg)
{
	struct trial *trial = arg;
	struct stmt *st = db_stmt(db, SQL_POLLER_REGISTER);

	trial->id = clock_id();
	bind_id(st, &trial->id);
	bind_str(st, "doctor");
	bind_u64(st, 0);
	bind_u64(st, 30);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_POLLER_RENEW);
	bind_u64(st, 30);
	bind_id(st, &trial->id);
	rc = stmt_run(st);
	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_POLLER_LEAVE);
	bind_id(st, &trial->id);
	rc = stmt_run(st);
	trial->done = rc == RC_OK;
	return rc == RC_OK ? RC_CONFLICT : rc; /* anything but RC_OK rolls back */
}

enum rc vitals_try_writing(struct db *db)
{
	struct trial trial = { .done = false };
	enum rc rc = db_transact(db, try_writing, &trial);

	return trial.done && rc == RC_CONFLICT ? RC_OK : RC_FAULT;
}
