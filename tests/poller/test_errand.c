/* test_errand.c: what was seen becomes a word, or keeps the doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "poller/errand.h"

#define WORD(text) ((char *)(uintptr_t)(text))

/* Waits a second at most between two tries; asked about by its status URL; honours keys. */
static const struct provider_def a_def = { .url = WORD("http://p/"),
					   .method = WORD("POST"),
					   .timeout_ms = 30000,
					   .max_result_bytes = 1000,
					   .key_honoured = true,
					   .retry_base_ms = 1000,
					   .retry_max_ms = 1000,
					   .result_pointer = WORD(""),
					   .has_accepted = true,
					   .accepted_deadline_ms = 3600000,
					   .has_status = true,
					   .status_url = WORD("http://p/s"),
					   .status_state = WORD("/state"),
					   .status_result = WORD(""),
					   .has_cancel = true,
					   .cancel_url = WORD("http://p/c") };

static struct seen an_answer(uint32_t status, int64_t retry_after_ms)
{
	return (struct seen){ .end = SEEN_WHOLE,
			      .phase = PHASE_ANSWER_BEGUN,
			      .http_status = status,
			      .retry_after_ms = retry_after_ms,
			      .body = "{\"state\": \"busy\"}",
			      .body_len = strlen("{\"state\": \"busy\"}"),
			      .detail = "" };
}

/* outcome_release() its outcome. */
static struct errand concluded(enum errand_kind kind, const struct seen *seen)
{
	static struct ask ask = { .in_play = true };
	struct errand errand = { .kind = kind,
				 .tries = 1,
				 .ask = kind == ERRAND_SEND ? NULL : &ask,
				 .provider = "p",
				 .def = &a_def };

	errand_conclude(&errand, seen, 0);
	return errand;
}

static void c07_accepted_work_is_asked_about_no_sooner_than_its_202_said(void **state)
{
	const struct seen told = an_answer(202, 120000), silent = an_answer(202, -1);
	struct errand errand = concluded(ERRAND_SEND, &told);

	(void)state;
	assert_int_equal(errand.word.event, ON_ACKNOWLEDGED);
	assert_int_equal(errand.word.ask_after_ms, 120000);
	outcome_release(&errand.outcome);
	errand = concluded(ERRAND_SEND, &silent);
	assert_int_equal(errand.word.event, ON_ACKNOWLEDGED);
	assert_in_range(errand.word.ask_after_ms, 1, 1000);
	outcome_release(&errand.outcome);
}

static void
accepted_work_is_overdue_at_the_jobs_deadline_or_the_providers_whichever_is_first(void **state)
{
	static const struct {
		int64_t budget_ms, least_ms, most_ms;
	} rows[] = {
		{ -1, 3600000, 3600000 },
		{ 7200000, 3600000, 3600000 },
		{ 1800000, 1, 1795000 }, /* five seconds of it have passed, at least */
		{ 4000, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct seen seen = an_answer(202, -1);
		struct errand errand = { .kind = ERRAND_SEND,
					 .tries = 1,
					 .provider = "p",
					 .def = &a_def,
					 .budget_ms = rows[i].budget_ms,
					 .claimed_ms = clock_monotonic_ms() - 5000 };

		errand_conclude(&errand, &seen, 0);
		assert_int_equal(errand.word.event, ON_ACKNOWLEDGED);
		assert_in_range(errand.word.overdue_ms, rows[i].least_ms, rows[i].most_ms);
		outcome_release(&errand.outcome);
	}
}

static void c07_no_question_is_asked_again_sooner_than_its_answer_said(void **state)
{
	static const struct {
		enum errand_kind kind;
		uint32_t status;
	} rows[] = {
		{ ERRAND_STATUS, 200 }, { ERRAND_STATUS, 429 }, { ERRAND_STATUS, 503 },
		{ ERRAND_RESEND, 409 }, { ERRAND_RESEND, 429 }, { ERRAND_RESEND, 503 },
		{ ERRAND_RESEND, 202 }, { ERRAND_CANCEL, 429 }, { ERRAND_CANCEL, 503 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen seen = an_answer(rows[i].status, 90000);
		struct errand errand = concluded(rows[i].kind, &seen);

		if (!errand.keeps || errand.kept.next_ms != 90000)
			fail_msg("row %zu: keeps %d, again in %lld ms", i, errand.keeps,
				 (long long)errand.kept.next_ms);
		outcome_release(&errand.outcome);
		/* What is said in an answer that was cut decides nothing. */
		seen.end = SEEN_TRUNCATED;
		errand = concluded(rows[i].kind, &seen);
		assert_true(errand.keeps);
		assert_in_range(errand.kept.next_ms, 1, 1000);
		outcome_release(&errand.outcome);
	}
}

static void c07_a_doubt_is_asked_about_no_sooner_than_its_answer_said(void **state)
{
	const struct seen seen = an_answer(500, 90000);
	struct errand errand = concluded(ERRAND_SEND, &seen);

	(void)state;
	assert_int_equal(errand.word.event, ON_TRACK_LOST);
	assert_int_equal(errand.word.ask_after_ms, 90000);
	outcome_release(&errand.outcome);
}

static void a_doubt_that_nobody_can_be_asked_about_waits_for_no_question(void **state)
{
	static const struct {
		const char *status_url;
		bool honoured, asked;
	} rows[] = {
		{ NULL, false, false },
		{ "http://p/s", false, true },
		{ NULL, true, true },
		{ "http://p/{{reference}}", false, false }, /* by which name? */
		{ "http://p/{{reference}}", true, true },
	};
	const struct seen seen = an_answer(500, -1);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct provider_def def = a_def;
		struct errand errand = {
			.kind = ERRAND_SEND, .tries = 1, .provider = "p", .def = &def
		};

		def.has_status = rows[i].status_url != NULL;
		def.status_url = WORD(rows[i].status_url);
		def.key_honoured = rows[i].honoured;
		errand_conclude(&errand, &seen, 0);
		assert_int_equal(errand.word.event, ON_TRACK_LOST);
		if ((errand.word.ask_after_ms >= 0) != rows[i].asked)
			fail_msg("row %zu: asked", i);
		errand_doubt(&errand);
		if ((errand.word.ask_after_ms >= 0) != rows[i].asked)
			fail_msg("row %zu: asked after what couldn't be written", i);
		outcome_release(&errand.outcome);
	}
}

static void a_cancel_that_was_only_accepted_proves_no_end(void **state)
{
	static const struct {
		uint32_t status;
		bool proves;
	} rows[] = { { 200, true },  { 203, true },  { 204, true }, { 202, false },
		     { 201, false }, { 206, false }, { 404, false } };
	struct provider_def def = a_def;

	(void)state;
	def.cancel_proves = true;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct seen seen = an_answer(rows[i].status, -1);
		struct ask asking = { .in_play = true };
		struct errand errand = { .kind = ERRAND_CANCEL,
					 .tries = 1,
					 .ask = &asking,
					 .provider = "p",
					 .def = &def };

		errand_conclude(&errand, &seen, 0);
		if (errand.keeps == rows[i].proves ||
		    (rows[i].proves && errand.word.event != ON_CANCEL) ||
		    (errand.keeps && !errand.kept.told))
			fail_msg("%u: keeps %d", rows[i].status, errand.keeps);
		outcome_release(&errand.outcome);
	}
}

static void f03_a_message_goes_out_under_the_databases_time(void **state)
{
	struct outbox_list messages = { .list = calloc(1, sizeof *messages.list), .len = 1 };

	(void)state;
	messages.list[0].taken_ms = 7;
	messages.list[0].taken_us = INT64_C(1796164850000000);
	struct errand_list errands = errands_of_messages(&messages);

	assert_int_equal(errands.len, 1);
	assert_int_equal(errands.first->claimed_ms, 7);
	assert_true(errands.first->claimed_us == INT64_C(1796164850000000));
	errand_free(errand_pop(&errands));
}

static void an_answer_says_which_sending_it_answers(void **state)
{
	static const struct {
		enum errand_kind kind;
		uint32_t sending;
		bool of_sending;
	} rows[] = { { ERRAND_SEND, 0, true },
		     { ERRAND_RESEND, 3, true },
		     { ERRAND_STATUS, 0, false } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask ask = { .in_play = true, .same_row = true };
		struct errand errand = {
			.kind = rows[i].kind, .ask = &ask, .sending = rows[i].sending, .def = &a_def
		};

		errand_too_large(&errand);
		assert_int_equal(errand.word.of_sending, rows[i].of_sending);
		assert_int_equal(errand.word.sending, rows[i].sending);
	}
}

static void a_question_that_was_never_handed_to_libcurl_says_so(void **state)
{
	struct errand errand = { .kind = ERRAND_RESEND, .tries = 1, .def = &a_def };

	(void)state;
	errand_never_sent(&errand, "no time", 0);
	assert_true(errand.keeps);
	assert_true(errand.kept.unsent);
	assert_in_range(errand.kept.next_ms, 1, 1000);
}

static void a_status_without_a_result_fails_only_what_the_same_row_asked_for(void **state)
{
	const struct seen seen = an_answer(200, -1);
	struct provider_def def = a_def;

	(void)state;
	def.status_words[0].word = WORD("busy");
	def.status_words[0].means = STATUS_SUCCEEDED;
	def.status_words_len = 1;
	def.status_result = WORD("/elsewhere");
	for (int same_row = 0; same_row < 2; same_row++) {
		struct ask ask = { .in_play = true, .same_row = same_row };
		struct errand errand = {
			.kind = ERRAND_STATUS, .tries = 1, .ask = &ask, .provider = "p", .def = &def
		};

		errand_conclude(&errand, &seen, 0);
		assert_int_equal(errand.keeps, !same_row);
		if (same_row)
			assert_int_equal(errand.word.reason, REASON_CONTRACT_VIOLATION);
		outcome_release(&errand.outcome);
	}
}

static void of_the_questions_only_resends_are_taken_back_with_their_lease(void **state)
{
	static const enum errand_kind kinds[] = { ERRAND_RESEND, ERRAND_STATUS, ERRAND_CANCEL,
						  ERRAND_RESEND, ERRAND_STATUS };
	struct errand errands[sizeof kinds / sizeof kinds[0]] = { 0 };
	struct errand_list list = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		errands[i].kind = kinds[i];
		errands[i].tries = 1;
		errands[i].def = &a_def;
		errand_push(&list, &errands[i]);
	}
	struct errand_list resends = errands_take_resends(&list, 0);

	assert_int_equal(resends.len, 2);
	assert_int_equal(list.len, 3);
	for (struct errand *e; (e = errand_pop(&resends));) {
		assert_int_equal(e->kind, ERRAND_RESEND);
		assert_true(e->keeps);
		assert_true(e->kept.next_ms > 0);
		assert_false(e->kept.told);
	}
	for (struct errand *e; (e = errand_pop(&list));)
		assert_true(e->kind != ERRAND_RESEND && !e->keeps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c07_accepted_work_is_asked_about_no_sooner_than_its_202_said),
		cmocka_unit_test(
			accepted_work_is_overdue_at_the_jobs_deadline_or_the_providers_whichever_is_first),
		cmocka_unit_test(c07_no_question_is_asked_again_sooner_than_its_answer_said),
		cmocka_unit_test(c07_a_doubt_is_asked_about_no_sooner_than_its_answer_said),
		cmocka_unit_test(an_answer_says_which_sending_it_answers),
		cmocka_unit_test(a_question_that_was_never_handed_to_libcurl_says_so),
		cmocka_unit_test(a_status_without_a_result_fails_only_what_the_same_row_asked_for),
		cmocka_unit_test(a_doubt_that_nobody_can_be_asked_about_waits_for_no_question),
		cmocka_unit_test(a_cancel_that_was_only_accepted_proves_no_end),
		cmocka_unit_test(f03_a_message_goes_out_under_the_databases_time),
		cmocka_unit_test(of_the_questions_only_resends_are_taken_back_with_their_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
