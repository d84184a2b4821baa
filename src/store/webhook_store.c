#include "store/webhook_store.h"

#include <stdlib.h>
#include <string.h>

#include "store/outbox_take.h"
#include "store/stmt.h"

void webhook_row_release(struct webhook_row *row)
{
	webhook_def_release(&row->def);
	free(row->disabled_why.bytes);
	free(row->last_answer.bytes);
	*row = (struct webhook_row){ 0 };
}

struct owner {
	const char *bytes;
	size_t len;
};

static enum rc run_for(struct db *db, enum sql statement, const struct owner *owner,
		       uint64_t *changed_out)
{
	struct stmt *st = db_stmt(db, statement);

	bind_bytes(st, owner->bytes, owner->len);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		*changed_out = stmt_changed(st);
	return rc;
}

/* What a transaction of 500 has left is gone for in transactions of their own. */
static enum rc run_rest(struct db *db, enum sql statement, const struct owner *owner)
{
	uint64_t changed = OUTBOX_BATCH;
	enum rc rc = RC_OK;

	while (rc == RC_OK && changed >= OUTBOX_BATCH)
		rc = run_for(db, statement, owner, &changed);
	return rc;
}

static enum rc read_def(struct stmt *st, struct webhook_row *row)
{
	struct blob url = { 0 }, secrets = { 0 };
	enum rc rc = RC_FAULT;

	if (col_blob(st, &url) && col_blob(st, &secrets))
		rc = webhook_def_stored(url.bytes, secrets.bytes, secrets.len, &row->def);
	free(url.bytes);
	free(secrets.bytes);
	row->readable = rc == RC_OK;
	return rc == RC_INVALID ? RC_OK : rc;
}

static enum rc read_row(struct stmt *st, struct webhook_row *row)
{
	*row = (struct webhook_row){ 0 };
	row->owner_len = col_bytes(st, row->owner, OWNER_MAX);
	enum rc rc = read_def(st, row);

	if (rc != RC_OK)
		return rc;
	row->enabled = col_u64(st) != 0;
	bool ok = col_blob(st, &row->disabled_why);

	row->created_us = col_time(st);
	row->updated_us = col_time(st);
	row->waiting = col_u64(st);
	row->given_up = col_u64(st);
	if (ok && col_blob(st, &row->last_answer))
		return RC_OK;
	webhook_row_release(row);
	return RC_FAULT;
}

struct put {
	struct owner owner;
	const struct webhook_def *def;
	const struct text *secrets;
	bool *new_out;
};

static enum rc insert(struct db *db, const struct put *put)
{
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_INSERT);

	bind_bytes(st, put->owner.bytes, put->owner.len);
	bind_str(st, put->def->url);
	bind_bytes(st, put->secrets->bytes, put->secrets->len);
	return stmt_run(st);
}

static enum rc update(struct db *db, const struct put *put)
{
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_UPDATE);

	bind_str(st, put->def->url);
	bind_bytes(st, put->secrets->bytes, put->secrets->len);
	bind_bytes(st, put->owner.bytes, put->owner.len);
	return stmt_run(st);
}

/* The insert decides whether it is new. A refused key doesn't end the transaction. */
static enum rc put_row(struct db *db, void *arg)
{
	struct put *put = arg;
	uint64_t woken;
	enum rc rc = insert(db, put);

	*put->new_out = rc == RC_OK;
	if (rc == RC_CONFLICT)
		rc = update(db, put);
	return rc == RC_OK ? run_for(db, SQL_OUTBOX_WAKE, &put->owner, &woken) : rc;
}

enum rc webhook_store_put(struct db *db, const char *owner, size_t owner_len,
			  const struct webhook_def *def, bool *new_out)
{
	struct text secrets;
	struct put put = { { owner, owner_len }, def, &secrets, new_out };
	enum rc rc = RC_FAULT;

	text_init(&secrets, WEBHOOK_DEF_MAX_BYTES);
	webhook_secrets_write(def, &secrets);
	if (text_ok(&secrets))
		rc = db_transact(db, put_row, &put);
	if (rc == RC_OK)
		rc = run_rest(db, SQL_OUTBOX_WAKE, &put.owner);
	text_release(&secrets);
	return rc;
}

struct page {
	struct owner after;
	uint32_t limit;
	struct webhook_row *rows;
	size_t len;
};

static enum rc list(struct db *db, void *arg)
{
	struct page *page = arg;
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_LIST);

	for (size_t i = 0; i < page->len; i++)
		webhook_row_release(&page->rows[i]);
	page->len = 0;
	bind_bytes(st, page->after.bytes, page->after.len);
	bind_u64(st, page->limit + 1u);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && page->len <= page->limit) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			rc = read_row(st, &page->rows[page->len]);
		if (rc == RC_OK)
			page->len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc webhook_store_list(struct db *db, const char *after, size_t after_len, uint32_t limit,
			   struct webhook_row **rows_out, size_t *len_out, bool *more_out)
{
	struct page page = { { after_len > 0 ? after : "", after_len },
			     limit,
			     calloc(limit + 1u, sizeof(struct webhook_row)),
			     0 };

	if (!page.rows)
		return RC_FAULT;
	enum rc rc = db_read(db, list, &page);

	if (rc != RC_OK) {
		webhook_list_free(page.rows, page.len);
		return rc;
	}
	*more_out = page.len > limit;
	if (*more_out)
		webhook_row_release(&page.rows[--page.len]);
	*rows_out = page.rows;
	*len_out = page.len;
	return RC_OK;
}

void webhook_list_free(struct webhook_row *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		webhook_row_release(&rows[i]);
	free(rows);
}

/* `first` must find the endpoint; `then` goes for its messages. */
struct pair {
	struct owner owner;
	enum sql first;
	enum sql then;
};

static enum rc run_pair(struct db *db, void *arg)
{
	const struct pair *pair = arg;
	uint64_t changed = 0;
	enum rc rc = run_for(db, pair->first, &pair->owner, &changed);

	if (rc != RC_OK)
		return rc;
	return changed > 0 ? run_for(db, pair->then, &pair->owner, &changed) : RC_NOT_FOUND;
}

enum rc webhook_store_enable(struct db *db, const char *owner, size_t owner_len)
{
	struct pair pair = { { owner, owner_len }, SQL_WEBHOOK_ENABLE, SQL_OUTBOX_WAKE };
	enum rc rc = db_transact(db, run_pair, &pair);

	return rc == RC_OK ? run_rest(db, SQL_OUTBOX_WAKE, &pair.owner) : rc;
}

enum rc webhook_store_delete(struct db *db, const char *owner, size_t owner_len)
{
	struct pair pair = { { owner, owner_len }, SQL_WEBHOOK_DELETE, SQL_OUTBOX_FORGET };
	enum rc rc = db_transact(db, run_pair, &pair);

	if (rc == RC_OK)
		(void)run_rest(db, SQL_OUTBOX_FORGET, &pair.owner); /* else the pollers do it */
	return rc;
}
