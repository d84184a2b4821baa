/* test_timestamp.c: RFC 3339 and the calendar, over the whole range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/timestamp.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void these_texts_are_these_instants(void **state)
{
	static const struct {
		const char *text;
		int64_t us;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01t00:00:00z", 0 },
		{ "1970-01-01T00:00:00-00:00", 0 },
		{ "1970-01-01T01:30:00+01:30", 0 },
		{ "1969-12-31T19:00:00-05:00", 0 },
		{ "1969-12-31T23:59:59.999999Z", -1 },
		{ "1970-01-01T00:00:00.1Z", 100000 },
		{ "1970-01-01T00:00:00.000001Z", 1 },
		{ "1970-01-01T00:00:00.0000010000000000000000000000Z", 1 },
		{ "2026-12-01T22:40:47.123456Z", INT64_C(1796164847123456) },
		{ "2000-02-29T12:00:00Z", INT64_C(951825600000000) },
		{ "1985-04-12T23:20:50.52Z", INT64_C(482196050520000) },
		{ "1996-12-19T16:39:57-08:00", INT64_C(851042397000000) },
		{ "1937-01-01T12:00:27.87+00:20", INT64_C(-1041337172130000) },
		{ "1000-01-01T00:00:00Z", TIMESTAMP_MIN_US },
		{ "0999-12-31T23:00:00-01:00", TIMESTAMP_MIN_US },
		{ "9999-12-31T23:59:59.999999Z", TIMESTAMP_MAX_US },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t us = 77;
		const char *flaw = timestamp_parse(rows[i].text, strlen(rows[i].text), &us);
		if (flaw || us != rows[i].us)
			fail_msg("%s: %s, %lld, want %lld", rows[i].text, flaw ? flaw : "taken",
				 (long long)us, (long long)rows[i].us);
	}
}

static void an_instant_in_parts_is_the_same_instant(void **state)
{
	static const int64_t rows[] = { TIMESTAMP_MIN_US,
					TIMESTAMP_MIN_US + 1,
					-1,
					0,
					1,
					INT64_C(951825599999999),
					INT64_C(951825600000000),
					INT64_C(1796164847123456),
					TIMESTAMP_MAX_US };
	struct timestamp_parts parts = timestamp_split(INT64_C(1796164847123456));

	(void)state;
	assert_int_equal(parts.year, 2026);
	assert_int_equal(parts.month, 12);
	assert_int_equal(parts.day, 1);
	assert_int_equal(parts.hour, 22);
	assert_int_equal(parts.minute, 40);
	assert_int_equal(parts.second, 47);
	assert_int_equal(parts.us, 123456);
	for (size_t i = 0; i < COUNT(rows); i++) {
		parts = timestamp_split(rows[i]);
		assert_true(timestamp_join(&parts) == rows[i]);
	}
}

static void these_texts_are_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"2026",
		"2026-12-01",
		"2026-12-01T",
		"2026-12-01T10:00Z",
		"2026-12-01T10:00:00",
		"2026-12-01 10:00:00Z",
		"2026-12-01T10:00:00 Z",
		" 2026-12-01T10:00:00Z",
		"2026-12-01T10:00:00Z ",
		"2026-12-01T10:00:00ZZ",
		"2026-12-01T10:00:00.Z",
		"2026-12-01T10:00:00,5Z",
		"2026-12-01T10:00:00.1234567Z",
		"2026-12-01T10:00:00.0000000000000000000001Z",
		"2026-00-01T10:00:00Z",
		"2026-13-01T10:00:00Z",
		"2026-12-00T10:00:00Z",
		"2026-12-32T10:00:00Z",
		"2026-02-29T10:00:00Z",
		"2100-02-29T10:00:00Z",
		"2024-02-30T10:00:00Z",
		"2026-04-31T10:00:00Z",
		"2026-12-01T24:00:00Z",
		"2026-12-01T10:60:00Z",
		"2016-12-31T23:59:60Z",
		"2026-12-01T10:00:61Z",
		"2026-12-01T10:00:00+24:00",
		"2026-12-01T10:00:00+01:60",
		"2026-12-01T10:00:00+0100",
		"2026-12-01T10:00:00+01",
		"2026-12-01T10:00:00+1:00",
		"2026-12-01T10:00:00UTC",
		"26-12-01T10:00:00Z",
		"12026-12-01T10:00:00Z",
		"+026-12-01T10:00:00Z",
		"-026-12-01T10:00:00Z",
		"2026-1-01T10:00:00Z",
		"2026-12-1T10:00:00Z",
		"2026/12/01T10:00:00Z",
		"20261201T100000Z",
		"0999-12-31T23:59:59.999999Z",
		"0000-01-01T00:00:00Z",
		"1000-01-01T00:00:00+00:01",
		"9999-12-31T23:59:59.999999-00:01",
		"2026-12-01T1a:00:00Z",
		"\xd9\xa2-12-01T10:00:00Z",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t us = 77;
		if (!timestamp_parse(rows[i], strlen(rows[i]), &us) || us != 77)
			fail_msg("taken: %s", rows[i]);
	}
	int64_t us;
	assert_non_null(timestamp_parse("2026-12-01T10:00:00Z\0", 21, &us));
	assert_string_equal(timestamp_parse("2016-12-31T23:59:60Z", 20, &us),
			    "a leap second can't be kept");
}

/* Walks the calendar day by day, by the rule of leap years alone, from the range's first day to its
 * last. */
static void every_day_of_the_range_is_formatted_and_parsed(void **state)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year = 1000, month = 1, day = 1;

	(void)state;
	for (int64_t us = TIMESTAMP_MIN_US; us <= TIMESTAMP_MAX_US; us += INT64_C(86400000000)) {
		char text[TIMESTAMP_TEXT_LEN + 1];
		int64_t back = 0;
		timestamp_format(us, text);
		int got_year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 +
			       (text[2] - '0') * 10 + text[3] - '0';
		int got_month = (text[5] - '0') * 10 + text[6] - '0',
		    got_day = (text[8] - '0') * 10 + text[9] - '0';
		if (got_year != year || got_month != month || got_day != day ||
		    strcmp(text + 10, "T00:00:00.000000Z") != 0)
			fail_msg("%s, want %04d-%02d-%02d", text, year, month, day);
		if (timestamp_parse(text, TIMESTAMP_TEXT_LEN, &back) || back != us)
			fail_msg("%s came back as %lld, not %lld", text, (long long)back,
				 (long long)us);
		bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
		if (++day > days[month - 1] + (month == 2 && leap)) {
			day = 1;
			if (++month > 12) {
				month = 1;
				year++;
			}
		}
	}
	assert_int_equal(year, 10000);
}

static void the_edges_are_formatted_to_the_microsecond(void **state)
{
	static const struct {
		int64_t us;
		const char *text;
	} rows[] = {
		{ TIMESTAMP_MIN_US, "1000-01-01T00:00:00.000000Z" },
		{ TIMESTAMP_MAX_US, "9999-12-31T23:59:59.999999Z" },
		{ -1, "1969-12-31T23:59:59.999999Z" },
		{ 0, "1970-01-01T00:00:00.000000Z" },
		{ INT64_C(1796164847123456), "2026-12-01T22:40:47.123456Z" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[TIMESTAMP_TEXT_LEN + 1];
		assert_string_equal(timestamp_format(rows[i].us, text), rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(these_texts_are_these_instants),
		cmocka_unit_test(an_instant_in_parts_is_the_same_instant),
		cmocka_unit_test(these_texts_are_refused),
		cmocka_unit_test(every_day_of_the_range_is_formatted_and_parsed),
		cmocka_unit_test(the_edges_are_formatted_to_the_microsecond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
