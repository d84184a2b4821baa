/* test_settle_operator.c: a person's word about an attempt. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"

static enum changed tell(const struct id *attempt, enum attempt_event event, const char *provider)
{
	struct word word = word_of(attempt, event);
	struct job job;
	struct refusal refusal;

	word.provider = provider;
	word.reason = REASON_OPERATOR;
	word.note = "by hand";
	enum changed changed = settle_by_operator(here.db, &word, NULL, &job, &refusal);

	job_release(&job);
	return changed;
}

/* A running job with one attempt; leased or not. */
static struct id attempt_in(enum attempt_state state, bool leased, struct id *job_out)
{
	struct id poller = poller_new();
	char more[128];

	snprintf(more, sizeof more, "claimed_by = %s", leased ? x(&poller) : "REPEAT('x', 16)");
	*job_out = job_new((struct a_job){
		.state = state == ATTEMPT_UNKNOWN ? JOB_UNKNOWN : JOB_RUNNING, .count = 1 });
	return attempt_new((struct an_attempt){ .job = job_out, .state = state, .more = more });
}

static void r7_what_its_poller_may_be_sending_is_not_declared_dead(void **state)
{
	static const enum attempt_event events[] = { ON_FAILURE, ON_RELEASE, ON_CANCEL };

	(void)state;
	for (size_t i = 0; i < ROWS(events); i++) {
		struct id job, attempt = attempt_in(ATTEMPT_STARTING, true, &job);

		assert_int_equal(tell(&attempt, events[i], NULL), CHANGED_IN_DOUBT);
		attempt_is(&attempt, "starting");
		job_is(&job, "running", 0);
		assert_int_equal(raw_number("SELECT revision FROM jobs WHERE id = %s", x(&job)), 0);
		assert_int_equal(tell(&attempt, ON_RESULT, NULL),
				 CHANGED_DONE); /* but a result is welcome */
		job_is(&job, "succeeded", 1);
	}
}

static void where_no_lease_runs_it_counts_as_unknown(void **state)
{
	static const struct {
		enum attempt_event event;
		const char *attempt, *job;
	} rows[] = {
		{ ON_FAILURE, "failed", "queued" },
		{ ON_RELEASE, "released", "queued" },
		{ ON_CANCEL, "cancelled", "queued" },
		{ ON_RESULT, "succeeded", "succeeded" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct id job, attempt = attempt_in(ATTEMPT_STARTING, false, &job);

		assert_int_equal(tell(&attempt, rows[i].event, NULL), CHANGED_DONE);
		attempt_is(&attempt, rows[i].attempt);
		job_is(&job, rows[i].job, rows[i].event == ON_RESULT);
	}
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts WHERE note = 'by hand'"),
			 ROWS(rows));
}

static void what_has_ended_is_not_settled_again(void **state)
{
	static const enum attempt_state ended[] = { ATTEMPT_SUCCEEDED, ATTEMPT_FAILED,
						    ATTEMPT_CANCELLED, ATTEMPT_DISCARDED };
	struct id nobody = clock_id();

	(void)state;
	for (size_t i = 0; i < ROWS(ended); i++) {
		struct id job, attempt = attempt_in(ended[i], false, &job);

		assert_int_equal(tell(&attempt, ON_FAILURE, NULL), CHANGED_ATTEMPT_SETTLED);
		assert_int_equal(tell(&attempt, ON_RELEASE, NULL), CHANGED_ATTEMPT_SETTLED);
		attempt_is(&attempt, attempt_state_name(ended[i]));
		job_is(&job, "running", 0);
	}
	assert_int_equal(tell(&nobody, ON_FAILURE, NULL), CHANGED_NO_SUCH_JOB);
}

static void r8_a_result_by_hand_goes_through_the_same_swap(void **state)
{
	struct id job = job_new((struct a_job){
		.state = JOB_SUCCEEDED, .version = 1, .more = "completed_by = REPEAT('w', 16)" });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });

	(void)state;
	assert_int_equal(tell(&attempt, ON_RESULT, NULL), CHANGED_ATTEMPT_LOST);
	attempt_is(&attempt, "discarded");
	assert_string_equal(raw_text("SELECT why FROM races"), "lost_swap");
	job_is(&job, "succeeded", 1);
}

static void released_twice_queues_once(void **state)
{
	struct id job, attempt = attempt_in(ATTEMPT_UNKNOWN, false, &job);

	(void)state;
	assert_int_equal(tell(&attempt, ON_RELEASE, NULL), CHANGED_DONE);
	assert_string_equal(
		raw_text("SELECT CONCAT_WS(' ', state, revision, attempts_allowed) FROM jobs"),
		"queued 1 3");
	raw_run(here.raw, "UPDATE jobs SET state = 'running', attempt_count = 2");
	attempt_new((struct an_attempt){ .job = &job, .number = 2, .state = ATTEMPT_STARTING });
	assert_int_equal(tell(&attempt, ON_RELEASE, NULL), CHANGED_DONE);
	assert_string_equal(
		raw_text("SELECT CONCAT_WS(' ', state, revision, attempts_allowed) FROM jobs"),
		"running 1 3");
}

static void a_release_allows_one_more_than_there_are(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 3 });
	struct id attempt = attempt_new(
		(struct an_attempt){ .job = &job, .number = 3, .state = ATTEMPT_UNKNOWN });

	(void)state;
	assert_int_equal(tell(&attempt, ON_RELEASE, NULL), CHANGED_DONE);
	assert_string_equal(raw_text("SELECT CONCAT_WS(' ', state, attempts_allowed) FROM jobs"),
			    "queued 4");
}

static void a_cancel_without_tries_left_fails_the_job(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 3 });
	struct id attempt = attempt_new(
		(struct an_attempt){ .job = &job, .number = 3, .state = ATTEMPT_UNKNOWN });

	(void)state;
	assert_int_equal(tell(&attempt, ON_CANCEL, NULL), CHANGED_DONE);
	job_is(&job, "failed", 1);
	assert_string_equal(raw_text("SELECT error_reason FROM jobs"), "attempt_cancelled");
}

static void the_next_goes_where_the_word_says_or_nothing_changes(void **state)
{
	static const struct {
		const char *provider;
		enum changed want;
		const char *job, *attempt;
	} rows[] = {
		{ "nobody", CHANGED_NO_SUCH_PROVIDER, "unknown press 0", "unknown" },
		{ "off", CHANGED_PROVIDER_DISABLED, "unknown press 0", "unknown" },
		{ "second", CHANGED_DONE, "queued second 1", "failed" },
	};
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 3 });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });

	(void)state;
	provider_new("second", 1);
	provider_new("off", 1);
	raw_run(here.raw, "UPDATE providers SET enabled = 0 WHERE name = 'off'");
	for (size_t i = 0; i < ROWS(rows); i++) {
		enum changed changed = tell(&attempt, ON_FAILURE, rows[i].provider);

		if (changed != rows[i].want)
			fail_msg("%s: %d", rows[i].provider, (int)changed);
		assert_string_equal(
			raw_text("SELECT CONCAT_WS(' ', state, next_provider, revision) FROM jobs"),
			rows[i].job);
		attempt_is(&attempt, rows[i].attempt);
	}
	assert_int_equal(
		raw_number("SELECT run_after <= NOW(6) AND attempts_allowed = 4 FROM jobs"),
		1); /* at once, one more */
}

/* Between half of 1 s * 2^(n-1) and all of it: up to 1 s after one, from 1 s on after two. */
static void the_next_waits_longer_the_more_were_tried_there(void **state)
{
	(void)state;
	for (uint32_t tries = 1; tries <= 2; tries++) {
		struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = tries });
		struct id attempt =
			attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });

		if (tries > 1)
			attempt_new((struct an_attempt){
				.job = &job, .number = 2, .state = ATTEMPT_FAILED });
		assert_int_equal(tell(&attempt, ON_FAILURE, NULL), CHANGED_DONE);
		assert_int_equal(raw_number("SELECT TIMESTAMPDIFF(MICROSECOND, updated_at, "
					    "run_after) BETWEEN %u AND %u FROM jobs WHERE id = %s",
					    500000 * tries, 1000000 * tries, x(&job)),
				 1);
	}
}

static void a_stale_if_match_comes_first(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .more = "revision = 4" });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });
	struct word word = word_of(&attempt, ON_FAILURE);
	struct if_match match = { .present = true, .len = 1 };
	struct refusal refusal;
	struct job got;

	(void)state;
	match.list[0].revision = 3;
	assert_int_equal(settle_by_operator(here.db, &word, &match, &got, &refusal), CHANGED_STALE);
	assert_int_equal(got.revision, 4);
	job_release(&got);
	attempt_is(&attempt, "unknown");
	match.list[0].revision = 4;
	assert_int_equal(settle_by_operator(here.db, &word, &match, &got, &refusal), CHANGED_DONE);
	assert_int_equal(got.revision, 5);
	job_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(r7_what_its_poller_may_be_sending_is_not_declared_dead),
		TEST(where_no_lease_runs_it_counts_as_unknown),
		TEST(what_has_ended_is_not_settled_again),
		TEST(r8_a_result_by_hand_goes_through_the_same_swap),
		TEST(released_twice_queues_once),
		TEST(a_release_allows_one_more_than_there_are),
		TEST(a_cancel_without_tries_left_fails_the_job),
		TEST(the_next_goes_where_the_word_says_or_nothing_changes),
		TEST(the_next_waits_longer_the_more_were_tried_there),
		TEST(a_stale_if_match_comes_first),
	};

	return cmocka_run_group_tests_name("settle by an operator", tests, testdb_open,
					   testdb_close);
}
