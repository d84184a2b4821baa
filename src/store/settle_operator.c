#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "core/backoff.h"
#include "core/intent.h"
#include "core/provider_def.h"
#include "store/definition.h"
#include "store/race.h"
#include "store/routes.h"
#include "store/terms_store.h"
#include "store/rows.h"
#include "store/settle_private.h"
#include "store/stmt.h"

struct hand {
	struct word word;
	const struct word *given;
	const struct if_match *if_match;
	struct job *job;
	struct refusal *refusal;
	enum changed changed;
	struct settling settling;
};

static int64_t delay_by(const struct blob *definition, uint32_t tries)
{
	struct provider_def def;
	uint32_t random;

	if (definition_read(definition, &def) != RC_OK)
		return 0;
	clock_random(&random, sizeof random);
	int64_t delay_ms = backoff_ms(tries, def.retry_base_ms, def.retry_max_ms, random, -1);

	provider_def_release(&def);
	return delay_ms;
}

static enum rc count_tries(struct db *db, const struct facing *facing, uint32_t *tries_out)
{
	struct stmt *st = db_stmt(db, SQL_ATTEMPTS_TRIED);

	bind_id(st, &facing->job_id);
	bind_str(st, facing->provider);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*tries_out = (uint32_t)col_u64(st);
	stmt_done(st);
	return RC_OK;
}

/* The named provider may take the next attempt, which then starts at once. */
static enum rc ask_gate(struct db *db, struct hand *hand, const struct locked_job *job,
			bool *refused_out)
{
	enum gate gate;
	enum rc rc = routes_gate(db, job, hand->word.provider, &gate, &hand->refusal->why);

	*refused_out = rc == RC_OK && gate != GATE_OPEN;
	if (*refused_out)
		hand->changed = gate == GATE_DISABLED	     ? CHANGED_PROVIDER_DISABLED
				: gate == GATE_NOT_CERTIFIED ? CHANGED_NOT_CERTIFIED
							     : CHANGED_NO_SUCH_PROVIDER;
	return rc;
}

/* The next attempt goes to the named provider at once, or waits for the back-off of the one it was
 * at. */
static enum rc plan_next(struct db *db, struct hand *hand, const struct locked_job *job,
			 const struct facing *facing, bool *refused_out)
{
	struct blob definition = { 0 };
	uint32_t tries;
	bool enabled;
	enum rc rc;

	*refused_out = false;
	if (hand->word.event == ON_RESULT)
		return RC_OK;
	if (hand->word.provider)
		return ask_gate(db, hand, job, refused_out);
	rc = lock_provider(db, facing->provider, &enabled, &definition);
	if (rc == RC_OK && (rc = count_tries(db, facing, &tries)) == RC_OK)
		hand->word.delay_ms = delay_by(&definition, tries);
	free(definition.bytes);
	return rc == RC_NOT_FOUND ? RC_OK
				  : rc; /* gone since: the job waits for it without a back-off */
}

/* Only a release may be said twice: all else finds the attempt ended. */
static enum changed changed_by(enum settled verdict, enum attempt_event event)
{
	switch (verdict) {
	case SETTLED_MADE: return CHANGED_DONE;
	case SETTLED_REPEATED: return event == ON_RELEASE ? CHANGED_DONE : CHANGED_ATTEMPT_SETTLED;
	case SETTLED_LOST: return CHANGED_ATTEMPT_LOST;
	case SETTLED_NOTED:
	case SETTLED_LATE: return CHANGED_ATTEMPT_SETTLED;
	case SETTLED_REFUSED: return CHANGED_IN_DOUBT;
	case SETTLED_NO_SUCH_ATTEMPT:
	case SETTLED__MAX: break;
	}
	return CHANGED_NO_SUCH_JOB;
}

/* No poller may speak for it any more: what is left of the attempt is its doubt. */
static enum rc lose_lease(struct db *db, const struct locked_job *job, const struct hand *hand,
			  struct facing *facing)
{
	struct word lost = { .attempt_id = hand->word.attempt_id,
			     .job_id = hand->word.job_id,
			     .event = ON_TRACK_LOST,
			     .by = BY_POLLER,
			     .reason = REASON_POLLER_LOST,
			     .ask_after_ms = 0 };
	struct settling settling;
	enum rc rc = settle_locked(db, job, &lost, facing, &settling);

	facing->state = ATTEMPT_UNKNOWN;
	return rc;
}

static enum rc speak(struct db *db, struct hand *hand, struct locked_job *job)
{
	struct facing facing;
	bool refused;
	enum rc rc = settle_read_attempt(db, &hand->word, &facing);

	if (rc == RC_OK && facing.state == ATTEMPT_STARTING && !facing.leased) {
		rc = lose_lease(db, job, hand, &facing);
		if (rc == RC_OK)
			rc = lock_job(db, &hand->word.job_id, job);
	}
	/* No attempt starts after the deadline: a release would only fail the job, and fence off
	 * what may still come. */
	if (rc == RC_OK && hand->word.event == ON_RELEASE && job->deadline_left_us <= 0) {
		hand->changed = CHANGED_DEADLINE_PASSED;
		return RC_OK;
	}
	if (rc == RC_OK)
		rc = plan_next(db, hand, job, &facing, &refused);
	if (rc != RC_OK || refused)
		return rc;
	rc = settle_locked(db, job, &hand->word, &facing, &hand->settling);
	hand->changed = changed_by(hand->settling.verdict, hand->word.event);
	return rc == RC_OK ? race_count(db, hand->settling.raced) : rc;
}

static enum rc settle_by_hand(struct db *db, void *arg)
{
	struct hand *hand = arg;
	struct locked_job job;

	hand->word = *hand->given;
	hand->word.by = BY_OPERATOR;
	hand->changed = CHANGED_STALE;
	hand->settling = (struct settling){ .raced = false };
	enum rc rc = settle_find_job(db, &hand->word);

	if (rc == RC_OK)
		rc = lock_job(db, &hand->word.job_id, &job);
	if (rc == RC_OK && lock_matches(&job, hand->if_match))
		rc = speak(db, hand, &job);
	if (rc != RC_OK)
		return rc;
	job_release(hand->job); /* of an earlier round */
	if (hand->changed == CHANGED_NO_SUCH_PROVIDER ||
	    hand->changed == CHANGED_PROVIDER_DISABLED || hand->changed == CHANGED_NOT_CERTIFIED)
		return RC_OK;
	return rows_read_job(db, &hand->word.job_id, hand->job);
}

struct judging {
	struct word word;
	struct job_terms terms;
};

static enum rc read_terms(struct db *db, void *arg)
{
	struct judging *judging = arg;
	enum rc rc = settle_find_job(db, &judging->word);

	job_terms_release(&judging->terms); /* of an earlier round */
	return rc == RC_OK ? terms_store_read(db, &judging->word.job_id, "", &judging->terms) : rc;
}

/* The result is judged before anything is locked: neither contract nor input ever changes. *met_out
 * false: refusal says why. RC_NOT_FOUND: no such attempt. */
static enum rc judge_result(struct db *db, struct hand *hand, bool *met_out)
{
	struct judging judging = { .word = *hand->given };
	const struct job_terms *terms = &judging.terms;
	struct refusal *refusal = hand->refusal;
	enum contract_verdict verdict = CONTRACT_MET;
	struct json_doc *input = NULL;
	struct json_error error;
	struct text why;
	enum rc rc = db_read(db, read_terms, &judging);

	*met_out = true;
	text_init(&why, sizeof refusal->words - 1);
	if (rc != RC_OK || !terms->has_contract)
		goto out;
	rc = terms->contract ? RC_OK : RC_FAULT; /* this program can't read it: it can't judge */
	if (rc == RC_OK && terms->input.bytes)
		rc = json_parse(terms->input.bytes, terms->input.len, INTENT_DEPTH_MAX, &input,
				&error);
	if (rc == RC_OK)
		rc = contract_judge(terms->contract, judging.word.result, judging.word.result_len,
				    input ? json_root(input) : NULL, &verdict, &why);
	*met_out = verdict == CONTRACT_MET;
	snprintf(refusal->words, sizeof refusal->words, "%s", why.bytes ? why.bytes : "");
out:
	text_release(&why);
	json_free(input);
	job_terms_release(&judging.terms);
	return rc;
}

enum changed settle_by_operator(struct db *db, const struct word *word,
				const struct if_match *if_match, struct job *job_out,
				struct refusal *refusal_out)
{
	struct hand hand = {
		.given = word, .if_match = if_match, .job = job_out, .refusal = refusal_out
	};

	*job_out = (struct job){ 0 };
	*refusal_out = (struct refusal){ .why = STANDING_VALID };
	bool met = true;
	enum rc rc = word->event == ON_RESULT ? judge_result(db, &hand, &met) : RC_OK;

	if (rc == RC_OK && !met)
		return CHANGED_CONTRACT_VIOLATION;
	if (rc == RC_OK)
		rc = db_transact_sure(db, settle_by_hand, &hand);
	if (rc == RC_OK) {
		settle_log(&hand.settling, &hand.word);
		return hand.changed;
	}
	job_release(job_out);
	if (rc == RC_INVALID && db_was_too_large(db))
		return CHANGED_TOO_LARGE;
	return rc == RC_NOT_FOUND ? CHANGED_NO_SUCH_JOB : CHANGED_NOT_STORED;
}
