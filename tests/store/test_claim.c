/* test_claim.c: what a poller takes from the queue: an attempt on disk before a byte is sent,
 * bounded, in turns, by the database's clock. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"

static struct taken taken;

static size_t take_some(const struct id *poller, size_t max, struct claim_cursor *cursor)
{
	take(here.db, poller, max, cursor, &taken);
	assert_int_equal(taken.rc, RC_OK);
	return taken.len;
}

static size_t take_once(size_t max)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new();

	return take_some(&poller, max, &cursor);
}

static void jobs_of(const char *owner, const char *provider, size_t n)
{
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, "
		"max_attempts, attempts_allowed, run_after, created_at, updated_at) SELECT "
		"RANDOM_BYTES(16), '%s', RANDOM_BYTES(16), "
		"REPEAT('f', 32), '%s', '%s', '{}', 'queued', 3, 3, NOW(6), NOW(6), NOW(6) FROM "
		"seq_1_to_%zu",
		owner, provider, provider, n);
}

static bool owner_was_taken(const char *owner)
{
	for (size_t i = 0; i < taken.len; i++)
		if (strcmp(raw_text("SELECT owner FROM jobs WHERE id = %s",
				    x(&taken.claims[i].job_id)),
			   owner) == 0)
			return true;
	return false;
}

static void r5_a_claim_is_on_disk_for_all_to_see_when_it_returns(void **state)
{
	struct id job =
		job_new((struct a_job){ .version = 4,
					.count = 1,
					.more = "traceparent = 'tp', deadline_at = NOW(6) + "
						"INTERVAL 50 SECOND" });
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	(void)state;
	attempt_new((struct an_attempt){ .job = &job,
					 .state = ATTEMPT_FAILED,
					 .version_read = 3,
					 .more = "http_status = 500, reason = 'provider_failed'" });
	assert_int_equal(take_some(&poller, 8, &cursor), 1);
	struct claim *claim = &taken.claims[0];

	assert_string_equal(raw_text("SELECT CONCAT_WS(' ', a.id = %s, a.number, a.state, "
				     "a.version_read, a.provider, "
				     "a.provider_version, a.generation, a.claimed_by = %s, "
				     "j.state, j.version, j.revision, "
				     "j.attempt_count) FROM attempts a JOIN jobs j ON j.id = "
				     "a.job_id WHERE a.state = 'starting'",
				     x(&claim->attempt_id), x(&poller)),
			    "1 2 starting 4 press 1 1 1 running 4 1 2");
	assert_true(id_equal(&claim->job_id, &job));
	assert_int_equal(claim->number, 2);
	assert_int_equal(claim->version_read, 4);
	assert_int_equal(claim->tries_here, 2);
	assert_string_equal(claim->traceparent, "tp");
	assert_true(claim->budget_ms > 45000 && claim->budget_ms <= 50000);
	assert_int_equal(take_some(&poller, 8, &cursor), 0);
}

static void r5_whoever_does_not_hear_the_commit_has_nothing_to_send(void **state)
{
	static const struct {
		enum lossy lose;
		int skip;
		enum rc want;
		const char *job;
	} rows[] = {
		{ LOSE_COMMIT, 0, RC_UNCERTAIN, "queued" },
		{ LOSE_COMMIT_ANSWER, 0, RC_UNCERTAIN, "running" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct id poller = poller_new();
		struct id job = job_new((struct a_job){ 0 });
		struct claim_cursor cursor = { 0 };
		struct claim_list list;
		struct id id = clock_id();
		struct db *db = db_new(lossy_open());
		size_t reaped;

		lossy_arm(rows[i].lose, rows[i].skip, 1);
		assert_int_equal(claim_jobs(db, &poller, 60, &id, 1, &cursor, &list), rows[i].want);
		assert_int_equal(list.len, 0);
		assert_null(list.list);
		job_is(&job, rows[i].job, 0);
		raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
		assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
		job_is(&job, i ? "unknown" : "queued",
		       0); /* the lease makes it unknown; it is never sent */
		raw_run(here.raw, "DELETE FROM jobs");
		db_free(db);
	}
}

static void r5_a_lost_statement_of_a_claim_is_begun_anew(void **state)
{
	(void)state;
	for (int skip = 0; skip < 9; skip++) {
		struct id poller = poller_new();
		struct id job = job_new((struct a_job){ 0 });
		struct claim_cursor cursor = { 0 };
		struct db *db = db_new(lossy_open());

		lossy_arm(skip % 2 ? LOSE_EXECUTE : LOSE_EXECUTE_ANSWER, skip, 1);
		take(db, &poller, 4, &cursor, &taken);
		lossy_arm(LOSE_NOTHING, 0, 0);
		uint64_t attempts =
			raw_number("SELECT COUNT(*) FROM attempts WHERE job_id = %s", x(&job));

		if (attempts != taken.len || (taken.rc != RC_OK && taken.rc != RC_RETRY))
			fail_msg("statement %d: code %d, %zu claims, %d attempts", skip,
				 (int)taken.rc, taken.len, (int)attempts);
		raw_run(here.raw, "DELETE FROM jobs");
		db_free(db);
	}
}

static void b07_a_claim_that_waits_in_vain_leaves_no_half(void **state)
{
	struct id job = job_new((struct a_job){ 0 }), poller = poller_new();
	struct claim_cursor cursor = { 0 };
	struct db *db = testdb_another();
	MYSQL *other = testdb_raw();

	(void)state;
	raw_run(db->mysql, "SET SESSION innodb_lock_wait_timeout = 1");
	raw_run(other, "START TRANSACTION");
	raw_run(other,
		"INSERT INTO attempts SET id = REPEAT('z', 16), job_id = %s, number = 1, provider "
		"= 'p', provider_version = 1, "
		"generation = 0, state = 'failed', version_read = 0, started_at = NOW(6)",
		x(&job));
	take(db, &poller, 4, &cursor, &taken);
	assert_int_equal(taken.rc, RC_RETRY);
	assert_int_equal(db_errno(db), 1205);
	raw_run(other, "ROLLBACK");
	job_is(&job, "queued", 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts"), 0);
	assert_int_equal(raw_number("SELECT attempt_count FROM jobs"), 0);
	mysql_close(other);
	db_free(db);
}

static void what_must_wait_is_left(void **state)
{
	static const struct {
		const char *name, *more;
		size_t want;
	} rows[] = {
		{ "due", "run_after = NOW(6)", 1 },
		{ "due later", "run_after = NOW(6) + INTERVAL 1 HOUR", 0 },
		{ "expired", "expires_at = NOW(6) - INTERVAL 1 SECOND", 0 },
		{ "not yet expired", "expires_at = NOW(6) + INTERVAL 1 MINUTE", 1 },
		{ "expired after its first attempt",
		  "expires_at = NOW(6) - INTERVAL 1 SECOND, attempt_count = 1", 1 },
		{ "past its deadline", "deadline_at = NOW(6) - INTERVAL 1 SECOND", 0 },
		{ "past its deadline, tried",
		  "deadline_at = NOW(6) - INTERVAL 1 SECOND, attempt_count = 1", 0 },
		{ "before its deadline", "deadline_at = NOW(6) + INTERVAL 1 MINUTE", 1 },
		{ "at a provider that is gone", "next_provider = 'gone'", 0 },
		{ "at a disabled one", "next_provider = 'off'", 0 },
		{ "at one whose row cannot be read", "next_provider = 'odd'", 0 },
		{ "running", "state = 'running'", 0 },
		{ "unknown", "state = 'unknown'", 0 },
		{ "succeeded", "state = 'succeeded'", 0 },
		{ "failed", "state = 'failed'", 0 },
		{ "cancelled", "state = 'cancelled'", 0 },
	};

	(void)state;
	provider_new("off", 9);
	provider_new("odd", 9);
	raw_run(here.raw, "UPDATE providers SET enabled = 0 WHERE name = 'off'");
	raw_run(here.raw, "UPDATE providers SET definition = '{}' WHERE name = 'odd'");
	for (size_t i = 0; i < ROWS(rows); i++) {
		raw_run(here.raw, "DELETE FROM jobs");
		raw_run(here.raw, "DELETE FROM attempts");
		struct id job = job_new((struct a_job){ .more = rows[i].more });

		(void)job;
		if (take_once(8) != rows[i].want)
			fail_msg("%s", rows[i].name);
	}
}

static void r7_nothing_starts_beside_an_attempt_in_doubt(void **state)
{
	(void)state;
	for (int a = 0; a < ATTEMPT_STATE__MAX; a++) {
		enum attempt_state attempt = (enum attempt_state)a;

		raw_run(here.raw, "DELETE FROM jobs");
		raw_run(here.raw, "DELETE FROM attempts");
		struct id job = job_new((struct a_job){ .count = 1 });

		attempt_new((struct an_attempt){ .job = &job, .state = attempt });
		if (take_once(8) != !attempt_in_doubt(attempt))
			fail_msg("beside %s", attempt_state_name(attempt));
	}
}

static void f03_only_the_clock_of_the_database_counts(void **state)
{
	static const int offsets_s[] = { 600, -600 };

	(void)state;
	for (size_t i = 0; i < ROWS(offsets_s); i++) {
		struct db *db = testdb_another();
		struct id poller = poller_new();
		struct claim_cursor cursor = { 0 };

		/* The session's clock stands in for the server's: whoever used the machine's would
		 * not see the difference. */
		raw_run(here.raw, "DELETE FROM jobs");
		job_new((struct a_job){ .more = "run_after = NOW(6) + INTERVAL 5 MINUTE" });
		raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) + INTERVAL 1 HOUR");
		raw_run(db->mysql, "SET timestamp = UNIX_TIMESTAMP(NOW(6)) + %d", offsets_s[i]);
		take(db, &poller, 4, &cursor, &taken);
		assert_int_equal(taken.rc, RC_OK);
		assert_int_equal(taken.len, offsets_s[i] > 0 ? 1 : 0);
		db_free(db);
	}
}

static void f04_the_count_rises_before_anything_is_sent(void **state)
{
	struct id job = job_new((struct a_job){ 0 });
	size_t reaped;

	(void)state;
	for (uint32_t n = 1; n <= 3; n++) {
		assert_int_equal(take_once(1), 1);
		assert_int_equal(raw_number("SELECT attempt_count FROM jobs"), n);
		raw_run(here.raw,
			"UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND"); /* it
											   crashed
											 */
		assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
		assert_int_equal(reaped, 1);
		job_is(&job, "unknown", 0);
		assert_int_equal(take_once(1), 0); /* it waits for a person, and no other starts */
		raw_run(here.raw, "UPDATE attempts SET state = 'cancelled'");
		raw_run(here.raw, "UPDATE jobs SET state = 'queued'");
	}
}

static void the_generation_counts_answered_failures_and_the_tries_all(void **state)
{
	static const char *const past[] = {
		"state = 'failed', http_status = 500, reason = 'provider_failed'", /* counts */
		"state = 'failed', reason = 'never_sent'",
		"state = 'failed', http_status = 500, reason = 'operator'",
		"state = 'released', http_status = 504, reason = 'gateway'",
		"state = 'cancelled', http_status = 504, reason = 'gateway'",
		"state = 'failed', http_status = 429, reason = 'retry_later'", /* counts */
		"state = 'failed', reason = 'provider_failed'", /* counts: called back */
		"state = 'failed', reason = 'template'",
		"state = 'failed', http_status = 400, reason = 'refused', provider = 'other'",
	};
	struct id job = job_new((struct a_job){ .count = ROWS(past), .allowed = 99 });

	(void)state;
	for (uint32_t i = 0; i < ROWS(past); i++)
		attempt_new((struct an_attempt){
			.job = &job, .number = i + 1, .state = ATTEMPT_FAILED, .more = past[i] });
	assert_int_equal(take_once(1), 1);
	assert_int_equal(taken.claims[0].generation, 3);
	assert_int_equal(taken.claims[0].tries_here, 9);
	assert_int_equal(taken.claims[0].number, 10);
	assert_int_equal(raw_number("SELECT generation FROM attempts WHERE state = 'starting'"), 3);
}

static void f06_one_of_a_small_owner_is_in_the_first_claim(void **state)
{
	(void)state;
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 1000");
	jobs_of("a", "press", 1000);
	jobs_of("b", "press", 1);
	assert_true(take_once(64) <= 64);
	assert_true(owner_was_taken("b"));
}

static void f06_owners_take_turns_one_by_one(void **state)
{
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	(void)state;
	jobs_of("a", "press", 50);
	jobs_of("b", "press", 2);
	jobs_of("c", "press", 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take_some(&poller, 1, &cursor), 1);
	assert_int_equal(
		raw_number("SELECT COUNT(DISTINCT owner) FROM jobs WHERE state = 'running'"), 3);
}

/* However many owners share a claim, the last of them gets as much as the first. */
static void f06_no_owner_is_cut_off_by_the_size_of_a_claim(void **state)
{
	static const size_t crowds[] = { 3, 33, 63, 64, 65, 100 };
	char owner[24];

	(void)state;
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 10000");
	for (size_t c = 0; c < ROWS(crowds); c++) {
		struct id poller = poller_new();
		struct claim_cursor cursor = { 0 };

		raw_run(here.raw, "DELETE FROM jobs");
		raw_run(here.raw, "DELETE FROM attempts");
		for (size_t i = 0; i < crowds[c]; i++) {
			snprintf(owner, sizeof owner, "o%03zu", i);
			jobs_of(owner, "press", 10);
		}
		for (int i = 0; i < 2; i++)
			(void)take_some(&poller, 64, &cursor);
		uint64_t served = raw_number(
			"SELECT COUNT(DISTINCT owner) FROM jobs WHERE state = 'running'");

		if (served != crowds[c])
			fail_msg("%zu owners, %d served by two claims of 64", crowds[c],
				 (int)served);
	}
}

static void f06_owners_take_turns_at_each_provider_for_itself(void **state)
{
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	(void)state;
	provider_new("second", 64);
	jobs_of("a", "press", 50);
	jobs_of("b", "press", 1);
	jobs_of("a", "second", 50);
	jobs_of("b", "second", 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(take_some(&poller, 1, &cursor), 1);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'running' AND owner = 'b'"), 2);
}

static void providers_take_turns(void **state)
{
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	(void)state;
	provider_new("aardvark", 64);
	provider_new("zebra", 64);
	jobs_of("a", "aardvark", 50);
	jobs_of("a", "press", 50);
	jobs_of("a", "zebra", 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take_some(&poller, 4, &cursor) > 0, 1);
	assert_int_equal(
		raw_number(
			"SELECT COUNT(DISTINCT next_provider) FROM jobs WHERE state = 'running'"),
		3);
}

/* A poller's first claim, and one whose last turn was the last provider's. */
static void a_turn_that_begins_with_the_first_provider_is_for_all_of_them(void **state)
{
	const char *const last_turns[] = { "", "zebra" };
	struct id poller = poller_new();

	(void)state;
	provider_new("aardvark", 64);
	provider_new("zebra", 64);
	for (size_t i = 0; i < sizeof last_turns / sizeof last_turns[0]; i++) {
		struct claim_cursor cursor = { 0 };

		strcpy(cursor.provider, last_turns[i]);
		jobs_of("a", "aardvark", 1);
		jobs_of("a", "press", 1);
		jobs_of("a", "zebra", 1);
		assert_int_equal(take_some(&poller, 64, &cursor), 3);
	}
}

static void a_locked_job_is_passed_over(void **state)
{
	struct id locked = job_new((struct a_job){ 0 }), free_one = job_new((struct a_job){ 0 });
	MYSQL *other = testdb_raw();
	int64_t before_ms = clock_monotonic_ms();

	(void)state;
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(&locked));
	assert_int_equal(take_once(8), 1);
	assert_true(id_equal(&taken.claims[0].job_id, &free_one));
	assert_true(clock_monotonic_ms() - before_ms < 4000); /* a lock wait is 5 s */
	raw_run(other, "ROLLBACK"); /* closing alone leaves the lock for a while */
	mysql_close(other);
	assert_int_equal(take_once(8), 1);
}

static void a_claim_does_not_hold_up_creates(void **state)
{
	MYSQL *other = testdb_raw();
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT name FROM providers FOR UPDATE"); /* as a claim does */
	int64_t before_ms = clock_monotonic_ms();

	assert_int_equal(create(here.db, &ann, "k", &intent, &job), CREATED_NEW);
	assert_true(clock_monotonic_ms() - before_ms < 4000);
	job_release(&job);
	assert_int_equal(take_once(8), 0); /* and another poller goes on to the next provider */
	raw_run(other, "ROLLBACK");
	mysql_close(other);
}

static void ten_thousand_doubts_are_in_nobodys_way(void **state)
{
	(void)state;
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, provider, next_provider, state, "
		"max_attempts, "
		"attempts_allowed, attempt_count, run_after, created_at, updated_at) SELECT "
		"UNHEX(LPAD(HEX(seq), 32, '0')), 'ann', seq, "
		"'press', 'press', 'unknown', 3, 3, 1, NOW(6), NOW(6), NOW(6) FROM seq_1_to_10000");
	raw_run(here.raw, "INSERT INTO attempts (id, job_id, number, provider, provider_version, "
			  "generation, state, version_read, "
			  "started_at) SELECT UNHEX(LPAD(HEX(seq), 32, '0')), UNHEX(LPAD(HEX(seq), "
			  "32, '0')), 1, 'press', 1, 0, 'unknown', 0, "
			  "NOW(6) FROM seq_1_to_10000");
	jobs_of("bob", "press", 64);
	int64_t before_ms = clock_monotonic_ms();

	assert_int_equal(take_once(64), 64); /* a doubt is nothing in flight */
	assert_true(clock_monotonic_ms() - before_ms < 2000);
}

/* A full claim of the largest inputs would be gigabytes. */
static void a_claim_is_bounded_by_its_inputs_and_goes_on_with_the_next_owner(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new();

	(void)state;
	jobs_of("ann", "press", 7);
	jobs_of("bob", "press", 1);
	raw_run(here.raw, "UPDATE jobs SET input = REPEAT(' ', 12000000)");
	assert_int_equal(take_some(&poller, 64, &cursor), 5); /* 60 MB of 64 MiB */
	assert_false(owner_was_taken("bob"));
	assert_int_equal(take_some(&poller, 64, &cursor), 3);
	assert_true(owner_was_taken("bob"));
}

/* Owners 0001 to 1000, each with a job for a later time. */
static void a_thousand_owners_wait(void)
{
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, max_attempts, attempts_allowed, run_after, "
		"created_at, updated_at) SELECT RANDOM_BYTES(16), LPAD(seq, 4, '0'), 'k', "
		"REPEAT('f', 32), 'press', 'press', '{}', 'queued', 3, 3, NOW(6) + INTERVAL 1 "
		"HOUR, NOW(6), NOW(6) FROM seq_1_to_1000");
}

static uint64_t rows_read(void)
{
	uint64_t sum = 0;

	assert_int_equal(mysql_query(here.db->mysql, "SHOW SESSION STATUS LIKE 'Handler_read%'"),
			 0);
	MYSQL_RES *rows = mysql_store_result(here.db->mysql);

	for (MYSQL_ROW row; (row = mysql_fetch_row(rows));)
		sum += strtoull(row[1], NULL, 10);
	mysql_free_result(rows);
	return sum;
}

/* What a claim reads, less what the question reads itself. */
static uint64_t claim_reads(const struct id *poller, struct claim_cursor *cursor)
{
	uint64_t before = rows_read(), between = rows_read();

	take_some(poller, 8, cursor);
	return rows_read() - between - (between - before);
}

static void owners_with_nothing_due_cost_a_claim_a_look(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new();

	(void)state;
	a_thousand_owners_wait();
	take_some(&poller, 8, &cursor);
	assert_in_range(claim_reads(&poller, &cursor), 0, 10);
	assert_false(taken.unwalked);
	assert_int_equal(cursor.turns_len, 0); /* the provider's row wasn't locked */

	bool due = true;
	assert_int_equal(claim_any_due(here.db, &due), RC_OK);
	assert_false(due);
	uint64_t before = rows_read(), between = rows_read();

	assert_int_equal(claim_any_due(here.db, &due), RC_OK);
	assert_in_range(rows_read() - between - (between - before), 0, 10);
}

/* Claims until something is taken, or a round is over: each of them looks through some of the
 * owners only. */
static size_t claims_of_a_round(const struct id *poller, struct claim_cursor *cursor)
{
	size_t claims = 0;

	do {
		assert_in_range(claim_reads(poller, cursor), 0, 500);
		claims++;
	} while (taken.len == 0 && taken.unwalked && claims < 20);
	return claims;
}

static void a_walk_over_owners_goes_on_where_it_stopped(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new();

	(void)state;
	a_thousand_owners_wait();
	jobs_of("zoe", "press", 1);
	assert_int_equal(claims_of_a_round(&poller, &cursor), 4);
	assert_true(owner_was_taken("zoe"));
	jobs_of("0001", "press", 1); /* behind the one served last, and around */
	jobs_of("0700", "press", 1);
	assert_int_equal(claims_of_a_round(&poller, &cursor), 1);
	assert_true(owner_was_taken("0001"));
	assert_int_equal(claims_of_a_round(&poller, &cursor), 2);
	assert_true(owner_was_taken("0700"));
}

/* What is due can't be taken: a round ends where it began, and isn't begun anew by itself. */
static void a_walk_that_finds_nothing_to_take_ends_once_around(void **state)
{
	struct claim_cursor cursor = { 0 };
	struct id poller = poller_new();

	(void)state;
	a_thousand_owners_wait();
	jobs_of("0500", "press", 1);
	claims_of_a_round(&poller, &cursor);
	assert_true(owner_was_taken("0500"));
	jobs_of("0700", "press", 1);
	raw_run(here.raw, "UPDATE jobs SET input = NULL WHERE owner = '0700'");
	for (int round = 0; round < 3; round++) {
		assert_in_range(claims_of_a_round(&poller, &cursor), 4, 6);
		assert_int_equal(taken.len, 0);
		assert_false(taken.unwalked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(r5_a_claim_is_on_disk_for_all_to_see_when_it_returns),
		TEST(r5_whoever_does_not_hear_the_commit_has_nothing_to_send),
		TEST(r5_a_lost_statement_of_a_claim_is_begun_anew),
		TEST(b07_a_claim_that_waits_in_vain_leaves_no_half),
		TEST(what_must_wait_is_left),
		TEST(r7_nothing_starts_beside_an_attempt_in_doubt),
		TEST(f03_only_the_clock_of_the_database_counts),
		TEST(f04_the_count_rises_before_anything_is_sent),
		TEST(the_generation_counts_answered_failures_and_the_tries_all),
		TEST(f06_one_of_a_small_owner_is_in_the_first_claim),
		TEST(f06_owners_take_turns_one_by_one),
		TEST(f06_no_owner_is_cut_off_by_the_size_of_a_claim),
		TEST(f06_owners_take_turns_at_each_provider_for_itself),
		TEST(providers_take_turns),
		TEST(a_turn_that_begins_with_the_first_provider_is_for_all_of_them),
		TEST(a_locked_job_is_passed_over),
		TEST(a_claim_does_not_hold_up_creates),
		TEST(ten_thousand_doubts_are_in_nobodys_way),
		TEST(a_claim_is_bounded_by_its_inputs_and_goes_on_with_the_next_owner),
		TEST(owners_with_nothing_due_cost_a_claim_a_look),
		TEST(a_walk_over_owners_goes_on_where_it_stopped),
		TEST(a_walk_that_finds_nothing_to_take_ends_once_around),
	};

	return cmocka_run_group_tests_name("claim", tests, testdb_open, testdb_close);
}
