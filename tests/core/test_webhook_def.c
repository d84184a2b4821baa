#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/webhook_def.h"

#define URL "https://alice.example/hooks?a=b"

#define A "${env:A}"

static void each_flaw_is_told_with_its_pointer(void **state)
{
	static const struct {
		const char *url, *secrets[3];
		size_t len;
		const char *pointer; /* NULL: sound */
	} rows[] = {
		{ URL, { "${file:/etc/a}" }, 1, NULL },
		{ "http://10.0.0.1:8080", { A, "${file:/b}" }, 2, NULL },
		{ "ftp://a/", { A }, 1, "/url" },
		{ "/hooks", { A }, 1, "/url" },
		{ "", { A }, 1, "/url" },
		{ "https://me@a/", { A }, 1, "/url" },
		{ "https://a/#b", { A }, 1, "/url" },
		{ URL, { A }, 0, "/secrets" },
		{ URL, { A, "${env:B}", "${env:C}" }, 3, "/secrets" },
		{ URL, { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, 1, "/secrets/0" },
		{ URL, { "whsec_${env:A}" }, 1, "/secrets/0" },
		{ URL, { "${env:A} " }, 1, "/secrets/0" },
		{ URL, { "${env:A}${env:B}" }, 1, "/secrets/0" },
		{ URL, { "${file:etc/a}" }, 1, "/secrets/0" },
		{ URL, { "" }, 1, "/secrets/0" },
		{ URL, { A, "7" }, 2, "/secrets/1" },
		{ URL, { A, A }, 2, "/secrets/1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct webhook_def def;
		struct flaws flaws;

		flaws_init(&flaws);
		enum rc rc =
			webhook_def_make(rows[i].url, rows[i].secrets, rows[i].len, &def, &flaws);

		if (rc != (rows[i].pointer ? RC_INVALID : RC_OK))
			fail_msg("row %zu: %d", i, rc);
		if (rows[i].pointer &&
		    (flaws.count != 1 || strcmp(flaws.list[0].pointer, rows[i].pointer) != 0))
			fail_msg("row %zu: %zu flaws, %s", i, flaws.count, flaws.list[0].pointer);
		webhook_def_release(&def);
		flaws_release(&flaws);
	}
}

static void what_is_stored_reads_back_the_same(void **state)
{
	static const char *const secrets[] = { "${file:/etc/one \"two\" \\}", "${env:B}" };
	struct webhook_def def, again;
	struct flaws flaws;
	struct text stored;

	(void)state;
	flaws_init(&flaws);
	text_init(&stored, WEBHOOK_DEF_MAX_BYTES);
	assert_int_equal(webhook_def_make(URL, secrets, 2, &def, &flaws), RC_OK);
	webhook_secrets_write(&def, &stored);
	assert_string_equal(stored.bytes, "[\"${file:/etc/one \\\"two\\\" \\\\}\",\"${env:B}\"]");
	assert_int_equal(webhook_def_stored(def.url, stored.bytes, stored.len, &again), RC_OK);
	assert_string_equal(again.url, URL);
	assert_int_equal(again.secrets_len, 2);
	assert_string_equal(again.secrets[0], secrets[0]);
	assert_string_equal(again.secrets[1], secrets[1]);
	webhook_def_release(&again);
	assert_int_equal(webhook_def_stored(URL, "[1]", 3, &again), RC_INVALID);
	assert_int_equal(webhook_def_stored(URL, "[", 1, &again), RC_INVALID);
	assert_int_equal(webhook_def_stored("gone", stored.bytes, stored.len, &again), RC_INVALID);
	webhook_def_release(&def);
	text_release(&stored);
	flaws_release(&flaws);
}

static void bytes_that_are_no_text_are_not_taken_for_a_path(void **state)
{
	static const char *const secrets[] = { "${file:/etc/\xff}" };
	struct webhook_def def;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(webhook_def_make(URL, secrets, 1, &def, &flaws), RC_INVALID);
	assert_int_equal(webhook_def_make("https://a/\xff", secrets, 3, &def, &flaws), RC_INVALID);
	flaws_release(&flaws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_flaw_is_told_with_its_pointer),
		cmocka_unit_test(what_is_stored_reads_back_the_same),
		cmocka_unit_test(bytes_that_are_no_text_are_not_taken_for_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
