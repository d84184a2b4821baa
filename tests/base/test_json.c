/* test_json.c: the scanner's refusals with their offsets, the tree, and equality with its canonical
 * bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define DEPTH 64
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* A C string with its length, NUL bytes included. */
#define TEXT(literal) literal, sizeof(literal) - 1

static struct json_doc *parsed(const char *text, size_t len)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(text, len, DEPTH, &doc, &error);

	if (rc != RC_OK)
		fail_msg("refused at %zu (%s): %.*s", error.offset, error.detail, (int)len, text);
	return doc;
}

static char *canon_of(const struct json_doc *doc)
{
	struct text canon;

	text_init(&canon, 1 << 24);
	json_canon(json_root(doc), &canon);
	char *bytes = text_take(&canon);
	assert_non_null(bytes);
	return bytes;
}

struct pair {
	const char *a;
	const char *b;
	bool equal;
};

/* json_equal() both ways, and the canonical bytes agree with it. */
static void check_pair(const struct pair *row)
{
	struct json_doc *a = parsed(row->a, strlen(row->a)), *b = parsed(row->b, strlen(row->b));
	char *canon_a = canon_of(a), *canon_b = canon_of(b);

	if (json_equal(json_root(a), json_root(b)) != row->equal ||
	    json_equal(json_root(b), json_root(a)) != row->equal)
		fail_msg("equal should be %d: %s and %s", row->equal, row->a, row->b);
	if ((strcmp(canon_a, canon_b) == 0) != row->equal)
		fail_msg("canonical bytes should be %s: %s and %s",
			 row->equal ? "equal" : "unequal", canon_a, canon_b);
	free(canon_a);
	free(canon_b);
	json_free(a);
	json_free(b);
}

static void check_pairs(const struct pair *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_pair(&rows[i]);
}

struct refusal {
	const char *text;
	size_t len;
	size_t offset;
};

/* The text lies at the very end of its memory, so that a sanitizer sees one byte read too many. */
static void check_refusal(const struct refusal *row, unsigned int depth_max)
{
	struct json_doc *doc;
	struct json_error error = { 0, NULL };
	char *exact = malloc(row->len + 1);

	assert_non_null(exact);
	memcpy(exact + 1, row->text, row->len);
	enum rc rc = json_parse(exact + 1, row->len, depth_max, &doc, &error);
	if (rc != RC_INVALID)
		fail_msg("rc %d instead of refused: %.*s", rc, (int)row->len, row->text);
	if (error.offset != row->offset)
		fail_msg("offset %zu (%s), want %zu: %.*s", error.offset, error.detail, row->offset,
			 (int)row->len, row->text);
	assert_null(doc);
	assert_non_null(error.detail);
	free(exact);
}

static void check_refusals(const struct refusal *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_refusal(&rows[i], DEPTH);
}

static void a07_member_order_white_space_and_escapes_do_not_count(void **state)
{
	static const struct pair rows[] = {
		{ "{\"a\":1,\"b\":[1,2],\"c\":\"A/B\"}",
		  "{ \"c\":\"\\u0041\\/B\", \"b\":[1,2], \"a\":1 }", true },
		{ "{\"a\":1,\"b\":[1,2],\"c\":\"A/B\"}",
		  "{ \"c\":\"\\u0041\\/B\", \"b\":[2,1], \"a\":1 }", false },
		{ "{\"a\":{\"x\":1,\"y\":2}}", "\t{\"\\u0061\"\r\n:{\"y\":2,\"x\":1}}\n", true },
		{ "{\"a\":1}", "{\"A\":1}", false },
		{ "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
		{ "{\"a\":1,\"b\":1}", "{\"a\":1,\"ab\":1}", false },
		{ "[]", "{}", false },
		{ "[[],1]", "[[1]]", false },
		{ "\"1\"", "1", false },
		{ "null", "false", false },
		{ "\"\\b\\f\\n\\r\\t\\\"\\\\\"",
		  "\"\\u0008\\u000c\\u000A\\u000d\\u0009\\u0022\\u005C\"", true },
	};

	(void)state;
	check_pairs(rows, COUNT(rows));
}

static void a08_integers_past_64_bits_stay_apart(void **state)
{
	static const struct pair rows[] = {
		{ "{\"n\":18446744073709551616}", "{\"n\":18446744073709551617}", false },
		{ "{\"n\":18446744073709551616}", "{\"n\":18446744073709551616.0}", true },
		{ "{\"n\":9223372036854775808}", "{\"n\":9223372036854775807}", false },
		{ "9007199254740992", "9007199254740993", false },
		{ "-9223372036854775808", "-9223372036854775809", false },
		{ "0.1", "0.1000000000000000055511151231257827", false },
		{ "1e400", "1e401", false },
		{ "1e400", "10e399", true },
		{ "1e-400", "0", false },
	};

	(void)state;
	check_pairs(rows, COUNT(rows));

	struct json_doc *doc = parsed(TEXT(" 18446744073709551617 "));
	assert_int_equal(json_root(doc)->raw_len, 20);
	assert_memory_equal(json_root(doc)->raw, "18446744073709551617", 20);
	json_free(doc);
}

static void a09_numbers_compare_as_exact_decimals(void **state)
{
	static const struct pair rows[] = {
		{ "{\"n\":1}", "{\"n\":1.0}", true },
		{ "{\"n\":1}", "{\"n\":1e0}", true },
		{ "{\"n\":1.0}", "{\"n\":1E+00}", true },
		{ "{\"n\":0}", "{\"n\":-0}", true },
		{ "[[{\"n\":0}]]", "[[{\"n\":-0.000e-99}]]", true },
		{ "0e999999999999999999", "0", true },
		{ "100", "1e2", true },
		{ "100", "0.001e5", true },
		{ "120", "12.0e1", true },
		{ "120", "12", false },
		{ "1.20", "1.2", true },
		{ "10.01", "1001e-2", true },
		{ "1.1", "11", false },
		{ "-1", "1", false },
		{ "0.00000000000000000000000000000000001", "1e-35", true },
		{ "1e-0000000000000000000000000000001", "0.1", true },
		{ "1e999999999999999999", "10e999999999999999998", true },
		{ "1e999999999999999999", "1e-999999999999999999", false },
		{ "0.1e-999999999999999999", "0.01e-999999999999999998", true },
		{ "1000e999999999999999999", "1e999999999999999999", false },
	};

	(void)state;
	check_pairs(rows, COUNT(rows));
}

static void a10_nul_in_strings_and_names_counts_over_the_full_length(void **state)
{
	static const struct pair rows[] = {
		{ "{\"s\":\"x\\u0000y\"}", "{\"s\":\"x\\u0000z\"}", false },
		{ "{\"s\":\"x\\u0000y\"}", "{\"s\":\"x\"}", false },
		{ "{\"s\":\"x\\u0000y\"}", "{\"s\":\"\\u0078\\u0000\\u0079\"}", true },
		{ "{\"x\\u0000y\":1}", "{\"x\\u0000z\":1}", false },
		{ "{\"x\\u0000y\":1,\"x\":2,\"x\\u0000z\":3}",
		  "{\"x\\u0000z\":3,\"x\\u0000y\":1,\"x\":2}", true },
	};

	(void)state;
	check_pairs(rows, COUNT(rows));

	struct json_doc *doc = parsed(TEXT("{\"x\\u0000y\":\"a\\u0000b\"}"));
	const struct json_value *member = json_root(doc)->child;
	assert_int_equal(member->name_len, 3);
	assert_int_equal(member->string_len, 3);
	assert_memory_equal(member->string, "a\0b", 3);
	assert_null(json_member(json_root(doc), "x"));
	assert_null(json_member(json_root(doc), "x\0y"));
	assert_false(json_is_string(member, "a"));
	json_free(doc);
}

static void a11_a_lone_surrogate_is_refused_where_it_turns_lone(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("{\"s\":\"\\ud800\"}"), 12 }, { TEXT("\"\\udc00\""), 4 },
		{ TEXT("\"\\uDfff\""), 4 },	     { TEXT("\"\\ud800\\u0041\""), 9 },
		{ TEXT("\"\\ud800\\ud800\""), 10 },  { TEXT("\"\\ud800x\""), 7 },
		{ TEXT("\"\\ud800\\n\""), 8 },	     { TEXT("\"\\ud83d\\ude00\\ude00\""), 16 },
		{ TEXT("{\"\\ud800\":1}"), 8 },
	};

	(void)state;
	check_refusals(rows, COUNT(rows));

	struct json_doc *doc =
		parsed(TEXT("\"\\uD83D\\uDE00\\uFFFD\\uD7FF\\uE000\\uDBFF\\uDFFF\""));
	assert_true(json_is_string(json_root(doc),
				   "\U0001F600\uFFFD\xed\x9f\xbf\xee\x80\x80\U0010FFFF"));
	json_free(doc);
}

static void a12_a_member_named_twice_is_refused_at_the_second_name(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("{\"amount\":1,\"amount\":100}"), 12 },
		{ TEXT("{\"a\":1,\"a\":1}"), 7 },
		{ TEXT("{\"a\":1,\"\\u0061\":1}"), 7 },
		{ TEXT("{\"\\u0061\":1, \"a\":1}"), 13 },
		{ TEXT("{\"\":1,\"\":1}"), 6 },
		{ TEXT("[{\"x\":{\"b\":1,\"c\":2,\"b\":3}}]"), 19 },
		{ TEXT("{\"a\":1,\"b\":1,\"b\":2,\"a\":3,\"a\":4}"), 13 },
		{ TEXT("{\"a\\u0000\":1,\"a\\u0000\":1}"), 13 },
		/* The first flaw in the text counts, whichever the scanner meets first. */
		{ TEXT("{\"a\":1,\"a\":1,}"), 7 },
		{ TEXT("{\"a\":1,\"a\""), 7 },
		{ TEXT("{\"a\":1,\"a\" x"), 7 },
		{ TEXT("{\"a\":1,\"a\":{\"b\":1,\"b\":2}}"), 7 },
		{ TEXT("{\"a\":1,\"a\":[{\"c\":[nul"), 7 },
		{ TEXT("{\"a\":{\"b\":1,\"b\":2},\"a\":1}"), 12 },
		{ TEXT("{\"a\":1,\"b\":x,\"b\":2}"), 11 },
	};

	(void)state;
	check_refusals(rows, COUNT(rows));

	struct json_doc *doc =
		parsed(TEXT("[{\"a\":1,\"A\":{\"a\":1}},{\"a\":1},{\"\":1,\"\\u0000\":1}]"));
	json_free(doc);
}

static void a13_text_after_or_missing_from_the_document_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("{\"a\":1} x"), 8 },
		{ TEXT("{\"a\":1}{\"b\":2}"), 7 },
		{ TEXT("{\"a\":1"), 6 },
		{ TEXT("1 2"), 2 },
		{ TEXT("1\0"), 1 },
		{ TEXT("[1]]"), 3 },
		{ TEXT("[1}"), 2 },
		{ TEXT("{\"a\":1]"), 6 },
		{ TEXT(""), 0 },
		{ TEXT(" \n"), 2 },
		{ TEXT("["), 1 },
		{ TEXT("{\"a\""), 4 },
		{ TEXT("{\"a\":"), 5 },
		{ TEXT("{\"a"), 3 },
		{ TEXT("[1,"), 3 },
		{ TEXT("tru"), 3 },
		{ TEXT("\""), 1 },
		{ TEXT("\"\\"), 2 },
		{ TEXT("\"\\u12"), 5 },
		{ TEXT("\"\\ud800\\u"), 9 },
		{ TEXT("\"\xf0\x9f\x98"), 4 },
		{ TEXT("-"), 1 },
		{ TEXT("1."), 2 },
		{ TEXT("1e"), 2 },
		{ TEXT("1e+"), 3 },
	};

	(void)state;
	check_refusals(rows, COUNT(rows));
}

static void a14_what_others_accept_beyond_json_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("{'a':1}"), 1 },
		{ TEXT("{a:1}"), 1 },
		{ TEXT("{\"a\":NaN}"), 5 },
		{ TEXT("{\"a\":nan}"), 6 },
		{ TEXT("{\"a\":-Infinity}"), 6 },
		{ TEXT("{\"a\":Infinity}"), 5 },
		{ TEXT("{\"a\":1,}"), 7 },
		{ TEXT("[1,]"), 3 },
		{ TEXT("[,1]"), 1 },
		{ TEXT("[1 2]"), 3 },
		{ TEXT("{\"a\" 1}"), 5 },
		{ TEXT("{1:1}"), 1 },
		{ TEXT("/*c*/{\"a\":1}"), 0 },
		{ TEXT("[1]//c"), 3 },
		{ TEXT("+1"), 0 },
		{ TEXT(".5"), 0 },
		{ TEXT("1.e1"), 2 },
		{ TEXT("01"), 1 },
		{ TEXT("-01"), 2 },
		{ TEXT("0x1"), 1 },
		{ TEXT("1e1.5"), 3 },
		{ TEXT("True"), 0 },
		{ TEXT("nulL"), 3 },
		{ TEXT("truE"), 3 },
		{ TEXT("\xef\xbb\xbf{}"), 0 },
		{ TEXT("[1]\v"), 3 },
		{ TEXT("\xc2\xa0"
		       "1"),
		  0 },
		{ TEXT("\"\\x41\""), 2 },
		{ TEXT("\"\\'\""), 2 },
		{ TEXT("\"\\U0041\""), 2 },
		{ TEXT("\"\\u004g\""), 6 },
		{ TEXT("\"a\tb\""), 2 },
		{ TEXT("\"a\nb\""), 2 },
		{ TEXT("\"a\0b\""), 2 },
	};
	static const char *const whole[] = { "null", "12", "[]", "\"\x7f\"", "-0", " true\r\n" };

	(void)state;
	check_refusals(rows, COUNT(rows));
	/* A text may be any value; who wants an object asks for its type. */
	for (size_t i = 0; i < COUNT(whole); i++) {
		struct json_doc *doc = parsed(whole[i], strlen(whole[i]));
		assert_non_null(json_root(doc));
		json_free(doc);
	}
}

static void a15_depth_is_bounded_at_the_bracket_that_goes_too_deep(void **state)
{
	static const size_t depths[] = { 1, 32, 33, 64, 65, 1000, 1001, 100000 };
	static const unsigned int limits[] = { 1, 32, 64, JSON_DEPTH_LIMIT };

	(void)state;
	for (size_t i = 0; i < COUNT(depths); i++) {
		size_t depth = depths[i];
		char *text = malloc(2 * depth);
		assert_non_null(text);
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		for (size_t k = 0; k < COUNT(limits); k++) {
			struct json_doc *doc;
			struct json_error error = { 0, NULL };
			enum rc rc = json_parse(text, 2 * depth, limits[k], &doc, &error);
			bool fits = depth <= limits[k];
			if (rc != (fits ? RC_OK : RC_INVALID) ||
			    (!fits && error.offset != limits[k]))
				fail_msg("depth %zu, limit %u: rc %d, offset %zu", depth, limits[k],
					 rc, error.offset);
			if (fits) {
				assert_true(json_equal(json_root(doc), json_root(doc)));
				free(canon_of(doc));
			}
			json_free(doc);
		}
		free(text);
	}
	static const struct refusal objects = { TEXT("{\"a\":[{\"b\":1}]}"), 6 };
	check_refusal(&objects, 2);
}

static void a16_raw_utf8_and_escapes_are_the_same_text(void **state)
{
	static const struct pair rows[] = {
		{ "{\"name\":\"J\u00fcrgen \u20ac \u65e5\u672c \U0001F600\"}",
		  "{\"name\":\"J\\u00fcrgen \\u20AC \\u65e5\\u672c \\ud83d\\ude00\"}", true },
		{ "\"\u00e9\"", "\"e\u0301\"", false }, /* no normalization */
	};

	(void)state;
	check_pairs(rows, COUNT(rows));

	struct json_doc *doc = parsed(TEXT("{\"\\u65e5\":\"\\u00fc\"}"));
	char *canon = canon_of(doc);
	assert_string_equal(canon, "{\"\u65e5\":\"\u00fc\"}");
	free(canon);
	json_free(doc);
}

static void utf8_that_is_not_well_formed_is_refused_at_the_first_bad_byte(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("\"\x80\""), 1 },
		{ TEXT("\"\xc0\x80\""), 1 },
		{ TEXT("\"\xc1\xbf\""), 1 },
		{ TEXT("\"\xc3\""), 2 },
		{ TEXT("\"\xc3\x28\""), 2 },
		{ TEXT("\"\xe0\x9f\xbf\""), 2 }, /* overlong */
		{ TEXT("\"\xed\xa0\x80\""), 2 }, /* surrogate */
		{ TEXT("\"\xe2\x82\""), 3 },
		{ TEXT("\"\xf0\x8f\xbf\xbf\""), 2 }, /* overlong */
		{ TEXT("\"\xf4\x90\x80\x80\""), 2 }, /* past U+10FFFF */
		{ TEXT("\"\xf5\x80\x80\x80\""), 1 },
		{ TEXT("\"\xff\""), 1 },
		{ TEXT("\"\xf0\x9f\x98\x22"), 4 },
	};

	(void)state;
	check_refusals(rows, COUNT(rows));

	struct json_doc *doc = parsed(
		TEXT("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\""));
	json_free(doc);
}

static void an_exponent_of_19_digits_is_refused_at_the_nineteenth(void **state)
{
	static const struct refusal rows[] = {
		{ TEXT("1e1234567890123456789"), 20 },
		{ TEXT("1E-1234567890123456789"), 21 },
		{ TEXT("[0e+0001234567890123456789]"), 25 },
	};

	(void)state;
	check_refusals(rows, COUNT(rows));
	json_free(parsed(TEXT("1e00000000000000000000123456789012345678")));
}

/* Nothing is timed here: with a quadratic step these would simply not end. */
static void a_megabyte_of_members_is_no_trouble(void **state)
{
	static const char *const names[] = { "%zu", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%zu",
					     "\\u0061%zu" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct text text;
		text_init(&text, 1 << 24);
		text_add(&text, "{", 1);
		for (size_t k = 0; text.len < 1000000; k++) {
			text_add_str(&text, k ? ",\"" : "\"");
			/* multiplied, so that they come neither sorted nor reversed */
			char name[80];
			snprintf(name, sizeof name, names[i], k * 7919 % 1000003);
			text_add_str(&text, name);
			text_add_str(&text, "\":0");
		}
		size_t whole = text.len;
		text_add(&text, "}", 1);
		struct json_doc *doc = parsed(text.bytes, text.len);
		assert_true(json_equal(json_root(doc), json_root(doc)));
		json_free(doc);

		text.bytes[whole] = ',';
		text_add_str(&text, i == 0 ? "\"\\u0030\":1}" : "\"\":1,\"\":2}");
		struct refusal twice = { text.bytes, text.len, i == 0 ? whole + 1 : whole + 6 };
		check_refusal(&twice, DEPTH);
		text_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a07_member_order_white_space_and_escapes_do_not_count),
		cmocka_unit_test(a08_integers_past_64_bits_stay_apart),
		cmocka_unit_test(a09_numbers_compare_as_exact_decimals),
		cmocka_unit_test(a10_nul_in_strings_and_names_counts_over_the_full_length),
		cmocka_unit_test(a11_a_lone_surrogate_is_refused_where_it_turns_lone),
		cmocka_unit_test(a12_a_member_named_twice_is_refused_at_the_second_name),
		cmocka_unit_test(a13_text_after_or_missing_from_the_document_is_refused),
		cmocka_unit_test(a14_what_others_accept_beyond_json_is_refused),
		cmocka_unit_test(a15_depth_is_bounded_at_the_bracket_that_goes_too_deep),
		cmocka_unit_test(a16_raw_utf8_and_escapes_are_the_same_text),
		cmocka_unit_test(utf8_that_is_not_well_formed_is_refused_at_the_first_bad_byte),
		cmocka_unit_test(an_exponent_of_19_digits_is_refused_at_the_nineteenth),
		cmocka_unit_test(a_megabyte_of_members_is_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
