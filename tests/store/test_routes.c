/* test_routes.c: where a job goes after a failure: by its contract's policy, along certified routes
 * only, and never back to what it has spent. */
#include "contract_kit.h"

#include <stdio.h>

#include "base/clock.h"

/* A contract "sum" over press, second and third. */
static void set_out(const char *more)
{
	provider_new("second", 64);
	provider_new("third", 64);
	contract_new("sum", "press second third", more);
}

static void certify_both(void)
{
	certify("sum", "second", true);
	certify("sum", "third", true);
}

static struct id start_at(const char *provider)
{
	struct id attempt = { { 0 } };

	assert_string_equal(start_one(&attempt), provider);
	return attempt;
}

static void fail_at(const char *provider, enum reason reason)
{
	struct id attempt = start_at(provider);

	raw_run(here.raw, "UPDATE jobs SET attempts_allowed = 10");
	fail_it(&attempt, reason, reason == REASON_NEVER_SENT || reason == REASON_RETRY_LATER);
	raw_run(here.raw, "UPDATE jobs SET run_after = NOW(6) WHERE state = 'queued'");
}

static void passed_over_is(const struct id *job, const char *want)
{
	assert_string_equal(
		raw_text("SELECT COALESCE(passed_over, 'none') FROM jobs WHERE id = %s", x(job)),
		want);
}

#define ON(what, policy) ", \"on_failure\": {\"" what "\": \"" policy "\"}"

static void every_reason_goes_by_its_policy(void **state)
{
	static const struct {
		const char *more;
		enum reason reason;
		bool retryable;
		const char *want;
	} rows[] = {
		{ "", REASON_NEVER_SENT, true, "queued second" },
		{ "", REASON_REFUSED, false, "queued second" },
		{ "", REASON_REDIRECT, false, "queued second" },
		{ "", REASON_TEMPLATE, false, "queued second" },
		{ "", REASON_PROVIDER_FAILED, false, "queued second" },
		{ "", REASON_OPERATOR, false, "queued second" },
		{ "", REASON_RETRY_LATER, true, "queued press" },
		{ "", REASON_CONTRACT_VIOLATION, false, "queued second" },
		{ "", REASON_TOO_LARGE, false, "queued second" },
		{ ON("never_sent", "retry"), REASON_NEVER_SENT, true, "queued press" },
		{ ON("never_sent", "stop"), REASON_NEVER_SENT, true, "failed never_sent" },
		{ ON("refused", "retry"), REASON_REFUSED, false, "queued press" },
		{ ON("refused", "retry"), REASON_TEMPLATE, false, "queued press" },
		{ ON("refused", "stop"), REASON_REFUSED, false, "failed refused" },
		{ ON("refused", "stop"), REASON_REDIRECT, false, "failed redirect" },
		{ ON("refused", "stop"), REASON_TEMPLATE, false, "failed template" },
		{ ON("refused", "stop"), REASON_PROVIDER_FAILED, false, "failed provider_failed" },
		{ ON("refused", "stop"), REASON_RETRY_LATER, true, "queued press" },
		{ ON("retry_later", "next_route"), REASON_RETRY_LATER, true, "queued second" },
		{ ON("retry_later", "stop"), REASON_RETRY_LATER, true, "failed retry_later" },
		{ ON("contract_violation", "retry"), REASON_TOO_LARGE, false, "queued press" },
		{ ON("contract_violation", "stop"), REASON_CONTRACT_VIOLATION, false,
		  "failed contract_violation" },
		{ ON("contract_violation", "stop"), REASON_TOO_LARGE, false, "failed too_large" },
		{ ", \"certify\": {\"rounds\": 1}" ON("contract_violation", "stop"), REASON_REFUSED,
		  false, "queued second" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		testdb_empty(NULL);
		set_out(rows[i].more);
		certify_both();
		struct id job = contract_job("sum"), attempt = start_at("press");

		fail_it(&attempt, rows[i].reason, rows[i].retryable);
		stands(&job, rows[i].want);
		passed_over_is(&job, "none");
	}
}

static void a_violation_with_side_effects_stops(void **state)
{
	struct definition_row row;
	bool is_new;
	size_t unknown;

	(void)state;
	provider_new("second", 64);
	assert_int_equal(contract_put(here.db, "pay",
				      "{\"routes\":[{\"provider\":\"press\"},{\"provider\":"
				      "\"second\"}],\"fixtures\":[{\"name\":\"a\",\"input\":{},"
				      "\"checks\":[{\"pointer\":\"\",\"equals\":1}]}]}",
				      &is_new, &unknown, &row),
			 RC_OK);
	definition_row_release(&row);
	certify("pay", "second", true);
	struct id first = contract_job("pay");

	fail_at("press", REASON_CONTRACT_VIOLATION);
	stands(&first, "failed contract_violation");
	struct id second = contract_job("pay");

	fail_at("press", REASON_REFUSED);
	stands(&second, "queued second");
}

static void without_an_open_route_only_what_may_be_repeated_is(void **state)
{
	static const struct {
		enum reason reason;
		const char *want;
	} rows[] = {
		{ REASON_NEVER_SENT, "queued press" },
		{ REASON_REFUSED, "failed refused" },
		{ REASON_CONTRACT_VIOLATION, "failed contract_violation" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		testdb_empty(NULL);
		set_out("");
		struct id job = contract_job("sum");

		fail_at("press", rows[i].reason);
		stands(&job, rows[i].want);
		passed_over_is(&job, "{\"after\": 1, \"provider\": \"second\", \"why\": "
				     "\"not_certified\"}, {\"after\": 1, \"provider\": \"third\", "
				     "\"why\": \"not_certified\"}");
	}
}

static void a_spent_route_is_not_gone_back_to(void **state)
{
	(void)state;
	set_out("");
	certify_both();
	struct id job = contract_job("sum");

	fail_at("press", REASON_REFUSED);
	fail_at("second", REASON_NEVER_SENT);
	fail_at("third", REASON_CONTRACT_VIOLATION);
	fail_at("second", REASON_REDIRECT); /* the first time nothing had gone out */
	stands(&job, "failed redirect");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts"), 4);
}

static void a_route_that_was_passed_over_is_kept_with_why(void **state)
{
	static const struct {
		const char *sql, *why;
	} rows[] = {
		{ "DELETE FROM certificates WHERE provider = 'second'", "not_certified" },
		{ "UPDATE certificates SET passed = 0 WHERE provider = 'second'", "failed" },
		{ "UPDATE certificates SET expires_at = NOW(6) WHERE provider = 'second'",
		  "expired" },
		{ "UPDATE certificates SET died_at = NOW(6) WHERE provider = 'second'",
		  "subject_changed" },
		{ "UPDATE providers SET enabled = 0 WHERE name = 'second'", "disabled" },
		{ "UPDATE providers SET max_in_flight = 1 WHERE name = 'second'", "saturated" },
		/* a resend takes a place, too */
		{ "UPDATE attempts a JOIN providers p ON p.name = a.provider SET p.max_in_flight = "
		  "1, a.state = 'unknown', a.claimed_by = REPEAT('p', 16), a.next_ask_at = NOW(6) "
		  "+ INTERVAL 60 SECOND WHERE a.provider = 'second'",
		  "saturated" },
	};
	char want[128];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		testdb_empty(NULL);
		set_out("");
		certify_both();
		struct id other = job_new((struct a_job){ .state = JOB_RUNNING });

		attempt_new((struct an_attempt){
			.job = &other, .state = ATTEMPT_STARTING, .provider = "second" });
		raw_run(here.raw, "%s", rows[i].sql);
		struct id job = contract_job("sum");

		fail_at("press", REASON_REFUSED);
		stands(&job, "queued third");
		snprintf(want, sizeof want,
			 "{\"after\": 1, \"provider\": \"second\", \"why\": \"%s\"}", rows[i].why);
		passed_over_is(&job, want);
		fail_at("third", REASON_REFUSED);
		if (i < 5)
			stands(&job, "failed refused");
		else /* it has no room now: it is waited for */
			stands(&job, "queued second");
	}
}

static void max_attempts_bounds_what_starts_by_itself(void **state)
{
	(void)state;
	set_out(ON("refused", "retry"));
	certify_both();
	struct id job = contract_job("sum");

	for (int i = 1; i <= 3; i++) {
		struct id attempt = start_at("press");

		fail_it(&attempt, REASON_REFUSED, false);
		stands(&job, i < 3 ? "queued press" : "failed refused");
		raw_run(here.raw, "UPDATE jobs SET run_after = NOW(6)");
	}
	assert_string_equal(start_one(NULL), "");
	passed_over_is(&job, "none");
}

static void a_new_route_starts_at_once_and_the_same_one_after_its_back_off(void **state)
{
	(void)state;
	set_out("");
	certify_both();
	for (int next = 0; next < 2; next++) {
		struct id job = contract_job("sum"), attempt = start_at("press");
		struct word word = word_of(&attempt, ON_FAILURE);

		word.reason = next ? REASON_REFUSED : REASON_RETRY_LATER;
		word.delay_ms = 60000;
		word.retry_after_ms = 60000;
		assert_int_equal(say(word), SETTLED_MADE);
		stands(&job, next ? "queued second" : "queued press");
		assert_int_equal(
			raw_number("SELECT run_after <= NOW(6) FROM jobs WHERE id = %s", x(&job)),
			next);
	}
}

static void nothing_moves_while_an_attempt_is_in_doubt_or_after_a_decision(void **state)
{
	struct identity op = operator_named("op");
	struct refusal refusal;
	struct job shown;

	(void)state;
	set_out("");
	struct id job = contract_job("sum"), first = start_at("press");
	struct word by_hand = word_of(&first, ON_FAILURE);

	/* Its poller may be sending it. */
	assert_int_equal(settle_by_operator(here.db, &by_hand, NULL, &shown, &refusal),
			 CHANGED_IN_DOUBT);
	job_release(&shown);
	passed_over_is(&job, "none");
	assert_int_equal(say(word_of(&first, ON_TRACK_LOST)), SETTLED_MADE);
	stands(&job, "unknown");
	assert_string_equal(start_one(NULL), "");
	assert_int_equal(say(word_of(&first, ON_RELEASE)), SETTLED_MADE);
	struct id second = start_at("press");

	fail_it(&first, REASON_REFUSED, false);
	stands(&job, "running");
	passed_over_is(&job, "none");
	assert_int_equal(job_store_cancel(here.db, &op, &job, NULL, &shown), CHANGED_DONE);
	job_release(&shown);
	fail_it(&second, REASON_REFUSED, false);
	stands(&job, "cancelled");
	passed_over_is(&job, "none");
}

static void a_job_of_a_version_before_uses_its_first_route_only(void **state)
{
	(void)state;
	set_out("");
	certify_both();
	struct id refused = contract_job("sum"), retried = contract_job("sum");

	contract_new("sum", "second press", ", \"result_schema\": {}");
	certify("sum", "second", true);
	fail_at("press", REASON_REFUSED);
	fail_at("press", REASON_NEVER_SENT);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'failed' AND id IN (%s, %s)",
			   x(&refused), x(&retried)),
		1);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'queued' AND "
				    "next_provider = 'press'"),
			 1);
}

static void a_result_by_hand_that_breaks_the_contract_changes_nothing(void **state)
{
	static const char rows_now[] =
		"SELECT CONCAT_WS(' ', j.state, j.version, j.revision, j.updated_at, j.result, "
		"a.state, a.settled_at, (SELECT COUNT(*) FROM races)) FROM jobs j JOIN attempts a";
	struct refusal refusal;
	struct job shown;

	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press", ", \"result_schema\": {\"type\": \"number\"}");
	struct id job = contract_job("sum"), attempt = start_at("press");

	assert_int_equal(say(word_of(&attempt, ON_TRACK_LOST)), SETTLED_MADE);
	const char *before = raw_text(rows_now);
	struct word word = result_of(&attempt, "\"SECRET\"");

	assert_int_equal(settle_by_operator(here.db, &word, NULL, &shown, &refusal),
			 CHANGED_CONTRACT_VIOLATION);
	assert_true(refusal.words[0] != '\0' && !strstr(refusal.words, "SECRET"));
	assert_string_equal(raw_text(rows_now), before);
	/* The version that the job has is the one that judges. */
	contract_new("sum", "press", ", \"result_schema\": {\"type\": \"string\"}");
	assert_int_equal(settle_by_operator(here.db, &word, NULL, &shown, &refusal),
			 CHANGED_CONTRACT_VIOLATION);
	word = result_of(&attempt, "7");
	assert_int_equal(settle_by_operator(here.db, &word, NULL, &shown, &refusal), CHANGED_DONE);
	job_release(&shown);
	stands(&job, "succeeded");
}

static void a_version_that_this_program_cannot_read_is_neither_sent_nor_judged(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new(), fresh = clock_id();
	struct claim_list claims;
	struct refusal refusal;
	struct job shown;

	(void)state;
	set_out("");
	struct id job = contract_job("sum");

	raw_run(here.raw, "UPDATE contract_versions SET definition = '{\"of\": \"later\"}'");
	assert_int_equal(claim_jobs(here.db, &poller, 60, &fresh, 1, &cursor, &claims), RC_OK);
	assert_int_equal(claims.len, 1);
	assert_string_equal(claims.list[0].contract_name, "sum");
	assert_true(!claims.list[0].contract && !claims.list[0].route);
	claim_list_free(&claims);
	struct word word = result_of(&fresh, "1");

	assert_int_equal(settle_by_operator(here.db, &word, NULL, &shown, &refusal),
			 CHANGED_NOT_STORED);
	stands(&job, "running");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_reason_goes_by_its_policy),
		TEST(a_violation_with_side_effects_stops),
		TEST(without_an_open_route_only_what_may_be_repeated_is),
		TEST(a_spent_route_is_not_gone_back_to),
		TEST(a_route_that_was_passed_over_is_kept_with_why),
		TEST(max_attempts_bounds_what_starts_by_itself),
		TEST(a_new_route_starts_at_once_and_the_same_one_after_its_back_off),
		TEST(nothing_moves_while_an_attempt_is_in_doubt_or_after_a_decision),
		TEST(a_job_of_a_version_before_uses_its_first_route_only),
		TEST(a_result_by_hand_that_breaks_the_contract_changes_nothing),
		TEST(a_version_that_this_program_cannot_read_is_neither_sent_nor_judged),
	};

	return cmocka_run_group_tests_name("routes", tests, testdb_open, testdb_close);
}
