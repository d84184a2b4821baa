/* test_memory.c: whichever allocation fails, the answer is the right one or an error, and the next
 * call finds all as it was. */
#include "testdb.h"

#include "base/clock.h"

#define MANY 3

/* The allocation that fails, counted down; 0: none. Linked with --wrap. */
static _Thread_local size_t fails_in;

static bool fails(void)
{
	return fails_in > 0 && --fails_in == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

static struct id there[MANY];
static const char *const keys[MANY] = { "k0", "k1", "k2" };
static struct caller ann;
static struct intent intent;

/* Failed, each with two attempts. */
static int put_jobs(void **state)
{
	if (testdb_empty(state) != 0)
		return -1;
	ann = caller_with("ann-token");
	intent = intent_of("press", "{\"n\":1}");
	for (size_t i = 0; i < MANY; i++) {
		struct job job;

		if (create(here.db, &ann, keys[i], &intent, &job) != CREATED_NEW)
			return -1;
		there[i] = job.id;
		job_release(&job);
		for (uint32_t number = 1; number <= 2; number++)
			(void)attempt_new((struct an_attempt){ .job = &there[i],
							       .number = number,
							       .state = ATTEMPT_FAILED,
							       .more = "detail = 'no ink'" });
	}
	raw_run(here.raw, "UPDATE jobs SET state = 'failed', version = 1, attempt_count = 2, "
			  "error_detail = 'no ink', metadata = '{\"a\":\"b\"}'");
	return 0;
}

static bool is(const struct blob *blob, const char *text)
{
	return blob->len == strlen(text) && memcmp(blob->bytes, text, blob->len) == 0;
}

static void is_job(const struct job *job, size_t i)
{
	assert_true(id_equal(&job->id, &there[i]));
	assert_true(is(&job->owner, "ann") && is(&job->key, keys[i]));
	assert_string_equal(job->provider, "press");
	assert_int_equal(job->state, JOB_FAILED);
	assert_int_equal(job->version, 1);
	assert_true(is(&job->error_detail, "no ink") && is(&job->metadata, "{\"a\":\"b\"}"));
}

static void is_whole_job(const struct job *job, size_t i)
{
	is_job(job, i);
	assert_true(is(&job->input, "{\"n\":1}"));
	assert_int_equal(job->attempts_len, 2);
	for (uint32_t at = 0; at < 2; at++) {
		assert_int_equal(job->attempts[at].number, at + 1);
		assert_true(is(&job->attempts[at].detail, "no ink"));
	}
}

static bool get_one(void)
{
	struct job job;

	if (job_store_get(here.db, &ann, &there[0], &job) != RC_OK)
		return false;
	is_whole_job(&job, 0);
	job_release(&job);
	return true;
}

static bool look_at_some(void)
{
	struct look looks[MANY], *list[MANY];
	size_t good = 0;

	for (size_t i = 0; i < MANY; i++) {
		looks[i] = (struct look){ .caller = &ann, .id = there[i], .rc = RC__MAX };
		list[i] = &looks[i];
	}
	for (size_t done = 0; done < MANY;)
		done += job_store_look(here.db, list + done, MANY - done);
	for (size_t i = 0; i < MANY; i++) {
		if (looks[i].rc == RC_OK) {
			is_whole_job(&looks[i].job, i);
			good++;
		}
		job_release(&looks[i].job);
	}
	return good == MANY;
}

static bool list_all(void)
{
	struct job_filter filter = { .limit = 10 };
	struct identity who = user_named("ann");
	struct job *jobs;
	size_t len;
	bool more;

	if (job_store_list(here.db, &who, &filter, &jobs, &len, &more) != RC_OK)
		return false;
	assert_int_equal(len, MANY);
	for (size_t i = 0; i < MANY; i++)
		is_job(&jobs[i], (size_t)(jobs[i].key.bytes[1] - '0'));
	job_list_free(jobs, len);
	return true;
}

static bool come_again(void)
{
	struct create creates[MANY], *list[MANY];
	struct idempotency_key sent[MANY];
	size_t good = 0;

	for (size_t i = 0; i < MANY; i++) {
		sent[i] = key_of(keys[i]);
		creates[i] = (struct create){ .caller = &ann,
					      .key = &sent[i],
					      .intent = &intent,
					      .id = clock_id(),
					      .now_us = clock_real_us() };
		list[i] = &creates[i];
	}
	for (size_t done = 0; done < MANY;)
		done += job_store_create(here.db, list + done, MANY - done);
	for (size_t i = 0; i < MANY; i++) {
		if (creates[i].created == CREATED_REPLAYED) {
			is_whole_job(&creates[i].job, i);
			good++;
		} else {
			assert_int_equal(creates[i].created, CREATED_NOT_STORED);
		}
		job_release(&creates[i].job);
	}
	return good == MANY;
}

static bool come_again_after_repeats(void)
{
	here.db->repeats = 4;
	here.db->alone = 0;
	return come_again();
}

static bool come_again_after_none(void)
{
	here.db->repeats = 0;
	here.db->alone = 0;
	return come_again();
}

static bool come_alone(void)
{
	here.db->alone = 2 * MANY;
	return come_again();
}

/* Once all statements are there: without memory for these a program ends. */
static void whichever_allocation_fails_no_answer_is_wrong(void **state)
{
	static const struct {
		const char *what;
		bool (*call)(void); /* whether it was all there */
	} rows[] = {
		{ "get", get_one },
		{ "look", look_at_some },
		{ "list", list_all },
		{ "create, keys asked for first", come_again_after_repeats },
		{ "create, insert first", come_again_after_none },
		{ "create, each alone", come_alone },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		size_t nth = 1;

		assert_true(rows[i].call());
		for (bool hit = true; hit; nth++) {
			fails_in = nth;
			(void)rows[i].call();
			hit = fails_in == 0;
			fails_in = 0;
			if (!rows[i].call())
				fail_msg("%s: not after the %zuth either", rows[i].what, nth);
		}
		if (nth < 4)
			fail_msg("%s takes no memory", rows[i].what);
	}
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whichever_allocation_fails_no_answer_is_wrong, put_jobs),
	};

	return cmocka_run_group_tests_name("memory", tests, testdb_open, testdb_close);
}
