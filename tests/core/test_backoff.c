#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/backoff.h"

#define MAX_MS 300000u
#define HOUR_MS 3600000

static void the_wait_lies_between_half_and_all_of_the_delay(void **state)
{
	static const struct {
		uint32_t n, base_ms, max_ms;
		int64_t low, high;
	} rows[] = {
		{ 1, 1000, MAX_MS, 500, 1000 },
		{ 2, 1000, MAX_MS, 1000, 2000 },
		{ 3, 1000, MAX_MS, 2000, 4000 },
		{ 9, 1000, MAX_MS, 128000, 256000 },
		{ 10, 1000, MAX_MS, 150000, 300000 }, /* at the maximum, and jitter stays on */
		{ 64, 1000, MAX_MS, 150000, 300000 },
		{ UINT32_MAX, 1000, MAX_MS, 150000, 300000 },
		{ UINT32_MAX, 1, 86400000, 43200000, 86400000 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, INT64_C(2147483647), INT64_C(4294967295) },
		{ 2, UINT32_MAX, UINT32_MAX, INT64_C(2147483647), INT64_C(4294967295) },
		{ 1, 1, 1, 0, 1 },
		{ 5, 1, 1, 0, 1 },
		{ UINT32_MAX, 0, MAX_MS, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t low = backoff_ms(rows[i].n, rows[i].base_ms, rows[i].max_ms, 0, -1);
		int64_t high =
			backoff_ms(rows[i].n, rows[i].base_ms, rows[i].max_ms, UINT32_MAX, -1);
		int64_t mid =
			backoff_ms(rows[i].n, rows[i].base_ms, rows[i].max_ms, UINT32_MAX / 2, -1);

		if (low != rows[i].low || high != rows[i].high || mid < low || mid > high)
			fail_msg("row %zu: %lld to %lld", i, (long long)low, (long long)high);
	}
}

static void f09_waiting_jobs_are_spread_at_the_maximum_too(void **state)
{
	int64_t last = -1;

	(void)state;
	for (uint32_t step = 0; step < 16; step++) {
		int64_t wait = backoff_ms(40, 1000, MAX_MS, step << 28, -1);

		assert_true(wait > last);
		last = wait;
	}
}

static void c07_retry_after_raises_the_wait_and_never_lowers_it(void **state)
{
	static const struct {
		uint32_t random;
		int64_t retry_after_ms, want;
	} rows[] = {
		{ 0, -1, 500 },
		{ 0, 0, 500 },
		{ 0, 499, 500 },
		{ 0, 501, 501 },
		{ UINT32_MAX, 2000, 2000 },
		{ UINT32_MAX, 999, 1000 },
		{ 0, 24 * HOUR_MS, 24 * HOUR_MS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(
			backoff_ms(1, 1000, MAX_MS, rows[i].random, rows[i].retry_after_ms),
			rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_lies_between_half_and_all_of_the_delay),
		cmocka_unit_test(f09_waiting_jobs_are_spread_at_the_maximum_too),
		cmocka_unit_test(c07_retry_after_raises_the_wait_and_never_lowers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
