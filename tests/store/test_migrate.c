/* test_migrate.c: the schema from nothing, again, by two at once, after an interruption; and what
 * is refused. */
#include "testdb.h"

#include <stdio.h>

#include "store/migrate.h"

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

static void a_migration_that_fails_is_a_fault_and_stays_to_be_done(void **state)
{
	struct schema_state schema;

	(void)state;
	raw_run(here.raw, "CREATE TABLE tokens (a INT)"); /* somebody else's: not begun by us */
	assert_int_equal(migrate_run(here.db, note, NULL, &schema), RC_FAULT);
	assert_int_equal(applied.len, 1);
	assert_int_equal(check().verdict, SCHEMA_OLDER);
	assert_int_equal(check().at, 1);
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
	static const struct {
		unsigned int number;
		const char *name, *text;
	} migrations[] = {
#include "migrations.inc"
	};

	(void)state;
	for (size_t i = 0; i < ROWS(migrations); i++) {
		const char *text = strstr(migrations[i].text, "ALTER TABLE");

		if (!text || may_hold_up_writers(migrations[i].number))
			raw_run(here.raw, "%s", migrations[i].text);
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
		FRESH(a_migration_that_fails_is_a_fault_and_stays_to_be_done),
		FRESH(a_migration_of_a_table_in_use_keeps_nobody_from_writing),
		FRESH(no_index_has_a_column_that_is_computed_and_not_stored),
	};

	return cmocka_run_group_tests_name("migrate", tests, testdb_open, testdb_close);
}
