#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "core/job.h"

static void every_state_has_a_name_that_reads_back(void **state)
{
	(void)state;
	for (int i = 0; i < JOB_STATE__MAX; i++) {
		enum job_state read = JOB_STATE__MAX;
		const char *name = job_state_name((enum job_state)i);

		assert_true(job_state_parse(name, strlen(name), &read));
		assert_int_equal(read, i);
	}
	for (int i = 0; i < ATTEMPT_STATE__MAX; i++) {
		enum attempt_state read = ATTEMPT_STATE__MAX;
		const char *name = attempt_state_name((enum attempt_state)i);

		assert_true(attempt_state_parse(name, strlen(name), &read));
		assert_int_equal(read, i);
	}
	for (int i = REASON_NONE + 1; i < REASON__MAX; i++) {
		enum reason read = REASON_NONE;
		const char *name = reason_name((enum reason)i);

		assert_non_null(name);
		assert_true(reason_parse(name, strlen(name), &read));
		assert_int_equal(read, i);
	}
}

static void says_all(const char *names, const char *(*name)(int), int max)
{
	struct text list;

	text_init(&list, 1024);
	for (int i = 0; i < max; i++)
		text_addf(&list, "%s%s", i == 0 ? "" : i + 1 < max ? ", " : " or ", name(i));
	assert_string_equal(list.bytes, names);
	text_release(&list);
}

static const char *name_of_job(int i)
{
	return job_state_name((enum job_state)i);
}

static const char *name_of_attempt(int i)
{
	return attempt_state_name((enum attempt_state)i);
}

static void people_are_told_every_state(void **state)
{
	(void)state;
	says_all(JOB_STATE_NAMES, name_of_job, JOB_STATE__MAX);
	says_all(ATTEMPT_STATE_NAMES, name_of_attempt, ATTEMPT_STATE__MAX);
}

static void a_name_with_more_or_less_than_its_bytes_does_not_read(void **state)
{
	enum job_state read = JOB_STATE__MAX;

	(void)state;
	assert_false(job_state_parse("queue", 5, &read));
	assert_false(job_state_parse("queued\0", 7, &read));
	assert_false(job_state_parse("Queued", 6, &read));
	assert_false(job_state_parse("", 0, &read));
	assert_int_equal(read, JOB_STATE__MAX);
	assert_null(job_state_name(JOB_STATE__MAX));
	assert_null(reason_name(REASON_NONE));
}

static void exactly_starting_running_and_unknown_are_in_doubt(void **state)
{
	(void)state;
	for (int i = 0; i < ATTEMPT_STATE__MAX; i++) {
		bool doubt = i == ATTEMPT_STARTING || i == ATTEMPT_RUNNING || i == ATTEMPT_UNKNOWN;

		assert_int_equal(attempt_in_doubt((enum attempt_state)i), doubt);
		assert_int_equal(attempt_in_play((enum attempt_state)i),
				 doubt || i == ATTEMPT_RELEASED);
	}
}

static void the_advice_never_is_a_new_key(void **state)
{
	static const struct {
		struct job job;
		const char *want;
	} rows[] = {
		{ { .state = JOB_QUEUED }, "wait" },
		{ { .state = JOB_RUNNING }, "wait" },
		{ { .state = JOB_UNKNOWN }, "ask_operator" },
		{ { .state = JOB_SUCCEEDED }, "done" },
		{ { .state = JOB_CANCELLED }, "done" },
		{ { .state = JOB_FAILED, .error_reason = REASON_REFUSED }, "new_attempt" },
		{ { .state = JOB_FAILED,
		    .error_reason = REASON_CONTRACT_VIOLATION,
		    .effect_done = true },
		  "ask_operator" },
		{ { .state = JOB_FAILED, .error_reason = REASON_CONTRACT_VIOLATION },
		  "new_attempt" },
		{ { .state = JOB_FAILED, .error_reason = REASON_EXPIRED }, "done" },
		{ { .state = JOB_FAILED, .error_reason = REASON_DEADLINE }, "done" },
		{ { .state = JOB_FAILED,
		    .error_reason = REASON_RETRY_LATER,
		    .past_deadline = true },
		  "done" },
		{ { .state = JOB_FAILED,
		    .error_reason = REASON_CONTRACT_VIOLATION,
		    .effect_done = true,
		    .past_deadline = true },
		  "done" },
		{ { .state = JOB_UNKNOWN, .past_deadline = true }, "ask_operator" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(job_advice(&rows[i].job), rows[i].want) != 0)
			fail_msg("row %zu: %s, want %s", i, job_advice(&rows[i].job), rows[i].want);
}

static void a_reader_is_told_when_to_ask_again_until_the_job_is_settled(void **state)
{
	static const struct {
		struct job job;
		uint32_t want;
	} rows[] = {
		{ { .state = JOB_QUEUED, .run_after_us = 0 }, 1 },
		{ { .state = JOB_QUEUED, .run_after_us = 1000000 + 4200000 }, 5 },
		{ { .state = JOB_QUEUED, .run_after_us = INT64_C(90000000000) }, 3600 },
		{ { .state = JOB_RUNNING }, 1 },
		{ { .state = JOB_UNKNOWN }, 10 },
		{ { .state = JOB_SUCCEEDED }, 0 },
		{ { .state = JOB_FAILED }, 0 },
		{ { .state = JOB_CANCELLED }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (job_retry_hint_s(&rows[i].job, 1000000) != rows[i].want)
			fail_msg("row %zu: %u, want %u", i, job_retry_hint_s(&rows[i].job, 1000000),
				 rows[i].want);
}

static void names_of_providers_are_short_lower_case_words(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		bool valid;
	} rows[] = {
		{ "inkjet", 6, true },
		{ "a", 1, true },
		{ "0", 1, true },
		{ "a-b_c.d", 7, true },
		{ "", 0, false },
		{ "-a", 2, false },
		{ ".", 1, false },
		{ "A", 1, false },
		{ "a b", 3, false },
		{ "a/b", 3, false },
		{ "a\0b", 3, false },
		{ "\xc3\xa4", 2, false },
		{ "0123456789012345678901234567890123456789012345678901234567890123", 64, true },
		{ "01234567890123456789012345678901234567890123456789012345678901234", 65, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (name_valid(rows[i].name, rows[i].len) != rows[i].valid)
			fail_msg("row %zu: '%s'", i, rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_has_a_name_that_reads_back),
		cmocka_unit_test(people_are_told_every_state),
		cmocka_unit_test(a_name_with_more_or_less_than_its_bytes_does_not_read),
		cmocka_unit_test(exactly_starting_running_and_unknown_are_in_doubt),
		cmocka_unit_test(the_advice_never_is_a_new_key),
		cmocka_unit_test(a_reader_is_told_when_to_ask_again_until_the_job_is_settled),
		cmocka_unit_test(names_of_providers_are_short_lower_case_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
