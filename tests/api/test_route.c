/* test_route.c: which request reaches which handler, who may, and which refusal comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/problem.h"
#include "support/ask.h"
#include "support/fake_store.h"

#define JOB "/v1/jobs/" FAKE_JOB
#define SETTLE "/v1/attempts/" FAKE_ATTEMPT "/settle"
#define GOOD "{\"provider\":\"print\",\"input\":1}"

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

static void check(const char *name, const struct ask *what, int status, const char *type)
{
	int got = ask(what);
	char member[128];

	if (got != status)
		fail_msg("%s: got %d, want %d: %s", name, got, status, answer_body());
	snprintf(member, sizeof member, "\"type\":\"/problems/%s\"", type ? type : "");
	if (type && !answer_has(member))
		fail_msg("%s: no problem of type %s: %s", name, type, answer_body());
}

/* Each row breaks one rule more than the row below it, which breaks the next; the first broken rule
 * decides. */
static void the_first_refusal_is_always_the_same_one(void **state)
{
	const struct {
		const char *name;
		enum rc identify;
		enum role role;
		struct ask what;
		int status;
		const char *type;
	} rows[] = {
		{ "401 over 404",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/nothing" },
		  401,
		  "unauthorized" },
		{ "401 over 405",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "PUT", .uri = "/v1/jobs" },
		  401,
		  "unauthorized" },
		{ "401 over 403",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = SETTLE },
		  401,
		  "unauthorized" },
		{ "401 over 413",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .body_state = BODY_TOO_LARGE },
		  401,
		  "unauthorized" },
		{ "401 over no key",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .body = "x" },
		  401,
		  "unauthorized" },
		{ "401 over bad JSON",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = "x" },
		  401,
		  "unauthorized" },
		{ "401 over a bad intent",
		  RC_NOT_FOUND,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = "{}" },
		  401,
		  "unauthorized" },
		{ "503 where nobody can say who asks",
		  RC_RETRY,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = "{}" },
		  503,
		  "unavailable" },
		{ "404 over 403",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/attempts/x/settle" },
		  404,
		  "not-found" },
		{ "405 over 403",
		  RC_OK,
		  ROLE_USER,
		  { .method = "PATCH", .uri = SETTLE },
		  405,
		  "method-not-allowed" },
		{ "403 over 413",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = SETTLE, .body_state = BODY_TOO_LARGE },
		  403,
		  "operator-only" },
		{ "403 over bad JSON",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = SETTLE, .body = "x" },
		  403,
		  "operator-only" },
		{ "413 over no key",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .body_state = BODY_TOO_LARGE },
		  413,
		  "body-too-large" },
		{ "no key over 415",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .body = "x", .type = "text/plain" },
		  400,
		  "idempotency-key-missing" },
		{ "a bad key over 415",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST",
		    .uri = "/v1/jobs",
		    .key = "a,b",
		    .body = "x",
		    .type = "text/plain" },
		  400,
		  "idempotency-key-invalid" },
		{ "415 over bad JSON",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST",
		    .uri = "/v1/jobs",
		    .key = "k",
		    .body = "x",
		    .type = "text/plain" },
		  415,
		  "unsupported-media-type" },
		{ "bad JSON over a bad intent",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = "{}x" },
		  400,
		  "invalid-json" },
		{ "a bad intent over what is stored",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = "{}" },
		  422,
		  "invalid-job" },
		{ "and then it is asked for",
		  RC_OK,
		  ROLE_USER,
		  { .method = "POST", .uri = "/v1/jobs", .key = "k", .body = GOOD },
		  201,
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake_store_reset();
		fake.identify = rows[i].identify;
		fake.role = rows[i].role;
		check(rows[i].name, &rows[i].what, rows[i].status, rows[i].type);
		if (rows[i].status >= 400 && fake.write_calls + fake.read_calls > 0)
			fail_msg("%s: a refused request reached the rows", rows[i].name);
	}
}

static void an_operators_route_is_closed_to_users(void **state)
{
	static const struct {
		const char *method;
		const char *uri;
	} rows[] = {
		{ "GET", "/v1/attempts" },	 { "POST", SETTLE },
		{ "GET", "/v1/races" },		 { "GET", "/v1/providers" },
		{ "GET", "/v1/providers/a" },	 { "PUT", "/v1/providers/a" },
		{ "DELETE", "/v1/providers/a" }, { "GET", "/v1/contracts" },
		{ "GET", "/v1/contracts/a" },	 { "PUT", "/v1/contracts/a" },
		{ "DELETE", "/v1/contracts/a" }, { "POST", "/v1/contracts/a/certify" },
		{ "GET", "/v1/certificates" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = rows[i].method, .uri = rows[i].uri };

		check(rows[i].uri, &what, 403, "operator-only");
		assert_int_equal(fake.read_calls + fake.write_calls, 0);
	}
}

static void nothing_under_v1_is_open(void **state)
{
	static const struct {
		const char *method;
		const char *uri;
	} rows[] = {
		{ "POST", "/v1/jobs" },
		{ "GET", "/v1/jobs" },
		{ "GET", JOB },
		{ "POST", JOB "/cancel" },
		{ "POST", JOB "/attempts" },
		{ "POST", "/v1/jobs/cancel" },
		{ "GET", "/v1/attempts" },
		{ "POST", SETTLE },
		{ "GET", "/v1/races" },
		{ "GET", "/v1/providers" },
		{ "PUT", "/v1/providers/a" },
		{ "GET", "/v1/contracts" },
		{ "PUT", "/v1/contracts/a" },
		{ "POST", "/v1/contracts/a/certify" },
		{ "GET", "/v1/certificates" },
		{ "GET", "/v1" },
		{ "GET", "/" },
		{ "GET", "" },
		{ "OPTIONS", "*" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = rows[i].method,
					  .uri = rows[i].uri,
					  .authorization = "" };

		check(rows[i].uri, &what, 401, "unauthorized");
		assert_string_equal(answer_header("WWW-Authenticate"), "Bearer realm=\"onejob\"");
		assert_int_equal(fake.identify_calls + fake.read_calls + fake.write_calls, 0);
	}
}

static void another_method_is_405_with_those_that_exist(void **state)
{
	static const struct {
		const char *method;
		const char *uri;
		const char *allow;
	} rows[] = {
		{ "PUT", "/v1/jobs", "POST, GET, HEAD" },
		{ "POST", JOB, "GET, HEAD" },
		{ "get", JOB, "GET, HEAD" },
		{ "GET", "/v1/jobs/cancel", "POST" },
		{ "HEAD", JOB "/cancel", "POST" },
		{ "POST", "/v1/providers/a", "GET, HEAD, PUT, DELETE" },
		{ "POST", "/v1/contracts", "GET, HEAD" },
		{ "POST", "/v1/contracts/a", "GET, HEAD, PUT, DELETE" },
		{ "GET", "/v1/contracts/a/certify", "POST" },
		{ "POST", "/v1/certificates", "GET, HEAD" },
		{ "POST", "/healthz", "GET, HEAD" },
		{ "OPTIONS", "/v1/races", "GET, HEAD" },
	};

	(void)state;
	fake.role = ROLE_OPERATOR;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = rows[i].method, .uri = rows[i].uri };

		check(rows[i].uri, &what, 405,
		      strcmp(rows[i].method, "HEAD") == 0 ? NULL : "method-not-allowed");
		assert_string_equal(answer_header("Allow"), rows[i].allow);
	}
}

static void d07_a_path_is_compared_as_it_was_sent(void **state)
{
	static const char *const uris[] = {
		"/v1/jobs/a%2Fb",
		"//v1/jobs/" FAKE_JOB,
		"/v1//jobs/" FAKE_JOB,
		"/v1/jobs//" FAKE_JOB,
		"/v1/jobs/%30"
		"1940000-0000-7000-8000-000000000001",
		JOB "%00",
		JOB "/",
		JOB "x",
		"/v1/jobs/",
		"/v1/jobs/..",
		"/v1/jobs/" FAKE_JOB "/cancel/",
		"/V1/jobs/" FAKE_JOB,
		"/v1/jobs/01940000-0000-7000-8000-00000000000",
		"v1/jobs",
		"/v1/jobs;a=b",
		JOB "#x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
		const struct ask what = { .uri = uris[i] };

		check(uris[i], &what, 404, "not-found");
		assert_int_equal(fake.read_calls, 0);
	}
}

static void an_id_is_read_in_either_case(void **state)
{
	const struct ask what = { .uri = "/v1/jobs/01940000-0000-7000-8000-00000000ABCD" };

	(void)state;
	assert_int_equal(ask(&what), 200);
	assert_int_equal(fake.id.bytes[15], 0xcd);
}

static void head_is_get_without_the_body(void **state)
{
	const struct ask get = { .uri = JOB };
	const struct ask head = { .method = "HEAD", .uri = JOB };
	char length[32];

	(void)state;
	assert_int_equal(ask(&get), 200);
	snprintf(length, sizeof length, "%s", answer_header("Content-Length"));
	assert_int_equal(ask(&head), 200);
	assert_string_equal(answer_body(), "");
	assert_string_equal(answer_header("Content-Length"), length);
	assert_string_equal(answer_header("ETag"), "\"3-7\"");
}

static void a_request_without_a_meaning_for_a_body_takes_none(void **state)
{
	const struct ask what = { .uri = JOB, .body = "{}" };

	(void)state;
	check("GET with a body", &what, 400, "body-unexpected");
	assert_int_equal(fake.read_calls, 0);
}

static void a_body_that_was_cut_is_refused(void **state)
{
	const struct ask what = { .method = "POST",
				  .uri = "/v1/jobs",
				  .key = "k",
				  .body = GOOD,
				  .body_state = BODY_CUT };
	const struct ask empty = { .method = "POST", .uri = JOB "/cancel", .body_state = BODY_CUT };

	(void)state;
	check("create", &what, 400, "body-incomplete");
	check("cancel", &empty, 400, "body-incomplete");
	assert_int_equal(fake.write_calls, 0);
}

static void every_answer_carries_a_request_id_and_is_not_stored(void **state)
{
	static const char *const uris[] = { "/v1/jobs", "/v1/nothing", JOB, "/healthz",
					    "/problems" };

	(void)state;
	for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
		const struct ask given = { .uri = uris[i],
					   .more = { "ONEJOB_REQUEST_ID=abc-123" } };
		const struct ask made = { .uri = uris[i], .more = { "ONEJOB_REQUEST_ID=a b" } };

		ask(&given);
		assert_string_equal(answer_header("X-Request-Id"), "abc-123");
		assert_string_equal(answer_header("Cache-Control"), "no-store");
		ask(&made);
		assert_int_equal(strlen(answer_header("X-Request-Id")), 32);
	}
}

static void every_problem_has_its_page(void **state)
{
	const struct ask index = { .uri = "/problems", .authorization = "" };
	char line[128];

	(void)state;
	assert_int_equal(ask(&index), 200);
	for (enum problem p = 0; p < PROBLEM__MAX; p++) {
		const struct problem_row *row = problem_row(p);
		char uri[128];
		const struct ask page = { .uri = uri, .authorization = "" };

		snprintf(uri, sizeof uri, "/problems/%s", row->name);
		check(uri, &page, 200, NULL);
		snprintf(line, sizeof line, "(status %d)", row->status);
		assert_true(answer_has(line));
		assert_true(answer_has(row->page));
	}
	check("an unknown one", &(const struct ask){ .uri = "/problems/none", .authorization = "" },
	      404, "not-found");
}

static void metrics_tell_what_is_stuck_and_which_routes_are_proven(void **state)
{
	static const char *const lines[] = {
		"# TYPE onejob_pollers_alive gauge\nonejob_pollers_alive 2\n",
		"\nonejob_attempts_unknown 3\n",
		"# TYPE onejob_races_total counter\nonejob_races_total 4\n",
		"\nonejob_oldest_due_job_seconds 7.500\n",
		"\nonejob_oldest_unknown_job_seconds 0.000\n",
		"\nonejob_route_certified{contract=\"c\",provider=\"good\"} 1\n",
		"\nonejob_route_certified{contract=\"c\",provider=\"bad\"} 0\n",
		"_timestamp_seconds{contract=\"c\",provider=\"good\"} 1800000000\n",
	};
	const struct ask metrics = { .uri = "/metrics", .authorization = "" };

	(void)state;
	check("metrics", &metrics, 200, NULL);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!answer_has(lines[i]))
			fail_msg("%s", lines[i]);
	assert_false(answer_has("provider=\"first\""));
	fake.get = RC_RETRY;
	check("the database is away", &metrics, 503, "unavailable");
}

static void health_needs_no_token(void **state)
{
	const struct ask live = { .uri = "/healthz", .authorization = "" };
	const struct ask ready = { .uri = "/readyz", .authorization = "" };

	(void)state;
	check("up", &live, 200, NULL);
	check("ready", &ready, 200, NULL);
	fake.schema = SCHEMA_OLDER;
	check("the schema is old", &ready, 503, "unavailable");
	assert_true(answer_has("onejob migrate"));
	fake.schema = SCHEMA_CHANGED;
	check("the schema is another", &ready, 503, "unavailable");
	fake.schema = SCHEMA_NEWER; /* while a deployment rolls */
	check("the schema is newer", &ready, 200, NULL);
	fake.get = RC_RETRY;
	check("the database is away", &ready, 503, "unavailable");
	check("still up", &live, 200, NULL);
}

static void a_method_or_path_that_comes_twice_is_no_request(void **state)
{
	const struct ask what = { .uri = JOB, .more = { "REQUEST_METHOD=POST" } };

	(void)state;
	check("two methods", &what, 500, "gateway");
	assert_int_equal(fake.read_calls, 0);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_first_refusal_is_always_the_same_one),
		T(an_operators_route_is_closed_to_users),
		T(nothing_under_v1_is_open),
		T(another_method_is_405_with_those_that_exist),
		T(d07_a_path_is_compared_as_it_was_sent),
		T(an_id_is_read_in_either_case),
		T(head_is_get_without_the_body),
		T(a_request_without_a_meaning_for_a_body_takes_none),
		T(a_body_that_was_cut_is_refused),
		T(every_answer_carries_a_request_id_and_is_not_stored),
		T(every_problem_has_its_page),
		T(metrics_tell_what_is_stuck_and_which_routes_are_proven),
		T(health_needs_no_token),
		T(a_method_or_path_that_comes_twice_is_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
