/* test_settle_moves.c: the table of moves and the SQL say the same, for every attempt beside every
 * job. */
#include "testdb.h"

#include <stdio.h>

#include "core/moves.h"

/* Whether the attempt's request went out again, and which of its sendings the word answers. */
enum again {
	NEVER,
	HEARD,	   /* it did, and that is over; a word about the attempt */
	EARLIER,   /* it did; the answer to the first sending */
	UNDER_WAY, /* a word about the attempt */
	ITS_ANSWER,
	AGAIN__MAX
};

#define TOGETHER 64 /* are put into the database at once, which is cheaper */

/* One row of the big table. */
struct one {
	enum attempt_state attempt;
	enum job_state job;
	bool stale; /* the job's version went on since the attempt read it */
	bool other; /* another attempt is in doubt */
	bool tries; /* tries are left */
	enum again again;
	enum attempt_event event;
	enum mover by;
};

static struct id lessee; /* a poller whose lease runs */

struct pair {
	struct id job, attempt;
	uint64_t version, revision;
};

static const char *name_of(const struct one *one)
{
	static const char *const events[] = { "acknowledged", "result",	 "failure",
					      "track lost",   "release", "cancel" };
	static char name[160];

	snprintf(name, sizeof name, "%s attempt, %s job%s%s%s: %s by %s",
		 attempt_state_name(one->attempt), job_state_name(one->job),
		 one->stale ? ", stale" : "", one->other ? ", another in doubt" : "",
		 one->tries ? ", tries left" : "", events[one->event],
		 one->by == BY_POLLER ? "poller" : "operator");
	return name;
}

static bool possible(const struct one *one)
{
	return !(one->other && attempt_in_doubt(one->attempt)) && /* the database refuses two */
	       (one->again < UNDER_WAY || one->attempt == ATTEMPT_UNKNOWN);
}

static struct pair put(const struct one *one)
{
	struct pair pair = { .version = one->stale ? 6 : 5, .revision = 7 };

	pair.job = job_new((struct a_job){ .state = one->job,
					   .version = pair.version,
					   .count = 2,
					   .allowed = one->tries ? 3 : 2,
					   .more = "revision = 7" });
	pair.attempt = attempt_new(
		(struct an_attempt){ .job = &pair.job, .state = one->attempt, .version_read = 5 });
	if (one->again != NEVER)
		raw_run(here.raw, "UPDATE attempts SET resent = 1, claimed_by = %s WHERE id = %s",
			one->again >= UNDER_WAY ? x(&lessee) : "NULL", x(&pair.attempt));
	attempt_new((struct an_attempt){ .job = &pair.job,
					 .number = 2,
					 .version_read = 5,
					 .state = one->other ? ATTEMPT_UNKNOWN : ATTEMPT_FAILED });
	if (one->job == JOB_SUCCEEDED)
		raw_run(here.raw,
			"UPDATE jobs SET completed_by = %s, result = '\"first\"' WHERE id = %s",
			one->attempt == ATTEMPT_SUCCEEDED ? x(&pair.attempt) : "REPEAT('w', 16)",
			x(&pair.job));
	return pair;
}

static bool sent_since(const struct one *one)
{
	if (one->event == ON_FAILURE)
		return one->again == EARLIER || one->again == UNDER_WAY;
	return one->again >= UNDER_WAY;
}

static struct move decide(const struct one *one, const struct pair *pair)
{
	struct job_facts facts = { .state = one->job,
				   .version = pair->version,
				   .completed = one->job == JOB_SUCCEEDED,
				   .other_in_doubt = one->other,
				   .may_retry = one->tries,
				   .sent_since = sent_since(one) };

	return moves_decide(&facts, one->attempt, 5, one->event, one->by);
}

static enum settled verdict_of(const struct move *move)
{
	static const enum settled verdicts[] = { [MOVE_MADE] = SETTLED_MADE,
						 [MOVE_NOTED] = SETTLED_NOTED,
						 [MOVE_REPEATED] = SETTLED_REPEATED,
						 [MOVE_LATE] = SETTLED_LATE,
						 [MOVE_REFUSED] = SETTLED_REFUSED };

	if (move->verdict == MOVE_MADE && move->attempt_to == ATTEMPT_DISCARDED)
		return SETTLED_LOST;
	return verdicts[move->verdict];
}

/* What must stand in the rows afterwards, as one line. */
static void expect(const struct one *one, const struct pair *pair, const struct move *move,
		   char *line, size_t size)
{
	bool made = move->verdict == MOVE_MADE;
	bool won = made && move->job_moves && move->job_to == JOB_SUCCEEDED;
	bool seen = move->verdict == MOVE_NOTED ? job_open(one->job)
						: made && (move->job_moves || job_open(one->job));
	const char *result = won ? "\"late\"" : one->job == JOB_SUCCEEDED ? "\"first\"" : "none";

	snprintf(line, size, "%s %s %llu %llu %s %s %s",
		 attempt_state_name(made ? move->attempt_to : one->attempt),
		 job_state_name(made && move->job_moves ? move->job_to : one->job),
		 (unsigned long long)pair->version + (made && move->version_up),
		 (unsigned long long)pair->revision + seen, result,
		 won				     ? "it"
		 : one->job != JOB_SUCCEEDED	     ? "nobody"
		 : one->attempt == ATTEMPT_SUCCEEDED ? "it"
						     : "other",
		 move->why ? race_why_name(move->why) : "no race");
}

static const char *rows_now(const struct pair *pair)
{
	return raw_text(
		"SELECT CONCAT_WS(' ', a.state, j.state, j.version, j.revision, COALESCE(j.result, "
		"'none'), "
		"IF(j.completed_by IS NULL, 'nobody', IF(j.completed_by = a.id, 'it', 'other')), "
		"COALESCE((SELECT GROUP_CONCAT(why) FROM races r WHERE r.attempt_id = a.id), 'no "
		"race')) "
		"FROM attempts a JOIN jobs j ON j.id = a.job_id WHERE a.id = %s",
		x(&pair->attempt));
}

static void try_one(const struct one *one, const struct pair *pair)
{
	struct move move = decide(one, pair);
	struct word word = word_of(&pair->attempt, one->event);
	enum settled verdict = SETTLED__MAX;
	char want[256];

	word.by = one->by;
	word.of_sending = one->again == EARLIER || one->again == ITS_ANSWER;
	word.sending = one->again == ITS_ANSWER;
	if (settle_words(here.db, &word, 1, &verdict) != RC_OK)
		fail_msg("%s: not settled: the table and the statement differ", name_of(one));
	if (verdict != verdict_of(&move))
		fail_msg("%s: verdict %d, not %d", name_of(one), (int)verdict,
			 (int)verdict_of(&move));
	expect(one, pair, &move, want, sizeof want);
	const char *now = rows_now(pair);

	if (strcmp(now, want) != 0)
		fail_msg("%s: '%s' and not '%s'", name_of(one), now, want);
}

/* `i` as the i-th of all combinations. */
static bool one_of(unsigned int i, struct one *one_out)
{
	one_out->by = (enum mover)(i % MOVER__MAX), i /= MOVER__MAX;
	one_out->again = (enum again)(i % AGAIN__MAX), i /= AGAIN__MAX;
	one_out->event = (enum attempt_event)(i % ATTEMPT_EVENT__MAX), i /= ATTEMPT_EVENT__MAX;
	one_out->tries = i % 2, i /= 2;
	one_out->other = i % 2, i /= 2;
	one_out->stale = i % 2, i /= 2;
	one_out->job = (enum job_state)(i % JOB_STATE__MAX), i /= JOB_STATE__MAX;
	one_out->attempt = (enum attempt_state)i;
	return i < ATTEMPT_STATE__MAX;
}

static void every_word_does_what_the_table_says_and_nothing_else(void **state)
{
	struct one ones[TOGETHER];
	struct pair pairs[TOGETHER];
	unsigned int tried = 0, len = 0;
	bool more = true;

	(void)state;
	lessee = poller_new();
	for (unsigned int i = 0; more; i++) {
		more = one_of(i, &ones[len]);
		len += more && possible(&ones[len]);
		if (more && len < TOGETHER)
			continue;
		raw_run(here.raw, "START TRANSACTION");
		for (unsigned int k = 0; k < len; k++)
			pairs[k] = put(&ones[k]);
		raw_run(here.raw, "COMMIT");
		for (unsigned int k = 0; k < len; k++)
			try_one(&ones[k], &pairs[k]);
		tried += len;
		len = 0;
	}
	assert_int_equal(tried, 3 * (5 * 6 * 2 * 2 * 2 * 6 * 2 + 3 * 6 * 2 * 1 * 2 * 6 * 2) +
					2 * (6 * 2 * 1 * 2 * 6 * 2));
}

/* The statements alone, each in a transaction that is rolled back. */
static uint64_t run_alone(struct stmt *st)
{
	if (stmt_run(st) != RC_OK)
		fail_msg("%s", db_error(here.db));
	return stmt_changed(st);
}

static uint64_t run_attempt(enum sql id, int nulls, const struct id *attempt, int sending)
{
	struct stmt *st;

	assert_int_equal(db_begin(here.db), RC_OK);
	st = db_stmt(here.db, id);
	for (int i = 0; i < nulls; i++)
		bind_null(st);
	for (int i = 0; id == SQL_ATTEMPT_CANCEL && i < 2; i++)
		bind_u64(st, 1);
	bind_id(st, attempt);
	for (int i = 0; id == SQL_ATTEMPT_FAIL && i < 3; i++) {
		if (sending < 0)
			bind_null(st);
		else
			bind_u64(st, (uint64_t)sending);
	}
	uint64_t changed = run_alone(st);

	db_rollback(here.db);
	return changed;
}

static void a_guard_of_an_attempt_lets_pass_what_the_table_does(void **state)
{
	static const struct {
		const char *name;
		enum sql id;
		int nulls;
		enum attempt_event event;
	} rows[] = {
		{ "acknowledge", SQL_ATTEMPT_ACKNOWLEDGE, 5, ON_ACKNOWLEDGED },
		{ "succeed", SQL_ATTEMPT_SUCCEED, 7, ON_RESULT },
		{ "succeed in a list", SQL_ATTEMPTS_SUCCEED, 3, ON_RESULT },
		{ "discard", SQL_ATTEMPT_DISCARD, 7, ON_RESULT },
		{ "fail", SQL_ATTEMPT_FAIL, 7, ON_FAILURE },
		{ "lose track", SQL_ATTEMPT_LOSE_TRACK, 5, ON_TRACK_LOST },
		{ "release", SQL_ATTEMPT_RELEASE, 1, ON_RELEASE },
		{ "cancel", SQL_ATTEMPT_CANCEL, 1, ON_CANCEL },
	};
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING });

	(void)state;
	for (int from = 0; from < ATTEMPT_STATE__MAX; from++) {
		raw_run(here.raw, "DELETE FROM attempts");
		struct id attempt = attempt_new(
			(struct an_attempt){ .job = &job, .state = (enum attempt_state)from });

		for (size_t i = 0; i < ROWS(rows); i++) {
			uint64_t want = moves_attempt_from(rows[i].event) >> from & 1;

			if (run_attempt(rows[i].id, rows[i].nulls, &attempt, -1) != want)
				fail_msg("%s from %s", rows[i].name,
					 attempt_state_name((enum attempt_state)from));
		}
	}
}

static void a_guard_of_an_attempt_knows_what_was_sent_again(void **state)
{
	static const struct {
		enum sql id;
		int nulls;
		int sending; /* -1: a word about the attempt */
		const char *resent;
		bool leased;
		uint64_t passes;
	} rows[] = {
		{ SQL_ATTEMPT_FAIL, 7, 0, "0", false, 1 },
		{ SQL_ATTEMPT_FAIL, 7, 0, "0", true, 0 },
		{ SQL_ATTEMPT_FAIL, 7, 0, "1", false, 0 },
		{ SQL_ATTEMPT_FAIL, 7, 1, "1", false, 1 },
		{ SQL_ATTEMPT_FAIL, 7, 1, "1", true, 1 },
		{ SQL_ATTEMPT_FAIL, 7, 1, "2", true, 0 },
		{ SQL_ATTEMPT_FAIL, 7, -1, "2", false, 1 },
		{ SQL_ATTEMPT_FAIL, 7, -1, "2", true, 0 },
		{ SQL_ATTEMPT_RELEASE, 1, -1, "1", false, 1 },
		{ SQL_ATTEMPT_RELEASE, 1, -1, "1", true, 0 },
		{ SQL_ATTEMPT_CANCEL, 1, -1, "1", false, 1 },
		{ SQL_ATTEMPT_CANCEL, 1, -1, "1", true, 0 },
		{ SQL_ATTEMPT_SUCCEED, 7, -1, "1", true, 1 },
	};
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });

	(void)state;
	lessee = poller_new();
	for (size_t i = 0; i < ROWS(rows); i++) {
		raw_run(here.raw, "UPDATE attempts SET resent = %s, claimed_by = %s",
			rows[i].resent, rows[i].leased ? x(&lessee) : "NULL");
		if (run_attempt(rows[i].id, rows[i].nulls, &attempt, rows[i].sending) !=
		    rows[i].passes)
			fail_msg("row %zu", i);
	}
}

static void bind_held(struct stmt *st, const struct pair *pair)
{
	bind_id(st, &pair->job);
	bind_u64(st, 5);
}

static uint64_t run_job(enum sql id, const struct pair *pair)
{
	static const struct {
		enum sql id;
		int nulls;
	} before[] = {
		{ SQL_JOB_COMPLETE, 3 },
		{ SQL_JOB_REQUEUE, 0 },
		{ SQL_JOB_FAIL, 3 },
		{ SQL_JOB_LOSE_TRACK, 0 },
	};
	struct stmt *st;

	assert_int_equal(db_begin(here.db), RC_OK);
	st = db_stmt(here.db, id);
	if (id == SQL_JOBS_COMPLETE) {
		for (int value = 0; value < 2; value++) {
			bind_id(st, &pair->job);
			bind_null(st);
		}
		bind_id(st, &pair->job);
		bind_id(st, &pair->attempt);
		bind_id(st, &pair->job);
		bind_id(st, &pair->job);
		bind_id(st, &pair->attempt);
		uint64_t listed = run_alone(st);

		db_rollback(here.db);
		return listed;
	}
	for (size_t i = 0; i < ROWS(before); i++)
		for (int n = 0; before[i].id == id && n < before[i].nulls; n++)
			bind_null(st);
	if (id == SQL_JOB_REQUEUE) {
		bind_null(st);
		bind_u64(st, 0);
		bind_u64(st, 0);
	}
	if (id == SQL_JOB_FAIL)
		bind_u64(st, 0);
	bind_held(st, pair);
	if (id != SQL_JOB_LOSE_TRACK)
		bind_id(st, &pair->attempt);
	uint64_t changed = run_alone(st);

	db_rollback(here.db);
	return changed;
}

static void a_guard_of_a_job_lets_pass_what_the_table_does(void **state)
{
	static const struct {
		const char *name;
		enum sql id;
		enum attempt_event event;
		bool tries;
		enum job_state to;
	} rows[] = {
		{ "complete", SQL_JOB_COMPLETE, ON_RESULT, true, JOB_SUCCEEDED },
		{ "complete in a list", SQL_JOBS_COMPLETE, ON_RESULT, true, JOB_SUCCEEDED },
		{ "requeue", SQL_JOB_REQUEUE, ON_FAILURE, true, JOB_QUEUED },
		{ "fail", SQL_JOB_FAIL, ON_FAILURE, false, JOB_FAILED },
		{ "lose track", SQL_JOB_LOSE_TRACK, ON_TRACK_LOST, true, JOB_UNKNOWN },
	};
	struct one one;

	(void)state;
	for (unsigned int i = 0; one_of(i, &one); i++) {
		if (one.by != BY_POLLER || one.again != NEVER || one.event != ON_RESULT ||
		    one.tries || !possible(&one))
			continue;
		struct pair pair = put(&one);

		for (size_t r = 0; r < ROWS(rows); r++) {
			one.event = rows[r].event;
			one.tries = rows[r].tries;
			struct move move = decide(&one, &pair);
			/* The attempt's own state stands in the attempt's statement, but for the
			 * swap, which asks itself. */
			bool live = rows[r].id == SQL_JOB_COMPLETE ||
				    rows[r].id == SQL_JOBS_COMPLETE ||
				    (moves_attempt_from(one.event) >> one.attempt & 1);
			bool want = move.verdict == MOVE_MADE && move.job_moves &&
				    move.job_to == rows[r].to;

			if (live && run_job(rows[r].id, &pair) != want)
				fail_msg("%s: %s", rows[r].name, name_of(&one));
		}
	}
}

static void the_swap_wants_the_attempt_of_this_job_and_an_empty_slot(void **state)
{
	struct one one = { .attempt = ATTEMPT_STARTING, .job = JOB_RUNNING };
	struct pair pair = put(&one), stranger = put(&one),
		    mixed = { .job = pair.job, .attempt = stranger.attempt };

	(void)state;
	for (int id = SQL_JOB_COMPLETE; id <= SQL_JOBS_COMPLETE; id++) {
		assert_int_equal(run_job((enum sql)id, &pair), 1);
		assert_int_equal(run_job((enum sql)id, &mixed), 0);
		raw_run(here.raw, "UPDATE attempts SET version_read = 4 WHERE id = %s",
			x(&pair.attempt));
		assert_int_equal(run_job((enum sql)id, &pair), 0);
		raw_run(here.raw, "UPDATE attempts SET version_read = 5 WHERE id = %s",
			x(&pair.attempt));
	}
	raw_run(here.raw, "UPDATE jobs SET completed_by = REPEAT('w', 16) WHERE id = %s",
		x(&pair.job));
	for (int id = SQL_JOB_COMPLETE; id <= SQL_JOB_LOSE_TRACK; id++)
		assert_int_equal(run_job((enum sql)id, &pair), 0);
}

static uint64_t run_plain(enum sql id, const struct id *job, uint64_t version)
{
	struct stmt *st;

	assert_int_equal(db_begin(here.db), RC_OK);
	st = db_stmt(here.db, id);
	if (id == SQL_JOB_REQUEST) {
		bind_str(st, "press");
		bind_str(st, "press");
	}
	bind_id(st, job);
	bind_u64(st, version);
	uint64_t changed = run_alone(st);

	db_rollback(here.db);
	return changed;
}

static void the_guards_of_cancel_and_request_follow_the_table(void **state)
{
	(void)state;
	for (int from = 0; from < JOB_STATE__MAX; from++) {
		enum job_state job_state = (enum job_state)from;
		struct id job = job_new((struct a_job){ .state = job_state, .version = 5 });
		bool open = job_state == JOB_QUEUED || job_state == JOB_FAILED;

		if (run_plain(SQL_JOB_CANCEL, &job, 5) !=
		    (moves_cancel_job(job_state) == MOVE_MADE))
			fail_msg("cancel from %s", job_state_name(job_state));
		if (run_plain(SQL_JOB_REQUEST, &job, 5) != open)
			fail_msg("request from %s", job_state_name(job_state));
		assert_int_equal(run_plain(SQL_JOB_CANCEL, &job, 4), 0);
		assert_int_equal(run_plain(SQL_JOB_REQUEST, &job, 4), 0);
		for (int a = 0; a < ATTEMPT_STATE__MAX; a++) {
			raw_run(here.raw, "DELETE FROM attempts");
			attempt_new(
				(struct an_attempt){ .job = &job, .state = (enum attempt_state)a });
			if (run_plain(SQL_JOB_REQUEST, &job, 5) !=
			    (open && !attempt_in_doubt((enum attempt_state)a)))
				fail_msg("request from %s beside %s", job_state_name(job_state),
					 attempt_state_name((enum attempt_state)a));
		}
		raw_run(here.raw, "UPDATE jobs SET completed_by = REPEAT('w', 16) WHERE id = %s",
			x(&job));
		assert_int_equal(run_plain(SQL_JOB_CANCEL, &job, 5), 0);
		assert_int_equal(run_plain(SQL_JOB_REQUEST, &job, 5), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_word_does_what_the_table_says_and_nothing_else),
		TEST(a_guard_of_an_attempt_lets_pass_what_the_table_does),
		TEST(a_guard_of_an_attempt_knows_what_was_sent_again),
		TEST(a_guard_of_a_job_lets_pass_what_the_table_does),
		TEST(the_swap_wants_the_attempt_of_this_job_and_an_empty_slot),
		TEST(the_guards_of_cancel_and_request_follow_the_table),
	};

	return cmocka_run_group_tests_name("settle and moves", tests, testdb_open, testdb_close);
}
