/* test_settle.c: one result lands, by compare-and-swap alone; whoever comes second leaves a digest
 * and nothing else. */
#include "testdb.h"

#include <stdio.h>

#include "lossy.h"
#include "store/vitals.h"

#define WON "{\"won\":1}"
#define SECRET "only-the-loser-knows"
#define LATE "{\"late\":\"" SECRET "\"}"

/* A job on its second attempt, the first one released. */
struct duel {
	struct id job, first, second;
};

static struct duel duel_new(enum attempt_state second)
{
	struct duel duel = { .job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 2 }) };

	duel.first =
		attempt_new((struct an_attempt){ .job = &duel.job, .state = ATTEMPT_RELEASED });
	duel.second = attempt_new((struct an_attempt){
		.job = &duel.job, .number = 2, .state = second, .provider = "other" });
	return duel;
}

static uint64_t races(void)
{
	return raw_number("SELECT COUNT(*) FROM races");
}

static void r4_the_database_refuses_a_second_attempt_in_doubt(void **state)
{
	(void)state;
	for (int a = 0; a < ATTEMPT_STATE__MAX; a++) {
		for (int b = 0; b < ATTEMPT_STATE__MAX; b++) {
			struct id job = job_new((struct a_job){ .state = JOB_RUNNING });
			bool both = attempt_in_doubt((enum attempt_state)a) &&
				    attempt_in_doubt((enum attempt_state)b);

			attempt_new(
				(struct an_attempt){ .job = &job, .state = (enum attempt_state)a });
			unsigned int error =
				raw_try(here.raw,
					"INSERT INTO attempts SET id = RANDOM_BYTES(16), job_id = "
					"%s, number = 2, provider = 'p', "
					"provider_version = 1, generation = 0, state = '%s', "
					"version_read = 0, started_at = NOW(6)",
					x(&job), attempt_state_name((enum attempt_state)b));
			if (error != (both ? 1062 : 0) ||
			    (both && !strstr(mysql_error(here.raw), "one_in_doubt")))
				fail_msg("%s beside %s: %u",
					 attempt_state_name((enum attempt_state)b),
					 attempt_state_name((enum attempt_state)a), error);
		}
	}
}

static void r4_an_attempt_that_ended_does_not_come_back_into_doubt_beside_another(void **state)
{
	struct duel duel = duel_new(ATTEMPT_UNKNOWN);

	(void)state;
	assert_int_equal(raw_try(here.raw, "UPDATE attempts SET state = 'running' WHERE id = %s",
				 x(&duel.first)),
			 1062);
}

static void r8_the_second_to_return_loses_whoever_was_first_to_start(void **state)
{
	(void)state;
	for (int primary_wins = 0; primary_wins < 2; primary_wins++) {
		struct duel duel = duel_new(ATTEMPT_RUNNING);
		const struct id *winner = primary_wins ? &duel.first : &duel.second;
		const struct id *loser = primary_wins ? &duel.second : &duel.first;

		assert_int_equal(say(result_of(winner, WON)), SETTLED_MADE);
		job_is(&duel.job, "succeeded", 1);
		char before[1024];

		snprintf(before, sizeof before, "%s",
			 raw_text("SELECT CONCAT_WS(' ', HEX(completed_by), result, version, "
				  "revision, updated_at) FROM jobs "
				  "WHERE id = %s",
				  x(&duel.job)));
		assert_int_equal(say(result_of(loser, LATE)), SETTLED_LOST);
		assert_string_equal(before,
				    raw_text("SELECT CONCAT_WS(' ', HEX(completed_by), result, "
					     "version, revision, updated_at) FROM jobs "
					     "WHERE id = %s",
					     x(&duel.job)));
		attempt_is(winner, "succeeded");
		attempt_is(loser, "discarded");
		assert_string_equal(raw_text("SELECT CONCAT_WS(' ', why, bytes, sha256 = "
					     "UNHEX(SHA2('%s', 256)), winner = %s, "
					     "job_id = %s) FROM races WHERE attempt_id = %s",
					     LATE, x(winner), x(&duel.job), x(loser)),
				    "lost_swap 31 1 1 1");
	}
	assert_int_equal(found_anywhere(SECRET), 0);
	assert_true(found_anywhere("won") > 0); /* the search itself finds what is there */
}

static void r8_the_same_loss_said_again_is_one_race(void **state)
{
	struct duel duel = duel_new(ATTEMPT_UNKNOWN);

	(void)state;
	assert_int_equal(say(result_of(&duel.first, WON)), SETTLED_MADE);
	assert_int_equal(say(result_of(&duel.second, LATE)), SETTLED_LOST);
	assert_int_equal(say(result_of(&duel.second, LATE)), SETTLED_LATE);
	assert_int_equal(races(), 1);
	assert_int_equal(say(result_of(&duel.second, "3")), SETTLED_LATE);
	assert_int_equal(races(), 2);
	assert_int_equal(say(word_of(&duel.second, ON_FAILURE)), SETTLED_LATE);
	assert_int_equal(races(), 2); /* a late failure is none */
}

static void a_provider_that_goes_on_talking_fills_no_table(void **state)
{
	struct duel duel = duel_new(ATTEMPT_UNKNOWN);
	char text[16];

	(void)state;
	assert_int_equal(say(result_of(&duel.first, WON)), SETTLED_MADE);
	assert_int_equal(say(result_of(&duel.second, LATE)), SETTLED_LOST);
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "%d", 1000 + i);
		assert_int_equal(say(result_of(&duel.second, text)), SETTLED_LATE);
	}
	assert_int_equal(races(), 16);
	assert_int_equal(say(result_of(&duel.first, LATE)), SETTLED_LATE);
	assert_int_equal(races(), 17); /* each attempt has its own */
}

static void the_winner_may_repeat_itself_but_not_contradict_itself(void **state)
{
	struct duel duel = duel_new(ATTEMPT_UNKNOWN);

	(void)state;
	assert_int_equal(say(result_of(&duel.first, WON)), SETTLED_MADE);
	assert_int_equal(say(result_of(&duel.first, WON)), SETTLED_REPEATED);
	assert_int_equal(races(), 0);
	assert_int_equal(say(result_of(&duel.first, LATE)), SETTLED_LATE);
	assert_string_equal(raw_text("SELECT why FROM races"), "contradiction");
	assert_string_equal(raw_text("SELECT result FROM jobs"), WON);
	job_is(&duel.job, "succeeded", 1);
}

struct finish {
	struct duel *duel;
	enum settled verdicts[2];
	enum rc rcs[2];
};

static void finish(struct db *db, size_t index, void *arg)
{
	struct finish *finish = arg;
	struct word word =
		result_of(index ? &finish->duel->second : &finish->duel->first, index ? "1" : "0");

	finish->rcs[index] = settle_words(db, &word, 1, &finish->verdicts[index]);
}

static void r8_two_at_once_are_one_winner_and_one_race(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		struct duel duel = duel_new(ATTEMPT_RUNNING);
		struct finish both = { .duel = &duel };

		crew_run(2, finish, &both);
		assert_int_equal(both.rcs[0], RC_OK);
		assert_int_equal(both.rcs[1], RC_OK);
		int won = both.verdicts[0] == SETTLED_MADE ? 0 : 1;

		assert_int_equal(both.verdicts[won], SETTLED_MADE);
		assert_int_equal(both.verdicts[!won], SETTLED_LOST);
		assert_int_equal(races(), round + 1);
		assert_int_equal(raw_number("SELECT completed_by = %s AND result = '%d' AND "
					    "version = 1 FROM jobs WHERE id = %s",
					    x(won ? &duel.second : &duel.first), won, x(&duel.job)),
				 1);
	}
}

static void f10_late_words_change_no_row(void **state)
{
	static const struct {
		enum job_state job;
		enum attempt_state attempt;
		const char *why;
	} rows[] = {
		{ JOB_CANCELLED, ATTEMPT_RUNNING, "job_cancelled" },
		{ JOB_CANCELLED, ATTEMPT_UNKNOWN, "job_cancelled" },
		{ JOB_FAILED, ATTEMPT_RELEASED, "job_failed" },
		{ JOB_QUEUED, ATTEMPT_RELEASED,
		  "job_failed" }, /* failed for good in between, and asked for again */
		{ JOB_QUEUED, ATTEMPT_CANCELLED, "attempt_cancelled" },
		{ JOB_FAILED, ATTEMPT_FAILED, "attempt_failed" },
		{ JOB_CANCELLED, ATTEMPT_DISCARDED, "attempt_discarded" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct id job =
			job_new((struct a_job){ .state = rows[i].job, .version = 1, .count = 1 });
		struct id attempt =
			attempt_new((struct an_attempt){ .job = &job, .state = rows[i].attempt });
		bool ended = !attempt_in_play(rows[i].attempt);
		enum settled verdict = say(result_of(&attempt, LATE));

		if (verdict != (ended ? SETTLED_LATE : SETTLED_LOST))
			fail_msg("row %zu: %d", i, (int)verdict);
		assert_string_equal(
			raw_text("SELECT why FROM races WHERE attempt_id = %s", x(&attempt)),
			rows[i].why);
		job_is(&job, job_state_name(rows[i].job), 1);
		attempt_is(&attempt, ended ? attempt_state_name(rows[i].attempt) : "discarded");
		assert_int_equal(say(word_of(&attempt, ON_FAILURE)), SETTLED_LATE);
		job_is(&job, job_state_name(rows[i].job), 1);
	}
	assert_int_equal(found_anywhere(SECRET), 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE result IS NOT NULL OR "
				    "completed_by IS NOT NULL"),
			 0);
}

static void r9_the_version_counts_decisions_and_nothing_else(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_STARTING });

	(void)state;
	assert_int_equal(say(word_of(&attempt, ON_ACKNOWLEDGED)), SETTLED_MADE);
	job_is(&job, "running", 0);
	assert_int_equal(say(word_of(&attempt, ON_TRACK_LOST)), SETTLED_MADE);
	job_is(&job, "unknown", 0);
	assert_int_equal(say(word_of(&attempt, ON_RELEASE)), SETTLED_MADE);
	job_is(&job, "queued", 0);
	assert_int_equal(say(word_of(&attempt, ON_RELEASE)), SETTLED_REPEATED);
	job_is(&job, "queued", 0);
	assert_int_equal(say(word_of(&attempt, ON_CANCEL)), SETTLED_MADE);
	job_is(&job, "queued", 0);
	assert_int_equal(raw_number("SELECT revision FROM jobs"), 4);
	raw_run(here.raw, "UPDATE jobs SET state = 'running'");
	struct id next = attempt_new(
		(struct an_attempt){ .job = &job, .number = 2, .state = ATTEMPT_STARTING });
	struct word failure = word_of(&next, ON_FAILURE);

	assert_int_equal(say(failure), SETTLED_MADE);
	job_is(&job, "queued", 0); /* to be tried again: no decision */
	raw_run(here.raw, "UPDATE jobs SET state = 'running'");
	next = attempt_new(
		(struct an_attempt){ .job = &job, .number = 3, .state = ATTEMPT_STARTING });
	failure = word_of(&next, ON_FAILURE);
	failure.retryable = false;
	assert_int_equal(say(failure), SETTLED_MADE);
	job_is(&job, "failed", 1);
}

static void r9_failed_for_good_fences_what_was_released_before(void **state)
{
	struct duel duel = duel_new(ATTEMPT_STARTING);
	struct word failure = word_of(&duel.second, ON_FAILURE);

	(void)state;
	failure.retryable = false;
	assert_int_equal(say(failure), SETTLED_MADE);
	job_is(&duel.job, "failed", 1);
	raw_run(here.raw, "UPDATE jobs SET state = 'queued'"); /* asked for again */
	assert_int_equal(say(result_of(&duel.first, LATE)), SETTLED_LOST);
	job_is(&duel.job, "queued", 1);
	assert_int_equal(found_anywhere(SECRET), 0);
}

static void a_failure_waits_for_its_back_off_or_ends_the_job(void **state)
{
	static const struct {
		const char *name;
		struct a_job job;
		bool retryable;
		const char *want;
	} rows[] = {
		{ "tries left", { .count = 1 }, true, "queued 60 -" },
		{ "no try left", { .count = 3 }, true, "failed 0 refused" },
		{ "not retryable", { .count = 1 }, false, "failed 0 refused" },
		{ "allowed one more", { .count = 3, .allowed = 4 }, true, "queued 60 -" },
		{ "past the deadline",
		  { .count = 1, .more = "deadline_at = NOW(6) + INTERVAL 59 SECOND" },
		  true,
		  "failed 0 refused" },
		{ "before the deadline",
		  { .count = 1, .more = "deadline_at = NOW(6) + INTERVAL 65 SECOND" },
		  true,
		  "queued 60 -" },
		{ "not before",
		  { .count = 1, .more = "not_before = NOW(6) + INTERVAL 90 SECOND" },
		  true,
		  "queued 90 -" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct a_job job = rows[i].job;

		job.state = JOB_RUNNING;
		struct id id = job_new(job);
		struct id attempt =
			attempt_new((struct an_attempt){ .job = &id, .state = ATTEMPT_STARTING });
		struct word word = word_of(&attempt, ON_FAILURE);

		word.retryable = rows[i].retryable;
		word.delay_ms = 60000;
		word.http_status = 429;
		word.detail = "no";
		assert_int_equal(say(word), SETTLED_MADE);
		const char *now = raw_text("SELECT CONCAT_WS(' ', state, IF(state = 'failed', 0, "
					   "ROUND(TIMESTAMPDIFF(SECOND, "
					   "UTC_TIMESTAMP(6), run_after) / 5) * 5), "
					   "IFNULL(error_reason, '-')) FROM jobs WHERE id = %s",
					   x(&id));
		if (strcmp(now, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].name, now);
		assert_string_equal(raw_text("SELECT CONCAT_WS(' ', state, reason, phase, "
					     "http_status, detail, finished_at IS NULL) "
					     "FROM attempts WHERE id = %s",
					     x(&attempt)),
				    "failed refused sent 429 no 0");
	}
}

static void an_effect_that_cannot_be_used_is_remembered(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_STARTING });
	struct word word = word_of(&attempt, ON_FAILURE);

	(void)state;
	word.retryable = false;
	word.effect_done = true;
	word.reason = REASON_CONTRACT_VIOLATION;
	word.detail = "no total";
	assert_int_equal(say(word), SETTLED_MADE);
	assert_string_equal(raw_text("SELECT CONCAT_WS(' ', effect_done, error_reason, "
				     "error_detail, error_attempt_id = %s) FROM jobs",
				     x(&attempt)),
			    "1 contract_violation no total 1");
}

static void words_of_a_batch_stand_or_fall_together(void **state)
{
	struct id jobs[4], attempts[4], nobody = { { 1 } };
	struct word words[6];
	enum settled verdicts[6];
	char *too_long = malloc(70000);

	(void)state;
	assert_non_null(too_long);
	memset(too_long, 'd', 69999);
	too_long[69999] = '\0';
	for (size_t i = 0; i < 4; i++) {
		jobs[i] = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
		attempts[i] = attempt_new(
			(struct an_attempt){ .job = &jobs[i], .state = ATTEMPT_STARTING });
		words[i] = result_of(&attempts[i], WON);
	}
	words[2] = word_of(&attempts[2], ON_ACKNOWLEDGED);
	words[3] = word_of(&attempts[3], ON_TRACK_LOST);
	words[4] = result_of(&attempts[2], WON);
	words[5] = result_of(&nobody, WON);
	words[3].detail = too_long;
	assert_int_equal(settle_words(here.db, words, 6, verdicts),
			 RC_INVALID); /* b06: refused, not cut */
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts WHERE state = 'starting'"), 4);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'running' AND revision = 0"),
		4);
	words[3].detail = NULL;
	assert_int_equal(settle_words(here.db, words, 6, verdicts), RC_OK);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(verdicts[i], SETTLED_MADE);
	assert_int_equal(verdicts[5], SETTLED_NO_SUCH_ATTEMPT);
	job_is(&jobs[2], "succeeded", 1);
	job_is(&jobs[3], "unknown", 0);
	free(too_long);
}

/* Lists and single statements, owners with an endpoint and without, results up to more than one
 * statement takes. */
static void winners_of_a_batch_are_written_each_as_it_was_said(void **state)
{
	enum { JOBS = 100 };
	static char large[300000];
	struct word words[JOBS];
	enum settled verdicts[JOBS];
	struct id jobs[JOBS];

	(void)state;
	memset(large, '7', sizeof large - 1);
	raw_run(here.raw, "INSERT INTO webhooks (owner, url, secrets, enabled, created_at, "
			  "updated_at) VALUES "
			  "('bea', 'https://b.example', '[]', 1, NOW(6), NOW(6))");
	for (size_t i = 0; i < JOBS; i++) {
		jobs[i] = job_new((struct a_job){ .owner = i % 3 ? "ann" : "bea",
						  .state = i % 5 ? JOB_RUNNING : JOB_UNKNOWN,
						  .count = 1,
						  .version = i % 2 });
		struct id attempt = attempt_new(
			(struct an_attempt){ .job = &jobs[i],
					     .state = i % 5 ? ATTEMPT_STARTING : ATTEMPT_UNKNOWN,
					     .version_read = i % 2 });

		words[i] = result_of(&attempt,
				     i % 7 == 1 ? "\"\xc3\xa4\xf0\x9f\x98\x80\"" : "{\"n\":1.50}");
		if (i % 10 == 9) {
			words[i].result = large;
			words[i].result_len = sizeof large - 1 - i * 1000;
		}
		words[i].http_status = i % 4 ? 200 : 201;
		words[i].detail = i % 9 ? "answered" : NULL;
	}
	raw_run(here.raw, "UPDATE attempts SET reason = 'timeout', detail = 'no answer in 60 s' "
			  "WHERE state = 'unknown'");
	assert_int_equal(settle_words(here.db, words, JOBS, verdicts), RC_OK);
	for (size_t i = 0; i < JOBS; i++) {
		unsigned char digest[SHA256_BYTES];
		char hex[2 * SHA256_BYTES + 1];

		assert_int_equal(verdicts[i], SETTLED_MADE);
		job_is(&jobs[i], "succeeded", i % 2 + 1);
		digest_sha256(words[i].result, words[i].result_len, digest);
		for (size_t k = 0; k < SHA256_BYTES; k++)
			snprintf(hex + 2 * k, 3, "%02x", digest[k]);
		assert_int_equal(
			raw_number("SELECT COUNT(*) FROM jobs j JOIN attempts a ON a.id = "
				   "j.completed_by WHERE "
				   "j.id = %s AND a.job_id = j.id AND a.state = 'succeeded' AND "
				   "a.http_status = %d AND COALESCE(a.detail, '-') = '%s' "
				   "AND SHA2(result, 256) = '%s' AND result_sha256 = UNHEX('%s')",
				   x(&jobs[i]), i % 4 ? 200 : 201, i % 9 ? "answered" : "-", hex,
				   hex),
			1);
	}
	/* The indexes on generated columns follow a list, too. */
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs FORCE INDEX (listed) WHERE listed = 1"), 0);
	assert_int_equal(
		raw_number(
			"SELECT COUNT(*) FROM jobs FORCE INDEX (queue) WHERE state = 'succeeded'"),
		JOBS);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts FORCE INDEX (one_in_doubt) "
				    "WHERE in_doubt = 1"),
			 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs FORCE INDEX (gives_up) WHERE "
				    "gives_up_at IS NULL"),
			 JOBS);
	assert_string_equal(
		raw_text("SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT o.job_id), MIN(o.owner), "
			 "MAX(o.owner), MIN(o.type)) FROM outbox o"),
		"34 34 bea bea job.succeeded");
}

static void an_attempt_under_another_job_is_no_attempt(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING }),
		  other = job_new((struct a_job){ .state = JOB_RUNNING });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_STARTING });
	struct word word = result_of(&attempt, WON);

	(void)state;
	word.job_id = other;
	assert_int_equal(say(word), SETTLED_NO_SUCH_ATTEMPT);
	job_is(&other, "running", 0);
	attempt_is(&attempt, "starting");
}

static uint64_t total(void)
{
	struct vitals vitals;

	assert_int_equal(vitals_read(here.db, &vitals), RC_OK);
	return vitals.races_total;
}

static void what_is_thrown_away_is_counted_once_and_stays_counted(void **state)
{
	struct duel one = duel_new(ATTEMPT_RUNNING), two = duel_new(ATTEMPT_RUNNING);
	struct word words[] = { result_of(&one.second, WON), result_of(&two.second, WON),
				result_of(&one.first, LATE), result_of(&two.first, LATE) };
	struct word by_hand = result_of(&one.first, "3");
	enum settled verdicts[ROWS(words)];
	struct refusal refusal;
	struct job job;

	(void)state;
	assert_int_equal(total(), 0);
	assert_int_equal(settle_words(here.db, words, 2, verdicts), RC_OK);
	assert_int_equal(total(), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(settle_words(here.db, words, ROWS(words), verdicts), RC_OK);
		assert_int_equal(total(), 2);
	}
	assert_int_equal(settle_by_operator(here.db, &by_hand, NULL, &job, &refusal),
			 CHANGED_ATTEMPT_SETTLED);
	job_release(&job);
	assert_int_equal(races(), 3);
	assert_int_equal(total(), 3);
	raw_run(here.raw, "DELETE FROM races");
	assert_int_equal(total(), 3);
}

static void b07_a_lock_on_the_attempt_leaves_nothing_half_written(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING });
	struct id attempt =
		attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_STARTING });
	struct word word = result_of(&attempt, WON);
	struct db *db = testdb_another();
	MYSQL *other = testdb_raw();
	enum settled verdict;

	(void)state;
	raw_run(db->mysql, "SET SESSION innodb_lock_wait_timeout = 1");
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT id FROM attempts WHERE id = %s FOR UPDATE", x(&attempt));
	assert_int_equal(settle_words(db, &word, 1, &verdict), RC_RETRY);
	assert_int_equal(db_errno(db), 1205);
	job_is(&job, "running", 0);
	attempt_is(&attempt, "starting");
	raw_run(other, "ROLLBACK");
	assert_int_equal(settle_words(db, &word, 1, &verdict), RC_OK);
	assert_int_equal(verdict, SETTLED_MADE);
	mysql_close(other);
	db_free(db);
}

static void b08_a_lost_commit_is_uncertain_and_the_same_words_are_safe(void **state)
{
	static const enum lossy losses[] = { LOSE_COMMIT, LOSE_COMMIT_ANSWER };

	(void)state;
	for (size_t i = 0; i < ROWS(losses); i++) {
		struct duel duel = duel_new(ATTEMPT_RUNNING);
		struct word word = result_of(&duel.second, WON);
		struct db *db = db_new(lossy_open());
		enum settled verdict;

		lossy_arm(losses[i], 0, 1);
		assert_int_equal(settle_words(db, &word, 1, &verdict), RC_UNCERTAIN);
		assert_int_equal(settle_words(db, &word, 1, &verdict), RC_OK);
		assert_int_equal(verdict, i ? SETTLED_REPEATED : SETTLED_MADE);
		job_is(&duel.job, "succeeded", 1);
		assert_int_equal(races(), 0);
		db_free(db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(r4_the_database_refuses_a_second_attempt_in_doubt),
		TEST(r4_an_attempt_that_ended_does_not_come_back_into_doubt_beside_another),
		TEST(r8_the_second_to_return_loses_whoever_was_first_to_start),
		TEST(r8_the_same_loss_said_again_is_one_race),
		TEST(a_provider_that_goes_on_talking_fills_no_table),
		TEST(the_winner_may_repeat_itself_but_not_contradict_itself),
		TEST(r8_two_at_once_are_one_winner_and_one_race),
		TEST(f10_late_words_change_no_row),
		TEST(r9_the_version_counts_decisions_and_nothing_else),
		TEST(r9_failed_for_good_fences_what_was_released_before),
		TEST(a_failure_waits_for_its_back_off_or_ends_the_job),
		TEST(an_effect_that_cannot_be_used_is_remembered),
		TEST(words_of_a_batch_stand_or_fall_together),
		TEST(winners_of_a_batch_are_written_each_as_it_was_said),
		TEST(an_attempt_under_another_job_is_no_attempt),
		TEST(what_is_thrown_away_is_counted_once_and_stays_counted),
		TEST(b07_a_lock_on_the_attempt_leaves_nothing_half_written),
		TEST(b08_a_lost_commit_is_uncertain_and_the_same_words_are_safe),
	};

	return cmocka_run_group_tests_name("settle", tests, testdb_open, testdb_close);
}
