/* test_poller_start.c: what the poller does where the database isn't there, or isn't ready for it.
 */
#include "testdb.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "poller/desk.h"
#include "store/migrate.h"

static int rung[2], stderr_before;
static FILE *said;

static void ring(void *arg)
{
	(void)arg;
	assert_int_equal(write(rung[1], "", 1), 1);
}

static int without_a_schema(void **state)
{
	(void)state;
	raw_run(here.raw, "DROP DATABASE onejob");
	raw_run(here.raw, "CREATE DATABASE onejob");
	raw_run(here.raw, "USE onejob");
	said = tmpfile();
	if (!said || pipe(rung) != 0)
		return -1;
	stderr_before = dup(STDERR_FILENO);
	return dup2(fileno(said), STDERR_FILENO) < 0;
}

static int with_its_schema(void **state)
{
	struct schema_state schema;

	(void)state;
	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	fclose(said);
	close(rung[0]);
	close(rung[1]);
	return migrate_run(here.db, NULL, NULL, &schema) == RC_OK ? 0 : -1;
}

static struct desk *desk_with(const char *defaults_file, bool once)
{
	struct desk *desk = desk_open(&(struct desk_orders){ .defaults_file = defaults_file,
							     .in_flight_max = 4,
							     .lease_s = 30,
							     .poll_ms = 10,
							     .once = once,
							     .ring = ring });

	assert_non_null(desk);
	return desk;
}

static size_t times_said(const char *words)
{
	static char log[65536];
	size_t times = 0, len = 0;
	ssize_t n;

	while ((n = pread(fileno(said), log + len, sizeof log - 1 - len, (off_t)len)) > 0)
		len += (size_t)n;
	log[len] = '\0';
	for (const char *at = log; (at = strstr(at, words)); at++)
		times++;
	return times;
}

/* Nobody hurries it: it ends by itself, or this never does. */
static void ends_by_itself(struct desk *desk, bool well)
{
	char byte;

	while (!desk_done(desk))
		assert_int_equal(read(rung[0], &byte, 1), 1);
	assert_int_equal(desk_close(desk), well);
}

static void once_ends_with_the_fix_where_no_database_can_be_reached(void **state)
{
	(void)state;
	ends_by_itself(desk_with("/nowhere/onejob.cnf", true), false);
	assert_int_equal(times_said("the database can't be reached"), 1);
	assert_int_equal(times_said("group [onejob] of /nowhere/onejob.cnf"), 1);
}

static void once_ends_with_the_fix_where_there_is_no_schema(void **state)
{
	(void)state;
	ends_by_itself(desk_with(getenv("ONEJOB_DEFAULTS_FILE"), true), false);
	assert_int_equal(times_said("`onejob migrate`"), 1);
	assert_int_equal(times_said("database.refused"), 0);
}

static void a_poller_that_stays_says_it_once_and_begins_when_the_schema_is_there(void **state)
{
	struct desk *desk = desk_with(getenv("ONEJOB_DEFAULTS_FILE"), false);
	struct schema_state schema;

	(void)state;
	/* The look itself shows on the server; two of them are two turns. */
	uint64_t seen = raw_number("SELECT VARIABLE_VALUE FROM information_schema.global_status "
				   "WHERE VARIABLE_NAME = 'COM_STMT_EXECUTE'");
	char query[256];

	snprintf(query, sizeof query,
		 "SELECT VARIABLE_VALUE - %llu FROM information_schema.global_status "
		 "WHERE VARIABLE_NAME = 'COM_STMT_EXECUTE'",
		 (unsigned long long)seen);
	raw_until(2, query);
	assert_int_equal(times_said("`onejob migrate`"), 1);
	assert_int_equal(migrate_run(here.db, NULL, NULL, &schema), RC_OK);
	raw_until(1, "SELECT COUNT(*) FROM pollers");
	assert_true(desk_close(desk));
	assert_int_equal(times_said("`onejob migrate`"), 1);
}

static void a_newer_schema_is_worked_with(void **state)
{
	struct schema_state schema;

	(void)state;
	assert_int_equal(migrate_run(here.db, NULL, NULL, &schema), RC_OK);
	raw_run(here.raw, "INSERT INTO schema_migrations (number, name, sha256, applied_at) VALUES "
			  "(9999, 'later', REPEAT('x', 32), NOW(6))");
	ends_by_itself(desk_with(getenv("ONEJOB_DEFAULTS_FILE"), true), true);
	raw_run(here.raw, "DELETE FROM schema_migrations WHERE number = 9999");
}

#define START(f) cmocka_unit_test_setup_teardown(f, without_a_schema, with_its_schema)

int main(void)
{
	const struct CMUnitTest tests[] = {
		START(once_ends_with_the_fix_where_no_database_can_be_reached),
		START(once_ends_with_the_fix_where_there_is_no_schema),
		START(a_poller_that_stays_says_it_once_and_begins_when_the_schema_is_there),
		START(a_newer_schema_is_worked_with),
	};

	return cmocka_run_group_tests(tests, testdb_open, testdb_close);
}
