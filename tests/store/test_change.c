/* test_change.c: cancelling by id and by key, tombstones, and asking for another attempt. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"

static struct if_match match_of(uint64_t version, uint64_t revision)
{
	struct if_match match = { .present = true, .len = 1 };

	match.list[0].version = version;
	match.list[0].revision = revision;
	return match;
}

static enum changed cancel(const struct id *id, const struct if_match *match)
{
	struct identity ann = user_named("ann");
	struct job job;
	enum changed changed = job_store_cancel(here.db, &ann, id, match, &job);

	job_release(&job);
	return changed;
}

static void a_job_is_cancelled_from_every_state_but_success(void **state)
{
	static const enum changed wants[JOB_STATE__MAX] = { [JOB_SUCCEEDED] = CHANGED_JOB_SETTLED };

	(void)state;
	for (int from = 0; from < JOB_STATE__MAX; from++) {
		struct id job = job_new((struct a_job){ .state = (enum job_state)from,
							.version = 3,
							.more = "error_reason = 'refused'" });
		bool changes = from != JOB_SUCCEEDED && from != JOB_CANCELLED;

		for (int again = 0; again < 2; again++)
			if (cancel(&job, NULL) != wants[from])
				fail_msg("from %s, time %d", job_state_name((enum job_state)from),
					 again + 1);
		job_is(&job, from == JOB_SUCCEEDED ? "succeeded" : "cancelled", changes ? 4 : 3);
	}
}

static void cancelling_a_job_changes_no_attempt(void **state)
{
	(void)state;
	for (int a = 0; a < ATTEMPT_STATE__MAX; a++) {
		struct id job = job_new((struct a_job){ .state = JOB_RUNNING });
		struct id attempt = attempt_new(
			(struct an_attempt){ .job = &job, .state = (enum attempt_state)a });

		assert_int_equal(cancel(&job, NULL), CHANGED_DONE);
		attempt_is(&attempt, attempt_state_name((enum attempt_state)a));
	}
}

static void only_its_owner_or_an_operator_cancels(void **state)
{
	struct id job = job_new((struct a_job){ 0 }), nobody = clock_id();
	struct identity rows[] = { user_named("bob"), user_named("an"), user_named("ann ") },
			op = operator_named("op");
	struct job got;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		assert_int_equal(job_store_cancel(here.db, &rows[i], &job, NULL, &got),
				 CHANGED_NO_SUCH_JOB);
		assert_null(got.owner.bytes);
	}
	job_is(&job, "queued", 0);
	assert_int_equal(cancel(&nobody, NULL), CHANGED_NO_SUCH_JOB);
	assert_int_equal(job_store_cancel(here.db, &op, &job, NULL, &got), CHANGED_DONE);
	assert_int_equal(got.state, JOB_CANCELLED);
	assert_int_equal(got.version, 1);
	job_release(&got);
}

static void a_stale_if_match_comes_before_the_state(void **state)
{
	struct id job = job_new(
		(struct a_job){ .state = JOB_SUCCEEDED, .version = 2, .more = "revision = 5" });
	struct if_match stale = match_of(2, 4), right = match_of(2, 5),
			any = { .present = true, .any = true };
	struct if_match none = { .present = true }, second = match_of(0, 0);

	(void)state;
	second.len = 2;
	second.list[1] = right.list[0];
	assert_int_equal(cancel(&job, &stale), CHANGED_STALE);
	assert_int_equal(cancel(&job, &none), CHANGED_STALE);
	assert_int_equal(cancel(&job, &right), CHANGED_JOB_SETTLED);
	assert_int_equal(cancel(&job, &second), CHANGED_JOB_SETTLED);
	assert_int_equal(cancel(&job, &any), CHANGED_JOB_SETTLED);
}

static enum changed cancel_key(struct db *db, const char *owner, const char *text,
			       struct id *id_out)
{
	struct identity who = user_named(owner);
	struct idempotency_key key = key_of(text);
	struct id tombstone = clock_id();
	struct job job;
	enum changed changed =
		job_store_cancel_key(db, &who, &key, &tombstone, clock_real_us(), &job);

	*id_out = job.id;
	job_release(&job);
	return changed;
}

static void a_key_cancelled_before_its_create_stays_cancelled(void **state)
{
	struct caller ann = caller_named("ann"), bob = caller_named("bob");
	struct intent intent = intent_of("press", "{}"), nowhere = intent_of("gone", "{}");
	struct id first, again;
	struct job job;

	(void)state;
	assert_int_equal(cancel_key(here.db, "ann", "k", &first), CHANGED_TOMBSTONE);
	job_is(&first, "cancelled", 1);
	assert_int_equal(create(here.db, &ann, "k", &intent, &job), CREATED_INTENT_CANCELLED);
	assert_true(id_equal(&job.id, &first));
	assert_int_equal(create(here.db, &ann, "k", &nowhere, &job), CREATED_INTENT_CANCELLED);
	assert_int_equal(cancel_key(here.db, "ann", "k", &again), CHANGED_DONE);
	assert_true(id_equal(&again, &first));
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), 1);
	assert_int_equal(create(here.db, &bob, "k", &intent, &job), CREATED_NEW); /* owners apart */
	job_release(&job);
	assert_int_equal(create(here.db, &ann, "k ", &intent, &job), CREATED_NEW);
	job_release(&job);
}

static void the_owner_is_told_of_a_cancel_before_the_create_once(void **state)
{
	struct id first, again;

	(void)state;
	raw_run(here.raw,
		"INSERT INTO webhooks (owner, url, secrets, enabled, created_at, updated_at) "
		"VALUES ('ann', 'http://a/', '[]', 1, NOW(6), NOW(6))");
	assert_int_equal(cancel_key(here.db, "ann", "k", &first), CHANGED_TOMBSTONE);
	assert_int_equal(cancel_key(here.db, "ann", "k", &again), CHANGED_DONE);
	assert_int_equal(cancel_key(here.db, "bob", "k", &again), CHANGED_TOMBSTONE);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 1);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE type = 'job.cancelled' AND "
				    "idempotency_key = 'k' AND job_id = %s",
				    x(&first)),
			 1);
}

static void a_key_that_has_a_job_cancels_it(void **state)
{
	struct id job = job_new((struct a_job){ .key = "k" }),
		  done = job_new((struct a_job){ .key = "d", .state = JOB_SUCCEEDED });
	struct id got;

	(void)state;
	assert_int_equal(cancel_key(here.db, "ann", "k", &got), CHANGED_DONE);
	assert_true(id_equal(&got, &job));
	job_is(&job, "cancelled", 1);
	assert_int_equal(cancel_key(here.db, "ann", "d", &got), CHANGED_JOB_SETTLED);
	job_is(&done, "succeeded", 0);
}

struct meeting {
	const char *key;
	enum created created[8];
	enum changed changed[8];
};

static void meet(struct db *db, size_t index, void *arg)
{
	struct meeting *meeting = arg;
	struct caller ann = caller_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct id id;
	struct job job;

	if (index % 2) {
		meeting->changed[index] = cancel_key(db, "ann", meeting->key, &id);
		return;
	}
	meeting->created[index] = create(db, &ann, meeting->key, &intent, &job);
	job_release(&job);
}

static void creates_and_cancels_of_a_key_at_once_end_with_one_cancelled_row(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		char key[16];
		struct meeting meeting = { .key = key };

		snprintf(key, sizeof key, "new-%d", round);
		crew_run(8, meet, &meeting);
		for (size_t i = 0; i < 8; i++) {
			if (i % 2 && meeting.changed[i] != CHANGED_DONE &&
			    meeting.changed[i] != CHANGED_TOMBSTONE)
				fail_msg("cancel: %d", (int)meeting.changed[i]);
			if (i % 2 == 0 && meeting.created[i] > CREATED_INTENT_CANCELLED)
				fail_msg("create: %d", (int)meeting.created[i]);
		}
		assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'cancelled' "
					    "AND version = 1"),
				 round + 1);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), round + 1);
	}
}

static void b08_a_tombstone_whose_answer_was_lost_is_still_one(void **state)
{
	struct db *db = db_new(lossy_open());
	struct id id;

	(void)state;
	lossy_arm(LOSE_EXECUTE_ANSWER, 0, 1);
	assert_int_equal(cancel_key(db, "ann", "k", &id), CHANGED_TOMBSTONE);
	assert_int_equal(lossy_left(), 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE id = %s", x(&id)), 1);
	db_free(db);
}

static enum changed ask(const struct identity *who, const struct id *id, const char *provider,
			struct id *attempt_out)
{
	struct job job;
	struct refusal refusal;
	enum changed changed =
		job_store_request_attempt(here.db, who, id, provider, NULL, &job, &refusal);

	*attempt_out = refusal.attempt_id;

	job_release(&job);
	return changed;
}

static void r7_no_attempt_is_asked_for_beside_one_in_doubt(void **state)
{
	static const struct {
		enum attempt_state attempt;
		enum job_state job;
	} rows[] = {
		{ ATTEMPT_STARTING, JOB_RUNNING },
		{ ATTEMPT_RUNNING, JOB_RUNNING },
		{ ATTEMPT_UNKNOWN, JOB_UNKNOWN },
	};
	struct identity who[] = { user_named("ann"), operator_named("op") };

	(void)state;
	for (size_t i = 0; i < 2 * ROWS(rows); i++) {
		struct id job = job_new((struct a_job){ .state = rows[i / 2].job, .count = 1 }),
			  told;
		struct id attempt = attempt_new(
			(struct an_attempt){ .job = &job, .state = rows[i / 2].attempt });

		assert_int_equal(ask(&who[i % 2], &job, i % 2 ? "press" : NULL, &told),
				 CHANGED_IN_DOUBT);
		assert_true(id_equal(&told, &attempt));
		job_is(&job, job_state_name(rows[i / 2].job), 0);
	}
}

static void what_may_be_asked_for_depends_on_the_job(void **state)
{
	static const struct {
		const char *name;
		struct a_job job;
		const char *provider;
		bool op;
		enum changed want;
		const char *now;
	} rows[] = {
		{ "failed",
		  { .state = JOB_FAILED, .version = 1, .count = 3 },
		  NULL,
		  false,
		  CHANGED_DONE,
		  "queued 1 press 4" },
		{ "failed, elsewhere",
		  { .state = JOB_FAILED, .version = 1, .count = 1 },
		  "second",
		  false,
		  CHANGED_DONE,
		  "queued 1 second 3" },
		{ "queued", { .count = 1 }, NULL, false, CHANGED_DONE, "queued 0 press 3" },
		{ "queued, elsewhere",
		  { .count = 3 },
		  "second",
		  false,
		  CHANGED_DONE,
		  "queued 0 second 4" },
		{ "nowhere",
		  { .state = JOB_FAILED },
		  "nobody",
		  false,
		  CHANGED_NO_SUCH_PROVIDER,
		  "failed 0 press 3" },
		{ "switched off",
		  { .state = JOB_FAILED },
		  "off",
		  false,
		  CHANGED_PROVIDER_DISABLED,
		  "failed 0 press 3" },
		{ "succeeded",
		  { .state = JOB_SUCCEEDED },
		  NULL,
		  false,
		  CHANGED_JOB_SETTLED,
		  "succeeded 0 press 3" },
		{ "cancelled",
		  { .state = JOB_CANCELLED },
		  NULL,
		  true,
		  CHANGED_JOB_SETTLED,
		  "cancelled 0 press 3" },
		{ "expired",
		  { .state = JOB_FAILED, .more = "error_reason = 'expired'" },
		  NULL,
		  true,
		  CHANGED_JOB_SETTLED,
		  "failed 0 press 3" },
		{ "past its deadline",
		  { .state = JOB_FAILED, .more = "deadline_at = NOW(6) - INTERVAL 1 SECOND" },
		  NULL,
		  true,
		  CHANGED_DEADLINE_PASSED,
		  "failed 0 press 3" },
		{ "failed by its deadline",
		  { .state = JOB_FAILED, .more = "error_reason = 'deadline'" },
		  NULL,
		  true,
		  CHANGED_DEADLINE_PASSED,
		  "failed 0 press 3" },
		{ "effect done",
		  { .state = JOB_FAILED, .more = "effect_done = 1" },
		  NULL,
		  false,
		  CHANGED_EFFECT_DONE,
		  "failed 0 press 3" },
		{ "effect done, an operator",
		  { .state = JOB_FAILED, .more = "effect_done = 1" },
		  NULL,
		  true,
		  CHANGED_DONE,
		  "queued 0 press 3" },
	};

	(void)state;
	provider_new("second", 1);
	provider_new("off", 1);
	raw_run(here.raw, "UPDATE providers SET enabled = 0 WHERE name = 'off'");
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct identity who = rows[i].op ? operator_named("op") : user_named("ann");
		struct id job = job_new(rows[i].job), attempt;
		enum changed changed = ask(&who, &job, rows[i].provider, &attempt);
		const char *now = raw_text("SELECT CONCAT_WS(' ', state, version, next_provider, "
					   "attempts_allowed) FROM jobs WHERE id = %s",
					   x(&job));

		if (changed != rows[i].want || strcmp(now, rows[i].now) != 0)
			fail_msg("%s: %d, %s", rows[i].name, (int)changed, now);
	}
}

static void a_request_starts_at_once_but_not_before_it_may(void **state)
{
	struct identity ann = user_named("ann");
	struct id job = job_new((struct a_job){ .count = 2,
						.more = "run_after = NOW(6) + INTERVAL 1 DAY" }),
		  attempt;

	(void)state;
	provider_new("second", 1);
	attempt_new((struct an_attempt){ .job = &job,
					 .state = ATTEMPT_FAILED,
					 .more = "retry_at = NOW(6) + INTERVAL 90 SECOND" });
	attempt_new((struct an_attempt){
		.job = &job, .number = 2, .state = ATTEMPT_RELEASED, .provider = "second" });
	assert_int_equal(ask(&ann, &job, "second", &attempt), CHANGED_DONE);
	assert_int_equal(raw_number("SELECT run_after <= NOW(6) FROM jobs"), 1);
	assert_int_equal(ask(&ann, &job, "press", &attempt),
			 CHANGED_DONE); /* its Retry-After counts */
	assert_int_equal(raw_number("SELECT run_after BETWEEN NOW(6) + INTERVAL 80 SECOND AND "
				    "NOW(6) + INTERVAL 90 SECOND FROM jobs"),
			 1);
	raw_run(here.raw, "UPDATE jobs SET not_before = NOW(6) + INTERVAL 1 HOUR");
	assert_int_equal(ask(&ann, &job, "second", &attempt), CHANGED_DONE);
	assert_int_equal(raw_number("SELECT run_after = not_before FROM jobs"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_is_cancelled_from_every_state_but_success),
		TEST(cancelling_a_job_changes_no_attempt),
		TEST(only_its_owner_or_an_operator_cancels),
		TEST(a_stale_if_match_comes_before_the_state),
		TEST(a_key_cancelled_before_its_create_stays_cancelled),
		TEST(the_owner_is_told_of_a_cancel_before_the_create_once),
		TEST(a_key_that_has_a_job_cancels_it),
		TEST(creates_and_cancels_of_a_key_at_once_end_with_one_cancelled_row),
		TEST(b08_a_tombstone_whose_answer_was_lost_is_still_one),
		TEST(r7_no_attempt_is_asked_for_beside_one_in_doubt),
		TEST(what_may_be_asked_for_depends_on_the_job),
		TEST(a_request_starts_at_once_but_not_before_it_may),
	};

	return cmocka_run_group_tests_name("change", tests, testdb_open, testdb_close);
}
