/* test_provider_store.c: putting, listing and deleting providers. */
#include "testdb.h"

#include <stdio.h>

#include "store/provider_store.h"

static enum rc put(const char *name, const char *json, bool *new_out, struct provider_row *row_out)
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
	struct provider_row row, got;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		bool is_new;

		assert_int_equal(put("new", rows[i].json, &is_new, &row), RC_OK);
		if (is_new != rows[i].is_new || row.version != rows[i].version)
			fail_msg("row %zu: version %u", i, row.version);
		assert_int_equal(provider_store_get(here.db, "new", &got), RC_OK);
		assert_string_equal(got.definition.bytes, row.definition.bytes);
		provider_row_release(&got);
		provider_row_release(&row);
		if (i == 3)
			assert_int_equal(raw_number("SELECT max_in_flight = 7 AND enabled = 0 FROM "
						    "providers WHERE name = 'new'"),
					 1);
	}
	assert_int_equal(provider_store_get(here.db, "none", &got), RC_NOT_FOUND);
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
	struct provider_row row;
	bool is_new = false;
	int tries = 0;

	url[9] = (char)('0' + index);
	do /* eight on one row: a victim of deadlocks may run out of rounds, with nothing done */
		puts->rcs[index] = provider_store_put(db, "same", &def, &is_new, &row);
	while (puts->rcs[index] == RC_RETRY && ++tries < 20);
	puts->made[index] = is_new;
	provider_row_release(&row);
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
	struct provider_row *rows;
	size_t len;
	bool more;

	(void)state;
	provider_new("a", 1);
	provider_new("b", 1);
	assert_int_equal(provider_store_list(here.db, NULL, 2, &rows, &len, &more), RC_OK);
	assert_true(len == 2 && more && strcmp(rows[0].name, "a") == 0 &&
		    strcmp(rows[1].name, "b") == 0);
	provider_list_free(rows, len);
	assert_int_equal(provider_store_list(here.db, "b", 2, &rows, &len, &more), RC_OK);
	assert_true(len == 1 && !more && strcmp(rows[0].name, "press") == 0);
	provider_list_free(rows, len);
	assert_int_equal(provider_store_list(here.db, "press", 2, &rows, &len, &more), RC_OK);
	assert_true(len == 0 && !more);
	provider_list_free(rows, len);
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
		TEST(several_puts_at_once_are_one_row_and_as_many_versions),
		TEST(lists_are_paged_by_name),
		TEST(what_is_in_use_is_not_deleted),
	};

	return cmocka_run_group_tests_name("providers", tests, testdb_open, testdb_close);
}
