#include "store/migrate.h"

#include <inttypes.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "store/db_private.h"
#include "store/stmt.h"

static const struct migration {
	uint32_t number;
	const char *name;
	const char *text;
} migrations[] = {
#include "migrations.inc"
};

#define ROUNDS_MAX 8

#define COUNT (sizeof migrations / sizeof migrations[0])

static uint32_t newest(void)
{
	return migrations[COUNT - 1].number;
}

static const struct migration *find(uint32_t number)
{
	for (size_t i = 0; i < COUNT; i++)
		if (migrations[i].number == number)
			return &migrations[i];
	return NULL;
}

/* A fresh database has not even the table to look in. */
static enum rc look_for_table(struct db *db, bool *there_out)
{
	struct stmt *st = db_stmt(db, SQL_MIGRATION_TABLE);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*there_out = col_u64(st) > 0;
	stmt_done(st);
	return RC_OK;
}

struct check {
	struct schema_state *state;
	bool begun[COUNT]; /* a row is there */
	bool applied[COUNT];
};

static void judge(struct check *check, uint32_t number, const unsigned char sha256[SHA256_BYTES],
		  bool applied)
{
	const struct migration *migration = find(number);
	unsigned char digest[SHA256_BYTES];

	if (applied && number > check->state->at)
		check->state->at = number;
	if (!migration) {
		check->state->verdict = SCHEMA_NEWER;
		return;
	}
	check->begun[migration - migrations] = true;
	check->applied[migration - migrations] = applied;
	digest_sha256(migration->text, strlen(migration->text), digest);
	if (memcmp(digest, sha256, SHA256_BYTES) != 0 && check->state->verdict != SCHEMA_NEWER &&
	    !check->state->changed) {
		check->state->verdict = SCHEMA_CHANGED;
		check->state->changed = number;
	}
}

static enum rc read_applied(struct db *db, void *arg)
{
	struct check *check = arg;
	bool there = false;
	enum rc rc = look_for_table(db, &there);

	*check->state = (struct schema_state){ .wants = newest() };
	memset(check->begun, 0, sizeof check->begun);
	memset(check->applied, 0, sizeof check->applied);
	check->state->verdict = there ? SCHEMA_CURRENT : SCHEMA_OLDER;
	if (rc != RC_OK || !there)
		return rc;
	struct stmt *st = db_stmt(db, SQL_MIGRATION_LIST);

	rc = stmt_run(st);
	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
		unsigned char sha256[SHA256_BYTES] = { 0 };
		uint32_t number = (uint32_t)col_u64(st);

		(void)col_bytes(st, sha256, sizeof sha256);
		judge(check, number, sha256, col_time(st) != 0);
	}
	if (rc != RC_NOT_FOUND)
		return rc;
	for (size_t i = 0; i < COUNT && check->state->verdict == SCHEMA_CURRENT; i++)
		if (!check->applied[i])
			check->state->verdict = SCHEMA_OLDER;
	return RC_OK;
}

enum rc migrate_check(struct db *db, struct schema_state *state_out)
{
	struct check check = { .state = state_out };

	return db_read(db, read_applied, &check);
}

static enum rc note_begin(struct db *db, const struct migration *migration)
{
	unsigned char digest[SHA256_BYTES];
	struct stmt *st = db_stmt(db, SQL_MIGRATION_BEGIN);

	digest_sha256(migration->text, strlen(migration->text), digest);
	bind_u64(st, migration->number);
	bind_str(st, migration->name);
	bind_bytes(st, digest, sizeof digest);
	return stmt_run(st);
}

static enum rc note_end(struct db *db, const struct migration *migration)
{
	struct stmt *st = db_stmt(db, SQL_MIGRATION_END);

	bind_u64(st, migration->number);
	return stmt_run(st);
}

/* The named lock keeps others of one server away. In a cluster one may be at it at another node:
 * what it has begun is gone on with, and what it has done says so. */
static enum rc begin(struct db *db, const struct migration *migration, bool *begun)
{
	enum rc rc = *begun ? RC_OK : note_begin(db, migration);

	*begun = true;
	return rc;
}

/* What the server refused to begin isn't begun: the next run must not take what it finds there,
 * somebody else's table say, for done. */
static void take_note_back(struct db *db, const struct migration *migration)
{
	struct stmt *st = db_stmt(db, SQL_MIGRATION_REFUSED);

	bind_u64(st, migration->number);
	if (stmt_run(st) != RC_OK)
		log_warning("migrate.note", "migration=%s error=\"%s\"", migration->name,
			    db_error(db));
}

/* A migration that was begun and not seen to end may have done its one statement.
 * The first one makes the table that the others are noted in, so it is noted after. */
static enum rc apply_once(struct db *db, const struct migration *migration, bool begun)
{
	bool first = migration == migrations;
	bool may_be_done = begun || db_in_cluster(db);
	enum rc rc = first ? RC_OK : begin(db, migration, &begun);

	if (rc != RC_OK)
		return rc;
	rc = may_be_done ? db_execute_again(db, migration->text) : db_execute(db, migration->text);
	if (rc != RC_OK && !may_be_done && !first && (db_was_there(db) || db_lacks_right(db)))
		take_note_back(db, migration);
	if (rc == RC_OK)
		rc = begin(db, migration, &begun);
	return rc == RC_OK ? note_end(db, migration) : rc;
}

/* Another node's may undo it, too. */
static enum rc apply(struct db *db, const struct migration *migration, bool begun)
{
	enum rc rc = apply_once(db, migration, begun);

	for (int round = 1;
	     rc == RC_RETRY && !db_was_locked_out(db) && db_in_cluster(db) && round < ROUNDS_MAX;
	     round++) {
		db_pause(round);
		rc = apply_once(db, migration, begun);
	}
	return rc == RC_CONFLICT ? RC_FAULT : rc; /* rows that a new unique key has no room for */
}

/* RC_NOT_FOUND: another connection has it. */
static enum rc named_lock(struct db *db, enum sql id, uint64_t *other_out)
{
	struct stmt *st = db_stmt(db, id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	int64_t got = col_i64(st, -1);

	*other_out = col_u64(st);
	stmt_done(st);
	return got == 1 ? RC_OK : got == 0 ? RC_NOT_FOUND : RC_RETRY;
}

/* However long it takes: a server goes on with the statement of a migrate that was killed, and who
 * has the lock doesn't wait for ever for anything else. */
static enum rc take_turn(struct db *db)
{
	uint64_t other;
	enum rc rc;

	while ((rc = named_lock(db, SQL_LOCK_NAMED, &other)) == RC_NOT_FOUND)
		log_warning("migrate.waits", "another=%" PRIu64, other);
	return rc;
}

/* A lost connection has taken it along, and the reason of the loss is what is to be told. */
static void end_turn(struct db *db)
{
	uint64_t other;

	if (db->mysql && named_lock(db, SQL_UNLOCK_NAMED, &other) != RC_OK)
		log_warning("migrate.lock", "it goes with the connection");
}

static enum rc apply_missing(struct db *db, const struct check *check,
			     void (*applied)(uint32_t number, const char *name, void *arg),
			     void *arg)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (check->applied[i])
			continue;
		enum rc rc = apply(db, &migrations[i], check->begun[i]);

		if (rc != RC_OK) {
			check->state->failed = migrations[i].name;
			log_error("migrate.failed", "migration=%s error=\"%s\"", migrations[i].name,
				  db_error(db));
			return rc;
		}
		if (applied)
			applied(migrations[i].number, migrations[i].name, arg);
	}
	return RC_OK;
}

enum rc migrate_run(struct db *db, void (*applied)(uint32_t number, const char *name, void *arg),
		    void *arg, struct schema_state *state_out)
{
	struct check check = { .state = state_out };
	enum rc rc = take_turn(db);

	*state_out = (struct schema_state){ .verdict = SCHEMA_OLDER, .wants = newest() };
	if (rc == RC_OK)
		rc = db_limit_waits(db, MIGRATE_WAIT_S);
	if (rc == RC_OK)
		rc = read_applied(db, &check);
	if (rc == RC_OK &&
	    (state_out->verdict == SCHEMA_NEWER || state_out->verdict == SCHEMA_CHANGED))
		rc = RC_CONFLICT;
	if (rc == RC_OK)
		rc = apply_missing(db, &check, applied, arg);
	if (rc == RC_OK)
		rc = read_applied(db, &check);
	end_turn(db);
	return rc;
}
