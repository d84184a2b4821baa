#include "store/attempt_store.h"

#include <stdlib.h>

#include "store/definition.h"
#include "store/rows.h"
#include "store/stmt.h"

struct attempt_page {
	bool has_state;
	enum attempt_state state;
	const struct id *before;
	uint32_t limit;
	struct attempt *attempts;
	size_t len;
};

/* What the column `listed` holds for a state (see sql/); 0: NULL. */
static uint64_t listed(enum attempt_state state)
{
	switch (state) {
	case ATTEMPT_RUNNING: return 1;
	case ATTEMPT_UNKNOWN: return 2;
	case ATTEMPT_RELEASED: return 3;
	case ATTEMPT_FAILED: return 4;
	case ATTEMPT_CANCELLED: return 5;
	case ATTEMPT_DISCARDED: return 6;
	case ATTEMPT_STARTING:
	case ATTEMPT_SUCCEEDED:
	case ATTEMPT_STATE__MAX: break;
	}
	return 0;
}

static struct stmt *list_statement(struct db *db, const struct attempt_page *page)
{
	uint64_t place = page->has_state ? listed(page->state) : 0;
	struct stmt *st;

	if (!page->has_state)
		st = db_stmt(db, SQL_ATTEMPT_LIST);
	else
		st = db_stmt(db, place ? SQL_ATTEMPT_LIST_LISTED : SQL_ATTEMPT_LIST_STATE);
	bind_id(st, page->before ? page->before : &ID_ABOVE_ALL);
	if (place)
		bind_u64(st, place);
	else if (page->has_state)
		bind_str(st, attempt_state_name(page->state));
	bind_u64(st, page->limit + 1u);
	return st;
}

static enum rc list_attempts(struct db *db, void *arg)
{
	struct attempt_page *page = arg;

	for (size_t i = 0; i < page->len; i++)
		attempt_release(&page->attempts[i]);
	page->len = 0;
	struct stmt *st = list_statement(db, page);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && page->len <= page->limit) {
		rc = rows_attempt(st, &page->attempts[page->len]);
		if (rc == RC_OK)
			page->len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc attempt_store_list(struct db *db, bool has_state, enum attempt_state state,
			   const struct id *before, uint32_t limit, struct attempt **attempts_out,
			   size_t *len_out, bool *more_out)
{
	struct attempt_page page = {
		has_state, state, before, limit, calloc(limit + 1u, sizeof(struct attempt)), 0
	};

	if (!page.attempts)
		return RC_FAULT;
	enum rc rc = db_read(db, list_attempts, &page);

	if (rc != RC_OK) {
		attempt_list_free(page.attempts, page.len);
		return rc;
	}
	*more_out = page.len > limit;
	if (*more_out)
		attempt_release(&page.attempts[--page.len]);
	*attempts_out = page.attempts;
	*len_out = page.len;
	return RC_OK;
}

struct attempt_get {
	const struct id *id;
	struct attempt *attempt;
	struct provider_def *def;
	bool has_def;
};

static enum rc get_attempt(struct db *db, void *arg)
{
	struct attempt_get *want = arg;
	struct blob definition = { 0 };
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_GET);

	bind_id(st, want->id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = rows_attempt(st, want->attempt);
	if (rc != RC_OK)
		return rc;
	if (!col_blob(st, &definition))
		rc = RC_FAULT;
	stmt_done(st);
	if (rc == RC_OK && definition.bytes)
		rc = definition_read(&definition, want->def);
	want->has_def = rc == RC_OK && definition.bytes;
	free(definition.bytes);
	if (rc != RC_FAULT)
		return RC_OK;
	attempt_release(want->attempt);
	return RC_FAULT;
}

enum rc attempt_store_get(struct db *db, const struct id *id, struct attempt *attempt_out,
			  struct provider_def *def_out, bool *has_def_out)
{
	struct attempt_get want = { id, attempt_out, def_out, false };
	enum rc rc = db_read(db, get_attempt, &want);

	*has_def_out = want.has_def;
	return rc;
}

void attempt_list_free(struct attempt *attempts, size_t len)
{
	for (size_t i = 0; i < len; i++)
		attempt_release(&attempts[i]);
	free(attempts);
}

struct race_page {
	const struct id *before;
	uint32_t limit;
	struct race *races;
	size_t len;
};

static void read_race(struct stmt *st, struct race *race)
{
	char why[32];

	*race = (struct race){ 0 };
	(void)col_id(st, &race->id);
	(void)col_id(st, &race->job_id);
	(void)col_id(st, &race->attempt_id);
	race->has_winner = col_id(st, &race->winner);
	(void)race_why_parse(why, col_bytes(st, why, sizeof why), &race->why);
	(void)col_bytes(st, race->sha256, SHA256_BYTES);
	race->bytes = col_u64(st);
	race->created_us = col_time(st);
}

static enum rc list_races(struct db *db, void *arg)
{
	struct race_page *page = arg;
	struct stmt *st = db_stmt(db, SQL_RACE_LIST);

	page->len = 0;
	bind_id(st, page->before ? page->before : &ID_ABOVE_ALL);
	bind_u64(st, page->limit + 1u);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && page->len <= page->limit) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			read_race(st, &page->races[page->len++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc race_store_list(struct db *db, const struct id *before, uint32_t limit,
			struct race **races_out, size_t *len_out, bool *more_out)
{
	struct race_page page = { before, limit, calloc(limit + 1u, sizeof(struct race)), 0 };

	if (!page.races)
		return RC_FAULT;
	enum rc rc = db_read(db, list_races, &page);

	if (rc != RC_OK) {
		free(page.races);
		return rc;
	}
	*more_out = page.len > limit;
	*len_out = *more_out ? limit : page.len;
	*races_out = page.races;
	return RC_OK;
}
