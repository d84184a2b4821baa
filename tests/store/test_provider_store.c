/* test_provider_store.c: putting, listing and deleting providers. */
#include "testdb.h"

#include <stdio.h>

#include "store/attempt_store.h"
#include "store/provider_store.h"

static enum rc put(const char *name, const char *json, bool *new_out,
		   struct definition_row *row_out)
{
	struct provider_def def;
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;

	assert_int_equal(json_parse(json, strlen(json), 16, &doc, &error), RC_OK);
	flaws_init(&flaws);
	assert_int_equal(provider_def_read(json_root(doc), &def, &flaws), RC_OK);
	enum rc rc = provider_store_put(here.db, name, &def, new_out, row_out);

	provider_def_release(&def);
	flaws_release(&flaws);
	json_free(doc);
	return rc;
}

static void the_version_goes_up_with_every_change_and_only_then(void **state)
{
	static const struct {
		const char *json;
		bool is_new;
		uint32_t version;
	} rows[] = {
		{ "{\"url\":\"http://a/\"}", true, 1 },
		{ "{\"url\":\"http://a/\"}", false, 1 },
		{ "{\"url\":\"http://a/\",\"max_in_flight\":64}", false,
		  1 }, /* the default, said aloud */
		{ "{\"url\":\"http://a/\",\"max_in_flight\":7,\"enabled\":false}", false, 2 },
		{ "{\"url\":\"http://b/\"}", false, 3 },
	};
	struct definition_row row, got;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		bool is_new;

		assert_int_equal(put("new", rows[i].json, &is_new, &row), RC_OK);
		if (is_new != rows[i].is_new || row.version != rows[i].version)
			fail_msg("row %zu: version %u", i, row.version);
		assert_int_equal(provider_store_get(here.db, "new", &got), RC_OK);
		assert_string_equal(got.definition.bytes, row.definition.bytes);
		definition_row_release(&got);
		definition_row_release(&row);
		if (i == 3)
			assert_int_equal(raw_number("SELECT max_in_flight = 7 AND enabled = 0 FROM "
						    "providers WHERE name = 'new'"),
					 1);
	}
	assert_int_equal(provider_store_get(here.db, "none", &got), RC_NOT_FOUND);
}

static const char *built_from(const struct id *attempt)
{
	static char url[64];
	struct attempt got;
	struct provider_def def;
	bool has_def;

	assert_int_equal(attempt_store_get(here.db, attempt, &got, &def, &has_def), RC_OK);
	attempt_release(&got);
	snprintf(url, sizeof url, "%s", has_def ? def.url : "none");
	if (has_def)
		provider_def_release(&def);
	return url;
}

static void put_url(const char *url)
{
	struct definition_row row;
	char json[64];
	bool is_new;

	snprintf(json, sizeof json, "{\"url\":\"%s\"}", url);
	assert_int_equal(put("new", json, &is_new, &row), RC_OK);
	definition_row_release(&row);
}

static void an_attempt_keeps_the_row_that_it_was_built_from(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .provider = "new" });
	struct id attempt = attempt_new(
		(struct an_attempt){ .job = &job, .provider = "new", .state = ATTEMPT_RUNNING });

	(void)state;
	assert_string_equal(built_from(&attempt), "none");
	put_url("http://a/");
	assert_string_equal(built_from(&attempt), "http://a/");
	put_url("http://b/");
	put_url("http://c/");
	assert_string_equal(built_from(&attempt), "http://a/");
	raw_run(here.raw, "UPDATE attempts SET provider_version = 2");
	assert_string_equal(built_from(&attempt), "http://b/");
	raw_run(here.raw, "UPDATE attempts SET provider_version = 3");
	assert_string_equal(built_from(&attempt), "http://c/");
}

/* As long as older programs run: they keep nothing, and know nothing of what was kept. */
static void what_older_programs_put_is_kept_when_it_changes_and_never_mistaken(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .provider = "new" });
	struct id attempt = attempt_new(
		(struct an_attempt){ .job = &job, .provider = "new", .state = ATTEMPT_RUNNING });

	(void)state;
	put_url("http://a/");
	raw_run(here.raw, "DELETE FROM provider_versions");
	put_url("http://b/");
	assert_string_equal(built_from(&attempt), "http://a/");
	raw_run(here.raw, "DELETE FROM provider_versions");
	assert_string_equal(built_from(&attempt), "none");

	raw_run(here.raw, "DELETE FROM providers WHERE name = 'new'");
	raw_run(here.raw, "INSERT INTO provider_versions VALUES ('new', 1, "
			  "'{\"url\":\"http://old/\"}', NOW(6) - INTERVAL 1 DAY)");
	provider_new("new", 1);
	raw_run(here.raw, "UPDATE providers SET version = 2 WHERE name = 'new'");
	assert_string_equal(built_from(&attempt), "none");
}

static void a_put_brings_open_attempts_that_nobody_asks_about_to_their_turn(void **state)
{
	(void)state;
	put_url("http://a/");
	for (int from = 0; from < ATTEMPT_STATE__MAX; from++) {
		struct id job = job_new((struct a_job){ .state = JOB_RUNNING });
		enum attempt_state attempt_state = (enum attempt_state)from;

		raw_run(here.raw, "DELETE FROM attempts");
		attempt_new((struct an_attempt){
			.job = &job, .provider = "new", .state = attempt_state });
		attempt_new((struct an_attempt){
			.job = &job, .number = 2, .state = ATTEMPT_RELEASED }); /* elsewhere */
		put_url("http://a/"); /* said again after its answer was lost */
		bool armed = attempt_state == ATTEMPT_RUNNING || attempt_state == ATTEMPT_UNKNOWN ||
			     attempt_state == ATTEMPT_RELEASED;

		if (raw_number("SELECT SUM(next_ask_at IS NOT NULL) FROM attempts") != armed)
			fail_msg("%s", attempt_state_name(attempt_state));
	}
}

static void an_attempts_question_keeps_its_time_when_the_row_is_put(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .provider = "new" });

	(void)state;
	attempt_new((struct an_attempt){ .job = &job,
					 .provider = "new",
					 .state = ATTEMPT_UNKNOWN,
					 .more = "next_ask_at = NOW(6) + INTERVAL 1 HOUR" });
	put_url("http://a/");
	assert_int_equal(raw_number("SELECT next_ask_at > NOW(6) + INTERVAL 50 MINUTE FROM "
				    "attempts"),
			 1);
}

static void what_was_kept_goes_with_its_provider(void **state)
{
	(void)state;
	put_url("http://a/");
	put_url("http://b/");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM provider_versions"), 2);
	assert_int_equal(provider_store_delete(here.db, "new"), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM provider_versions"), 0);
}

struct puts {
	enum rc rcs[8];
	unsigned int made[8];
};

static void put_beside_others(struct db *db, size_t index, void *arg)
{
	struct puts *puts = arg;
	char url[] = "http://x/0";
	struct provider_def def = { .url = url,
				    .method = (char[]){ "POST" },
				    .key_header = (char[]){ "Idempotency-Key" },
				    .result_pointer = (char[]){ "" },
				    .max_in_flight = 1,
				    .connect_timeout_ms = 1,
				    .timeout_ms = 1,
				    .max_result_bytes = 1,
				    .retry_base_ms = 1,
				    .retry_max_ms = 1 };
	struct definition_row row;
	bool is_new = false;
	int tries = 0;

	url[9] = (char)('0' + index);
	do /* eight on one row: a victim of deadlocks may run out of rounds, with nothing done */
		puts->rcs[index] = provider_store_put(db, "same", &def, &is_new, &row);
	while (puts->rcs[index] == RC_RETRY && ++tries < 20);
	puts->made[index] = is_new;
	definition_row_release(&row);
}

static void several_puts_at_once_are_one_row_and_as_many_versions(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		struct puts puts;
		unsigned int made = 0;

		raw_run(here.raw, "DELETE FROM providers");
		crew_run(8, put_beside_others, &puts);
		for (size_t i = 0; i < 8; i++) {
			assert_int_equal(puts.rcs[i], RC_OK);
			made += puts.made[i];
		}
		assert_int_equal(made, 1);
		assert_int_equal(raw_number("SELECT version FROM providers"), 8);
	}
}

static void lists_are_paged_by_name(void **state)
{
	struct definition_row *rows;
	size_t len;
	bool more;

	(void)state;
	provider_new("a", 1);
	provider_new("b", 1);
	assert_int_equal(provider_store_list(here.db, NULL, 2, &rows, &len, &more), RC_OK);
	assert_true(len == 2 && more && strcmp(rows[0].name, "a") == 0 &&
		    strcmp(rows[1].name, "b") == 0);
	definition_list_free(rows, len);
	assert_int_equal(provider_store_list(here.db, "b", 2, &rows, &len, &more), RC_OK);
	assert_true(len == 1 && !more && strcmp(rows[0].name, "press") == 0);
	definition_list_free(rows, len);
	assert_int_equal(provider_store_list(here.db, "press", 2, &rows, &len, &more), RC_OK);
	assert_true(len == 0 && !more);
	definition_list_free(rows, len);
}

static void what_is_in_use_is_not_deleted(void **state)
{
	(void)state;
	for (int j = 0; j < JOB_STATE__MAX; j++) {
		testdb_empty(NULL);
		job_new((struct a_job){ .state = (enum job_state)j });
		enum rc rc = provider_store_delete(here.db, "press");

		if (rc != (j == JOB_QUEUED ? RC_CONFLICT : RC_OK))
			fail_msg("job %s: %d", job_state_name((enum job_state)j), (int)rc);
	}
	for (int a = 0; a < ATTEMPT_STATE__MAX; a++) {
		testdb_empty(NULL);
		struct id job = job_new((struct a_job){ .state = JOB_CANCELLED });

		attempt_new((struct an_attempt){ .job = &job, .state = (enum attempt_state)a });
		enum rc rc = provider_store_delete(here.db, "press");

		if (rc != (attempt_in_play((enum attempt_state)a) ? RC_CONFLICT : RC_OK))
			fail_msg("attempt %s: %d", attempt_state_name((enum attempt_state)a),
				 (int)rc);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM providers"),
				 attempt_in_play((enum attempt_state)a));
	}
	testdb_empty(NULL);
	assert_int_equal(provider_store_delete(here.db, "none"), RC_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_version_goes_up_with_every_change_and_only_then),
		TEST(an_attempt_keeps_the_row_that_it_was_built_from),
		TEST(what_older_programs_put_is_kept_when_it_changes_and_never_mistaken),
		TEST(a_put_brings_open_attempts_that_nobody_asks_about_to_their_turn),
		TEST(an_attempts_question_keeps_its_time_when_the_row_is_put),
		TEST(what_was_kept_goes_with_its_provider),
		TEST(several_puts_at_once_are_one_row_and_as_many_versions),
		TEST(lists_are_paged_by_name),
		TEST(what_is_in_use_is_not_deleted),
	};

	return cmocka_run_group_tests_name("providers", tests, testdb_open, testdb_close);
}
