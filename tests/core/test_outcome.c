#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/outcome.h"

/* A whole answer of a status, with a body that has a length, unless the row says otherwise. */
struct row {
	const char *what;
	struct seen seen;
	const char *members; /* of the provider's row, each with ", " in front */
	enum outcome_kind kind;
	enum reason reason;
	const char *result; /* NULL: none */
	bool effect_done;
};

static void make_def(const char *members, struct provider_def *def_out)
{
	char row[2048];
	struct flaws flaws;
	struct json_doc *doc;
	struct json_error error;

	snprintf(row, sizeof row, "{\"url\": \"http://p/\"%s}", members ? members : "");
	flaws_init(&flaws);
	if (json_parse(row, strlen(row), 64, &doc, &error) != RC_OK ||
	    provider_def_read(json_root(doc), def_out, &flaws) != RC_OK)
		fail_msg("bad row: %s", row);
	json_free(doc);
}

static void check(const struct row *row)
{
	struct provider_def def;
	struct outcome outcome;
	struct seen seen = row->seen;

	seen.detail = seen.detail ? seen.detail : "";
	if (seen.body && seen.body_len == 0)
		seen.body_len = strlen(seen.body);
	if (!seen.body)
		seen.body = "";
	make_def(row->members, &def);
	assert_int_equal(outcome_of(&seen, &def, NULL, &outcome), RC_OK);
	if (outcome.kind != row->kind || outcome.reason != row->reason ||
	    outcome.effect_done != row->effect_done)
		fail_msg("%s: kind %d reason %s effect %d: %s", row->what, (int)outcome.kind,
			 outcome.reason ? reason_name(outcome.reason) : "none", outcome.effect_done,
			 outcome.detail.bytes);
	const char *result = row->result ? row->result : "";
	if (outcome.result.len != strlen(result) ||
	    memcmp(outcome.result.bytes ? outcome.result.bytes : "", result, outcome.result.len) !=
		    0)
		fail_msg("%s: result %s", row->what, outcome.result.bytes);
	if (outcome.detail.len == 0 || outcome.detail.len > 1000)
		fail_msg("%s: %zu bytes of detail", row->what, outcome.detail.len);
	outcome_release(&outcome);
	provider_def_release(&def);
}

#define CHECK_ALL(rows)                                                                            \
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++)                                \
	check(&(rows)[i])

#define END(e, p)                                                                                  \
	{                                                                                          \
		.end = (e), .phase = (p), .retry_after_ms = -1                                     \
	}
#define ANSWER(s)                                                                                  \
	.end = SEEN_WHOLE, .phase = PHASE_ANSWER_BEGUN, .http_status = (s), .retry_after_ms = -1
#define STATUS(s)                                                                                  \
	{                                                                                          \
		ANSWER(s), .body = "{\"done\": 1}"                                                 \
	}
#define DONE "{\"done\": 1}"
#define NEVER OUTCOME_RETRY, REASON_NEVER_SENT, NULL, false
#define OPEN(r) OUTCOME_UNKNOWN, (r), NULL, false
#define NO(r) OUTCOME_FAILED, (r), NULL, false
#define LATER OUTCOME_RETRY, REASON_RETRY_LATER, NULL, false
#define BROKEN OUTCOME_FAILED, REASON_CONTRACT_VIOLATION, NULL, true
#define RESULT(text) OUTCOME_RESULT, REASON_NONE, (text), false

static void c01_what_was_never_sent_may_be_tried_again(void **state)
{
	static const struct row rows[] = {
		{ "not resolved", END(SEEN_NOT_RESOLVED, PHASE_NOT_SENT), NULL, NEVER },
		{ "refused", END(SEEN_NOT_CONNECTED, PHASE_NOT_SENT), NULL, NEVER },
		{ "connect time-out", END(SEEN_CONNECT_TIMEOUT, PHASE_NOT_SENT), NULL, NEVER },
		{ "TLS", END(SEEN_TLS_FAILED, PHASE_NOT_SENT), NULL, NEVER },
		{ "proxy", END(SEEN_PROXY_FAILED, PHASE_NOT_SENT), NULL, NEVER },
		{ "no secret", END(SEEN_NOT_EQUIPPED, PHASE_NOT_SENT), NULL, NEVER },
		{ "no request could be made", END(SEEN_NOT_BUILT, PHASE_NOT_SENT), NULL,
		  NO(REASON_TEMPLATE) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void c02_what_broke_after_sending_is_open(void **state)
{
	static const struct row rows[] = {
		{ "time-out", END(SEEN_TIMEOUT, PHASE_SENT), NULL, OPEN(REASON_TIMEOUT) },
		{ "deadline",
		  { .end = SEEN_TIMEOUT,
		    .phase = PHASE_SENT,
		    .deadline = true,
		    .retry_after_ms = -1 },
		  NULL,
		  OPEN(REASON_DEADLINE) },
		{ "reset", END(SEEN_RESET, PHASE_SENT_IN_PART), NULL,
		  OPEN(REASON_CONNECTION_RESET) },
		{ "empty reply", END(SEEN_EMPTY_REPLY, PHASE_SENT), NULL, OPEN(REASON_EMPTY) },
		{ "cut", END(SEEN_TRUNCATED, PHASE_ANSWER_BEGUN), NULL, OPEN(REASON_TRUNCATED) },
		{ "malformed", END(SEEN_MALFORMED, PHASE_ANSWER_BEGUN), NULL,
		  OPEN(REASON_MALFORMED) },
		{ "encoding", END(SEEN_BAD_ENCODING, PHASE_ANSWER_BEGUN), NULL,
		  OPEN(REASON_MALFORMED) },
		{ "shutdown", END(SEEN_SHUTDOWN, PHASE_SENT), NULL, OPEN(REASON_SHUTDOWN) },
		{ "shutdown before sending", END(SEEN_SHUTDOWN, PHASE_NOT_SENT), NULL,
		  OPEN(REASON_SHUTDOWN) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void c03_never_sent_is_believed_only_where_the_phase_agrees(void **state)
{
	static const struct row rows[] = {
		{ "time-out of unknown phase", END(SEEN_TIMEOUT, PHASE_NONE), NULL,
		  OPEN(REASON_TIMEOUT) },
		{ "time-out, in part", END(SEEN_TIMEOUT, PHASE_SENT_IN_PART), NULL,
		  OPEN(REASON_TIMEOUT) },
		{ "time-out, proven unsent", END(SEEN_TIMEOUT, PHASE_NOT_SENT), NULL, NEVER },
		{ "connect time-out, yet sent", END(SEEN_CONNECT_TIMEOUT, PHASE_SENT), NULL,
		  OPEN(REASON_CONNECTION_RESET) },
		{ "refused, yet in part", END(SEEN_NOT_CONNECTED, PHASE_SENT_IN_PART), NULL,
		  OPEN(REASON_CONNECTION_RESET) },
	};

	(void)state;
	CHECK_ALL(rows);
}

#define BESIDE(e)                                                                                  \
	{                                                                                          \
		.end = (e), .http_status = 200, .phase = PHASE_ANSWER_BEGUN, .body = "{}"          \
	}

static void c04_a_status_beside_a_failed_transfer_decides_nothing(void **state)
{
	static const char *const row =
		", \"outcomes\": {\"200\": \"succeeded\", \"empty\": \"succeeded\"}";
	const struct row rows[] = {
		{ "time-out", BESIDE(SEEN_TIMEOUT), row, OPEN(REASON_TIMEOUT) },
		{ "cut", BESIDE(SEEN_TRUNCATED), row, OPEN(REASON_TRUNCATED) },
		{ "reset", BESIDE(SEEN_RESET), row, OPEN(REASON_CONNECTION_RESET) },
		{ "encoding", BESIDE(SEEN_BAD_ENCODING), row, OPEN(REASON_MALFORMED) },
		{ "shutdown", BESIDE(SEEN_SHUTDOWN), row, OPEN(REASON_SHUTDOWN) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void c05_an_empty_reply_is_open_although_all_was_sent(void **state)
{
	static const struct row rows[] = {
		{ "empty reply", END(SEEN_EMPTY_REPLY, PHASE_SENT), ", \"side_effects\": false",
		  OPEN(REASON_EMPTY) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void c06_each_status_means_what_the_table_says(void **state)
{
	static const struct row rows[] = {
		{ "200", STATUS(200), NULL, RESULT(DONE) },
		{ "201", STATUS(201), NULL, RESULT(DONE) },
		{ "202", STATUS(202), NULL, RESULT(DONE) },
		{ "299", STATUS(299), NULL, RESULT(DONE) },
		{ "400", STATUS(400), NULL, NO(REASON_REFUSED) },
		{ "401", STATUS(401), NULL, NO(REASON_REFUSED) },
		{ "404", STATUS(404), NULL, NO(REASON_REFUSED) },
		{ "409", STATUS(409), NULL, NO(REASON_REFUSED) },
		{ "417", STATUS(417), NULL, NO(REASON_REFUSED) },
		{ "422", STATUS(422), NULL, NO(REASON_REFUSED) },
		{ "499", STATUS(499), NULL, NO(REASON_REFUSED) },
		{ "408", STATUS(408), NULL, OPEN(REASON_GATEWAY) },
		{ "425", STATUS(425), NULL, LATER },
		{ "429", STATUS(429), NULL, LATER },
		{ "500", STATUS(500), NULL, OPEN(REASON_GATEWAY) },
		{ "502", STATUS(502), NULL, OPEN(REASON_GATEWAY) },
		{ "503", STATUS(503), NULL, OPEN(REASON_GATEWAY) },
		{ "504", STATUS(504), NULL, OPEN(REASON_GATEWAY) },
		{ "506", STATUS(506), NULL, OPEN(REASON_GATEWAY) },
		{ "599", STATUS(599), NULL, OPEN(REASON_GATEWAY) },
		{ "501", STATUS(501), NULL, NO(REASON_REFUSED) },
		{ "505", STATUS(505), NULL, NO(REASON_REFUSED) },
		{ "600", STATUS(600), NULL, OPEN(REASON_MALFORMED) },
		{ "999", STATUS(999), NULL, OPEN(REASON_MALFORMED) },
		{ "101", STATUS(101), NULL, OPEN(REASON_MALFORMED) },
		{ "0", STATUS(0), NULL, OPEN(REASON_MALFORMED) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void c07_retry_after_comes_along_only_with_a_retry_or_accepted_work(void **state)
{
	static const struct {
		uint32_t status;
		int64_t told_ms;
		enum outcome_kind kind;
		int64_t want_ms;
	} rows[] = {
		{ 429, 2000, OUTCOME_RETRY, 2000 },    { 429, -1, OUTCOME_RETRY, -1 },
		{ 425, 0, OUTCOME_RETRY, 0 },	       { 503, 0, OUTCOME_RETRY, 0 },
		{ 503, 5000, OUTCOME_RETRY, 5000 },    { 503, -1, OUTCOME_UNKNOWN, -1 },
		{ 500, 5000, OUTCOME_UNKNOWN, -1 },    { 502, 5000, OUTCOME_UNKNOWN, -1 },
		{ 404, 5000, OUTCOME_FAILED, -1 },     { 200, 5000, OUTCOME_RESULT, -1 },
		{ 202, 5000, OUTCOME_ACCEPTED, 5000 }, { 202, -1, OUTCOME_ACCEPTED, -1 },
	};
	struct provider_def def;

	(void)state;
	make_def(", \"accepted\": {}", &def);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen seen = { ANSWER(rows[i].status), .body = "1", .body_len = 1,
				     .detail = "" };
		struct outcome outcome;

		seen.retry_after_ms = rows[i].told_ms;
		assert_int_equal(outcome_of(&seen, &def, NULL, &outcome), RC_OK);
		if (outcome.kind != rows[i].kind || outcome.retry_after_ms != rows[i].want_ms)
			fail_msg("row %zu: kind %d, %lld ms", i, (int)outcome.kind,
				 (long long)outcome.retry_after_ms);
		assert_int_equal(outcome.http_status, rows[i].status);
		assert_int_equal(outcome.phase, PHASE_ANSWER_BEGUN);
		outcome_release(&outcome);
	}
	provider_def_release(&def);
}

static void c08_redirects_are_open_or_failed_and_never_followed(void **state)
{
	static const struct row rows[] = {
		{ "301", STATUS(301), NULL, OPEN(REASON_REDIRECT) },
		{ "302", STATUS(302), NULL, OPEN(REASON_REDIRECT) },
		{ "303", STATUS(303), NULL, OPEN(REASON_REDIRECT) },
		{ "307", STATUS(307), NULL, NO(REASON_REDIRECT) },
		{ "308", STATUS(308), NULL, NO(REASON_REDIRECT) },
		{ "300", STATUS(300), NULL, NO(REASON_REDIRECT) },
		{ "304", STATUS(304), NULL, NO(REASON_REDIRECT) },
		{ "399", STATUS(399), NULL, NO(REASON_REDIRECT) },
	};

	(void)state;
	CHECK_ALL(rows);
}

#define EMPTY(s)                                                                                   \
	{                                                                                          \
		ANSWER(s)                                                                          \
	}
#define MEANS(what) ", \"outcomes\": {\"empty\": \"" what "\"}"

static void c09_a_success_without_a_body_is_open_unless_the_row_says_more(void **state)
{
	static const struct row rows[] = {
		{ "200", EMPTY(200), NULL, OPEN(REASON_EMPTY) },
		{ "204", EMPTY(204), NULL, OPEN(REASON_EMPTY) },
		{ "202", EMPTY(202), ", \"side_effects\": false", OPEN(REASON_EMPTY) },
		{ "named a success", EMPTY(200), MEANS("succeeded"), RESULT("null") },
		{ "204 named a success", EMPTY(204), MEANS("succeeded"), RESULT("null") },
		{ "named failed", EMPTY(200), MEANS("failed"), NO(REASON_PROVIDER_FAILED) },
		{ "named retry", EMPTY(200), MEANS("retry"), LATER },
		{ "named unknown", EMPTY(200), MEANS("unknown"), OPEN(REASON_EMPTY) },
		{ "a 500 isn't meant", EMPTY(500), MEANS("succeeded"), OPEN(REASON_GATEWAY) },
		{ "200 by name", EMPTY(200), ", \"outcomes\": {\"200\": \"succeeded\"}",
		  OPEN(REASON_EMPTY) },
		{ "204 by name can mean nothing else", EMPTY(204),
		  ", \"outcomes\": {\"204\": \"succeeded\"}", RESULT("null") },
		{ "204 by name, empty says no", EMPTY(204),
		  ", \"outcomes\": {\"204\": \"succeeded\", \"empty\": \"unknown\"}",
		  OPEN(REASON_EMPTY) },
		{ "nothing, ended by a close",
		  { ANSWER(200), .close_delimited = true },
		  MEANS("succeeded"),
		  OPEN(REASON_TRUNCATED) },
		{ "204 needs no length",
		  { ANSWER(204), .close_delimited = true },
		  MEANS("succeeded"),
		  RESULT("null") },
		{ "as text", EMPTY(200), ", \"result\": {\"as\": \"text\"}", OPEN(REASON_EMPTY) },
	};

	(void)state;
	CHECK_ALL(rows);
}

#define CLOSED(text)                                                                               \
	{                                                                                          \
		ANSWER(200), .body = (text), .close_delimited = true                               \
	}
#define ENCODED(text)                                                                              \
	{                                                                                          \
		ANSWER(200), .body = (text), .encoded = true                                       \
	}

static void c09_a_body_without_a_proven_end_must_prove_itself(void **state)
{
	static const struct row rows[] = {
		{ "whole", CLOSED("{\"done\": 1}"), NULL, RESULT(DONE) },
		{ "cut", CLOSED("{\"done\": "), NULL, OPEN(REASON_TRUNCATED) },
		{ "not JSON at all", CLOSED("oops"), NULL, OPEN(REASON_TRUNCATED) },
		{ "a number may go on", CLOSED("12"), NULL, OPEN(REASON_TRUNCATED) },
		{ "a number that ended", CLOSED("12\n"), NULL, RESULT("12") },
		{ "text", CLOSED("hello"), ", \"result\": {\"as\": \"text\"}",
		  OPEN(REASON_TRUNCATED) },
		{ "text inside JSON", CLOSED("{\"t\": \"x\"}"),
		  ", \"result\": {\"pointer\": \"/t\", \"as\": \"text\"}", RESULT("\"x\"") },
		{ "whole JSON without the pointer", CLOSED("{}"),
		  ", \"result\": {\"pointer\": \"/t\"}", BROKEN },
		{ "encoded and whole", ENCODED("[1]"), NULL, RESULT("[1]") },
		{ "encoded and cut", ENCODED("[1"), NULL, OPEN(REASON_TRUNCATED) },
		{ "encoded text", ENCODED("hello"), ", \"result\": {\"as\": \"text\"}",
		  OPEN(REASON_TRUNCATED) },
	};

	(void)state;
	CHECK_ALL(rows);
}

#define BODY(text)                                                                                 \
	{                                                                                          \
		ANSWER(200), .body = (text)                                                        \
	}
#define AT(pointer, as) ", \"result\": {\"pointer\": \"" pointer "\", \"as\": \"" as "\"}"

static void the_result_is_kept_byte_for_byte(void **state)
{
	static const struct row rows[] = {
		{ "outer white space goes", BODY(" \t\r\n{ \"n\" : 1.10e+02 }\n"), NULL,
		  RESULT("{ \"n\" : 1.10e+02 }") },
		{ "digits stay", BODY("9007199254740993"), NULL, RESULT("9007199254740993") },
		{ "escapes stay", BODY("\"\\u0041\\/\""), NULL, RESULT("\"\\u0041\\/\"") },
		{ "null", BODY("null"), NULL, RESULT("null") },
		{ "value at a pointer", BODY("{\"a\": [0, { \"b\":1.0 }]}"), AT("/a/1", "value"),
		  RESULT("{ \"b\":1.0 }") },
		{ "text at a pointer", BODY("{\"a\": \"x\\u0041\"}"), AT("/a", "text"),
		  RESULT("\"x\\u0041\"") },
		{ "json in a string", BODY("{\"a\": \" {\\\"n\\\": 1.0}\\n\"}"), AT("/a", "json"),
		  RESULT("{\"n\": 1.0}") },
		{ "json, the body a string", BODY("\"[1]\""), AT("", "json"), RESULT("[1]") },
		{ "the body as text", BODY("a \"b\"\n"), AT("", "text"),
		  RESULT("\"a \\\"b\\\"\\n\"") },
		{ "200 by name", BODY("1"), ", \"outcomes\": {\"200\": \"succeeded\"}",
		  RESULT("1") },
		{ "409 by name", STATUS(409), ", \"outcomes\": {\"409\": \"succeeded\"}",
		  RESULT(DONE) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void what_breaks_the_contract_is_failed_and_may_have_had_its_effect(void **state)
{
	static const struct row rows[] = {
		{ "not JSON", BODY("oops"), NULL, BROKEN },
		{ "cut, but whole by HTTP", BODY("{\"a\":"), NULL, BROKEN },
		{ "two texts", BODY("{} {}"), NULL, BROKEN },
		{ "a member twice", BODY("{\"a\":1,\"a\":2}"), NULL, BROKEN },
		{ "NaN", BODY("NaN"), NULL, BROKEN },
		{ "a fence", BODY("```json\n{}\n```"), NULL, BROKEN },
		{ "white space alone", BODY(" \n"), NULL, BROKEN },
		{ "no such pointer", BODY("{\"b\":1}"), AT("/a", "value"), BROKEN },
		{ "json of a number", BODY("{\"a\":1}"), AT("/a", "json"), BROKEN },
		{ "text of null", BODY("{\"a\":null}"), AT("/a", "text"), BROKEN },
		{ "json of prose", BODY("{\"a\":\"hi there\"}"), AT("/a", "json"), BROKEN },
		{ "json of two texts", BODY("{\"a\":\"1 2\"}"), AT("/a", "json"), BROKEN },
		{ "json of nothing", BODY("{\"a\":\"\"}"), AT("/a", "json"), BROKEN },
		{ "text that isn't UTF-8", BODY("a\xff"), AT("", "text"), BROKEN },
		{ "two lengths", { ANSWER(200), .body = "{}", .two_lengths = true }, NULL, BROKEN },
		{ "two lengths, empty",
		  { ANSWER(200), .two_lengths = true },
		  MEANS("succeeded"),
		  BROKEN },
		{ "too large",
		  { ANSWER(200), .body = "{}", .too_large = true },
		  NULL,
		  OUTCOME_FAILED,
		  REASON_TOO_LARGE,
		  NULL,
		  true },
		{ "too large without effects",
		  { ANSWER(200), .body = "{}", .too_large = true },
		  ", \"side_effects\": false",
		  NO(REASON_TOO_LARGE) },
		{ "not JSON, without effects", BODY("oops"), ", \"side_effects\": false",
		  NO(REASON_CONTRACT_VIOLATION) },
		{ "two lengths beside 500",
		  { ANSWER(500), .body = "{}", .two_lengths = true },
		  NULL,
		  OPEN(REASON_GATEWAY) },
		{ "too large beside 500",
		  { ANSWER(500), .body = "{}", .too_large = true },
		  NULL,
		  OPEN(REASON_GATEWAY) },
		{ "too large beside 404",
		  { ANSWER(404), .body = "{}", .too_large = true },
		  NULL,
		  NO(REASON_REFUSED) },
	};

	(void)state;
	CHECK_ALL(rows);
}

#define NAMED(status, what) ", \"outcomes\": {\"" status "\": \"" what "\"}"

static void the_providers_row_overrides_a_status(void **state)
{
	static const struct row rows[] = {
		{ "500 failed", STATUS(500), NAMED("500", "failed"), NO(REASON_PROVIDER_FAILED) },
		{ "500 retry", STATUS(500), NAMED("500", "retry"), LATER },
		{ "500 unknown", STATUS(500), NAMED("500", "unknown"), OPEN(REASON_GATEWAY) },
		{ "500 succeeded", STATUS(500), NAMED("500", "succeeded"), RESULT(DONE) },
		{ "another status isn't meant", STATUS(502), NAMED("500", "failed"),
		  OPEN(REASON_GATEWAY) },
		{ "404 retry", STATUS(404), NAMED("404", "retry"), LATER },
		{ "409 unknown", STATUS(409), NAMED("409", "unknown"), OPEN(REASON_GATEWAY) },
		{ "200 unknown", STATUS(200), NAMED("200", "unknown"), OPEN(REASON_GATEWAY) },
		{ "202 unknown", STATUS(202), NAMED("202", "unknown"), OPEN(REASON_GATEWAY) },
		{ "200 failed", STATUS(200), NAMED("200", "failed"), NO(REASON_PROVIDER_FAILED) },
		{ "429 failed", STATUS(429), NAMED("429", "failed"), NO(REASON_PROVIDER_FAILED) },
		{ "302 failed", STATUS(302), NAMED("302", "failed"), NO(REASON_PROVIDER_FAILED) },
		{ "503 failed, whatever Retry-After",
		  { ANSWER(503), .body = "1" },
		  NAMED("503", "failed"),
		  NO(REASON_PROVIDER_FAILED) },
		{ "a success by name must still hold",
		  { ANSWER(500), .body = "oops" },
		  NAMED("500", "succeeded"),
		  BROKEN },
		{ "and needs a body", EMPTY(500), NAMED("500", "succeeded"), OPEN(REASON_EMPTY) },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void the_detail_holds_no_payload_and_no_control_byte(void **state)
{
	static const char *const bodies[] = { "tiger-7", "{\"tiger-7\": 1, \"tiger-7\": 2}",
					      "{\"a\": \"tiger-7\"}" };
	struct provider_def def;

	(void)state;
	make_def(AT("/a", "json"), &def);
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		struct seen seen = { ANSWER(200), .body = bodies[i], .body_len = strlen(bodies[i]),
				     .detail = "" };
		struct outcome outcome;

		assert_int_equal(outcome_of(&seen, &def, NULL, &outcome), RC_OK);
		assert_null(strstr(outcome.detail.bytes, "tiger"));
		outcome_release(&outcome);
	}
	char words[3000];
	memset(words, 'w', sizeof words);
	memcpy(words, "a\r\nb\xff\x7f\xc3\xa9", 8);
	words[sizeof words - 1] = '\0';
	struct seen seen = {
		.end = SEEN_RESET, .phase = PHASE_SENT, .retry_after_ms = -1, .detail = words
	};
	struct outcome outcome;
	assert_int_equal(outcome_of(&seen, &def, NULL, &outcome), RC_OK);
	assert_non_null(strstr(outcome.detail.bytes, ": a??b??\xc3\xa9w"));
	assert_in_range(outcome.detail.len, 900, 1000);
	outcome_release(&outcome);
	provider_def_release(&def);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c01_what_was_never_sent_may_be_tried_again),
		cmocka_unit_test(c02_what_broke_after_sending_is_open),
		cmocka_unit_test(c03_never_sent_is_believed_only_where_the_phase_agrees),
		cmocka_unit_test(c04_a_status_beside_a_failed_transfer_decides_nothing),
		cmocka_unit_test(c05_an_empty_reply_is_open_although_all_was_sent),
		cmocka_unit_test(c06_each_status_means_what_the_table_says),
		cmocka_unit_test(c07_retry_after_comes_along_only_with_a_retry_or_accepted_work),
		cmocka_unit_test(c08_redirects_are_open_or_failed_and_never_followed),
		cmocka_unit_test(c09_a_success_without_a_body_is_open_unless_the_row_says_more),
		cmocka_unit_test(c09_a_body_without_a_proven_end_must_prove_itself),
		cmocka_unit_test(the_result_is_kept_byte_for_byte),
		cmocka_unit_test(what_breaks_the_contract_is_failed_and_may_have_had_its_effect),
		cmocka_unit_test(the_providers_row_overrides_a_status),
		cmocka_unit_test(the_detail_holds_no_payload_and_no_control_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
