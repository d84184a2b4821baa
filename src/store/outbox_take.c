#include "store/outbox_take.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/stmt.h"

#define OWNERS_MAX 64
#define OWNER_IN_HAND_MAX 2 /* of each owner at this poller: one that is slow leaves the rest */
#define TAKING_MAX_MS 1000  /* then what was taken goes out first */

void outbox_list_free(struct outbox_list *messages)
{
	for (size_t i = 0; i < messages->len; i++)
		outbox_message_release(&messages->list[i]);
	free(messages->list);
	*messages = (struct outbox_list){ 0 };
}

/* --- what is in hand */

static struct outbox_owner *find_owner(struct outbox_turns *turns, const void *bytes, size_t len)
{
	for (size_t i = 0; i < turns->busy_len; i++)
		if (turns->busy[i].len == len && memcmp(turns->busy[i].bytes, bytes, len) == 0)
			return &turns->busy[i];
	return NULL;
}

static size_t in_hand(struct outbox_turns *turns, const struct outbox_owner *owner)
{
	const struct outbox_owner *found = find_owner(turns, owner->bytes, owner->len);

	return found ? found->in_hand : 0;
}

static void note_taken(struct outbox_turns *turns, const struct outbox_owner *owner, size_t len)
{
	struct outbox_owner *found = find_owner(turns, owner->bytes, owner->len);

	if (!found && len > 0) {
		found = &turns->busy[turns->busy_len++];
		*found = *owner;
		found->in_hand = 0;
	}
	if (found)
		found->in_hand += len;
}

void outbox_returned(struct outbox_turns *turns, const struct outbox_message *message)
{
	struct outbox_owner *found = find_owner(turns, message->owner, message->owner_len);

	if (found && --found->in_hand == 0)
		*found = turns->busy[--turns->busy_len];
}

/* --- one message */

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

	message->rested = col_u64(st) != 0;

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

/* What waits for its endpoint's row to change is woken by that change, which must see it: in a
 * cluster both write that row. */
static enum rc hold_endpoint(struct db *db, const char *owner, size_t len)
{
	struct stmt *st;

	if (!db_in_cluster(db))
		return RC_OK;
	st = db_stmt(db, SQL_WEBHOOK_HOLD);
	bind_bytes(st, owner, len);
	return stmt_run(st);
}

static enum rc park(struct db *db, const struct outbox_message *message)
{
	enum rc rc = hold_endpoint(db, message->owner, message->owner_len);

	return rc == RC_OK ? run_on(db, SQL_OUTBOX_PARK_ONE, &message->event.id) : rc;
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
		return park(db, message);
	if (rc == RC_OK)
		rc = hold(db, id);
	if (rc == RC_OK)
		messages->len++;
	else
		outbox_message_release(message);
	return rc;
}

/* --- one owner's turn */

struct turn {
	const struct outbox_owner *owner;
	size_t max;
	struct outbox_list *messages;
	size_t len_before;
	bool more; /* a batch was full */
};

static enum rc lock_due(struct db *db, const struct turn *turn, struct id *ids, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_LOCK);

	*len_out = 0;
	bind_bytes(st, turn->owner->bytes, turn->owner->len);
	bind_u64(st, turn->max);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && *len_out < turn->max) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &ids[(*len_out)++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* No row was there to be locked. RC_NOT_FOUND: there is one, and another session holds it. */
static enum rc is_gone(struct db *db, const struct outbox_owner *owner)
{
	struct stmt *st = db_stmt_n(db, SQL_OUTBOX_WANTED, 1);

	bind_bytes(st, owner->bytes, owner->len);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	stmt_done(st);
	return RC_NOT_FOUND;
}

/* What can't be told is moved out of the way, a batch at a turn: however much there is of it, the
 * next owner doesn't wait for that. SQL__MAX: it can be told. RC_NOT_FOUND: another session holds
 * the endpoint's row, and however long it does, nobody waits for it; the messages are due later
 * too. */
static enum rc way_of(struct db *db, const struct turn *turn, enum sql *instead_out)
{
	struct stmt *st = db_stmt(db, SQL_WEBHOOK_TURN);

	bind_bytes(st, turn->owner->bytes, turn->owner->len);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	*instead_out = SQL_OUTBOX_FORGET;
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? is_gone(db, turn->owner) : rc;
	bool enabled = col_u64(st) != 0, rests = col_u64(st) != 0;

	stmt_done(st);
	*instead_out = !enabled ? SQL_OUTBOX_PARK : rests ? SQL_OUTBOX_REST : SQL__MAX;
	return RC_OK;
}

static enum rc move_away(struct db *db, struct turn *turn, enum sql how)
{
	const struct outbox_owner *owner = turn->owner;
	enum rc rc = how == SQL_OUTBOX_PARK ? hold_endpoint(db, owner->bytes, owner->len) : RC_OK;

	if (rc != RC_OK)
		return rc;
	struct stmt *st = db_stmt(db, how);

	bind_bytes(st, owner->bytes, owner->len);
	rc = stmt_run(st);
	turn->more = rc == RC_OK && stmt_changed(st) >= OUTBOX_BATCH;
	return rc;
}

static enum rc take_turn(struct db *db, void *arg)
{
	struct turn *turn = arg;
	struct id ids[OUTBOX_MAX];
	enum sql instead;
	size_t len = 0;
	enum rc rc = way_of(db, turn, &instead);

	while (turn->messages->len > turn->len_before) /* of an earlier round */
		outbox_message_release(&turn->messages->list[--turn->messages->len]);
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	if (instead != SQL__MAX)
		return move_away(db, turn, instead);
	rc = lock_due(db, turn, ids, &len);
	for (size_t i = 0; rc == RC_OK && i < len; i++)
		rc = take_one(db, &ids[i], turn->messages);
	return rc;
}

/* --- the owners by turns */

static enum rc read_owners(struct db *db, const struct outbox_owner *after,
			   struct outbox_owner *owners, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_OWNERS);

	*len_out = 0;
	bind_bytes(st, after->bytes, after->len);
	bind_u64(st, OWNERS_MAX);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && *len_out < OWNERS_MAX) {
		struct outbox_owner *owner = &owners[*len_out];

		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		owner->len = col_bytes(st, owner->bytes, sizeof owner->bytes);
		(*len_out)++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc any_due(struct db *db, bool *due_out)
{
	struct stmt *st = db_stmt(db, SQL_OUTBOX_DUE);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	*due_out = rc == RC_OK;
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc serve(struct db *db, const struct outbox_owner *owner, size_t max,
		     struct outbox_turns *turns, struct outbox_list *messages)
{
	size_t busy = in_hand(turns, owner), room = max - messages->len;
	struct turn turn = { owner, OWNER_IN_HAND_MAX, messages, messages->len, false };

	turns->after = *owner;
	if (busy >= OWNER_IN_HAND_MAX)
		return RC_OK;
	turn.max = OWNER_IN_HAND_MAX - busy < room ? OWNER_IN_HAND_MAX - busy : room;
	enum rc rc = db_transact(db, take_turn, &turn);

	while (rc != RC_OK && messages->len > turn.len_before)
		outbox_message_release(&messages->list[--messages->len]);
	note_taken(turns, owner, messages->len - turn.len_before);
	messages->more |= turn.more && rc == RC_OK;
	return rc;
}

/* From the owner after the last one served to the end, or from the start. */
static enum rc walk(struct db *db, size_t max, int64_t end_ms, struct outbox_turns *turns,
		    struct outbox_list *messages)
{
	struct outbox_owner owners[OWNERS_MAX];
	size_t len;
	enum rc rc;

	do {
		rc = read_owners(db, &turns->after, owners, &len);
		for (size_t i = 0; rc == RC_OK && i < len && messages->len < max; i++) {
			if (clock_monotonic_ms() >= end_ms)
				return RC_OK;
			rc = serve(db, &owners[i], max, turns, messages);
		}
	} while (rc == RC_OK && len == OWNERS_MAX && messages->len < max);
	return rc;
}

enum rc outbox_take(struct db *db, size_t max, struct outbox_turns *turns,
		    struct outbox_list *messages_out)
{
	int64_t end_ms = clock_monotonic_ms() + TAKING_MAX_MS;
	bool due, from_start = turns->after.len == 0;
	enum rc rc = any_due(db, &due);

	*messages_out = (struct outbox_list){ 0 };
	if (rc != RC_OK || !due)
		return rc;
	messages_out->list = calloc(OUTBOX_MAX, sizeof *messages_out->list);
	if (!messages_out->list)
		return RC_FAULT;
	max = max < OUTBOX_MAX ? max : OUTBOX_MAX;
	rc = walk(db, max, end_ms, turns, messages_out);
	if (rc == RC_OK && !from_start && messages_out->len < max) {
		turns->after.len = 0;
		rc = walk(db, max, end_ms, turns, messages_out);
	}
	return messages_out->len > 0 ? RC_OK : rc; /* what was taken is ours; trouble comes again */
}
