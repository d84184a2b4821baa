/* test_attempts.c: asking for an attempt, and an operator's word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/ask.h"
#include "support/fake_store.h"

#define ATTEMPTS "/v1/jobs/" FAKE_JOB "/attempts"
#define SETTLE "/v1/attempts/" FAKE_ATTEMPT "/settle"

static int setup(void **state)
{
	(void)state;
	fake_store_reset();
	fake.role = ROLE_OPERATOR;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ask_end();
	return 0;
}

static int settle(const char *body)
{
	const struct ask what = { .method = "POST", .uri = SETTLE, .body = body };

	return ask(&what);
}

static void an_attempt_is_asked_for_with_or_without_a_provider(void **state)
{
	static const struct {
		const char *body;
		const char *provider;
	} rows[] = {
		{ NULL, "" },
		{ "{}", "" },
		{ "{\"provider\":null}", "" },
		{ "{\"provider\":\"other-1\"}", "other-1" },
	};

	(void)state;
	fake.role = ROLE_USER;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = "POST", .uri = ATTEMPTS, .body = rows[i].body };

		if (ask(&what) != 202 || strcmp(fake.provider, rows[i].provider) != 0)
			fail_msg("row %zu: <%s> %s", i, fake.provider, answer_body());
		assert_non_null(answer_header("Retry-After"));
	}
}

static void what_is_wrong_in_a_request_for_an_attempt_is_named(void **state)
{
	static const struct {
		const char *body;
		const char *pointer;
	} rows[] = {
		{ "{\"provider\":\"A\"}", "/provider" },
		{ "{\"provider\":7}", "/provider" },
		{ "{\"provider\":\"\"}", "/provider" },
		{ "{\"provider\":\"a\\u0000b\"}", "/provider" },
		{ "{\"note\":\"x\"}", "/note" },
		{ "{\"Provider\":\"a\"}", "/Provider" },
		{ "[]", "" },
		{ "null", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = "POST", .uri = ATTEMPTS, .body = rows[i].body };
		char member[64];

		snprintf(member, sizeof member, "\"errors\":[{\"pointer\":\"%s\",",
			 rows[i].pointer);
		if (ask(&what) != 422 || !answer_has(member) ||
		    !answer_has("/problems/invalid-request"))
			fail_msg("%s: %s", rows[i].body, answer_body());
	}
	assert_int_equal(fake.write_calls, 0);
}

static void every_outcome_of_a_change_has_its_answer(void **state)
{
	static const struct {
		enum changed changed;
		int status;
		const char *type;
	} rows[] = {
		{ CHANGED_NO_SUCH_JOB, 404, "not-found" },
		{ CHANGED_STALE, 412, "stale" },
		{ CHANGED_JOB_SETTLED, 409, "job-settled" },
		{ CHANGED_DEADLINE_PASSED, 409, "deadline-passed" },
		{ CHANGED_IN_DOUBT, 409, "attempt-in-doubt" },
		{ CHANGED_EFFECT_DONE, 409, "effect-done" },
		{ CHANGED_NO_SUCH_PROVIDER, 422, "invalid-request" },
		{ CHANGED_PROVIDER_DISABLED, 422, "invalid-request" },
		{ CHANGED_NOT_CERTIFIED, 409, "not-certified" },
		{ CHANGED_CONTRACT_VIOLATION, 422, "contract-violation" },
		{ CHANGED_ATTEMPT_SETTLED, 409, "attempt-settled" },
		{ CHANGED_ATTEMPT_LOST, 409, "attempt-lost" },
		{ CHANGED_TOO_LARGE, 413, "body-too-large" },
		{ CHANGED_NOT_STORED, 503, "unavailable" },
	};
	const struct ask what = { .method = "POST",
				  .uri = ATTEMPTS,
				  .body = "{\"provider\":\"a\"}" };
	char member[64];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake.changed = rows[i].changed;
		fake.refusal.why = STANDING_EXPIRED;
		snprintf(member, sizeof member, "\"type\":\"/problems/%s\"", rows[i].type);
		if (ask(&what) != rows[i].status || !answer_has(member))
			fail_msg("%s: %s", rows[i].type, answer_body());
		if (settle("{\"outcome\":\"released\"}") != rows[i].status || !answer_has(member))
			fail_msg("settle, %s: %s", rows[i].type, answer_body());
	}
}

static void why_a_route_is_not_certified_is_said(void **state)
{
	const struct ask what = { .method = "POST",
				  .uri = ATTEMPTS,
				  .body = "{\"provider\":\"b\"}" };

	(void)state;
	fake.changed = CHANGED_NOT_CERTIFIED;
	for (enum standing why = STANDING_FAILED; why < STANDING__MAX; why++) {
		char member[64];

		fake.refusal.why = why;
		snprintf(member, sizeof member, "\"why\":\"%s\"", standing_name(why));
		if (ask(&what) != 409 || !answer_has(member))
			fail_msg("%s: %s", member, answer_body());
		if (settle("{\"outcome\":\"failed\",\"provider\":\"b\"}") != 409 ||
		    !answer_has(member))
			fail_msg("settle, %s: %s", member, answer_body());
	}
}

static void how_a_result_breaks_the_contract_is_said(void **state)
{
	(void)state;
	fake.changed = CHANGED_CONTRACT_VIOLATION;
	snprintf(fake.refusal.words, sizeof fake.refusal.words, "the result breaks it");
	assert_int_equal(settle("{\"outcome\":\"succeeded\",\"result\":{}}"), 422);
	assert_true(answer_has("\"type\":\"/problems/contract-violation\""));
	assert_true(answer_has("\"detail\":\"Nothing was done: the result breaks it.\""));
}

static void an_attempt_in_doubt_is_shown(void **state)
{
	const struct ask what = { .method = "POST", .uri = ATTEMPTS, .body = "{}" };

	(void)state;
	fake.changed = CHANGED_IN_DOUBT;
	fake.with_attempt = true;
	assert_int_equal(ask(&what), 409);
	assert_true(answer_has("\"job_id\":\"" FAKE_JOB "\",\"attempt\":{\"id\":\"" FAKE_ATTEMPT
			       "\",\"number\":1,"
			       "\"provider\":\"print\",\"state\":\"unknown\",\"phase\":\"sent\","
			       "\"reason\":\"timeout\""));
	assert_int_equal(settle("{\"outcome\":\"cancelled\"}"), 409);
	assert_true(answer_has("\"attempt\":{\"id\":\"" FAKE_ATTEMPT "\""));
}

static void a_result_is_kept_byte_for_byte(void **state)
{
	(void)state;
	assert_int_equal(settle("{\"outcome\":\"succeeded\", \"result\" : {\"n\": "
				"1.00,\t\"u\":\"\\u0041\"} ,\"note\":\"seen\\nit\"}"),
			 200);
	assert_int_equal(fake.word.event, ON_RESULT);
	assert_int_equal(fake.word.by, BY_OPERATOR);
	assert_string_equal(fake.word_result, "{\"n\": 1.00,\t\"u\":\"\\u0041\"}");
	assert_string_equal(fake.word_note, "seen\nit");
	assert_null(fake.word.provider);
	assert_int_equal(fake.word.attempt_id.bytes[15], 2);
	assert_int_equal(settle("{\"outcome\":\"succeeded\",\"result\":null}"), 200);
	assert_string_equal(fake.word_result, "null");
}

static void a_failure_may_be_tried_again(void **state)
{
	(void)state;
	assert_int_equal(settle("{\"outcome\":\"failed\",\"error\":\"no "
				"paper\",\"provider\":\"other\",\"note\":null}"),
			 200);
	assert_int_equal(fake.word.event, ON_FAILURE);
	assert_int_equal(fake.word.reason, REASON_OPERATOR);
	assert_true(fake.word.retryable);
	assert_int_equal(fake.word.delay_ms, -1);
	assert_int_equal(fake.word.retry_after_ms, -1);
	assert_string_equal(fake.word_detail, "no paper");
	assert_string_equal(fake.provider, "other");
	assert_null(fake.word.note);
	assert_null(fake.word.result);
}

static void cancelled_and_released_name_a_provider_or_none(void **state)
{
	(void)state;
	assert_int_equal(settle("{\"outcome\":\"cancelled\"}"), 200);
	assert_int_equal(fake.word.event, ON_CANCEL);
	assert_null(fake.word.provider);
	assert_int_equal(settle("{\"outcome\":\"released\",\"provider\":\"other\"}"), 200);
	assert_int_equal(fake.word.event, ON_RELEASE);
	assert_string_equal(fake.provider, "other");
	assert_int_equal(settle("{\"outcome\":\"released\",\"result\":null,\"error\":null}"), 200);
}

static void what_is_wrong_in_a_word_is_named(void **state)
{
	static const struct {
		const char *body;
		const char *pointer;
	} rows[] = {
		{ "{}", "/outcome" },
		{ "{\"outcome\":null}", "/outcome" },
		{ "{\"outcome\":\"done\"}", "/outcome" },
		{ "{\"outcome\":\"Failed\"}", "/outcome" },
		{ "{\"outcome\":[\"failed\"]}", "/outcome" },
		{ "{\"outcome\":\"failed\\u0000\"}", "/outcome" },
		{ "{\"outcome\":\"succeeded\"}", "/result" },
		{ "{\"outcome\":\"succeeded\",\"result\":1,\"provider\":\"a\"}", "/provider" },
		{ "{\"outcome\":\"succeeded\",\"result\":1,\"error\":\"a\"}", "/error" },
		{ "{\"outcome\":\"failed\",\"result\":1}", "/result" },
		{ "{\"outcome\":\"cancelled\",\"error\":\"a\"}", "/error" },
		{ "{\"outcome\":\"released\",\"error\":\"a\"}", "/error" },
		{ "{\"outcome\":\"failed\",\"error\":7}", "/error" },
		{ "{\"outcome\":\"failed\",\"error\":\"a\\nb\"}", "/error" },
		{ "{\"outcome\":\"failed\",\"error\":\"a\\u0000b\"}", "/error" },
		{ "{\"outcome\":\"failed\",\"note\":\"a\\u0000b\"}", "/note" },
		{ "{\"outcome\":\"failed\",\"note\":\"a\\u001bb\"}", "/note" },
		{ "{\"outcome\":\"failed\",\"provider\":\"A\"}", "/provider" },
		{ "{\"outcome\":\"failed\",\"reason\":\"x\"}", "/reason" },
		{ "[]", "" },
		{ "\"failed\"", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char member[64];

		snprintf(member, sizeof member, "\"errors\":[{\"pointer\":\"%s\",",
			 rows[i].pointer);
		if (settle(rows[i].body) != 422 || !answer_has(member) ||
		    !answer_has("The body has 1 flaw."))
			fail_msg("%s: %s", rows[i].body, answer_body());
	}
	assert_int_equal(fake.write_calls, 0);
}

static void texts_have_limits(void **state)
{
	static const struct {
		const char *member;
		int len;
		int status;
	} rows[] = {
		{ "error", 1000, 200 },
		{ "error", 1001, 422 },
		{ "note", 4000, 200 },
		{ "note", 4001, 422 },
	};
	char body[5000];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(body, sizeof body, "{\"outcome\":\"failed\",\"%s\":\"%0*d\"}",
			 rows[i].member, rows[i].len, 0);
		if (settle(body) != rows[i].status)
			fail_msg("%s of %d bytes: %s", rows[i].member, rows[i].len, answer_body());
	}
}

static void if_match_is_honoured_on_both(void **state)
{
	const struct ask attempts = { .method = "POST",
				      .uri = ATTEMPTS,
				      .more = { "HTTP_IF_MATCH=\"1-2\"" } };
	const struct ask word = { .method = "POST",
				  .uri = SETTLE,
				  .body = "{\"outcome\":\"released\"}",
				  .more = { "HTTP_IF_MATCH=\"3-4\"" } };

	(void)state;
	assert_int_equal(ask(&attempts), 202);
	assert_int_equal(fake.if_match.list[0].revision, 2);
	assert_int_equal(ask(&word), 200);
	assert_int_equal(fake.if_match.list[0].revision, 4);
}

static void a_word_needs_a_body(void **state)
{
	const struct ask none = { .method = "POST", .uri = SETTLE };
	const struct ask empty = {
		.method = "POST", .uri = SETTLE, .body = "", .type = "application/json"
	};

	(void)state;
	assert_int_equal(ask(&none), 415);
	assert_int_equal(ask(&empty), 400);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_attempt_is_asked_for_with_or_without_a_provider),
		T(what_is_wrong_in_a_request_for_an_attempt_is_named),
		T(every_outcome_of_a_change_has_its_answer),
		T(why_a_route_is_not_certified_is_said),
		T(how_a_result_breaks_the_contract_is_said),
		T(an_attempt_in_doubt_is_shown),
		T(a_result_is_kept_byte_for_byte),
		T(a_failure_may_be_tried_again),
		T(cancelled_and_released_name_a_provider_or_none),
		T(what_is_wrong_in_a_word_is_named),
		T(texts_have_limits),
		T(if_match_is_honoured_on_both),
		T(a_word_needs_a_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
