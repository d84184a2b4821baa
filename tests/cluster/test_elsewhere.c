/* test_elsewhere.c: what a poller, a purge or an operator at one node takes, ends or decides, while
 * another node does the same or changes what it is decided by. */
#include "nodes.h"

#include <sched.h>
#include <stdio.h>

#include "../store/contract_kit.h"
#include "base/clock.h"
#include "store/ask.h"
#include "store/outbox_take.h"
#include "store/webhook_store.h"

#define PLAIN "{\"url\":\"http://localhost/\"}"
#define KEYS "{\"url\":\"http://localhost/\",\"idempotency\":{\"honoured\":true}}"
#define STATUS                                                                                     \
	"{\"url\":\"http://localhost/\",\"status\":{\"url\":\"http://localhost/s\",\"state\":"     \
	"\"/s\",\"map\":{\"d\":\"succeeded\"},\"result\":\"/r\"}}"
#define ASKED_ONCE "asked = 1, next_ask_at = NOW(6) - INTERVAL 1 SECOND"
#define DAY 86400

static struct id pollers[2];

static void pollers_new(void)
{
	for (size_t i = 0; i < 2; i++)
		pollers[i] = poller_new();
}

/* --- questions, and the same request sent again */

struct asking {
	struct id job, attempt;
	bool resends; /* the provider has no status query, but honours keys */
	enum rc rcs[2];
	size_t lens[2]; /* questions */
	enum changed changed;
};

static void in_doubt(struct asking *a, unsigned int n)
{
	*a = (struct asking){ .resends = n % 2 };
	raw_run(here.raw, "DELETE FROM attempts");
	raw_run(here.raw, "DELETE FROM jobs");
	raw_run(here.raw, "UPDATE providers SET definition = '%s'", a->resends ? KEYS : STATUS);
	a->job = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 1 });
	a->attempt = attempt_new((struct an_attempt){
		.job = &a->job, .state = ATTEMPT_UNKNOWN, .more = ASKED_ONCE });
}

static void ask_about_it(struct db *db, size_t index, void *arg)
{
	struct asking *a = arg;
	struct ask_turns turns = { .share = ASK_MAX };
	struct ask_list asks;

	a->rcs[index] = ask_take(db, &pollers[index], 60, ASK_MAX, &turns, &asks);
	a->lens[index] = asks.len;
	ask_list_free(&asks);
}

static void ask_round(unsigned int n)
{
	struct asking a;

	in_doubt(&a, n);
	crew_run(2, ask_about_it, &a);
	assert_int_equal(a.rcs[0], RC_OK);
	assert_int_equal(a.rcs[1], RC_OK);
	if (a.lens[0] + a.lens[1] != 1)
		fail_msg("round %u: %zu and %zu questions", n, a.lens[0], a.lens[1]);
	assert_string_equal(raw_text("SELECT CONCAT(asked, ' ', resent) FROM attempts"),
			    a.resends ? "2 1" : "2 0");
}

static void one_of_two_pollers_asks_or_sends_again(void **state)
{
	(void)state;
	pollers_new();
	nodes_until_they_met(ask_round);
}

static void release_or_send_again(struct db *db, size_t index, void *arg)
{
	struct asking *a = arg;
	struct word word = word_of(&a->attempt, ON_RELEASE);
	struct refusal refusal;
	struct job job;

	if (index == 1) {
		ask_about_it(db, index, a);
		return;
	}
	word.reason = REASON_OPERATOR;
	word.who = "op";
	a->changed = settle_by_operator(db, &word, NULL, &job, &refusal);
	job_release(&job);
}

static void release_round(unsigned int n)
{
	struct asking a;

	(void)n;
	in_doubt(&a, 1);
	crew_run(2, release_or_send_again, &a);
	assert_int_equal(a.rcs[1], RC_OK);
	enum changed want = a.lens[1] == 1 ? CHANGED_IN_DOUBT : CHANGED_DONE;

	if (a.changed != want)
		fail_msg("%zu sent again, and the release is %d", a.lens[1], a.changed);
	job_is(&a.job, a.lens[1] == 1 ? "unknown" : "queued", 0);
	assert_int_equal(raw_number("SELECT resent FROM attempts"), a.lens[1]);
}

static void what_goes_out_again_is_not_released_at_another_node(void **state)
{
	(void)state;
	pollers_new();
	nodes_until_they_met(release_round);
}

static void claim_or_send_again(struct db *db, size_t index, void *arg)
{
	struct asking *a = arg;
	struct claim_cursor *cursor = calloc(1, sizeof *cursor);
	struct taken *taken = calloc(1, sizeof *taken);

	if (index == 1) {
		ask_about_it(db, index, a);
	} else {
		take(db, &pollers[0], 4, cursor, taken);
		a->rcs[0] = taken->rc;
		a->lens[0] = taken->len;
	}
	free(cursor);
	free(taken);
}

static void in_flight_round(unsigned int n)
{
	struct asking a;

	(void)n;
	in_doubt(&a, 1);
	(void)job_new((struct a_job){ .owner = "bob" });
	crew_run(2, claim_or_send_again, &a);
	assert_int_equal(a.rcs[0], RC_OK);
	assert_int_equal(a.rcs[1], RC_OK);
	if (a.lens[0] + a.lens[1] != 1)
		fail_msg("%zu sent, and %zu sent again", a.lens[0], a.lens[1]);
}

static void max_in_flight_holds_between_a_claim_and_what_is_sent_again(void **state)
{
	(void)state;
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 1");
	pollers_new();
	nodes_until_they_met(in_flight_round);
}

/* --- certifications */

struct certifying {
	bool asks; /* else it has been asked for */
	const char *route;
	enum certify_asked asked[2];
	enum rc rcs[2];
	struct certify_task *tasks[2];
	size_t lens[2];
	enum rc (*change)(struct db *db, unsigned int n);
	unsigned int n;
};

static enum certify_asked ask_for(struct db *db, const char *route)
{
	const struct certify_order order = { "sum", &route, 1, true };
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	uint32_t version;
	size_t len, unknown;

	return certify_store_ask(db, &order, &version, providers, &len, &unknown);
}

static void tasks_free(struct certifying *c)
{
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < c->lens[i]; k++)
			certify_task_release(&c->tasks[i][k]);
		free(c->tasks[i]);
	}
}

static void take_the_run(struct db *db, size_t index, void *arg)
{
	struct certifying *c = arg;

	c->asked[index] = c->asks ? ask_for(db, c->route) : CERTIFY_ASKED;
	c->rcs[index] =
		certify_store_take(db, &pollers[index], 4, &c->tasks[index], &c->lens[index]);
	if (c->rcs[index] == RC_OK && c->lens[index] == 1)
		c->rcs[index] = certify_store_progress(db, &pollers[index], c->tasks[index], 1);
}

static void run_round(unsigned int n)
{
	struct certifying c = { .asks = n % 2, .route = "second" };

	raw_run(here.raw, "DELETE FROM certify_runs");
	if (!c.asks)
		assert_int_equal(ask_for(here.db, c.route), CERTIFY_ASKED);
	crew_run(2, take_the_run, &c);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(c.asked[i], CERTIFY_ASKED);
		assert_int_equal(c.rcs[i], RC_OK);
	}
	if (c.lens[0] + c.lens[1] != 1)
		fail_msg("round %u: %zu and %zu are at it", n, c.lens[0], c.lens[1]);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certify_runs"), 1);
	assert_int_equal(
		raw_number("SELECT claimed_by = %s FROM certify_runs", x(&pollers[c.lens[1]])), 1);
	tasks_free(&c);
}

static void one_of_two_pollers_takes_a_certification(void **state)
{
	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press second", "");
	pollers_new();
	nodes_until_they_met(run_round);
}

/* The first one's lease is over. */
static void end_or_take_over(struct db *db, size_t index, void *arg)
{
	struct certifying *c = arg;

	if (index == 0)
		c->rcs[0] = certify_store_end(db, &pollers[0], c->tasks[0], true, "[]", 2);
	else
		take_the_run(db, index, c);
}

static void take_run(struct certifying *c)
{
	assert_int_equal(ask_for(here.db, c->route), CERTIFY_ASKED);
	assert_int_equal(certify_store_take(here.db, &pollers[0], 1, &c->tasks[0], &c->lens[0]),
			 RC_OK);
	assert_int_equal(c->lens[0], 1);
}

static void take_over_round(unsigned int n)
{
	struct certifying c = { .route = "second" };

	(void)n;
	raw_run(here.raw, "DELETE FROM certify_runs");
	raw_run(here.raw, "DELETE FROM certificates");
	pollers_new();
	take_run(&c);
	raw_run(here.raw,
		"UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE id = %s",
		x(&pollers[0]));
	crew_run(2, end_or_take_over, &c);
	assert_int_equal(c.rcs[1], RC_OK);
	if (c.rcs[0] != (c.lens[1] == 1 ? RC_NOT_FOUND : RC_OK))
		fail_msg("%zu took it over, and its end is %d", c.lens[1], c.rcs[0]);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates"), c.lens[1] == 0);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certify_runs"), c.lens[1]);
	tasks_free(&c);
}

static void a_run_that_was_taken_over_gets_no_verdict_from_the_one_before(void **state)
{
	(void)state;
	provider_new("second", 64);
	contract_new("sum", "press second", "");
	nodes_until_they_met(take_over_round);
}

/* --- a verdict, and what it proves */

static enum rc put_contract(struct db *db, unsigned int n)
{
	struct definition_row row;
	char more[64];
	bool is_new;
	size_t unknown;

	snprintf(more, sizeof more, ", \"result_schema\": {\"maxLength\": %u}", n + 1);
	enum rc rc =
		contract_put(db, "sum", contract_over(n % 4 < 2 ? "press second" : "other", more),
			     &is_new, &unknown, &row);

	definition_row_release(&row);
	return rc;
}

static enum rc delete_contract(struct db *db, unsigned int n)
{
	(void)n;
	return contract_store_delete(db, "sum");
}

static enum rc put_provider(struct db *db, unsigned int n)
{
	char json[128];

	snprintf(json, sizeof json, "{\"url\":\"http://%u/\"}", n);
	return provider_put(db, n % 2 ? "second" : "press", json);
}

static void end_or_change(struct db *db, size_t index, void *arg)
{
	struct certifying *c = arg;

	if (index == 0)
		c->rcs[0] = certify_store_end(db, &pollers[0], c->tasks[0], true, "[]", 2);
	else
		c->rcs[1] = c->change(db, c->n);
}

#define LIVING_WRONGLY                                                                             \
	"SELECT COUNT(*) FROM certificates c WHERE c.newest = 1 AND c.died_at IS NULL AND NOT "    \
	"EXISTS (SELECT 1 FROM contracts k JOIN providers p ON p.name = c.provider AND p.version " \
	"= c.provider_version WHERE k.name = c.contract AND k.version = c.contract_version AND "   \
	"k.live = 1)"

static void verdict_round(unsigned int n)
{
	static enum rc (*const changes[])(
		struct db *, unsigned int) = { put_contract, delete_contract, put_provider };
	struct certifying c = { .route = n % 2 ? "second" : "press",
				.n = n,
				.change = changes[n % 3] };

	crew_lags.node = n / 3 % 2;
	raw_run(here.raw, "DELETE FROM certify_runs");
	contract_new("sum", "press second", "");
	take_run(&c);
	crew_run(2, end_or_change, &c);
	assert_int_equal(c.rcs[0], RC_OK);
	assert_int_equal(c.rcs[1], RC_OK);
	if (raw_number(LIVING_WRONGLY) > 0)
		fail_msg("round %u: a certificate lives on of what is there no more", n);
	tasks_free(&c);
}

static void no_certificate_outlives_what_it_proves_when_that_changes_at_another_node(void **state)
{
	(void)state;
	provider_new("second", 64);
	provider_new("other", 64);
	pollers_new();
	crew_lags = (struct crew_lags){ true, 0 };
	nodes_until_they_met(verdict_round);
}

/* --- messages to owners */

static void endpoint_of(const char *owner, bool enabled)
{
	raw_run(here.raw,
		"INSERT INTO webhooks SET owner = '%s', url = 'https://a.example/', secrets = "
		"'[\"${env:A}\"]', enabled = %d, created_at = NOW(6), updated_at = NOW(6)",
		owner, enabled);
}

static void message_to(const char *owner)
{
	struct id id = clock_id();

	raw_run(here.raw,
		"INSERT INTO outbox SET id = %s, job_id = %s, owner = '%s', type = "
		"'job.succeeded', idempotency_key = 'k', state = 'succeeded', version = 1, next_at "
		"= "
		"NOW(6) - INTERVAL 1 SECOND, created_at = NOW(6)",
		x(&id), x(&id), owner);
}

struct telling {
	enum rc rcs[2];
	size_t lens[2];
};

static void take_messages(struct db *db, size_t index, void *arg)
{
	struct telling *t = arg;
	struct outbox_turns turns = { .busy_len = 0 };
	struct outbox_list messages;

	t->rcs[index] = outbox_take(db, OUTBOX_MAX, &turns, &messages);
	t->lens[index] = messages.len;
	outbox_list_free(&messages);
}

static void message_round(unsigned int n)
{
	struct telling t;

	(void)n;
	raw_run(here.raw, "DELETE FROM outbox");
	for (int i = 0; i < 3; i++)
		message_to("ann"); /* a poller takes two */
	message_to("bob");
	crew_run(2, take_messages, &t);
	assert_int_equal(t.rcs[0], RC_OK);
	assert_int_equal(t.rcs[1], RC_OK);
	if (raw_number("SELECT MAX(tries) FROM outbox") != 1 ||
	    raw_number("SELECT SUM(tries) FROM outbox") != t.lens[0] + t.lens[1])
		fail_msg("%zu and %zu of the messages: %s", t.lens[0], t.lens[1],
			 raw_text("SELECT GROUP_CONCAT(tries) FROM outbox"));
}

static void a_message_is_taken_by_one_of_two_pollers(void **state)
{
	(void)state;
	endpoint_of("ann", true);
	endpoint_of("bob", true);
	nodes_until_they_met(message_round);
}

/* --- purging */

struct purging {
	bool rows; /* else payloads */
	unsigned int what;
	char key[32];
	struct id job;
	enum rc rc;
	uint64_t purged, purged_too;
	enum changed changed;
	enum created created;
};

static void old_job(struct purging *p)
{
	unsigned char random[ID_RANDOM_BYTES];
	struct id id = job_new((struct a_job){
		.state = JOB_FAILED,
		.key = p->key,
		.version = 1,
		.count = 1,
		.more = "updated_at = NOW(6) - INTERVAL 10 DAY, error_reason = 'refused', "
			"fingerprint = UNHEX(SHA2('press {}', 256))" });

	clock_random(random, sizeof random);
	p->job = id_make(clock_real_us() - INTMAX_C(10) * DAY * 1000000, random);
	raw_run(here.raw, "UPDATE jobs SET id = %s WHERE id = %s", x(&p->job), x(&id));
	(void)attempt_new((struct an_attempt){
		.job = &p->job, .state = ATTEMPT_FAILED, .more = "detail = 'why'" });
}

static enum rc purge(struct db *db, bool rows, uint64_t *purged_out)
{
	return (rows ? job_store_purge_rows : job_store_purge_payloads)(db, 5 * DAY, purged_out);
}

static void purge_or_use(struct db *db, size_t index, void *arg)
{
	struct purging *p = arg;
	struct identity ann = user_named("ann");
	struct caller caller = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job = { 0 };
	struct refusal refusal;

	if (index == 0)
		p->rc = purge(db, p->rows, &p->purged);
	else if (p->what == 0)
		p->changed =
			job_store_request_attempt(db, &ann, &p->job, NULL, NULL, &job, &refusal);
	else if (p->what == 1)
		p->changed = job_store_cancel(db, &ann, &p->job, NULL, &job);
	else if (p->what == 2)
		p->created = create(db, &caller, p->key, &intent, &job);
	else if (purge(db, p->rows, &p->purged_too) != RC_OK)
		p->purged_too = 99;
	job_release(&job);
}

/* What was purged was left as it was by the other, and what the other had is whole. */
static void purge_round(unsigned int n)
{
	struct purging p = { .rows = n / 4 % 2, .what = n % 4 };

	raw_run(here.raw, "DELETE FROM outbox");
	raw_run(here.raw, "DELETE FROM attempts");
	raw_run(here.raw, "DELETE FROM jobs");
	snprintf(p.key, sizeof p.key, "p%u", n);
	old_job(&p);
	crew_run(2, purge_or_use, &p);
	assert_int_equal(p.rc, RC_OK);
	const char *is =
		raw_text("SELECT CONCAT_WS(' ', COUNT(*), MAX(state), IF(MAX(input) IS NULL, "
			 "'empty', 'whole'), (SELECT COUNT(*) FROM attempts), (SELECT "
			 "COUNT(*) FROM outbox)) FROM jobs");
	const char *want = "";

	switch (p.what) {
	case 0:
		want = p.changed == CHANGED_DONE ? "1 queued whole 1 0"
		       : p.rows			 ? "0 empty 0 0"
						 : "1 failed empty 1 0";
		break;
	case 1:
		want = p.purged == 0 ? "1 cancelled whole 1 1"
		       : p.rows	     ? "0 empty 0 0"
				     : "1 cancelled empty 1 1";
		break;
	case 2:
		want = p.created == CREATED_NEW ? "1 queued whole 0 0"
		       : p.rows			? "0 empty 0 0"
						: "1 failed empty 1 0";
		break;
	case 3: want = p.rows ? "0 empty 0 0" : "1 failed empty 1 0"; break;
	}
	if (strcmp(is, want) != 0 || p.purged + p.purged_too > 1)
		fail_msg("round %u: '%s' and not '%s'; %d %d, purged %u and %u", n, is, want,
			 p.changed, p.created, (unsigned int)p.purged, (unsigned int)p.purged_too);
}

static void what_is_purged_at_one_node_is_whole_or_gone_at_the_other(void **state)
{
	(void)state;
	endpoint_of("ann", true);
	nodes_until_they_met(purge_round);
}

/* --- a table that changes at another node */

#define WRITES 24

struct writing {
	unsigned int n;
	enum created created[WRITES];
	enum changed cancelled[WRITES];
	_Atomic unsigned int done;
	unsigned int errors[4];
};

static void write_or_alter(struct db *db, size_t index, void *arg)
{
	static const char *const alters[] = { "ADD COLUMN later INT NULL", "ADD KEY later (later)",
					      "DROP KEY later", "DROP COLUMN later" };
	struct writing *w = arg;
	struct caller ann = caller_with("ann-token");
	struct identity who = user_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct job job, ended;
	char key[32];

	for (unsigned int i = 0; index == 0 && i < WRITES; i++) {
		snprintf(key, sizeof key, "w%u-%u", w->n, i);
		w->created[i] = create(db, &ann, key, &intent, &job);
		w->cancelled[i] = job_store_cancel(db, &who, &job.id, NULL, &ended);
		job_release(&job);
		job_release(&ended);
		w->done++;
	}
	for (unsigned int i = 0; index == 1 && i < ROWS(alters); i++) {
		while (w->done < (i + 1) * WRITES / 6)
			sched_yield();
		w->errors[i] = raw_try(node_raw(1), "ALTER TABLE jobs %s", alters[i]);
	}
}

static void alter_round(unsigned int n)
{
	struct writing w = { .n = n };

	crew_run(2, write_or_alter, &w);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(w.errors[i], 0);
	for (size_t i = 0; i < WRITES; i++)
		if (w.created[i] != CREATED_NEW || w.cancelled[i] != CHANGED_DONE)
			fail_msg("round %u, %zu: %d and %d", n, i, w.created[i], w.cancelled[i]);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs WHERE state = 'cancelled'"),
			 (n + 1) * WRITES);
}

static void what_is_written_while_a_table_changes_at_another_node_is_kept(void **state)
{
	(void)state;
	nodes_until_they_met(alter_round);
}

/* --- decided by a row that another node has just changed */

struct late {
	struct db *there; /* a node that doesn't know it yet */
	struct asking asking;
	struct certifying certifying;
	struct telling telling;
};

static void no_question(struct late *l)
{
	in_doubt(&l->asking, 0);
	raw_run(here.raw, "UPDATE providers SET definition = '%s'", PLAIN);
}

static void now_a_question(struct late *l)
{
	(void)l;
	assert_int_equal(provider_put(here.db, "press", STATUS), RC_OK);
}

static void asked_there(struct late *l)
{
	ask_about_it(l->there, 1, &l->asking);
}

static void sent_again_before(struct late *l)
{
	in_doubt(&l->asking, 1);
}

static void sent_again_since(struct late *l)
{
	ask_about_it(here.db, 0, &l->asking);
	assert_int_equal(l->asking.lens[0], 1);
}

static void answered_there(struct late *l)
{
	const struct ask earlier = { .kind = ASK_RESEND,
				     .job_id = l->asking.job,
				     .attempt_id = l->asking.attempt,
				     .asked = 1 };
	const struct ask_answer answer = { .words = "earlier", .next_ms = 0 };

	assert_int_equal(ask_note(l->there, &earlier, &answer), RC_OK);
}

static void disabled(struct late *l)
{
	(void)l;
	endpoint_of("ann", false);
	message_to("ann");
}

static void enabled(struct late *l)
{
	(void)l;
	assert_int_equal(webhook_store_enable(here.db, "ann", 3), RC_OK);
}

static void taken_there(struct late *l)
{
	take_messages(l->there, 1, &l->telling);
}

static void unreadable(struct late *l)
{
	(void)l;
	endpoint_of("ann", true);
	message_to("ann");
	raw_run(here.raw, "UPDATE webhooks SET secrets = 'none'");
}

static void put_anew(struct late *l)
{
	char secret[] = "${env:A}", url[] = "https://b.example/";
	const struct webhook_def def = { .url = url, .secrets = { secret }, .secrets_len = 1 };
	bool is_new;

	(void)l;
	assert_int_equal(webhook_store_put(here.db, "ann", 3, &def, &is_new), RC_OK);
}

static void one_running(struct late *l)
{
	endpoint_of("ann", false);
	l->asking.job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
	l->asking.attempt =
		attempt_new((struct an_attempt){ .job = &l->asking.job, .state = ATTEMPT_RUNNING });
}

static void settled_there(struct late *l)
{
	struct word word = result_of(&l->asking.attempt, "{}");
	enum settled verdict;

	assert_int_equal(settle_words(l->there, &word, 1, &verdict), RC_OK);
	assert_int_equal(verdict, SETTLED_MADE);
}

static void under_way(struct late *l)
{
	contract_new("sum", "press", "");
	l->certifying = (struct certifying){ .route = "press" };
	take_run(&l->certifying);
}

static void deleted(struct late *l)
{
	(void)l;
	assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
}

static void ended_there(struct late *l)
{
	assert_int_equal(
		certify_store_end(l->there, &pollers[0], l->certifying.tasks[0], true, "[]", 2),
		RC_OK);
	tasks_free(&l->certifying);
}

static void
what_is_decided_by_a_row_that_changed_at_another_node_is_decided_by_it_as_it_is(void **state)
{
	static const struct {
		const char *what;
		void (*before)(struct late *l);
		void (*change)(struct late *l);
		void (*decide)(struct late *l);
		const char *holds;
	} rows[] = {
		{ "it can be asked about now", no_question, now_a_question, asked_there,
		  "SELECT next_ask_at IS NOT NULL FROM attempts" },
		{ "it has been sent again since", sent_again_before, sent_again_since,
		  answered_there,
		  "SELECT asked = 2 AND claimed_by IS NOT NULL AND next_ask_at > NOW(6) AND "
		  "last_answer IS NULL FROM attempts" },
		{ "a message waits, and may go", disabled, enabled, taken_there,
		  "SELECT next_at IS NOT NULL FROM outbox" },
		{ "a message comes, and may go", one_running, enabled, settled_there,
		  "SELECT next_at IS NOT NULL FROM outbox" },
		{ "a message's endpoint can be read now", unreadable, put_anew, taken_there,
		  "SELECT next_at IS NOT NULL FROM outbox" },
		{ "the contract is gone", under_way, deleted, ended_there,
		  "SELECT COUNT(died_at) FROM certificates" },
	};
	struct late l = { .there = node_db(1) };

	for (size_t i = 0; i < ROWS(rows); i++) {
		unsigned int tries = 0;
		bool late = false;

		while (!late) {
			if (tries++ == 8)
				fail_msg("%s: no node lags", rows[i].what);
			testdb_empty(state);
			pollers_new();
			rows[i].before(&l);
			assert_int_equal(db_catch_up(l.there), RC_OK);
			nodes_lag(0, 3000);
			rows[i].change(&l);
			late = node_number(node_raw(1), "SELECT COUNT(*) FROM lag") <
			       raw_number("SELECT COUNT(*) FROM lag");
			rows[i].decide(&l);
			if (raw_number("%s", rows[i].holds) != 1)
				fail_msg("not so: %s", rows[i].what);
		}
	}
	db_free(l.there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_of_two_pollers_asks_or_sends_again),
		TEST(what_goes_out_again_is_not_released_at_another_node),
		TEST(max_in_flight_holds_between_a_claim_and_what_is_sent_again),
		TEST(one_of_two_pollers_takes_a_certification),
		TEST(a_run_that_was_taken_over_gets_no_verdict_from_the_one_before),
		TEST(no_certificate_outlives_what_it_proves_when_that_changes_at_another_node),
		TEST(a_message_is_taken_by_one_of_two_pollers),
		TEST(what_is_purged_at_one_node_is_whole_or_gone_at_the_other),
		TEST(what_is_written_while_a_table_changes_at_another_node_is_kept),
		TEST(what_is_decided_by_a_row_that_changed_at_another_node_is_decided_by_it_as_it_is),
	};

	return cmocka_run_group_tests_name("elsewhere", tests, nodes_open, nodes_close);
}
