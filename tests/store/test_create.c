/* test_create.c: who was first is decided by the unique key over owner and key, and by nothing
 * else. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"

#define KEY "k1"

static uint64_t jobs(void)
{
	return raw_number("SELECT COUNT(*) FROM jobs");
}

static void a_new_intent_is_committed_when_the_call_returns(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{\"n\":18446744073709551617}");
	struct job job;

	(void)state;
	intent.metadata = "{\"a\":\"b\"}";
	intent.metadata_len = strlen(intent.metadata);
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_is(&job.id, "queued", 0);
	assert_string_equal(raw_text("SELECT input FROM jobs"), "{\"n\":18446744073709551617}");
	assert_string_equal(raw_text("SELECT metadata FROM jobs"), "{\"a\":\"b\"}");
	assert_string_equal(raw_text("SELECT CONCAT(owner, idempotency_key, provider, "
				     "next_provider, attempts_allowed, "
				     "attempt_count, run_after <= UTC_TIMESTAMP(6)) FROM jobs"),
			    "annk1presspress301");
	assert_memory_equal(job.owner.bytes, "ann", 4);
	assert_string_equal(job.input.bytes, "{\"n\":18446744073709551617}");
	job_release(&job);
}

static void the_answer_to_a_create_is_what_a_read_gives(void **state)
{
	struct caller callers[] = { caller_with("ann-token"), caller_named("ann") };
	struct intent intent = intent_of("press", "[1]");
	int64_t now_us = clock_real_us();
	struct job made, got;

	(void)state;
	intent.not_before_us = now_us + 60000000;
	intent.expires_us = now_us + 120000000;
	intent.deadline_us = now_us + 180000000;
	for (size_t i = 0; i < ROWS(callers); i++) {
		assert_int_equal(
			create(here.db, &callers[i], i ? "by owner" : "by token", &intent, &made),
			CREATED_NEW);
		assert_int_equal(job_store_get(here.db, &callers[i], &made.id, &got), RC_OK);
		assert_true(id_equal(&made.id, &got.id) && made.state == got.state &&
			    made.version == got.version && made.revision == got.revision &&
			    made.max_attempts == got.max_attempts &&
			    made.attempt_count == got.attempt_count && !got.has_completed_by &&
			    !got.in_doubt);
		assert_true(
			made.not_before_us == got.not_before_us &&
			made.expires_us == got.expires_us && made.deadline_us == got.deadline_us &&
			made.created_us == got.created_us && made.updated_us == got.updated_us &&
			made.run_after_us == got.run_after_us);
		assert_string_equal(made.owner.bytes, got.owner.bytes);
		assert_string_equal(made.key.bytes, got.key.bytes);
		assert_string_equal(made.provider, got.provider);
		assert_null(got.metadata.bytes);
		job_release(&made);
		job_release(&got);
	}
}

struct clicks {
	const char *key;
	enum created created[50];
	struct id ids[50];
};

static void click(struct db *db, size_t index, void *arg)
{
	struct clicks *clicks = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	clicks->created[index] = create(db, &ann, clicks->key, &intent, &job);
	clicks->ids[index] = job.id;
	job_release(&job);
}

static void r1_b01_fifty_clicks_at_once_are_one_job(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		char key[16];
		struct clicks clicks = { .key = key };
		size_t made = 0;

		snprintf(key, sizeof key, "new-%d", round);
		crew_run(50, click, &clicks);
		for (size_t i = 0; i < 50; i++) {
			if (clicks.created[i] != CREATED_NEW &&
			    clicks.created[i] != CREATED_REPLAYED)
				fail_msg("round %d, click %zu: %d", round, i,
					 (int)clicks.created[i]);
			made += clicks.created[i] == CREATED_NEW;
			assert_true(id_equal(&clicks.ids[i], &clicks.ids[0]));
		}
		assert_int_equal(made, 1);
		assert_int_equal(jobs(), round + 1);
	}
}

/* A row that was just deleted, as by a purge of keys, makes those who insert its key at once
 * deadlock, sometimes more often than a create tries again. Then it is a 503, which says that the
 * key may be sent again; never a second job. */
static void clicks_on_a_key_that_was_purged_are_one_job_or_may_be_repeated(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		struct clicks clicks = { .key = KEY };
		size_t made = 0;

		raw_run(here.raw, "DELETE FROM jobs");
		crew_run(50, click, &clicks);
		struct id only = { { 0 } };

		for (size_t i = 0; i < 50; i++) {
			made += clicks.created[i] == CREATED_NEW;
			if (clicks.created[i] == CREATED_NOT_STORED)
				click(here.db, i, &clicks);
			if (clicks.created[i] != CREATED_NEW &&
			    clicks.created[i] != CREATED_REPLAYED)
				fail_msg("round %d, click %zu, repeated: %d", round, i,
					 (int)clicks.created[i]);
			if (i == 0)
				only = clicks.ids[0];
			assert_true(id_equal(&clicks.ids[i], &only));
		}
		assert_int_equal(made, 1);
		assert_int_equal(jobs(), 1);
	}
}

static void r2_a_replay_is_the_job_as_it_is_now(void **state)
{
	struct caller ann = caller_with("ann-token"), by_name = caller_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct job first, again;

	(void)state;
	assert_int_equal(create(here.db, &ann, KEY, &intent, &first), CREATED_NEW);
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &first.id, .state = ATTEMPT_SUCCEEDED });

	raw_run(here.raw,
		"UPDATE jobs SET state = 'succeeded', version = 1, result = '\"r\"', completed_by "
		"= %s",
		x(&attempt));
	assert_int_equal(create(here.db, &ann, KEY, &intent, &again), CREATED_REPLAYED);
	assert_true(id_equal(&first.id, &again.id) && id_equal(&attempt, &again.completed_by));
	assert_int_equal(again.state, JOB_SUCCEEDED);
	assert_int_equal(again.attempts_len, 1);
	assert_string_equal(again.result.bytes, "\"r\"");
	job_release(&again);
	assert_int_equal(create(here.db, &by_name, KEY, &intent, &again), CREATED_REPLAYED);
	job_release(&again);
	job_release(&first);
	assert_int_equal(jobs(), 1);
}

static void r3_another_intent_of_the_key_is_refused_and_changes_nothing(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{\"a\":1}"),
		      other = intent_of("press", "{\"a\":2}");
	struct job first, again;
	char before[1024];

	(void)state;
	assert_int_equal(create(here.db, &ann, KEY, &intent, &first), CREATED_NEW);
	snprintf(before, sizeof before, "%s",
		 raw_text("SELECT CONCAT_WS(' ', HEX(id), HEX(fingerprint), input, state, version, "
			  "revision, updated_at, attempt_count, next_provider) FROM jobs"));
	assert_int_equal(create(here.db, &ann, KEY, &other, &again), CREATED_KEY_REUSED);
	assert_true(id_equal(&first.id, &again.id));
	assert_null(again.input.bytes);
	assert_null(again.owner.bytes);
	assert_string_equal(before,
			    raw_text("SELECT CONCAT_WS(' ', HEX(id), HEX(fingerprint), input, "
				     "state, version, revision, "
				     "updated_at, attempt_count, next_provider) FROM jobs"));
	assert_int_equal(jobs(), 1);
	job_release(&again);
	job_release(&first);
}

/* Every pair of (owner, key) is a job of its own, whatever another collation would make of it. */
static void keys_apart(const char *const pairs[][2], size_t len)
{
	struct intent intent = intent_of("press", "{}"),
		      other = intent_of("press", "{\"other\":1}");
	struct job job;

	for (size_t i = 0; i < len; i++) {
		struct caller caller = caller_named(pairs[i][0]);
		enum created created =
			create(here.db, &caller, pairs[i][1], i % 2 ? &other : &intent, &job);

		if (created != CREATED_NEW)
			fail_msg("owner '%s' key '%s': %d", pairs[i][0], pairs[i][1], (int)created);
		job_release(&job);
	}
	assert_int_equal(jobs(), len);
}

static void a01_trailing_blanks_make_another_key(void **state)
{
	static const char *const pairs[][2] = {
		{ "o", "k1" }, { "o", "k1 " }, { "o", "k1  " }, { "o", " k1" }
	};

	(void)state;
	keys_apart(pairs, ROWS(pairs));
}

static void a02_case_and_accents_make_another_key(void **state)
{
	static const char *const pairs[][2] = { { "o", "Order-7" }, { "o", "order-7" },
						{ "O", "order-7" }, { "\xc3\xbc", "order-7" },
						{ "u", "order-7" }, { "\xc3\x9c", "order-7" },
						{ "o ", "order-7" } };

	(void)state;
	keys_apart(pairs, ROWS(pairs));
}

static void a06_owners_do_not_meet(void **state)
{
	struct caller ann = caller_with("ann-token"), bob;
	struct intent intent = intent_of("press", "{}"), other = intent_of("press", "{\"x\":1}");
	struct job first, second, third;

	(void)state;
	token_new("bob-token", "bob", ROLE_USER);
	bob = caller_with("bob-token");
	assert_int_equal(create(here.db, &ann, "pay-1", &intent, &first), CREATED_NEW);
	assert_int_equal(create(here.db, &bob, "pay-1", &intent, &second), CREATED_NEW);
	assert_false(id_equal(&first.id, &second.id));
	assert_string_equal(second.owner.bytes, "bob");
	assert_int_equal(create(here.db, &bob, "pay-1", &other, &third), CREATED_KEY_REUSED);
	assert_true(id_equal(&third.id, &second.id));
	job_release(&first);
	job_release(&second);
	job_release(&third);
}

static void a17_a_refused_create_leaves_its_key_free(void **state)
{
	struct caller ann = caller_with("ann-token"), by_name = caller_named("ann");
	struct intent nowhere = intent_of("nobody", "{}"), intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	assert_int_equal(create(here.db, &ann, KEY, &nowhere, &job), CREATED_NO_SUCH_PROVIDER);
	assert_int_equal(create(here.db, &by_name, KEY, &nowhere, &job), CREATED_NO_SUCH_PROVIDER);
	struct intent contract = intent;

	contract.provider[0] = '\0';
	strcpy(contract.contract, "c");
	assert_int_equal(create(here.db, &ann, KEY, &contract, &job), CREATED_NO_SUCH_CONTRACT);
	assert_int_equal(jobs(), 0);
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_release(&job);
}

/* Where repeats were seen the insert asks for the key itself: each answer is the same as without.
 */
static void after_repeats_every_answer_is_as_before(void **state)
{
	static const struct {
		const char *token, *owner, *provider, *key, *input;
		enum created want;
	} rows[] = {
		{ "ann-token", NULL, "press", "new 1", "{}", CREATED_NEW },
		{ NULL, "ann", "press", "new 2", "{}", CREATED_NEW },
		{ "op-token", NULL, "press", KEY, "{}", CREATED_NEW }, /* another owner's */
		{ "ann-token", NULL, "press", KEY, "{}", CREATED_REPLAYED },
		{ NULL, "ann", "press", KEY, "{}", CREATED_REPLAYED },
		{ "ann-token", NULL, "press", KEY, "[]", CREATED_KEY_REUSED },
		{ "ann-token", NULL, "nowhere", "new 3", "{}", CREATED_NO_SUCH_PROVIDER },
		{ NULL, "ann", "nowhere", "new 4", "{}", CREATED_NO_SUCH_PROVIDER },
		{ "nobody's", NULL, "press", KEY, "{}", CREATED_NO_SUCH_CALLER },
		{ "ann-token", NULL, NULL, "new 5", "{}", CREATED_NO_SUCH_CONTRACT },
		{ NULL, "ann", NULL, "new 6", "{}", CREATED_NO_SUCH_CONTRACT },
	};
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_release(&job);
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct caller caller =
			rows[i].token ? caller_with(rows[i].token) : caller_named(rows[i].owner);
		struct intent asked =
			intent_of(rows[i].provider ? rows[i].provider : "", rows[i].input);

		if (!rows[i].provider)
			strcpy(asked.contract, "nothing");
		here.db->repeats = 5;
		assert_int_equal(create(here.db, &caller, rows[i].key, &asked, &job), rows[i].want);
		job_release(&job);
	}
	assert_int_equal(jobs(), 4);
}

static void a_disabled_provider_takes_jobs_that_wait(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	raw_run(here.raw, "UPDATE providers SET enabled = 0");
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_release(&job);
}

static void a_replay_outlives_its_provider_and_its_times(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}"), other = intent_of("press", "{\"x\":1}");
	struct job job;

	(void)state;
	intent.expires_us = clock_real_us() - 1000000;
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_release(&job);
	raw_run(here.raw, "DELETE FROM providers");
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_REPLAYED);
	job_release(&job);
	assert_int_equal(create(here.db, &ann, KEY, &other, &job), CREATED_KEY_REUSED);
	assert_int_equal(create(here.db, &ann, "new key", &intent, &job), CREATED_NO_SUCH_PROVIDER);
	assert_int_equal(jobs(), 1);
}

static void who_is_not_known_creates_nothing(void **state)
{
	static const char *const rows[] = { "never given out", "expired", "revoked", "ann-token " };
	struct intent intent = intent_of("press", "{}");
	struct caller ann = caller_with("ann-token");
	struct job job;

	(void)state;
	token_new("expired", "ann", ROLE_USER);
	token_new("revoked", "ann", ROLE_USER);
	struct caller revoked = caller_with("revoked"), expired = caller_with("expired");

	/* Known for a moment, so that nothing remembered from then helps later. */
	assert_int_equal(create(here.db, &revoked, "r", &intent, &job), CREATED_NEW);
	job_release(&job);
	assert_int_equal(create(here.db, &expired, "e", &intent, &job), CREATED_NEW);
	job_release(&job);
	raw_run(here.raw, "UPDATE tokens SET expires_at = UTC_TIMESTAMP(6) WHERE sha256 = "
			  "UNHEX(SHA2('expired', 256))");
	raw_run(here.raw, "DELETE FROM tokens WHERE sha256 = UNHEX(SHA2('revoked', 256))");
	assert_int_equal(create(here.db, &ann, KEY, &intent, &job), CREATED_NEW);
	job_release(&job);
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct caller caller = caller_with(rows[i]);

		if (create(here.db, &caller, "another", &intent, &job) != CREATED_NO_SUCH_CALLER)
			fail_msg("%s: a new key", rows[i]);
		if (create(here.db, &caller, KEY, &intent, &job) != CREATED_NO_SUCH_CALLER)
			fail_msg("%s: a key that is taken", rows[i]);
		assert_null(job.owner.bytes);
	}
	assert_int_equal(jobs(), 3);
}

static void a_token_beside_a_name_must_be_of_that_name(void **state)
{
	static const struct {
		const char *name;
		enum created want;
	} rows[] = {
		{ "ann", CREATED_NEW },
		{ "bob", CREATED_NO_SUCH_CALLER },
		{ "ann ", CREATED_NO_SUCH_CALLER },
		{ "an", CREATED_NO_SUCH_CALLER },
	};
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct caller caller = caller_with("ann-token");

		caller.owner = rows[i].name;
		caller.owner_len = strlen(rows[i].name);
		enum created created = create(here.db, &caller, rows[i].name, &intent, &job);

		if (created != rows[i].want)
			fail_msg("%s: %d", rows[i].name, (int)created);
		job_release(&job);
	}
	assert_int_equal(jobs(), 1);
}

/* What the server counted on the store's own connection. */
static uint64_t counted(const char *what)
{
	char query[128];
	uint64_t number = 0;

	snprintf(query, sizeof query, "SHOW SESSION STATUS LIKE '%s'", what);
	assert_int_equal(mysql_query(here.db->mysql, query), 0);
	MYSQL_RES *result = mysql_store_result(here.db->mysql);
	MYSQL_ROW row = mysql_fetch_row(result);

	assert_non_null(row);
	number = strtoull(row[1], NULL, 10);
	mysql_free_result(result);
	return number;
}

static void a_new_job_is_one_statement_and_one_commit_and_a_replay_two_statements(void **state)
{
	struct caller caller = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;
	struct id id;

	(void)state;
	assert_int_equal(create(here.db, &caller, "warm", &intent, &job), CREATED_NEW);
	job_release(&job);
	assert_int_equal(create(here.db, &caller, "warm", &intent, &job), CREATED_REPLAYED);
	job_release(&job);
	uint64_t statements = counted("Com_stmt_execute"), commits = counted("Handler_commit");

	assert_int_equal(create(here.db, &caller, "new", &intent, &job), CREATED_NEW);
	id = job.id;
	job_release(&job);
	assert_int_equal(counted("Com_stmt_execute") - statements, 1);
	assert_int_equal(counted("Handler_commit") - commits, 1);
	statements = counted("Com_stmt_execute");
	assert_int_equal(create(here.db, &caller, "new", &intent, &job), CREATED_REPLAYED);
	job_release(&job);
	assert_int_equal(counted("Com_stmt_execute") - statements, 2);
	assert_int_equal(job_store_get(here.db, &caller, &id, &job), RC_OK);
	job_release(&job);
	statements = counted("Com_stmt_execute");
	assert_int_equal(job_store_get(here.db, &caller, &id, &job), RC_OK);
	job_release(&job);
	assert_int_equal(counted("Com_stmt_execute") - statements, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_intent_is_committed_when_the_call_returns),
		TEST(the_answer_to_a_create_is_what_a_read_gives),
		TEST(r1_b01_fifty_clicks_at_once_are_one_job),
		TEST(clicks_on_a_key_that_was_purged_are_one_job_or_may_be_repeated),
		TEST(r2_a_replay_is_the_job_as_it_is_now),
		TEST(r3_another_intent_of_the_key_is_refused_and_changes_nothing),
		TEST(a01_trailing_blanks_make_another_key),
		TEST(a02_case_and_accents_make_another_key),
		TEST(a06_owners_do_not_meet),
		TEST(a17_a_refused_create_leaves_its_key_free),
		TEST(after_repeats_every_answer_is_as_before),
		TEST(a_disabled_provider_takes_jobs_that_wait),
		TEST(a_replay_outlives_its_provider_and_its_times),
		TEST(who_is_not_known_creates_nothing),
		TEST(a_token_beside_a_name_must_be_of_that_name),
		TEST(a_new_job_is_one_statement_and_one_commit_and_a_replay_two_statements),
	};

	return cmocka_run_group_tests_name("create", tests, testdb_open, testdb_close);
}
