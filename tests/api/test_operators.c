/* test_operators.c: lists of attempts and races, and the providers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/provider_def.h"
#include "support/ask.h"
#include "support/fake_store.h"

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

static int get(const char *uri)
{
	const struct ask what = { .uri = uri };

	return ask(&what);
}

static void attempts_are_listed_with_their_job(void **state)
{
	(void)state;
	assert_int_equal(get("/v1/attempts?state=unknown&limit=7"), 200);
	assert_true(answer_has("{\"attempts\":[{\"id\":\"" FAKE_ATTEMPT "\",\"number\":1,"));
	assert_true(answer_has("\"job_id\":\"" FAKE_JOB
			       "\",\"detail\":null,\"reference\":null,\"asked\":0,\"last_answer\":"
			       "null,\"next_ask_at\":null}],\"next_cursor\":null}"));
	assert_true(fake.has_state);
	assert_int_equal(fake.attempt_state, ATTEMPT_UNKNOWN);
	assert_int_equal(fake.limit, 7);
	assert_false(fake.has_before);
	assert_int_equal(get("/v1/attempts"), 200);
	assert_false(fake.has_state);
	assert_int_equal(fake.limit, 50);
}

static void races_are_listed(void **state)
{
	(void)state;
	fake.more = true;
	assert_int_equal(get("/v1/races?cursor=01940000000070008000000000000009"), 200);
	assert_true(answer_has("{\"races\":[{\"id\":\"" FAKE_RACE "\",\"job_id\":\"" FAKE_JOB
			       "\",\"attempt_id\":\"" FAKE_ATTEMPT
			       "\",\"winner\":null,\"why\":\"lost_swap\",\"sha256\":\"0000"));
	assert_true(answer_has("\"bytes\":12,\"created_at\":\"2026-05-28T20:26:40.000000Z\"}],"
			       "\"next_cursor\":\"01940000000070008000000000000003\"}"));
	assert_true(fake.has_before);
	assert_int_equal(fake.before.bytes[15], 9);
}

static void lists_ignore_nothing(void **state)
{
	static const char *const uris[] = {
		"/v1/attempts?state=lost", "/v1/attempts?job=1",	"/v1/attempts?cursor=1",
		"/v1/attempts?limit=500",  "/v1/races?state=unknown",	"/v1/races?cursor=zz",
		"/v1/races?limit=0",	   "/v1/providers?cursor=5A5A", "/v1/providers?name=a",
		"/v1/providers?limit=",
	};

	(void)state;
	for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
		if (get(uris[i]) != 400 || !answer_has("/problems/invalid-query"))
			fail_msg("%s: %s", uris[i], answer_body());
	assert_int_equal(fake.read_calls, 0);
}

static void a_database_that_is_away_is_503_everywhere(void **state)
{
	static const char *const uris[] = { "/v1/attempts", "/v1/races", "/v1/providers",
					    "/v1/providers/a", "/v1/jobs" };

	(void)state;
	fake.get = RC_RETRY;
	for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
		if (get(uris[i]) != 503 || strcmp(answer_header("Retry-After"), "1") != 0)
			fail_msg("%s: %s", uris[i], answer_body());
}

static void a_provider_is_shown_between_its_rows_members(void **state)
{
	(void)state;
	assert_int_equal(get("/v1/providers/print"), 200);
	assert_string_equal(answer_body(),
			    "{\"name\":\"print\",\"version\":4,\"url\":\"http://127.0.0.1/\","
			    "\"created_at\":\"2026-05-28T20:26:40.000000Z\",\"updated_at\":\"2026-"
			    "05-28T20:26:40.000001Z\"}");
	fake.get = RC_NOT_FOUND;
	assert_int_equal(get("/v1/providers/print"), 404);
	assert_int_equal(get("/v1/providers/Print"), 404);
}

static void providers_are_listed_by_name(void **state)
{
	(void)state;
	fake.more = true;
	assert_int_equal(get("/v1/providers?cursor=6162"), 200);
	assert_true(answer_has("{\"providers\":[{\"name\":\"print\""));
	assert_true(answer_has("],\"next_cursor\":\"7072696e74\"}"));
	assert_string_equal(fake.provider, "ab");
}

static void a_provider_is_put(void **state)
{
	const struct ask what = {
		.method = "PUT",
		.uri = "/v1/providers/print",
		.body = "{\"url\":\"https://example.org/print\",\"timeout_ms\":1234}"
	};

	(void)state;
	fake.provider_new = true;
	assert_int_equal(ask(&what), 201);
	assert_int_equal(fake.provider_timeout_ms, 1234);
	assert_string_equal(fake.provider, "print");
	fake.provider_new = false;
	assert_int_equal(ask(&what), 200);
	assert_true(answer_has("\"version\":4"));
}

static void a_definition_that_can_not_be_one_is_refused(void **state)
{
	static const struct {
		const char *uri;
		const char *body;
		const char *pointer;
	} rows[] = {
		{ "/v1/providers/print", "{}", "/url" },
		{ "/v1/providers/print", "[]", "" },
		{ "/v1/providers/print", "{\"url\":\"http://a/\",\"colour\":1}", "/colour" },
		{ "/v1/providers/Print", "{\"url\":\"http://a/\"}", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ask what = { .method = "PUT",
					  .uri = rows[i].uri,
					  .body = rows[i].body };
		char member[64];

		snprintf(member, sizeof member, "\"errors\":[{\"pointer\":\"%s\",",
			 rows[i].pointer);
		if (ask(&what) != 422 || !answer_has(member) ||
		    !answer_has("/problems/invalid-provider"))
			fail_msg("%s %s: %s", rows[i].uri, rows[i].body, answer_body());
	}
	assert_int_equal(fake.write_calls, 0);
}

static void a_definition_has_64_kib_at_most(void **state)
{
	static char body[PROVIDER_MAX_BYTES + 2];
	const struct ask what = { .method = "PUT", .uri = "/v1/providers/print", .body = body };

	(void)state;
	memset(body, ' ', PROVIDER_MAX_BYTES + 1);
	memcpy(body, "{\"url\":\"http://a/\"}", 19);
	assert_int_equal(ask(&what), 422);
	body[PROVIDER_MAX_BYTES] = '\0';
	assert_int_equal(ask(&what), 200);
}

static void a_provider_is_deleted_unless_it_is_in_use(void **state)
{
	static const struct {
		enum rc rc;
		int status;
		const char *type;
	} rows[] = {
		{ RC_OK, 204, NULL },
		{ RC_NOT_FOUND, 404, "not-found" },
		{ RC_CONFLICT, 409, "provider-in-use" },
		{ RC_RETRY, 503, "unavailable" },
	};
	const struct ask what = { .method = "DELETE", .uri = "/v1/providers/print" };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake.get = rows[i].rc;
		if (ask(&what) != rows[i].status || (rows[i].type && !answer_has(rows[i].type)))
			fail_msg("row %zu: %s", i, answer_body());
		if (rows[i].status == 204)
			assert_string_equal(answer_body(), "");
	}
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(attempts_are_listed_with_their_job),
		T(races_are_listed),
		T(lists_ignore_nothing),
		T(a_database_that_is_away_is_503_everywhere),
		T(a_provider_is_shown_between_its_rows_members),
		T(providers_are_listed_by_name),
		T(a_provider_is_put),
		T(a_definition_that_can_not_be_one_is_refused),
		T(a_definition_has_64_kib_at_most),
		T(a_provider_is_deleted_unless_it_is_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
