/* test_view.c: the JSON of a job, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "core/view.h"

#define JOB_ID "01940000-0000-7000-8000-000000000001"
#define ATTEMPT_ID "01940000-0000-7000-8000-000000000002"
#define AT_US INT64_C(1796164847123456)
#define AT "2026-12-01T22:40:47.123456Z"

static struct id id_of(const char *text)
{
	struct id id;

	assert_true(id_parse(text, strlen(text), &id));
	return id;
}

static struct blob blob_of(const char *text)
{
	return (struct blob){ .bytes = strdup(text), .len = strlen(text) };
}

static struct job queued_job(void)
{
	return (struct job){
		.id = id_of(JOB_ID),
		.owner = blob_of("alice"),
		.key = blob_of("k \"1\""),
		.provider = "print",
		.state = JOB_QUEUED,
		.input = blob_of("{\"u\": \"a\\/b\", \"n\":1.00}"),
		.metadata = blob_of("{}"),
		.max_attempts = 3,
		.created_us = AT_US,
		.updated_us = AT_US,
	};
}

/* Writes and checks. `json` is let go. */
static void check(struct json_object *json, const char *want)
{
	size_t len;
	const char *text;

	assert_non_null(json);
	text = view_text(json, &len);
	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
	json_object_put(json);
}

static void a_job_shows_every_member_in_order(void **state)
{
	struct job job = queued_job();

	(void)state;
	check(view_job(&job),
	      "{\"id\":\"" JOB_ID "\",\"state\":\"queued\",\"version\":0,\"owner\":\"alice\","
	      "\"idempotency_key\":\"k "
	      "\\\"1\\\"\",\"contract\":null,\"contract_version\":null,\"provider\":\"print\","
	      "\"input\":{\"u\": \"a\\/b\", "
	      "\"n\":1.00},\"metadata\":{},\"max_attempts\":3,\"attempt_count\":0,"
	      "\"completed_by\":null,\"result\":null,\"error\":null,\"advice\":\"wait\",\"in_"
	      "doubt\":false,"
	      "\"not_before\":null,\"expires_at\":null,\"deadline_at\":null,\"created_at\":\"" AT
	      "\",\"updated_at\":\"" AT "\","
	      "\"purged_at\":null,\"passed_over\":[],\"attempts\":[]}");
	job_release(&job);
}

static void a_row_of_a_list_leaves_out_input_result_and_attempts(void **state)
{
	struct job job = queued_job();

	(void)state;
	check(view_job_row(&job),
	      "{\"id\":\"" JOB_ID "\",\"state\":\"queued\",\"version\":0,\"owner\":\"alice\","
	      "\"idempotency_key\":\"k "
	      "\\\"1\\\"\",\"contract\":null,\"contract_version\":null,\"provider\":\"print\","
	      "\"metadata\":{},\"max_attempts\":3,\"attempt_count\":0,\"completed_by\":null,"
	      "\"error\":null,"
	      "\"advice\":\"wait\",\"in_doubt\":false,\"not_before\":null,\"expires_at\":null,"
	      "\"deadline_at\":null,\"created_at\":\"" AT "\","
	      "\"updated_at\":\"" AT "\",\"purged_at\":null,\"passed_over\":[]}");
	job_release(&job);
}

static void a_settled_job_shows_how(void **state)
{
	struct job job = queued_job();
	size_t len;
	struct json_object *json;
	const char *text;

	(void)state;
	job.state = JOB_FAILED;
	job.error_reason = REASON_PROVIDER_FAILED;
	job.error_detail = blob_of("it said \"no\"/\n");
	job.has_error_attempt = true;
	job.error_attempt_id = id_of(ATTEMPT_ID);
	job.result = blob_of("18446744073709551616");
	job.has_completed_by = true;
	job.completed_by = id_of(ATTEMPT_ID);
	strcpy(job.contract, "c");
	job.contract_version = 2;
	json = view_job(&job);
	text = view_text(json, &len);
	assert_non_null(strstr(
		text,
		"\"error\":{\"reason\":\"provider_failed\",\"detail\":\"it said \\\"no\\\"/\\n\","
		"\"attempt_id\":\"" ATTEMPT_ID "\"}"));
	assert_non_null(strstr(text, "\"result\":18446744073709551616,"));
	assert_non_null(strstr(text, "\"completed_by\":\"" ATTEMPT_ID "\""));
	assert_non_null(strstr(text, "\"contract\":\"c\",\"contract_version\":2"));
	json_object_put(json);
	job_release(&job);
}

static void a_purged_job_has_null_for_its_input_and_an_empty_object_for_metadata(void **state)
{
	struct job job = queued_job();
	struct json_object *json;
	size_t len;

	(void)state;
	free(job.input.bytes);
	free(job.metadata.bytes);
	job.input = (struct blob){ NULL, 0 };
	job.metadata = (struct blob){ NULL, 0 };
	job.purged_us = AT_US;
	json = view_job(&job);
	assert_non_null(strstr(view_text(json, &len), "\"input\":null,\"metadata\":{},"));
	assert_non_null(strstr(view_text(json, &len), "\"purged_at\":\"" AT "\""));
	json_object_put(json);
	job_release(&job);
}

static void an_attempt_shows_every_member_in_order(void **state)
{
	struct attempt attempt = { .id = id_of(ATTEMPT_ID),
				   .number = 2,
				   .provider = "print",
				   .state = ATTEMPT_UNKNOWN,
				   .phase = PHASE_SENT,
				   .reason = REASON_TIMEOUT,
				   .http_status = 504,
				   .note = blob_of("looked"),
				   .settled_by = blob_of("ops"),
				   .settled_us = AT_US,
				   .started_us = AT_US };

	(void)state;
	check(view_attempt(&attempt),
	      "{\"id\":\"" ATTEMPT_ID
	      "\",\"number\":2,\"provider\":\"print\",\"state\":\"unknown\",\"phase\":\"sent\","
	      "\"reason\":\"timeout\",\"http_status\":504,\"note\":\"looked\","
	      "\"settled_by\":\"ops\",\"settled_at\":\"" AT
	      "\",\"certificate_id\":null,\"started_at\":\"" AT "\","
	      "\"finished_at\":null}");
	attempt_release(&attempt);
}

static void attempts_stand_inside_their_job(void **state)
{
	struct job job = queued_job();
	struct json_object *json;
	size_t len;

	(void)state;
	job.attempts = calloc(2, sizeof *job.attempts);
	job.attempts_len = 2;
	job.attempts[0] = (struct attempt){
		.id = id_of(ATTEMPT_ID), .number = 1, .provider = "a", .started_us = AT_US
	};
	job.attempts[1] = (struct attempt){
		.id = id_of(JOB_ID), .number = 2, .provider = "b", .started_us = AT_US
	};
	json = view_job(&job);
	assert_non_null(strstr(
		view_text(json, &len),
		"\"attempts\":[{\"id\":\"" ATTEMPT_ID "\",\"number\":1,\"provider\":\"a\","
		"\"state\":\"starting\",\"phase\":null,\"reason\":null,\"http_status\":null,"
		"\"note\":null,\"settled_by\":null,\"settled_at\":null,\"certificate_id\":null,"
		"\"started_at\":\"" AT "\",\"finished_at\":null},{\"id\":\"" JOB_ID "\""));
	json_object_put(json);
	job_release(&job);
}

static void a_certificate_shows_every_member_in_order(void **state)
{
	struct certificate certificate = {
		.id = id_of(ATTEMPT_ID),
		.contract = "summary",
		.contract_version = 2,
		.provider = "b",
		.passed = true,
		.now = STANDING_EXPIRED,
		.rounds = 3,
		.issued_us = AT_US,
		.expires_us = AT_US,
		.report = blob_of("[]"),
	};

	(void)state;
	check(view_certificate(&certificate),
	      "{\"id\":\"" ATTEMPT_ID "\",\"contract\":\"summary\",\"contract_version\":2,"
	      "\"provider\":\"b\",\"passed\":true,\"valid\":false,\"why\":\"expired\",\"rounds\":3,"
	      "\"issued_at\":\"" AT "\",\"expires_at\":\"" AT "\",\"report\":[]}");
	certificate_release(&certificate);
}

static void an_owner_of_any_bytes_is_still_json(void **state)
{
	(void)state;
	check(view_string("O=team,CN=\xff\xfe!", 13), "\"O=team,CN=\xef\xbf\xbd\xef\xbf\xbd!\"");
	check(view_string("J\xc3\xbcrgen", 7), "\"J\xc3\xbcrgen\"");
	check(view_string("a\0b", 3), "\"a\\u0000b\"");
	check(view_string("", 0), "\"\"");
}

static void raw_json_is_copied(void **state)
{
	char bytes[] = "[1, 2]";
	struct json_object *json = view_raw(bytes, 6);

	(void)state;
	memset(bytes, 'x', 6);
	check(json, "[1, 2]");
}

static void the_etag_names_version_and_revision(void **state)
{
	struct job job = { .version = UINT64_MAX, .revision = UINT64_MAX };
	char etag[ETAG_MAX];

	(void)state;
	view_etag(&job, etag);
	assert_string_equal(etag, "\"18446744073709551615-18446744073709551615\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_shows_every_member_in_order),
		cmocka_unit_test(a_row_of_a_list_leaves_out_input_result_and_attempts),
		cmocka_unit_test(a_settled_job_shows_how),
		cmocka_unit_test(
			a_purged_job_has_null_for_its_input_and_an_empty_object_for_metadata),
		cmocka_unit_test(an_attempt_shows_every_member_in_order),
		cmocka_unit_test(attempts_stand_inside_their_job),
		cmocka_unit_test(a_certificate_shows_every_member_in_order),
		cmocka_unit_test(an_owner_of_any_bytes_is_still_json),
		cmocka_unit_test(raw_json_is_copied),
		cmocka_unit_test(the_etag_names_version_and_revision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
