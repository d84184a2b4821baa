/* test_lease.c: two pollers at once, leases that end, what dead pollers left, and jobs whose time
 * is over. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/ask.h"

static void jobs_queued(size_t n)
{
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, "
		"max_attempts, attempts_allowed, run_after, created_at, updated_at) SELECT "
		"RANDOM_BYTES(16), seq MOD 7, "
		"RANDOM_BYTES(16), REPEAT('f', 32), 'press', 'press', '{}', 'queued', 3, 3, "
		"NOW(6), NOW(6), NOW(6) "
		"FROM seq_1_to_%zu",
		n);
}

struct rush {
	struct id pollers[4];
	enum rc bad;
	size_t taken[4];
};

static void rush(struct db *db, size_t index, void *arg)
{
	struct rush *rush_of = arg;
	struct taken *taken = malloc(sizeof *taken);
	struct claim_cursor cursor = { 0 };

	for (int i = 0; taken && i < 6; i++) {
		take(db, &rush_of->pollers[index], 16, &cursor, taken);
		if (taken->rc != RC_OK && taken->rc != RC_RETRY)
			rush_of->bad = taken->rc;
		rush_of->taken[index] += taken->len;
	}
	free(taken);
}

static void pollers_at_once_stay_below_the_bound_and_share_no_job(void **state)
{
	(void)state;
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 10");
	for (int round = 0; round < 15; round++) {
		struct rush four = { .bad = RC_OK };
		size_t sum = 0;

		raw_run(here.raw, "DELETE FROM attempts");
		raw_run(here.raw, "DELETE FROM jobs");
		jobs_queued(100);
		for (size_t i = 0; i < 4; i++)
			four.pollers[i] = poller_new();
		crew_run(4, rush, &four);
		assert_int_equal(four.bad, RC_OK);
		for (size_t i = 0; i < 4; i++)
			sum += four.taken[i];
		assert_int_equal(sum, 10);
		assert_int_equal(
			raw_number("SELECT COUNT(*) FROM attempts WHERE state = 'starting'"), 10);
		assert_int_equal(raw_number("SELECT COUNT(DISTINCT job_id) FROM attempts"), 10);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'running'"),
				 10);
	}
}

static void pollers_at_once_take_every_job_once(void **state)
{
	struct rush four = { .bad = RC_OK };

	(void)state;
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 10000");
	jobs_queued(200);
	for (size_t i = 0; i < 4; i++)
		four.pollers[i] = poller_new();
	for (int i = 0; i < 5; i++)
		crew_run(4, rush, &four);
	assert_int_equal(four.bad, RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts"), 200);
	assert_int_equal(
		raw_number(
			"SELECT COUNT(*) FROM jobs WHERE state = 'running' AND attempt_count = 1"),
		200);
}

static void b05_a_lease_renewed_to_the_same_moment_is_still_ours(void **state)
{
	struct id poller = poller_new(), other = clock_id();
	struct db *db = testdb_another();

	(void)state;
	raw_run(db->mysql, "SET timestamp = UNIX_TIMESTAMP(NOW(6))");
	assert_int_equal(poller_renew(db, &poller, 60), RC_OK);
	assert_int_equal(poller_renew(db, &poller, 60), RC_OK);
	assert_int_equal(poller_renew(db, &other, 60), RC_NOT_FOUND);
	db_free(db);
}

static void b05_a_lost_swap_is_lost_whichever_rows_are_counted(void **state)
{
	struct id job = job_new((struct a_job){
		.state = JOB_SUCCEEDED, .version = 1, .more = "completed_by = REPEAT('w', 16)" });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_RELEASED });

	(void)state;
	assert_int_equal(say(result_of(&attempt, "1")), SETTLED_LOST);
	job_is(&job, "succeeded", 1);
}

static void a_lease_that_has_run_out_can_not_be_renewed_or_claimed_with(void **state)
{
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };
	static struct taken taken;

	(void)state;
	jobs_queued(1);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6)");
	assert_int_equal(poller_renew(here.db, &poller, 60), RC_NOT_FOUND);
	take(here.db, &poller, 1, &cursor, &taken);
	assert_int_equal(taken.rc, RC_NOT_FOUND);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts"), 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'queued'"), 1);
	assert_int_equal(poller_leave(here.db, &poller), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM pollers"), 0);
}

static void a_claim_renews_the_lease(void **state)
{
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };
	static struct taken taken;

	(void)state;
	jobs_queued(1);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) + INTERVAL 10 SECOND");
	take(here.db, &poller, 1, &cursor, &taken);
	assert_int_equal(taken.len, 1);
	assert_int_equal(
		raw_number("SELECT lease_until > NOW(6) + INTERVAL 50 SECOND FROM pollers"), 1);
}

static struct id held_by(const struct id *poller, enum attempt_state state, struct id *job_out)
{
	char more[128];

	snprintf(more, sizeof more, "claimed_by = %s", poller ? x(poller) : "NULL");
	*job_out = job_new((struct a_job){
		.state = state == ATTEMPT_UNKNOWN ? JOB_UNKNOWN : JOB_RUNNING, .count = 1 });
	return attempt_new((struct an_attempt){ .job = job_out, .state = state, .more = more });
}

static void f01_r6_what_a_dead_poller_left_is_unknown_and_not_failed(void **state)
{
	struct id dead = poller_new(), alive = poller_new(), gone = clock_id();
	struct id jobs[5], attempts[5];
	size_t reaped;

	(void)state;
	attempts[0] = held_by(&dead, ATTEMPT_STARTING, &jobs[0]);
	attempts[1] = held_by(&gone, ATTEMPT_STARTING, &jobs[1]);
	attempts[2] = held_by(&alive, ATTEMPT_STARTING, &jobs[2]);
	attempts[3] = held_by(NULL, ATTEMPT_RUNNING, &jobs[3]);
	attempts[4] = held_by(&dead, ATTEMPT_FAILED, &jobs[4]);
	raw_run(here.raw,
		"UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE id = %s",
		x(&dead));
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	assert_int_equal(reaped, 2);
	for (size_t i = 0; i < 2; i++) {
		job_is(&jobs[i], "unknown", 0);
		assert_string_equal(raw_text("SELECT CONCAT_WS(' ', state, reason, IFNULL(phase, "
					     "'-'), finished_at IS NULL, "
					     "claimed_by IS NULL) FROM attempts WHERE id = %s",
					     x(&attempts[i])),
				    "unknown poller_lost - 1 1");
	}
	attempt_is(&attempts[2], "starting");
	attempt_is(&attempts[3], "running");
	attempt_is(&attempts[4], "failed");
	job_is(&jobs[2], "running", 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM pollers"), 1);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM pollers WHERE id = %s", x(&alive)), 1);
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	assert_int_equal(reaped, 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'queued'"),
			 0); /* never requeued at start-up */
}

static void f02_a_poller_that_wakes_up_late_may_still_win_or_lose(void **state)
{
	struct id frozen = poller_new(), job;
	struct id attempt = held_by(&frozen, ATTEMPT_STARTING, &job);
	size_t reaped;

	(void)state;
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	assert_int_equal(say(result_of(&attempt, "1")), SETTLED_MADE); /* nobody else has moved */
	job_is(&job, "succeeded", 1);
	attempt = held_by(&frozen, ATTEMPT_STARTING, &job);
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	assert_int_equal(say(word_of(&attempt, ON_RELEASE)), SETTLED_MADE);
	struct id next = attempt_new(
		(struct an_attempt){ .job = &job, .number = 2, .state = ATTEMPT_STARTING });

	assert_int_equal(say(result_of(&next, "2")), SETTLED_MADE);
	assert_int_equal(say(result_of(&attempt, "1")), SETTLED_LOST);
	job_is(&job, "succeeded", 1);
}

struct reapers {
	enum rc rcs[4];
};

static void reap(struct db *db, size_t index, void *arg)
{
	struct reapers *reapers = arg;
	size_t reaped;

	reapers->rcs[index] = claim_reap(db, &reaped);
}

static void two_that_reap_at_once_make_one_unknown(void **state)
{
	struct reapers reapers;
	struct id dead = poller_new(), job;

	(void)state;
	for (int i = 0; i < 50; i++)
		held_by(&dead, ATTEMPT_STARTING, &job);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
	crew_run(4, reap, &reapers);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(reapers.rcs[i], RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'unknown' AND "
				    "revision = 1 AND version = 0"),
			 50);
}

static void jobs_whose_time_is_over_fail_for_good(void **state)
{
	static const struct {
		const char *more, *want;
	} rows[] = {
		{ "expires_at = NOW(6) - INTERVAL 1 SECOND", "failed 1 expired" },
		{ "expires_at = NOW(6) - INTERVAL 1 SECOND, attempt_count = 1", "queued 0 -" },
		{ "deadline_at = NOW(6) - INTERVAL 1 SECOND, attempt_count = 1",
		  "failed 1 deadline" },
		{ "deadline_at = NOW(6) - INTERVAL 1 SECOND", "failed 1 deadline" },
		{ "expires_at = NOW(6) - INTERVAL 1 SECOND, deadline_at = NOW(6) + INTERVAL 1 HOUR",
		  "failed 1 expired" },
		{ "expires_at = NOW(6) + INTERVAL 1 HOUR, deadline_at = NOW(6) - INTERVAL 1 SECOND",
		  "failed 1 deadline" },
		{ "expires_at = NOW(6) + INTERVAL 1 HOUR, deadline_at = NOW(6) + INTERVAL 2 HOUR",
		  "queued 0 -" },
		{ "expires_at = NOW(6) - INTERVAL 1 SECOND, state = 'running'", "running 0 -" },
		{ "deadline_at = NOW(6) - INTERVAL 1 SECOND, state = 'unknown'",
		  "unknown 0 -" }, /* what is in doubt stays so */
	};
	struct id jobs[ROWS(rows)];
	size_t expired;

	(void)state;
	raw_run(here.raw,
		"INSERT INTO webhooks (owner, url, secrets, enabled, created_at, updated_at) "
		"VALUES ('ann', 'https://a.example', '[]', 1, NOW(6), NOW(6))");
	for (size_t i = 0; i < ROWS(rows); i++)
		jobs[i] = job_new((struct a_job){ .more = rows[i].more });
	assert_int_equal(claim_expire(here.db, &expired), RC_OK);
	assert_int_equal(expired, 5);
	assert_string_equal(
		raw_text("SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT o.job_id), MIN(o.type), "
			 "MAX(j.state)) FROM outbox o JOIN jobs j ON j.id = o.job_id"),
		"5 5 job.failed failed");
	for (size_t i = 0; i < ROWS(rows); i++) {
		const char *now = raw_text("SELECT CONCAT_WS(' ', state, version, "
					   "IFNULL(error_reason, '-')) FROM jobs WHERE id = %s",
					   x(&jobs[i]));
		if (strcmp(now, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].more, now);
	}
	assert_int_equal(claim_expire(here.db, &expired), RC_OK);
	assert_int_equal(expired, 0);
}

/* Whatever is written about it is refused. */
static void refuse(const char *table, const struct id *id)
{
	raw_run(here.raw,
		"CREATE TRIGGER refused BEFORE UPDATE ON %s FOR EACH ROW IF NEW.id = %s THEN "
		"SIGNAL SQLSTATE '45000'; END IF",
		table, x(id));
}

static void an_attempt_that_cannot_be_written_holds_up_the_reaping_of_no_other(void **state)
{
	static const char *const mores[] = { "started_at = NOW(6)",
					     "state = 'running', overdue_at = NOW(6)" };

	for (size_t row = 0; row < ROWS(mores); row++) {
		struct id attempts[3];
		size_t count = 0;

		testdb_empty(state);
		for (size_t i = 0; i < 3; i++) {
			struct id job = job_new((struct a_job){ .state = JOB_RUNNING });

			attempts[i] = attempt_new((struct an_attempt){
				.job = &job, .state = ATTEMPT_STARTING, .more = mores[row] });
		}
		refuse("attempts", &attempts[1]);
		enum rc rc = row == 0 ? claim_reap(here.db, &count) : ask_overdue(here.db, &count);

		raw_run(here.raw, "DROP TRIGGER refused");
		assert_int_equal(rc, RC_OK);
		assert_int_equal(count, 2);
		assert_int_equal(
			raw_number("SELECT COUNT(*) FROM attempts WHERE state = 'unknown'"), 2);
	}
}

static void a_job_that_cannot_be_written_holds_up_the_end_of_no_other(void **state)
{
	struct id jobs[3];
	size_t expired = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		jobs[i] = job_new(
			(struct a_job){ .more = "deadline_at = NOW(6) - INTERVAL 1 SECOND" });
	refuse("jobs", &jobs[1]);
	enum rc rc = claim_expire(here.db, &expired);

	raw_run(here.raw, "DROP TRIGGER refused");
	assert_int_equal(rc, RC_OK);
	assert_int_equal(expired, 2);
	job_is(&jobs[1], "queued", 0);
	job_is(&jobs[2], "failed", 1);
}

/* By an operator's session, or by a poller that was frozen in a transaction: upkeep comes again. */
static void a_job_that_another_session_holds_keeps_no_upkeep_waiting(void **state)
{
	static const char over[] = "deadline_at = NOW(6) - INTERVAL 1 SECOND";
	struct id ended[2], lost[2], late[2];
	size_t expired, reaped, overdue;
	MYSQL *other = testdb_raw();

	(void)state;
	raw_run(other, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	raw_run(other, "START TRANSACTION");
	for (int i = 0; i < 2; i++) {
		ended[i] = job_new((struct a_job){ .more = over });
		lost[i] = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
		late[i] = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
		attempt_new((struct an_attempt){ .job = &lost[i], .state = ATTEMPT_STARTING });
		attempt_new((struct an_attempt){
			.job = &late[i], .state = ATTEMPT_RUNNING, .more = "overdue_at = NOW(6)" });
	}
	const struct id *const held[] = { &ended[0], &lost[0], &late[0] };

	for (size_t i = 0; i < ROWS(held); i++)
		raw_run(other, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(held[i]));
	enum rc rc[] = { claim_expire(here.db, &expired), claim_reap(here.db, &reaped),
			 ask_overdue(here.db, &overdue) };

	raw_run(other, "ROLLBACK"); /* before a failure: the next test would wait for it */
	mysql_close(other);
	for (size_t i = 0; i < ROWS(rc); i++)
		assert_int_equal(rc[i], RC_OK);
	assert_int_equal(expired, 1);
	assert_int_equal(reaped, 1);
	assert_int_equal(overdue, 1);
	job_is(&ended[1], "failed", 1);
	job_is(&lost[1], "unknown", 0);
	job_is(&late[1], "unknown", 0);
	assert_int_equal(claim_expire(here.db, &expired), RC_OK);
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	assert_int_equal(ask_overdue(here.db, &overdue), RC_OK);
	job_is(&ended[0], "failed", 1);
	job_is(&lost[0], "unknown", 0);
	job_is(&late[0], "unknown", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pollers_at_once_stay_below_the_bound_and_share_no_job),
		TEST(pollers_at_once_take_every_job_once),
		TEST(b05_a_lease_renewed_to_the_same_moment_is_still_ours),
		TEST(b05_a_lost_swap_is_lost_whichever_rows_are_counted),
		TEST(a_lease_that_has_run_out_can_not_be_renewed_or_claimed_with),
		TEST(a_claim_renews_the_lease),
		TEST(f01_r6_what_a_dead_poller_left_is_unknown_and_not_failed),
		TEST(f02_a_poller_that_wakes_up_late_may_still_win_or_lose),
		TEST(two_that_reap_at_once_make_one_unknown),
		TEST(jobs_whose_time_is_over_fail_for_good),
		TEST(an_attempt_that_cannot_be_written_holds_up_the_reaping_of_no_other),
		TEST(a_job_that_cannot_be_written_holds_up_the_end_of_no_other),
		TEST(a_job_that_another_session_holds_keeps_no_upkeep_waiting),
	};

	return cmocka_run_group_tests_name("lease", tests, testdb_open, testdb_close);
}
