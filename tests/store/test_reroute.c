/* test_reroute.c: who may name a route, and what becomes of a job that is queued along one that is
 * closed before it starts. */
#include "contract_kit.h"

#include <stdio.h>

#include "base/clock.h"

static void set_out(void)
{
	provider_new("second", 64);
	provider_new("third", 64);
	provider_new("stranger", 64);
	contract_new("sum", "press second third", "");
}

/* Of "sum", refused at press and queued for the route second. */
static struct id queued_for_second(void)
{
	struct id job = contract_job("sum"), attempt;

	assert_string_equal(start_one(&attempt), "press");
	fail_it(&attempt, REASON_REFUSED, false);
	stands(&job, "queued second");
	return job;
}

static void raw(const char *sql)
{
	raw_run(here.raw, "%s", sql);
}

struct gate_row {
	const char *before; /* SQL */
	const char *provider;
	enum changed want;
	enum standing why;
};

#define SECOND(set) "UPDATE certificates SET " set " WHERE provider = 'second'"
static const struct gate_row gates[] = {
	{ NULL, "press", CHANGED_DONE, STANDING_VALID },
	{ NULL, "second", CHANGED_DONE, STANDING_VALID },
	{ NULL, "third", CHANGED_NOT_CERTIFIED, STANDING_NOT_CERTIFIED },
	{ NULL, "stranger", CHANGED_NOT_CERTIFIED, STANDING_NO_ROUTE },
	{ NULL, "nobody", CHANGED_NO_SUCH_PROVIDER, STANDING_VALID },
	{ SECOND("passed = 0"), "second", CHANGED_NOT_CERTIFIED, STANDING_FAILED },
	{ SECOND("expires_at = NOW(6)"), "second", CHANGED_NOT_CERTIFIED, STANDING_EXPIRED },
	{ SECOND("died_at = NOW(6)"), "second", CHANGED_NOT_CERTIFIED, STANDING_SUBJECT_CHANGED },
	{ SECOND("rule_version = 9"), "second", CHANGED_NOT_CERTIFIED, STANDING_SUBJECT_CHANGED },
	{ "UPDATE providers SET version = version + 1", "second", CHANGED_NOT_CERTIFIED,
	  STANDING_SUBJECT_CHANGED },
	{ "UPDATE providers SET enabled = 0", "second", CHANGED_NOT_CERTIFIED, STANDING_DISABLED },
	{ "UPDATE providers SET enabled = 0", "press", CHANGED_PROVIDER_DISABLED, STANDING_VALID },
	{ "UPDATE contracts SET live = 0", "second", CHANGED_NOT_CERTIFIED,
	  STANDING_NOT_CERTIFIED },
	{ "UPDATE contracts SET live = 0", "press", CHANGED_DONE, STANDING_VALID },
};

static void judge_gate(size_t i, const char *who, const struct id *job, enum changed changed,
		       const struct refusal *refusal, const char *before)
{
	const struct gate_row *row = &gates[i];
	char want[80];

	if (changed != row->want || refusal->why != row->why)
		fail_msg("%s, row %zu: %d, why %d", who, i, (int)changed, (int)refusal->why);
	if (row->want == CHANGED_DONE) {
		snprintf(want, sizeof want, "queued %s", row->provider);
		stands(job, want);
	} else {
		stands(job, before);
	}
}

static void an_operator_names_only_a_route_that_is_open(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(gates); i++) {
		struct id attempt;
		struct refusal refusal;
		struct job shown;

		testdb_empty(NULL);
		set_out();
		certify("sum", "second", true);
		struct id job = contract_job("sum");

		assert_string_equal(start_one(&attempt), "press");
		assert_int_equal(say(word_of(&attempt, ON_TRACK_LOST)), SETTLED_MADE);
		if (gates[i].before)
			raw(gates[i].before);
		struct word word = word_of(&attempt, i % 2 ? ON_FAILURE : ON_CANCEL);

		word.provider = gates[i].provider;
		enum changed changed = settle_by_operator(here.db, &word, NULL, &shown, &refusal);

		job_release(&shown);
		judge_gate(i, "operator", &job, changed, &refusal, "unknown");
	}
}

static void the_fallback_button_names_only_a_route_that_is_open(void **state)
{
	struct identity ann = user_named("ann");

	(void)state;
	for (size_t i = 0; i < 2 * ROWS(gates); i++) {
		const struct gate_row *row = &gates[i / 2];
		struct refusal refusal;
		struct job shown;

		testdb_empty(NULL);
		set_out();
		certify("sum", "second", true);
		struct id job = contract_job("sum");

		if (i % 2)
			raw("UPDATE jobs SET state = 'failed', error_reason = 'refused'");
		if (row->before)
			raw(row->before);
		enum changed changed = job_store_request_attempt(here.db, &ann, &job, row->provider,
								 NULL, &shown, &refusal);

		job_release(&shown);
		judge_gate(i / 2, i % 2 ? "button, failed" : "button", &job, changed, &refusal,
			   i % 2 ? "failed refused" : "queued press");
	}
}

static void the_button_without_a_name_goes_to_the_first_route(void **state)
{
	struct identity ann = user_named("ann");
	struct refusal refusal;
	struct job shown;

	(void)state;
	set_out();
	certify("sum", "second", true);
	struct id job = queued_for_second();

	raw("UPDATE jobs SET state = 'failed', error_reason = 'refused'");
	assert_int_equal(
		job_store_request_attempt(here.db, &ann, &job, NULL, NULL, &shown, &refusal),
		CHANGED_DONE);
	job_release(&shown);
	stands(&job, "queued press");
}

static void listen_for_ann(void)
{
	raw("INSERT INTO webhooks (owner, url, secrets, enabled, created_at, updated_at) VALUES "
	    "('ann', 'http://a/', '[]', 1, NOW(6), NOW(6))");
}

static const char *passed_over(const struct id *job)
{
	return raw_text("SELECT COALESCE(passed_over, 'none') FROM jobs WHERE id = %s", x(job));
}

static void a_certificate_that_dies_in_the_queue_sends_the_job_on(void **state)
{
	(void)state;
	set_out();
	certify("sum", "second", true);
	certify("sum", "third", true);
	struct id job = queued_for_second();
	uint64_t revision = raw_number("SELECT revision FROM jobs");

	raw(SECOND("expires_at = NOW(6)"));
	assert_string_equal(start_one(NULL), ""); /* this claim has moved it */
	stands(&job, "queued third");
	assert_true(raw_number("SELECT revision FROM jobs") > revision);
	assert_string_equal(passed_over(&job),
			    "{\"after\": 1, \"provider\": \"second\", \"why\": \"expired\"}");
	assert_string_equal(start_one(NULL), "third");
}

static void where_no_route_is_left_it_fails_for_what_its_last_attempt_did(void **state)
{
	(void)state;
	listen_for_ann();
	set_out();
	certify("sum", "second", true);
	struct id job = queued_for_second();

	raw(SECOND("died_at = NOW(6)"));
	assert_string_equal(start_one(NULL), "");
	stands(&job, "failed refused");
	job_is(&job, "failed", 1);
	assert_int_equal(
		raw_number("SELECT error_attempt_id = (SELECT id FROM attempts) FROM jobs"), 1);
	assert_string_equal(passed_over(&job),
			    "{\"after\": 1, \"provider\": \"second\", \"why\": "
			    "\"subject_changed\"}, {\"after\": "
			    "1, \"provider\": \"third\", \"why\": \"not_certified\"}");
	assert_string_equal(raw_text("SELECT GROUP_CONCAT(type) FROM outbox"), "job.failed");
}

static void a_last_attempt_that_was_cancelled_is_called_so(void **state)
{
	struct id attempt;
	struct refusal refusal;
	struct job shown;

	(void)state;
	set_out();
	certify("sum", "second", true);
	struct id job = queued_for_second();

	assert_string_equal(start_one(&attempt), "second");
	assert_int_equal(say(word_of(&attempt, ON_TRACK_LOST)), SETTLED_MADE);
	struct word word = word_of(&attempt, ON_CANCEL);

	assert_int_equal(settle_by_operator(here.db, &word, NULL, &shown, &refusal), CHANGED_DONE);
	job_release(&shown);
	stands(&job, "queued second"); /* where it was: it may be open again */
	raw(SECOND("died_at = NOW(6)"));
	raw("UPDATE jobs SET run_after = NOW(6)");
	assert_string_equal(start_one(NULL), "");
	stands(&job, "failed attempt_cancelled");
}

static size_t reroute(void)
{
	size_t moved;

	assert_int_equal(claim_reroute(here.db, &moved), RC_OK);
	return moved;
}

static void a_provider_that_is_disabled_meanwhile_is_left_by_its_later_routes_only(void **state)
{
	(void)state;
	listen_for_ann();
	set_out();
	contract_new("other", "second press", "");
	certify("sum", "second", true);
	certify("sum", "third", true);
	struct id first = contract_job("other"),
		  plain = job_new((struct a_job){ .provider = "second" });
	raw_run(here.raw, "UPDATE jobs SET run_after = NOW(6) + INTERVAL 1 HOUR");
	struct id job = queued_for_second();

	assert_int_equal(reroute(), 0);
	raw("UPDATE providers SET enabled = 0 WHERE name = 'second'");
	assert_string_equal(start_one(NULL), ""); /* nobody looks at that queue any more */
	assert_int_equal(reroute(), 1);
	stands(&job, "queued third");
	stands(&first, "queued second");
	stands(&plain, "queued second");
	assert_string_equal(passed_over(&job),
			    "{\"after\": 1, \"provider\": \"second\", \"why\": \"disabled\"}");
	raw("UPDATE providers SET enabled = 0 WHERE name = 'third'");
	assert_int_equal(reroute(), 1);
	stands(&job, "failed refused");
	assert_int_equal(reroute(), 0);
	assert_string_equal(raw_text("SELECT GROUP_CONCAT(type) FROM outbox"), "job.failed");
}

static void the_route_it_goes_on_to_is_not_hurried(void **state)
{
	(void)state;
	set_out();
	certify("sum", "second", true);
	certify("sum", "third", true);
	struct id early = queued_for_second(), told = queued_for_second();

	raw_run(here.raw, "UPDATE jobs SET not_before = NOW(6) + INTERVAL 1 HOUR WHERE id = %s",
		x(&early));
	attempt_new((struct an_attempt){ .job = &told,
					 .number = 2,
					 .state = ATTEMPT_FAILED,
					 .provider = "third",
					 .more = "reason = 'retry_later', retry_at = NOW(6) + "
						 "INTERVAL 1 HOUR" });
	raw("UPDATE providers SET enabled = 0 WHERE name = 'second'");
	assert_int_equal(reroute(), 2);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE next_provider = 'third' AND "
				    "run_after > NOW(6) + INTERVAL 50 MINUTE"),
			 2);
}

static void a_route_without_room_is_waited_for_where_no_other_is_open(void **state)
{
	(void)state;
	set_out();
	certify("sum", "second", true);
	raw("UPDATE providers SET max_in_flight = 1, definition = REPLACE(definition, '64', '1') "
	    "WHERE name = 'second'");
	struct id other = job_new((struct a_job){ .state = JOB_RUNNING });
	struct id holder = attempt_new((struct an_attempt){
		.job = &other, .state = ATTEMPT_STARTING, .provider = "second" });
	struct id job = queued_for_second();

	assert_string_equal(start_one(NULL), "");
	stands(&job, "queued second");
	raw_run(here.raw, "UPDATE attempts SET state = 'failed' WHERE id = %s", x(&holder));
	assert_string_equal(start_one(NULL), "second");
}

static void a_claim_takes_the_others_beside_one_that_it_sends_on(void **state)
{
	struct taken taken;
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	(void)state;
	set_out();
	certify("sum", "second", true);
	certify("sum", "third", true);
	struct id strays[3], plain[3];

	for (int i = 0; i < 3; i++) {
		strays[i] = queued_for_second();
		plain[i] = job_new((struct a_job){ .provider = "second" });
		raw_run(here.raw, "UPDATE jobs SET run_after = NOW(6) + INTERVAL 1 HOUR");
	}
	raw("UPDATE jobs SET run_after = NOW(6)");
	raw(SECOND("passed = 0"));
	take(here.db, &poller, 8, &cursor, &taken);
	assert_int_equal(taken.rc, RC_OK);
	assert_int_equal(taken.len, 3);
	for (int i = 0; i < 3; i++) {
		stands(&plain[i], "running");
		stands(&strays[i], "queued third");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_operator_names_only_a_route_that_is_open),
		TEST(the_fallback_button_names_only_a_route_that_is_open),
		TEST(the_button_without_a_name_goes_to_the_first_route),
		TEST(a_certificate_that_dies_in_the_queue_sends_the_job_on),
		TEST(where_no_route_is_left_it_fails_for_what_its_last_attempt_did),
		TEST(a_last_attempt_that_was_cancelled_is_called_so),
		TEST(a_provider_that_is_disabled_meanwhile_is_left_by_its_later_routes_only),
		TEST(the_route_it_goes_on_to_is_not_hurried),
		TEST(a_route_without_room_is_waited_for_where_no_other_is_open),
		TEST(a_claim_takes_the_others_beside_one_that_it_sends_on),
	};

	return cmocka_run_group_tests_name("reroute", tests, testdb_open, testdb_close);
}
