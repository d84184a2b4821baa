/* test_together.c: two nodes that are written to at once: creates, claims, settles, what another
 * node has acknowledged, migrations. test_elsewhere.c has the rest. */
#include "nodes.h"

#include <stdio.h>

#include "../store/contract_kit.h"
#include "base/clock.h"
#include "store/migrate.h"
#include "store/provider_store.h"

/* --- one key */

struct creating {
	char key[32];
	const char *inputs[4];
	enum created created[4];
	struct job jobs[4];
};

static void create_one(struct db *db, size_t index, void *arg)
{
	struct creating *c = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", c->inputs[index]);

	c->created[index] = create(db, &ann, c->key, &intent, &c->jobs[index]);
}

/* Two of each intent. */
static void check_created(const struct creating *c)
{
	size_t news = 0, winner = 0;

	for (size_t i = 0; i < 4; i++) {
		news += c->created[i] == CREATED_NEW;
		winner = c->created[i] == CREATED_NEW ? i : winner;
	}
	if (news != 1)
		fail_msg("%zu are new: %d %d %d %d", news, c->created[0], c->created[1],
			 c->created[2], c->created[3]);
	for (size_t i = 0; i < 4; i++) {
		bool same = strcmp(c->inputs[i], c->inputs[winner]) == 0;
		enum created want = same ? CREATED_REPLAYED : CREATED_KEY_REUSED;

		if (i != winner && c->created[i] != want)
			fail_msg("%d instead of %d", c->created[i], want);
		assert_true(id_equal(&c->jobs[i].id, &c->jobs[winner].id));
	}
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE idempotency_key = '%s'", c->key), 1);
}

static void one_key_round(unsigned int n)
{
	struct creating c = { .inputs = { "{\"a\":1}", "{\"a\":1}", "{\"a\":1}", "{\"a\":1}" } };

	if (n % 2)
		c.inputs[2] = c.inputs[3] = "{\"a\":2}";
	snprintf(c.key, sizeof c.key, "k%u", n);
	crew_run(4, create_one, &c);
	check_created(&c);
	for (size_t i = 0; i < 4; i++)
		job_release(&c.jobs[i]);
}

static void one_key_at_two_nodes_is_one_job(void **state)
{
	(void)state;
	nodes_until_they_met(one_key_round);
}

/* --- one key, in statements for several */

#define GROUP 8

struct group {
	unsigned int n;
	struct {
		char keys[GROUP][32];
		struct create creates[GROUP];
	} sides[2];
};

static void create_group(struct db *db, size_t index, void *arg)
{
	struct group *group = arg;
	struct caller ann = caller_with("ann-token");
	struct idempotency_key keys[GROUP];
	struct intent intents[GROUP];
	struct create *left[GROUP], *creates = group->sides[index].creates;

	for (size_t i = 0; i < GROUP; i++) {
		size_t at = index ? GROUP - 1 - i : i; /* met from both ends */

		snprintf(group->sides[index].keys[i], 32, "g%u-%zu", group->n, at);
		keys[i] = key_of(group->sides[index].keys[i]);
		intents[i] = intent_of("press", index && at % 2 ? "{\"other\":1}" : "{}");
		creates[i] = (struct create){ .caller = &ann,
					      .key = &keys[i],
					      .intent = &intents[i],
					      .id = clock_id(),
					      .now_us = clock_real_us() };
		left[i] = &creates[i];
	}
	for (size_t n = GROUP; n > 0;) {
		size_t done = job_store_create(db, left, n);

		n -= done;
		memmove(left, left + done, n * sizeof(struct create *));
	}
}

static void group_round(unsigned int n)
{
	static struct group group;

	group = (struct group){ .n = n };
	crew_run(2, create_group, &group);
	for (size_t i = 0; i < GROUP; i++) {
		struct create *a = &group.sides[0].creates[i],
			      *b = &group.sides[1].creates[GROUP - 1 - i];
		enum created second = a->created == CREATED_NEW ? b->created : a->created;

		if ((a->created == CREATED_NEW) == (b->created == CREATED_NEW) ||
		    second != (i % 2 ? CREATED_KEY_REUSED : CREATED_REPLAYED) ||
		    !id_equal(&a->job.id, &b->job.id))
			fail_msg("%s: %d and %d", group.sides[0].keys[i], a->created, b->created);
		job_release(&a->job);
		job_release(&b->job);
	}
	assert_int_equal(
		raw_number("SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'g%u-%%'", n),
		GROUP);
}

static void groups_of_creates_at_two_nodes_share_their_keys(void **state)
{
	(void)state;
	nodes_until_they_met(group_round);
}

/* --- a key that is created here and cancelled there */

struct crossed {
	char key[32];
	enum created created;
	enum changed changed;
};

static void create_or_cancel(struct db *db, size_t index, void *arg)
{
	struct crossed *c = arg;
	struct caller ann = caller_with("ann-token");
	struct identity who = user_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct idempotency_key key = key_of(c->key);
	struct id id = clock_id();
	struct job job;

	if (index)
		c->changed = job_store_cancel_key(db, &who, &key, &id, clock_real_us(), &job);
	else
		c->created = create(db, &ann, c->key, &intent, &job);
	job_release(&job);
}

static void crossed_round(unsigned int n)
{
	struct crossed c;

	snprintf(c.key, sizeof c.key, "c%u", n);
	crew_run(2, create_or_cancel, &c);
	bool created_first = c.created == CREATED_NEW && c.changed == CHANGED_DONE;
	bool cancelled_first =
		c.created == CREATED_INTENT_CANCELLED && c.changed == CHANGED_TOMBSTONE;

	if (!created_first && !cancelled_first)
		fail_msg("created %d, cancelled %d", c.created, c.changed);
	assert_string_equal(raw_text("SELECT GROUP_CONCAT(state) FROM jobs WHERE idempotency_key = "
				     "'%s'",
				     c.key),
			    "cancelled");
}

static void a_key_that_is_cancelled_at_another_node_is_created_or_not(void **state)
{
	(void)state;
	nodes_until_they_met(crossed_round);
}

/* --- settling */

struct settle_two {
	struct id attempts[2];
	enum settled verdicts[2];
	enum rc rcs[2];
};

static void settle_one(struct db *db, size_t index, void *arg)
{
	struct settle_two *s = arg;
	struct word word = result_of(&s->attempts[index], index ? "{\"b\":1}" : "{\"a\":1}");

	s->rcs[index] = settle_words(db, &word, 1, &s->verdicts[index]);
}

/* In odd rounds each brings the result of an attempt of its own, the first being released. */
static void settle_round(unsigned int n)
{
	struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 + n % 2 });
	struct settle_two s;

	s.attempts[0] = attempt_new((struct an_attempt){
		.job = &job, .state = n % 2 ? ATTEMPT_RELEASED : ATTEMPT_RUNNING });
	s.attempts[1] = s.attempts[0];
	if (n % 2)
		s.attempts[1] = attempt_new(
			(struct an_attempt){ .job = &job, .number = 2, .state = ATTEMPT_RUNNING });
	crew_run(2, settle_one, &s);
	assert_int_equal(s.rcs[0], RC_OK);
	assert_int_equal(s.rcs[1], RC_OK);
	size_t winner = s.verdicts[0] == SETTLED_MADE ? 0 : 1;
	enum settled want = n % 2 ? SETTLED_LOST : SETTLED_LATE;

	if (s.verdicts[winner] != SETTLED_MADE || s.verdicts[!winner] != want)
		fail_msg("%d and %d", s.verdicts[0], s.verdicts[1]);
	job_is(&job, "succeeded", 1);
	assert_string_equal(raw_text("SELECT result FROM jobs WHERE id = %s", x(&job)),
			    winner ? "{\"b\":1}" : "{\"a\":1}");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM races WHERE job_id = %s", x(&job)), 1);
	assert_int_equal(raw_number("SELECT total FROM counters"), n + 1);
}

static void one_result_wins_and_the_other_is_a_race(void **state)
{
	(void)state;
	nodes_until_they_met(settle_round);
}

/* Two operators disagree. */
struct operators {
	struct id attempt;
	enum changed changed[2];
};

static void settle_by_hand(struct db *db, size_t index, void *arg)
{
	struct operators *o = arg;
	struct word word = word_of(&o->attempt, index ? ON_FAILURE : ON_RELEASE);
	struct refusal refusal;
	struct job job;

	word.reason = REASON_OPERATOR;
	word.who = "op";
	o->changed[index] = settle_by_operator(db, &word, NULL, &job, &refusal);
	job_release(&job);
}

static void operators_round(unsigned int n)
{
	struct id job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 1 });
	struct operators o = { .attempt = attempt_new((struct an_attempt){
				       .job = &job, .state = ATTEMPT_UNKNOWN }) };

	(void)n;
	crew_run(2, settle_by_hand, &o);
	/* A release and then a failure is one after the other; the other way round it is refused.
	 */
	bool failed_first = o.changed[0] == CHANGED_ATTEMPT_SETTLED && o.changed[1] == CHANGED_DONE;

	if (!failed_first && (o.changed[0] != CHANGED_DONE || o.changed[1] != CHANGED_DONE))
		fail_msg("%d and %d", o.changed[0], o.changed[1]);
	attempt_is(&o.attempt, "failed");
	job_is(&job, "queued", 0);
}

static void two_operators_settle_one_after_the_other(void **state)
{
	(void)state;
	nodes_until_they_met(operators_round);
}

/* --- claiming */

struct claiming_two {
	struct id pollers[2];
	struct taken *taken[2];
};

static void claim_some(struct db *db, size_t index, void *arg)
{
	struct claiming_two *c = arg;
	struct claim_cursor *cursor = calloc(1, sizeof *cursor);

	if (index) { /* the other one's turn begins with ann */
		cursor->turns_len = 1;
		strcpy(cursor->turns[0].provider, "single");
		memcpy(cursor->turns[0].owner, "ann", 3);
		cursor->turns[0].owner_len = 3;
	}
	take(db, &c->pollers[index], 4, cursor, c->taken[index]);
	free(cursor);
}

static size_t claim_at_both(struct claiming_two *c)
{
	size_t len = 0;

	for (size_t i = 0; i < 2; i++)
		c->taken[i] = calloc(1, sizeof *c->taken[i]);
	crew_run(2, claim_some, c);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(c->taken[i]->rc, RC_OK);
		len += c->taken[i]->len;
		free(c->taken[i]);
	}
	return len;
}

static struct claiming_two claiming;

static void one_at_a_time_round(unsigned int n)
{
	(void)n;
	raw_run(here.raw, "DELETE FROM jobs");
	raw_run(here.raw, "DELETE FROM attempts");
	(void)job_new((struct a_job){ .provider = "single" });
	(void)job_new((struct a_job){ .provider = "single", .owner = "bob" });
	size_t len = claim_at_both(&claiming);

	assert_int_equal(raw_number("SELECT COUNT(*) FROM attempts WHERE state = 'starting'"), len);
	if (len != 1)
		fail_msg("%zu in flight", len);
}

static void max_in_flight_holds_over_pollers_at_two_nodes(void **state)
{
	(void)state;
	provider_new("single", 1);
	claiming = (struct claiming_two){ .pollers = { poller_new(), poller_new() } };
	crew_lags = (struct crew_lags){ true, 1 };
	nodes_until_they_met(one_at_a_time_round);
}

/* --- what a claim rests on */

struct resting {
	struct id poller;
	struct taken taken;
	enum rc (*change)(struct db *db, unsigned int n);
	unsigned int n;
	enum rc rc;
	bool claimed_before;
};

/* All nodes commit in one order. So what the change's node doesn't have when the change has been
 * committed there comes after it. */
static void claim_or_change(struct db *db, size_t index, void *arg)
{
	struct resting *r = arg;
	struct claim_cursor *cursor = index ? NULL : calloc(1, sizeof *cursor);

	if (index) {
		r->rc = r->change(db, r->n);
		r->claimed_before = node_sees(db, "SELECT COUNT(*) FROM attempts") > 0;
		return;
	}
	take(db, &r->poller, 1, cursor, &r->taken);
	free(cursor);
}

static struct resting *resting;

static void cross(unsigned int n)
{
	resting->n = n;
	crew_run(2, claim_or_change, resting);
	assert_int_equal(resting->taken.rc, RC_OK);
	assert_int_equal(resting->rc, RC_OK);
}

static enum rc put_provider(struct db *db, unsigned int n)
{
	char json[128];

	snprintf(json, sizeof json, "{\"url\":\"http://%u/\"}", n);
	return provider_put(db, "press", json);
}

static void edit_round(unsigned int n)
{
	uint64_t before = raw_number("SELECT version FROM providers WHERE name = 'press'");

	raw_run(here.raw, "DELETE FROM attempts");
	raw_run(here.raw, "DELETE FROM jobs");
	(void)job_new((struct a_job){ 0 });
	cross(n);
	assert_int_equal(resting->taken.len, 1);
	if (resting->taken.claims[0].provider_version == before && !resting->claimed_before)
		fail_msg("round %u: claimed after the change, and built from the row before it", n);
}

static void a_request_is_built_from_the_providers_row_as_it_is_when_it_is_claimed(void **state)
{
	(void)state;
	resting = calloc(1, sizeof *resting);
	resting->poller = poller_new();
	resting->change = put_provider;
	crew_lags = (struct crew_lags){ true, 0 };
	nodes_until_they_met(edit_round);
	free(resting);
}

static enum rc put_contract(struct db *db, unsigned int n)
{
	struct definition_row row;
	char more[64];
	bool is_new;
	size_t unknown;

	snprintf(more, sizeof more, ", \"result_schema\": {\"maxLength\": %u}", n + 1);
	enum rc rc = contract_put(db, "sum", contract_over("press second", more), &is_new, &unknown,
				  &row);

	definition_row_release(&row);
	return rc;
}

static enum rc delete_contract(struct db *db, unsigned int n)
{
	(void)n;
	return contract_store_delete(db, "sum");
}

/* A job on its way along the second route. */
static void certificate_round(unsigned int n)
{
	raw_run(here.raw, "DELETE FROM attempts");
	raw_run(here.raw, "DELETE FROM jobs");
	raw_run(here.raw, "DELETE FROM pollers WHERE id <> %s", x(&resting->poller));
	uint32_t version = contract_new("sum", "press second", "");

	(void)certify("sum", "second", true);
	char more[96];

	snprintf(more, sizeof more, "contract = 'sum', provider = NULL, contract_version = %u",
		 version);
	(void)job_new((struct a_job){ .provider = "second", .more = more });
	resting->change = n % 2 ? delete_contract : put_contract;
	cross(n);
	if (resting->taken.len == 1 && !resting->claimed_before)
		fail_msg("round %u: claimed by a certificate after it had died", n);
}

static void no_attempt_starts_by_a_certificate_that_died_at_another_node(void **state)
{
	(void)state;
	provider_new("second", 64);
	resting = calloc(1, sizeof *resting);
	resting->poller = poller_new();
	crew_lags = (struct crew_lags){ true, 0 };
	nodes_until_they_met(certificate_round);
	free(resting);
}

/* --- reading what another node has acknowledged */

static void what_one_node_acknowledged_the_other_finds(void **state)
{
	struct db *there = node_db(1);
	struct caller ann = caller_with("ann-token");
	struct identity who = user_named("ann");
	struct intent intent = intent_of("press", "{}");
	uint64_t late = 0;
	struct job job, got;

	(void)state;
	for (unsigned int i = 0; i < 8 && late < 4; i++) {
		char key[16];

		snprintf(key, sizeof key, "r%u", i);
		assert_int_equal(db_catch_up(there), RC_OK); /* else this would do it, below */
		nodes_lag(0, 3000);
		assert_int_equal(create(here.db, &ann, key, &intent, &job), CREATED_NEW);
		late += node_number(node_raw(1), "SELECT COUNT(*) = 0 FROM jobs WHERE id = %s",
				    x(&job.id));
		if (i % 3 == 0) {
			assert_int_equal(job_store_get(there, &ann, &job.id, &got), RC_OK);
		} else if (i % 3 == 1) {
			assert_int_equal(create(there, &ann, key, &intent, &got), CREATED_REPLAYED);
			assert_true(id_equal(&got.id, &job.id));
		} else {
			assert_int_equal(job_store_cancel(there, &who, &job.id, NULL, &got),
					 CHANGED_DONE);
		}
		job_release(&job);
		job_release(&got);
	}
	assert_true(late >= 3); /* else nothing is shown */
	db_free(there);
}

static void what_one_node_was_told_of_the_other_accepts(void **state)
{
	struct db *there = node_db(1);
	struct caller new = caller_with("new-token");
	struct intent intent = intent_of("fresh", "{}");
	struct job job;

	(void)state;
	assert_int_equal(db_catch_up(there), RC_OK);
	nodes_lag(0, 3000);
	token_new("new-token", "ann", ROLE_USER);
	provider_new("fresh", 1);
	assert_int_equal(
		node_number(node_raw(1), "SELECT COUNT(*) FROM providers WHERE name = 'fresh'"), 0);
	assert_int_equal(create(there, &new, "n", &intent, &job), CREATED_NEW);
	job_release(&job);
	db_free(there);
}

/* What is decided about a row that another node has just written is decided about what it wrote. */

struct asked {
	struct db *there;
	struct identity ann;
	struct id job, attempt;
	struct job answer;
	struct refusal refusal;
};

static enum changed settled_with_a_result(struct asked *a)
{
	struct word word = result_of(&a->attempt, "{}");

	word.who = "op";
	return settle_by_operator(a->there, &word, NULL, &a->answer, &a->refusal);
}

static void write_attempt(struct asked *a)
{
	a->job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 1 });
	a->attempt = attempt_new((struct an_attempt){ .job = &a->job, .state = ATTEMPT_UNKNOWN });
}

static enum changed sent_to_another_provider(struct asked *a)
{
	return job_store_request_attempt(a->there, &a->ann, &a->job, "later", NULL, &a->answer,
					 &a->refusal);
}

static void write_provider(struct asked *a)
{
	(void)a;
	provider_new("later", 1);
}

static enum changed cancelled_as_it_is(struct asked *a)
{
	const struct if_match as_it_is = { .present = true, .len = 1, .list = { { 0, 7 } } };

	return job_store_cancel(a->there, &a->ann, &a->job, &as_it_is, &a->answer);
}

static void write_revision(struct asked *a)
{
	raw_run(here.raw, "UPDATE jobs SET revision = 7 WHERE id = %s", x(&a->job));
}

static enum changed tried_again(struct asked *a)
{
	enum changed changed = job_store_request_attempt(a->there, &a->ann, &a->job, NULL, NULL,
							 &a->answer, &a->refusal);

	return raw_number("SELECT state = 'queued' FROM jobs WHERE id = %s", x(&a->job))
		       ? changed
		       : CHANGED_JOB_SETTLED;
}

static void write_failure(struct asked *a)
{
	raw_run(here.raw, "UPDATE jobs SET state = 'failed', version = 1 WHERE id = %s",
		x(&a->job));
}

/* Its last job has ended there. */
static enum changed deleted(struct asked *a)
{
	return provider_store_delete(a->there, "used") == RC_OK ? CHANGED_DONE : CHANGED_IN_DOUBT;
}

static void write_end(struct asked *a)
{
	raw_run(here.raw, "UPDATE jobs SET state = 'cancelled' WHERE id = %s", x(&a->job));
}

static void what_is_decided_at_one_node_heeds_what_another_has_acknowledged(void **state)
{
	static const struct {
		const char *what, *provider;
		void (*write)(struct asked *a);
		enum changed (*ask)(struct asked *a);
	} rows[] = {
		{ "a result", "press", write_attempt, settled_with_a_result },
		{ "another provider", "press", write_provider, sent_to_another_provider },
		{ "If-Match", "press", write_revision, cancelled_as_it_is },
		{ "another try", "press", write_failure, tried_again },
		{ "a deletion", "used", write_end, deleted },
	};
	struct asked a = { .there = node_db(1), .ann = user_named("ann") };

	(void)state;
	provider_new("used", 1);
	for (size_t i = 0; i < ROWS(rows); i++) {
		a.job = job_new((struct a_job){ .provider = rows[i].provider });
		assert_int_equal(db_catch_up(a.there), RC_OK);
		nodes_lag(0, 3000);
		rows[i].write(&a);
		if (node_number(node_raw(1), "SELECT COUNT(*) FROM lag") ==
		    raw_number("SELECT COUNT(*) FROM lag"))
			fail_msg("%s: no node lags", rows[i].what);
		enum changed changed = rows[i].ask(&a);

		job_release(&a.answer);
		if (changed != CHANGED_DONE)
			fail_msg("%s: %d", rows[i].what, changed);
	}
	db_free(a.there);
}

/* Its applier stands still, as under a backup's lock. What it doesn't know it doesn't deny. */
static void a_node_that_lags_says_so_and_not_that_nothing_is_there(void **state)
{
	struct db *there = node_db(1);
	struct caller ann = caller_with("ann-token");
	struct id none = clock_id();
	struct job job;

	(void)state;
	raw_run(node_raw(1), "SET GLOBAL wsrep_provider_options = 'repl.causal_read_timeout=PT1S'");
	assert_int_equal(job_store_get(there, &ann, &none, &job), RC_NOT_FOUND);
	raw_run(node_raw(1), "FLUSH TABLES WITH READ LOCK");
	(void)job_new((struct a_job){ 0 });
	assert_int_equal(job_store_get(there, &ann, &none, &job), RC_RETRY);
	assert_string_equal(db_error(there),
			    "1205 Lock wait timeout exceeded; try restarting transaction");
	int64_t began_ms = clock_monotonic_ms();

	for (int i = 0; i < 10; i++) /* not waited for again and again */
		assert_int_equal(job_store_get(there, &ann, &none, &job), RC_RETRY);
	assert_true(clock_monotonic_ms() - began_ms < 5000);
	raw_run(node_raw(1), "UNLOCK TABLES");
	raw_run(node_raw(1),
		"SET GLOBAL wsrep_provider_options = 'repl.causal_read_timeout=PT30S'");
	db_free(there);
	there = node_db(1);
	assert_int_equal(job_store_get(there, &ann, &none, &job), RC_NOT_FOUND);
	db_free(there);
}

/* --- migrations */

static enum rc migrated[2];

static void migrate(struct db *db, size_t index, void *arg)
{
	struct schema_state schema;

	(void)arg;
	migrated[index] = migrate_run(db, NULL, NULL, &schema);
	if (migrated[index] == RC_OK && schema.verdict != SCHEMA_CURRENT)
		migrated[index] = RC_FAULT;
}

static void two_migrates_at_two_nodes_apply_each_once(void **state)
{
	const char *schema = "SELECT MD5(GROUP_CONCAT(table_name, column_name, column_type ORDER "
			     "BY table_name, ordinal_position)) FROM information_schema.columns "
			     "WHERE table_schema = 'onejob'";
	char before[64];

	(void)state;
	raw_run(here.raw, "DROP TABLE IF EXISTS lag");
	raw_run(here.raw, "SET SESSION group_concat_max_len = 1000000");
	snprintf(before, sizeof before, "%s", raw_text("%s", schema));
	raw_run(here.raw, "DROP DATABASE onejob");
	raw_run(here.raw, "CREATE DATABASE onejob CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
	raw_run(here.raw, "USE onejob");
	raw_run(node_raw(1), "SET SESSION wsrep_sync_wait = 15");
	(void)node_number(node_raw(1), "SELECT 1"); /* nothing else waits for the other node */
	raw_run(node_raw(1), "USE onejob");
	crew_run(2, migrate, NULL);
	assert_int_equal(migrated[0], RC_OK);
	assert_int_equal(migrated[1], RC_OK);
	assert_string_equal(raw_text("%s", schema), before);
	assert_int_equal(raw_number("SELECT COUNT(applied_at) FROM schema_migrations"),
			 raw_number("SELECT MAX(number) FROM schema_migrations"));
	assert_int_equal(
		node_number(node_raw(1), "SELECT COUNT(applied_at) FROM schema_migrations"),
		raw_number("SELECT MAX(number) FROM schema_migrations"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_key_at_two_nodes_is_one_job),
		TEST(groups_of_creates_at_two_nodes_share_their_keys),
		TEST(a_key_that_is_cancelled_at_another_node_is_created_or_not),
		TEST(one_result_wins_and_the_other_is_a_race),
		TEST(two_operators_settle_one_after_the_other),
		TEST(max_in_flight_holds_over_pollers_at_two_nodes),
		TEST(a_request_is_built_from_the_providers_row_as_it_is_when_it_is_claimed),
		TEST(no_attempt_starts_by_a_certificate_that_died_at_another_node),
		TEST(what_one_node_acknowledged_the_other_finds),
		TEST(what_one_node_was_told_of_the_other_accepts),
		TEST(what_is_decided_at_one_node_heeds_what_another_has_acknowledged),
		TEST(a_node_that_lags_says_so_and_not_that_nothing_is_there),
		cmocka_unit_test(two_migrates_at_two_nodes_apply_each_once), /* leaves nothing */
	};

	return cmocka_run_group_tests_name("together", tests, nodes_open, nodes_close);
}
