/* test_print.c: nothing that came from outside acts on the terminal, and a value stays what it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/print.h"

static void bytes_that_act_on_a_terminal_are_spelled_out(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} rows[] = {
		{ "plain", 5, "plain" },
		{ "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80", 16,
		  "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\x1b[2J", 4, "\\x1b[2J" },
		{ "a\nb\rc\td", 7, "a\\x0ab\\x0dc\\x09d" },
		{ "a\0b", 3, "a\\x00b" },
		{ "\x7f", 1, "\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  5, "\\xc2\\x9b31m" }, /* CSI as one C1 control */
		{ "\x9b"
		  "31m",
		  4, "\\x9b31m" }, /* the same, and no UTF-8 */
		{ "\xe2\x80\xae"
		  "abc",
		  6, "\\xe2\\x80\\xaeabc" },		  /* right-to-left override */
		{ "\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8" }, /* line separator */
		{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" }, /* a surrogate */
		{ "ab\xe2\x82", 4, "ab\\xe2\\x82" },	  /* cut short */
		{ "\xc2\xa0", 2, "\xc2\xa0" },
	};
	struct text out;

	(void)state;
	text_init(&out, 4096);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		text_clear(&out);
		print_escape(&out, rows[i].bytes, rows[i].len);
		if (!text_ok(&out) || strcmp(out.bytes, rows[i].want) != 0)
			fail_msg("row %zu: got %s, want %s", i, out.bytes, rows[i].want);
	}
	text_release(&out);
}

static void json_keeps_its_value_and_loses_its_teeth(void **state)
{
	static const struct {
		const char *value;
		const char *want;
	} rows[] = {
		{ "a/b", "\"a/b\"\n" },
		{ "\x1b[2J", "\"\\u001b[2J\"\n" },
		{ "\x7f", "\"\\u007f\"\n" },
		{ "\xc2\x9b", "\"\\u009b\"\n" },
		{ "\xe2\x80\xae", "\"\\u202e\"\n" },
		{ "a\xff", "\"a\xef\xbf\xbd\"\n" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *got = NULL;
		size_t len = 0;
		FILE *to = open_memstream(&got, &len);
		struct json_object *value = json_object_new_string(rows[i].value);

		assert_non_null(to);
		assert_true(print_json(to, value, false));
		fclose(to);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("row %zu: got %s, want %s", i, got, rows[i].want);
		json_object_put(value);
		free(got);
	}
}

static void ages_are_said_in_the_unit_that_fits(void **state)
{
	static const struct {
		int64_t seconds;
		const char *want;
	} rows[] = {
		{ -5, "0s" },	   { 0, "0s" },	     { 119, "119s" },
		{ 120, "2m" },	   { 7199, "119m" }, { 7200, "2h" },
		{ 172799, "47h" }, { 172800, "2d" }, { 864000000, "10000d" },
	};
	char age[PRINT_AGE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(print_age(rows[i].seconds * 1000000, age), rows[i].want);
}

static void times_are_utc_to_the_second_and_none_is_empty(void **state)
{
	char time[PRINT_TIME_MAX];

	(void)state;
	assert_string_equal(print_time(INT64_C(1796164847123456), time), "2026-12-01T22:40:47Z");
	assert_string_equal(print_time(0, time), "");
	assert_string_equal(print_time(INT64_MAX, time), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_act_on_a_terminal_are_spelled_out),
		cmocka_unit_test(json_keeps_its_value_and_loses_its_teeth),
		cmocka_unit_test(ages_are_said_in_the_unit_that_fits),
		cmocka_unit_test(times_are_utc_to_the_second_and_none_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
