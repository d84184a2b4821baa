/* test_jobs.c: the answers of /v1/jobs, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/ask.h"
#include "support/fake_store.h"

#define JOB "/v1/jobs/" FAKE_JOB
#define GOOD "{\"provider\":\"print\",\"input\": {\"n\":18446744073709551617} }"
#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static const struct ask create = {
	.method = "POST", .uri = "/v1/jobs", .key = "k-1", .body = GOOD
};

static int setup(void **state)
{
	(void)state;
	fake_store_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ask_end();
	return 0;
}

static void check_problem(const char *name, int status, const char *type)
{
	char member[128];

	snprintf(member, sizeof member, "\"type\":\"/problems/%s\"", type);
	if (!answer_has(member))
		fail_msg("%s: %s", name, answer_body());
	snprintf(member, sizeof member, "\"status\":%d,", status);
	if (!answer_has(member))
		fail_msg("%s: the body says another status: %s", name, answer_body());
	assert_string_equal(answer_header("Content-Type"), "application/problem+json");
}

static void a_new_job_is_201_with_its_place(void **state)
{
	(void)state;
	assert_int_equal(ask(&create), 201);
	assert_string_equal(answer_header("Status"), "201 Created");
	assert_string_equal(answer_header("Location"), JOB);
	assert_string_equal(answer_header("ETag"), "\"3-7\"");
	assert_string_equal(answer_header("Content-Type"), "application/json");
	assert_null(answer_header("Idempotent-Replayed"));
	assert_true(answer_has("\"id\":\"" FAKE_JOB "\""));
	assert_true(answer_has("\"input\":{\"a/b\": 1.0},"));
	assert_int_equal(fake.identify_calls, 0); /* one statement */
	assert_int_equal(fake.write_calls, 1);
	assert_string_equal(fake.input, "{\"n\":18446744073709551617}");
	assert_string_equal(fake.traceparent, "");
}

static void every_outcome_of_a_create_has_its_answer(void **state)
{
	static const struct {
		enum created created;
		int status;
		const char *type;
		const char *has;
	} rows[] = {
		{ CREATED_REPLAYED, 200, NULL, "\"id\":\"" FAKE_JOB "\"" },
		{ CREATED_KEY_REUSED, 409, "idempotency-key-reused",
		  "\"job_id\":\"" FAKE_JOB "\"" },
		{ CREATED_INTENT_CANCELLED, 409, "intent-cancelled",
		  "\"job_id\":\"" FAKE_JOB "\"" },
		{ CREATED_NO_SUCH_CALLER, 401, "unauthorized", "" },
		{ CREATED_NO_SUCH_PROVIDER, 422, "invalid-job",
		  "\"errors\":[{\"pointer\":\"/provider\"" },
		{ CREATED_NO_SUCH_CONTRACT, 422, "invalid-job",
		  "\"errors\":[{\"pointer\":\"/contract\"" },
		{ CREATED_TOO_LARGE, 413, "body-too-large", "" },
		{ CREATED_NOT_STORED, 503, "unavailable", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake.created = rows[i].created;
		if (ask(&create) != rows[i].status || !answer_has(rows[i].has))
			fail_msg("row %zu: %s", i, answer_body());
		if (rows[i].type)
			check_problem(rows[i].type, rows[i].status, rows[i].type);
		assert_null(answer_header("Location"));
	}
	assert_string_equal(answer_header("Retry-After"), "1");
	fake.created = CREATED_REPLAYED;
	ask(&create);
	assert_string_equal(answer_header("Idempotent-Replayed"), "true");
}

static void a_conflict_shows_nothing_but_the_id(void **state)
{
	(void)state;
	fake.created = CREATED_KEY_REUSED;
	ask(&create);
	assert_false(answer_has("input"));
	assert_false(answer_has("a/b"));
	assert_false(answer_has("alice"));
}

static void a04_an_empty_key_is_invalid_and_none_is_missing(void **state)
{
	struct ask what = create;

	(void)state;
	what.key = NULL;
	assert_int_equal(ask(&what), 400);
	check_problem("none", 400, "idempotency-key-missing");
	what.key = "";
	assert_int_equal(ask(&what), 400);
	check_problem("empty", 400, "idempotency-key-invalid");
	what.key = "   ";
	assert_int_equal(ask(&what), 400);
	check_problem("blank", 400, "idempotency-key-invalid");
	assert_int_equal(fake.write_calls, 0);
}

static void a_key_sent_twice_is_refused_in_either_shape(void **state)
{
	struct ask what = create;

	(void)state;
	what.more[0] = "HTTP_IDEMPOTENCY_KEY=k-1";
	assert_int_equal(ask(&what), 400);
	check_problem("two lines", 400, "idempotency-key-invalid");
	what.more[0] = NULL;
	what.key = "\"k-1\", \"k-1\"";
	assert_int_equal(ask(&what), 400);
	what.key = "k-1, k-1";
	assert_int_equal(ask(&what), 400);
	assert_int_equal(fake.write_calls, 0);
}

static void a05_both_forms_reach_the_store_as_one_key(void **state)
{
	struct ask what = create;
	char mark[32];

	(void)state;
	assert_int_equal(ask(&what), 201);
	snprintf(mark, sizeof mark, "%s", answer_header("X-Onejob-Key"));
	assert_int_equal(strlen(mark), 16);
	what.key = "\"k-1\"";
	assert_int_equal(ask(&what), 201);
	assert_int_equal(fake.key.len, 3);
	assert_memory_equal(fake.key.bytes, "k-1", 3);
	assert_string_equal(answer_header("X-Onejob-Key"), mark);
}

static void bodies_that_are_not_json_are_named_by_their_offset(void **state)
{
	static const struct {
		const char *name;
		const char *body;
		int offset;
	} rows[] = {
		{ "a13 text after it", "{\"a\":1} x", 8 },
		{ "a13 two of them", "{\"a\":1}{\"b\":2}", 7 },
		{ "a13 cut", "{\"a\":1", 6 },
		{ "a14 quotes", "{'a':1}", 1 },
		{ "a14 NaN", "{\"a\":NaN}", 5 },
		{ "a14 a comma", "{\"a\":1,}", 7 },
		{ "a14 a comment", "/*c*/{\"a\":1}", 0 },
		{ "a12 twice", "{\"amount\":1,\"amount\":100}", 12 },
		{ "a BOM", "\xef\xbb\xbf{}", 0 },
		{ "nothing", " ", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask what = create;
		char member[32];

		what.body = rows[i].body;
		if (ask(&what) != 400)
			fail_msg("%s: %s", rows[i].name, answer_body());
		check_problem(rows[i].name, 400, "invalid-json");
		snprintf(member, sizeof member, "\"offset\":%d}", rows[i].offset);
		if (!answer_has(member))
			fail_msg("%s: %s", rows[i].name, answer_body());
	}
	assert_int_equal(fake.write_calls, 0);
}

static void a15_nesting_stops_at_64(void **state)
{
	static const struct {
		size_t depth;
		int status;
	} rows[] = { { 63, 201 }, { 64, 400 }, { 100000, 400 } };
	static char body[300000];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask what = create;
		size_t head = (size_t)sprintf(body, "{\"provider\":\"print\",\"input\":");

		memset(body + head, '[', rows[i].depth);
		memset(body + head + rows[i].depth, ']', rows[i].depth);
		strcpy(body + head + 2 * rows[i].depth, "}");
		what.body = body;
		if (ask(&what) != rows[i].status)
			fail_msg("%zu deep: %s", rows[i].depth, answer_body());
	}
}

static void a17_a_refused_request_writes_nothing(void **state)
{
	struct ask what = create;

	(void)state;
	what.body = "{\"provider\":\"print\"}";
	assert_int_equal(ask(&what), 422);
	check_problem("no input", 422, "invalid-job");
	assert_true(answer_has("\"errors\":[{\"pointer\":\"/input\",\"detail\":"));
	assert_int_equal(fake.write_calls, 0);
	assert_int_equal(ask(&create), 201);
}

static void an_empty_body_is_no_job(void **state)
{
	struct ask what = create;

	(void)state;
	what.body = "";
	assert_int_equal(ask(&what), 400);
	what.type = "";
	assert_int_equal(ask(&what), 415);
}

static void the_trace_is_the_clients_or_the_jobs_id(void **state)
{
	struct ask what = create;

	(void)state;
	ask(&what);
	assert_string_equal(answer_header("X-Onejob-Trace"), "01940000000070008000000000000001");
	assert_string_equal(answer_header("X-Onejob-Job"), FAKE_JOB);
	what.more[0] = "HTTP_TRACEPARENT=" TRACE;
	ask(&what);
	assert_string_equal(fake.traceparent, TRACE);
	assert_string_equal(answer_header("X-Onejob-Trace"), "0af7651916cd43dd8448eb211c80319c");
	what.more[1] = "HTTP_TRACEPARENT=" TRACE;
	ask(&what);
	assert_string_equal(fake.traceparent, "");
	what.more[1] = NULL;
	what.more[0] = "HTTP_TRACEPARENT=00-00000000000000000000000000000000-b7ad6b7169203331-01";
	ask(&what);
	assert_string_equal(fake.traceparent, "");
}

static void a_job_that_is_read_says_when_to_ask_again(void **state)
{
	const struct ask what = { .uri = JOB };

	(void)state;
	assert_int_equal(ask(&what), 200);
	assert_non_null(answer_header("Retry-After"));
	assert_int_equal(fake.identify_calls, 0); /* one statement */
	fake.state = JOB_SUCCEEDED;
	assert_int_equal(ask(&what), 200);
	assert_null(answer_header("Retry-After"));
	assert_string_equal(answer_header("ETag"), "\"3-7\"");
}

static void a_job_that_has_not_changed_is_304(void **state)
{
	const struct ask what = { .uri = JOB, .more = { "HTTP_IF_NONE_MATCH=\"1-1\", W/\"3-7\"" } };
	const struct ask other = { .uri = JOB, .more = { "HTTP_IF_NONE_MATCH=\"3-6\"" } };

	(void)state;
	assert_int_equal(ask(&what), 304);
	assert_string_equal(answer_body(), "");
	assert_null(answer_header("Content-Type"));
	assert_string_equal(answer_header("ETag"), "\"3-7\"");
	assert_non_null(answer_header("Retry-After"));
	assert_int_equal(ask(&other), 200);
}

static void what_a_read_comes_to_has_its_answer(void **state)
{
	static const struct {
		enum rc rc;
		int status;
		const char *type;
	} rows[] = {
		{ RC_NOT_FOUND, 404, "not-found" },
		{ RC_INVALID, 401, "unauthorized" },
		{ RC_RETRY, 503, "unavailable" }, /* b10: never 404 */
		{ RC_FAULT, 503, "unavailable" },
	};
	const struct ask what = { .uri = JOB };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake.get = rows[i].rc;
		if (ask(&what) != rows[i].status)
			fail_msg("row %zu: %s", i, answer_body());
		check_problem(rows[i].type, rows[i].status, rows[i].type);
	}
}

static void a_list_has_a_cursor_while_there_is_more(void **state)
{
	const struct ask first = { .uri = "/v1/jobs?state=queued&provider=print&limit=1" };
	const struct ask next = { .uri = "/v1/jobs?cursor=01940000000070008000000000000001" };

	(void)state;
	fake.more = true;
	assert_int_equal(ask(&first), 200);
	assert_true(answer_has("{\"jobs\":[{\"id\":\"" FAKE_JOB "\""));
	assert_true(answer_has("],\"next_cursor\":\"01940000000070008000000000000001\"}"));
	assert_false(answer_has("\"input\""));
	assert_true(fake.filter.has_state);
	assert_int_equal(fake.filter.state, JOB_QUEUED);
	assert_int_equal(fake.filter.limit, 1);
	assert_string_equal(fake.filter_text, "print");
	fake.more = false;
	assert_int_equal(ask(&next), 200);
	assert_true(answer_has("],\"next_cursor\":null}"));
	assert_true(fake.filter.has_before);
	assert_int_equal(fake.filter.before.bytes[15], 1);
	assert_int_equal(fake.filter.limit, 50);
}

static void a_list_ignores_nothing(void **state)
{
	static const char *const uris[] = {
		"/v1/jobs?x=1",	       "/v1/jobs?state=done", "/v1/jobs?limit=0",
		"/v1/jobs?limit=201",  "/v1/jobs?cursor=zz",  "/v1/jobs?cursor=0194",
		"/v1/jobs?provider=A", "/v1/jobs?contract=",  "/v1/jobs?state=queued&state=failed",
		"/v1/jobs?owner=bob",
	};

	(void)state;
	for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
		const struct ask what = { .uri = uris[i] };

		if (ask(&what) != 400)
			fail_msg("%s: %s", uris[i], answer_body());
		check_problem(uris[i], 400, "invalid-query");
	}
	assert_int_equal(fake.read_calls, 0);
	ask(&(struct ask){ .uri = "/v1/jobs?state=done" });
	assert_true(answer_has("state must be queued, running, unknown, "));
	ask(&(struct ask){ .uri = "/v1/jobs?provider=A" });
	assert_true(answer_has("provider is no name"));
}

static void an_operator_may_ask_for_one_owner(void **state)
{
	const struct ask what = { .uri = "/v1/jobs?owner=O%3Dteam%2CCN%3Da+b" };

	(void)state;
	fake.role = ROLE_OPERATOR;
	assert_int_equal(ask(&what), 200);
	assert_string_equal(fake.filter_text, "O=team,CN=a b");
}

static void cancelling_takes_no_body_or_an_empty_object(void **state)
{
	struct ask what = { .method = "POST", .uri = JOB "/cancel" };

	(void)state;
	assert_int_equal(ask(&what), 200);
	what.body = "{}";
	assert_int_equal(ask(&what), 200);
	assert_int_equal(fake.write_calls, 2);
	what.body = "{\"reason\":1}";
	assert_int_equal(ask(&what), 422);
	assert_true(answer_has("\"pointer\":\"/reason\""));
	what.body = "[]";
	assert_int_equal(ask(&what), 422);
	what.body = "{}";
	what.type = "text/plain";
	assert_int_equal(ask(&what), 415);
	assert_int_equal(fake.write_calls, 2);
}

static void if_match_is_passed_on(void **state)
{
	struct ask what = { .method = "POST",
			    .uri = JOB "/cancel",
			    .more = { "HTTP_IF_MATCH=\"3-7\"" } };

	(void)state;
	assert_int_equal(ask(&what), 200);
	assert_true(fake.if_match.present);
	assert_int_equal(fake.if_match.list[0].revision, 7);
	fake.changed = CHANGED_STALE;
	assert_int_equal(ask(&what), 412);
	check_problem("stale", 412, "stale");
	what.more[0] = "HTTP_IF_MATCH=3-7";
	assert_int_equal(ask(&what), 400);
	check_problem("no tag", 400, "invalid-if-match");
	what.more[0] = NULL;
	fake.changed = CHANGED_DONE;
	assert_int_equal(ask(&what), 200);
	assert_false(fake.if_match.present);
}

static void cancelling_by_key_leaves_a_tombstone_with_its_place(void **state)
{
	struct ask what = { .method = "POST", .uri = "/v1/jobs/cancel", .key = "\"k-1\"" };

	(void)state;
	assert_int_equal(ask(&what), 200);
	assert_memory_equal(fake.key.bytes, "k-1", 3);
	fake.changed = CHANGED_TOMBSTONE;
	assert_int_equal(ask(&what), 201);
	assert_string_equal(answer_header("Location"), JOB);
	what.key = NULL;
	assert_int_equal(ask(&what), 400);
	check_problem("no key", 400, "idempotency-key-missing");
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_new_job_is_201_with_its_place),
		T(every_outcome_of_a_create_has_its_answer),
		T(a_conflict_shows_nothing_but_the_id),
		T(a04_an_empty_key_is_invalid_and_none_is_missing),
		T(a_key_sent_twice_is_refused_in_either_shape),
		T(a05_both_forms_reach_the_store_as_one_key),
		T(bodies_that_are_not_json_are_named_by_their_offset),
		T(a15_nesting_stops_at_64),
		T(a17_a_refused_request_writes_nothing),
		T(an_empty_body_is_no_job),
		T(the_trace_is_the_clients_or_the_jobs_id),
		T(a_job_that_is_read_says_when_to_ask_again),
		T(a_job_that_has_not_changed_is_304),
		T(what_a_read_comes_to_has_its_answer),
		T(a_list_has_a_cursor_while_there_is_more),
		T(a_list_ignores_nothing),
		T(an_operator_may_ask_for_one_owner),
		T(cancelling_takes_no_body_or_an_empty_object),
		T(if_match_is_passed_on),
		T(cancelling_by_key_leaves_a_tombstone_with_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
