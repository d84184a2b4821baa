#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/flaws.h"
#include "core/utf8.h"

static struct flaws flaws;

static int begin(void **state)
{
	(void)state;
	flaws_init(&flaws);
	return 0;
}

static int end(void **state)
{
	(void)state;
	flaws_release(&flaws);
	return 0;
}

static void a_pointer_is_parent_and_escaped_member(void **state)
{
	static const struct {
		const char *parent, *member;
		size_t len;
		const char *want;
	} rows[] = {
		{ "", NULL, 0, "" },
		{ "", "", 0, "" },
		{ "", "a", 1, "/a" },
		{ "/a", "b", 1, "/a/b" },
		{ "/a~1b", "c/d~e", 5, "/a~1b/c~1d~0e" },
		{ "", "x\0y", 3, "/x\xef\xbf\xbdy" },
		{ "", "\xff", 1, "/\xef\xbf\xbd" },
		{ "", "\xc3\xa9", 2, "/\xc3\xa9" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		flaws_add(&flaws, rows[i].parent, rows[i].member, rows[i].len, "row %zu", i);
		assert_string_equal(flaws.list[i].pointer, rows[i].want);
	}
	assert_string_equal(flaws.list[2].detail, "row 2");
}

static void a_long_name_is_cut_within_256_bytes_of_utf8(void **state)
{
	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		char name[5000];

		memset(name, 'x', sizeof name);
		for (size_t i = shift; i + 3 < sizeof name; i += 3)
			memcpy(name + i, "\xe2\x82\xac", 3);
		name[sizeof name - 1] = '\0';
		flaws_add(&flaws, "/headers", name, sizeof name - 1, "unknown member \"%s\"", name);
		const struct flaw *flaw = &flaws.list[shift];
		assert_in_range(strlen(flaw->pointer), 200, 256);
		assert_in_range(strlen(flaw->detail), 200, 256);
		assert_true(utf8_valid(flaw->pointer, strlen(flaw->pointer)));
		assert_true(utf8_valid(flaw->detail, strlen(flaw->detail)));
	}
}

static void flaws_past_the_limit_are_counted_and_not_kept(void **state)
{
	(void)state;
	for (int i = 0; i < FLAWS_MAX + 8; i++)
		flaws_add(&flaws, "", "m", 1, "no %d", i);
	assert_int_equal(flaws.len, FLAWS_MAX);
	assert_int_equal(flaws.count, FLAWS_MAX + 8);
}

static void only_shortest_forms_of_characters_are_utf8(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool want;
	} rows[] = {
		{ "", 0, true },
		{ "a\0b", 3, true },
		{ "\x7f", 1, true },
		{ "\xc2\x80", 2, true },
		{ "\xdf\xbf", 2, true },
		{ "\xe0\xa0\x80", 3, true },
		{ "\xed\x9f\xbf", 3, true },
		{ "\xee\x80\x80", 3, true },
		{ "\xef\xbf\xbf", 3, true },
		{ "\xf0\x90\x80\x80", 4, true },
		{ "\xf4\x8f\xbf\xbf", 4, true },
		{ "\x80", 1, false },
		{ "\xc0\x80", 2, false },
		{ "\xc1\xbf", 2, false },
		{ "\xe0\x9f\xbf", 3, false },
		{ "\xed\xa0\x80", 3, false },
		{ "\xed\xbf\xbf", 3, false },
		{ "\xf0\x8f\xbf\xbf", 4, false },
		{ "\xf4\x90\x80\x80", 4, false },
		{ "\xf5\x80\x80\x80", 4, false },
		{ "\xff", 1, false },
		{ "\xe2\x82", 2, false },
		{ "\xc3", 1, false },
		{ "\xf0\x90\x80", 3, false },
		{ "\xe2\x28\xa1", 3, false },
		{ "\xe2\x82\x28", 3, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (utf8_valid(rows[i].bytes, rows[i].len) != rows[i].want)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pointer_is_parent_and_escaped_member, begin, end),
		cmocka_unit_test_setup_teardown(a_long_name_is_cut_within_256_bytes_of_utf8, begin,
						end),
		cmocka_unit_test_setup_teardown(flaws_past_the_limit_are_counted_and_not_kept,
						begin, end),
		cmocka_unit_test(only_shortest_forms_of_characters_are_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
