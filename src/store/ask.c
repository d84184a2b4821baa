#include "store/ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/flaws.h"
#include "store/claim.h"
#include "store/definition.h"
#include "store/lock.h"
#include "store/settle.h"
#include "store/stmt.h"

#define OVERDUE_MAX 256
#define TAKING_MAX_MS 1000 /* then what was taken goes out first */
#define PUT_OFF_MS 60000   /* what can't be read or written */
#define CANCEL_DUE_MAX 255 /* what its column holds */
#define RETRY_OFF_MS 5000  /* what others don't let through */
#define NO_ROOM_MS 1500	   /* what would go over max_in_flight */

struct asking {
	struct turn turn;
	const struct id *poller_id;
	uint32_t lease_s;
	bool lease_lost;
	struct ask ask; /* .kind ASK_KIND__MAX: there is none */
};

void ask_release(struct ask *ask)
{
	provider_def_release(&ask->def);
	free(ask->reference.bytes);
	job_terms_release(&ask->terms);
	*ask = (struct ask){ 0 };
}

void ask_list_free(struct ask_list *asks)
{
	for (size_t i = 0; i < asks->len; i++)
		ask_release(&asks->list[i]);
	free(asks->list);
	*asks = (struct ask_list){ 0 };
}

/* What the rows say of an attempt whose turn it is. */
struct due {
	enum attempt_state state;
	uint32_t cancel_due; /* 0: none; else 1 and the tries so far */
	uint64_t version_read;
	uint32_t resends; /* that went out, as far as is known */
	bool has_row;
	struct provider_def
		own; /* that the request was built from, where that isn't the present one */
	bool has_own;
	bool own_unread;   /* it is kept, and this program can't read it */
	int64_t reaped_us; /* since it started, where its poller was lost; else -1 */
	int64_t wait_us;   /* its turn comes later; 0: now */
	uint64_t present;  /* the provider's row, as it was read */
};

/* The work may be asked for again only while this attempt holds the job: after a cancel, a release
 * or a result it would be work that nobody wants. */
static bool may_resend(const struct ask *ask, const struct due *due, const struct locked_job *job)
{
	bool holds = (job->state == JOB_RUNNING || job->state == JOB_UNKNOWN) &&
		     !job->has_completed_by && !job->purged && job->version == due->version_read;

	bool own_honours = due->has_own ? due->own.key_honoured : ask->same_row || due->own_unread;
	bool honoured = ask->def.key_honoured && own_honours;

	return holds && due->state == ATTEMPT_UNKNOWN && due->cancel_due == 0 && honoured &&
	       due->resends < ASK_RESENDS_MAX;
}

static bool can_name(const struct ask *ask, const char *url)
{
	return !provider_def_needs_reference(url) || ask->reference.bytes;
}

/* Which question there is for it. ASK_KIND__MAX: none. */
static enum ask_kind kind_of(const struct ask *ask, const struct due *due,
			     const struct locked_job *job)
{
	if (!due->has_row)
		return ASK_KIND__MAX;
	if (due->cancel_due > 0 && ask->def.has_cancel && can_name(ask, ask->def.cancel_url))
		return ASK_CANCEL;
	if (job->deadline_left_us <= 0 || !ask->in_play)
		return ASK_KIND__MAX;
	if (ask->def.has_status && can_name(ask, ask->def.status_url))
		return ASK_STATUS;
	return may_resend(ask, due, job) ? ASK_RESEND : ASK_KIND__MAX;
}

/* The first sender was lost, and its request may still be on its way: while that lasts, there is no
 * need for a second one beside it. */
static int64_t first_sending_us(const struct ask *ask, const struct due *due)
{
	int64_t most_us = ((int64_t)ask->def.timeout_ms + ASK_HOLD_BESIDE_MS) * 1000;

	if (ask->kind != ASK_RESEND || due->reaped_us < 0 || due->reaped_us >= most_us)
		return 0;
	return most_us - due->reaped_us;
}

static int64_t budget_of(const struct ask *ask, const struct locked_job *job)
{
	if (ask->kind == ASK_CANCEL || job->deadline_left_us == INT64_MAX)
		return -1;
	return job->deadline_left_us / 1000;
}

static enum rc read_rows(const struct blob *present, const struct blob *own, struct ask *ask,
			 struct due *due)
{
	enum rc rc = RC_OK;

	due->has_row = present->bytes != NULL;
	if (due->has_row)
		rc = definition_read(present, &ask->def);
	if (rc != RC_OK || !own->bytes)
		return rc;
	rc = definition_read(own, &due->own);
	due->has_own = rc == RC_OK;
	due->own_unread = rc == RC_INVALID;
	return rc == RC_INVALID ? RC_OK : rc;
}

static enum rc read_due(struct db *db, struct ask *ask, struct due *due)
{
	struct stmt *st = db_stmt(db, SQL_ASK_READ);
	struct blob present = { 0 }, own = { 0 };
	char state[32];

	bind_id(st, &ask->attempt_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*due = (struct due){ .state = ATTEMPT_STATE__MAX };
	ask->taken_us = col_time(st);
	(void)attempt_state_parse(state, col_bytes(st, state, sizeof state), &due->state);
	ask->in_play = due->state != ATTEMPT_STATE__MAX && attempt_in_play(due->state);
	due->cancel_due = (uint32_t)col_u64(st);
	due->version_read = col_u64(st);
	ask->number = (uint32_t)col_u64(st);
	col_name(st, ask->provider, sizeof ask->provider);
	uint64_t built_from = col_u64(st);

	ask->generation = (uint32_t)col_u64(st);
	bool ok = col_blob(st, &ask->reference);

	ask->asked = (uint32_t)col_u64(st) + 1;
	ask->sending = (uint32_t)col_u64(st) + 1;
	due->resends = ask->sending - 1 - (uint32_t)col_u64(st);
	due->reaped_us = col_i64(st, -1);
	col_name(st, ask->traceparent, sizeof ask->traceparent);
	due->present = col_u64(st);
	ask->same_row = due->present == built_from;
	ok = ok && col_blob(st, &present) && col_blob(st, &own);
	stmt_done(st);
	rc = ok ? read_rows(&present, &own, ask, due) : RC_FAULT;
	free(present.bytes);
	free(own.bytes);
	return rc;
}

/* RC_NOT_FOUND: it isn't due any more. RC_INVALID: what it needs is a newer program's; another
 * poller may be one. */
static enum rc choose(struct db *db, const struct locked_job *job, struct ask *ask, struct due *due)
{
	enum rc rc = read_due(db, ask, due);

	if (rc != RC_OK)
		return rc;
	ask->kind = kind_of(ask, due, job);
	if (ask->kind == ASK_RESEND && due->own_unread)
		return RC_INVALID;
	if (ask->kind == ASK_RESEND && due->has_own) {
		provider_def_release(&ask->def);
		ask->def = due->own;
	} else if (due->has_own) {
		provider_def_release(&due->own);
	}
	due->wait_us = first_sending_us(ask, due);
	ask->tries = ask->kind == ASK_CANCEL   ? due->cancel_due
		     : ask->kind == ASK_RESEND ? due->resends + 1
					       : ask->asked;
	ask->budget_ms = budget_of(ask, job);
	return RC_OK;
}

/* Where the contract can't be read, nothing that the provider says can be judged: there is no
 * question then. RC_INVALID: not by this program; see choose(). */
static enum rc read_terms(struct db *db, struct ask *ask)
{
	enum rc rc;

	if (ask->kind == ASK_CANCEL || ask->kind == ASK_KIND__MAX)
		return RC_OK;
	rc = terms_store_read(db, &ask->job_id, ask->provider, &ask->terms);
	if (rc != RC_OK)
		return rc;
	if (ask->terms.has_contract && !ask->terms.contract)
		return RC_INVALID;
	if (!ask->terms.input.bytes || (ask->terms.has_contract && !ask->terms.route))
		ask->kind = ASK_KIND__MAX;
	return RC_OK;
}

/* A row that has just got a question arms all attempts that have none (SQL_ASK_REARM), and mustn't
 * miss one that stops by the row before. It is locked here without a wait, as by a resend.
 * RC_NOT_FOUND: somebody has it, or it has changed; the attempt is still due. */
static enum rc hold_row(struct db *db, const struct ask *ask, uint64_t version)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_STILL);

	bind_str(st, ask->provider);
	bind_u64(st, version);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	stmt_done(st);
	return lock_hold_provider(db, ask->provider);
}

/* The job's advice changes with it: from now on it needs a person. */
static enum rc stop(struct db *db, const struct ask *ask, const struct due *due)
{
	enum rc rc = due->has_row ? hold_row(db, ask, due->present) : RC_OK;
	struct stmt *st;

	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_ASK_STOP);
	bind_id(st, &ask->attempt_id);
	rc = stmt_run(st);
	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_JOB_TOUCH);
	bind_id(st, &ask->job_id);
	return stmt_run(st);
}

/* A resend is under its poller's lease, renewed with it, like the first sending: while that may be
 * on its way, nobody frees the job for another attempt. */
static enum rc hold_lease(struct db *db, struct asking *asking)
{
	enum rc rc = poller_renew(db, asking->poller_id, asking->lease_s);

	asking->lease_lost = rc == RC_NOT_FOUND;
	return rc;
}

static uint32_t answer_within_ms(const struct ask *ask)
{
	return ask->kind == ASK_RESEND ? ask->def.timeout_ms : provider_def_question_ms(&ask->def);
}

static enum rc begin(struct db *db, const struct asking *asking, uint32_t cancel_due)
{
	const struct ask *ask = &asking->ask;
	struct stmt *st = db_stmt(db, SQL_ASK_BEGIN);

	bind_u64(st, ask->kind == ASK_RESEND);
	bind_u64(st, cancel_due);
	if (ask->kind == ASK_RESEND)
		bind_id(st, asking->poller_id);
	else
		bind_null(st);
	bind_u64(st, (answer_within_ms(ask) + ASK_HOLD_BESIDE_MS) * UINT64_C(1000));
	bind_id(st, &ask->attempt_id);
	enum rc rc = stmt_run(st);

	return rc == RC_OK && stmt_changed(st) != 1 ? RC_NOT_FOUND : rc;
}

static enum rc later(struct db *db, const struct turn *turn, int64_t us)
{
	struct stmt *st = db_stmt(db, SQL_ASK_PUT_OFF);

	bind_u64(st, (uint64_t)us);
	bind_id(st, &turn->attempt_id);
	return stmt_run(st);
}

/* A resend is a request like the first one, and counts like it. The provider's row is locked, as by
 * a claim, so that the two don't count beside each other; neither waits for it. RC_NOT_FOUND:
 * somebody has it. */
static enum rc has_room(struct db *db, const struct ask *ask, bool *room_out)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_ROOM);

	bind_str(st, ask->provider);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	uint64_t most = col_u64(st), busy = col_u64(st);

	*room_out = busy < most;
	stmt_done(st);
	return RC_OK;
}

/* RC_NOT_FOUND: it isn't due any more, or somebody is at it. */
static enum rc lock_due(struct db *db, const struct turn *turn)
{
	struct stmt *st = db_stmt(db, SQL_ASK_LOCK);

	bind_id(st, &turn->attempt_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc == RC_OK)
		stmt_done(st);
	return rc;
}

static enum rc take_resend(struct db *db, struct asking *asking, int64_t wait_us)
{
	bool room = true;
	enum rc rc = wait_us > 0 ? RC_OK : has_room(db, &asking->ask, &room);

	if (rc == RC_OK && (wait_us > 0 || !room)) {
		asking->ask.kind = ASK_KIND__MAX;
		return later(db, &asking->turn, wait_us > 0 ? wait_us : NO_ROOM_MS * INT64_C(1000));
	}
	if (rc == RC_OK)
		rc = lock_hold_provider(db, asking->ask.provider);
	if (rc == RC_OK)
		rc = hold_lease(db, asking);
	return rc == RC_OK ? begin(db, asking, 0) : rc;
}

/* The rows are locked as by all who move them: what is decided here holds until the question is on
 * record. */
static enum rc take_one(struct db *db, void *arg)
{
	struct asking *asking = arg;
	struct ask *ask = &asking->ask;
	struct locked_job job;
	struct due due;

	ask_release(ask); /* of an earlier round */
	*ask = (struct ask){ .kind = ASK_KIND__MAX,
			     .job_id = asking->turn.job_id,
			     .attempt_id = asking->turn.attempt_id };
	enum rc rc = lock_due(db, &asking->turn);

	if (rc == RC_OK)
		rc = lock_job(db, &asking->turn.job_id, &job);
	if (rc == RC_OK)
		rc = choose(db, &job, ask, &due);
	if (rc == RC_OK)
		rc = read_terms(db, ask);
	if (rc != RC_OK)
		return rc;
	if (ask->kind == ASK_KIND__MAX)
		return stop(db, ask, &due);
	if (ask->kind == ASK_RESEND)
		return take_resend(db, asking, due.wait_us);
	if (ask->kind != ASK_CANCEL)
		return begin(db, asking, 0);
	return begin(db, asking,
		     due.cancel_due < CANCEL_DUE_MAX ? due.cancel_due + 1 : due.cancel_due);
}

/* One that can't be read or written shall hold up no other. Where nothing can be written, that
 * shows here too. */
static enum rc put_off(struct db *db, const struct turn *turn, int ms)
{
	char attempt[ID_TEXT_LEN + 1];

	log_error("ask", "attempt=%s: it can't be asked about now; put off by %d s",
		  id_format(&turn->attempt_id, attempt), ms / 1000);
	return later(db, turn, ms * INT64_C(1000));
}

static enum rc take_turn(struct db *db, struct asking *asking, struct ask_list *asks)
{
	int64_t before_ms = clock_monotonic_ms();
	enum rc rc = db_transact(db, take_one, asking);

	if (rc == RC_OK && asking->ask.kind != ASK_KIND__MAX) {
		asking->ask.taken_ms = before_ms;
		/* The database told its time somewhere in between: taken for its end. */
		asking->ask.taken_us -= (clock_monotonic_ms() - before_ms + 1) * 1000;
		asks->list[asks->len++] = asking->ask;
	} else {
		ask_release(&asking->ask);
	}
	asks->moved += rc == RC_OK;
	asks->lease_lost |= asking->lease_lost || rc == RC_UNCERTAIN;
	if (db_refused(rc) || rc == RC_RETRY)
		rc = put_off(db, &asking->turn, rc == RC_RETRY ? RETRY_OFF_MS : PUT_OFF_MS);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc ask_take(struct db *db, const struct id *poller_id, uint32_t lease_s, size_t max,
		 struct ask_turns *turns, struct ask_list *asks_out)
{
	struct turn list[ASK_MAX];
	int64_t end_ms = clock_monotonic_ms() + TAKING_MAX_MS;
	size_t len;

	*asks_out = (struct ask_list){ 0 };
	enum rc rc = ask_turns_find(db, turns, max < ASK_MAX ? max : ASK_MAX, list, &len,
				    &asks_out->more);

	if (rc != RC_OK || len == 0)
		return rc;
	asks_out->list = calloc(len, sizeof *asks_out->list);
	if (!asks_out->list)
		return RC_FAULT;
	for (size_t i = 0; rc == RC_OK && i < len && clock_monotonic_ms() < end_ms; i++) {
		struct asking asking = { .turn = list[i],
					 .poller_id = poller_id,
					 .lease_s = lease_s };

		rc = take_turn(db, &asking, asks_out);
	}
	asks_out->more = asks_out->more && asks_out->moved == len; /* others may be at it */
	for (size_t i = 0; i < asks_out->len; i++)
		ask_turns_taken(turns, asks_out->list[i].provider);
	return asks_out->len > 0 ? RC_OK : rc; /* what was taken is ours; trouble comes again */
}

struct keeping {
	const struct ask *ask;
	const struct ask_answer *answer;
};

static enum rc keep(struct db *db, void *arg)
{
	const struct keeping *keeping = arg;
	const struct ask *ask = keeping->ask;
	const struct ask_answer *answer = keeping->answer;
	struct locked_job job;
	struct stmt *st;
	enum rc rc = answer->next_ms < 0 ? lock_job(db, &ask->job_id, &job) : RC_OK;

	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_ASK_KEEP);
	bind_str(st, answer->words);
	bind_str(st, answer->reference);
	bind_u64(st, answer->unsent && ask->kind == ASK_RESEND);
	bind_u64(st, answer->unsent && ask->kind == ASK_CANCEL);
	bind_u64(st, ask->kind == ASK_CANCEL);
	if (answer->next_ms < 0)
		bind_null(st);
	else
		bind_u64(st, (uint64_t)answer->next_ms * 1000);
	bind_id(st, &ask->attempt_id);
	bind_u64(st, ask->asked);
	rc = stmt_run(st);
	if (rc != RC_OK || answer->next_ms >= 0 || stmt_changed(st) != 1)
		return rc;
	st = db_stmt(db, SQL_JOB_TOUCH); /* from now on it needs a person */
	bind_id(st, &ask->job_id);
	return stmt_run(st);
}

static enum rc cancel_told(struct db *db, void *arg)
{
	const struct keeping *keeping = arg;
	struct stmt *st = db_stmt(db, SQL_ASK_CANCEL_TOLD);

	bind_str(st, keeping->answer->words);
	bind_u64(st, (uint64_t)keeping->answer->next_ms * 1000);
	bind_id(st, &keeping->ask->attempt_id);
	bind_u64(st, keeping->ask->asked);
	return stmt_run(st);
}

enum rc ask_note(struct db *db, const struct ask *ask, const struct ask_answer *answer)
{
	struct keeping keeping = { ask, answer };

	return db_transact(db, answer->told ? cancel_told : keep, &keeping);
}

enum rc ask_overdue(struct db *db, size_t *overdue_out)
{
	struct word words[OVERDUE_MAX];
	size_t len = 0;
	struct stmt *st = db_stmt(db, SQL_OVERDUE_FIND);
	enum rc rc = stmt_run(st);

	*overdue_out = 0;
	while (rc == RC_OK && len < OVERDUE_MAX) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		struct blob definition = { 0 };

		words[len] = (struct word){
			.event = ON_TRACK_LOST,
			.by = BY_POLLER,
			.reason = REASON_TIMEOUT,
			.phase = PHASE_ANSWER_BEGUN,
			.ask_after_ms = -1,
			.detail = "the provider took the work and did not answer by its deadline"
		};
		(void)col_id(st, &words[len].attempt_id);
		(void)col_id(st, &words[len].job_id);
		bool named = col_u64(st) != 0;

		if (!col_blob(st, &definition) || definition_can_ask(&definition, named))
			words[len].ask_after_ms = 0;
		free(definition.bytes);
		len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	else if (rc != RC_NOT_FOUND)
		return rc;
	return len > 0 ? settle_what_can(db, words, len, overdue_out) : RC_OK;
}
