#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/intent.h"
#include "store/job_store.h"
#include "store/lock.h"
#include "store/outbox.h"
#include "store/routes.h"
#include "store/rows.h"
#include "store/stmt.h"

#define TOMBSTONE_ROUNDS 8

struct change {
	const struct identity *who;
	const struct id *id;
	const struct idempotency_key *key;
	const struct if_match *if_match;
	const char *provider;
	int64_t now_us; /* the tombstone's */
	struct job *job;
	struct refusal *refusal;
	enum changed changed;
};

/* Ends a change: the job as it is now, inside the same transaction. */
static enum rc answer(struct db *db, const struct id *id, struct change *change,
		      enum changed changed)
{
	change->changed = changed;
	job_release(change->job); /* of an earlier round */
	return rows_read_job(db, id, change->job);
}

static enum rc find(struct db *db, const struct change *change, struct locked_job *locked_out)
{
	enum rc rc = lock_job(db, change->id, locked_out);

	if (rc == RC_OK && !lock_visible(locked_out, change->who))
		return RC_NOT_FOUND;
	return rc;
}

static enum rc tell_providers(struct db *db, const struct id *job_id)
{
	struct stmt *st = db_stmt(db, SQL_ASK_CANCEL_JOB);

	bind_id(st, job_id);
	return stmt_run(st);
}

static enum rc cancel_locked(struct db *db, const struct locked_job *locked, struct change *change)
{
	struct stmt *st;
	enum rc rc;

	switch (moves_cancel_job(locked->state)) {
	case MOVE_MADE:
		st = db_stmt(db, SQL_JOB_CANCEL);
		bind_id(st, &locked->id);
		bind_u64(st, locked->version);
		rc = stmt_run(st);
		if (rc != RC_OK)
			return rc;
		if (stmt_changed(st) != 1)
			return RC_RETRY;
		rc = tell_providers(db, &locked->id);
		if (rc == RC_OK)
			rc = outbox_add(db, &locked->id);
		return rc == RC_OK ? answer(db, &locked->id, change, CHANGED_DONE) : rc;
	case MOVE_REPEATED: return answer(db, &locked->id, change, CHANGED_DONE);
	case MOVE_NOTED:
	case MOVE_LATE:
	case MOVE_REFUSED:
	case VERDICT__MAX: break;
	}
	return answer(db, &locked->id, change, CHANGED_JOB_SETTLED);
}

static enum rc cancel(struct db *db, void *arg)
{
	struct change *change = arg;
	struct locked_job locked;
	enum rc rc = find(db, change, &locked);

	if (rc != RC_OK)
		return rc;
	if (!lock_matches(&locked, change->if_match))
		return answer(db, &locked.id, change, CHANGED_STALE);
	return cancel_locked(db, &locked, change);
}

/* What a transaction came to, for the caller: a lost commit leaves it open, and asking again is
 * safe. */
static enum changed outcome(enum rc rc, struct change *change)
{
	if (rc == RC_OK)
		return change->changed;
	job_release(change->job);
	return rc == RC_NOT_FOUND ? CHANGED_NO_SUCH_JOB : CHANGED_NOT_STORED;
}

enum changed job_store_cancel(struct db *db, const struct identity *who, const struct id *id,
			      const struct if_match *if_match, struct job *job_out)
{
	struct change change = { .who = who, .id = id, .if_match = if_match, .job = job_out };

	*job_out = (struct job){ 0 };
	return outcome(db_transact_sure(db, cancel, &change), &change);
}

static enum rc cancel_by_key(struct db *db, void *arg)
{
	struct change *change = arg;
	struct locked_job locked;
	struct id id;
	struct stmt *st = db_stmt(db, SQL_JOB_LOCK_KEY);

	bind_bytes(st, change->who->owner, change->who->owner_len);
	bind_bytes(st, change->key->bytes, change->key->len);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND
			       ? RC_RETRY
			       : rc; /* purged since: the next round leaves a tombstone */
	(void)col_id(st, &id);
	stmt_done(st);
	rc = lock_job(db, &id, &locked);
	return rc == RC_OK ? cancel_locked(db, &locked, change) : rc;
}

/* And tells the owner, as of any other cancel. */
static enum rc leave_tombstone(struct db *db, void *arg)
{
	const struct change *change = arg;
	struct stmt *st = db_stmt(db, SQL_JOB_TOMBSTONE);

	bind_id(st, change->id);
	bind_bytes(st, change->who->owner, change->who->owner_len);
	bind_bytes(st, change->key->bytes, change->key->len);
	bind_u64(st, INTENT_MAX_ATTEMPTS_DEFAULT);
	bind_time(st, change->now_us);
	bind_time(st, change->now_us);
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? outbox_add(db, change->id) : rc;
}

enum changed job_store_cancel_key(struct db *db, const struct identity *who,
				  const struct idempotency_key *key, const struct id *tombstone_id,
				  int64_t now_us, struct job *job_out)
{
	struct change change = {
		.who = who, .id = tombstone_id, .key = key, .now_us = now_us, .job = job_out
	};
	enum rc rc = RC_RETRY;

	*job_out = (struct job){ 0 };
	/* As with a create, the insert decides, and a lost answer is found again by the next. */
	for (int round = 0; (rc == RC_RETRY || rc == RC_UNCERTAIN) && round < TOMBSTONE_ROUNDS;
	     round++) {
		if (round > 0)
			db_pause(round);
		rc = db_transact(db, leave_tombstone, &change);
		if (rc == RC_OK)
			rc = answer(db, tombstone_id, &change, CHANGED_TOMBSTONE);
		else if (rc == RC_CONFLICT)
			rc = db_transact_sure(db, cancel_by_key, &change);
	}
	if (rc == RC_OK && change.changed == CHANGED_DONE && id_equal(&job_out->id, tombstone_id))
		change.changed = CHANGED_TOMBSTONE;
	return outcome(rc, &change);
}

/* The attempt that stands in the way, if one does. */
static enum rc find_in_doubt(struct db *db, const struct id *job_id, struct id *attempt_id_out)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_IN_DOUBT);

	bind_id(st, job_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	(void)col_id(st, attempt_id_out);
	stmt_done(st);
	return RC_OK;
}

static enum rc start_over(struct db *db, const struct locked_job *locked, const char *provider)
{
	struct stmt *st = db_stmt(db, SQL_JOB_REQUEST);

	bind_str(st, provider);
	bind_str(st, provider);
	bind_id(st, &locked->id);
	bind_u64(st, locked->version);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	return stmt_changed(st) == 1 ? RC_OK : RC_RETRY;
}

/* Of a purged job there is no input left to send. */
static bool settled_for_good(const struct locked_job *locked)
{
	return locked->purged || locked->state == JOB_SUCCEEDED || locked->state == JOB_CANCELLED ||
	       (locked->state == JOB_FAILED && locked->error_reason == REASON_EXPIRED);
}

static bool past_deadline(const struct locked_job *locked)
{
	return locked->deadline_left_us <= 0 ||
	       (locked->state == JOB_FAILED && locked->error_reason == REASON_DEADLINE);
}

/* Where the next attempt is to go, and whether it may: *target_out is the name. */
static enum rc find_target(struct db *db, const struct locked_job *locked, struct change *change,
			   char *target_out, bool *open_out)
{
	const char *name = change->provider ? change->provider : locked->provider;
	enum gate gate;
	enum rc rc = RC_OK;

	snprintf(target_out, NAME_MAX_LEN + 1, "%s", name);
	if (!change->provider && locked->contract[0])
		rc = routes_first(db, locked, target_out);
	if (rc == RC_OK)
		rc = routes_gate(db, locked, target_out, &gate, &change->refusal->why);
	if (rc != RC_OK)
		return rc;
	*open_out = gate == GATE_OPEN || (gate == GATE_DISABLED && !change->provider);
	switch (gate) {
	case GATE_NO_SUCH_PROVIDER: change->changed = CHANGED_NO_SUCH_PROVIDER; break;
	case GATE_DISABLED: change->changed = CHANGED_PROVIDER_DISABLED; break;
	case GATE_NOT_CERTIFIED: change->changed = CHANGED_NOT_CERTIFIED; break;
	case GATE_OPEN:
	case GATE__MAX: break;
	}
	return RC_OK;
}

static enum rc request(struct db *db, void *arg)
{
	struct change *change = arg;
	struct locked_job locked;
	char target[NAME_MAX_LEN + 1];
	bool open;
	enum rc rc = find(db, change, &locked);

	if (rc != RC_OK)
		return rc;
	if (!lock_matches(&locked, change->if_match))
		return answer(db, &locked.id, change, CHANGED_STALE);
	if (locked.state == JOB_SUCCEEDED || locked.state == JOB_CANCELLED)
		return answer(db, &locked.id, change, CHANGED_JOB_SETTLED);
	rc = find_in_doubt(db, &locked.id, &change->refusal->attempt_id);
	if (rc == RC_OK)
		return answer(db, &locked.id, change, CHANGED_IN_DOUBT);
	if (rc != RC_NOT_FOUND)
		return rc;
	if (settled_for_good(&locked))
		return answer(db, &locked.id, change, CHANGED_JOB_SETTLED);
	if (past_deadline(&locked))
		return answer(db, &locked.id, change, CHANGED_DEADLINE_PASSED);
	if (locked.effect_done && change->who->role != ROLE_OPERATOR)
		return answer(db, &locked.id, change, CHANGED_EFFECT_DONE);
	if (locked.state == JOB_QUEUED && !change->provider)
		return answer(db, &locked.id, change, CHANGED_DONE);
	rc = find_target(db, &locked, change, target, &open);
	if (rc == RC_OK && open)
		rc = start_over(db, &locked, target);
	return rc == RC_OK && open ? answer(db, &locked.id, change, CHANGED_DONE) : rc;
}

enum changed job_store_request_attempt(struct db *db, const struct identity *who,
				       const struct id *id, const char *provider,
				       const struct if_match *if_match, struct job *job_out,
				       struct refusal *refusal_out)
{
	struct change change = { .who = who,
				 .id = id,
				 .if_match = if_match,
				 .provider = provider,
				 .job = job_out,
				 .refusal = refusal_out };

	*job_out = (struct job){ 0 };
	*refusal_out = (struct refusal){ .why = STANDING_VALID };
	return outcome(db_transact_sure(db, request, &change), &change);
}
