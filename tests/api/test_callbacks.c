/* test_callbacks.c: a provider's word under the URL that it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/callback.h"
#include "support/ask.h"
#include "support/fake_store.h"

static const unsigned char old_key[32] = "the key before, thirty-two bytes";
static const unsigned char new_key[32] = "the key of now, thirty-two bytes";
static char uri[256];

static int setup(void **state)
{
	(void)state;
	fake_store_reset();
	fake.get = RC_OK;
	fake.settled = SETTLED_MADE;
	fake.attempt_is = ATTEMPT_RUNNING;
	fake.definition = "{\"url\":\"http://p/\",\"result\":{\"pointer\":\"/out\"}}";
	ask_keyring = (struct keyring){ .len = 2 };
	memcpy(ask_keyring.keys[0].bytes, new_key, sizeof new_key);
	memcpy(ask_keyring.keys[1].bytes, old_key, sizeof old_key);
	ask_keyring.keys[0].len = ask_keyring.keys[1].len = 32;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ask_end();
	ask_keyring.len = 0;
	return 0;
}

static const char *url(const void *key)
{
	struct text text;
	struct id id;

	assert_true(id_parse(FAKE_ATTEMPT, ID_TEXT_LEN, &id));
	text_init(&text, sizeof uri);
	callback_url("", key, 32, &id, &text);
	snprintf(uri, sizeof uri, "%s", text.bytes);
	text_release(&text);
	return uri;
}

static int call(const char *at, const char *body)
{
	return ask(&(struct ask){ .method = "POST", .uri = at, .authorization = "", .body = body });
}

static void our_own_form_is_the_result_itself(void **state)
{
	(void)state;
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\",\"result\": {\"n\":1.00}}"),
			 200);
	assert_string_equal(answer_body(), "{\"accepted\":true}");
	assert_int_equal(fake.word.event, ON_RESULT);
	assert_string_equal(fake.word_result, "{\"n\":1.00}");
}

static void a_result_is_judged_by_the_contract_of_its_job(void **state)
{
	static const struct {
		const char *body;
		enum attempt_event event;
	} rows[] = {
		{ "{\"outcome\":\"succeeded\",\"result\":7}", ON_RESULT },
		{ "{\"outcome\":\"succeeded\",\"result\":8}", ON_FAILURE },
		{ "{\"there\":7,\"out\":8}", ON_RESULT }, /* the route's pointer, not the row's */
		{ "{\"there\":8,\"out\":7}", ON_FAILURE },
		{ "{\"out\":7}", ON_FAILURE },
	};

	(void)state;
	fake.terms_text = "{\"result_schema\":{\"const\":7},\"routes\":[{\"provider\":\"print\","
			  "\"result\":{\"pointer\":\"/there\"},\"doubt\":[{\"pointer\":"
			  "\"/busy\",\"equals\":true}]}]}";
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(call(url(new_key), rows[i].body), 200);
		if (fake.word.event != rows[i].event)
			fail_msg("%s", rows[i].body);
		if (rows[i].event == ON_FAILURE)
			assert_int_equal(fake.word.reason, REASON_CONTRACT_VIOLATION);
		ask_end();
	}
	unsigned int writes = fake.write_calls;

	assert_int_equal(call(url(new_key), "{\"there\":7,\"busy\":true}"), 200);
	assert_non_null(strstr(answer_body(), "leaves the doubt"));
	assert_int_equal(fake.write_calls, writes);
}

static void failed_is_a_definite_failure_and_is_not_repeated(void **state)
{
	(void)state;
	assert_int_equal(call(url(new_key), "{\"outcome\":\"failed\",\"error\":\"no ink\"}"), 200);
	assert_int_equal(fake.word.event, ON_FAILURE);
	assert_int_equal(fake.word.reason, REASON_PROVIDER_FAILED);
	assert_false(fake.word.retryable);
	assert_non_null(strstr(fake.word_detail, "no ink"));
}

static void an_empty_body_says_nothing_and_the_doubt_stays(void **state)
{
	(void)state;
	fake.write_calls = 0;
	assert_int_equal(call(url(new_key), ""), 200);
	assert_string_equal(answer_body(), "{\"accepted\":false,\"reason\":\"the body is empty\"}");
	assert_int_equal(fake.write_calls, 0);
}

static void the_providers_own_body_is_read_by_its_row(void **state)
{
	(void)state;
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\",\"more\":1,\"out\":[7]}"),
			 200);
	assert_string_equal(fake.word_result, "[7]");
	assert_int_equal(call(url(new_key), "{\"out2\":[7]}"), 200);
	assert_int_equal(fake.word.event, ON_FAILURE);
	assert_int_equal(fake.word.reason, REASON_CONTRACT_VIOLATION);
	assert_true(fake.word.effect_done);
	assert_int_equal(call(url(new_key), "not json"), 200);
	assert_int_equal(fake.word.reason, REASON_CONTRACT_VIOLATION);
}

static void a_result_past_max_result_bytes_is_too_large_in_both_forms(void **state)
{
	static const struct {
		const char *body;
		size_t max;
		enum attempt_event event;
	} rows[] = {
		{ "{\"outcome\":\"succeeded\",\"result\":\"12345678\"}", 10, ON_RESULT },
		{ "{\"outcome\":\"succeeded\",\"result\":\"123456789\"}", 10, ON_FAILURE },
		{ "{\"outcome\":\"succeeded\"}", 1, ON_RESULT },
		{ "{\"out\":123}", 11, ON_RESULT },
		{ "{\"out\":1234}", 11, ON_FAILURE },
	};
	char definition[128];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(definition, sizeof definition,
			 "{\"url\":\"http://p/\",\"result\":{\"pointer\":\"/out\"},"
			 "\"max_result_bytes\":%zu}",
			 rows[i].max);
		fake.definition = definition;
		assert_int_equal(call(url(new_key), rows[i].body), 200);
		if (fake.word.event != rows[i].event ||
		    (rows[i].event == ON_FAILURE && fake.word.reason != REASON_TOO_LARGE))
			fail_msg("row %zu: event %d, reason %d", i, fake.word.event,
				 fake.word.reason);
	}
}

static void the_key_before_still_verifies_and_no_other_does(void **state)
{
	static const unsigned char other[32] = "a key of somebody else, 32 bytes";
	char at[256];

	(void)state;
	assert_int_equal(call(url(old_key), "{\"outcome\":\"succeeded\"}"), 200);
	assert_string_equal(fake.word_result, "null");
	fake.write_calls = 0;
	assert_int_equal(call(url(other), "{\"outcome\":\"succeeded\"}"), 404);
	snprintf(at, sizeof at, "%sx", url(new_key));
	assert_int_equal(call(at, "{}"), 404);
	snprintf(at, sizeof at, "%s/x", url(new_key));
	assert_int_equal(call(at, "{}"), 401); /* no path of ours */
	url(new_key);
	uri[strlen(uri) - 1] = uri[strlen(uri) - 1] == 'A' ? 'B' : 'A';
	assert_int_equal(call(uri, "{}"), 404);
	ask_keyring.len = 0;
	assert_int_equal(call(url(new_key), "{}"), 404);
	assert_int_equal(fake.write_calls, 0);
}

static void one_that_comes_too_late_is_told_so_that_it_stops(void **state)
{
	static const struct {
		enum settled settled;
		int status;
		const char *has;
	} rows[] = {
		{ SETTLED_LOST, 200, "\"accepted\":false" },
		{ SETTLED_LATE, 200, "\"accepted\":false" },
		{ SETTLED_REPEATED, 200, "\"accepted\":false" },
		{ SETTLED_REFUSED, 503, "on its way to the provider again" }, /* it counts later */
		{ SETTLED_NO_SUCH_ATTEMPT, 404, "not-found" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake.settled = rows[i].settled;
		int status = call(url(new_key), "{\"outcome\":\"succeeded\"}");

		if (status != rows[i].status || !strstr(answer_body(), rows[i].has))
			fail_msg("row %zu: %d %s", i, status, answer_body());
	}
}

static void a_database_that_refuses_makes_the_provider_repeat(void **state)
{
	(void)state;
	fake.get = RC_RETRY;
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\"}"), 503);
}

static void without_the_row_it_was_built_from_only_our_own_form_can_be_read(void **state)
{
	(void)state;
	fake.definition = NULL;
	fake.attempt_is = ATTEMPT_RUNNING;
	assert_int_equal(call(url(new_key), "{\"out\":1}"), 503);
	assert_non_null(strstr(answer_head(), "Retry-After"));
	fake.attempt_is = ATTEMPT_SUCCEEDED;
	assert_int_equal(call(url(new_key), "{\"out\":1}"), 200);
	assert_non_null(strstr(answer_body(), "\"accepted\":false"));
	assert_int_equal(fake.write_calls, 0);
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\",\"result\":1}"), 200);
}

static void a_result_that_never_fits_is_not_asked_for_again(void **state)
{
	(void)state;
	fake.too_large = true;
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\",\"result\":1}"), 200);
	assert_int_equal(fake.word.event, ON_FAILURE);
	assert_int_equal(fake.word.reason, REASON_TOO_LARGE);
	assert_true(fake.word.effect_done);
	fake.definition = "{\"url\":\"http://p/\",\"side_effects\":false}";
	assert_int_equal(call(url(new_key), "{\"outcome\":\"succeeded\",\"result\":1}"), 200);
	assert_false(fake.word.effect_done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(our_own_form_is_the_result_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(a_result_is_judged_by_the_contract_of_its_job,
						setup, teardown),
		cmocka_unit_test_setup_teardown(failed_is_a_definite_failure_and_is_not_repeated,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_body_says_nothing_and_the_doubt_stays,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_providers_own_body_is_read_by_its_row, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_result_past_max_result_bytes_is_too_large_in_both_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(the_key_before_still_verifies_and_no_other_does,
						setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_comes_too_late_is_told_so_that_it_stops,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_database_that_refuses_makes_the_provider_repeat,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_result_that_never_fits_is_not_asked_for_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_the_row_it_was_built_from_only_our_own_form_can_be_read, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
