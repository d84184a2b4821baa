#include "store/ask.h"

#include <stdlib.h>
#include <string.h>

#include "core/flaws.h"
#include "store/definition.h"
#include "store/settle.h"
#include "store/stmt.h"

#define HOLD_BESIDE_MS 5000 /* over the row's own time-out: until another poller may ask */
#define OVERDUE_MAX 256

struct taking {
	size_t max;
	struct ask_list *asks;
	struct id stopped[ASK_MAX]; /* jobs whose attempt nobody asks about any more */
	size_t stopped_len;
};

void ask_release(struct ask *ask)
{
	provider_def_release(&ask->def);
	free(ask->reference.bytes);
	free(ask->input.bytes);
	*ask = (struct ask){ 0 };
}

void ask_list_free(struct ask_list *asks)
{
	for (size_t i = 0; i < asks->len; i++)
		ask_release(&asks->list[i]);
	free(asks->list);
	*asks = (struct ask_list){ 0 };
}

static enum rc lock_due(struct db *db, size_t max, struct id *ids, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_ASK_LOCK);

	*len_out = 0;
	bind_u64(st, max);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && *len_out < max) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &ids[(*len_out)++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* Which question there is for it. ASK_KIND__MAX: none. */
static enum ask_kind kind_of(const struct ask *ask, bool same_row, bool cancel_due)
{
	if (cancel_due && ask->def.has_cancel &&
	    (!provider_def_needs_reference(ask->def.cancel_url) || ask->reference.bytes))
		return ASK_CANCEL;
	if (ask->budget_ms == 0 || !ask->in_play)
		return ASK_KIND__MAX;
	if (ask->def.has_status &&
	    (!provider_def_needs_reference(ask->def.status_url) || ask->reference.bytes))
		return ASK_STATUS;
	return ask->def.key_honoured && same_row && ask->asked <= ASK_RESENDS_MAX ? ASK_RESEND
										  : ASK_KIND__MAX;
}

/* RC_NOT_FOUND: there is nobody to ask. */
static enum rc read_ask(struct db *db, const struct id *attempt_id, struct ask *ask)
{
	struct stmt *st = db_stmt(db, SQL_ASK_READ);
	struct blob definition = { 0 };

	*ask = (struct ask){ .attempt_id = *attempt_id };
	bind_id(st, attempt_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	char state[32];
	enum attempt_state at = ATTEMPT_STATE__MAX;

	(void)attempt_state_parse(state, col_bytes(st, state, sizeof state), &at);
	ask->in_play = at != ATTEMPT_STATE__MAX && attempt_in_play(at);
	bool cancel_due = col_u64(st) != 0;

	(void)col_id(st, &ask->job_id);
	ask->number = (uint32_t)col_u64(st);
	col_name(st, ask->provider, sizeof ask->provider);
	uint64_t built_from = col_u64(st);

	ask->generation = (uint32_t)col_u64(st);
	bool ok = col_blob(st, &ask->reference);

	ask->asked = (uint32_t)col_u64(st) + 1;
	col_name(st, ask->traceparent, sizeof ask->traceparent);
	int64_t left_us = col_i64(st, INT64_MAX);
	bool same_row = col_u64(st) == built_from;

	ok = ok && col_blob(st, &definition);
	stmt_done(st);
	ask->budget_ms = left_us == INT64_MAX ? -1 : left_us > 0 ? left_us / 1000 : 0;
	rc = ok ? RC_NOT_FOUND : RC_FAULT;
	if (ok && definition.bytes)
		rc = definition_read(&definition, &ask->def);
	free(definition.bytes);
	if (rc == RC_INVALID)
		rc = RC_NOT_FOUND;
	ask->kind = rc == RC_OK ? kind_of(ask, same_row, cancel_due) : ASK_KIND__MAX;
	return rc == RC_OK && ask->kind == ASK_KIND__MAX ? RC_NOT_FOUND : rc;
}

static enum rc read_input(struct db *db, struct ask *ask)
{
	struct stmt *st = db_stmt(db, SQL_ASK_INPUT);

	bind_id(st, &ask->job_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	if (!col_blob(st, &ask->input))
		rc = RC_FAULT;
	stmt_done(st);
	return rc == RC_OK && !ask->input.bytes ? RC_NOT_FOUND : rc; /* purged since */
}

static enum rc stop(struct db *db, const struct id *attempt_id, const char *answer)
{
	struct stmt *st = db_stmt(db, SQL_ASK_STOP);

	bind_str(st, answer);
	bind_id(st, attempt_id);
	return stmt_run(st);
}

static enum rc begin(struct db *db, const struct ask *ask)
{
	struct stmt *st = db_stmt(db, SQL_ASK_BEGIN);

	bind_u64(st, ((uint64_t)ask->def.timeout_ms + HOLD_BESIDE_MS) * 1000);
	bind_id(st, &ask->attempt_id);
	return stmt_run(st);
}

static enum rc take_one(struct db *db, const struct id *attempt_id, struct taking *taking)
{
	struct ask *ask = &taking->asks->list[taking->asks->len];
	enum rc rc = read_ask(db, attempt_id, ask);

	if (rc == RC_OK && ask->kind == ASK_RESEND)
		rc = read_input(db, ask);
	if (rc == RC_OK)
		rc = begin(db, ask);
	if (rc == RC_OK) {
		taking->asks->len++;
		return RC_OK;
	}
	if (rc == RC_NOT_FOUND) {
		taking->stopped[taking->stopped_len++] = ask->job_id;
		rc = stop(db, attempt_id, NULL);
	}
	ask_release(ask);
	return rc;
}

static enum rc take(struct db *db, void *arg)
{
	struct taking *taking = arg;
	struct id ids[ASK_MAX];
	size_t len;
	enum rc rc = lock_due(db, taking->max, ids, &len);

	for (size_t i = 0; i < taking->asks->len; i++) /* of an earlier round */
		ask_release(&taking->asks->list[i]);
	taking->asks->len = 0;
	taking->stopped_len = 0;
	for (size_t i = 0; rc == RC_OK && i < len; i++)
		rc = take_one(db, &ids[i], taking);
	return rc;
}

/* The job's advice has changed: from now on it needs a person. By itself, because a job's row is
 * locked before its attempts, and an attempt's was locked here first. */
static enum rc show_stop(struct db *db, const struct id *job_id)
{
	struct stmt *st = db_stmt(db, SQL_JOB_TOUCH);

	bind_id(st, job_id);
	return stmt_run(st);
}

enum rc ask_take(struct db *db, size_t max, struct ask_list *asks_out)
{
	struct taking taking = { .max = max < ASK_MAX ? max : ASK_MAX, .asks = asks_out };

	*asks_out = (struct ask_list){ .list = calloc(ASK_MAX, sizeof *asks_out->list) };
	if (!asks_out->list)
		return RC_FAULT;
	enum rc rc = db_transact(db, take, &taking);

	for (size_t i = 0; rc == RC_OK && i < taking.stopped_len; i++)
		if (show_stop(db, &taking.stopped[i]) != RC_OK)
			break; /* an ETag that stays behind, until the next change */

	if (rc != RC_OK || asks_out->len == 0)
		ask_list_free(asks_out);
	return rc;
}

enum rc ask_keep(struct db *db, const struct id *job_id, const struct id *attempt_id,
		 const char *answer, const char *reference, int64_t next_ms)
{
	if (next_ms < 0) {
		enum rc rc = stop(db, attempt_id, answer);

		return rc == RC_OK ? show_stop(db, job_id) : rc;
	}
	struct stmt *st = db_stmt(db, SQL_ASK_KEEP);

	bind_str(st, answer);
	bind_str(st, reference);
	bind_u64(st, (uint64_t)next_ms * 1000);
	bind_id(st, attempt_id);
	return stmt_run(st);
}

enum rc ask_cancel_told(struct db *db, const struct id *attempt_id, const char *answer,
			int64_t next_ms)
{
	struct stmt *st = db_stmt(db, SQL_ASK_CANCEL_TOLD);

	bind_str(st, answer);
	bind_u64(st, (uint64_t)next_ms * 1000);
	bind_id(st, attempt_id);
	return stmt_run(st);
}

enum rc ask_overdue(struct db *db, size_t *overdue_out)
{
	struct word words[OVERDUE_MAX];
	enum settled verdicts[OVERDUE_MAX];
	size_t len = 0;
	struct stmt *st = db_stmt(db, SQL_OVERDUE_FIND);
	enum rc rc = stmt_run(st);

	*overdue_out = 0;
	while (rc == RC_OK && len < OVERDUE_MAX) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		words[len] = (struct word){
			.event = ON_TRACK_LOST,
			.by = BY_POLLER,
			.reason = REASON_TIMEOUT,
			.phase = PHASE_ANSWER_BEGUN,
			.ask_after_ms = -1,
			.detail = "the provider took the work and did not answer by its deadline"
		};
		(void)col_id(st, &words[len].attempt_id);
		(void)col_id(st, &words[len++].job_id);
	}
	if (rc == RC_OK)
		stmt_done(st);
	else if (rc != RC_NOT_FOUND)
		return rc;
	rc = len > 0 ? settle_words(db, words, len, verdicts) : RC_OK;
	*overdue_out = rc == RC_OK ? len : 0;
	return rc;
}
