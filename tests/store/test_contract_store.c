/* test_contract_store.c: contracts by name, versions that never change, and the jobs that keep
 * them. */
#include "contract_kit.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"
#include "store/provider_store.h"

static enum rc put(const char *name, const char *json, bool *new_out, uint32_t *version_out)
{
	struct definition_row row;
	size_t unknown;
	enum rc rc = contract_put(here.db, name, json, new_out, &unknown, &row);

	*version_out = row.version;
	definition_row_release(&row);
	return rc;
}

static uint64_t counted(const char *counter)
{
	return raw_number("SELECT variable_value FROM information_schema.global_status WHERE "
			  "variable_name = '%s'",
			  counter);
}

static void a_job_by_contract_is_one_statement_and_one_commit_and_shows_the_version(void **state)
{
	const struct caller callers[] = { caller_with("ann-token"), caller_named("ann") };
	struct intent intent = contract_intent("sum", "[1]");
	struct job job;

	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press", "");
	assert_int_equal(contract_new("sum", "second press", ""), 2);
	for (size_t i = 0; i < ROWS(callers); i++) {
		for (int warm = 0; warm < 2; warm++) { /* the first prepares, and reads the owner */
			char key[8];

			snprintf(key, sizeof key, "k%zu%d", i, warm);
			uint64_t executed = counted("Com_stmt_execute"),
				 commits = counted("Handler_commit");

			assert_int_equal(create(here.db, &callers[i], key, &intent, &job),
					 CREATED_NEW);
			if (warm) {
				assert_int_equal(counted("Com_stmt_execute") - executed, 1);
				assert_int_equal(counted("Handler_commit") - commits, 1);
			}
			assert_string_equal(job.contract, "sum");
			assert_int_equal(job.contract_version, 2);
			assert_string_equal(job.provider, "");
			assert_string_equal(
				raw_text("SELECT CONCAT_WS(' ', contract, contract_version, "
					 "next_provider, provider) FROM jobs WHERE id = %s",
					 x(&job.id)),
				"sum 2 second");
			job_release(&job);
		}
	}
}

static void a_job_of_no_contract_shows_none_after_one_that_had_one(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent plain = intent_of("press", "{}");
	struct job job;

	(void)state;
	contract_new("sum", "press", "");
	contract_job("sum");
	assert_int_equal(create(here.db, &ann, "plain", &plain, &job), CREATED_NEW);
	assert_true(job.contract[0] == '\0' && job.contract_version == 0);
	job_release(&job);
}

static void an_unknown_or_deleted_contract_is_refused_and_leaves_no_row(void **state)
{
	const struct caller callers[] = { caller_with("ann-token"), caller_named("ann") };
	static const char *const names[] = { "none", "gone", "press" };
	struct job job;

	(void)state;
	contract_new("gone", "press", "");
	assert_int_equal(contract_store_delete(here.db, "gone"), RC_OK);
	for (size_t i = 0; i < ROWS(callers) * ROWS(names); i++) {
		struct intent intent = contract_intent(names[i / 2], "{}");

		assert_int_equal(create(here.db, &callers[i % 2], "k", &intent, &job),
				 CREATED_NO_SUCH_CONTRACT);
		job_release(&job);
	}
	struct caller nobody = caller_with("no-token");
	struct intent intent = contract_intent("none", "{}");

	assert_int_equal(create(here.db, &nobody, "k", &intent, &job), CREATED_NO_SUCH_CALLER);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), 0);
	assert_int_equal(contract_store_delete(here.db, "gone"), RC_NOT_FOUND);
}

static void an_honest_repeat_does_not_ask_whether_its_contract_still_stands(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = contract_intent("sum", "{}"), other = contract_intent("sum", "[]");
	struct job job;

	(void)state;
	contract_new("sum", "press", "");
	assert_int_equal(create(here.db, &ann, "k", &intent, &job), CREATED_NEW);
	job_release(&job);
	for (int round = 0; round < 2; round++) {
		if (round == 0)
			assert_int_equal(contract_new("sum", "press", ", \"checks\": []"), 1);
		assert_int_equal(round == 0
					 ? contract_new("sum", "press", ", \"result_schema\": {}")
					 : (uint32_t)contract_store_delete(here.db, "sum"),
				 round == 0 ? 2 : RC_OK);
		assert_int_equal(create(here.db, &ann, "k", &intent, &job), CREATED_REPLAYED);
		assert_int_equal(job.contract_version, 1);
		assert_string_equal(job.contract, "sum");
		job_release(&job);
		assert_int_equal(create(here.db, &ann, "k", &other, &job), CREATED_KEY_REUSED);
		job_release(&job);
	}
}

static void putting_what_is_there_changes_nothing(void **state)
{
	uint32_t version;
	bool is_new;

	(void)state;
	assert_int_equal(put("sum", "{\"routes\":[{\"provider\":\"press\"}]}", &is_new, &version),
			 RC_OK);
	assert_true(is_new && version == 1);
	const char *before = raw_text("SELECT CONCAT(version, updated_at) FROM contracts");

	assert_int_equal(put("sum",
			     " { \"side_effects\": true, \"routes\" : [ {\"provider\": \"press\"} "
			     "] }",
			     &is_new, &version),
			 RC_OK);
	assert_true(!is_new && version == 1);
	assert_string_equal(raw_text("SELECT CONCAT(version, updated_at) FROM contracts"), before);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM contract_versions"), 1);
	assert_int_equal(put("sum",
			     "{\"routes\":[{\"provider\":\"press\"}],\"checks\":[{"
			     "\"pointer\":\"\",\"equals\":1}]}",
			     &is_new, &version),
			 RC_OK);
	assert_true(!is_new && version == 2);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM contract_versions"), 2);
}

static void a_version_is_never_given_twice(void **state)
{
	const char *json = contract_over("press", "");
	struct definition_row row;
	uint32_t version;
	bool is_new;

	(void)state;
	for (uint32_t round = 1; round <= 3; round++) {
		assert_int_equal(put("sum", json, &is_new, &version), RC_OK);
		assert_true(is_new);
		assert_int_equal(version, round);
		assert_int_equal(contract_store_get(here.db, "sum", &row), RC_OK);
		assert_int_equal(row.version, round);
		definition_row_release(&row);
		assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
		assert_int_equal(contract_store_get(here.db, "sum", &row), RC_NOT_FOUND);
	}
	assert_int_equal(raw_number("SELECT COUNT(*) FROM contract_versions"), 3);
}

static const char *all_contracts(void)
{
	return raw_text(
		"SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(name, version, live, first_provider, "
		"updated_at) FROM contracts), (SELECT GROUP_CONCAT(name, version ORDER BY name, "
		"version) FROM contract_versions), (SELECT GROUP_CONCAT(name, version, provider "
		"ORDER BY name, version, place) FROM contract_routes), (SELECT GROUP_CONCAT(id, "
		"COALESCE(died_at, '')) FROM certificates))");
}

static void an_unknown_provider_names_its_route_and_nothing_is_written(void **state)
{
	static const struct {
		const char *name, *providers;
		size_t unknown;
	} rows[] = {
		{ "fresh", "none", 0 },
		{ "fresh", "press none none2", 1 },
		{ "sum", "press second none", 2 },
		{ "gone", "none press", 0 },
	};
	struct definition_row row;
	bool is_new;
	size_t unknown;

	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press second", "");
	certify("sum", "second", true);
	contract_new("gone", "press", "");
	assert_int_equal(contract_store_delete(here.db, "gone"), RC_OK);
	const char *before = all_contracts();

	for (size_t i = 0; i < ROWS(rows); i++) {
		unknown = 99;
		assert_int_equal(contract_put(here.db, rows[i].name,
					      contract_over(rows[i].providers, ""), &is_new,
					      &unknown, &row),
				 RC_NOT_FOUND);
		assert_int_equal(unknown, rows[i].unknown);
		assert_null(row.definition.bytes);
	}
	assert_string_equal(all_contracts(), before);
}

static void a_job_keeps_the_version_it_was_created_with(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new(), fresh = clock_id(), job;
	struct claim_list claims;

	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press", "");
	job = contract_job("sum");
	contract_new("sum", "second", ", \"result_schema\": {\"type\": \"string\"}");
	assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
	assert_int_equal(claim_jobs(here.db, &poller, 60, &fresh, 1, &cursor, &claims), RC_OK);
	assert_int_equal(claims.len, 1);
	assert_true(id_equal(&claims.list[0].job_id, &job));
	assert_int_equal(claims.list[0].contract_version, 1);
	assert_string_equal(claims.list[0].provider, "press");
	assert_string_equal(claims.list[0].route->provider, "press");
	assert_null(claims.list[0].contract->schema);
	assert_false(claims.list[0].has_certificate);
	claim_list_free(&claims);
}

static void lists_are_paged_by_name_and_leave_out_what_was_deleted(void **state)
{
	struct definition_row *rows;
	size_t len;
	bool more;

	(void)state;
	for (const char *name = "a\0b\0c\0d\0"; *name; name += 2)
		contract_new(name, "press", "");
	assert_int_equal(contract_store_delete(here.db, "b"), RC_OK);
	assert_int_equal(contract_store_list(here.db, NULL, 2, &rows, &len, &more), RC_OK);
	assert_true(len == 2 && more && strcmp(rows[0].name, "a") == 0 &&
		    strcmp(rows[1].name, "c") == 0);
	definition_list_free(rows, len);
	assert_int_equal(contract_store_list(here.db, "c", 2, &rows, &len, &more), RC_OK);
	assert_true(len == 1 && !more && strcmp(rows[0].name, "d") == 0);
	definition_list_free(rows, len);
}

static void a_provider_is_kept_while_a_contract_that_counts_names_it(void **state)
{
	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press second", "");
	assert_int_equal(provider_store_delete(here.db, "press"), RC_CONFLICT);
	assert_int_equal(provider_store_delete(here.db, "second"), RC_CONFLICT);
	contract_new("sum", "press", "");
	assert_int_equal(provider_store_delete(here.db, "second"), RC_OK);
	assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
	assert_int_equal(provider_store_delete(here.db, "press"), RC_OK);
}

struct puts {
	enum rc rcs[6];
	unsigned int made[6];
};

static void put_beside_others(struct db *db, size_t index, void *arg)
{
	struct puts *puts = arg;
	char json[128];
	struct definition_row row;
	bool is_new = false;
	size_t unknown;
	int tries = 0;

	snprintf(json, sizeof json,
		 "{\"routes\":[{\"provider\":\"press\"}],\"certify\":{\"rounds\":%zu}}", index + 1);
	do /* a victim of deadlocks may run out of rounds, with nothing done */
		puts->rcs[index] = contract_put(db, "same", json, &is_new, &unknown, &row);
	while (puts->rcs[index] == RC_RETRY && ++tries < 20);
	puts->made[index] = is_new;
	definition_row_release(&row);
}

static void several_puts_at_once_are_one_contract_and_as_many_versions(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		struct puts puts;
		unsigned int made = 0;

		testdb_empty(NULL);
		crew_run(6, put_beside_others, &puts);
		for (size_t i = 0; i < 6; i++) {
			assert_int_equal(puts.rcs[i], RC_OK);
			made += puts.made[i];
		}
		assert_int_equal(made, 1);
		assert_int_equal(raw_number("SELECT version FROM contracts"), 6);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM contract_versions"), 6);
	}
}

static void put_sum(struct db *db, size_t index, void *arg)
{
	struct definition_row row;
	bool is_new;
	size_t unknown;

	(void)index;
	*(enum rc *)arg =
		contract_put(db, "sum", contract_over("press", ""), &is_new, &unknown, &row);
	definition_row_release(&row);
}

static void delete_press(struct db *db, size_t index, void *arg)
{
	(void)index;
	*(enum rc *)arg = provider_store_delete(db, "press");
}

/* The contract's transaction has seen the provider and isn't committed when the deletion begins. */
static void a_contract_that_crosses_the_deletion_of_its_provider_keeps_it(void **state)
{
	MYSQL *other = testdb_raw();
	enum rc put = RC__MAX, deleted = RC__MAX;

	(void)state;
	raw_run(other, "START TRANSACTION");
	raw_run(other, "INSERT INTO contract_versions VALUES ('sum', 1, '', 'stop', 'stop', "
		       "'stop', 'stop', NOW(6))");
	struct crew *putter = crew_start(1, put_sum, &put);

	raw_until(1, LOCK_WAITS);
	struct crew *deleter = crew_start(1, delete_press, &deleted);

	raw_until(2, LOCK_WAITS);
	raw_run(other, "ROLLBACK");
	crew_join(putter);
	crew_join(deleter);
	mysql_close(other);
	assert_int_equal(put, RC_OK);
	assert_int_equal(deleted, RC_CONFLICT);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM providers WHERE name = 'press'"), 1);
}

static void a_put_whose_commit_was_not_heard_is_safe_to_say_again(void **state)
{
	static const enum lossy ways[] = { LOSE_COMMIT, LOSE_COMMIT_ANSWER };

	(void)state;
	for (size_t i = 0; i < ROWS(ways); i++) {
		struct db *db = db_new(lossy_open());
		struct definition_row row;
		bool is_new;
		size_t unknown;

		testdb_empty(NULL);
		lossy_arm(ways[i], 0, 1);
		assert_int_equal(contract_put(db, "sum", contract_over("press", ""), &is_new,
					      &unknown, &row),
				 RC_UNCERTAIN);
		assert_null(row.definition.bytes);
		assert_int_equal(contract_new("sum", "press", ""), 1);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM contract_versions"), 1);
		db_free(db);
	}
}

static void purging_leaves_every_version_of_a_contract(void **state)
{
	uint64_t purged;

	(void)state;
	contract_new("sum", "press", "");
	struct id job = contract_job("sum");

	contract_new("sum", "press", ", \"result_schema\": {}");
	certify("sum", "press", true);
	raw_run(here.raw,
		"UPDATE jobs SET state = 'failed', updated_at = NOW(6) - INTERVAL 9 DAY WHERE id = "
		"%s",
		x(&job));
	assert_int_equal(job_store_purge_payloads(here.db, 60, &purged), RC_OK);
	assert_int_equal(purged, 1);
	assert_string_equal(raw_text("SELECT CONCAT(contract, contract_version) FROM jobs"),
			    "sum1");
	assert_int_equal(job_store_purge_rows(here.db, 0, &purged), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), 0);
	assert_string_equal(raw_text("SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM "
				     "contract_versions), (SELECT COUNT(*) FROM contract_routes), "
				     "(SELECT COUNT(*) FROM certificates))"),
			    "2 2 1");
}

static void a_page_of_long_definitions_is_cut_short(void **state)
{
	static const size_t want[] = { 8, 2 };
	char after[NAME_MAX_LEN + 1] = "";

	(void)state;
	raw_run(here.raw,
		"INSERT INTO contracts SELECT CONCAT('long', seq), 1, 1, 'press', NOW(6), "
		"NOW(6) FROM seq_10_to_19");
	raw_run(here.raw, "INSERT INTO contract_versions SELECT name, 1, REPEAT(' ', 1048576), "
			  "'stop', 'stop', 'stop', 'stop', NOW(6) FROM contracts");
	for (size_t page = 0; page < ROWS(want); page++) {
		struct definition_row *rows;
		size_t len;
		bool more;

		assert_int_equal(contract_store_list(here.db, after, 50, &rows, &len, &more),
				 RC_OK);
		assert_int_equal(len, want[page]);
		assert_int_equal(more, page == 0);
		memcpy(after, rows[len - 1].name, sizeof after);
		definition_list_free(rows, len);
	}
	assert_string_equal(after, "long19");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_by_contract_is_one_statement_and_one_commit_and_shows_the_version),
		TEST(a_job_of_no_contract_shows_none_after_one_that_had_one),
		TEST(an_unknown_or_deleted_contract_is_refused_and_leaves_no_row),
		TEST(an_honest_repeat_does_not_ask_whether_its_contract_still_stands),
		TEST(putting_what_is_there_changes_nothing),
		TEST(a_version_is_never_given_twice),
		TEST(an_unknown_provider_names_its_route_and_nothing_is_written),
		TEST(a_job_keeps_the_version_it_was_created_with),
		TEST(lists_are_paged_by_name_and_leave_out_what_was_deleted),
		TEST(a_provider_is_kept_while_a_contract_that_counts_names_it),
		TEST(several_puts_at_once_are_one_contract_and_as_many_versions),
		TEST(a_contract_that_crosses_the_deletion_of_its_provider_keeps_it),
		TEST(a_put_whose_commit_was_not_heard_is_safe_to_say_again),
		TEST(purging_leaves_every_version_of_a_contract),
		TEST(a_page_of_long_definitions_is_cut_short),
	};

	return cmocka_run_group_tests_name("contracts", tests, testdb_open, testdb_close);
}
