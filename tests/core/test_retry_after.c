#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/retry_after.h"

#define NOW_S INT64_C(1796158189) /* Tue, 01 Dec 2026 20:49:49 GMT */
#define NOW_US (NOW_S * 1000000)

static void check_wait(const char *value, int64_t want)
{
	int64_t got = retry_after_parse(value, strlen(value), NOW_US);

	if (got != want)
		fail_msg("\"%s\": %lld, not %lld", value, (long long)got, (long long)want);
}

static void seconds_are_read_and_capped(void **state)
{
	static const struct {
		const char *value;
		int64_t want;
	} rows[] = {
		{ "0", 0 },
		{ "2", 2000 },
		{ "  2\t", 2000 },
		{ "007", 7000 },
		{ "86400", 86400000 },
		{ "86401", 86400000 },
		{ "99999999999999999999999999999", 86400000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_wait(rows[i].value, rows[i].want);
}

static void what_cant_be_read_counts_as_absent(void **state)
{
	static const char *const values[] = {
		"",
		" ",
		"-1",
		"+1",
		"1.5",
		"1,5",
		"2, 2",
		"2 2",
		"0x10",
		"1e3",
		"soon",
		"NaN",
		"2s",
		"\"2\"",
		"Tue, 01 Dec 2026 20:49:51",
		"Tue, 01 Dec 2026 20:49:51 UTC",
		"Tue, 01 Dec 2026 20:49:51 GMT, x",
		"Tue, 1 Dec 2026 20:49:51 GMT",
		"tue, 01 Dec 2026 20:49:51 GMT",
		"Tue, 32 Dec 2026 20:49:51 GMT",
		"Tue, 29 Feb 2027 20:49:51 GMT",
		"Tue, 00 Dec 2026 20:49:51 GMT",
		"Tue, 01 Foo 2026 20:49:51 GMT",
		"Tue, 01 Dec 2026 24:00:00 GMT",
		"Tue, 01 Dec 2026 20:60:00 GMT",
		"Tue, 01 Dec 2026 20:49:61 GMT",
		"Tue, 01 Dec 26 20:49:51 GMT",
		"Tuesday, 01 Dec 2026 20:49:51 GMT",
		"Tue Dec 01 20:49:51 26",
		"2026-12-01T20:49:51Z",
		"Tue, 01 Dec -026 20:49:51 GMT",
		"Tue, 01 Dec 0000 20:49:51 GMT",
	};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		check_wait(values[i], -1);
	assert_int_equal(retry_after_parse("2\0", 2, NOW_US), -1);
}

static void c07_all_three_date_forms_are_read(void **state)
{
	static const struct {
		const char *value;
		int64_t want;
	} rows[] = {
		{ "Tue, 01 Dec 2026 20:49:51 GMT", 2000 },
		{ "Tuesday, 01-Dec-26 20:49:51 GMT", 2000 },
		{ "Tue Dec  1 20:49:51 2026", 2000 },
		{ "Thu Dec 10 20:49:51 2026", 86400000 },
		{ "Tue, 01 Dec 2026 20:49:49 GMT", 0 }, /* now */
		{ "Tue, 01 Dec 2026 20:49:48 GMT", 0 }, /* past */
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Fri, 01 Jan 1904 00:00:00 GMT", 0 },
		{ "Fri, 31 Dec 9999 23:59:59 GMT", 86400000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_wait(rows[i].value, rows[i].want);
}

static void a_part_of_a_millisecond_is_waited_for(void **state)
{
	(void)state;
	const char *value = "Tue, 01 Dec 2026 20:49:50 GMT";
	assert_int_equal(retry_after_parse(value, strlen(value), NOW_US + 1), 1000);
	assert_int_equal(retry_after_parse(value, strlen(value), NOW_US + 999999), 1);
}

static void dates_are_counted_right(void **state)
{
	static const struct {
		const char *value;
		int64_t want_s;
	} rows[] = {
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
		{ "Sun Nov  6 08:49:37 1994", 784111777 },
		{ "Tue, 29 Feb 2000 23:59:59 GMT", 951868799 },
		{ "Wed, 01 Mar 2000 00:00:00 GMT", 951868800 },
		{ "Thu, 29 Feb 2024 00:00:00 GMT", 1709164800 },
		{ "Sun, 31 Dec 1972 23:59:60 GMT",
		  94694400 }, /* a leap second is the next one's first */
		{ "Mon, 01 Mar 2100 00:00:00 GMT", INT64_C(4107542400) },
		{ "Mon, 29 Feb 2100 00:00:00 GMT", -1 },
		/* two digits: never more than 50 years ahead */
		{ "Tuesday, 01-Dec-76 00:00:00 GMT", INT64_C(3374006400) },
		{ "Thursday, 01-Dec-77 00:00:00 GMT", 249782400 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t got = http_date_parse(rows[i].value, strlen(rows[i].value), NOW_US);
		int64_t want = rows[i].want_s < 0 ? -1 : rows[i].want_s * 1000000;

		if (got != want)
			fail_msg("%s: %lld, not %lld", rows[i].value, (long long)got,
				 (long long)want);
	}
}

static void every_cut_of_a_date_is_refused(void **state)
{
	static const char *const values[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
					      "Sunday, 06-Nov-94 08:49:37 GMT",
					      "Sun Nov  6 08:49:37 1994" };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		for (size_t len = 0; len < strlen(values[i]); len++) {
			char *cut = malloc(len +
					   1); /* exact, so that a sanitizer sees a step too far */

			memcpy(cut, values[i], len);
			cut = realloc(cut, len ? len : 1);
			if (http_date_parse(cut, len, NOW_US) != -1)
				fail_msg("%s cut to %zu", values[i], len);
			free(cut);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_are_read_and_capped),
		cmocka_unit_test(what_cant_be_read_counts_as_absent),
		cmocka_unit_test(c07_all_three_date_forms_are_read),
		cmocka_unit_test(a_part_of_a_millisecond_is_waited_for),
		cmocka_unit_test(dates_are_counted_right),
		cmocka_unit_test(every_cut_of_a_date_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
