#include "store/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
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

static void release_all(struct outbox_list *messages)
{
	for (size_t i = 0; i < messages->len; i++)
		outbox_message_release(&messages->list[i]);
	messages->len = 0;
}

void outbox_list_free(struct outbox_list *messages)
{
	release_all(messages);
	free(messages->list);
	*messages = (struct outbox_list){ 0 };
}

struct taking {
	size_t max;
	struct outbox_list *messages;
};

static enum rc lock_due(struct db *db, size_t max, struct id *ids, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_LOCK);

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

static void read_event(struct stmt *st, struct outbox_message *message)
{
	struct webhook_event *event = &message->event;
	char state[32];

	message->taken_us = col_time(st) - (clock_monotonic_ms() - message->taken_ms + 1) * 1000;
	(void)col_id(st, &event->job_id);
	message->owner_len = col_bytes(st, message->owner, sizeof message->owner);
	col_name(st, event->type, sizeof event->type);
	event->key_len = col_bytes(st, event->key, sizeof event->key);
	(void)job_state_parse(state, col_bytes(st, state, sizeof state), &event->state);
	event->version = col_u64(st);
	message->tries = (uint32_t)col_u64(st) + 1;
	event->at_us = col_time(st);
}

/* RC_NOT_FOUND: there is no endpoint. RC_CONFLICT: it is disabled, or can't be read. */
static enum rc read_endpoint(struct stmt *st, struct outbox_message *message)
{
	bool there = col_i64(st, -1) >= 0;
	struct blob url = { 0 }, secrets = { 0 };
	enum rc rc = RC_NOT_FOUND;

	if (!there)
		return rc;
	bool enabled = col_u64(st) != 0;

	rc = col_blob(st, &url) && col_blob(st, &secrets) ? RC_CONFLICT : RC_FAULT;
	if (rc == RC_CONFLICT && enabled)
		rc = webhook_def_stored(url.bytes, secrets.bytes, secrets.len, &message->def);
	if (rc == RC_INVALID) {
		log_error("webhook.unreadable", "owner=\"%.*s\"", (int)message->owner_len,
			  message->owner);
		rc = RC_CONFLICT;
	}
	free(url.bytes);
	free(secrets.bytes);
	return rc;
}

static enum rc run_on(struct db *db, enum sql statement, const struct id *id)
{
	struct stmt *st = db_stmt(db, statement);

	bind_id(st, id);
	return stmt_run(st);
}

static enum rc hold(struct db *db, const struct id *id)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_HOLD);

	bind_u64(st, (uint64_t)OUTBOX_HOLD_MS * 1000);
	bind_id(st, id);
	return stmt_run(st);
}

static enum rc take_one(struct db *db, const struct id *id, struct outbox_list *messages)
{
	struct outbox_message *message = &messages->list[messages->len];
	struct stmt *st = db_stmt(db, SQL_OUTBOX_READ);

	*message = (struct outbox_message){ .event.id = *id, .taken_ms = clock_monotonic_ms() };
	bind_id(st, id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	read_event(st, message);
	rc = read_endpoint(st, message);
	stmt_done(st);
	if (rc == RC_NOT_FOUND)
		return run_on(db, SQL_OUTBOX_DROP, id);
	if (rc == RC_CONFLICT)
		return run_on(db, SQL_OUTBOX_PARK_ONE, id);
	if (rc == RC_OK)
		rc = hold(db, id);
	if (rc == RC_OK)
		messages->len++;
	else
		outbox_message_release(message);
	return rc;
}

static enum rc take(struct db *db, void *arg)
{
	struct taking *taking = arg;
	struct id ids[OUTBOX_MAX];
	size_t len;
	enum rc rc = lock_due(db, taking->max, ids, &len);

	release_all(taking->messages); /* of an earlier round */
	for (size_t i = 0; rc == RC_OK && i < len; i++)
		rc = take_one(db, &ids[i], taking->messages);
	return rc;
}

enum rc outbox_take(struct db *db, size_t max, struct outbox_list *messages_out)
{
	struct taking taking = { max < OUTBOX_MAX ? max : OUTBOX_MAX, messages_out };

	*messages_out =
		(struct outbox_list){ .list = calloc(OUTBOX_MAX, sizeof *messages_out->list) };
	if (!messages_out->list)
		return RC_FAULT;
	enum rc rc = db_transact(db, take, &taking);

	if (rc != RC_OK || messages_out->len == 0)
		outbox_list_free(messages_out);
	return rc;
}

enum rc outbox_delivered(struct db *db, const struct id *message_id)
{
	return run_on(db, SQL_OUTBOX_DROP, message_id);
}

enum rc outbox_failed(struct db *db, const struct outbox_message *message, const char *answer,
		      int64_t next_ms)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_FAILED);

	bind_str(st, answer);
	if (next_ms < 0)
		bind_null(st);
	else
		bind_u64(st, (uint64_t)next_ms * 1000);
	bind_id(st, &message->event.id);
	bind_u64(st, message->tries);
	return stmt_run(st);
}

struct goodbye {
	const struct outbox_message *message;
	const char *why;
};

static enum rc disable(struct db *db, void *arg)
{
	const struct goodbye *goodbye = arg;
	const struct outbox_message *message = goodbye->message;
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_DISABLE);

	bind_str(st, goodbye->why);
	bind_bytes(st, message->owner, message->owner_len);
	bind_str(st, message->def.url);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	bool changed = stmt_changed(st) > 0;

	rc = outbox_failed(db, message, goodbye->why, changed ? -1 : 0);
	if (rc != RC_OK || !changed)
		return rc;
	st = db_stmt(db, SQL_OUTBOX_PARK);
	bind_bytes(st, message->owner, message->owner_len);
	return stmt_run(st);
}

enum rc outbox_gone(struct db *db, const struct outbox_message *message, const char *why)
{
	struct goodbye goodbye = { message, why };

	return db_transact(db, disable, &goodbye);
}
