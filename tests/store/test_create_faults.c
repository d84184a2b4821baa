/* test_create_faults.c: a create while the database refuses, deadlocks, goes away or keeps its
 * answer to itself. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"
#include "store/token_store.h"

#define KEY "k1"

struct clicks {
	enum created created[4];
	struct id ids[4];
};

static uint64_t jobs(void)
{
	return raw_number("SELECT COUNT(*) FROM jobs");
}

static void click(struct db *db, size_t index, void *arg)
{
	struct clicks *clicks = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	clicks->created[index] = create(db, &ann, KEY, &intent, &job);
	clicks->ids[index] = job.id;
	job_release(&job);
}

/* A transaction of another session that has taken the key and not said how it ends. */
static MYSQL *take_key(void)
{
	MYSQL *other = testdb_raw();

	raw_run(other, "START TRANSACTION");
	raw_run(other, "INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, "
		       "attempts_allowed, run_after, created_at, "
		       "updated_at, fingerprint) VALUES (REPEAT('z', 16), 'ann', '" KEY
		       "', 'queued', 3, 3, NOW(6), NOW(6), NOW(6), "
		       "UNHEX(SHA2('press {}', 256)))");
	return other;
}

static uint64_t deadlocks(void)
{
	return raw_number("SELECT variable_value FROM information_schema.global_status WHERE "
			  "variable_name = 'INNODB_DEADLOCKS'");
}

static void b02_waiting_duplicates_that_deadlock_end_with_one_job(void **state)
{
	uint64_t before = deadlocks();
	struct clicks clicks;
	MYSQL *other = take_key();
	struct crew *crew = crew_start(4, click, &clicks);
	size_t made = 0;

	(void)state;
	raw_until(4, LOCK_WAITS);
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	for (size_t i = 0; i < 4; i++) {
		if (clicks.created[i] != CREATED_NEW && clicks.created[i] != CREATED_REPLAYED)
			fail_msg("%zu: %d", i, (int)clicks.created[i]);
		made += clicks.created[i] == CREATED_NEW;
		assert_true(id_equal(&clicks.ids[i], &clicks.ids[0]));
	}
	assert_int_equal(made, 1);
	assert_int_equal(jobs(), 1);
	assert_true(deadlocks() > before); /* else nothing was tried here */
}

static void b03_the_row_behind_a_duplicate_is_found(void **state)
{
	static const char *const levels[] = { "READ COMMITTED", "REPEATABLE READ" };
	struct id nobody = { { 0 } };

	(void)state;
	for (size_t i = 0; i < ROWS(levels); i++) {
		struct clicks clicks;
		struct db *db = testdb_another();
		char sql[128];

		raw_run(here.raw, "DELETE FROM jobs");
		snprintf(sql, sizeof sql, "SET SESSION TRANSACTION ISOLATION LEVEL %s", levels[i]);
		raw_run(db->mysql, "%s", sql);
		assert_int_equal(db_begin(db), RC_OK);
		raw_run(db->mysql, "SELECT COUNT(*) FROM jobs WHERE id = %s",
			x(&nobody)); /* a snapshot older than the row */
		MYSQL *other = take_key();

		raw_run(other, "COMMIT");
		mysql_close(other);
		click(db, 0, &clicks);
		if (clicks.created[0] != CREATED_REPLAYED || clicks.ids[0].bytes[0] != 'z')
			fail_msg("%s: %d", levels[i], (int)clicks.created[0]);
		db_rollback(db);
		db_free(db);
	}
}

static void sessions_are_read_committed_strict_utc_and_wait_two_seconds(void **state)
{
	static const struct {
		const char *what, *want;
	} rows[] = {
		{ "@@tx_isolation", "READ-COMMITTED" },
		{ "@@time_zone", "+00:00" },
		{ "@@innodb_lock_wait_timeout", "2" },
		{ "@@autocommit", "1" },
		{ "@@sql_mode LIKE '%STRICT_ALL_TABLES%'", "1" },
		{ "@@character_set_client", "utf8mb4" },
	};
	struct db *db = testdb_another();

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char sql[128];

		snprintf(sql, sizeof sql, "SELECT %s", rows[i].what);
		assert_int_equal(mysql_query(db->mysql, sql), 0);
		MYSQL_RES *result = mysql_store_result(db->mysql);
		MYSQL_ROW row = mysql_fetch_row(result);

		if (!row || strcmp(row[0], rows[i].want) != 0)
			fail_msg("%s is %s", rows[i].what, row ? row[0] : "none");
		mysql_free_result(result);
	}
	db_free(db);
}

static void b06_what_a_column_cannot_hold_is_refused_and_not_cut(void **state)
{
	char long_owner[257] = "", long_name[66];
	struct caller caller = caller_named(memset(long_owner, 'o', 256));
	struct intent intent = intent_of("press", "{}");
	struct caller ann = caller_with("ann-token");
	struct id id = clock_id();
	struct job job;

	(void)state;
	caller.owner_len = 256;
	memset(long_name, 'p', 65);
	long_name[65] = '\0';
	assert_int_equal(create(here.db, &caller, KEY, &intent, &job), CREATED_NOT_STORED);
	assert_int_equal(create_as(here.db, &ann, KEY, &intent,
				   "00-0123456789012345678901234567890123456789012345678901-01",
				   &job),
			 CREATED_NOT_STORED);
	intent.max_attempts = 65536;
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NOT_STORED);
	intent.max_attempts = 3;
	intent.metadata = "{\"a\":\"\xff\xfe\"}";
	intent.metadata_len = strlen(intent.metadata);
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NOT_STORED);
	assert_int_equal(jobs(), 0);
	assert_int_equal(
		token_store_add(here.db, caller.token_sha256, long_owner, 256, ROLE_USER, 0),
		RC_INVALID);
	assert_int_equal(
		poller_register(here.db, &id,
				(memset(long_owner, 'h', 256), long_owner[256] = '\0', long_owner),
				1, 60),
		RC_INVALID);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM pollers") +
				 raw_number("SELECT COUNT(*) FROM tokens"),
			 2);
}

static void b06_the_columns_themselves_refuse_too(void **state)
{
	static const char *const rows[] = {
		"owner = REPEAT('o', 256)",
		"idempotency_key = REPEAT('k', 256)",
		"fingerprint = REPEAT('f', 33)",
		"state = 'done'",
		"state = ''",
		"provider = REPEAT('p', 65)",
		"next_provider = REPEAT('p', 65)",
		"version = -1",
		"max_attempts = 65536",
		"error_reason = REPEAT('r', 33)",
		"traceparent = REPEAT('t', 56)",
		"run_after = 'soon'",
		"run_after = NULL",
		"id = REPEAT('i', 17)",
		"run_after = '2026-02-30 00:00:00'",
	};
	struct id id = job_new((struct a_job){ 0 });
	struct db *db = testdb_another();

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		if (raw_try(db->mysql, "UPDATE jobs SET %s WHERE id = %s", rows[i], x(&id)) == 0)
			fail_msg("%s", rows[i]);
	assert_int_not_equal(raw_try(db->mysql, "INSERT INTO jobs SET id = REPEAT('j', 16)"), 0);
	db_free(db);
}

static void b07_a_lock_that_does_not_go_away_is_no_job_and_no_lie(void **state)
{
	struct clicks clicks;
	struct db *db = testdb_another();
	MYSQL *other = take_key();

	(void)state;
	raw_run(db->mysql, "SET SESSION innodb_lock_wait_timeout = 1");
	click(db, 0, &clicks);
	assert_int_equal(clicks.created[0], CREATED_NOT_STORED);
	assert_int_equal(db_errno(db), 1205);
	assert_int_equal(jobs(), 0);
	raw_run(other, "ROLLBACK");
	click(db, 0, &clicks);
	assert_int_equal(clicks.created[0], CREATED_NEW);
	assert_int_equal(jobs(), 1);
	mysql_close(other);
	db_free(db);
}

static void b08_a_connection_killed_in_the_insert_is_made_again(void **state)
{
	struct clicks clicks;
	MYSQL *other = take_key();
	struct crew *crew = crew_start(1, click, &clicks);

	(void)state;
	raw_until(1, LOCK_WAITS);
	raw_run(here.raw, "KILL CONNECTION %s",
		raw_text("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE "
			 "trx_state = 'LOCK WAIT'"));
	raw_until(1, LOCK_WAITS); /* asked again */
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	assert_int_equal(clicks.created[0], CREATED_NEW);
	assert_int_equal(jobs(), 1);
}

static void b08_what_is_lost_on_the_line_is_one_job(void **state)
{
	static const struct {
		const char *what;
		enum lossy lose;
		int times;
		enum created want;
		uint64_t jobs;
	} rows[] = {
		{ "the question", LOSE_EXECUTE, 1, CREATED_NEW, 1 },
		{ "the answer", LOSE_EXECUTE_ANSWER, 1, CREATED_NEW, 1 },
		{ "both answers", LOSE_EXECUTE_ANSWER, 2, CREATED_NEW, 1 },
		{ "every question", LOSE_EXECUTE, 1000, CREATED_NOT_STORED, 0 },
		{ "every answer", LOSE_EXECUTE_ANSWER, 1000, CREATED_NOT_STORED, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct db *db = db_new(lossy_open());
		struct clicks clicks;

		raw_run(here.raw, "DELETE FROM jobs");
		lossy_arm(rows[i].lose, 0, rows[i].times);
		click(db, 0, &clicks);
		bool lost = lossy_left() < rows[i].times;

		lossy_arm(LOSE_NOTHING, 0, 0);
		if (!lost || clicks.created[0] != rows[i].want || jobs() != rows[i].jobs)
			fail_msg("%s: %d, %d jobs", rows[i].what, (int)clicks.created[0],
				 (int)jobs());
		click(db, 1, &clicks); /* the client's repeat finds exactly one job */
		if (jobs() != 1 ||
		    clicks.created[1] != (rows[i].jobs ? CREATED_REPLAYED : CREATED_NEW))
			fail_msg("%s, repeated: %d", rows[i].what, (int)clicks.created[1]);
		db_free(db);
	}
}

static void a_create_whose_answer_was_lost_replays_what_was_first(void **state)
{
	struct db *db = db_new(lossy_open());
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}"), other = intent_of("press", "{\"x\":1}");
	struct job job;

	(void)state;
	job_new((struct a_job){ .key = KEY, .more = "fingerprint = UNHEX(SHA2('press {}', 256))" });
	lossy_arm(LOSE_EXECUTE_ANSWER, 0, 1);
	assert_int_equal(create(db, &ann, KEY, &intent, &job), CREATED_REPLAYED);
	job_release(&job);
	lossy_arm(LOSE_EXECUTE_ANSWER, 0, 1);
	assert_int_equal(create(db, &ann, KEY, &other, &job), CREATED_KEY_REUSED);
	assert_int_equal(lossy_left(), 0);
	assert_int_equal(jobs(), 1);
	db_free(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(b02_waiting_duplicates_that_deadlock_end_with_one_job),
		TEST(b03_the_row_behind_a_duplicate_is_found),
		TEST(sessions_are_read_committed_strict_utc_and_wait_two_seconds),
		TEST(b06_what_a_column_cannot_hold_is_refused_and_not_cut),
		TEST(b06_the_columns_themselves_refuse_too),
		TEST(b07_a_lock_that_does_not_go_away_is_no_job_and_no_lie),
		TEST(b08_a_connection_killed_in_the_insert_is_made_again),
		TEST(b08_what_is_lost_on_the_line_is_one_job),
		TEST(a_create_whose_answer_was_lost_replays_what_was_first),
	};

	return cmocka_run_group_tests_name("create faults", tests, testdb_open, testdb_close);
}
