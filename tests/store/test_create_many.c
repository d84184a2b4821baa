/* test_create_many.c: creates that came at the same moment share a statement, and each has the
 * answer that it would have had alone. */
#include "testdb.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "contract_kit.h"
#include "lossy.h"

#define GUESTS 8
#define HELD 4 /* the guest whose key another session holds, if one does */

struct guest {
	const char *token; /* default ann-token */
	const char *owner; /* instead of a token; beside one where both are given */
	const char *key;   /* default: its number, after the party's tag */
	struct intent intent;
	enum created created;
	struct id id;
	uint32_t contract_version;
	size_t attempts;
	char owner_out[16];
	char input_out[32];
};

struct party {
	struct db *db;
	const char *tag;
	size_t n;
	struct guest guests[GUESTS];
	size_t first; /* how many the first call decided */
};

/* What a create points to. */
struct bag {
	struct caller caller;
	struct idempotency_key key;
	struct create create;
	struct guest *guest;
};

static struct party party_of(const char *tag)
{
	struct party party = { .db = here.db, .tag = tag, .n = GUESTS };

	for (size_t i = 0; i < GUESTS; i++)
		party.guests[i].intent = intent_of("press", "{}");
	return party;
}

static void pack(const struct party *party, struct guest *guest, struct bag *bag)
{
	char number[48];

	snprintf(number, sizeof number, "%s%zu", party->tag, (size_t)(guest - party->guests));
	if (guest->owner && !guest->token)
		bag->caller = caller_named(guest->owner);
	else
		bag->caller = caller_with(guest->token ? guest->token : "ann-token");
	if (guest->owner) {
		bag->caller.owner = guest->owner;
		bag->caller.owner_len = strlen(guest->owner);
	}
	bag->key = key_of(guest->key ? guest->key : number);
	bag->guest = guest;
	bag->create = (struct create){ .caller = &bag->caller,
				       .key = &bag->key,
				       .intent = &guest->intent,
				       .id = clock_id(),
				       .now_us = clock_real_us() };
}

static void unpack(struct create *c)
{
	struct guest *guest = ((struct bag *)((char *)c - offsetof(struct bag, create)))->guest;

	guest->created = c->created;
	guest->id = c->job.id;
	guest->contract_version = c->job.contract_version;
	guest->attempts = c->job.attempts_len;
	if (c->job.owner.bytes)
		snprintf(guest->owner_out, sizeof guest->owner_out, "%s", c->job.owner.bytes);
	if (c->job.input.bytes)
		snprintf(guest->input_out, sizeof guest->input_out, "%s", c->job.input.bytes);
	job_release(&c->job);
}

/* Those who are decided first are those who are answered first. */
static void come(struct party *party)
{
	struct bag bags[GUESTS];
	struct create *list[GUESTS];

	for (size_t i = 0; i < party->n; i++) {
		pack(party, &party->guests[i], &bags[i]);
		party->guests[i].created = CREATED__MAX;
		list[i] = &bags[i].create;
	}
	for (size_t left = party->n, calls = 0; left > 0; calls++) {
		size_t decided = job_store_create(party->db, list, left);

		for (size_t i = 0; i < decided; i++)
			unpack(list[i]);
		left -= decided;
		memmove(list, list + decided, left * sizeof *list);
		if (calls == 0)
			party->first = decided;
	}
}

static uint64_t inserts(void)
{
	return raw_number("SELECT variable_value FROM information_schema.global_status WHERE "
			  "variable_name = 'COM_INSERT'");
}

static uint64_t jobs(void)
{
	return raw_number("SELECT COUNT(*) FROM jobs");
}

/* Returns how many INSERT ... VALUES were run, which those that go alone don't use. */
static uint64_t come_and_count(struct party *party)
{
	uint64_t before = inserts();

	come(party);
	return inserts() - before;
}

static void those_who_come_together_are_written_by_one_statement(void **state)
{
	struct party party = party_of("");

	(void)state;
	assert_int_equal(come_and_count(&party), 1);
	assert_int_equal(party.first, GUESTS);
	assert_int_equal(jobs(), GUESTS);
	for (size_t i = 0; i < GUESTS; i++) {
		assert_int_equal(party.guests[i].created, CREATED_NEW);
		assert_int_equal(
			raw_number("SELECT COUNT(*) FROM jobs WHERE id = %s AND owner = "
				   "'ann' AND idempotency_key = '%zu' AND state = 'queued' "
				   "AND provider = 'press' AND next_provider = 'press' AND "
				   "run_after <= UTC_TIMESTAMP(6)",
				   x(&party.guests[i].id), i),
			1);
	}
}

/* So that those who have come meanwhile can join them. */
static void as_many_as_a_statement_is_prepared_for_are_decided_at_once(void **state)
{
	struct party party = party_of("");

	(void)state;
	party.n = 7;
	assert_int_equal(come_and_count(&party), 2); /* 4, 2, and 1 alone */
	assert_int_equal(party.first, 4);
	assert_int_equal(jobs(), 7);
}

/* Every column that a create fills is what the statement for one writes. */
static void a_row_of_a_group_is_the_row_of_one_alone(void **state)
{
	struct party party = party_of("");
	struct caller ann = caller_with("ann-token");
	struct intent intent;
	struct job job;

	(void)state;
	uint32_t version = contract_new("letter", "press", "");

	intent = contract_intent("letter", "{\"n\":18446744073709551617}");
	intent.metadata = "{\"a\":\"b\"}";
	intent.metadata_len = strlen(intent.metadata);
	intent.max_attempts = 7;
	intent.not_before_us = INT64_C(4102444800000001);
	intent.expires_us = INT64_C(4102444800000002);
	intent.deadline_us = INT64_C(4102444800000003);
	party.guests[3].intent = intent;
	assert_int_equal(come_and_count(&party), 1);
	assert_int_equal(party.guests[3].contract_version, version);
	assert_int_equal(create(here.db, &ann, "alone", &intent, &job), CREATED_NEW);
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM (SELECT DISTINCT owner, fingerprint, contract, "
			   "contract_version, provider, next_provider, input, metadata, state, "
			   "version, revision, max_attempts, attempts_allowed, attempt_count, "
			   "run_after, not_before, expires_at, deadline_at, traceparent FROM jobs "
			   "WHERE id IN (%s, %s)) d",
			   x(&party.guests[3].id), x(&job.id)),
		1);
	job_release(&job);
}

static void each_of_a_group_has_its_own_answer(void **state)
{
	static const enum created want[GUESTS] = {
		CREATED_NEW,
		CREATED_NO_SUCH_CALLER,
		CREATED_NO_SUCH_PROVIDER,
		CREATED_NEW,
		CREATED_NO_SUCH_CONTRACT,
		CREATED_NEW,
		CREATED_NO_SUCH_CALLER,
		CREATED_NEW,
	};
	struct party party = party_of("");

	(void)state;
	token_new("bob-token", "bob", ROLE_USER);
	party.guests[1].token = "nobody's";
	party.guests[2].intent = intent_of("nowhere", "{}");
	party.guests[3].owner = "eve";
	party.guests[4].intent = contract_intent("nothing", "{}");
	party.guests[5].token = "bob-token";
	party.guests[5].owner = "bob";
	party.guests[6].token = "bob-token";
	party.guests[6].owner = "ann";
	party.guests[7].token = "bob-token";
	assert_int_equal(come_and_count(&party), 1);
	for (size_t i = 0; i < GUESTS; i++)
		assert_int_equal(party.guests[i].created, want[i]);
	assert_int_equal(jobs(), 4);
	assert_string_equal(party.guests[0].owner_out, "ann");
	assert_string_equal(party.guests[3].owner_out, "eve");
	assert_string_equal(party.guests[5].owner_out, "bob");
	assert_string_equal(party.guests[7].owner_out, "bob");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE id = %s AND owner = 'bob'",
				    x(&party.guests[7].id)),
			 1);
}

/* The first statement meets them; the next time they are asked for first. */
static void keys_that_are_there_are_replays_and_conflicts_in_a_group_too(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;

	(void)state;
	assert_int_equal(create(here.db, &ann, "there", &intent, &job), CREATED_NEW);
	for (size_t round = 0; round < 2; round++) {
		struct party party = party_of(round ? "b" : "a");

		party.guests[3].key = "there";
		party.guests[4].key = "there";
		party.guests[4].intent = intent_of("press", "{\"other\":1}");
		party.guests[5].key = "there"; /* another owner's */
		party.guests[5].owner = round ? "fay" : "eve";
		/* 4 of the 7 keys, in vain; 2 of the 3 that are new; 2 of the rest. Then at once.
		 */
		assert_int_equal(come_and_count(&party), round ? 2 : 3);
		for (size_t i = 0; i < GUESTS; i++)
			assert_int_equal(party.guests[i].created, i == 3   ? CREATED_REPLAYED
								  : i == 4 ? CREATED_KEY_REUSED
									   : CREATED_NEW);
		assert_true(id_equal(&party.guests[3].id, &job.id) &&
			    id_equal(&party.guests[4].id, &job.id));
		assert_int_equal(jobs(), 1 + (1 + round) * (GUESTS - 2));
	}
	job_release(&job);
}

static void a_double_click_in_one_group_is_one_job(void **state)
{
	struct party party = party_of("");

	(void)state;
	party.guests[1].key = party.guests[5].key = "click";
	(void)come_and_count(&party);
	assert_int_equal(party.first, 5); /* of 7 keys the first 4, and the second click on one */
	assert_int_equal(party.guests[1].created, CREATED_NEW);
	assert_int_equal(party.guests[5].created, CREATED_REPLAYED);
	assert_true(id_equal(&party.guests[1].id, &party.guests[5].id));
	assert_int_equal(jobs(), GUESTS - 1);
}

/* Of one caller; what it is answered is what was written. */
static void the_second_click_needs_no_statement_and_another_callers_is_none(void **state)
{
	struct party party = party_of("");
	struct guest *g = party.guests;

	(void)state;
	party.n = 5;
	for (size_t i = 0; i < party.n; i++)
		g[i].key = "click";
	g[0].intent = intent_of("press", "{\"a\":1}");
	g[1].intent = g[0].intent;
	g[1].intent.input = "{ \"a\" : 1 }";
	g[1].intent.input_len = strlen(g[1].intent.input);
	g[2].intent = intent_of("press", "{\"a\":2}");
	g[3].owner = "bob";
	g[4].owner = "ann"; /* whose token that is, nobody has asked */
	come(&party);
	assert_int_equal(party.first, 4); /* with bob, of one statement */
	assert_int_equal(g[0].created, CREATED_NEW);
	assert_int_equal(g[1].created, CREATED_REPLAYED);
	assert_int_equal(g[2].created, CREATED_KEY_REUSED);
	assert_int_equal(g[3].created, CREATED_NEW);
	assert_int_equal(g[4].created, CREATED_KEY_REUSED);
	for (size_t i = 1; i < party.n; i++)
		if (i != 3)
			assert_true(id_equal(&g[0].id, &g[i].id));
	assert_string_equal(g[1].input_out, "{\"a\":1}");
	assert_string_equal(g[1].owner_out, "ann");
	assert_int_equal(jobs(), 2);
}

/* Whose they are is part of the key. */
static void one_key_of_several_owners_is_one_statement(void **state)
{
	static const char *const owners[GUESTS] = { "ada", "bea", "cid", "dot",
						    "eve", "fay", "gus", "hal" };
	struct party party = party_of("");

	(void)state;
	for (size_t i = 0; i < GUESTS; i++) {
		party.guests[i].owner = owners[i];
		party.guests[i].key = "order-1";
	}
	assert_int_equal(come_and_count(&party), 1);
	assert_int_equal(party.first, GUESTS);
	for (size_t i = 0; i < GUESTS; i++) {
		assert_int_equal(party.guests[i].created, CREATED_NEW);
		assert_string_equal(party.guests[i].owner_out, owners[i]);
	}
	assert_int_equal(jobs(), GUESTS);
}

/* That it is one owner's is known only when the tokens are; the others don't suffer from it. */
static void one_key_by_two_tokens_of_an_owner_is_one_job(void **state)
{
	struct party party = party_of("");

	(void)state;
	token_new("ann-too", "ann", ROLE_USER);
	party.guests[1].key = party.guests[2].key = "click";
	party.guests[2].token = "ann-too";
	assert_int_equal(come_and_count(&party), 2); /* 4, 2, and 1 alone */
	assert_int_equal(party.first, 6);
	assert_int_equal(jobs(), GUESTS - 1);
	for (size_t i = 0; i < GUESTS; i++)
		assert_int_equal(party.guests[i].created, i == 2 ? CREATED_REPLAYED : CREATED_NEW);
	assert_true(id_equal(&party.guests[1].id, &party.guests[2].id));
}

static struct id job_with_attempts(const char *key, const struct intent *intent, uint32_t n)
{
	struct caller ann = caller_with("ann-token");
	struct job job;

	assert_int_equal(create(here.db, &ann, key, intent, &job), CREATED_NEW);
	struct id id = job.id;

	job_release(&job);
	for (uint32_t number = 1; number <= n; number++)
		(void)attempt_new((struct an_attempt){
			.job = &id, .number = number, .state = ATTEMPT_FAILED });
	raw_run(here.raw, "UPDATE jobs SET attempt_count = %u WHERE id = %s", n, x(&id));
	return id;
}

/* What the others' statement leaves out of a large job, or of one of many attempts, is read by it
 * alone; and a key that was cancelled before its create has no job to show. */
static void repeats_of_every_kind_are_whole_in_a_group_too(void **state)
{
	static char large[40 << 10];
	struct party party = party_of("");
	struct guest *g = party.guests;
	struct intent intent = intent_of("press", "{}");
	struct identity ann = user_named("ann");
	struct idempotency_key gone = key_of("gone");
	struct id tombstone = clock_id();
	struct job job;

	(void)state;
	memset(large, ' ', sizeof large - 1);
	large[0] = '{';
	large[sizeof large - 2] = '}';
	g[2].intent = intent_of("press", large);
	(void)job_with_attempts(g[1].key = "plain", &intent, 20);
	(void)job_with_attempts(g[2].key = "large", &g[2].intent, 2);
	(void)job_with_attempts(g[3].key = "tried", &intent, 25);
	assert_int_equal(
		job_store_cancel_key(here.db, &ann, &gone, &tombstone, clock_real_us(), &job),
		CHANGED_TOMBSTONE);
	job_release(&job);
	g[4].key = "gone";
	here.db->repeats = 8;
	come(&party);
	for (size_t i = 0; i < GUESTS; i++)
		assert_int_equal(g[i].created, i == 4		 ? CREATED_INTENT_CANCELLED
					       : i == 0 || i > 4 ? CREATED_NEW
								 : CREATED_REPLAYED);
	assert_int_equal(g[1].attempts, 20);
	assert_int_equal(g[2].attempts, 2);
	assert_int_equal(g[3].attempts, 25);
	assert_string_equal(g[1].input_out, "{}");
	assert_memory_equal(g[2].input_out, large, sizeof g[2].input_out - 1);
	assert_true(id_equal(&g[4].id, &tombstone));
}

static void a_group_whose_answer_is_lost_is_written_once(void **state)
{
	static const enum lossy losses[] = { LOSE_EXECUTE, LOSE_EXECUTE_ANSWER };
	struct db *db = db_new(lossy_open());

	for (size_t loss = 0; loss < ROWS(losses); loss++) {
		struct party party = party_of("");

		testdb_empty(state);
		db->alone = 0;
		party.db = db;
		lossy_arm(losses[loss], 2, 1); /* of the tokens, of the providers, the insert */
		come(&party);
		assert_int_equal(lossy_left(), 0);
		for (size_t i = 0; i < GUESTS; i++)
			assert_int_equal(party.guests[i].created, CREATED_NEW);
		assert_int_equal(jobs(), GUESTS);
	}
	db_free(db);
}

static void a_group_that_is_refused_is_written_by_each_alone(void **state)
{
	static const unsigned int errors[] = { 1213, 1205, 1290 };
	struct db *db = db_new(lossy_open());

	for (size_t i = 0; i < ROWS(errors); i++) {
		struct party party = party_of("");

		testdb_empty(state);
		db->alone = 0;
		party.db = db;
		lossy_refuse(REFUSE_EXECUTE, errors[i], 2, errors[i] == 1205 ? 1 : 3);
		come(&party);
		assert_int_equal(lossy_left(), 0);
		for (size_t j = 0; j < GUESTS; j++)
			assert_int_equal(party.guests[j].created, CREATED_NEW);
		assert_int_equal(jobs(), GUESTS);
	}
	db_free(db);
}

/* The other session's insert of a guest's key. Where the server still knows a deleted key it locks
 * as far as the next: that is one of the same owner's. */
static MYSQL *hold_key(const char *key)
{
	MYSQL *other = testdb_raw();

	(void)job_new((struct a_job){ .owner = "zoe", .key = "zzz" });
	raw_run(other, "START TRANSACTION");
	raw_run(other,
		"INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, "
		"attempts_allowed, run_after, created_at, updated_at, fingerprint) VALUES "
		"(REPEAT('z', 16), 'zoe', '%s', 'queued', 3, 3, NOW(6), NOW(6), NOW(6), "
		"REPEAT('f', 32))",
		key);
	return other;
}

static void arrive(struct db *db, size_t index, void *arg)
{
	struct party *party = arg;

	(void)index;
	party->db = db;
	come(party);
}

static void one_that_waits_for_another_sessions_row_holds_the_others_for_a_while_only(void **state)
{
	struct party party = party_of("");
	MYSQL *other = hold_key("held");

	(void)state;
	party.guests[HELD].owner = "zoe";
	party.guests[HELD].key = "held";

	struct crew *crew = crew_start(1, arrive, &party);

	raw_until(GUESTS - 1, "SELECT COUNT(*) FROM jobs WHERE owner = 'ann'");
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	for (size_t i = 0; i < GUESTS; i++)
		assert_int_equal(party.guests[i].created, CREATED_NEW);
}

static void a_statement_takes_so_many_bytes_and_what_is_larger_goes_alone(void **state)
{
	static char input[300 << 10];
	struct party party = party_of("");

	(void)state;
	memset(input, ' ', sizeof input);
	input[0] = '{';
	input[(100 << 10) - 1] = '}';
	for (size_t i = 0; i < GUESTS; i++) {
		party.guests[i].intent.input = input;
		party.guests[i].intent.input_len = 100 << 10;
	}
	assert_int_equal(come_and_count(&party), GUESTS / 2);
	for (size_t i = 0; i < GUESTS; i++)
		assert_int_equal(party.guests[i].created, CREATED_NEW);

	struct party large = party_of("large");

	input[(100 << 10) - 1] = ' ';
	input[sizeof input - 1] = '}';
	large.n = 2;
	large.guests[0].intent.input = input;
	large.guests[0].intent.input_len = sizeof input;
	assert_int_equal(come_and_count(&large), 0);
	assert_int_equal(large.guests[0].created, CREATED_NEW);
}

static void after_lost_work_so_many_go_alone_and_twice_as_many_each_time(void **state)
{
	static const char *const tags[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	/* 1: written together; 0: one by one, by the third statement's or by what it has taught */
	static const int want[] = { 0, 0, 1, 0, 0, 0, 0, 1 };
	struct db *db = db_new(lossy_open());

	(void)state;
	for (size_t i = 0; i < ROWS(tags); i++) {
		struct party party = party_of(tags[i]);

		party.db = db;
		db->alone_next = i == 3 ? 32 : db->alone_next; /* as if it had been lost before */
		if (i == 0 || i == 3)
			lossy_refuse(REFUSE_EXECUTE, 1205, 2, 1);
		assert_int_equal(come_and_count(&party), want[i]);
	}
	db_free(db);
}

static void click_often(struct db *db, size_t index, void *arg)
{
	atomic_uint *counts = arg;

	for (size_t round = 0; round < 25; round++) {
		char tag[16], all[32];
		struct party party;

		/* One of four keys comes from all, the others are each one's own. */
		snprintf(tag, sizeof tag, "%zu-%zu-", index, round);
		snprintf(all, sizeof all, "all-%zu", round);
		party = party_of(tag);
		party.db = db;
		party.n = 4;
		party.guests[round % 4].key = all;
		come(&party);
		for (size_t i = 0; i < party.n; i++)
			atomic_fetch_add(&counts[party.guests[i].created], 1);
	}
}

static void however_many_click_each_key_is_one_job(void **state)
{
	static atomic_uint counts[CREATED__MAX];

	(void)state;
	crew_run(GUESTS, click_often, counts);
	assert_int_equal(jobs(), 25 + GUESTS * 75);
	assert_int_equal(atomic_load(&counts[CREATED_NEW]), 25 + GUESTS * 75);
	assert_int_equal(atomic_load(&counts[CREATED_REPLAYED]), (GUESTS - 1) * 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_who_come_together_are_written_by_one_statement),
		TEST(as_many_as_a_statement_is_prepared_for_are_decided_at_once),
		TEST(a_row_of_a_group_is_the_row_of_one_alone),
		TEST(each_of_a_group_has_its_own_answer),
		TEST(keys_that_are_there_are_replays_and_conflicts_in_a_group_too),
		TEST(a_double_click_in_one_group_is_one_job),
		TEST(the_second_click_needs_no_statement_and_another_callers_is_none),
		TEST(one_key_of_several_owners_is_one_statement),
		TEST(one_key_by_two_tokens_of_an_owner_is_one_job),
		TEST(repeats_of_every_kind_are_whole_in_a_group_too),
		TEST(a_group_whose_answer_is_lost_is_written_once),
		TEST(a_group_that_is_refused_is_written_by_each_alone),
		TEST(one_that_waits_for_another_sessions_row_holds_the_others_for_a_while_only),
		TEST(a_statement_takes_so_many_bytes_and_what_is_larger_goes_alone),
		TEST(after_lost_work_so_many_go_alone_and_twice_as_many_each_time),
		TEST(however_many_click_each_key_is_one_job),
	};

	return cmocka_run_group_tests_name("create_many", tests, testdb_open, testdb_close);
}
