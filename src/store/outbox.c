#include "store/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/stmt.h"

enum rc outbox_add(struct db *db, const struct id *job_id)
{
	struct id id = clock_id();
	struct stmt *st = db_stmt(db, SQL_OUTBOX_ADD);

	bind_id(st, &id);
	bind_id(st, job_id);
	return stmt_run(st);
}

void outbox_message_release(struct outbox_message *message)
{
	webhook_def_release(&message->def);
	*message = (struct outbox_message){ 0 };
}

/* --- what became of one */

struct telling {
	const struct outbox_message *message;
	const char *why;
	int64_t next_ms;
};

static enum rc run_for_owner(struct db *db, enum sql statement,
			     const struct outbox_message *message)
{
	struct stmt *st = db_stmt(db, statement);

	bind_bytes(st, message->owner, message->owner_len);
	return stmt_run(st);
}

static enum rc write_failed(struct db *db, const struct telling *telling, int64_t next_ms)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_FAILED);

	bind_str(st, telling->why);
	if (next_ms < 0)
		bind_null(st);
	else
		bind_u64(st, (uint64_t)next_ms * 1000);
	bind_id(st, &telling->message->event.id);
	bind_u64(st, telling->message->tries);
	return stmt_run(st);
}

/* The endpoint's row first, as by all who write both. */
static enum rc end_rest(struct db *db, const struct outbox_message *message)
{
	return message->rested ? run_for_owner(db, SQL_WEBHOOK_ANSWERED, message) : RC_OK;
}

static enum rc delivered(struct db *db, void *arg)
{
	const struct outbox_message *message = arg;
	enum rc rc = end_rest(db, message);

	if (rc != RC_OK)
		return rc;
	struct stmt *st = db_stmt(db, SQL_OUTBOX_DROP);

	bind_id(st, &message->event.id);
	return stmt_run(st);
}

enum rc outbox_delivered(struct db *db, const struct outbox_message *message)
{
	return db_transact(db, delivered, (void *)(uintptr_t)message);
}

static enum rc failed(struct db *db, void *arg)
{
	const struct telling *telling = arg;
	enum rc rc = end_rest(db, telling->message);

	return rc == RC_OK ? write_failed(db, telling, telling->next_ms) : rc;
}

enum rc outbox_failed(struct db *db, const struct outbox_message *message, const char *answer,
		      int64_t next_ms)
{
	struct telling telling = { message, answer, next_ms };

	return db_transact(db, failed, &telling);
}

static enum rc timed_out(struct db *db, void *arg)
{
	const struct telling *telling = arg;
	const struct outbox_message *message = telling->message;
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_TIMED_OUT);

	bind_bytes(st, message->owner, message->owner_len);
	bind_str(st, message->def.url);
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? write_failed(db, telling, telling->next_ms) : rc;
}

enum rc outbox_timed_out(struct db *db, const struct outbox_message *message, const char *answer,
			 int64_t next_ms)
{
	struct telling telling = { message, answer, next_ms };

	return db_transact(db, timed_out, &telling);
}

static enum rc disable(struct db *db, void *arg)
{
	const struct telling *telling = arg;
	const struct outbox_message *message = telling->message;
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_DISABLE);

	bind_str(st, telling->why);
	bind_bytes(st, message->owner, message->owner_len);
	bind_str(st, message->def.url);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	bool changed = stmt_changed(st) > 0;

	rc = write_failed(db, telling, changed ? -1 : 0);
	return rc == RC_OK && changed ? run_for_owner(db, SQL_OUTBOX_PARK, message) : rc;
}

enum rc outbox_gone(struct db *db, const struct outbox_message *message, const char *why)
{
	struct telling telling = { message, why, -1 };

	return db_transact(db, disable, &telling);
}
