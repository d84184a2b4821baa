/* test_intent.c: which bodies are intents, which are the same one, and what is said about the
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/intent.h"

#define P "\"provider\":\"print\""

/* A body and what was read from it. */
struct got {
	char *body;
	struct json_doc *doc;
	struct intent intent;
	struct flaws flaws;
	enum rc rc;
};

static struct got read_body(const char *body)
{
	struct got got = { .body = strdup(body) };
	struct json_error error;

	flaws_init(&got.flaws);
	got.rc = json_parse(got.body, strlen(got.body), INTENT_DEPTH_MAX, &got.doc, &error);
	if (got.rc == RC_OK)
		got.rc = intent_read(json_root(got.doc), &got.intent, &got.flaws);
	return got;
}

static void drop(struct got *got)
{
	flaws_release(&got->flaws);
	json_free(got->doc);
	free(got->body);
}

/* Are the two bodies one intent? Both must be intents. */
static bool same(const char *a, const char *b)
{
	struct got one = read_body(a);
	struct got two = read_body(b);
	bool equal;

	if (one.rc != RC_OK || two.rc != RC_OK)
		fail_msg("refused: %s", one.rc != RC_OK ? a : b);
	equal = memcmp(one.intent.fingerprint, two.intent.fingerprint, SHA256_BYTES) == 0;
	drop(&one);
	drop(&two);
	return equal;
}

static bool taken(const char *body)
{
	struct got got = read_body(body);
	bool ok = got.rc == RC_OK;

	drop(&got);
	return ok;
}

/* Two inputs under the same provider. */
static bool same_input(const char *a, const char *b)
{
	char one[512];
	char two[512];

	snprintf(one, sizeof one, "{" P ",\"input\":%s}", a);
	snprintf(two, sizeof two, "{" P ",\"input\":%s}", b);
	return same(one, two);
}

struct pair {
	const char *a;
	const char *b;
	bool same;
};

static void check_inputs(const struct pair *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (same_input(rows[i].a, rows[i].b) != rows[i].same)
			fail_msg("%s and %s are %s intent", rows[i].a, rows[i].b,
				 rows[i].same ? "one" : "not one");
}

#define CHECK_INPUTS(rows) check_inputs(rows, sizeof(rows) / sizeof(rows)[0])

static void a07_order_white_space_and_escapes_do_not_count(void **state)
{
	static const struct pair rows[] = {
		{ "{\"a\":1,\"b\":[1,2],\"c\":\"A/B\"}",
		  "{ \"c\":\"\\u0041\\/B\", \"b\":[1,2], \"a\":1 }", true },
		{ "{\"a\":1,\"b\":[1,2],\"c\":\"A/B\"}",
		  "{ \"c\":\"\\u0041\\/B\", \"b\":[2,1], \"a\":1 }", false },
	};

	(void)state;
	CHECK_INPUTS(rows);
	assert_true(same("{" P ",\"input\":1,\"metadata\":{\"a\":\"x\",\"b\":\"y\"}}",
			 "{\"metadata\":{\"b\":\"\\u0079\",\"a\":\"x\"},\"input\":1," P "}"));
}

static void a08_integers_past_64_bits_stay_apart(void **state)
{
	static const struct pair rows[] = {
		{ "{\"n\":18446744073709551616}", "{\"n\":18446744073709551617}", false },
		{ "{\"n\":9223372036854775808}", "{\"n\":9223372036854775807}", false },
		{ "9007199254740992", "9007199254740993", false },
	};
	struct got got;

	(void)state;
	CHECK_INPUTS(rows);
	got = read_body("{" P ",\"input\": {\"n\":18446744073709551616} }");
	assert_int_equal(got.rc, RC_OK);
	assert_int_equal(got.intent.input_len, strlen("{\"n\":18446744073709551616}"));
	assert_memory_equal(got.intent.input, "{\"n\":18446744073709551616}", got.intent.input_len);
	drop(&got);
}

static void a09_numbers_are_compared_as_exact_decimals(void **state)
{
	static const struct pair rows[] = {
		{ "{\"n\":1}", "{\"n\":1.0}", true },	       { "{\"n\":1}", "{\"n\":1e0}", true },
		{ "{\"n\":[1.50]}", "{\"n\":[15e-1]}", true }, { "{\"n\":0}", "{\"n\":-0}", true },
		{ "{\"n\":1}", "{\"n\":\"1\"}", false },       { "{\"n\":1}", "{\"n\":-1}", false },
	};

	(void)state;
	CHECK_INPUTS(rows);
}

static void a10_a_nul_in_a_string_ends_nothing(void **state)
{
	static const struct pair rows[] = {
		{ "{\"s\":\"x\\u0000y\"}", "{\"s\":\"x\\u0000z\"}", false },
		{ "{\"x\\u0000y\":1}", "{\"x\\u0000z\":1}", false },
	};

	(void)state;
	CHECK_INPUTS(rows);
}

static void a11_a_lone_surrogate_is_refused(void **state)
{
	(void)state;
	assert_false(taken("{" P ",\"input\":\"\\ud800\"}"));
	assert_true(taken("{" P ",\"input\":\"\\ufffd\"}"));
}

static void a12_a_repeated_member_is_refused(void **state)
{
	(void)state;
	assert_false(taken("{" P ",\"input\":{\"amount\":1,\"amount\":100}}"));
	assert_false(taken("{" P ",\"input\":1,\"inp\\u0075t\":1}"));
}

static void a14_a_body_that_is_no_object_is_refused(void **state)
{
	static const char *const bodies[] = { "null", "12", "[]", "\"x\"", "true" };

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		struct got got = read_body(bodies[i]);

		if (got.rc != RC_INVALID || got.flaws.len != 1 ||
		    strcmp(got.flaws.list[0].pointer, "") != 0)
			fail_msg("%s: rc %d, %zu flaws", bodies[i], got.rc, got.flaws.len);
		drop(&got);
	}
}

static void a16_text_and_its_escapes_are_one_intent(void **state)
{
	static const struct pair rows[] = {
		{ "\"J\xc3\xbcrgen \xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80\"",
		  "\"J\\u00fcrgen \\u20ac \\u65e5\\u672c \\ud83d\\ude00\"", true },
	};

	(void)state;
	CHECK_INPUTS(rows);
}

static void a_left_out_member_equals_its_default(void **state)
{
	static const char plain[] = "{" P ",\"input\":1}";

	(void)state;
	assert_true(same(plain, "{" P ",\"input\":1,\"max_attempts\":3}"));
	assert_true(same(plain, "{" P ",\"input\":1,\"max_attempts\":3.0,\"metadata\":{}}"));
	assert_true(same(plain,
			 "{" P
			 ",\"input\":1,\"max_attempts\":null,\"metadata\":null,\"not_before\":null,"
			 "\"expires_at\":null,\"deadline_at\":null,\"contract\":null}"));
}

static void every_member_is_part_of_the_intent(void **state)
{
	static const char plain[] = "{" P ",\"input\":1}";
	static const char *const others[] = {
		"{" P ",\"input\":2}",
		"{" P ",\"input\":null}",
		"{\"provider\":\"prin\",\"input\":1}",
		"{\"contract\":\"print\",\"input\":1}",
		"{" P ",\"input\":1,\"max_attempts\":4}",
		"{" P ",\"input\":1,\"not_before\":\"2026-12-01T00:00:00Z\"}",
		"{" P ",\"input\":1,\"expires_at\":\"2026-12-01T00:00:00Z\"}",
		"{" P ",\"input\":1,\"deadline_at\":\"2026-12-01T00:00:00Z\"}",
		"{" P ",\"input\":1,\"metadata\":{\"a\":\"b\"}}",
	};
	const size_t len = sizeof others / sizeof others[0];

	(void)state;
	for (size_t i = 0; i < len; i++) {
		if (same(plain, others[i]))
			fail_msg("%s is taken for the plain one", others[i]);
		for (size_t j = i + 1; j < len; j++)
			if (same(others[i], others[j]))
				fail_msg("%s is taken for %s", others[i], others[j]);
	}
}

static void times_are_compared_as_instants(void **state)
{
	(void)state;
	assert_true(same("{" P ",\"input\":1,\"not_before\":\"2026-12-01T10:00:00Z\"}",
			 "{" P ",\"input\":1,\"not_before\":\"2026-12-01T11:00:00.000+01:00\"}"));
	assert_false(same("{" P ",\"input\":1,\"not_before\":\"2026-12-01T10:00:00Z\"}",
			  "{" P ",\"input\":1,\"not_before\":\"2026-12-01T10:00:00.000001Z\"}"));
}

static void a_wrong_member_is_named_by_its_pointer(void **state)
{
	static const struct {
		const char *body;
		const char *pointer;
	} rows[] = {
		{ "{" P "}", "/input" },
		{ "{\"input\":1}", "" },
		{ "{\"input\":1,\"provider\":null}", "" },
		{ "{\"input\":1," P ",\"contract\":\"c\"}", "/provider" },
		{ "{\"input\":1,\"provider\":7}", "/provider" },
		{ "{\"input\":1,\"provider\":\"\"}", "/provider" },
		{ "{\"input\":1,\"provider\":\"Print\"}", "/provider" },
		{ "{\"input\":1,\"contract\":\"a/b\"}", "/contract" },
		{ "{\"input\":1,\"provider\":\"a\\u0000\"}", "/provider" },
		{ "{\"input\":1," P ",\"max_attempts\":0}", "/max_attempts" },
		{ "{\"input\":1," P ",\"max_attempts\":101}", "/max_attempts" },
		{ "{\"input\":1," P ",\"max_attempts\":1.5}", "/max_attempts" },
		{ "{\"input\":1," P ",\"max_attempts\":\"3\"}", "/max_attempts" },
		{ "{\"input\":1," P ",\"max_attempts\":18446744073709551619}", "/max_attempts" },
		{ "{\"input\":1," P ",\"not_before\":5}", "/not_before" },
		{ "{\"input\":1," P ",\"not_before\":\"tomorrow\"}", "/not_before" },
		{ "{\"input\":1," P ",\"expires_at\":\"2026-02-30T00:00:00Z\"}", "/expires_at" },
		{ "{\"input\":1," P ",\"deadline_at\":\"2026-12-01\"}", "/deadline_at" },
		{ "{\"input\":1," P ",\"deadline_at\":\"1970-01-01T00:00:00Z\"}", "/deadline_at" },
		{ "{\"input\":1," P ",\"metadata\":[]}", "/metadata" },
		{ "{\"input\":1," P ",\"metadata\":{\"a\":1}}", "/metadata/a" },
		{ "{\"input\":1," P ",\"metadata\":{\"a/b\":null}}", "/metadata/a~1b" },
		{ "{\"input\":1," P ",\"priority\":1}", "/priority" },
		{ "{\"input\":1," P ",\"Input\":1}", "/Input" },
		{ "{\"input\":1," P ",\"in\\u0000put\":1}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct got got = read_body(rows[i].body);

		if (got.rc != RC_INVALID || got.flaws.count != 1)
			fail_msg("%s: rc %d, %zu flaws", rows[i].body, got.rc, got.flaws.count);
		if (rows[i].pointer && strcmp(got.flaws.list[0].pointer, rows[i].pointer) != 0)
			fail_msg("%s: <%s> is named", rows[i].body, got.flaws.list[0].pointer);
		drop(&got);
	}
}

static void all_flaws_are_told_at_once(void **state)
{
	struct got got = read_body("{\"max_attempts\":0,\"metadata\":1,\"x\":1,\"y\":2}");

	(void)state;
	assert_int_equal(got.rc, RC_INVALID);
	assert_int_equal(got.flaws.count, 6); /* besides those four: no target and no input */
	drop(&got);
}

/* {"input":1,"provider":"print","metadata":{ `members` members of `bytes` bytes each, names
 * included }} */
static char *metadata_body(size_t members, size_t bytes)
{
	char *body = calloc(1, members * (bytes + 8) + 128);
	char *at = body + sprintf(body, "{\"input\":1," P ",\"metadata\":{");

	for (size_t i = 0; i < members; i++)
		at += sprintf(at, "%s\"%03zu\":\"%0*d\"", i ? "," : "", i, (int)bytes - 3, 0);
	strcpy(at, "}}");
	return body;
}

static void metadata_has_limits(void **state)
{
	static const struct {
		size_t members;
		size_t bytes;
		bool taken;
	} rows[] = {
		{ 64, 10, true },   { 65, 10, false },	{ 64, 256, true },
		{ 64, 257, false }, { 1, 16384, true }, { 1, 16385, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *body = metadata_body(rows[i].members, rows[i].bytes);

		if (taken(body) != rows[i].taken)
			fail_msg("%zu members of %zu bytes", rows[i].members, rows[i].bytes);
		free(body);
	}
}

static void what_was_read_is_what_was_written(void **state)
{
	struct got got = read_body(
		"{\"contract\":\"c-1\",\"input\": [1.0,\t2] ,\"metadata\":{ \"a\" : \"b\" },"
		"\"max_attempts\":1e2,\"expires_at\":\"2026-12-01T22:40:47.5Z\"}");

	(void)state;
	assert_int_equal(got.rc, RC_OK);
	assert_string_equal(got.intent.contract, "c-1");
	assert_string_equal(got.intent.provider, "");
	assert_int_equal(got.intent.input_len, strlen("[1.0,\t2]"));
	assert_memory_equal(got.intent.input, "[1.0,\t2]", got.intent.input_len);
	assert_int_equal(got.intent.metadata_len, strlen("{ \"a\" : \"b\" }"));
	assert_int_equal(got.intent.max_attempts, 100);
	assert_int_equal(got.intent.not_before_us, 0);
	assert_int_equal(got.intent.expires_us % 1000000, 500000);
	drop(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a07_order_white_space_and_escapes_do_not_count),
		cmocka_unit_test(a08_integers_past_64_bits_stay_apart),
		cmocka_unit_test(a09_numbers_are_compared_as_exact_decimals),
		cmocka_unit_test(a10_a_nul_in_a_string_ends_nothing),
		cmocka_unit_test(a11_a_lone_surrogate_is_refused),
		cmocka_unit_test(a12_a_repeated_member_is_refused),
		cmocka_unit_test(a14_a_body_that_is_no_object_is_refused),
		cmocka_unit_test(a16_text_and_its_escapes_are_one_intent),
		cmocka_unit_test(a_left_out_member_equals_its_default),
		cmocka_unit_test(every_member_is_part_of_the_intent),
		cmocka_unit_test(times_are_compared_as_instants),
		cmocka_unit_test(a_wrong_member_is_named_by_its_pointer),
		cmocka_unit_test(all_flaws_are_told_at_once),
		cmocka_unit_test(metadata_has_limits),
		cmocka_unit_test(what_was_read_is_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
