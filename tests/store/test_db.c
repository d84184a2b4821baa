/* test_db.c: what an error means, and whole transactions. */
#include "testdb.h"

#include <stdio.h>

#include "lossy.h"
#include "store/lock.h"

static void an_error_means_the_same_everywhere(void **state)
{
	static const struct {
		unsigned int error;
		bool sent;
		enum rc want;
		const char *name;
	} rows[] = {
		{ 1213, true, RC_RETRY, "b09: deadlock, also at COMMIT in a cluster" },
		{ 1205, true, RC_RETRY, "b07: lock wait" },
		{ 1020, true, RC_RETRY, "b04: the row changed since it was read" },
		{ 1047, false, RC_RETRY, "b10: the node isn't ready" },
		{ 1047, true, RC_UNCERTAIN, "b10: nor does it know whether a write went out" },
		{ 1180, true, RC_UNCERTAIN, "the node was cut off in a commit" },
		{ 1290, true, RC_RETRY, "read only" },
		{ 1040, false, RC_RETRY, "too many connections" },
		{ 2002, false, RC_RETRY, "no socket" },
		{ 2003, false, RC_RETRY, "no host" },
		{ 2013, true, RC_UNCERTAIN, "b08: lost in a write" },
		{ 2013, false, RC_RETRY, "lost in a read" },
		{ 2006, true, RC_UNCERTAIN, "gone in a write" },
		{ 2006, false, RC_RETRY, "gone in a read" },
		{ 1927, true, RC_UNCERTAIN, "killed" },
		{ 1053, true, RC_UNCERTAIN, "shutting down" },
		{ 2055, true, RC_UNCERTAIN, "lost, MySQL's" },
		{ 1062, true, RC_CONFLICT, "duplicate" },
		{ 1406, true, RC_INVALID, "b06: too long" },
		{ 1264, true, RC_INVALID, "b06: out of range" },
		{ 1048, true, RC_INVALID, "b06: null" },
		{ 1366, true, RC_INVALID, "b06: not text" },
		{ 1064, true, RC_FAULT, "syntax" },
		{ 1146, true, RC_FAULT, "no such table" },
		{ 1142, true, RC_FAULT, "no right" },
		{ 1114, true, RC_RETRY, "a table can't grow: the disk is full" },
		{ 1021, true, RC_RETRY, "a temporary table can't: the disk is full" },
		{ 1026, true, RC_RETRY, "a write failed" },
		{ 1037, true, RC_RETRY, "no memory for it" },
		{ 1038, true, RC_RETRY, "no memory to sort" },
		{ 1041, true, RC_RETRY, "no memory" },
		{ 1206, true, RC_RETRY, "no room for locks" },
		{ 1226, true, RC_RETRY, "no more statements this hour" },
		{ 1461, false, RC_RETRY, "no more prepared statements" },
		{ 1637, true, RC_RETRY, "no more transactions at a time" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct db *db = testdb_another();
		enum rc rc = db_failed(db, rows[i].error, "words", "test", rows[i].sent);

		if (rc != rows[i].want || db_errno(db) != rows[i].error ||
		    !strstr(db_error(db), "words"))
			fail_msg("%u %s: %d", rows[i].error, rows[i].name, (int)rc);
		db_free(db);
	}
}

struct work {
	unsigned int rounds;
	unsigned int fail_until; /* rounds that end with rc */
	enum rc rc;
	bool killed;
};

static enum rc count(struct db *db, void *arg)
{
	struct work *work = arg;

	work->rounds++;
	enum rc rc = db_execute(db, "UPDATE providers SET version = version + 1");

	if (work->killed && work->rounds == 1) {
		raw_run(here.raw, "KILL CONNECTION %lu", testdb_connection(db));
		raw_until(0, "SELECT 0");
		return stmt_run(db_stmt(db, SQL_QUEUE_PROVIDERS));
	}
	return rc == RC_OK && work->rounds <= work->fail_until ? work->rc : rc;
}

static uint64_t version(void)
{
	return raw_number("SELECT version FROM providers");
}

static void a_transaction_is_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *name;
		struct work work;
		enum rc want;
		unsigned int rounds;
		uint64_t version;
	} rows[] = {
		{ "well", { 0 }, RC_OK, 1, 2 },
		{ "one round undone", { .fail_until = 1, .rc = RC_RETRY }, RC_OK, 2, 2 },
		{ "every round undone", { .fail_until = 99, .rc = RC_RETRY }, RC_RETRY, 4, 1 },
		{ "a conflict", { .fail_until = 99, .rc = RC_CONFLICT }, RC_CONFLICT, 1, 1 },
		{ "a fault", { .fail_until = 99, .rc = RC_FAULT }, RC_FAULT, 1, 1 },
		{ "not found", { .fail_until = 99, .rc = RC_NOT_FOUND }, RC_NOT_FOUND, 1, 1 },
		{ "connection killed", { .killed = true }, RC_OK, 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct work work = rows[i].work;
		struct db *db = testdb_another();

		raw_run(here.raw, "UPDATE providers SET version = 1");
		enum rc rc = db_transact(db, count, &work);

		if (rc != rows[i].want || work.rounds != rows[i].rounds ||
		    version() != rows[i].version)
			fail_msg("%s: code %d, %u rounds, version %d", rows[i].name, (int)rc,
				 work.rounds, (int)version());
		db_free(db);
	}
}

static void a_lost_commit_is_uncertain_and_not_said_again(void **state)
{
	static const enum lossy losses[] = { LOSE_COMMIT, LOSE_COMMIT_ANSWER };

	(void)state;
	for (size_t i = 0; i < ROWS(losses); i++) {
		struct db *db = db_new(lossy_open());
		struct work work = { 0 };

		raw_run(here.raw, "UPDATE providers SET version = 1");
		assert_int_equal(db_ready(db), RC_OK);
		lossy_arm(losses[i], 0, 1);
		assert_int_equal(db_transact(db, count, &work), RC_UNCERTAIN);
		assert_int_equal(work.rounds, 1);
		assert_int_equal(version(), i ? 2 : 1);
		work.rounds = 0;
		assert_int_equal(db_transact(db, count, &work), RC_OK); /* a new connection */
		db_free(db);
	}
}

struct embrace {
	MYSQL *other;
	unsigned int rounds;
};

static void take_first(struct db *db, size_t index, void *arg)
{
	struct embrace *embrace = arg;

	(void)db;
	(void)index;
	(void)mysql_query(
		embrace->other,
		"UPDATE providers SET version = 10 WHERE name = 'a'"); /* waits for ours */
	(void)mysql_query(embrace->other, "COMMIT");
}

static enum rc take_both(struct db *db, void *arg)
{
	struct embrace *embrace = arg;
	enum rc rc = db_execute(db, "UPDATE providers SET version = version + 1 WHERE name = 'a'");
	struct crew *crew = NULL;

	if (++embrace->rounds == 1) {
		crew = crew_start(1, take_first, embrace);
		raw_until(1, LOCK_WAITS);
	}
	if (rc == RC_OK)
		rc = db_execute(db, "UPDATE providers SET version = version + 1 WHERE name = 'b'");
	if (crew)
		crew_join(crew);
	return rc;
}

/* Where a cluster says 1213 at COMMIT, one server says it at a statement; both come out of work()
 * or COMMIT as RC_RETRY. */
static void b09_a_deadlock_inside_is_begun_anew_as_a_whole(void **state)
{
	struct embrace embrace = { .other = testdb_raw() };

	(void)state;
	provider_new("a", 1);
	provider_new("b", 1);
	for (int i = 0; i < 50; i++)
		job_new((struct a_job){ 0 });
	raw_run(embrace.other, "START TRANSACTION");
	raw_run(embrace.other,
		"UPDATE jobs SET revision = 1"); /* the heavier of the two is spared */
	raw_run(embrace.other, "UPDATE providers SET version = 10 WHERE name = 'b'");
	assert_int_equal(db_transact(here.db, take_both, &embrace), RC_OK);
	assert_int_equal(embrace.rounds, 2);
	assert_string_equal(raw_text("SELECT GROUP_CONCAT(version ORDER BY name) FROM providers "
				     "WHERE name < 'c'"),
			    "11,11");
	mysql_close(embrace.other);
}

static enum rc lock_both(struct db *db, const struct id *ids)
{
	struct locked_job locked[2];
	size_t len;
	enum rc rc = db_begin(db);

	if (rc == RC_OK)
		rc = lock_jobs(db, ids, 2, locked, &len);
	db_rollback(db);
	return rc;
}

/* The client library waits for the rest of such a result for as long as it waits for any answer. */
static void b07_an_error_inside_a_result_is_the_end_of_it(void **state)
{
	const struct id ids[] = { job_new((struct a_job){ 0 }), job_new((struct a_job){ 0 }) };
	MYSQL *other = testdb_raw();
	struct db *db = testdb_another();

	(void)state;
	assert_int_equal(db_execute(db, "SET SESSION innodb_lock_wait_timeout = 1"), RC_OK);
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(&ids[1]));
	assert_int_equal(lock_both(db, ids), RC_RETRY);
	assert_int_equal(db_errno(db), 1205);
	raw_run(other, "ROLLBACK");
	assert_int_equal(lock_both(db, ids), RC_OK);
	db_free(db);
	mysql_close(other);
}

struct wanting {
	struct id id;
	int asked;
};

static enum rc lock_it(struct db *db, void *arg)
{
	struct wanting *wanting = arg;
	struct locked_job locked;

	wanting->asked++;
	return lock_job(db, &wanting->id, &locked);
}

/* Whoever calls has others to serve; four waits would be four times as long. */
static void a_lock_is_waited_for_once(void **state)
{
	struct wanting wanting = { .id = job_new((struct a_job){ 0 }) };
	MYSQL *other = testdb_raw();
	struct db *db = testdb_another();

	(void)state;
	assert_int_equal(db_execute(db, "SET SESSION innodb_lock_wait_timeout = 1"), RC_OK);
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(&wanting.id));
	assert_int_equal(db_transact(db, lock_it, &wanting), RC_RETRY);
	assert_true(db_was_locked_out(db));
	assert_int_equal(wanting.asked, 1);
	raw_run(other, "ROLLBACK");
	assert_int_equal(db_transact(db, lock_it, &wanting), RC_OK);
	assert_int_equal(wanting.asked, 2);
	db_free(db);
	mysql_close(other);
}

/* The programs' own, and more behind it. */
static const char *option_file_with(char path[256], const char *more)
{
	char line[256];
	FILE *in = fopen(getenv("ONEJOB_DEFAULTS_FILE"), "r"), *out;

	snprintf(path, 256, "%s.other", getenv("ONEJOB_DEFAULTS_FILE"));
	out = fopen(path, "w");
	assert_true(in && out);
	while (fgets(line, sizeof line, in))
		fputs(line, out);
	fputs(more, out);
	fclose(in);
	fclose(out);
	return path;
}

/* Where it reconnected by itself, the rest of a transaction would be said outside of it, in a
 * session without our settings. */
/* As another node of a cluster ends one: what is said next is answered as if nothing had happened.
 */
struct ended {
	struct id job;
	bool looks; /* after its end, and before COMMIT */
	unsigned int rounds;
};

static enum rc touch_and_end(struct db *db, void *arg)
{
	struct ended *ended = arg;
	struct locked_job locked;
	struct stmt *st = db_stmt(db, SQL_JOB_TOUCH);

	bind_id(st, &ended->job);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK || ended->rounds++ > 0)
		return rc;
	if (mysql_query(db->mysql, "ROLLBACK") != 0)
		return RC_FAULT;
	return ended->looks ? lock_job(db, &ended->job, &locked) : RC_OK;
}

static void a_transaction_that_has_ended_without_a_word_is_done_again(void **state)
{
	(void)state;
	for (int looks = 0; looks < 2; looks++) {
		struct ended ended = { .job = job_new((struct a_job){ 0 }), .looks = looks };

		assert_int_equal(db_transact(here.db, touch_and_end, &ended), RC_OK);
		assert_int_equal(ended.rounds, 2);
		assert_int_equal(
			raw_number("SELECT revision FROM jobs WHERE id = %s", x(&ended.job)), 1);
	}
}

static void an_option_file_cannot_make_the_client_reconnect_or_change_the_session(void **state)
{
	char path[256];
	struct db *db = db_new(
		option_file_with(path, "reconnect=1\ndefault-character-set=latin1\n"
				       "init-command=SET SESSION autocommit = 0, sql_mode = ''\n"));

	(void)state;
	assert_int_equal(db_ready(db), RC_OK);
	assert_int_equal(mysql_query(db->mysql,
				     "SELECT CONCAT_WS(' ', @@autocommit = 1, @@sql_mode LIKE "
				     "'%STRICT%', @@character_set_client, "
				     "@@character_set_connection, @@character_set_results)"),
			 0);
	MYSQL_RES *rows = mysql_store_result(db->mysql);

	assert_string_equal(mysql_fetch_row(rows)[0], "1 1 utf8mb4 utf8mb4 utf8mb4");
	mysql_free_result(rows);
	raw_run(here.raw, "KILL CONNECTION %lu", testdb_connection(db));
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(mysql_query(db->mysql, "DO 1"), 0);
	db_free(db);
}

static void a_server_that_is_not_there_is_a_retry_and_never_an_absence(void **state)
{
	char path[256];
	struct db *db = db_new(option_file_with(path, "socket=/nonexistent/socket\n"));
	struct caller ann = caller_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct id id = { { 1 } };
	struct job job;

	(void)state;
	assert_int_equal(db_ready(db), RC_RETRY);
	assert_true(strlen(db_error(db)) > 10);
	assert_int_equal(create(db, &ann, "k", &intent, &job), CREATED_NOT_STORED);
	assert_int_equal(job_store_get(db, &ann, &id, &job), RC_RETRY);
	assert_true(strstr(db_versions(db), "no server by lib") != NULL);
	db_free(db);
	db_free(NULL);
}

static void an_option_file_that_is_missing_or_names_no_database_is_told_as_that(void **state)
{
	struct db *db = db_new("/nonexistent/option/file");
	char path[256];

	(void)state;
	assert_int_equal(db_ready(db), RC_RETRY);
	assert_non_null(
		strstr(db_error(db), "/nonexistent/option/file: No such file or directory"));
	db_free(db);
	db = db_new(option_file_with(path, "database=\n"));
	assert_int_equal(db_ready(db), RC_RETRY);
	assert_non_null(strstr(db_error(db), "names no database"));
	db_free(db);
}

#define SESSIONS                                                                                   \
	"SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'onejob' AND id <> "     \
	"CONNECTION_ID()"

static void a_connection_that_a_large_value_made_grow_is_closed_when_it_rests(void **state)
{
	static char input[1 << 20];
	struct caller ann = caller_named("ann");
	struct intent small = intent_of("press", "{}"), large;
	struct job job;
	struct id id;

	(void)state;
	memset(input, 'a', sizeof input);
	input[0] = input[sizeof input - 2] = '"';
	input[sizeof input - 1] = '\0';
	large = intent_of("press", input);
	assert_int_equal(create(here.db, &ann, "small", &small, &job), CREATED_NEW);
	job_release(&job);
	assert_false(db_rest(here.db));
	assert_int_equal(create(here.db, &ann, "large", &large, &job), CREATED_NEW);
	id = job.id;
	job_release(&job);
	assert_int_equal(job_store_get(here.db, &ann, &id, &job), RC_OK);
	assert_int_equal(job.input.len, strlen(input));
	job_release(&job);
	assert_true(db_rest(here.db));
	raw_until(0, SESSIONS);
	assert_false(db_rest(here.db)); /* there is none */
	assert_int_equal(create(here.db, &ann, "next", &small, &job), CREATED_NEW);
	job_release(&job);
	assert_false(db_rest(here.db));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_error_means_the_same_everywhere),
		TEST(a_transaction_is_whole_or_not_at_all),
		TEST(a_lost_commit_is_uncertain_and_not_said_again),
		TEST(b09_a_deadlock_inside_is_begun_anew_as_a_whole),
		TEST(b07_an_error_inside_a_result_is_the_end_of_it),
		TEST(a_lock_is_waited_for_once),
		TEST(a_transaction_that_has_ended_without_a_word_is_done_again),
		TEST(an_option_file_cannot_make_the_client_reconnect_or_change_the_session),
		TEST(an_option_file_that_is_missing_or_names_no_database_is_told_as_that),
		TEST(a_connection_that_a_large_value_made_grow_is_closed_when_it_rests),
		TEST(a_server_that_is_not_there_is_a_retry_and_never_an_absence),
	};

	return cmocka_run_group_tests_name("db", tests, testdb_open, testdb_close);
}
