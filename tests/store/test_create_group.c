/* test_create_group.c: creates that wait at the same moment share a statement, and each has the
 * answer that it would have had alone. */
#include "testdb.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "contract_kit.h"
#include "lossy.h"
#include "store/create_group.h"

#define GUESTS 8
#define LONG_MS 30000 /* nobody loses patience */

struct guest {
	const char *token; /* default ann-token */
	const char *owner; /* instead of a token */
	const char *key;   /* default: its number */
	struct intent intent;
	const char *option_file; /* of a connection of its own */
	enum created created;
	struct id id;
	uint32_t contract_version;
	char owner_out[16];
};

/* Guest 0 leads: it inserts a key that another session holds. The others come when it is stuck, one
 * by one, so that the first of them writes for all. */
struct party {
	struct create_group *group;
	const char *tag; /* what begins its keys, if there was another before */
	struct guest guests[GUESTS + 1];
	atomic_size_t next;  /* whose turn to come it is */
	atomic_ulong leader; /* the connection of guest 0 */
	char held[16];	     /* the key of guest 0 */
};

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void arrive(struct db *db, size_t index, void *arg)
{
	struct party *party = arg;
	struct guest *guest = &party->guests[index];
	struct db *own = guest->option_file ? db_new(guest->option_file) : NULL;
	struct caller caller = guest->owner
				       ? caller_named(guest->owner)
				       : caller_with(guest->token ? guest->token : "ann-token");
	char number[48];
	struct job job;

	snprintf(number, sizeof number, "%s%zu", party->tag, index);
	create_group_join(party->group, own ? own : db);
	while (atomic_load(&party->next) < index)
		wait_a_little();
	if (index == 0)
		atomic_store(&party->leader, testdb_connection(db));
	guest->created = create(own ? own : db, &caller, guest->key ? guest->key : number,
				&guest->intent, &job);
	guest->id = job.id;
	guest->contract_version = job.contract_version;
	if (job.owner.bytes)
		snprintf(guest->owner_out, sizeof guest->owner_out, "%s", job.owner.bytes);
	job_release(&job);
	db_free(own);
}

static void open_party_in(struct party *party, struct create_group *group, const char *tag)
{
	assert_non_null(group);
	*party = (struct party){ .group = group, .tag = tag };
	party->guests[0].owner = "aaa"; /* before all others: the server locks the gap before it */
	for (size_t i = 0; i <= GUESTS; i++)
		party->guests[i].intent = intent_of("press", "{}");
}

static void open_party(struct party *party, unsigned int patience_ms)
{
	open_party_in(party, create_group_new(1, patience_ms), "");
}

/* The other session's insert of the leader's key, which is undone when all have come. Where the
 * server still knows a deleted key it locks as far as the next: that is one of the same owner's. */
static MYSQL *hold_key(struct party *party)
{
	static unsigned int held;
	MYSQL *other = testdb_raw();
	char after[16];

	snprintf(after, sizeof after, "h%u+", held);
	(void)job_new((struct a_job){ .owner = "aaa", .key = after });
	snprintf(party->held, sizeof party->held, "h%u", held++);
	party->guests[0].key = party->held;
	raw_run(other, "START TRANSACTION");
	raw_run(other,
		"INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, "
		"attempts_allowed, run_after, created_at, updated_at, fingerprint) VALUES "
		"(REPEAT('z', 16), 'aaa', '%s', 'queued', 3, 3, NOW(6), NOW(6), NOW(6), "
		"REPEAT('f', 32))",
		party->held);
	return other;
}

/* By its own connection: the server's list of those who wait may be a tenth of a second old. */
static void until_the_leader_is_stuck(struct party *party)
{
	char query[256];

	while (atomic_load(&party->leader) == 0)
		wait_a_little();
	snprintf(query, sizeof query, LOCK_WAITS " AND trx_mysql_thread_id = %lu",
		 atomic_load(&party->leader));
	raw_until(1, query);
}

static bool waiting_become(struct create_group *group, size_t n)
{
	size_t writing, waiting;

	create_group_count(group, &writing, &waiting);
	for (int i = 0; i < LONG_MS && waiting != n; i++) {
		wait_a_little();
		create_group_count(group, &writing, &waiting);
	}
	return waiting == n;
}

static uint64_t inserts(void)
{
	return raw_number("SELECT variable_value FROM information_schema.global_status WHERE "
			  "variable_name = 'COM_INSERT'");
}

static uint64_t guests_jobs(void)
{
	return raw_number("SELECT COUNT(*) FROM jobs WHERE owner <> 'aaa'");
}

/* Returns how many INSERT ... VALUES were run, which those that go alone don't use. */
static uint64_t hold_party_in(struct party *party)
{
	MYSQL *other = hold_key(party);
	uint64_t before = inserts();
	struct crew *crew = crew_start(GUESTS + 1, arrive, party);
	bool came = true;

	until_the_leader_is_stuck(party);
	for (size_t i = 1; i <= GUESTS; i++) {
		atomic_store(&party->next, i);
		came = came && waiting_become(party->group, i);
	}
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	assert_true(came);
	assert_int_equal(party->guests[0].created, CREATED_NEW);
	return inserts() - before;
}

static uint64_t hold_party(struct party *party)
{
	uint64_t n = hold_party_in(party);

	create_group_free(party->group);
	return n;
}

/* A party at which nobody waits for guest 0, however long that is stuck. */
static void hold_open_party_in(struct party *party, void (*meanwhile)(struct party *party))
{
	MYSQL *other = hold_key(party);
	uint64_t before = guests_jobs();
	struct crew *crew = crew_start(GUESTS + 1, arrive, party);
	char query[128];

	until_the_leader_is_stuck(party);
	atomic_store(&party->next, GUESTS);
	snprintf(query, sizeof query, "SELECT COUNT(*) - %lu FROM jobs WHERE owner <> 'aaa'",
		 (unsigned long)before);
	raw_until(GUESTS, query);
	if (meanwhile)
		meanwhile(party);
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	for (size_t i = 0; i <= GUESTS; i++)
		assert_int_equal(party->guests[i].created, CREATED_NEW);
}

static void those_who_wait_are_written_by_one_statement(void **state)
{
	struct party party;

	(void)state;
	open_party(&party, LONG_MS);
	assert_int_equal(hold_party(&party), 1);
	assert_int_equal(guests_jobs(), GUESTS);
	for (size_t i = 1; i <= GUESTS; i++) {
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

/* Every column that a create fills is what the statement for one writes. */
static void a_row_of_a_group_is_the_row_of_one_alone(void **state)
{
	struct intent intent;
	struct party party;
	struct job job;
	struct caller ann = caller_with("ann-token");

	(void)state;
	uint32_t version = contract_new("letter", "press", "");

	open_party(&party, LONG_MS);
	intent = contract_intent("letter", "{\"n\":18446744073709551617}");
	intent.metadata = "{\"a\":\"b\"}";
	intent.metadata_len = strlen(intent.metadata);
	intent.max_attempts = 7;
	intent.not_before_us = INT64_C(4102444800000001);
	intent.expires_us = INT64_C(4102444800000002);
	intent.deadline_us = INT64_C(4102444800000003);
	party.guests[3].intent = intent;
	assert_int_equal(hold_party(&party), 1);
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
	static const enum created want[GUESTS + 1] = {
		CREATED_NEW,
		CREATED_NEW,
		CREATED_NO_SUCH_CALLER,
		CREATED_NO_SUCH_PROVIDER,
		CREATED_NEW,
		CREATED_NO_SUCH_CONTRACT,
		CREATED_NEW,
		CREATED_NEW,
		CREATED_NEW,
	};
	struct party party;

	(void)state;
	token_new("bob-token", "bob", ROLE_USER);
	open_party(&party, LONG_MS);
	party.guests[2].token = "nobody's";
	party.guests[3].intent = intent_of("nowhere", "{}");
	party.guests[4].owner = "eve";
	party.guests[5].intent = contract_intent("nothing", "{}");
	party.guests[7].token = "bob-token";
	(void)hold_party(&party);
	for (size_t i = 1; i <= GUESTS; i++)
		assert_int_equal(party.guests[i].created, want[i]);
	assert_int_equal(guests_jobs(), 5);
	assert_string_equal(party.guests[1].owner_out, "ann");
	assert_string_equal(party.guests[4].owner_out, "eve");
	assert_string_equal(party.guests[7].owner_out, "bob");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE id = %s AND owner = 'bob'",
				    x(&party.guests[7].id)),
			 1);
}

static void keys_that_are_there_are_replays_and_conflicts_in_a_group_too(void **state)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct party party;
	struct job job;

	(void)state;
	assert_int_equal(create(here.db, &ann, "there", &intent, &job), CREATED_NEW);
	open_party(&party, LONG_MS);
	party.guests[4].key = "there";
	party.guests[5].key = "there";
	party.guests[5].intent = intent_of("press", "{\"other\":1}");
	(void)hold_party(&party);
	for (size_t i = 1; i <= GUESTS; i++)
		assert_int_equal(party.guests[i].created, i == 4   ? CREATED_REPLAYED
							  : i == 5 ? CREATED_KEY_REUSED
								   : CREATED_NEW);
	assert_true(id_equal(&party.guests[4].id, &job.id) &&
		    id_equal(&party.guests[5].id, &job.id));
	assert_int_equal(guests_jobs(), 1 + GUESTS - 2);
	job_release(&job);
}

static void a_double_click_in_one_group_is_one_job(void **state)
{
	struct party party;

	(void)state;
	open_party(&party, LONG_MS);
	party.guests[2].key = party.guests[6].key = "click";
	/* 1 to 4 together, then 5 to 8 in vain: the second click is in there. */
	assert_int_equal(hold_party(&party), 2);
	assert_int_equal(party.guests[2].created, CREATED_NEW);
	assert_int_equal(party.guests[6].created, CREATED_REPLAYED);
	assert_true(id_equal(&party.guests[2].id, &party.guests[6].id));
	assert_int_equal(guests_jobs(), GUESTS - 1);
}

static void a_group_whose_answer_is_lost_is_written_once(void **state)
{
	static const enum lossy losses[] = { LOSE_EXECUTE, LOSE_EXECUTE_ANSWER };
	const char *option_file = lossy_open();

	for (size_t loss = 0; loss < ROWS(losses); loss++) {
		struct party party;

		testdb_empty(state);
		open_party(&party, LONG_MS);
		party.guests[1].option_file = option_file;
		lossy_arm(losses[loss], 2, 1); /* of the tokens, of the providers, the insert */
		(void)hold_party(&party);
		assert_int_equal(lossy_left(), 0);
		for (size_t i = 1; i <= GUESTS; i++)
			assert_int_equal(party.guests[i].created, CREATED_NEW);
		assert_int_equal(guests_jobs(), GUESTS);
	}
}

static void a_group_that_is_refused_is_written_by_each_alone(void **state)
{
	static const unsigned int errors[] = { 1213, 1205, 1290 };
	const char *option_file = lossy_open();

	for (size_t i = 0; i < ROWS(errors); i++) {
		struct party party;

		testdb_empty(state);
		open_party(&party, LONG_MS);
		party.guests[1].option_file = option_file;
		lossy_refuse(REFUSE_EXECUTE, errors[i], 2, 1);
		(void)hold_party(&party);
		assert_int_equal(lossy_left(), 0);
		for (size_t j = 1; j <= GUESTS; j++)
			assert_int_equal(party.guests[j].created, CREATED_NEW);
		assert_int_equal(guests_jobs(), GUESTS);
	}
}

static void nobody_is_counted(struct party *party)
{
	size_t writing, waiting;

	create_group_count(party->group, &writing, &waiting);
	assert_int_equal(waiting, 0);
	/* The last of the others, its row written, may be about to leave. */
	for (int i = 0; i < LONG_MS && writing > 0; i++) {
		wait_a_little();
		create_group_count(party->group, &writing, &waiting);
	}
	assert_int_equal(writing, 0);
}

static void who_has_waited_long_enough_leads_and_the_stuck_leader_counts_no_more(void **state)
{
	struct party party;

	(void)state;
	open_party(&party, 20);
	hold_open_party_in(&party, nobody_is_counted);
	nobody_is_counted(&party);
	create_group_free(party.group);
}

static void more_than_the_leaders_wait(void **state)
{
	struct party party;

	(void)state;
	open_party_in(&party, create_group_new(2, LONG_MS), "");
	MYSQL *other = hold_key(&party);

	party.guests[1].owner = "aaa";
	party.guests[1].key = party.held;
	struct crew *crew = crew_start(3, arrive, &party);
	size_t writing, waiting;

	until_the_leader_is_stuck(&party);
	atomic_store(&party.next, 1);
	raw_until(2, LOCK_WAITS);
	atomic_store(&party.next, 2);
	bool waits = waiting_become(party.group, 1);

	create_group_count(party.group, &writing, &waiting);
	raw_run(other, "ROLLBACK");
	crew_join(crew);
	mysql_close(other);
	create_group_free(party.group);
	assert_true(waits);
	assert_int_equal(writing, 2);
	assert_int_equal(party.guests[2].created, CREATED_NEW);
}

static void a_statement_takes_so_many_bytes_and_what_is_larger_goes_alone(void **state)
{
	static char input[300 << 10];
	struct caller ann = caller_with("ann-token");
	struct party party;
	struct job job;

	(void)state;
	memset(input, ' ', sizeof input);
	input[0] = '{';
	input[(100 << 10) - 1] = '}';
	open_party(&party, LONG_MS);
	for (size_t i = 1; i <= GUESTS; i++) {
		party.guests[i].intent.input = input;
		party.guests[i].intent.input_len = 100 << 10;
	}
	assert_int_equal(hold_party(&party), GUESTS / 2);
	for (size_t i = 1; i <= GUESTS; i++)
		assert_int_equal(party.guests[i].created, CREATED_NEW);

	struct intent large = intent_of("press", "{}");
	struct create_group *group =
		create_group_new(0, LONG_MS); /* whoever waits waits for ever */
	struct db *db = testdb_another();

	create_group_join(group, db);
	input[(100 << 10) - 1] = ' ';
	input[sizeof input - 1] = '}';
	large.input = input;
	large.input_len = sizeof input;
	assert_int_equal(create(db, &ann, "large", &large, &job), CREATED_NEW);
	job_release(&job);
	db_free(db);
	create_group_free(group);
}

static void create_some(struct create_group *group, const char *tag, int n)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct db *db = testdb_another();

	create_group_join(group, db);
	for (int i = 0; i < n; i++) {
		char key[48];
		struct job job;

		snprintf(key, sizeof key, "%ssome%d", tag, i);
		assert_int_equal(create(db, &ann, key, &intent, &job), CREATED_NEW);
		job_release(&job);
	}
	db_free(db);
}

static void after_lost_work_so_many_go_alone_and_twice_as_many_each_time(void **state)
{
	struct create_group *group = create_group_new(1, LONG_MS);
	struct party party;
	char tag[3][32];

	(void)state;
	create_some(group, "", 1);
	for (int alone = 16, round = 0; alone <= 32; alone *= 2, round++) {
		for (int i = 0; i < 3; i++)
			snprintf(tag[i], sizeof tag[i], "r%d%d.", round, i);
		open_party_in(&party, group, tag[0]);
		party.guests[1].key = "some0";
		(void)hold_party_in(&party);

		create_some(group, tag[1], alone - (GUESTS + 1));
		open_party_in(&party, group, tag[2]);
		hold_open_party_in(&party, NULL);
	}
	open_party_in(&party, group, "last.");
	assert_int_equal(hold_party(&party), 1);
}

struct crowd {
	struct create_group *group;
	atomic_uint counts[CREATED__MAX];
};

static void click_often(struct db *db, size_t index, void *arg)
{
	struct crowd *crowd = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");

	create_group_join(crowd->group, db);
	for (size_t i = 0; i < 100; i++) {
		char key[16];
		struct job job;

		/* Every tenth key comes from all, the others are each one's own. */
		snprintf(key, sizeof key, "%zu-%zu", i % 10 ? index : 0, i);
		atomic_fetch_add(&crowd->counts[create(db, &ann, key, &intent, &job)], 1);
		job_release(&job);
	}
}

static void however_many_click_each_key_is_one_job_and_nobody_leads_for_ever(void **state)
{
	static struct crowd crowd;
	size_t writing, waiting;

	(void)state;
	crowd = (struct crowd){ .group = create_group_new(CREATE_LEADERS, CREATE_PATIENCE_MS) };
	crew_run(GUESTS, click_often, &crowd);
	create_group_count(crowd.group, &writing, &waiting);
	create_group_free(crowd.group);
	assert_int_equal(writing, 0);
	assert_int_equal(waiting, 0);
	assert_int_equal(guests_jobs(), 10 + GUESTS * 90);
	assert_int_equal(atomic_load(&crowd.counts[CREATED_NEW]), 10 + GUESTS * 90);
	assert_int_equal(atomic_load(&crowd.counts[CREATED_REPLAYED]), (GUESTS - 1) * 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_who_wait_are_written_by_one_statement),
		TEST(a_row_of_a_group_is_the_row_of_one_alone),
		TEST(each_of_a_group_has_its_own_answer),
		TEST(keys_that_are_there_are_replays_and_conflicts_in_a_group_too),
		TEST(a_double_click_in_one_group_is_one_job),
		TEST(a_group_whose_answer_is_lost_is_written_once),
		TEST(a_group_that_is_refused_is_written_by_each_alone),
		TEST(who_has_waited_long_enough_leads_and_the_stuck_leader_counts_no_more),
		TEST(more_than_the_leaders_wait),
		TEST(a_statement_takes_so_many_bytes_and_what_is_larger_goes_alone),
		TEST(after_lost_work_so_many_go_alone_and_twice_as_many_each_time),
		TEST(however_many_click_each_key_is_one_job_and_nobody_leads_for_ever),
	};

	return cmocka_run_group_tests_name("create_group", tests, testdb_open, testdb_close);
}
