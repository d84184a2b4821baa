/* test_costs.c: what the operations that all traffic is made of ask of the server, by its own
 * counters: round trips, commits, entries looked up, walked along and written. A number that grows
 * is a decision, and this is where it is taken. */
#include "testdb.h"

#include <stdio.h>

#include "store/ask.h"

#define BATCH 64

enum { TRIPS, COMMITS, KEYS, STEPS, WRITES, COUNTERS };

static const char *const names[COUNTERS] = {
	[TRIPS] = "'QUESTIONS'",
	[COMMITS] = "'HANDLER_COMMIT'",
	[KEYS] = "'HANDLER_READ_KEY','HANDLER_READ_FIRST','HANDLER_READ_LAST'",
	[STEPS] = "'HANDLER_READ_NEXT','HANDLER_READ_PREV','HANDLER_READ_RND_NEXT'",
	[WRITES] = "'HANDLER_WRITE','HANDLER_UPDATE','HANDLER_DELETE'",
};

struct cost {
	uint64_t of[COUNTERS];
};

/* Of the store's own connection, which looks at itself through no table: SHOW leaves all but the
 * first alone. */
static struct cost now(void)
{
	struct cost cost = { { 0 } };

	for (size_t i = 0; i < COUNTERS; i++) {
		char query[256];

		snprintf(query, sizeof query,
			 "SHOW SESSION STATUS WHERE UPPER(Variable_name) IN (%s)", names[i]);
		assert_int_equal(mysql_query(here.db->mysql, query), 0);
		MYSQL_RES *rows = mysql_store_result(here.db->mysql);

		assert_non_null(rows);
		for (MYSQL_ROW row; (row = mysql_fetch_row(rows));)
			cost.of[i] += strtoull(row[1], NULL, 10);
		mysql_free_result(rows);
	}
	return cost;
}

/* What the work costs, less what looking costs. It has run before: what is prepared is prepared. */
static struct cost cost_of(void (*work)(void *arg), void *arg)
{
	struct cost before = now(), between = now(), after;

	work(arg);
	after = now();
	for (size_t i = 0; i < COUNTERS; i++)
		after.of[i] = after.of[i] - between.of[i] - (between.of[i] - before.of[i]);
	return after;
}

static void costs_at_most(const char *what, struct cost have, struct cost want, bool exactly)
{
	static const char *const words[COUNTERS] = { "trips", "commits", "keys", "steps",
						     "writes" };

	for (size_t i = 0; i < COUNTERS; i++)
		if (have.of[i] > want.of[i] ||
		    (exactly && i <= COMMITS && have.of[i] != want.of[i]))
			fail_msg("%s: %s %d, meant %d (trips %d commits %d keys %d steps %d writes "
				 "%d)",
				 what, words[i], (int)have.of[i], (int)want.of[i],
				 (int)have.of[TRIPS], (int)have.of[COMMITS], (int)have.of[KEYS],
				 (int)have.of[STEPS], (int)have.of[WRITES]);
}

static void costs(const char *what, struct cost have, struct cost want)
{
	costs_at_most(what, have, want, true);
}

static void at_most(const char *what, struct cost have, struct cost want)
{
	costs_at_most(what, have, want, false);
}

/* --- one request */

struct post {
	const char *key;
	const char *input;
	enum created created;
};

static void post(void *arg)
{
	struct post *p = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", p->input);
	struct job job;

	p->created = create(here.db, &ann, p->key, &intent, &job);
	job_release(&job);
}

static void a_create_is_one_statement_and_one_commit(void **state)
{
	struct post first = { "k1", "{}", CREATED_NOT_STORED },
		    next = { "k2", "{}", CREATED_NOT_STORED };

	(void)state;
	post(&first);
	costs("create", cost_of(post, &next), (struct cost){ { 1, 1, 2, 0, 1 } });
	assert_int_equal(next.created, CREATED_NEW);
}

static void the_first_repeat_is_an_insert_that_fails_and_one_look(void **state)
{
	struct post first = { "k1", "{}", CREATED_NOT_STORED }, same = first;

	(void)state;
	here.db->repeats = 0;
	post(&first);
	post(&same);
	here.db->repeats = 0;
	costs("first replay", cost_of(post, &same), (struct cost){ { 2, 1, 6, 1, 1 } });
	assert_int_equal(same.created, CREATED_REPLAYED);
}

static void the_next_repeats_write_nothing(void **state)
{
	struct post same = { "k1", "{}", CREATED_NOT_STORED },
		    other = { "k1", "{\"a\":1}", CREATED_NOT_STORED };

	(void)state;
	post(&same);
	post(&same);
	post(&same);
	costs("replay", cost_of(post, &same), (struct cost){ { 2, 2, 6, 1, 0 } });
	assert_int_equal(same.created, CREATED_REPLAYED);
	costs("conflict", cost_of(post, &other), (struct cost){ { 2, 2, 6, 1, 0 } });
	assert_int_equal(other.created, CREATED_KEY_REUSED);
}

static void get(void *arg)
{
	struct caller ann = caller_with("ann-token");
	struct job job;

	assert_int_equal(job_store_get(here.db, &ann, arg, &job), RC_OK);
	job_release(&job);
}

static void a_read_is_one_statement(void **state)
{
	struct id id = job_new((struct a_job){ .state = JOB_SUCCEEDED, .version = 1, .count = 1 });

	(void)state;
	(void)attempt_new((struct an_attempt){ .job = &id, .state = ATTEMPT_SUCCEEDED });
	get(&id);
	costs("read", cost_of(get, &id), (struct cost){ { 1, 1, 3, 1, 0 } });
}

struct readers {
	struct id ids[8];
	struct if_match unless;
};

static void get_all(void *arg)
{
	struct readers *readers = arg;
	struct caller ann = caller_with("ann-token");
	struct look looks[8], *list[8];

	for (size_t i = 0; i < 8; i++) {
		looks[i] = (struct look){ .caller = &ann, .id = readers->ids[i] };
		looks[i].unless = readers->unless.present ? &readers->unless : NULL;
		list[i] = &looks[i];
	}
	assert_int_equal(job_store_look(here.db, list, 8), 8);
	for (size_t i = 0; i < 8; i++) {
		assert_true(looks[i].rc == RC_OK && looks[i].unchanged == readers->unless.present);
		job_release(&looks[i].job);
	}
}

static void eight_reads_are_two_statements_and_of_what_has_not_changed_no_attempts(void **state)
{
	struct readers readers = { .unless = { .present = false } };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		readers.ids[i] =
			job_new((struct a_job){ .state = JOB_SUCCEEDED, .version = 1, .count = 1 });
		(void)attempt_new(
			(struct an_attempt){ .job = &readers.ids[i], .state = ATTEMPT_SUCCEEDED });
	}
	get_all(&readers);
	costs("8 reads", cost_of(get_all, &readers), (struct cost){ { 2, 2, 17, 8, 0 } });
	readers.unless = (struct if_match){ .present = true, .any = true };
	get_all(&readers);
	costs("8 unchanged", cost_of(get_all, &readers), (struct cost){ { 2, 2, 9, 0, 0 } });
}

/* --- batches of the poller */

static struct taken taken;
static struct id poller;

static void claim_batch(void *arg)
{
	struct claim_cursor cursor = { 0 };

	(void)arg;
	take(here.db, &poller, BATCH, &cursor, &taken);
}

static void queue(size_t n)
{
	provider_new("wide", 10000);
	poller = poller_new();
	for (size_t i = 0; i < n; i++)
		(void)job_new((struct a_job){ .provider = "wide" });
}

static void a_claim_of_a_batch_is_a_dozen_statements(void **state)
{
	(void)state;
	queue(2 * BATCH);
	claim_batch(NULL);
	assert_int_equal(taken.len, BATCH);
	struct cost cost = cost_of(claim_batch, NULL);

	assert_int_equal(taken.len, BATCH);
	costs("claim", cost, (struct cost){ { 11, 10, 400, 330, 129 } });
}

static void a_claim_costs_no_more_where_the_queue_is_long(void **state)
{
	(void)state;
	queue(3 * BATCH);
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, max_attempts, attempts_allowed, run_after, "
		"created_at, updated_at) SELECT UNHEX(MD5(CONCAT(HEX(a.id), HEX(b.id)))), "
		"a.owner, CONCAT(HEX(a.id), HEX(b.id)), a.fingerprint, a.provider, "
		"a.next_provider, a.input, a.state, 3, 3, a.run_after, a.created_at, "
		"a.updated_at FROM jobs a JOIN jobs b");
	assert_true(raw_number("SELECT COUNT(*) FROM jobs") > 30000);
	claim_batch(NULL);
	struct cost cost = cost_of(claim_batch, NULL);

	assert_int_equal(taken.len, BATCH);
	costs("claim of many", cost, (struct cost){ { 11, 10, 400, 330, 129 } });
}

/* --- what a poller does again and again while nothing is due */

static struct id idler;

static void look_for_jobs(void *arg)
{
	struct claim_cursor cursor = { 0 };
	struct taken nothing;

	(void)arg;
	take(here.db, &idler, BATCH, &cursor, &nothing);
	assert_true(nothing.rc == RC_OK && nothing.len == 0);
}

static void look_for_questions(void *arg)
{
	struct ask_turns turns = { .share = ASK_MAX };
	struct ask_list asks;

	(void)arg;
	assert_int_equal(ask_take(here.db, &idler, 60, ASK_MAX, &turns, &asks), RC_OK);
	assert_int_equal(asks.len, 0);
	ask_list_free(&asks);
}

static void look_whether_to_leave(void *arg)
{
	bool due;

	(void)arg;
	assert_int_equal(claim_any_due(here.db, &due), RC_OK);
	assert_false(due);
}

static void upkeep(void *arg)
{
	enum rc (*const *what)(struct db * db, size_t * moved_out) = arg;
	size_t moved;

	assert_int_equal((*what)(here.db, &moved), RC_OK);
	assert_int_equal(moved, 0);
}

/* Jobs and attempts as they lie about in a database that has been in use: settled, by six
 * providers, of which one is gone. */
static void settle_many(void)
{
	for (int i = 1; i < 5; i++) {
		char name[8];

		snprintf(name, sizeof name, "p%d", i);
		provider_new(name, 64);
	}
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, version, completed_by, max_attempts, "
		"attempts_allowed, attempt_count, run_after, created_at, updated_at) SELECT "
		"UNHEX(LPAD(HEX(seq), 32, '0')), seq MOD 50, seq, REPEAT('f', 32), 'press', "
		"CONCAT('p', "
		"seq MOD 6), '{}', 'succeeded', 1, UNHEX(LPAD(HEX(seq), 32, '0')), 3, 3, 1, "
		"NOW(6), "
		"NOW(6), NOW(6) FROM seq_1_to_20000");
	raw_run(here.raw,
		"INSERT INTO attempts (id, job_id, number, provider, provider_version, generation, "
		"state, version_read, started_at, finished_at) SELECT id, id, 1, next_provider, 1, "
		"0, 'succeeded', 0, NOW(6), NOW(6) FROM jobs");
	raw_run(here.raw, "ANALYZE TABLE jobs, attempts");
}

static void an_idle_look_walks_along_nothing_that_is_settled(void **state)
{
	static enum rc (*chores[])(struct db * db,
				   size_t * moved_out) = { claim_reap, claim_expire, ask_overdue,
							   claim_fail_stranded, claim_reroute };
	const struct cost few = { { 4, 4, 40, 40, 2 } };

	(void)state;
	idler = poller_new();
	settle_many();
	for (int again = 0; again < 2; again++) {
		struct cost jobs = cost_of(look_for_jobs, NULL),
			    questions = cost_of(look_for_questions, NULL),
			    leaving = cost_of(look_whether_to_leave, NULL);

		if (again == 0)
			continue;
		at_most("jobs", jobs, few);
		at_most("questions", questions, few);
		at_most("leaving", leaving, few);
	}
	for (size_t i = 0; i < ROWS(chores); i++) {
		upkeep(&chores[i]);
		at_most("a chore", cost_of(upkeep, &chores[i]), few);
	}
}

struct batch {
	struct word words[BATCH];
	enum settled verdicts[BATCH];
};

static void settle(void *arg)
{
	struct batch *batch = arg;

	assert_int_equal(settle_words(here.db, batch->words, BATCH, batch->verdicts), RC_OK);
	for (size_t i = 0; i < BATCH; i++)
		assert_int_equal(batch->verdicts[i], SETTLED_MADE);
}

static void results_of_a_batch_are_settled_by_five_statements(void **state)
{
	static struct batch batches[2];
	struct cost cost = { { 0 } };

	(void)state;
	queue(2 * BATCH);
	for (size_t b = 0; b < 2; b++) {
		claim_batch(NULL);
		for (size_t i = 0; i < BATCH; i++) {
			batches[b].words[i] =
				result_of(&taken.claims[i].attempt_id, "{\"done\":true}");
			batches[b].words[i].job_id = taken.claims[i].job_id;
			batches[b].words[i].detail = "the provider answered 200";
			batches[b].words[i].of_sending = true; /* as the poller says it */
		}
		cost = cost_of(settle, &batches[b]);
	}
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'succeeded' AND version = 1 "
			   "AND result = "
			   "'{\"done\":true}' AND result_sha256 = UNHEX(SHA2(result, 256))"),
		2 * BATCH);
	costs("settle", cost, (struct cost){ { 7, 6, 644, 260, 128 } });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_create_is_one_statement_and_one_commit),
		TEST(the_first_repeat_is_an_insert_that_fails_and_one_look),
		TEST(the_next_repeats_write_nothing),
		TEST(a_read_is_one_statement),
		TEST(eight_reads_are_two_statements_and_of_what_has_not_changed_no_attempts),
		TEST(a_claim_of_a_batch_is_a_dozen_statements),
		TEST(a_claim_costs_no_more_where_the_queue_is_long),
		TEST(an_idle_look_walks_along_nothing_that_is_settled),
		TEST(results_of_a_batch_are_settled_by_five_statements),
	};

	return cmocka_run_group_tests_name("costs", tests, testdb_open, testdb_close);
}
