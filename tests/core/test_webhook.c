#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/webhook.h"

/* The vector that the libraries of Standard Webhooks share. */
#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define BODY "{\"test\": 2432232314}"
#define AT_S INT64_C(1614265330)
#define SIGNATURE "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static struct webhook_key key_of(const char *secret)
{
	struct webhook_key key;

	if (!webhook_secret_parse(secret, strlen(secret), &key))
		fail_msg("%s", secret);
	return key;
}

static void the_published_vector_comes_out(void **state)
{
	struct webhook_key key = key_of(SECRET);
	struct text out;

	(void)state;
	text_init(&out, 1024);
	webhook_sign(&key, 1, ID, AT_S, BODY, strlen(BODY), &out);
	assert_true(text_ok(&out));
	assert_string_equal(out.bytes, SIGNATURE);
	text_release(&out);
}

/* The second by openssl dgst -mac HMAC over the same content, with 24 bytes of 'B'. */
static void two_secrets_sign_one_after_the_other(void **state)
{
	const struct webhook_key keys[] = { key_of(SECRET),
					    key_of("whsec_QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJC") };
	struct text out;

	(void)state;
	text_init(&out, 1024);
	webhook_sign(keys, 2, ID, AT_S, BODY, strlen(BODY), &out);
	assert_string_equal(out.bytes,
			    SIGNATURE " v1,SY45wzlrlV5iEUxyn8gmhvhYov151AcAyPVSicZ0U2g=");
	text_release(&out);
}

static void a_signature_without_room_is_no_signature(void **state)
{
	struct webhook_key key = key_of(SECRET);
	struct text out;

	(void)state;
	text_init(&out, 20);
	webhook_sign(&key, 1, ID, AT_S, BODY, strlen(BODY), &out);
	assert_false(text_ok(&out));
	text_release(&out);
}

static void a_secret_is_whsec_and_24_to_64_bytes(void **state)
{
	static const struct {
		const char *prefix;
		size_t digits;
		const char *end;
		size_t want; /* 0: refused */
	} rows[] = {
		{ "whsec_", 32, "", 24 },
		{ "whsec_", 28, "QQ==", 0 },
		{ "whsec_", 40, "QUI=", 32 },
		{ "whsec_", 84, "QQ==", 64 },
		{ "whsec_", 84, "QUI=", 0 },
		{ "whsec_", 28, "", 0 },
		{ "whsec_", 88, "", 0 },
		{ "whsec_", 31, "", 0 },
		{ "", 32, "", 0 },
		{ "WHSEC_", 32, "", 0 },
		{ "whsec_", 32, "\n", 0 },
		{ "whsec_", 0, "", 0 },
		{ "whsec_", 28, "-_-_", 0 },
		{ " whsec_", 32, "", 0 },
		{ "whpk_", 32, "", 0 },
		{ "whsec_", 40, "QUI", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		static const struct webhook_key empty;
		struct webhook_key key;
		char secret[128], digits[96];

		memset(digits, 'A', sizeof digits);
		snprintf(secret, sizeof secret, "%s%.*s%s", rows[i].prefix, (int)rows[i].digits,
			 digits, rows[i].end);
		if (webhook_secret_parse(secret, strlen(secret), &key) != (rows[i].want > 0) ||
		    key.len != rows[i].want)
			fail_msg("row %zu: %s: %zu bytes", i, secret, key.len);
		if (rows[i].want == 0)
			assert_memory_equal(&key, &empty, sizeof key);
	}
}

static struct webhook_event event_of(const char *key, size_t key_len)
{
	struct webhook_event event = {
		.type = "job.succeeded",
		.at_us = INT64_C(1796164847123456),
		.job_id = { { 1, 2, 3 } },
		.key_len = key_len,
		.state = JOB_SUCCEEDED,
		.version = UINT64_MAX,
	};

	memcpy(event.key, key, key_len);
	return event;
}

static void the_body_is_the_same_bytes_for_the_same_event(void **state)
{
	struct webhook_event event = event_of("a\"\\b", 4);
	struct text out;

	(void)state;
	for (int round = 0; round < 2; round++) {
		text_init(&out, WEBHOOK_BODY_MAX_BYTES);
		webhook_body(&event, &out);
		assert_string_equal(out.bytes, "{\"type\":\"job.succeeded\",\"timestamp\":\"2026-"
					       "12-01T22:40:47.123456Z\",\"data\":{\"id\":"
					       "\"01020300-0000-0000-0000-000000000000\","
					       "\"idempotency_key\":\"a\\\"\\\\b\",\"state\":"
					       "\"succeeded\",\"version\":18446744073709551615}}");
		text_release(&out);
		event.id.bytes[0]++; /* the message's own id is in the header */
	}
}

static void the_longest_key_fits_the_body(void **state)
{
	char key[KEY_MAX];
	struct text out;

	(void)state;
	memset(key, 1, sizeof key);
	struct webhook_event event = event_of(key, sizeof key);

	text_init(&out, WEBHOOK_BODY_MAX_BYTES);
	webhook_body(&event, &out);
	assert_true(text_ok(&out));
	text_release(&out);
}

static void the_schedule_takes_a_day_and_ends(void **state)
{
	int64_t least = 0, most = 0, before = 0;
	uint32_t tries;

	(void)state;
	assert_int_equal(webhook_retry_ms(0, UINT32_MAX, -1), 0);
	for (tries = 1; webhook_retry_ms(tries, 0, -1) >= 0; tries++) {
		int64_t low = webhook_retry_ms(tries, 0, -1),
			high = webhook_retry_ms(tries, UINT32_MAX, -1);

		if (high <= low || high > low * 9 / 7 + 1 || low < before ||
		    webhook_retry_ms(tries, 1u << 31, -1) <= low)
			fail_msg("try %u: %lld to %lld ms", tries, (long long)low, (long long)high);
		before = low;
		least += low;
		most += high;
	}
	assert_int_equal(tries, 11);
	assert_int_equal(webhook_retry_ms(1, 0, -1), 4375);
	assert_int_equal(webhook_retry_ms(1, UINT32_MAX, -1), 5625);
	assert_true(least > INT64_C(20) * 3600000 && most < INT64_C(28) * 3600000);
	assert_int_equal(webhook_retry_ms(UINT32_MAX, 0, -1), -1);
}

static void c07_an_endpoints_own_word_raises_the_wait_and_never_lowers_it(void **state)
{
	(void)state;
	assert_int_equal(webhook_retry_ms(1, 0, 60000), 60000);
	assert_int_equal(webhook_retry_ms(1, 0, 4376), 4376);
	assert_int_equal(webhook_retry_ms(1, 0, 1), 4375);
	assert_int_equal(webhook_retry_ms(1, 0, 0), 4375);
	assert_int_equal(webhook_retry_ms(11, 0, 60000), -1); /* nor does it begin anew */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vector_comes_out),
		cmocka_unit_test(two_secrets_sign_one_after_the_other),
		cmocka_unit_test(a_signature_without_room_is_no_signature),
		cmocka_unit_test(a_secret_is_whsec_and_24_to_64_bytes),
		cmocka_unit_test(the_body_is_the_same_bytes_for_the_same_event),
		cmocka_unit_test(the_longest_key_fits_the_body),
		cmocka_unit_test(the_schedule_takes_a_day_and_ends),
		cmocka_unit_test(c07_an_endpoints_own_word_raises_the_wait_and_never_lowers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
