/* test_purge.c: payloads go, keys stay; nothing that may still have an effect is touched, and
 * nobody waits. */
#include "testdb.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "store/certificate_store.h"

#define DAY 86400

static struct id old_job(enum job_state state, const char *key)
{
	struct id id = job_new((struct a_job){
		.state = state,
		.key = key,
		.input = "secret-in",
		.version = 1,
		.more = "updated_at = NOW(6) - INTERVAL 10 DAY, created_at = NOW(6) - INTERVAL 10 "
			"DAY, "
			"metadata = '{\"m\":\"secret-meta\"}', error_detail = 'secret-error', "
			"result = '\"secret-out\"', fingerprint = UNHEX(SHA2('press secret-in', "
			"256))" });
	unsigned char random[ID_RANDOM_BYTES];
	struct id old;

	/* Ids sort by time: an old job has an old one. */
	clock_random(random, sizeof random);
	old = id_make(clock_real_us() - INTMAX_C(10) * DAY * 1000000, random);
	raw_run(here.raw, "UPDATE jobs SET id = %s WHERE id = %s", x(&old), x(&id));
	return old;
}

static uint64_t purge(bool rows)
{
	uint64_t purged = 99;

	assert_int_equal(
		(rows ? job_store_purge_rows : job_store_purge_payloads)(here.db, 5 * DAY, &purged),
		RC_OK);
	return purged;
}

static void payloads_go_and_the_row_stays(void **state)
{
	struct id job = old_job(JOB_FAILED, "k");
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "secret-in"), other = intent_of("press", "else");
	struct job again;

	(void)state;
	attempt_new(
		(struct an_attempt){ .job = &job,
				     .state = ATTEMPT_FAILED,
				     .more = "detail = 'secret-detail', note = 'secret-note'" });
	assert_int_equal(purge(false), 1);
	assert_int_equal(found_anywhere("secret"), 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE purged_at IS NOT NULL AND "
				    "state = 'failed' AND version = 1"),
			 1);
	assert_int_equal(purge(false), 0);
	assert_int_equal(create(here.db, &ann, "k", &intent, &again), CREATED_REPLAYED);
	assert_true(id_equal(&again.id, &job) && again.purged_us != 0 && !again.input.bytes);
	assert_int_equal(again.attempts_len, 1);
	job_release(&again);
	assert_int_equal(create(here.db, &ann, "k", &other, &again), CREATED_KEY_REUSED);
	job_release(&again);
}

static void a_key_is_new_again_only_when_its_row_is_gone(void **state)
{
	struct id job = old_job(JOB_SUCCEEDED, "k");
	struct caller ann = caller_with("ann-token");
	struct intent other = intent_of("press", "else");
	struct job made;
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_DISCARDED });

	(void)state;
	raw_run(here.raw, "INSERT INTO races SELECT id, job_id, id, NULL, 'lost_swap', REPEAT('s', "
			  "32), 1, NOW(6) FROM attempts");
	(void)attempt;
	assert_int_equal(purge(true), 1);
	assert_int_equal(raw_number("SELECT (SELECT COUNT(*) FROM jobs) + (SELECT COUNT(*) FROM "
				    "attempts) + (SELECT COUNT(*) FROM races)"),
			 0);
	assert_int_equal(create(here.db, &ann, "k", &other, &made), CREATED_NEW);
	job_release(&made);
}

static void what_is_open_or_young_is_left(void **state)
{
	static const struct {
		enum job_state job;
		int attempt;
		const char *more;
		bool want;
	} rows[] = {
		{ JOB_SUCCEEDED, -1, NULL, true },
		{ JOB_FAILED, -1, NULL, true },
		{ JOB_CANCELLED, -1, NULL, true },
		{ JOB_QUEUED, -1, NULL, false },
		{ JOB_RUNNING, ATTEMPT_RUNNING, NULL, false },
		{ JOB_UNKNOWN, ATTEMPT_UNKNOWN, NULL, false },
		{ JOB_CANCELLED, ATTEMPT_STARTING, NULL, false },
		{ JOB_CANCELLED, ATTEMPT_RUNNING, NULL, false },
		{ JOB_CANCELLED, ATTEMPT_UNKNOWN, NULL, false },
		{ JOB_SUCCEEDED, ATTEMPT_RELEASED, NULL, false },
		{ JOB_FAILED, ATTEMPT_RELEASED, NULL, false },
		{ JOB_SUCCEEDED, ATTEMPT_DISCARDED, NULL, true },
		{ JOB_SUCCEEDED, ATTEMPT_SUCCEEDED, NULL, true },
		{ JOB_FAILED, ATTEMPT_FAILED, NULL, true },
		{ JOB_FAILED, ATTEMPT_CANCELLED, NULL, true },
		{ JOB_SUCCEEDED, -1, "updated_at = NOW(6) - INTERVAL 4 DAY", false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ROWS(rows); i++) {
		size_t r = i / 2;

		testdb_empty(NULL);
		struct id job = old_job(rows[r].job, NULL);

		if (rows[r].attempt >= 0)
			attempt_new((struct an_attempt){
				.job = &job, .state = (enum attempt_state)rows[r].attempt });
		if (rows[r].more)
			raw_run(here.raw, "UPDATE jobs SET %s", rows[r].more);
		if (purge(i % 2) != rows[r].want)
			fail_msg("row %zu, %s", r, i % 2 ? "rows" : "payloads");
		assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts"),
				 rows[r].attempt >= 0 && !(i % 2 && rows[r].want));
	}
}

/* Between the look and the lock, the job is asked for again, tried and cancelled. */
struct purging {
	enum rc rc;
	uint64_t purged;
};

static void purge_rows(struct db *db, size_t index, void *arg)
{
	struct purging *purging = arg;

	(void)index;
	purging->rc = job_store_purge_rows(db, 5 * DAY, &purging->purged);
}

static void what_comes_into_doubt_meanwhile_is_left(void **state)
{
	struct id job = old_job(JOB_FAILED, NULL), id = clock_id();
	MYSQL *other = testdb_raw();
	struct purging purging;

	(void)state;
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(&job));
	struct crew *crew = crew_start(1, purge_rows, &purging);

	raw_until(1, LOCK_WAITS);
	raw_run(other,
		"INSERT INTO attempts SET id = %s, job_id = %s, number = 1, provider = 'p', "
		"provider_version = 1, "
		"generation = 0, state = 'unknown', version_read = 1, started_at = NOW(6)",
		x(&id), x(&job));
	raw_run(other, "UPDATE jobs SET state = 'cancelled' WHERE id = %s", x(&job));
	raw_run(other, "COMMIT");
	crew_join(crew);
	mysql_close(other);
	assert_int_equal(purging.rc, RC_OK);
	assert_int_equal(purging.purged, 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), 1);
	attempt_is(&id, "unknown");
}

static void grow(size_t n)
{
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, input, "
		"state, max_attempts, "
		"attempts_allowed, run_after, created_at, updated_at) SELECT UNHEX(LPAD(HEX(seq), "
		"32, '0')), seq MOD 9, seq, REPEAT('f', "
		"32), 'press', REPEAT('i', 500), 'succeeded', 3, 3, NOW(6), NOW(6), NOW(6) - "
		"INTERVAL 9 DAY FROM seq_1_to_%zu",
		n);
	raw_run(here.raw,
		"INSERT INTO attempts (id, job_id, number, provider, provider_version, generation, "
		"state, version_read, "
		"started_at) SELECT id, id, 1, 'press', 1, 0, 'succeeded', 0, NOW(6) FROM jobs");
}

struct steady {
	atomic_bool over;
	unsigned int made, bad;
	int64_t longest_ms;
	uint64_t purged;
	enum rc rc;
};

/* Member 0 purges, the others create all the while. */
static void purge_or_create(struct db *db, size_t index, void *arg)
{
	struct steady *steady = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;
	char key[32];

	if (index == 0) {
		uint64_t payloads, rows;

		steady->rc = job_store_purge_payloads(db, 5 * DAY, &payloads);
		if (steady->rc == RC_OK)
			steady->rc = job_store_purge_rows(db, 5 * DAY, &rows);
		steady->purged = steady->rc == RC_OK && payloads == rows ? rows : 0;
		steady->over = true;
		return;
	}
	while (!steady->over) {
		int64_t before_ms = clock_monotonic_ms();

		snprintf(key, sizeof key, "new %u", steady->made++);
		steady->bad += create(db, &ann, key, &intent, &job) != CREATED_NEW;
		job_release(&job);
		if (clock_monotonic_ms() - before_ms > steady->longest_ms)
			steady->longest_ms = clock_monotonic_ms() - before_ms;
	}
}

static void f05_creates_go_on_while_thousands_are_purged(void **state)
{
	struct steady steady = { .rc = RC_FAULT };

	(void)state;
	grow(5050); /* half a batch at the end */
	crew_run(2, purge_or_create, &steady);
	assert_int_equal(steady.rc, RC_OK);
	assert_int_equal(steady.purged, 5050);
	assert_int_equal(steady.bad, 0);
	assert_true(steady.made > 20);
	assert_true(steady.longest_ms < 3000); /* a lock wait would be 5 s */
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), steady.made);
}

static void f05_a_create_of_another_key_does_not_wait_for_an_open_batch(void **state)
{
	MYSQL *other = testdb_raw();
	struct caller seven = caller_named("7");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	grow(200);
	raw_run(other, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	raw_run(other, "START TRANSACTION");
	raw_run(other, "DELETE FROM attempts WHERE job_id < X'00000000000000000000000000000064'");
	raw_run(other, "DELETE FROM jobs WHERE id < X'00000000000000000000000000000064'");
	raw_run(here.db->mysql, "SET SESSION innodb_lock_wait_timeout = 1");
	assert_int_equal(create(here.db, &seven, "700", &intent, &job), CREATED_NEW);
	job_release(&job);
	raw_run(here.db->mysql, "SET SESSION innodb_lock_wait_timeout = 5");
	raw_run(other, "ROLLBACK"); /* before the next test wants the rows */
	mysql_close(other);
}

static void a_purged_job_is_not_tried_again(void **state)
{
	struct id job = old_job(JOB_FAILED, "k");
	struct refusal refusal;
	struct identity ann = user_named("ann");
	struct job got;

	(void)state;
	assert_int_equal(purge(false), 1);
	assert_int_equal(job_store_request_attempt(here.db, &ann, &job, NULL, NULL, &got, &refusal),
			 CHANGED_JOB_SETTLED);
	job_is(&job, "failed", 1); /* its input is gone: nothing could be sent */
	job_release(&got);
}

/* Of 2,400 verdicts, on two routes that have died and on others that stand: three batches in the
 * first window of rows, and the last rows of the last one. */
static void a_purge_empties_the_reports_that_no_longer_count(void **state)
{
	static const char *const times[][2] = {
		{ "NULL", "NULL" }, /* it stands, however old it is */
		{ "NOW(6) - INTERVAL 10 DAY", "NULL" },
		{ "NULL", "NOW(6) - INTERVAL 10 DAY" },
		{ "NOW(6) - INTERVAL 10 DAY", "NOW(6) - INTERVAL 1 DAY" },
		{ "NOW(6) - INTERVAL 1 DAY", "NULL" },
		{ "NULL", "NOW(6) - INTERVAL 1 DAY" },
	};
	uint64_t emptied;

	(void)state;
	for (size_t i = 0; i < ROWS(times); i++)
		raw_run(here.raw,
			"INSERT INTO certificates (id, contract, contract_version, provider, "
			"provider_version, rule_version, subject, passed, rounds, report, "
			"issued_at, expires_at, died_at, superseded_at) SELECT "
			"UNHEX(LPAD(HEX(seq * 6 + %zu), 32, '0')), seq, 1, 'p%zu', 1, 1, "
			"REPEAT('s', 32), 1, 3, '[{\"round\": 1}]', NOW(6) - INTERVAL 20 DAY, "
			"NOW(6) - INTERVAL 13 DAY, %s, %s FROM seq_1_to_400",
			i, i, times[i][0], times[i][1]);
	assert_int_equal(certificate_store_purge_reports(here.db, 5 * DAY, &emptied), RC_OK);
	assert_int_equal(emptied, 1200);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates WHERE report = '[]' AND "
				    "provider IN ('p1', 'p2', 'p3')"),
			 1200);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM certificates WHERE report LIKE '%%round%%'"),
		1200);
	assert_int_equal(certificate_store_purge_reports(here.db, 5 * DAY, &emptied), RC_OK);
	assert_int_equal(emptied, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(payloads_go_and_the_row_stays),
		TEST(a_key_is_new_again_only_when_its_row_is_gone),
		TEST(what_is_open_or_young_is_left),
		TEST(what_comes_into_doubt_meanwhile_is_left),
		TEST(f05_creates_go_on_while_thousands_are_purged),
		TEST(f05_a_create_of_another_key_does_not_wait_for_an_open_batch),
		TEST(a_purged_job_is_not_tried_again),
		TEST(a_purge_empties_the_reports_that_no_longer_count),
	};

	return cmocka_run_group_tests_name("purge", tests, testdb_open, testdb_close);
}
