#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/provider_def.h"

#define URL "\"url\": \"http://p.example/do\""

static enum rc read_row(const char *row, struct provider_def *def_out, struct flaws *flaws)
{
	struct json_doc *doc;
	struct json_error error;

	if (json_parse(row, strlen(row), 64, &doc, &error) != RC_OK)
		fail_msg("no JSON at %zu: %s: %s", error.offset, error.detail, row);
	enum rc rc = provider_def_read(json_root(doc), def_out, flaws);
	json_free(doc);
	return rc;
}

static void only_url_is_required_and_the_rest_has_its_defaults(void **state)
{
	struct provider_def def;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(read_row("{" URL "}", &def, &flaws), RC_OK);
	assert_string_equal(def.url, "http://p.example/do");
	assert_string_equal(def.method, "POST");
	assert_int_equal(def.headers_len, 0);
	assert_int_equal(def.connect_timeout_ms, 5000);
	assert_int_equal(def.timeout_ms, 30000);
	assert_int_equal(def.max_in_flight, 64);
	assert_int_equal(def.max_result_bytes, 1048576);
	assert_string_equal(def.key_header, "Idempotency-Key");
	assert_false(def.key_honoured);
	assert_true(def.side_effects);
	assert_int_equal(def.outcomes_len, 0);
	assert_int_equal(def.retry_base_ms, 1000);
	assert_int_equal(def.retry_max_ms, 300000);
	assert_string_equal(def.result_pointer, "");
	assert_int_equal(def.result_as, RESULT_AS_VALUE);
	assert_true(def.enabled);
	provider_def_release(&def);
}

/* The row, written out in full: what is read comes out again, and what came out is read the same.
 */
static void what_is_written_is_what_was_read(void **state)
{
	static const struct {
		const char *row, *want;
	} rows[] = {
		{ "{" URL "}", "{\"url\": \"http://p.example/do\", \"method\": \"POST\", "
			       "\"headers\": {}, \"connect_timeout_ms\": 5000,"
			       " \"timeout_ms\": 30000, \"max_in_flight\": 64, "
			       "\"max_result_bytes\": 1048576, \"idempotency\":"
			       " {\"header\": \"Idempotency-Key\", \"honoured\": false}, "
			       "\"side_effects\": true, \"outcomes\": {},"
			       " \"retry\": {\"base_ms\": 1000, \"max_ms\": 300000}, \"result\": "
			       "{\"pointer\": \"\", \"as\": \"value\"},"
			       " \"enabled\": true}" },
		{ "{\"enabled\":false,\"result\":{\"as\":\"json\",\"pointer\":\"/a~1b/"
		  "0\"},\"retry\":{\"max_ms\":2e0,"
		  "\"base_ms\":1.0},\"outcomes\":{\"empty\":\"succeeded\",\"500\":\"failed\","
		  "\"404\":\"retry\",\"599\":"
		  "\"unknown\"},\"side_effects\":false,\"idempotency\":{\"honoured\":true,"
		  "\"header\":\"X-K\"},"
		  "\"max_result_bytes\":67108864,\"max_in_flight\":1,\"timeout_ms\":86400000,"
		  "\"connect_timeout_ms\":1,"
		  "\"headers\":{\"Authorization\":\"Bearer ${env:K_1}\",\"X\":\"${file:/run/s "
		  "p}\\tb\\\"\\u00e9\",\"Y\":\"\"},"
		  "\"method\":\"PATCH\",\"url\":\"HTTPS://[::1]:65535/a%20b?c=d\"}",
		  "{\"url\": \"HTTPS://[::1]:65535/a%20b?c=d\", \"method\": \"PATCH\", "
		  "\"headers\": {\"Authorization\":"
		  " \"Bearer ${env:K_1}\", \"X\": \"${file:/run/s p}\\tb\\\"\xc3\xa9\", \"Y\": "
		  "\"\"}, \"connect_timeout_ms\": 1,"
		  " \"timeout_ms\": 86400000, \"max_in_flight\": 1, \"max_result_bytes\": "
		  "67108864, \"idempotency\":"
		  " {\"header\": \"X-K\", \"honoured\": true}, \"side_effects\": false, "
		  "\"outcomes\": {\"empty\":"
		  " \"succeeded\", \"500\": \"failed\", \"404\": \"retry\", \"599\": \"unknown\"}, "
		  "\"retry\": {\"base_ms\": 1,"
		  " \"max_ms\": 2}, \"result\": {\"pointer\": \"/a~1b/0\", \"as\": \"json\"}, "
		  "\"enabled\": false}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *row = rows[i].row;

		for (int round = 0; round < 2; round++) {
			struct provider_def def;
			struct flaws flaws;
			struct text out;

			flaws_init(&flaws);
			text_init(&out, 1 << 20);
			if (read_row(row, &def, &flaws) != RC_OK)
				fail_msg("%s %s", flaws.list[0].pointer, flaws.list[0].detail);
			provider_def_write(&def, &out);
			assert_string_equal(out.bytes, rows[i].want);
			row = rows[i].want;
			provider_def_release(&def);
			text_release(&out);
		}
	}
}

#define HEADER(name, value) "{" URL ", \"headers\": {\"" name "\": " value "}}"

static const struct {
	const char *row, *pointer;
} bad_rows[] = {
	{ "[]", "" },
	{ "null", "" },
	{ "{}", "/url" },
	{ "{\"url\": null}", "/url" },
	{ "{\"url\": 1}", "/url" },
	{ "{" URL ", \"accepted\": {\"reference\": \"id\"}}", "/accepted/reference" },
	{ "{" URL ", \"accepted\": {\"deadline_ms\": 999}}", "/accepted/deadline_ms" },
	{ "{" URL ", \"accepted\": 1}", "/accepted" },
	{ "{" URL ", \"status\": {}}", "/status/url" },
	{ "{" URL ", \"status\": {\"url\": \"http://p/x\", \"state\": \"/s\"}}", "/status/map" },
	{ "{" URL ", \"status\": {\"url\": \"http://p/x\", \"state\": \"/s\", \"map\": {\"done\": "
	  "\"ok\"}}}",
	  "/status/map/done" },
	{ "{" URL ", \"status\": {\"url\": \"http://p/{{reference}}\", \"state\": \"/s\", "
	  "\"map\": {\"done\": \"succeeded\"}}}",
	  "/status/url" },
	{ "{" URL ", \"status\": {\"url\": \"http://{{key}}/x\", \"state\": \"/s\", "
	  "\"map\": {\"done\": \"succeeded\"}}}",
	  "/status/url" },
	{ "{" URL ", \"headers\": {\"X-Ref\": \"{{reference}}\"}}", "/headers/X-Ref" },
	{ "{" URL ", \"headers\": {\"X-Ref\": \"{{secret}}\"}}", "/headers/X-Ref" },
	{ "{" URL ", \"idempotency\": {\"header\": \"Authorization\"}}", "/idempotency/header" },
	{ "{" URL ", \"cancel\": {}}", "/cancel/url" },
	{ "{" URL ", \"cancel\": {\"url\": \"http://x/{{job.id}}\"}}", "/cancel/url" },
	{ "{" URL ", \"cancel\": {\"url\": \"http://x/{{attempt.id}}/{{key}}\"}}", "/cancel/url" },
	{ "{" URL ", \"Url\": \"http://x/\"}", "/Url" },
	{ "{" URL ", \"a/b~\": 1}", "/a~1b~0" },
	{ "{" URL ", \"\": 1}", "" },
	{ "{" URL ", \"method\": \"post\"}", "/method" },
	{ "{" URL ", \"method\": \"HEAD\"}", "/method" },
	{ "{" URL ", \"method\": \"POST \"}", "/method" },
	{ "{" URL ", \"method\": \"\"}", "/method" },
	{ "{" URL ", \"connect_timeout_ms\": 0}", "/connect_timeout_ms" },
	{ "{" URL ", \"connect_timeout_ms\": 600001}", "/connect_timeout_ms" },
	{ "{" URL ", \"timeout_ms\": 86400001}", "/timeout_ms" },
	{ "{" URL ", \"timeout_ms\": 1.5}", "/timeout_ms" },
	{ "{" URL ", \"timeout_ms\": \"1\"}", "/timeout_ms" },
	{ "{" URL ", \"timeout_ms\": -1}", "/timeout_ms" },
	{ "{" URL ", \"timeout_ms\": 18446744073709551617}", "/timeout_ms" },
	{ "{" URL ", \"max_in_flight\": 100001}", "/max_in_flight" },
	{ "{" URL ", \"max_in_flight\": 0}", "/max_in_flight" },
	{ "{" URL ", \"max_result_bytes\": 67108865}", "/max_result_bytes" },
	{ "{" URL ", \"idempotency\": true}", "/idempotency" },
	{ "{" URL ", \"idempotency\": {\"header\": \"a b\"}}", "/idempotency/header" },
	{ "{" URL ", \"idempotency\": {\"header\": \"host\"}}", "/idempotency/header" },
	{ "{" URL ", \"idempotency\": {\"header\": \"content-TYPE\"}}", "/idempotency/header" },
	{ "{" URL ", \"idempotency\": {\"header\": \"\"}}", "/idempotency/header" },
	{ "{" URL ", \"idempotency\": {\"honoured\": 1}}", "/idempotency/honoured" },
	{ "{" URL ", \"idempotency\": {\"url\": \"x\"}}", "/idempotency/url" },
	{ "{" URL ", \"side_effects\": null}", "/side_effects" },
	{ "{" URL ", \"enabled\": \"yes\"}", "/enabled" },
	{ "{" URL ", \"outcomes\": []}", "/outcomes" },
	{ "{" URL ", \"outcomes\": {\"600\": \"failed\"}}", "/outcomes/600" },
	{ "{" URL ", \"outcomes\": {\"099\": \"failed\"}}", "/outcomes/099" },
	{ "{" URL ", \"outcomes\": {\"5xx\": \"failed\"}}", "/outcomes/5xx" },
	{ "{" URL ", \"outcomes\": {\"5000\": \"failed\"}}", "/outcomes/5000" },
	{ "{" URL ", \"outcomes\": {\"0\": \"failed\"}}", "/outcomes/0" },
	{ "{" URL ", \"outcomes\": {\"Empty\": \"failed\"}}", "/outcomes/Empty" },
	{ "{" URL ", \"outcomes\": {\"500\": \"Failed\"}}", "/outcomes/500" },
	{ "{" URL ", \"outcomes\": {\"500\": null}}", "/outcomes/500" },
	{ "{" URL ", \"retry\": {\"base_ms\": 0}}", "/retry/base_ms" },
	{ "{" URL ", \"retry\": {\"base_ms\": 300001}}", "/retry/max_ms" },
	{ "{" URL ", \"retry\": {\"base_ms\": 10, \"max_ms\": 9}}", "/retry/max_ms" },
	{ "{" URL ", \"retry\": {\"max_ms\": 86400001}}", "/retry/max_ms" },
	{ "{" URL ", \"result\": {\"pointer\": \"a\"}}", "/result/pointer" },
	{ "{" URL ", \"result\": {\"pointer\": \"/a~2\"}}", "/result/pointer" },
	{ "{" URL ", \"result\": {\"pointer\": \"/a\\u0000\"}}", "/result/pointer" },
	{ "{" URL ", \"result\": {\"as\": \"xml\"}}", "/result/as" },
	{ "{" URL ", \"headers\": [\"a: b\"]}", "/headers" },
	{ HEADER("a b", "\"\""), "/headers/a b" },
	{ HEADER("a:", "\"\""), "/headers/a:" },
	{ HEADER("", "\"\""), "/headers" },
	{ HEADER("a\\r\\nb", "\"\""), "/headers/a\r\nb" },
	{ HEADER("a\\u0000b", "\"\""), "/headers/a\xef\xbf\xbd"
				       "b" },
	{ HEADER("\xc3\xa9", "\"\""), "/headers/\xc3\xa9" },
	{ HEADER("Host", "\"\""), "/headers/Host" },
	{ HEADER("content-length", "\"1\""), "/headers/content-length" },
	{ HEADER("Transfer-Encoding", "\"\""), "/headers/Transfer-Encoding" },
	{ HEADER("Connection", "\"\""), "/headers/Connection" },
	{ HEADER("TRACEPARENT", "\"\""), "/headers/TRACEPARENT" },
	{ HEADER("User-Agent", "\"\""), "/headers/User-Agent" },
	{ HEADER("Expect", "\"\""), "/headers/Expect" },
	{ HEADER("idempotency-key", "\"\""), "/headers/idempotency-key" },
	{ "{" URL ", \"headers\": {\"X-K\": \"\"}, \"idempotency\": {\"header\": \"x-k\"}}",
	  "/headers/X-K" },
	{ "{" URL ", \"headers\": {\"X\": \"\", \"x\": \"\"}}", "/headers/x" },
	{ HEADER("X", "1"), "/headers/X" },
	{ HEADER("X", "\"a\\r\\nY: b\""), "/headers/X" },
	{ HEADER("X", "\"a\\nb\""), "/headers/X" },
	{ HEADER("X", "\"a\\u0000b\""), "/headers/X" },
	{ HEADER("X", "\"a\\u007fb\""), "/headers/X" },
	{ HEADER("X", "\" a\""), "/headers/X" },
	{ HEADER("X", "\"a\\t\""), "/headers/X" },
	{ HEADER("X", "\"${\""), "/headers/X" },
	{ HEADER("X", "\"${env:}\""), "/headers/X" },
	{ HEADER("X", "\"${env:1A}\""), "/headers/X" },
	{ HEADER("X", "\"${env:A-B}\""), "/headers/X" },
	{ HEADER("X", "\"${env:A\""), "/headers/X" },
	{ HEADER("X", "\"${file:rel}\""), "/headers/X" },
	{ HEADER("X", "\"${file:/}\""), "/headers/X" },
	{ HEADER("X", "\"${file:/a\""), "/headers/X" },
	{ HEADER("X", "\"${ENV:A}\""), "/headers/X" },
	{ HEADER("X", "\"${env:A}${x}\""), "/headers/X" },
	{ HEADER("X", "\"$${env:A}${\""), "/headers/X" },
};

static void each_bad_member_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
		struct provider_def def;
		struct flaws flaws;

		flaws_init(&flaws);
		if (read_row(bad_rows[i].row, &def, &flaws) != RC_INVALID)
			fail_msg("taken: %s", bad_rows[i].row);
		if (flaws.len == 0 || strcmp(flaws.list[0].pointer, bad_rows[i].pointer) != 0)
			fail_msg("%s: %s", bad_rows[i].row,
				 flaws.len ? flaws.list[0].pointer : "no flaw");
		flaws_release(&flaws);
	}
}

static const struct {
	const char *url;
	bool want;
} urls[] = {
	{ "http://h", true },
	{ "http://h/", true },
	{ "https://h.example:8443/a/b?c=%41&d=$1", true },
	{ "HTTP://127.0.0.1:1", true },
	{ "http://[2001:db8::1]", true },
	{ "http://h?x", true },
	{ "http://under_score/", true },
	{ "http://h/:@", true },
	{ "", false },
	{ "http://", false },
	{ "http:///x", false },
	{ "https://:80/", false },
	{ "h/x", false },
	{ "//h/x", false },
	{ "ftp://h/", false },
	{ "file:///etc/passwd", false },
	{ "http:/h", false },
	{ "http://h:0/", false },
	{ "http://h:65536/", false },
	{ "http://h:/", false },
	{ "http://h:8a/", false },
	{ "http://h:000080/", false },
	{ "http://u@h/", false },
	{ "http://u:p@h/", false },
	{ "http://h/#f", false },
	{ "http://h/ x", false },
	{ "http://h/\\u000a", false },
	{ "http://h/\xc3\xa9", false },
	{ "http://h/%4", false },
	{ "http://h/%zz", false },
	{ "http://h/${env:A}", false },
	{ "http://${env:A}/", false },
	{ "http://h/{x}", false },
	{ "http://[::1", false },
	{ "http://[]/", false },
	{ "http://[g]/", false },
	{ "http://h%41/", false },
	{ "http://h/\\\\x", false },
	{ "http://a,b/", false },
};

static void a_url_is_absolute_plain_and_without_secrets(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
		struct provider_def def;
		struct flaws flaws;
		char row[256];

		flaws_init(&flaws);
		snprintf(row, sizeof row, "{\"url\": \"%s\"}", urls[i].url);
		enum rc rc = read_row(row, &def, &flaws);
		if ((rc == RC_OK) != urls[i].want)
			fail_msg("%s", row);
		if (rc == RC_OK)
			provider_def_release(&def);
		flaws_release(&flaws);
	}
}

static void every_flaw_is_told_at_once(void **state)
{
	struct provider_def def;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(
		read_row("{\"method\": 1, \"nope\": 2, \"retry\": {\"x\": 1}}", &def, &flaws),
		RC_INVALID);
	assert_int_equal(flaws.count, 4);
	assert_string_equal(flaws.list[1].detail, "unknown member \"nope\"");
	flaws_release(&flaws);
}

static void one_member_too_many_is_refused(void **state)
{
	static const struct {
		const char *name;
		size_t first, max;
	} rows[] = {
		{ "headers", 0, PROVIDER_HEADERS_MAX },
		{ "outcomes", 400, PROVIDER_OUTCOMES_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t count = rows[i].max; count <= rows[i].max + 1; count++) {
			struct provider_def def;
			struct flaws flaws;
			char row[4096];
			int len = snprintf(row, sizeof row, "{" URL ", \"%s\": {", rows[i].name);

			for (size_t k = 0; k < count; k++) {
				len += snprintf(row + len, sizeof row - (size_t)len,
						i == 0 ? "%s\"h%zu\": \"v\""
						       : "%s\"%zu\": \"failed\"",
						k ? ", " : "", rows[i].first + k);
			}
			snprintf(row + len, sizeof row - (size_t)len, "}}");
			flaws_init(&flaws);
			enum rc rc = read_row(row, &def, &flaws);
			assert_int_equal(rc, count > rows[i].max ? RC_INVALID : RC_OK);
			if (rc == RC_OK)
				provider_def_release(&def);
			flaws_release(&flaws);
		}
}

static void a_literal_secret_shows_in_no_flaw(void **state)
{
	struct provider_def def;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(read_row(HEADER("X", "\"tiger-7${\""), &def, &flaws), RC_INVALID);
	assert_null(strstr(flaws.list[0].detail, "tiger"));
	flaws_release(&flaws);
}

static void a_question_is_not_given_the_time_of_the_work(void **state)
{
	struct provider_def def = { .timeout_ms = 86400000 };

	(void)state;
	assert_int_equal(provider_def_question_ms(&def), 30000);
	def.timeout_ms = 30001;
	assert_int_equal(provider_def_question_ms(&def), 30000);
	def.timeout_ms = 7;
	assert_int_equal(provider_def_question_ms(&def), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_url_is_required_and_the_rest_has_its_defaults),
		cmocka_unit_test(what_is_written_is_what_was_read),
		cmocka_unit_test(each_bad_member_is_named),
		cmocka_unit_test(a_url_is_absolute_plain_and_without_secrets),
		cmocka_unit_test(every_flaw_is_told_at_once),
		cmocka_unit_test(one_member_too_many_is_refused),
		cmocka_unit_test(a_literal_secret_shows_in_no_flaw),
		cmocka_unit_test(a_question_is_not_given_the_time_of_the_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
