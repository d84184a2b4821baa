#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "store/outbox.h"
#include "store/race.h"
#include "store/routes.h"
#include "store/settle_private.h"
#include "store/stmt.h"

/* False: a state of a newer program. */
static bool read_facing(struct stmt *st, struct facing *facing)
{
	char name[32];

	*facing = (struct facing){ 0 };
	(void)col_id(st, &facing->attempt_id);
	(void)col_id(st, &facing->job_id);
	bool known = attempt_state_parse(name, col_bytes(st, name, sizeof name), &facing->state);

	facing->version_read = col_u64(st);
	col_name(st, facing->provider, sizeof facing->provider);
	facing->other_in_doubt = col_u64(st) != 0;
	facing->leased = col_u64(st) != 0;
	facing->resent = (uint32_t)col_u64(st);
	return known;
}

enum rc settle_read_attempts(struct db *db, const struct id *ids, size_t len,
			     struct facing *facings_out, size_t *len_out)
{
	enum rc rc = RC_OK;

	*len_out = 0;
	for (size_t at = 0; rc == RC_OK && at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_ATTEMPTS_FOR_SETTLE, n);

		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &ids[at]);
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
			if (!read_facing(st, &facings_out[(*len_out)++]))
				rc = RC_FAULT; /* it isn't ours to move */
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc;
}

enum rc settle_read_attempt(struct db *db, const struct word *word, struct facing *facing_out)
{
	size_t len;
	enum rc rc = settle_read_attempts(db, &word->attempt_id, 1, facing_out, &len);

	if (rc == RC_OK && (len == 0 || !id_equal(&facing_out->job_id, &word->job_id)))
		return RC_NOT_FOUND;
	return rc;
}

/* What becomes of the job where it goes back to the queue. */
struct plan {
	bool may_retry;
	bool one_more;	  /* asked for: beyond what starts by itself */
	const char *next; /* NULL: where it was */
	uint64_t delay_us;
	struct route_choice choice;
};

static uint64_t delay_us(const struct word *word)
{
	return word->provider || word->delay_ms < 0 ? 0 : (uint64_t)word->delay_ms * 1000;
}

/* Whether another try is left: by the word, by the count, and in time. Naming a provider asks for
 * one more. */
static bool may_retry(const struct locked_job *job, const struct word *word,
		      const struct plan *plan)
{
	bool in_time = job->deadline_left_us > (int64_t)plan->delay_us;

	if (word->event == ON_RELEASE)
		return true;
	if (word->event == ON_FAILURE && !word->provider &&
	    (job->contract[0] ? plan->choice.stop : !word->retryable))
		return false;
	return in_time && (word->provider || job->attempt_count < job->attempts_allowed);
}

/* By the word; after a definite failure of a job with a contract, by that contract's policy.
 * job_moves: else there is nothing to plan, and no route is passed over. */
static enum rc make_plan(struct db *db, const struct locked_job *job, const struct word *word,
			 const struct facing *facing, bool job_moves, struct plan *plan)
{
	bool by_contract =
		word->event == ON_FAILURE && !word->provider && job->contract[0] && job_moves;
	enum rc rc = RC_OK;

	*plan = (struct plan){ .one_more = word->event == ON_RELEASE || word->provider,
			       .next = word->provider,
			       .delay_us = delay_us(word) };
	if (by_contract && job->attempt_count < job->attempts_allowed) {
		rc = routes_choose(db, job, facing->provider, word->reason, word->retryable,
				   &plan->choice);
		plan->next = plan->choice.stop ? NULL : plan->choice.provider;
		if (plan->choice.fresh)
			plan->delay_us = 0;
	}
	plan->may_retry = may_retry(job, word, plan);
	return rc;
}

enum rc settle_run(struct stmt *st, size_t n)
{
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	return stmt_changed(st) == n ? RC_OK : RC_FAULT;
}

enum rc settle_complete(struct db *db, const struct word *word, const struct facing *facing)
{
	struct stmt *st = db_stmt(db, SQL_JOB_COMPLETE);

	unsigned char digest[SHA256_BYTES];

	digest_sha256(word->result, word->result_len, digest);
	bind_bytes(st, word->result, word->result_len);
	bind_bytes(st, digest, sizeof digest);
	bind_id(st, &word->attempt_id);
	bind_id(st, &word->job_id);
	bind_u64(st, facing->version_read);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

static enum rc job_requeue(struct db *db, const struct word *word, const struct facing *facing,
			   const struct plan *plan)
{
	struct stmt *st = db_stmt(db, SQL_JOB_REQUEUE);

	bind_str(st, plan->next);
	bind_u64(st, plan->one_more);
	bind_u64(st, plan->delay_us);
	bind_id(st, &word->job_id);
	bind_u64(st, facing->version_read);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

static enum rc job_fail(struct db *db, const struct word *word, const struct facing *facing)
{
	struct stmt *st = db_stmt(db, SQL_JOB_FAIL);

	bind_str(st,
		 reason_name(word->event == ON_CANCEL ? REASON_ATTEMPT_CANCELLED : word->reason));
	bind_bytes(st, word->detail,
		   word->public_len ? word->public_len
		   : word->detail   ? strlen(word->detail)
				    : 0);
	bind_id(st, &word->attempt_id);
	bind_u64(st, word->effect_done);
	bind_id(st, &word->job_id);
	bind_u64(st, facing->version_read);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

static enum rc job_lose_track(struct db *db, const struct word *word, const struct facing *facing)
{
	struct stmt *st = db_stmt(db, SQL_JOB_LOSE_TRACK);

	bind_id(st, &word->job_id);
	bind_u64(st, facing->version_read);
	return settle_run(st, 1);
}

/* The attempt moves alone; readers of an open job see that. */
static enum rc job_touch(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_JOB_TOUCH);

	bind_id(st, &word->job_id);
	return stmt_run(st);
}

static enum rc write_job(struct db *db, const struct word *word, const struct facing *facing,
			 const struct plan *plan, enum job_state to)
{
	switch (to) {
	case JOB_SUCCEEDED: return settle_complete(db, word, facing);
	case JOB_QUEUED: return job_requeue(db, word, facing, plan);
	case JOB_FAILED: return job_fail(db, word, facing);
	case JOB_UNKNOWN: return job_lose_track(db, word, facing);
	case JOB_RUNNING:
	case JOB_CANCELLED:
	case JOB_STATE__MAX: break;
	}
	return RC_FAULT; /* no event leads there */
}

/* Its owner is told in the same transaction, if it wants to be. */
static enum rc move_job(struct db *db, const struct word *word, const struct facing *facing,
			const struct plan *plan, const struct move *move)
{
	if (!move->job_moves)
		return job_touch(db, word);
	enum rc rc = write_job(db, word, facing, plan, move->job_to);

	return rc == RC_OK && move->job_to != JOB_QUEUED ? outbox_add(db, &word->job_id) : rc;
}

static void bind_seen(struct stmt *st, const struct word *word)
{
	bind_str(st, phase_name(word->phase));
	bind_str(st, reason_name(word->reason));
	if (word->http_status)
		bind_u64(st, word->http_status);
	else
		bind_null(st);
	bind_str(st, word->detail);
}

static enum rc attempt_end(struct db *db, const struct word *word, enum sql id)
{
	struct stmt *st = db_stmt(db, id);

	bind_seen(st, word);
	bind_str(st, word->note);
	for (int i = 0; i < 2; i++) {
		if (word->event == ON_FAILURE && word->retry_after_ms >= 0)
			bind_u64(st, (uint64_t)word->retry_after_ms * 1000);
		else
			bind_null(st);
	}
	bind_id(st, &word->attempt_id);
	for (int i = 0; id == SQL_ATTEMPT_FAIL && i < 3; i++) {
		if (word->of_sending)
			bind_u64(st, word->sending);
		else
			bind_null(st);
	}
	return settle_run(st, 1);
}

static enum rc attempt_release_it(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_RELEASE);

	bind_str(st, word->note);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

/* An operator's cancel is passed on to the provider; the provider's own need not be. */
static enum rc attempt_cancel(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_CANCEL);

	bind_str(st, word->note);
	bind_u64(st, word->by == BY_OPERATOR);
	bind_u64(st, word->by == BY_OPERATOR);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

static void bind_ms(struct stmt *st, int64_t ms)
{
	if (ms < 0)
		bind_null(st);
	else
		bind_u64(st, (uint64_t)ms * 1000);
}

static enum rc attempt_acknowledge(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_ACKNOWLEDGE);

	bind_str(st, phase_name(word->phase));
	if (word->http_status)
		bind_u64(st, word->http_status);
	else
		bind_null(st);
	bind_str(st, word->reference);
	bind_ms(st, word->overdue_ms);
	bind_ms(st, word->ask_after_ms);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

/* It was acknowledged, and its poller had been given up meanwhile: what the provider calls the work
 * may be all that is needed to ask what became of it. */
static enum rc attempt_note(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_NOTE);

	bind_str(st, word->reference);
	bind_ms(st, word->ask_after_ms);
	bind_id(st, &word->attempt_id);
	enum rc rc = settle_run(st, 1);

	return rc == RC_OK ? job_touch(db, word) : rc;
}

static enum rc attempt_lose_track(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_LOSE_TRACK);

	bind_seen(st, word);
	bind_ms(st, word->ask_after_ms);
	bind_id(st, &word->attempt_id);
	return settle_run(st, 1);
}

static enum rc move_attempt(struct db *db, const struct word *word, const struct move *move)
{
	switch (move->attempt_to) {
	case ATTEMPT_RUNNING: return attempt_acknowledge(db, word);
	case ATTEMPT_UNKNOWN: return attempt_lose_track(db, word);
	case ATTEMPT_RELEASED: return attempt_release_it(db, word);
	case ATTEMPT_CANCELLED: return attempt_cancel(db, word);
	case ATTEMPT_SUCCEEDED: return attempt_end(db, word, SQL_ATTEMPT_SUCCEED);
	case ATTEMPT_DISCARDED: return attempt_end(db, word, SQL_ATTEMPT_DISCARD);
	case ATTEMPT_FAILED: return attempt_end(db, word, SQL_ATTEMPT_FAIL);
	case ATTEMPT_STARTING:
	case ATTEMPT_STATE__MAX: break;
	}
	return RC_FAULT; /* no event leads there */
}

static enum settled verdict_of(const struct move *move, enum attempt_event event)
{
	switch (move->verdict) {
	case MOVE_MADE:
		return event == ON_RESULT && move->attempt_to == ATTEMPT_DISCARDED ? SETTLED_LOST
										   : SETTLED_MADE;
	case MOVE_NOTED: return SETTLED_NOTED;
	case MOVE_REPEATED: return SETTLED_REPEATED;
	case MOVE_LATE: return SETTLED_LATE;
	case MOVE_REFUSED: return SETTLED_REFUSED;
	case VERDICT__MAX: break;
	}
	return SETTLED_REFUSED;
}

/* Whose word it was, beside the note that says why. */
static enum rc attempt_spoken(struct db *db, const struct word *word)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_SPOKEN);

	bind_str(st, word->who);
	bind_id(st, &word->attempt_id);
	return stmt_run(st);
}

/* Its request has gone out again, and what this word rests on doesn't count for that. */
static bool sent_since(const struct word *word, const struct facing *facing)
{
	const struct sendings sendings = {
		.resent = facing->resent,
		.under_way = facing->state == ATTEMPT_UNKNOWN && facing->leased,
		.of_one = word->of_sending && word->event == ON_FAILURE,
		.answered = word->sending,
	};

	return moves_sent_since(&sendings);
}

static struct move decide(const struct locked_job *job, const struct word *word,
			  const struct facing *facing, bool retry)
{
	const struct job_facts facts = {
		.state = job->state,
		.version = job->version,
		.completed = job->has_completed_by,
		.other_in_doubt = facing->other_in_doubt,
		.may_retry = retry,
		.sent_since = sent_since(word, facing),
	};

	return moves_decide(&facts, facing->state, facing->version_read, word->event, word->by);
}

bool settle_wins(const struct locked_job *job, const struct word *word, const struct facing *facing,
		 struct settling *out)
{
	struct move move = decide(job, word, facing, false);

	*out = (struct settling){ .verdict = SETTLED_MADE, .job_id = job->id, .why = move.why };
	return word->event == ON_RESULT && move.verdict == MOVE_MADE && move.job_moves &&
	       move.job_to == JOB_SUCCEEDED && move.attempt_to == ATTEMPT_SUCCEEDED &&
	       move.why == RACE_NONE && !word->lease_lost;
}

enum rc settle_locked(struct db *db, const struct locked_job *job, const struct word *word,
		      const struct facing *facing, struct settling *out)
{
	struct plan plan;
	enum race_added added = RACE_NONE_OWN;
	/* Whether the job moves doesn't depend on whether a try is left; where to does. */
	struct move move = decide(job, word, facing, true);
	enum rc rc = make_plan(db, job, word, facing, move.verdict == MOVE_MADE && move.job_moves,
			       &plan);

	move = decide(job, word, facing, plan.may_retry);
	if (word->lease_lost &&
	    facing->state != ATTEMPT_STARTING) /* acknowledged since the lease was looked at */
		move = (struct move){ .verdict = MOVE_LATE };
	*out = (struct settling){ .verdict = verdict_of(&move, word->event),
				  .job_id = job->id,
				  .why = move.why };
	if (rc == RC_OK && move.why != RACE_NONE)
		rc = race_add(db, job, word, move.why, &added);
	out->raced = added == RACE_ADDED;
	if (rc == RC_OK && move.why == RACE_CONTRADICTION && added == RACE_NONE_OWN)
		out->verdict = SETTLED_REPEATED;
	if (rc == RC_OK && move.verdict == MOVE_NOTED)
		return attempt_note(db, word);
	if (rc != RC_OK || move.verdict != MOVE_MADE)
		return rc;
	rc = move_job(db, word, facing, &plan, &move);
	if (rc == RC_OK)
		rc = move_attempt(db, word, &move);
	return rc == RC_OK && word->who ? attempt_spoken(db, word) : rc;
}

void settle_log(const struct settling *settling, const struct word *word)
{
	if (settling->raced)
		race_log(&settling->job_id, word, settling->why);
}

enum rc settle_find_job(struct db *db, struct word *word)
{
	static const struct id none;
	struct stmt *st;

	if (!id_equal(&word->job_id, &none))
		return RC_OK;
	st = db_stmt(db, SQL_ATTEMPT_OF_JOB);
	bind_id(st, &word->attempt_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	(void)col_id(st, &word->job_id);
	stmt_done(st);
	return RC_OK;
}
