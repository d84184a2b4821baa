/* test_migrate.c: the schema from nothing, again, by two at once, after an interruption; and what
 * is refused. */
#include "testdb.h"

#include <stdio.h>

#include "base/digest.h"
#include "store/migrate.h"

static const struct file {
	unsigned int number;
	const char *name, *text;
} files[] = {
#include "migrations.inc"
};

static struct {
	uint32_t numbers[64];
	size_t len;
} applied;

static void note(uint32_t number, const char *name, void *arg)
{
	(void)arg;
	assert_non_null(name);
	applied.numbers[applied.len++] = number;
}

static int fresh(void **state)
{
	(void)state;
	raw_run(here.raw, "DROP DATABASE IF EXISTS onejob");
	raw_run(here.raw, "CREATE DATABASE onejob");
	raw_run(here.raw, "USE onejob");
	db_free(here.db);
	here.db = testdb_another();
	applied.len = 0;
	return 0;
}

static struct schema_state check(void)
{
	struct schema_state schema;

	assert_int_equal(migrate_check(here.db, &schema), RC_OK);
	return schema;
}

static void migrate(size_t want)
{
	struct schema_state schema;

	applied.len = 0;
	assert_int_equal(migrate_run(here.db, note, NULL, &schema), RC_OK);
	assert_int_equal(schema.verdict, SCHEMA_CURRENT);
	assert_int_equal(schema.at, schema.wants);
	assert_int_equal(applied.len, want);
	assert_int_equal(db_errno(here.db), 0); /* nothing was refused, and logged */
}

static uint64_t tables(void)
{
	return raw_number(
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'onejob'");
}

static void a_fresh_database_gets_each_migration_once_and_in_order(void **state)
{
	(void)state;
	assert_int_equal(check().verdict, SCHEMA_OLDER);
	assert_int_equal(check().at, 0);
	migrate(check().wants);
	for (size_t i = 0; i < applied.len; i++)
		assert_int_equal(applied.numbers[i], i + 1);
	assert_int_equal(check().verdict, SCHEMA_CURRENT);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM schema_migrations WHERE applied_at IS NOT NULL"),
		applied.len);
	assert_int_equal(tables(), 16);
	migrate(0);
}

static void rights_on_the_one_database_are_enough(void **state)
{
	(void)state;
	assert_int_not_equal(raw_try(here.db->mysql, "SELECT COUNT(*) FROM mysql.user"), 0);
	assert_int_not_equal(raw_try(here.db->mysql, "CREATE DATABASE other"), 0);
	migrate(check().wants);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM information_schema.triggers WHERE "
				    "trigger_schema = 'onejob'") +
				 raw_number("SELECT COUNT(*) FROM information_schema.routines "
					    "WHERE routine_schema = 'onejob'") +
				 raw_number("SELECT COUNT(*) FROM information_schema.events WHERE "
					    "event_schema = 'onejob'"),
			 0);
}

/* Without one of them nothing is done, and the error names it. The account of ./run's programs has
 * neither. */
static void a_right_that_migrate_lacks_is_named_and_rows_need_neither(void **state)
{
	static const char *const rights[] = { "CREATE", "ALTER" };
	struct schema_state schema;
	struct id id;

	(void)state;
	for (size_t i = 0; i < ROWS(rights); i++) {
		fresh(NULL);
		raw_run(here.raw, "REVOKE %s ON onejob.* FROM onejob@localhost", rights[i]);
		db_free(here.db);
		here.db = testdb_another();
		enum rc rc = migrate_run(here.db, note, NULL, &schema);
		bool named = strstr(db_error(here.db), rights[i]) != NULL;

		raw_run(here.raw, "GRANT %s ON onejob.* TO onejob@localhost", rights[i]);
		if (rc != RC_FAULT || !named)
			fail_msg("%s: %d %s", rights[i], (int)rc, db_error(here.db));
		db_free(here.db);
		here.db = testdb_another();
		assert_int_equal(check().verdict, SCHEMA_OLDER);
		migrate(check().wants - applied.len); /* goes on where it stopped */
	}
	raw_run(here.raw, "REVOKE CREATE, ALTER ON onejob.* FROM onejob@localhost");
	db_free(here.db);
	here.db = testdb_another();
	migrate(0);
	id = poller_new();
	assert_int_equal(poller_leave(here.db, &id), RC_OK);
	raw_run(here.raw, "GRANT CREATE, ALTER ON onejob.* TO onejob@localhost");
}

struct two {
	enum rc rcs[4];
	enum schema_age verdicts[4];
};

static void migrate_beside_others(struct db *db, size_t index, void *arg)
{
	struct two *two = arg;
	struct schema_state schema;

	two->rcs[index] = migrate_run(db, NULL, NULL, &schema);
	two->verdicts[index] = schema.verdict;
}

static void several_at_once_take_turns(void **state)
{
	struct two two;

	(void)state;
	crew_run(4, migrate_beside_others, &two);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(two.rcs[i], RC_OK);
		assert_int_equal(two.verdicts[i], SCHEMA_CURRENT);
	}
	assert_int_equal(tables(), 16);
	assert_int_equal(check().verdict, SCHEMA_CURRENT);
}

static void what_was_changed_since_or_is_newer_is_refused(void **state)
{
	static const struct {
		const char *sql;
		enum schema_age want;
		uint32_t changed;
	} rows[] = {
		{ "UPDATE schema_migrations SET sha256 = REPEAT('x', 32) WHERE number = 3",
		  SCHEMA_CHANGED, 3 },
		{ "INSERT INTO schema_migrations VALUES (999, 'new', REPEAT('n', 32), NOW(6))",
		  SCHEMA_NEWER, 0 },
	};
	struct schema_state schema;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		fresh(NULL);
		migrate(check().wants);
		raw_run(here.raw, "DROP TABLE races");
		raw_run(here.raw,
			"UPDATE schema_migrations SET applied_at = NULL WHERE number = 7");
		raw_run(here.raw, "%s", rows[i].sql);
		assert_int_equal(check().verdict, rows[i].want);
		assert_int_equal(migrate_run(here.db, note, NULL, &schema), RC_CONFLICT);
		assert_int_equal(schema.verdict, rows[i].want);
		if (rows[i].changed)
			assert_int_equal(schema.changed, rows[i].changed);
		assert_int_equal(tables(), 15); /* nothing was done */
		assert_int_equal(raw_number("SELECT IS_FREE_LOCK(CONCAT('onejob.', "
					    "LEFT(SHA2(DATABASE(), 256), 40)))"),
				 1);
	}
}

static void an_interrupted_migration_heals(void **state)
{
	static const struct {
		const char *name, *first, *then;
		size_t want;
	} rows[] = {
		{ "noted, table not there", "DROP TABLE races",
		  "UPDATE schema_migrations SET applied_at = NULL WHERE number = 7", 1 },
		{ "table there, end not noted", "DO 0",
		  "UPDATE schema_migrations SET applied_at = NULL WHERE number = 7", 1 },
		{ "table of migrations there, empty",
		  "DROP TABLE outbox, webhooks, races, attempts, jobs, pollers, providers, tokens, "
		  "contracts, contract_versions, contract_routes, certificates, certify_runs, "
		  "provider_versions, counters",
		  "DELETE FROM schema_migrations", 29 },
		{ "stopped in the middle",
		  "DROP TABLE outbox, webhooks, races, attempts, jobs, pollers, providers, "
		  "contracts, contract_versions, contract_routes, certificates, certify_runs, "
		  "provider_versions, counters",
		  "DELETE FROM schema_migrations WHERE number >= 3", 27 },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		fresh(NULL);
		migrate(check().wants);
		raw_run(here.raw, "%s", rows[i].first);
		raw_run(here.raw, "%s", rows[i].then);
		if (check().verdict != SCHEMA_OLDER)
			fail_msg("%s: %d", rows[i].name, (int)check().verdict);
		migrate(rows[i].want);
		assert_int_equal(tables(), 16);
	}
}

static void hex(const unsigned char *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* As `onejob migrate` notes it. */
static void note_file(const struct file *file, bool ended)
{
	unsigned char sha256[SHA256_BYTES];
	char digits[2 * SHA256_BYTES + 1];

	digest_sha256(file->text, strlen(file->text), sha256);
	hex(sha256, sizeof sha256, digits);
	raw_run(here.raw, "INSERT INTO schema_migrations VALUES (%u, '%s', X'%s', %s)",
		file->number, file->name, digits, ended ? "NOW(6)" : "NULL");
}

/* The schema as it was before the migration of this number. */
static void fresh_before(unsigned int number)
{
	fresh(NULL);
	for (size_t i = 0; i < ROWS(files) && files[i].number < number; i++) {
		raw_run(here.raw, "%s", files[i].text);
		note_file(&files[i], true);
	}
}

/* All columns in their order, and all keys. */
static const char *shape(void)
{
	raw_run(here.raw, "SET SESSION group_concat_max_len = 1000000");
	return raw_text(
		"SELECT SHA2(CONCAT((SELECT GROUP_CONCAT(CONCAT_WS('|', table_name, column_name, "
		"column_type, is_nullable, column_default, extra, generation_expression, "
		"column_comment) ORDER BY table_name, ordinal_position) FROM "
		"information_schema.columns WHERE table_schema = 'onejob'), (SELECT "
		"GROUP_CONCAT(CONCAT_WS('|', table_name, index_name, column_name, non_unique) "
		"ORDER BY table_name, index_name, seq_in_index) FROM "
		"information_schema.statistics WHERE table_schema = 'onejob')), 256)");
}

static void whole_shape(char *out, size_t size)
{
	fresh(NULL);
	migrate(check().wants);
	snprintf(out, size, "%s", shape());
}

/* A crash leaves one of two: the note without the statement, or the statement and no word of its
 * end. */
static void each_migration_that_was_begun_is_finished_by_the_next_run(void **state)
{
	char whole[65];

	(void)state;
	whole_shape(whole, sizeof whole);
	for (size_t i = 1; i < ROWS(files); i++) {
		for (int done = 0; done < 2; done++) {
			fresh_before(files[i].number);
			note_file(&files[i], false);
			if (done)
				raw_run(here.raw, "%s", files[i].text);
			migrate(ROWS(files) - i);
			if (strcmp(shape(), whole) != 0)
				fail_msg("%s, %s: another schema", files[i].name,
					 done ? "done" : "not done");
		}
	}
}

/* A shared host's one database may well have a table of such a name. */
static void what_others_made_is_not_taken_for_ours_however_often_it_is_tried(void **state)
{
	static const struct {
		unsigned int number;
		const char *made, *undone;
	} rows[] = {
		{ 2, "CREATE TABLE tokens (a INT)", "DROP TABLE tokens" },
		{ 23, "CREATE TABLE counters (a INT)", "DROP TABLE counters" },
		{ 26, "ALTER TABLE providers ADD COLUMN holds DATE",
		  "ALTER TABLE providers DROP COLUMN holds" },
		{ 27, "ALTER TABLE jobs DROP KEY due",
		  "ALTER TABLE jobs ADD KEY due (queued_for, run_after)" },
	};
	struct schema_state schema;
	char whole[65];

	(void)state;
	whole_shape(whole, sizeof whole);
	for (size_t i = 0; i < ROWS(rows); i++) {
		fresh_before(rows[i].number);
		raw_run(here.raw, "%s", rows[i].made);
		for (int round = 0; round < 3; round++) {
			enum rc rc = migrate_run(here.db, note, NULL, &schema);

			if (rc != RC_FAULT || check().at != rows[i].number - 1)
				fail_msg("%s, round %d: %d", rows[i].made, round, (int)rc);
			assert_string_equal(schema.failed, files[rows[i].number - 1].name);
		}
		raw_run(here.raw, "%s", rows[i].undone);
		db_free(here.db);
		here.db = testdb_another();
		migrate(ROWS(files) - rows[i].number + 1);
		assert_string_equal(shape(), whole);
	}
}

/* An account without the right to it has begun nothing either. */
static void what_others_made_is_not_ours_after_a_right_was_missing(void **state)
{
	struct schema_state schema;

	(void)state;
	fresh_before(23);
	raw_run(here.raw, "CREATE TABLE counters (a INT)");
	raw_run(here.raw, "REVOKE CREATE ON onejob.* FROM onejob@localhost");
	db_free(here.db);
	here.db = testdb_another();
	enum rc rc = migrate_run(here.db, note, NULL, &schema);

	raw_run(here.raw, "GRANT CREATE ON onejob.* TO onejob@localhost");
	assert_int_equal(rc, RC_FAULT);
	db_free(here.db);
	here.db = testdb_another();
	assert_int_equal(migrate_run(here.db, note, NULL, &schema), RC_FAULT);
	assert_int_equal(check().at, 22);
}

/* --- while others hold what it wants, and when its connection ends meanwhile */

/* Until the query has a row, whose number isn't 0. */
static uint64_t patient_until(const char *query)
{
	uint64_t number = 0;

	for (int i = 0; i < 1200 && number == 0; i++) {
		raw_run(here.raw, "DO SLEEP(0.05)");
		number = raw_number("SELECT COALESCE(MAX(it), 0) FROM (%s) one", query);
	}
	if (number == 0)
		fail_msg("never: %s", query);
	return number;
}

struct run {
	enum rc rc;
	unsigned int error_no;
	const char *failed;
};

static void run_beside(struct db *db, size_t index, void *arg)
{
	struct run *run = arg;
	struct schema_state schema;

	(void)index;
	run->rc = migrate_run(db, NULL, NULL, &schema);
	run->error_no = db_errno(db);
	run->failed = schema.failed;
}

#define COPYING                                                                                    \
	"SELECT id AS it FROM information_schema.processlist WHERE state = 'Waiting for table "    \
	"metadata lock' AND info LIKE '%ALTER TABLE jobs%'"

/* Whoever has read the table in a transaction keeps the copy from taking its place. */
static MYSQL *reader_of_jobs(void)
{
	MYSQL *reader = testdb_raw();

	raw_run(reader, "START TRANSACTION");
	raw_run(reader, "SELECT COUNT(*) FROM jobs");
	return reader;
}

static void a_held_table_ends_it_after_a_while_so_that_nobody_waits_behind_it_for_ever(void **state)
{
	struct run run;

	(void)state;
	fresh_before(27);
	MYSQL *reader = reader_of_jobs();
	struct crew *crew = crew_start(1, run_beside, &run);

	patient_until(COPYING);
	raw_run(here.raw, "SET SESSION lock_wait_timeout = 300");
	raw_run(here.raw, "SELECT COUNT(*) FROM jobs"); /* waits behind it */
	mysql_close(reader);
	crew_join(crew);
	assert_int_equal(run.rc, RC_RETRY);
	assert_int_equal(run.error_no, ER_LOCK_WAIT_TIMEOUT);
	assert_string_equal(run.failed, "0027_jobs_stored");
	migrate(3);
}

#define ASKING                                                                                     \
	"SELECT query_id AS it FROM information_schema.processlist WHERE state = 'User lock' AND " \
	"query_id > "

static void one_that_is_at_it_is_waited_for_however_long_it_takes(void **state)
{
	struct run run;
	char again[sizeof ASKING + 20];

	(void)state;
	raw_run(here.raw, "SELECT GET_LOCK(CONCAT('onejob.', LEFT(SHA2('onejob', 256), 40)), 0)");
	struct crew *crew = crew_start(1, run_beside, &run);

	snprintf(again, sizeof again, ASKING "%llu", (unsigned long long)patient_until(ASKING "0"));
	patient_until(again); /* it has waited once in vain */
	raw_run(here.raw, "SELECT RELEASE_LOCK(CONCAT('onejob.', LEFT(SHA2('onejob', 256), 40)))");
	crew_join(crew);
	assert_int_equal(run.rc, RC_OK);
	migrate(0);
}

static void ended_in_the_middle_of_a_copy_it_leaves_nothing_and_the_next_finishes(void **state)
{
	static const struct {
		const char *end;
		enum rc want;
		unsigned int error_no;
	} rows[] = {
		{ "KILL QUERY", RC_RETRY, ER_QUERY_INTERRUPTED },
		{ "KILL", RC_UNCERTAIN, CR_SERVER_LOST },
	};
	struct run run;
	char whole[65];

	(void)state;
	whole_shape(whole, sizeof whole);
	for (size_t i = 0; i < ROWS(rows); i++) {
		fresh_before(27);
		MYSQL *reader = reader_of_jobs();
		struct crew *crew = crew_start(1, run_beside, &run);

		raw_run(here.raw, "%s %llu", rows[i].end,
			(unsigned long long)patient_until(COPYING));
		crew_join(crew);
		mysql_close(reader);
		if (run.rc != rows[i].want || run.error_no != rows[i].error_no)
			fail_msg("%s: %d, %u", rows[i].end, (int)run.rc, run.error_no);
		assert_string_equal(run.failed, "0027_jobs_stored");
		migrate(3);
		assert_string_equal(shape(), whole);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM "
					    "information_schema.innodb_sys_tables WHERE name LIKE "
					    "'%%#sql%%'"),
				 0);
	}
}

/* Older ones have landed, some otherwise, and never change; and a column that is computed and
 * stored costs a copy of its table. */
static bool may_hold_up_writers(unsigned int number)
{
	return number < 24 || (number >= 27 && number <= 29);
}

/* A deployment goes on while its schema is brought up to date (doc/upgrade.md). */
static void a_migration_of_a_table_in_use_keeps_nobody_from_writing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(files); i++) {
		const char *text = strstr(files[i].text, "ALTER TABLE");

		if (!text || may_hold_up_writers(files[i].number))
			raw_run(here.raw, "%s", files[i].text);
		else
			raw_run(here.raw, "%.*s, LOCK = NONE", (int)(strrchr(text, ';') - text),
				text);
	}
}

/* MariaDB's purge opens a table anew for each of these, which ends badly in a server that is ended
 * while it starts (sql/0027). */
static void no_index_has_a_column_that_is_computed_and_not_stored(void **state)
{
	(void)state;
	migrate(check().wants);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM information_schema.columns WHERE "
				    "table_schema = DATABASE() AND extra LIKE '%%STORED%%'"),
			 6);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM information_schema.columns c JOIN "
				    "information_schema.statistics s USING (table_schema, "
				    "table_name, column_name) WHERE table_schema = DATABASE() AND "
				    "c.extra LIKE '%%VIRTUAL%%'"),
			 0);
}

#define FRESH(f) cmocka_unit_test_setup(f, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(a_fresh_database_gets_each_migration_once_and_in_order),
		FRESH(rights_on_the_one_database_are_enough),
		FRESH(a_right_that_migrate_lacks_is_named_and_rows_need_neither),
		FRESH(several_at_once_take_turns),
		FRESH(what_was_changed_since_or_is_newer_is_refused),
		FRESH(an_interrupted_migration_heals),
		FRESH(each_migration_that_was_begun_is_finished_by_the_next_run),
		FRESH(what_others_made_is_not_taken_for_ours_however_often_it_is_tried),
		FRESH(what_others_made_is_not_ours_after_a_right_was_missing),
		FRESH(a_held_table_ends_it_after_a_while_so_that_nobody_waits_behind_it_for_ever),
		FRESH(one_that_is_at_it_is_waited_for_however_long_it_takes),
		FRESH(ended_in_the_middle_of_a_copy_it_leaves_nothing_and_the_next_finishes),
		FRESH(a_migration_of_a_table_in_use_keeps_nobody_from_writing),
		FRESH(no_index_has_a_column_that_is_computed_and_not_stored),
	};

	return cmocka_run_group_tests_name("migrate", tests, testdb_open, testdb_close);
}
