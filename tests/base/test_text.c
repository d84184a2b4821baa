/* test_text.c: the growing buffer, its cap, and JSON's escapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void additions_follow_each_other_and_end_in_a_nul(void **state)
{
	static const unsigned char bytes[] = { 0x00, 0x9f, 0xff };
	struct text text;

	(void)state;
	text_init(&text, 1000);
	assert_null(text.bytes);
	text_add_str(&text, "ab");
	text_add(&text, "\0c", 2);
	text_addf(&text, "%d-%s", 42, "x");
	text_add_hex(&text, bytes, sizeof bytes);
	assert_true(text_ok(&text));
	assert_int_equal(text.len, 14);
	assert_memory_equal(text.bytes, "ab\0c42-x009fff", 15);
	text_clear(&text);
	assert_int_equal(text.len, 0);
	assert_string_equal(text.bytes, "");
	text_release(&text);
	assert_null(text.bytes);
	assert_int_equal(text.cap, 1000);
}

static void an_addition_past_the_cap_fails_whole_and_for_good(void **state)
{
	struct text text;

	(void)state;
	text_init(&text, 5);
	text_add_str(&text, "12345");
	assert_true(text_ok(&text));
	text_add(&text, "6", 1);
	assert_false(text_ok(&text));
	assert_int_equal(text_rc(&text), RC_INVALID); /* and no lack of memory */
	text_clear(&text);
	assert_int_equal(text_rc(&text), RC_OK);
	text_add_str(&text, "123");
	text_addf(&text, "%s", "456");
	assert_int_equal(text_rc(&text), RC_INVALID);
	assert_string_equal(text.bytes, "123");
	text_add(&text, "4", 1); /* would fit, but something is missing already */
	assert_string_equal(text.bytes, "123");
	assert_null(text_take(&text));
	assert_int_equal(text.len, 0);
	assert_int_equal(text_rc(&text), RC_OK);
	text_add_hex(&text, "abc", 3);
	assert_false(text_ok(&text));
	assert_int_equal(text_rc(&text), RC_INVALID);
	text_release(&text);
	text_init(&text, 0);
	text_add(&text, "", 0);
	assert_true(text_ok(&text));
	assert_string_equal(text.bytes, "");
	text_add(&text, "x", 1);
	assert_false(text_ok(&text));
	text_release(&text);
}

static void a_text_grows_to_its_cap_to_the_byte(void **state)
{
	struct text text;

	(void)state;
	text_init(&text, 100003);
	for (size_t i = 0; i < 100003; i++)
		text_add(&text, &"0123456789"[i % 10], 1);
	assert_true(text_ok(&text));
	assert_int_equal(text.len, 100003);
	assert_int_equal(strlen(text.bytes), 100003);
	assert_int_equal(text.bytes[100002], '2');
	assert_true(text.size <= text.cap + 1);
	text_add(&text, "x", 1);
	assert_false(text_ok(&text));
	text_release(&text);
}

static void taking_hands_the_bytes_over_and_leaves_nothing(void **state)
{
	struct text text;

	(void)state;
	text_init(&text, 10);
	char *bytes = text_take(&text);
	assert_string_equal(bytes, "");
	free(bytes);
	text_add_str(&text, "abc");
	bytes = text_take(&text);
	assert_string_equal(bytes, "abc");
	assert_null(text.bytes);
	free(bytes);
	text_add_str(&text, "again");
	assert_string_equal(text.bytes, "again");
	text_release(&text);
}

static void json_strings_escape_what_must_be_and_nothing_else(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} rows[] = {
		{ "", 0, "\"\"" },
		{ NULL, 0, "\"\"" },
		{ "plain /text", 11, "\"plain /text\"" },
		{ "\"\\\b\f\n\r\t", 7, "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
		{ "a\0b\x1f\x7f", 5, "\"a\\u0000b\\u001f\x7f\"" },
		{ "\u00fc\u20ac\U0001F600", 9, "\"\u00fc\u20ac\U0001F600\"" },
		{ "\u2028", 3, "\"\u2028\"" },
		{ "a\xff"
		  "b",
		  3,
		  "\"a\uFFFD"
		  "b\"" },
		{ "\xc3", 1, "\"\uFFFD\"" },
		{ "\xed\xa0\x80", 3, "\"\uFFFD\uFFFD\uFFFD\"" },
		{ "\xe2\x82\"", 3, "\"\uFFFD\uFFFD\\\"\"" },
	};
	struct text text;

	(void)state;
	text_init(&text, 1000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_clear(&text);
		text_add_json_string(&text, rows[i].bytes, rows[i].len);
		if (!text_ok(&text) || strcmp(text.bytes, rows[i].want) != 0)
			fail_msg("row %zu: %s, want %s", i, text.bytes, rows[i].want);
	}
	text_release(&text);
}

/* All one- to four-byte beginnings against the definition: a code point, encoded in the shortest
 * way. */
static size_t length_by_definition(const unsigned char *at)
{
	static const struct {
		unsigned int mask, lead, least;
	} forms[] = {
		{ 0x80, 0x00, 0 },
		{ 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};

	for (size_t more = 0; more < COUNT(forms); more++) {
		if ((at[0] & forms[more].mask) != forms[more].lead)
			continue;
		unsigned int point = at[0] & ~forms[more].mask;
		for (size_t i = 1; i <= more; i++) {
			if ((at[i] & 0xc0) != 0x80)
				return 0;
			point = point << 6 | (at[i] & 0x3f);
		}
		bool surrogate = point >= 0xd800 && point <= 0xdfff;
		return point >= forms[more].least && point <= 0x10ffff && !surrogate ? more + 1 : 0;
	}
	return 0;
}

static void utf8_is_what_the_standard_says_for_every_beginning(void **state)
{
	static const unsigned char tails[] = { 0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xff };

	(void)state;
	for (unsigned int i = 0; i < 0x10000; i++) {
		for (size_t k = 0; k < COUNT(tails) * COUNT(tails); k++) {
			unsigned char bytes[4] = { (unsigned char)(i >> 8), (unsigned char)i,
						   tails[k % COUNT(tails)],
						   tails[k / COUNT(tails)] };
			size_t bad, want = length_by_definition(bytes);
			size_t got = text_utf8_next((const char *)bytes, 4, &bad);
			if (got != want)
				fail_msg("%02x %02x %02x %02x: %zu, want %zu", bytes[0], bytes[1],
					 bytes[2], bytes[3], got, want);
		}
	}
}

static void utf8_cut_short_is_bad_at_its_end(void **state)
{
	size_t bad;

	(void)state;
	assert_int_equal(text_utf8_next("", 0, &bad), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(text_utf8_next("\xf0\x9f\x98", 3, &bad), 0);
	assert_int_equal(bad, 3);
	assert_int_equal(text_utf8_next("\xf0\x9f\x41\x80", 4, &bad), 0);
	assert_int_equal(bad, 2);
	assert_int_equal(text_utf8_next("\xe0\x80", 2, &bad), 0);
	assert_int_equal(bad, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(additions_follow_each_other_and_end_in_a_nul),
		cmocka_unit_test(an_addition_past_the_cap_fails_whole_and_for_good),
		cmocka_unit_test(a_text_grows_to_its_cap_to_the_byte),
		cmocka_unit_test(taking_hands_the_bytes_over_and_leaves_nothing),
		cmocka_unit_test(json_strings_escape_what_must_be_and_nothing_else),
		cmocka_unit_test(utf8_is_what_the_standard_says_for_every_beginning),
		cmocka_unit_test(utf8_cut_short_is_bad_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
