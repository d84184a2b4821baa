#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/webhook_def.h"

#define URL "https://alice.example/hooks?a=b"

static enum rc read_def(const char *json, struct webhook_def *def, struct flaws *flaws)
{
	struct json_doc *doc;
	struct json_error error;

	flaws_init(flaws);
	assert_int_equal(json_parse(json, strlen(json), 16, &doc, &error), RC_OK);
	enum rc rc = webhook_def_read(json_root(doc), def, flaws);

	json_free(doc);
	return rc;
}

static void each_flaw_is_told_with_its_pointer(void **state)
{
	static const struct {
		const char *json, *pointer; /* NULL: sound */
	} rows[] = {
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${file:/etc/a}\"]}", NULL },
		{ "{\"secrets\":[\"${env:A}\",\"${file:/b}\"],\"url\":\"http://10.0.0.1:8080\"}",
		  NULL },
		{ "[]", "" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A}\"],\"secret\":1}", "/secret" },
		{ "{\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":7,\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"ftp://a/\",\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"/hooks\",\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"https://me@a/\",\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"https://a/#b\",\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"https://a/\\u0000\",\"secrets\":[\"${env:A}\"]}", "/url" },
		{ "{\"url\":\"" URL "\"}", "/secrets" },
		{ "{\"url\":\"" URL "\",\"secrets\":\"${env:A}\"}", "/secrets" },
		{ "{\"url\":\"" URL "\",\"secrets\":[]}", "/secrets" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A}\",\"${env:B}\",\"${env:C}\"]}",
		  "/secrets" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]}",
		  "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"whsec_${env:A}\"]}", "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A} \"]}", "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A}${env:B}\"]}", "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${file:etc/a}\"]}", "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"\"]}", "/secrets/0" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A}\",7]}", "/secrets/1" },
		{ "{\"url\":\"" URL "\",\"secrets\":[\"${env:A}\",\"${env:A}\"]}", "/secrets/1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct webhook_def def;
		struct flaws flaws;
		enum rc rc = read_def(rows[i].json, &def, &flaws);

		if (rc != (rows[i].pointer ? RC_INVALID : RC_OK))
			fail_msg("%s: %d", rows[i].json, rc);
		if (rows[i].pointer &&
		    (flaws.count != 1 || strcmp(flaws.list[0].pointer, rows[i].pointer) != 0))
			fail_msg("%s: %zu flaws, %s", rows[i].json, flaws.count,
				 flaws.list[0].pointer);
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
