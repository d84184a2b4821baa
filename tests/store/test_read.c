/* test_read.c: reading a job, lists by keyset, and lists of attempts and races. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/attempt_store.h"
#include "store/vitals.h"

static void a_read_knows_who_asks(void **state)
{
	struct id job = job_new((struct a_job){ 0 }), none = clock_id();
	struct caller bob_named_ann = caller_with("ann-token");
	struct {
		const char *name;
		struct caller caller;
		const struct id *id;
		enum rc want;
	} rows[] = {
		{ "the owner, by token", caller_with("ann-token"), &job, RC_OK },
		{ "the owner, by name", caller_named("ann"), &job, RC_OK },
		{ "an operator", caller_with("op-token"), &job, RC_OK },
		{ "another, by token", caller_with("bob-token"), &job, RC_NOT_FOUND },
		{ "another, by name", caller_named("bob"), &job, RC_NOT_FOUND },
		{ "a longer name", caller_named("ann "), &job, RC_NOT_FOUND },
		{ "no such token", caller_with("nobody"), &job, RC_INVALID },
		{ "no such job", caller_with("ann-token"), &none, RC_NOT_FOUND },
		{ "no such job for an operator", caller_with("op-token"), &none, RC_NOT_FOUND },
	};
	struct job got;

	(void)state;
	token_new("bob-token", "bob", ROLE_USER);
	for (size_t i = 0; i < ROWS(rows); i++) {
		enum rc rc = job_store_get(here.db, &rows[i].caller, rows[i].id, &got);

		if (rc != rows[i].want)
			fail_msg("%s: %d", rows[i].name, (int)rc);
		assert_int_equal(got.owner.bytes != NULL, rc == RC_OK);
		job_release(&got);
	}
	bob_named_ann.owner = "bob";
	bob_named_ann.owner_len = 3;
	assert_int_equal(job_store_get(here.db, &bob_named_ann, &job, &got), RC_INVALID);
	struct identity ann = user_named("ann"), bob = user_named("bob"), op = operator_named("op");

	assert_int_equal(job_store_read(here.db, &bob, &job, &got), RC_NOT_FOUND);
	assert_int_equal(job_store_read(here.db, &ann, &job, &got), RC_OK);
	job_release(&got);
	assert_int_equal(job_store_read(here.db, &op, &job, &got), RC_OK);
	job_release(&got);
}

static void a_job_comes_with_its_payloads_and_attempts_in_order(void **state)
{
	struct id job = job_new(
		(struct a_job){ .state = JOB_UNKNOWN,
				.version = 2,
				.count = 40,
				.more = "input = REPEAT('i', 300000), metadata = '{\"m\":\"x\"}', "
					"result = REPEAT('r', 257), error_reason = 'gateway', "
					"error_detail = 'why', revision = 9, traceparent = 'tp', "
					"effect_done = 1" });
	struct caller ann = caller_with("ann-token");
	struct job got;

	(void)state;
	for (uint32_t n = 40; n > 0; n--) /* ids in the reverse order of the numbers */
		attempt_new((struct an_attempt){
			.job = &job,
			.number = n,
			.state = n == 7 ? ATTEMPT_UNKNOWN : ATTEMPT_FAILED,
			.version_read = n,
			.more = "reason = 'timeout', phase = 'sent', http_status = 504, "
				"detail = REPEAT('d', 999), note = ''" });
	assert_int_equal(job_store_get(here.db, &ann, &job, &got), RC_OK);
	assert_int_equal(got.attempts_len, 40);
	for (uint32_t n = 1; n <= 40; n++) {
		struct attempt *a = &got.attempts[n - 1];

		assert_true(a->number == n && a->version_read == n && a->http_status == 504 &&
			    a->reason == REASON_TIMEOUT && a->phase == PHASE_SENT &&
			    a->detail.len == 999 && a->note.bytes && a->note.len == 0);
	}
	assert_true(got.input.len == 300000 && got.input.bytes[299999] == 'i' &&
		    got.result.len == 257);
	assert_string_equal(got.metadata.bytes, "{\"m\":\"x\"}");
	assert_true(got.in_doubt && got.effect_done && got.error_reason == REASON_GATEWAY &&
		    got.version == 2 && got.revision == 9);
	job_release(&got);
}

static size_t walk(const struct identity *who, struct job_filter filter, struct id *ids, size_t max)
{
	size_t seen = 0;
	bool more = true;

	while (more) {
		struct job *jobs;
		size_t len;

		assert_int_equal(job_store_list(here.db, who, &filter, &jobs, &len, &more), RC_OK);
		assert_true(len <= filter.limit && (len > 0 || !more));
		for (size_t i = 0; i < len; i++) {
			assert_true(seen < max);
			assert_null(jobs[i].input.bytes);
			assert_null(jobs[i].result.bytes);
			assert_null(jobs[i].attempts);
			if (seen > 0)
				assert_true(id_compare(&ids[seen - 1], &jobs[i].id) > 0);
			ids[seen++] = jobs[i].id;
		}
		if (len > 0) {
			filter.has_before = true;
			filter.before = jobs[len - 1].id;
		}
		job_list_free(jobs, len);
	}
	return seen;
}

static void lists_walk_every_job_once_newest_first(void **state)
{
	static const uint32_t limits[] = { 1, 2, 7, 12, 13, 200 };
	struct identity ann = user_named("ann"), bob = user_named("bob"), op = operator_named("op");
	struct id ids[64];

	(void)state;
	for (int i = 0; i < 24; i++)
		job_new((struct a_job){ .owner = i % 2 ? "ann" : "bob",
					.state = (enum job_state)(i / 2 % 6),
					.provider = i < 12 ? "press" : "second",
					.more = "result = 'r'" });
	for (size_t i = 0; i < ROWS(limits); i++) {
		struct job_filter all = { .limit = limits[i] },
				  queued = { .limit = limits[i], .has_state = true },
				  done = { .limit = limits[i],
					   .has_state = true,
					   .state = JOB_SUCCEEDED },
				  second = { .limit = limits[i], .provider = "second" },
				  bobs = { .limit = limits[i], .owner = "bob", .owner_len = 3 },
				  none = { .limit = limits[i], .contract = "c" };

		assert_int_equal(walk(&op, all, ids, 64), 24);
		assert_int_equal(walk(&ann, all, ids, 64), 12);
		assert_int_equal(walk(&op, queued, ids, 64), 4);
		assert_int_equal(walk(&ann, queued, ids, 64), 2);
		assert_int_equal(walk(&op, done, ids, 64), 4);
		assert_int_equal(walk(&op, second, ids, 64), 12);
		assert_int_equal(walk(&op, bobs, ids, 64), 12);
		assert_int_equal(walk(&op, none, ids, 64), 0);
		bobs.owner = "ann"; /* a user's filter opens nothing */
		assert_int_equal(walk(&bob, bobs, ids, 64), 12);
		assert_string_equal(raw_text("SELECT owner FROM jobs WHERE id = %s", x(&ids[0])),
				    "bob");
	}
}

static void a_list_tells_what_is_still_out(void **state)
{
	struct identity ann = user_named("ann");
	struct job_filter filter = { .limit = 10 };
	struct id job = job_new((struct a_job){ .state = JOB_CANCELLED });
	struct job *jobs;
	size_t len;
	bool more;

	(void)state;
	attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_RUNNING });
	assert_int_equal(job_store_list(here.db, &ann, &filter, &jobs, &len, &more), RC_OK);
	assert_true(len == 1 && jobs[0].in_doubt);
	job_list_free(jobs, len);
}

static void attempts_and_races_are_listed_newest_first(void **state)
{
	struct id job = job_new(
		(struct a_job){ .state = JOB_SUCCEEDED, .more = "completed_by = REPEAT('w', 16)" });
	struct id last = job;
	struct attempt *attempts;
	struct race *races;
	size_t len;
	bool more;

	(void)state;
	for (uint32_t n = 1; n <= 5; n++) {
		last = attempt_new((struct an_attempt){ .job = &job,
							.number = n,
							.state = n == 3 ? ATTEMPT_UNKNOWN
									: ATTEMPT_RELEASED });
		if (n != 3)
			assert_int_equal(say(result_of(&last, "12345")), SETTLED_LOST);
		pass_a_millisecond();
	}
	assert_int_equal(attempt_store_list(here.db, false, ATTEMPT_UNKNOWN, NULL, 4, &attempts,
					    &len, &more),
			 RC_OK);
	assert_true(len == 4 && more && attempts[0].number == 5 && attempts[3].number == 2);
	struct id before = attempts[3].id;

	attempt_list_free(attempts, len);
	assert_int_equal(attempt_store_list(here.db, false, ATTEMPT_UNKNOWN, &before, 4, &attempts,
					    &len, &more),
			 RC_OK);
	assert_true(len == 1 && !more && attempts[0].number == 1);
	attempt_list_free(attempts, len);
	assert_int_equal(
		attempt_store_list(here.db, true, ATTEMPT_UNKNOWN, NULL, 4, &attempts, &len, &more),
		RC_OK);
	assert_true(len == 1 && !more && attempts[0].number == 3);
	attempt_list_free(attempts, len);
	assert_int_equal(race_store_list(here.db, NULL, 3, &races, &len, &more), RC_OK);
	assert_true(len == 3 && more && id_equal(&races[0].attempt_id, &last) &&
		    races[0].bytes == 5 && races[0].why == RACE_LOST_SWAP && races[0].has_winner &&
		    races[0].winner.bytes[0] == 'w');
	free(races);
}

static void a_read_whose_connection_died_is_made_again(void **state)
{
	struct id job = job_new((struct a_job){ 0 });
	struct caller ann = caller_with("ann-token");
	struct job got;

	(void)state;
	raw_run(here.raw, "KILL CONNECTION %lu", testdb_connection(here.db));
	assert_int_equal(job_store_get(here.db, &ann, &job, &got), RC_OK);
	job_release(&got);
}

static void the_vitals_are_what_stands_in_the_tables(void **state)
{
	struct vitals v;

	(void)state;
	assert_int_equal(vitals_read(here.db, &v), RC_OK);
	assert_false(v.has_oldest_due || v.has_oldest_unknown || v.stranded || v.unknown_attempts ||
		     v.pollers_alive);
	struct id due = job_new((struct a_job){ .more = "run_after = NOW(6) - INTERVAL 1 HOUR" });
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN });

	job_new((struct a_job){ .provider = "nobody" });
	attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_UNKNOWN });
	poller_new();
	poller_new();
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND LIMIT 1");
	assert_int_equal(vitals_read(here.db, &v), RC_OK);
	assert_true(v.has_oldest_due && id_equal(&v.oldest_due, &due));
	assert_true(v.has_oldest_unknown && id_equal(&v.oldest_unknown, &job));
	assert_true(v.stranded == 1 && v.unknown_attempts == 1 && v.pollers_alive == 1 &&
		    v.pollers_dead == 1);
	assert_true(v.strict && !v.durable); /* the tests' server is told not to be, for speed */
	assert_true(llabs((long long)(v.database_now_us - clock_real_us())) < 5000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_knows_who_asks),
		TEST(a_job_comes_with_its_payloads_and_attempts_in_order),
		TEST(lists_walk_every_job_once_newest_first),
		TEST(a_list_tells_what_is_still_out),
		TEST(attempts_and_races_are_listed_newest_first),
		TEST(a_read_whose_connection_died_is_made_again),
		TEST(the_vitals_are_what_stands_in_the_tables),
	};

	return cmocka_run_group_tests_name("read", tests, testdb_open, testdb_close);
}
