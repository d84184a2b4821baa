/* test_refusals.c: whatever statement the server refuses, at whatever point, an operation is done
 * once and whole, or not at all and said to be so. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"

#define KEY "k"
#define ALWAYS 100000
#define STATEMENTS_MAX 40 /* of an operation, with what it reads */

static struct {
	struct id job, attempt, poller;
} at;

static struct identity op;

static void no_job(void)
{
}

static void queued(void)
{
	at.job = job_new((struct a_job){ .key = KEY });
}

static void failed(void)
{
	at.job = job_new((struct a_job){
		.key = KEY, .state = JOB_FAILED, .version = 1, .count = 1, .allowed = 1 });
	at.attempt = attempt_new((struct an_attempt){ .job = &at.job, .state = ATTEMPT_FAILED });
}

static void in_doubt(void)
{
	at.job = job_new((struct a_job){ .key = KEY, .state = JOB_UNKNOWN, .count = 1 });
	at.attempt = attempt_new((struct an_attempt){ .job = &at.job, .state = ATTEMPT_UNKNOWN });
}

/* Released, and the next attempt has won since. */
static void overtaken(void)
{
	at.job = job_new((struct a_job){ .key = KEY, .state = JOB_RUNNING, .count = 2 });
	at.attempt = attempt_new((struct an_attempt){ .job = &at.job, .state = ATTEMPT_RELEASED });
	struct id next = attempt_new((struct an_attempt){
		.job = &at.job, .number = 2, .state = ATTEMPT_RUNNING, .provider = "other" });

	assert_int_equal(say(result_of(&next, "{\"won\":1}")), SETTLED_MADE);
}

static int do_create(struct db *db)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;
	enum created created = create(db, &ann, KEY, &intent, &job);

	job_release(&job);
	return (int)created;
}

static int do_claim(struct db *db)
{
	static struct taken taken;
	struct claim_cursor cursor = { 0 };

	take(db, &at.poller, 4, &cursor, &taken);
	return taken.rc == RC_OK ? (int)taken.len : -1;
}

static int do_settle(struct db *db)
{
	struct word word = result_of(&at.attempt, "{\"mine\":1}");
	enum settled verdict = SETTLED__MAX;
	enum rc rc = settle_words(db, &word, 1, &verdict);

	return rc == RC_OK ? (int)verdict : -1;
}

static int do_settle_by_hand(struct db *db)
{
	struct word word = word_of(&at.attempt, ON_FAILURE);
	struct job job;
	struct refusal refusal;

	word.reason = REASON_OPERATOR;
	word.who = "op";
	enum changed changed = settle_by_operator(db, &word, NULL, &job, &refusal);

	job_release(&job);
	return (int)changed;
}

static int do_cancel(struct db *db)
{
	struct job job;
	enum changed changed = job_store_cancel(db, &op, &at.job, NULL, &job);

	job_release(&job);
	return (int)changed;
}

static int do_cancel_key(struct db *db)
{
	struct identity ann = user_named("ann");
	struct idempotency_key key = key_of(KEY);
	struct id id = clock_id();
	struct job job;
	enum changed changed = job_store_cancel_key(db, &ann, &key, &id, clock_real_us(), &job);

	job_release(&job);
	return (int)changed;
}

static int do_request(struct db *db)
{
	struct job job;
	struct refusal refusal;
	enum changed changed =
		job_store_request_attempt(db, &op, &at.job, NULL, NULL, &job, &refusal);

	job_release(&job);
	return (int)changed;
}

static const struct operation {
	const char *name;
	void (*prepare)(void);
	int (*run)(struct db *db);
	int done, again, not_done;
	int before; /* statements before its transaction, refused only once and not tried again: who
		       asked does so at its next turn */
} operations[] = {
	{ "create", no_job, do_create, CREATED_NEW, CREATED_REPLAYED, CREATED_NOT_STORED, 0 },
	{ "claim", queued, do_claim, 1, 0, -1, 1 },
	{ "a result", in_doubt, do_settle, SETTLED_MADE, SETTLED_REPEATED, -1, 0 },
	{ "a late result", overtaken, do_settle, SETTLED_LOST, SETTLED_LATE, -1, 0 },
	{ "an operator's word", in_doubt, do_settle_by_hand, CHANGED_DONE, CHANGED_ATTEMPT_SETTLED,
	  CHANGED_NOT_STORED, 0 },
	{ "cancel", in_doubt, do_cancel, CHANGED_DONE, CHANGED_DONE, CHANGED_NOT_STORED, 0 },
	{ "cancel by key", queued, do_cancel_key, CHANGED_DONE, CHANGED_DONE, CHANGED_NOT_STORED,
	  0 },
	{ "cancel before the create", no_job, do_cancel_key, CHANGED_TOMBSTONE, CHANGED_DONE,
	  CHANGED_NOT_STORED, 0 },
	{ "another attempt", failed, do_request, CHANGED_DONE, CHANGED_DONE, CHANGED_NOT_STORED,
	  0 },
};

static void prepare(const struct operation *operation)
{
	static const char *const tables[] = { "outbox", "races", "attempts", "jobs", "counters" };

	for (size_t i = 0; i < ROWS(tables); i++)
		raw_run(here.raw, "DELETE FROM %s", tables[i]);
	operation->prepare();
}

/* All that an operation leaves behind, but for ids and times. */
static const char *what_is(void)
{
	return raw_text(
		"SELECT CONCAT_WS(' | ', "
		"(SELECT GROUP_CONCAT(CONCAT_WS(' ', state, version, revision, attempt_count, "
		"attempts_allowed, result, error_reason) ORDER BY id) FROM jobs), "
		"(SELECT GROUP_CONCAT(CONCAT_WS(' ', number, state, reason, cancel_due, "
		"settled_by) ORDER BY number) FROM attempts), "
		"(SELECT GROUP_CONCAT(CONCAT_WS(' ', why, bytes)) FROM races), "
		"(SELECT total FROM counters), "
		"(SELECT GROUP_CONCAT(type) FROM outbox))");
}

struct fault {
	enum lossy what;
	unsigned int error;
	int times;
};

static struct {
	char before[1024], after[1024];
} should;

static void complain(const struct operation *operation, const struct fault *fault, int skip,
		     const char *why, int verdict, const char *is)
{
	fail_msg("%s, %s %u %s after %d: %s: verdict %d\n  before %s\n  after  %s\n  is     %s",
		 operation->name, fault->what == REFUSE_COMMIT ? "commit" : "statement",
		 fault->error, fault->times == 1 ? "once" : "always", skip, why, verdict,
		 should.before, should.after, is);
}

/* Returns whether there was anything left to refuse. Where an answer can't be read after a commit,
 * it is "not stored" for what was: saying it again then tells the truth. */
static bool try_fault(struct db *db, const struct operation *operation, const struct fault *fault,
		      int skip)
{
	prepare(operation);
	lossy_refuse(fault->what, fault->error, skip, fault->times);
	int verdict = operation->run(db);
	bool refused = lossy_left() < fault->times;

	lossy_arm(LOSE_NOTHING, 0, 0);
	const char *is = what_is();
	bool done = strcmp(is, should.after) == 0;
	bool open = fault->what == REFUSE_COMMIT && fault->error == 1047; /* so it isn't repeated */

	if (verdict == operation->done ? !done : verdict != operation->not_done)
		complain(operation, fault, skip, "not what was said", verdict, is);
	if (!done && strcmp(is, should.before) != 0)
		complain(operation, fault, skip, "half of it", verdict, is);
	if (fault->times == 1 && fault->error != 1205 && verdict != operation->done && !open &&
	    (fault->what == REFUSE_COMMIT || skip >= operation->before))
		complain(operation, fault, skip, "given up", verdict, is);
	if (fault->what == REFUSE_COMMIT && fault->times == ALWAYS && refused && done)
		complain(operation, fault, skip, "done without a commit", verdict, is);
	verdict = operation->run(db);
	is = what_is();
	if (verdict != (done ? operation->again : operation->done) || strcmp(is, should.after) != 0)
		complain(operation, fault, skip, "said again", verdict, is);
	return refused;
}

/* Returns at how many points there was something to refuse. */
static int try_everywhere(struct db *db, const struct operation *operation,
			  const struct fault *fault)
{
	int skip = 0;

	while (try_fault(db, operation, fault, skip))
		assert_true(++skip < STATEMENTS_MAX);
	return skip;
}

/* b04, b07, b09, b10: 1213 and 1020 undo the whole transaction, 1205 and 1047 the statement alone,
 * the rest of it being still open. A lock was waited for long enough, and the caller is told. */
static void what_is_refused_at_any_point_is_done_once_and_whole_or_not_at_all(void **state)
{
	static const struct fault faults[] = {
		{ REFUSE_EXECUTE, 1213, 1 },	  { REFUSE_EXECUTE, 1205, 1 },
		{ REFUSE_EXECUTE, 1020, 1 },	  { REFUSE_EXECUTE, 1047, 1 },
		{ REFUSE_EXECUTE, 1047, ALWAYS }, { REFUSE_COMMIT, 1213, 1 },
		{ REFUSE_COMMIT, 1213, ALWAYS },  { REFUSE_COMMIT, 1047, 1 },
	};
	struct db *db = db_new(lossy_open());
	int points[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < ROWS(operations); i++) {
		prepare(&operations[i]);
		snprintf(should.before, sizeof should.before, "%s", what_is());
		assert_int_equal(operations[i].run(db), operations[i].done);
		snprintf(should.after, sizeof should.after, "%s", what_is());
		for (size_t j = 0; j < ROWS(faults); j++)
			points[faults[j].what == REFUSE_COMMIT] +=
				try_everywhere(db, &operations[i], &faults[j]);
	}
	assert_true(points[0] > 100 && points[1] >= 3 * (int)(ROWS(operations) - 1));
	db_free(db);
}

/* b10: nothing at all is answered but that error, for as long as it lasts. */
static void b10_a_node_that_is_not_ready_is_no_absence_and_loses_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(operations); i++) {
		const struct fault fault = { REFUSE_ALL, 1047, ALWAYS };
		struct db *db = db_new(lossy_open()), *other = db_new(lossy_open());
		struct caller ann = caller_with("ann-token");
		struct job job;

		prepare(&operations[i]);
		snprintf(should.before, sizeof should.before, "%s", what_is());
		assert_int_equal(db_ready(db), RC_OK);
		lossy_refuse(fault.what, fault.error, 0, fault.times);
		int verdict = operations[i].run(db);

		if (verdict != operations[i].not_done || strcmp(what_is(), should.before) != 0)
			complain(&operations[i], &fault, 0, "not ready", verdict, what_is());
		assert_int_equal(job_store_get(other, &ann, &at.job, &job), RC_RETRY);
		lossy_arm(LOSE_NOTHING, 0, 0);
		db_free(other);
		db_free(db);
	}
}

/* b05: 1062 of another index than the key's: it is not the job that the key names. */
static void a_duplicate_of_another_index_is_no_repeat(void **state)
{
	struct id there = job_new((struct a_job){ .key = "another" }), id = there;
	struct idempotency_key key = key_of(KEY);
	struct identity who = user_named("ann");
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct create c = {
		.caller = &ann, .key = &key, .intent = &intent, .id = id, .now_us = clock_real_us()
	};
	struct create *one = &c;
	struct job job;

	(void)state;
	while (job_store_create(here.db, &one, 1) == 0)
		continue;
	assert_int_equal(c.created, CREATED_NOT_STORED);
	job_release(&c.job);
	assert_int_equal(job_store_cancel_key(here.db, &who, &key, &id, clock_real_us(), &job),
			 CHANGED_NOT_STORED);
	job_release(&job);
	job_is(&there, "queued", 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), 1);
}

/* Since MariaDB 11.6.2 on by default; a server without it has nothing to refuse. */
static bool snapshot_isolation(const char *value)
{
	return raw_try(here.raw, "SET GLOBAL innodb_snapshot_isolation = %s", value) == 0;
}

static enum rc read_then_write(struct db *db, void *arg)
{
	int *rounds = arg;

	raw_run(db->mysql, "SELECT version FROM providers");
	if (++*rounds == 1)
		raw_run(here.raw, "UPDATE providers SET version = 10");
	return db_execute(db, "UPDATE providers SET version = version + 1");
}

static void b04_a_row_that_changed_since_it_was_read_is_read_again(void **state)
{
	static const struct {
		const char *level;
		int rounds;
	} rows[] = { { "READ COMMITTED", 1 }, { "REPEATABLE READ", 2 } };

	(void)state;
	for (size_t i = 0; snapshot_isolation("ON") && i < ROWS(rows); i++) {
		struct db *db = testdb_another();
		int rounds = 0;

		raw_run(db->mysql, "SET SESSION TRANSACTION ISOLATION LEVEL %s", rows[i].level);
		assert_int_equal(db_transact(db, read_then_write, &rounds), RC_OK);
		assert_int_equal(rounds, rows[i].rounds);
		assert_int_equal(db_errno(db), rounds == 1 ? 0 : 1020);
		assert_int_equal(raw_number("SELECT version FROM providers"), 11);
		db_free(db);
	}
	snapshot_isolation("DEFAULT");
}

#define AT_ONCE 8

/* The same four at once, twice each. */
static void change_it(struct db *db, size_t index, void *arg)
{
	int *verdicts = arg;

	switch (index % 4) {
	case 0: verdicts[index] = do_create(db); break;
	case 1: verdicts[index] = do_cancel(db); break;
	case 2: verdicts[index] = do_settle(db); break;
	default: verdicts[index] = do_settle_by_hand(db); break;
	}
}

static bool is_documented(size_t index, int verdict)
{
	switch (index % 4) {
	case 0: return verdict == CREATED_REPLAYED;
	case 1: return verdict == CHANGED_DONE || verdict == CHANGED_JOB_SETTLED;
	case 2: return verdict != -1 && verdict != SETTLED_NO_SUCH_ATTEMPT;
	default: return verdict == CHANGED_DONE || verdict == CHANGED_ATTEMPT_SETTLED;
	}
}

static void b04_changes_of_one_job_at_once_get_no_other_answers_for_it(void **state)
{
	int verdicts[AT_ONCE];

	(void)state;
	snapshot_isolation("ON");
	for (int round = 0; round < 10; round++) {
		prepare(&(struct operation){ .prepare = in_doubt });
		raw_run(here.raw, "UPDATE jobs SET fingerprint = UNHEX(SHA2('press {}', 256))");
		crew_run(AT_ONCE, change_it, verdicts);
		for (size_t i = 0; i < AT_ONCE; i++)
			if (!is_documented(i, verdicts[i]))
				fail_msg("round %d, %zu: %d; %s", round, i, verdicts[i], what_is());
	}
	snapshot_isolation("DEFAULT");
}

static int open_here(void **state)
{
	int opened = testdb_open(state);

	if (opened != 0)
		return opened;
	testdb_empty(NULL);
	raw_run(here.raw,
		"INSERT INTO webhooks (owner, url, secrets, enabled, created_at, updated_at) "
		"VALUES ('ann', 'http://a/', '[]', 1, NOW(6), NOW(6))");
	at.poller = poller_new();
	op = operator_named("op");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused_at_any_point_is_done_once_and_whole_or_not_at_all),
		cmocka_unit_test(b10_a_node_that_is_not_ready_is_no_absence_and_loses_nothing),
		TEST(a_duplicate_of_another_index_is_no_repeat),
		cmocka_unit_test(b04_a_row_that_changed_since_it_was_read_is_read_again),
		cmocka_unit_test(b04_changes_of_one_job_at_once_get_no_other_answers_for_it),
	};

	return cmocka_run_group_tests_name("refusals", tests, open_here, testdb_close);
}
