#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/trace.h"

#define IDS "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

static void only_the_form_of_the_standard_is_valid(void **state)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{ "00-" IDS "-01", true },
		{ "00-" IDS "-00", true },
		{ "00-" IDS "-ff", true },
		{ "01-" IDS "-01", true },
		{ "cc-" IDS "-01-what-the-future-will-be-like", true },
		{ "fe-" IDS "-01-", true },
		{ "00-" IDS "-01-", false },
		{ "00-" IDS "-01-more", false },
		{ "01-" IDS "-01.more", false },
		{ "ff-" IDS "-01", false },
		{ "", false },
		{ "00-" IDS "-1", false },
		{ "00-" IDS "-0G", false },
		{ "0G-" IDS "-01", false },
		{ "FE-" IDS "-01", false },
		{ " 00-" IDS "-01", false },
		{ "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false },
		{ "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false },
		{ "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false },
		{ "00_" IDS "-01", false },
		{ "00-" IDS "_01", false },
		{ "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (traceparent_valid(rows[i].text, strlen(rows[i].text)) != rows[i].want)
			fail_msg("%s", rows[i].text);
	assert_false(traceparent_valid("00-" IDS "-01\0x", 57));
}

static void a_child_keeps_trace_and_flags_and_names_the_attempt(void **state)
{
	static const struct id job = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } };
	static const struct id attempt = { { 0, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5,
					     0xf6, 7, 8 } };
	static const struct id zeros = { { 1 } };
	static const struct {
		const char *parent;
		const struct id *attempt;
		const char *want;
	} rows[] = {
		{ NULL, &attempt, "00-0102030405060708090a0b0c0d0e0f10-a1b2c3d4e5f60708-01" },
		{ "junk", &attempt, "00-0102030405060708090a0b0c0d0e0f10-a1b2c3d4e5f60708-01" },
		{ "00-" IDS "-00", &attempt,
		  "00-4bf92f3577b34da6a3ce929d0e0e4736-a1b2c3d4e5f60708-00" },
		{ "00-" IDS "-03", &attempt,
		  "00-4bf92f3577b34da6a3ce929d0e0e4736-a1b2c3d4e5f60708-03" },
		{ "07-" IDS "-fe-x", &attempt,
		  "00-4bf92f3577b34da6a3ce929d0e0e4736-a1b2c3d4e5f60708-00" },
		{ "07-" IDS "-0f-x", &attempt,
		  "00-4bf92f3577b34da6a3ce929d0e0e4736-a1b2c3d4e5f60708-01" },
		{ NULL, &zeros, "00-0102030405060708090a0b0c0d0e0f10-0000000000000001-01" },
	};
	char text[TRACEPARENT_LEN + 1];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_string_equal(traceparent_child(text, rows[i].parent, &job, rows[i].attempt),
				    rows[i].want);
		assert_true(traceparent_valid(text, strlen(text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_form_of_the_standard_is_valid),
		cmocka_unit_test(a_child_keeps_trace_and_flags_and_names_the_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
