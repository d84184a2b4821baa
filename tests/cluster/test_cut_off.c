/* test_cut_off.c: a node of three that is cut off from the others, and comes back. */
#include "nodes.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/db_private.h"
#include "store/vitals.h"

#define CUT 2 /* the third */

static void cut_off(bool off)
{
	raw_run(node_raw(CUT), "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=%d'", off);
}

static void until_ready(const char *ready)
{
	char query[160];

	snprintf(query, sizeof query,
		 "SELECT COUNT(*) FROM information_schema.global_status WHERE variable_name = "
		 "'wsrep_ready' AND variable_value = '%s'",
		 ready);
	for (int i = 0; node_number(node_raw(CUT), "%s", query) == 0; i++) {
		if (i == 1200)
			fail_msg("it never became %s", ready);
		raw_run(node_raw(0), "DO SLEEP(0.1)");
	}
}

/* --- a stream of creates, across the cut */

#define KEYS 400
#define CUT_AFTER 60

struct stream {
	enum created created[KEYS];
	struct id ids[KEYS];
	_Atomic unsigned int done;
	_Atomic bool stop;
};

static enum created create_nth(struct db *db, unsigned int n, struct id *id_out)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	char key[32];
	struct job job;

	snprintf(key, sizeof key, "s%u", n);
	enum created created = create(db, &ann, key, &intent, &job);

	*id_out = job.id;
	job_release(&job);
	return created;
}

static void create_all(struct db *db, size_t index, void *arg)
{
	struct stream *s = arg;

	(void)index;
	for (unsigned int n = 0; n < KEYS && !s->stop; n++) {
		s->created[n] = create_nth(db, n, &s->ids[n]);
		s->done++;
	}
}

static struct db *of_the_cut(size_t index)
{
	(void)index;
	return node_db(CUT);
}

static void what_was_acknowledged_is_there_and_the_rest_may_be_said_again(void **state)
{
	struct stream *s = calloc(1, sizeof *s);
	unsigned int refused = 0;

	(void)state;
	crew_connect = of_the_cut;
	struct crew *crew = crew_start(1, create_all, s);

	while (s->done < CUT_AFTER)
		raw_run(node_raw(0), "DO SLEEP(0.001)");
	cut_off(true);
	until_ready("OFF");
	unsigned int at_cut = s->done;

	while (s->done < KEYS && s->done < at_cut + 3)
		raw_run(node_raw(0), "DO SLEEP(0.01)");
	s->stop = true;
	crew_join(crew);
	cut_off(false);
	until_ready("ON");
	for (unsigned int n = 0; n < s->done; n++) {
		struct id id;
		enum created again = create_nth(here.db, n, &id);

		if (s->created[n] == CREATED_NEW &&
		    (again != CREATED_REPLAYED || !id_equal(&id, &s->ids[n])))
			fail_msg("key %u was acknowledged, and then %d", n, again);
		if (s->created[n] != CREATED_NEW) {
			assert_int_equal(s->created[n], CREATED_NOT_STORED);
			assert_true(again == CREATED_NEW || again == CREATED_REPLAYED);
			refused++;
		}
	}
	assert_true(refused > 0); /* else it was never cut off */
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), s->done);
	free(s);
}

/* --- what a transaction comes to */

static enum rc write_then_cut(struct db *db, void *arg)
{
	int *rounds = arg;
	enum rc rc = db_execute(db, "UPDATE providers SET version = version + 1");

	if (rc == RC_OK && ++*rounds == 1)
		cut_off(true);
	return rc;
}

static void a_commit_in_the_cut_is_open_and_nothing_is_denied_there(void **state)
{
	struct db *db = node_db(CUT);
	struct caller ann = caller_with("ann-token");
	struct id none = clock_id(), poller = clock_id();
	struct claim_cursor cursor = { 0 };
	struct taken *taken = calloc(1, sizeof *taken);
	struct node_vitals node;
	struct job job;
	int rounds = 0;

	(void)state;
	assert_int_equal(db_transact(db, write_then_cut, &rounds), RC_UNCERTAIN);
	assert_int_equal(rounds, 1);
	until_ready("OFF");
	assert_int_equal(db_transact(db, write_then_cut, &rounds), RC_RETRY); /* it wrote nothing */
	assert_int_equal(rounds, 1);
	assert_int_equal(job_store_get(db, &ann, &none, &job), RC_RETRY);
	assert_int_equal(vitals_read_node(db, &node), RC_OK); /* it tells why */
	assert_string_equal(node.status, "non-Primary");
	take(db, &poller, 1, &cursor, taken);
	assert_int_equal(taken->rc, RC_RETRY);
	assert_int_equal(poller_renew(db, &poller, 60), RC_UNCERTAIN);
	assert_int_equal(db_errno(db), 1047);
	cut_off(false);
	until_ready("ON");
	db_free(db); /* which wouldn't wait for this node for some seconds */
	db = node_db(CUT);
	assert_int_equal(job_store_get(db, &ann, &none, &job), RC_NOT_FOUND);
	assert_int_equal(db_transact(db, write_then_cut, &rounds), RC_OK);
	assert_int_equal(vitals_read_node(db, &node), RC_OK);
	assert_string_equal(node.status, "Primary");
	assert_string_equal(node.state, "Synced");
	assert_int_equal(node.size, 3);
	assert_true(node.sound);
	free(taken);
	db_free(db);
}

/* Every statement waits there, as under a backup's lock. */
static void a_create_at_a_node_that_stands_still_ends_before_nginx_gives_up(void **state)
{
	struct db *db = node_db(CUT);
	struct id id;

	(void)state;
	assert_int_equal(db_catch_up(db), RC_OK);
	raw_run(node_raw(CUT), "FLUSH TABLES WITH READ LOCK");
	int64_t began_ms = clock_monotonic_ms();
	enum created created = create_nth(db, 0, &id);
	int64_t took_ms = clock_monotonic_ms() - began_ms;

	raw_run(node_raw(CUT), "UNLOCK TABLES");
	assert_int_equal(created, CREATED_NOT_STORED);
	assert_true(took_ms < 60000);
	db_free(db);
	db = node_db(CUT);
	created = create_nth(db, 0, &id); /* what waited may have been done since */
	assert_true(created == CREATED_NEW || created == CREATED_REPLAYED);
	db_free(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_acknowledged_is_there_and_the_rest_may_be_said_again),
		TEST(a_create_at_a_node_that_stands_still_ends_before_nginx_gives_up),
		TEST(a_commit_in_the_cut_is_open_and_nothing_is_denied_there),
	};

	return cmocka_run_group_tests_name("cut off", tests, nodes_open, nodes_close);
}
