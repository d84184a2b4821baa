/* test_contracts.c: the contracts, certifications, and the list of certificates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/contract.h"
#include "support/ask.h"
#include "support/fake_store.h"

#define SUMMARY "/v1/contracts/summary"
#define SMALLEST "{\"routes\":[{\"provider\":\"a\"}]}"
#define ROWS(table) (sizeof(table) / sizeof(table)[0])

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

static int put(const char *uri, const char *body)
{
	const struct ask what = { .method = "PUT", .uri = uri, .body = body };

	return ask(&what);
}

static int certify(const char *body)
{
	const struct ask what = { .method = "POST", .uri = SUMMARY "/certify", .body = body };

	return ask(&what);
}

static void a_contract_is_shown_between_its_rows_members_with_its_digits(void **state)
{
	(void)state;
	assert_int_equal(get(SUMMARY), 200);
	assert_string_equal(
		answer_body(),
		"{\"name\":\"summary\",\"version\":4,\"side_effects\":true,\"routes\":[{"
		"\"provider\":\"a\"}],\"checks\":[{\"min\":1.00}],\"created_at\":\"2026-05-28T20:"
		"26:"
		"40.000000Z\",\"updated_at\":\"2026-05-28T20:26:40.000001Z\"}");
	fake.get = RC_NOT_FOUND;
	assert_int_equal(get(SUMMARY), 404);
	assert_int_equal(get("/v1/contracts/Summary"), 404);
	fake.get = RC_RETRY;
	assert_int_equal(get(SUMMARY), 503);
}

static void contracts_are_listed_by_name(void **state)
{
	(void)state;
	fake.more = true;
	assert_int_equal(get("/v1/contracts?cursor=6162&limit=7"), 200);
	assert_true(answer_has("{\"contracts\":[{\"name\":\"summary\",\"version\":4,"));
	assert_true(answer_has("],\"next_cursor\":\"73756d6d617279\"}"));
	assert_string_equal(fake.contract, "ab");
	assert_int_equal(fake.limit, 7);
	fake.more = false;
	assert_int_equal(get("/v1/contracts"), 200);
	assert_true(answer_has("],\"next_cursor\":null}"));
	assert_string_equal(fake.contract, "");
}

static void a_contract_is_put(void **state)
{
	(void)state;
	fake.contract_new = true;
	assert_int_equal(put(SUMMARY, SMALLEST), 201);
	assert_true(answer_has("{\"name\":\"summary\",\"version\":4,"));
	assert_string_equal(fake.contract, "summary");
	assert_int_equal(fake.contract_routes, 1);
	fake.contract_new = false;
	assert_int_equal(put(SUMMARY, " " SMALLEST "\n"), 200);
	fake.get = RC_RETRY;
	assert_int_equal(put(SUMMARY, SMALLEST), 503);
}

static void a_definition_that_can_not_be_one_is_refused_with_pointers(void **state)
{
	static const struct {
		const char *uri;
		const char *body;
		const char *pointer;
	} rows[] = {
		{ SUMMARY, "{}", "/routes" },
		{ SUMMARY, "[]", "" },
		{ SUMMARY, "{\"routes\":[{\"provider\":\"a\"}],\"colour\":1}", "/colour" },
		{ SUMMARY, "{\"routes\":[{\"provider\":\"A\"}]}", "/routes/0/provider" },
		{ SUMMARY,
		  "{\"routes\":[{\"provider\":\"a\"}],\"result_schema\":{\"typo\":\"object\"}}",
		  "/result_schema/typo" },
		{ "/v1/contracts/Summary", SMALLEST, "" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char member[64];

		snprintf(member, sizeof member, "\"errors\":[{\"pointer\":\"%s\",",
			 rows[i].pointer);
		if (put(rows[i].uri, rows[i].body) != 422 || !answer_has(member) ||
		    !answer_has("/problems/invalid-contract"))
			fail_msg("%s %s: %s", rows[i].uri, rows[i].body, answer_body());
	}
	assert_int_equal(put(SUMMARY, "{\"routes\":[{\"provider\":\"a\"}],}"), 400);
	assert_true(answer_has("/problems/invalid-json"));
	assert_true(answer_has("\"offset\":29"));
	assert_int_equal(fake.write_calls, 0);
}

static void a_route_to_no_provider_is_named(void **state)
{
	(void)state;
	fake.get = RC_NOT_FOUND;
	fake.unknown_route = 3;
	assert_int_equal(put(SUMMARY, SMALLEST), 422);
	assert_true(answer_has("/problems/invalid-contract"));
	assert_true(answer_has("\"errors\":[{\"pointer\":\"/routes/3/provider\","));
	assert_true(answer_has("The definition has 1 flaw."));
}

static void a_definition_has_a_mebibyte_at_most(void **state)
{
	static char body[CONTRACT_MAX_BYTES + 2];

	(void)state;
	memset(body, ' ', CONTRACT_MAX_BYTES + 1);
	memcpy(body, SMALLEST, strlen(SMALLEST));
	assert_int_equal(put(SUMMARY, body), 422);
	assert_true(answer_has("/problems/invalid-contract"));
	body[CONTRACT_MAX_BYTES] = '\0';
	assert_int_equal(put(SUMMARY, body), 200);
}

static void a_contract_is_deleted(void **state)
{
	static const struct {
		enum rc rc;
		int status;
	} rows[] = { { RC_OK, 204 }, { RC_NOT_FOUND, 404 }, { RC_RETRY, 503 } };
	const struct ask what = { .method = "DELETE", .uri = SUMMARY };
	const struct ask no_name = { .method = "DELETE", .uri = "/v1/contracts/Summary" };

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		fake.get = rows[i].rc;
		if (ask(&what) != rows[i].status)
			fail_msg("row %zu: %s", i, answer_body());
		if (rows[i].status == 204)
			assert_string_equal(answer_body(), "");
		assert_string_equal(fake.contract, "summary");
	}
	fake.get = RC_OK;
	assert_int_equal(ask(&no_name), 404);
}

static void a_certification_is_asked_for_of_every_route_or_of_those_named(void **state)
{
	static const struct {
		const char *body;
		const char *routes; /* "": every one */
		bool side_effects;
		const char *want;
	} rows[] = {
		{ NULL, "", false, "[\"a\",\"b\"]" },
		{ "{}", "", false, "[\"a\",\"b\"]" },
		{ "{\"routes\":null,\"side_effects\":null}", "", false, "[\"a\",\"b\"]" },
		{ "{\"side_effects\":false}", "", false, "[\"a\",\"b\"]" },
		{ "{\"routes\":[\"b\"],\"side_effects\":true}", "b", true, "[\"b\"]" },
		{ "{\"routes\":[\"b\",\"x-1\"]}", "b,x-1", false, "[\"b\",\"x-1\"]" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char want[128];

		fake_store_reset();
		fake.role = ROLE_OPERATOR;
		snprintf(want, sizeof want,
			 "{\"contract\":\"summary\",\"version\":4,\"routes\":%s}", rows[i].want);
		if (certify(rows[i].body) != 202 || strcmp(answer_body(), want) != 0)
			fail_msg("row %zu: %s", i, answer_body());
		if (strcmp(fake.order_routes, rows[i].routes) != 0 ||
		    fake.order.side_effects != rows[i].side_effects ||
		    (fake.order.routes == NULL) != (rows[i].routes[0] == '\0'))
			fail_msg("row %zu: another order", i);
		assert_string_equal(fake.contract, "summary");
	}
}

static void what_is_wrong_in_an_order_is_named(void **state)
{
	static const struct {
		const char *body;
		const char *pointer;
	} rows[] = {
		{ "{\"routes\":[]}", "/routes" },
		{ "{\"routes\":\"b\"}", "/routes" },
		{ "{\"routes\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\","
		  "\"11\","
		  "\"12\",\"13\",\"14\",\"15\",\"16\",\"17\"]}",
		  "/routes" },
		{ "{\"routes\":[\"b\",7]}", "/routes/1" },
		{ "{\"routes\":[\"B\"]}", "/routes/0" },
		{ "{\"routes\":[\"b\",\"c\",\"b\"]}", "/routes/2" },
		{ "{\"routes\":[\"b\\u0000\"]}", "/routes/0" },
		{ "{\"side_effects\":\"true\"}", "/side_effects" },
		{ "{\"side_effects\":1}", "/side_effects" },
		{ "{\"rounds\":1}", "/rounds" },
		{ "{\"Routes\":[\"b\"]}", "/Routes" },
		{ "[]", "" },
		{ "null", "" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char member[64];

		snprintf(member, sizeof member, "\"errors\":[{\"pointer\":\"%s\",",
			 rows[i].pointer);
		if (certify(rows[i].body) != 422 || !answer_has(member) ||
		    !answer_has("/problems/invalid-request") || !answer_has("has 1 flaw."))
			fail_msg("%s: %s", rows[i].body, answer_body());
	}
	assert_int_equal(fake.write_calls, 0);
}

static void every_end_of_an_order_has_its_answer(void **state)
{
	static const struct {
		enum certify_asked asked;
		int status;
		const char *type;
	} rows[] = {
		{ CERTIFY_NO_SUCH_CONTRACT, 404, "not-found" },
		{ CERTIFY_NO_SUCH_ROUTE, 422, "invalid-request" },
		{ CERTIFY_NO_FIXTURES, 409, "no-fixtures" },
		{ CERTIFY_SIDE_EFFECTS, 409, "side-effects" },
		{ CERTIFY_NOT_STORED, 503, "unavailable" },
	};
	const struct ask no_name = { .method = "POST", .uri = "/v1/contracts/Summary/certify" };

	(void)state;
	fake.unknown_route = 1;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char member[64];

		fake.asked = rows[i].asked;
		snprintf(member, sizeof member, "\"type\":\"/problems/%s\"", rows[i].type);
		if (certify("{\"routes\":[\"b\",\"c\"]}") != rows[i].status || !answer_has(member))
			fail_msg("%s: %s", rows[i].type, answer_body());
		if (rows[i].asked == CERTIFY_NO_SUCH_ROUTE)
			assert_true(answer_has("\"errors\":[{\"pointer\":\"/routes/1\","));
	}
	fake.asked = CERTIFY_ASKED;
	assert_int_equal(ask(&no_name), 404);
}

static void certificates_are_listed_with_their_verdict_and_what_it_is_worth_now(void **state)
{
	static const struct {
		enum standing standing;
		const char *want;
	} rows[] = {
		{ STANDING_VALID, "\"passed\":true,\"valid\":true,\"why\":null," },
		{ STANDING_FAILED, "\"passed\":false,\"valid\":false,\"why\":\"failed\"," },
		{ STANDING_SUBJECT_CHANGED,
		  "\"passed\":true,\"valid\":false,\"why\":\"subject_changed\"," },
		{ STANDING_EXPIRED, "\"passed\":true,\"valid\":false,\"why\":\"expired\"," },
		{ STANDING_DISABLED, "\"passed\":true,\"valid\":false,\"why\":\"disabled\"," },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		fake.standing = rows[i].standing;
		if (get("/v1/certificates") != 200 || !answer_has(rows[i].want))
			fail_msg("row %zu: %s", i, answer_body());
	}
	assert_true(answer_has("{\"certificates\":[{\"id\":\"" FAKE_CERTIFICATE
			       "\",\"contract\":\"summary\",\"contract_version\":4,\"provider\":"
			       "\"b\",\"passed\":true,"));
	assert_true(answer_has(
		"\"rounds\":3,\"issued_at\":\"2026-05-28T20:26:40.000000Z\",\"expires_at\":\"2026-"
		"06-"
		"04T20:26:40.000000Z\",\"report\":[{\"round\":1,\"fixture\":\"f\",\"passed\":true,"
		"\"why\":null}]}],\"next_cursor\":null}"));
}

static void certificates_are_looked_for_by_contract_provider_and_worth(void **state)
{
	(void)state;
	fake.more = true;
	assert_int_equal(get("/v1/certificates?contract=summary&provider=b&valid=false&limit=3&"
			     "cursor=01940000000070008000000000000009"),
			 200);
	assert_true(answer_has("\"next_cursor\":\"01940000000070008000000000000004\"}"));
	assert_string_equal(fake.contract, "summary");
	assert_string_equal(fake.provider, "b");
	assert_true(fake.certificates.has_valid);
	assert_false(fake.certificates.valid);
	assert_int_equal(fake.limit, 3);
	assert_true(fake.has_before);
	assert_int_equal(fake.before.bytes[15], 9);
	assert_int_equal(get("/v1/certificates?valid=true"), 200);
	assert_true(fake.certificates.valid);
	assert_string_equal(fake.contract, "");
	assert_int_equal(get("/v1/certificates"), 200);
	assert_false(fake.certificates.has_valid);
	assert_int_equal(fake.limit, 50);
	fake.get = RC_RETRY;
	assert_int_equal(get("/v1/certificates"), 503);
}

static void these_lists_ignore_nothing(void **state)
{
	static const char *const uris[] = {
		"/v1/contracts?cursor=5A5A",   "/v1/contracts?name=a",
		"/v1/contracts?limit=201",     "/v1/certificates?contract=No+name",
		"/v1/certificates?provider=B", "/v1/certificates?valid=yes",
		"/v1/certificates?valid=",     "/v1/certificates?valid=true&valid=true",
		"/v1/certificates?cursor=1",   "/v1/certificates?limit=0",
		"/v1/certificates?why=failed",
	};

	(void)state;
	for (size_t i = 0; i < ROWS(uris); i++)
		if (get(uris[i]) != 400 || !answer_has("/problems/invalid-query"))
			fail_msg("%s: %s", uris[i], answer_body());
	assert_int_equal(fake.read_calls, 0);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_contract_is_shown_between_its_rows_members_with_its_digits),
		T(contracts_are_listed_by_name),
		T(a_contract_is_put),
		T(a_definition_that_can_not_be_one_is_refused_with_pointers),
		T(a_route_to_no_provider_is_named),
		T(a_definition_has_a_mebibyte_at_most),
		T(a_contract_is_deleted),
		T(a_certification_is_asked_for_of_every_route_or_of_those_named),
		T(what_is_wrong_in_an_order_is_named),
		T(every_end_of_an_order_has_its_answer),
		T(certificates_are_listed_with_their_verdict_and_what_it_is_worth_now),
		T(certificates_are_looked_for_by_contract_provider_and_worth),
		T(these_lists_ignore_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
