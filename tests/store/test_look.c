/* test_look.c: reads that came at the same moment share statements, and each has the answer that it
 * would have had alone. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "core/view.h"
#include "lossy.h"

#define GUESTS 16

struct guest {
	struct caller caller;
	struct look look;
};

static struct guest guests[GUESTS];
static size_t guests_len;

static int no_guests(void **state)
{
	guests_len = 0;
	return testdb_empty(state);
}

#define T(f) cmocka_unit_test_setup(f, no_guests)

static struct look *ask(struct caller caller, const struct id *id)
{
	struct guest *guest = &guests[guests_len++];

	assert_true(guests_len <= GUESTS);
	guest->caller = caller;
	guest->look = (struct look){ .caller = &guest->caller, .id = *id, .rc = RC__MAX };
	return &guest->look;
}

/* Returns how many the first call decided. */
static size_t look_all(struct db *db)
{
	struct look *looks[GUESTS];
	size_t left = guests_len, first = 0;

	for (size_t i = 0; i < guests_len; i++)
		looks[i] = &guests[i].look;
	while (left > 0) {
		size_t decided = job_store_look(db, looks, left);

		assert_true(decided > 0 && decided <= left);
		first = first > 0 ? first : decided;
		left -= decided;
		memmove(looks, looks + decided, left * sizeof(struct look *));
	}
	return first;
}

static char *text_of(const struct job *job)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	view_write_job(&text, job);
	assert_non_null(text.bytes);
	return text.bytes;
}

static void is_as_alone(size_t guest)
{
	struct look *look = &guests[guest].look;
	struct job job;
	enum rc rc = job_store_get(here.db, look->caller, &look->id, &job);

	if (look->rc != rc)
		fail_msg("guest %zu: %d instead of %d", guest, (int)look->rc, (int)rc);
	assert_false(look->unchanged);
	if (rc == RC_OK) {
		char *alone = text_of(&job), *together = text_of(&look->job);

		assert_string_equal(together, alone);
		free(alone);
		free(together);
	}
	job_release(&job);
	job_release(&look->job);
}

static struct id job_with_attempts(uint32_t n)
{
	struct id job = job_new((struct a_job){
		.state = JOB_UNKNOWN,
		.version = 2,
		.count = n,
		.input = "[1.0]",
		.more = "metadata = '{\"m\":\"x\"}', result = '\"r\"', revision = 9, "
			"error_reason = 'gateway', error_detail = 'why', effect_done = 1, "
			"passed_over = '{\"provider\":\"p\",\"why\":\"none\"}'" });

	for (uint32_t i = n; i > 0; i--) /* ids in the reverse order of the numbers */
		attempt_new((struct an_attempt){ .job = &job,
						 .number = i,
						 .state = i == 2 ? ATTEMPT_UNKNOWN : ATTEMPT_FAILED,
						 .more = "reason = 'timeout', note = ''" });
	return job;
}

static void each_has_the_answer_that_it_would_have_had_alone(void **state)
{
	struct id plain = job_new((struct a_job){ 0 }), long_one = job_with_attempts(5),
		  other = job_with_attempts(1), bobs = job_new((struct a_job){ .owner = "bob" }),
		  none = clock_id(),
		  tombstone =
			  job_new((struct a_job){ .state = JOB_CANCELLED, .more = "input = NULL" });
	struct caller both = caller_with("ann-token");

	(void)state;
	token_new("bob-token", "bob", ROLE_USER);
	token_new("old-token", "ann", ROLE_USER);
	raw_run(here.raw,
		"UPDATE tokens SET expires_at = NOW(6) - INTERVAL 1 SECOND WHERE owner = 'ann' "
		"ORDER BY sha256 <> UNHEX(SHA2('old-token', 256)) LIMIT 1");
	both.owner = "bob";
	both.owner_len = 3;
	ask(caller_with("ann-token"), &plain);
	ask(caller_with("bob-token"), &plain); /* the same job: goes later */
	ask(caller_with("op-token"), &long_one);
	ask(caller_named("ann"), &other);
	ask(caller_with("ann-token"), &bobs);
	ask(caller_with("bob-token"), &bobs);
	ask(caller_with("nobody"), &tombstone);
	ask(caller_with("ann-token"), &none);
	ask(caller_named("ann "), &tombstone);
	ask(caller_with("old-token"), &tombstone);
	ask(both, &other);
	ask(caller_with("ann-token"), &tombstone);
	assert_int_equal(look_all(here.db), 6);
	for (size_t i = 0; i < guests_len; i++)
		is_as_alone(i);
	assert_int_equal(guests[0].look.rc, RC_OK);
	assert_int_equal(guests[4].look.rc, RC_NOT_FOUND);
	assert_int_equal(guests[6].look.rc, RC_INVALID);
	assert_int_equal(guests[7].look.rc, RC_NOT_FOUND);
	assert_int_equal(guests[9].look.rc, RC_INVALID);
	assert_int_equal(guests[10].look.rc, RC_INVALID);
}

/* Sixteen of a megabyte at once would be sixteen megabytes for each thread. */
static void large_jobs_go_alone(void **state)
{
	struct id small = job_new((struct a_job){ 0 }), large[] = {
		job_new((struct a_job){ .more = "input = CONCAT('\"', REPEAT('i', 20000), '\"')" }),
		job_new((struct a_job){
			.state = JOB_SUCCEEDED,
			.more = "result = CONCAT('\"', REPEAT('r', 20000), '\"')" }),
	};

	(void)state;
	for (size_t i = 0; i < ROWS(large); i++)
		for (uint32_t n = 1; n <= 2; n++)
			attempt_new((struct an_attempt){
				.job = &large[i], .number = n, .state = ATTEMPT_FAILED });
	ask(caller_with("ann-token"), &large[0]);
	ask(caller_with("ann-token"), &small);
	ask(caller_with("ann-token"), &large[1]);
	ask(caller_with("bob-token"), &large[1]);
	assert_int_equal(look_all(here.db), 1);
	for (size_t i = 0; i < guests_len; i++)
		is_as_alone(i);
	assert_true(guests[0].look.alone && guests[2].look.alone && !guests[1].look.alone);
}

static struct if_match pairs(uint64_t version, uint64_t revision)
{
	return (struct if_match){ .present = true,
				  .len = 2,
				  .list = { { 77, 77 }, { version, revision } } };
}

/* What the client has is compared before anything is read that only the whole job needs. */
static void of_a_job_that_has_not_changed_only_that_is_told(void **state)
{
	struct id job = job_with_attempts(3), other = job_with_attempts(1),
		  third = job_with_attempts(2), bobs = job_new((struct a_job){ .owner = "bob" });
	struct if_match has = pairs(2, 9), had = pairs(2, 8),
			any = { .present = true, .any = true };

	(void)state;
	ask(caller_with("ann-token"), &job)->unless = &has;
	ask(caller_with("ann-token"), &other)->unless = &had;
	ask(caller_with("op-token"), &third)->unless = &any;
	ask(caller_with("ann-token"), &bobs)->unless = &any;
	assert_int_equal(look_all(here.db), 4);
	for (size_t i = 0; i < 3; i += 2) {
		const struct look *look = &guests[i].look;

		assert_true(look->rc == RC_OK && look->unchanged);
		assert_true(id_equal(&look->job.id, &look->id) && look->job.version == 2 &&
			    look->job.revision == 9 && look->job.state == JOB_UNKNOWN &&
			    look->job.run_after_us > 0);
		assert_null(look->job.input.bytes);
		assert_null(look->job.attempts);
	}
	is_as_alone(1);
	is_as_alone(3);
}

static void one_that_cannot_be_read_spoils_no_other(void **state)
{
	struct id broken = job_with_attempts(1), other = job_new((struct a_job){ 0 });

	(void)state;
	raw_run(here.raw, "SET SESSION sql_mode = ''");
	raw_run(here.raw, "UPDATE attempts SET state = '' WHERE job_id = %s", x(&broken));
	raw_run(here.raw, "SET SESSION sql_mode = DEFAULT");
	ask(caller_with("ann-token"), &broken);
	ask(caller_with("ann-token"), &other);
	assert_int_equal(look_all(here.db), 1);
	assert_int_equal(guests[0].look.rc, RC_FAULT);
	assert_int_equal(guests[1].look.rc, RC_OK);
	is_as_alone(0);
	is_as_alone(1);
}

static void the_connection_that_died_is_made_again(void **state)
{
	struct id jobs[] = { job_with_attempts(2), job_with_attempts(1) };

	(void)state;
	ask(caller_with("ann-token"), &jobs[0]);
	ask(caller_with("ann-token"), &jobs[1]);
	raw_run(here.raw, "KILL CONNECTION %lu", testdb_connection(here.db));
	assert_int_equal(look_all(here.db), 2);
	is_as_alone(0);
	is_as_alone(1);
}

/* b10: at whichever statement it begins, nobody is told that there is no such job or caller. */
static void b10_where_the_database_refuses_all_are_told_so(void **state)
{
	struct id jobs[] = { job_with_attempts(2), job_with_attempts(1) };
	struct if_match had = pairs(2, 8);
	struct db *db = db_new(lossy_open());

	(void)state;
	ask(caller_with("ann-token"), &jobs[0])->unless = &had;
	ask(caller_with("ann-token"), &jobs[1])->unless = &had;
	for (int skip = 0; skip <= 3; skip++) {
		lossy_refuse(REFUSE_EXECUTE, 1047, skip, 1000);
		assert_int_equal(look_all(db), 2);
		lossy_arm(LOSE_NOTHING, 0, 0);
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(guests[i].look.rc, skip < 3 ? RC_RETRY : RC_OK);
			if (skip < 3)
				assert_null(guests[i].look.job.owner.bytes);
			job_release(&guests[i].look.job);
		}
	}
	db_free(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_has_the_answer_that_it_would_have_had_alone),
		T(large_jobs_go_alone),
		T(of_a_job_that_has_not_changed_only_that_is_told),
		T(one_that_cannot_be_read_spoils_no_other),
		T(the_connection_that_died_is_made_again),
		T(b10_where_the_database_refuses_all_are_told_so),
	};

	return cmocka_run_group_tests_name("look", tests, testdb_open, testdb_close);
}
