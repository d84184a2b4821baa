/* test_certify_store.c: certifications asked for, taken by one poller at a time, and ended by one
 * verdict. */
#include "contract_kit.h"

#include <stdio.h>

#include "base/clock.h"
#include "lossy.h"

static void set_out(void)
{
	provider_new("second", 64);
	assert_int_equal(provider_put(here.db, "second", "{\"url\":\"http://a/\"}"), RC_OK);
	contract_new("sum", "press second", "");
}

static enum certify_asked ask_for(struct db *db, const char *contract, const char *provider,
				  size_t *len_out)
{
	const struct certify_order order = { contract, provider ? &provider : NULL,
					     provider ? 1 : 0, false };
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	uint32_t version;
	size_t unknown;

	return certify_store_ask(db, &order, &version, providers, len_out, &unknown);
}

static void ask_for_second(void)
{
	size_t len;

	assert_int_equal(ask_for(here.db, "sum", "second", &len), CERTIFY_ASKED);
	assert_int_equal(len, 1);
}

/* What a poller gets when it asks for one. */
static bool take_run(struct db *db, const struct id *poller, struct certify_task *task_out)
{
	struct certify_task *tasks;
	size_t len;

	*task_out = (struct certify_task){ .route = NULL };
	assert_int_equal(certify_store_take(db, poller, 1, &tasks, &len), RC_OK);
	if (len == 1)
		*task_out = tasks[0];
	free(tasks);
	return len == 1;
}

static enum rc end_run(struct db *db, const struct id *poller, const struct certify_task *task)
{
	return certify_store_end(db, poller, task, true, "[]", 2);
}

static uint64_t runs(void)
{
	return raw_number("SELECT COUNT(*) FROM certify_runs");
}

static void a_certification_asked_for_twice_is_one_run(void **state)
{
	struct certify_run list[4];
	size_t len;

	(void)state;
	set_out();
	ask_for_second();
	ask_for_second();
	assert_int_equal(runs(), 1);
	assert_int_equal(ask_for(here.db, "sum", NULL, &len), CERTIFY_ASKED);
	assert_int_equal(len, 2);
	assert_int_equal(runs(), 2);
	assert_int_equal(certify_store_runs(here.db, "sum", list, ROWS(list), &len), RC_OK);
	assert_int_equal(len, 2);
	assert_string_equal(list[0].provider, "second");
	assert_true(list[0].total == 3 && list[0].done == 0 && !list[0].taken);
}

static void what_cannot_be_certified_is_refused_and_leaves_no_run(void **state)
{
	struct definition_row row;
	bool is_new;
	size_t len, unknown;

	(void)state;
	set_out();
	assert_int_equal(contract_put(here.db, "bare",
				      "{\"side_effects\":false,\"routes\":[{\"provider\":"
				      "\"press\"}]}",
				      &is_new, &unknown, &row),
			 RC_OK);
	definition_row_release(&row);
	assert_int_equal(contract_put(here.db, "pay",
				      "{\"routes\":[{\"provider\":\"press\"}],\"fixtures\":[{"
				      "\"name\":\"a\",\"input\":{},\"checks\":[{\"pointer\":\"\","
				      "\"equals\":1}]}]}",
				      &is_new, &unknown, &row),
			 RC_OK);
	definition_row_release(&row);
	contract_new("gone", "press", "");
	assert_int_equal(contract_store_delete(here.db, "gone"), RC_OK);
	assert_int_equal(ask_for(here.db, "none", NULL, &len), CERTIFY_NO_SUCH_CONTRACT);
	assert_int_equal(ask_for(here.db, "gone", NULL, &len), CERTIFY_NO_SUCH_CONTRACT);
	assert_int_equal(ask_for(here.db, "sum", "third", &len), CERTIFY_NO_SUCH_ROUTE);
	assert_int_equal(ask_for(here.db, "bare", NULL, &len), CERTIFY_NO_FIXTURES);
	assert_int_equal(ask_for(here.db, "pay", NULL, &len), CERTIFY_SIDE_EFFECTS);
	assert_int_equal(runs(), 0);
}

struct takers {
	struct id pollers[2];
	size_t got[2];
	enum rc rcs[2];
};

static void take_beside_another(struct db *db, size_t index, void *arg)
{
	struct takers *takers = arg;
	struct certify_task *tasks;

	takers->rcs[index] =
		certify_store_take(db, &takers->pollers[index], 1, &tasks, &takers->got[index]);
	for (size_t i = 0; i < takers->got[index]; i++)
		certify_task_release(&tasks[i]);
	free(tasks);
}

static void one_of_two_pollers_takes_a_run(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		testdb_empty(NULL);
		set_out();
		ask_for_second();
		struct takers takers = { .pollers = { poller_new(), poller_new() } };

		crew_run(2, take_beside_another, &takers);
		assert_true(takers.rcs[0] == RC_OK && takers.rcs[1] == RC_OK);
		assert_int_equal(takers.got[0] + takers.got[1], 1);
		assert_int_equal(raw_number("SELECT claimed_by = %s FROM certify_runs",
					    x(&takers.pollers[takers.got[1]])),
				 1);
	}
}

static void a_run_whose_poller_is_lost_is_begun_again_by_another(void **state)
{
	struct id first = poller_new(), second = poller_new();
	struct certify_task old, task;
	bool any;

	(void)state;
	set_out();
	ask_for_second();
	assert_true(take_run(here.db, &first, &old));
	assert_int_equal(certify_store_progress(here.db, &first, &old, 2), RC_OK);
	assert_int_equal(certify_store_any(here.db, &any), RC_OK);
	assert_false(any);
	assert_false(take_run(here.db, &second, &task));
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) WHERE id = %s", x(&first));
	assert_int_equal(certify_store_any(here.db, &any), RC_OK);
	assert_true(any);
	assert_true(take_run(here.db, &second, &task));
	assert_int_equal(raw_number("SELECT done FROM certify_runs"), 0);
	assert_int_equal(certify_store_progress(here.db, &first, &old, 3), RC_NOT_FOUND);
	assert_int_equal(end_run(here.db, &first, &old), RC_NOT_FOUND);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates"), 0);
	assert_int_equal(end_run(here.db, &second, &task), RC_OK);
	assert_int_equal(end_run(here.db, &second, &task), RC_NOT_FOUND); /* said twice */
	assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates"), 1);
	certify_task_release(&old);
	certify_task_release(&task);
}

static void a_run_of_a_version_that_counts_no_more_is_dropped(void **state)
{
	struct id poller = poller_new();
	struct certify_task task;

	(void)state;
	set_out();
	for (int way = 0; way < 2; way++) {
		ask_for_second();
		if (way == 0)
			contract_new("sum", "press second", ", \"result_schema\": {}");
		else
			assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
		assert_int_equal(runs(), 1);
		assert_false(take_run(here.db, &poller, &task));
		assert_int_equal(runs(), 0);
	}
}

/* Else the requests of a run go on for hours, for a verdict that is dead before it is given. */
static void an_edit_ends_a_certification_of_the_version_before_at_its_next_step(void **state)
{
	static const struct {
		const char *provider, *contract;
		enum rc goes_on;
		uint64_t left; /* to be begun anew */
	} rows[] = {
		{ NULL, NULL, RC_OK, 0 },
		{ "{\"url\":\"http://a/\",\"max_in_flight\":9}", NULL, RC_OK, 0 },
		{ "{\"url\":\"http://b/\"}", NULL, RC_NOT_FOUND, 1 },
		{ "{\"url\":\"http://a/\",\"enabled\":false}", NULL, RC_NOT_FOUND, 0 },
		{ NULL, ", \"result_schema\": {}", RC_NOT_FOUND, 0 },
		{ NULL, "", RC_NOT_FOUND, 0 }, /* deleted */
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct certify_task task;

		testdb_empty(NULL);
		struct id poller = poller_new();

		set_out();
		ask_for_second();
		assert_true(take_run(here.db, &poller, &task));
		if (rows[i].provider)
			assert_int_equal(provider_put(here.db, "second", rows[i].provider), RC_OK);
		if (rows[i].contract && rows[i].contract[0])
			contract_new("sum", "press second", rows[i].contract);
		else if (rows[i].contract)
			assert_int_equal(contract_store_delete(here.db, "sum"), RC_OK);
		for (uint32_t done = 1; done < 3; done++) /* the second finds what was followed */
			assert_int_equal(certify_store_progress(here.db, &poller, &task, done),
					 rows[i].goes_on);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certify_runs WHERE claimed_by IS "
					    "NULL AND done = 0"),
				 rows[i].left);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certify_runs WHERE done = 2"),
				 rows[i].goes_on == RC_OK);
		certify_task_release(&task);
	}
}

static void a_disabled_provider_can_be_certified_by_whoever_asks_after_that(void **state)
{
	struct id poller = poller_new();
	struct certify_task task;

	(void)state;
	set_out();
	assert_int_equal(
		provider_put(here.db, "second", "{\"url\":\"http://a/\",\"enabled\":false}"),
		RC_OK);
	ask_for_second();
	assert_true(take_run(here.db, &poller, &task));
	assert_int_equal(certify_store_progress(here.db, &poller, &task, 1), RC_OK);
	assert_int_equal(end_run(here.db, &poller, &task), RC_OK);
	certify_task_release(&task);
}

static void a_run_is_dropped_by_its_poller_alone(void **state)
{
	struct id poller = poller_new(), other = poller_new();
	struct certify_task task;

	(void)state;
	set_out();
	ask_for_second();
	assert_true(take_run(here.db, &poller, &task));
	assert_int_equal(certify_store_drop(here.db, &other, &task), RC_NOT_FOUND);
	assert_int_equal(runs(), 1);
	assert_int_equal(certify_store_drop(here.db, &poller, &task), RC_OK);
	assert_int_equal(runs(), 0);
	certify_task_release(&task);
}

static const char *verdict(void)
{
	return raw_text("SELECT CONCAT_WS(' ', passed, IF(died_at IS NULL, 'lives', 'died'), "
			"provider_version, contract_version) FROM certificates WHERE newest = 1");
}

static void a_verdict_on_what_has_changed_meanwhile_is_dead(void **state)
{
	static const struct {
		const char *provider, *contract, *want;
	} rows[] = {
		{ NULL, NULL, "1 lives 2 1" },
		{ "{\"url\":\"http://b/\"}", NULL, "1 died 3 1" },
		{ "{\"url\":\"http://a/\",\"max_in_flight\":9}", NULL, "1 lives 3 1" },
		{ NULL, ", \"result_schema\": {}", "1 died 2 1" },
		{ NULL, ", \"on_failure\": {\"refused\": \"stop\"}", "1 died 2 1" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct certify_task task;

		testdb_empty(NULL);
		struct id poller = poller_new();

		set_out();
		ask_for_second();
		assert_true(take_run(here.db, &poller, &task));
		if (rows[i].provider)
			assert_int_equal(provider_put(here.db, "second", rows[i].provider), RC_OK);
		if (rows[i].contract)
			contract_new("sum", "press second", rows[i].contract);
		assert_int_equal(end_run(here.db, &poller, &task), RC_OK);
		certify_task_release(&task);
		assert_string_equal(verdict(), rows[i].want);
	}
}

static void a_verdict_whose_commit_was_not_heard_is_written_once(void **state)
{
	static const struct {
		enum lossy lose;
		enum rc again;
	} rows[] = { { LOSE_COMMIT, RC_OK }, { LOSE_COMMIT_ANSWER, RC_NOT_FOUND } };

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct certify_task task;
		struct db *db = db_new(lossy_open());

		testdb_empty(NULL);
		struct id poller = poller_new();

		set_out();
		certify("sum", "second", false);
		ask_for_second();
		assert_true(take_run(here.db, &poller, &task));
		lossy_arm(rows[i].lose, 0, 1);
		assert_int_equal(end_run(db, &poller, &task), RC_UNCERTAIN);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates WHERE newest = 1"),
				 1);
		assert_int_equal(end_run(here.db, &poller, &task), rows[i].again);
		assert_string_equal(verdict(), "1 lives 2 1");
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates"), 2);
		assert_int_equal(runs(), 0);
		certify_task_release(&task);
		db_free(db);
	}
}

static void an_edit_whose_commit_was_not_heard_carries_over_once(void **state)
{
	static const enum lossy ways[] = { LOSE_COMMIT, LOSE_COMMIT_ANSWER };
	const char *json = contract_over("press second", ", \"on_failure\": {\"refused\": "
							 "\"stop\"}");

	(void)state;
	for (size_t i = 0; i < ROWS(ways); i++) {
		struct db *db = db_new(lossy_open());
		struct definition_row row;
		bool is_new;
		size_t unknown;

		testdb_empty(NULL);
		set_out();
		certify("sum", "second", true);
		lossy_arm(ways[i], 0, 1);
		assert_int_equal(contract_put(db, "sum", json, &is_new, &unknown, &row),
				 RC_UNCERTAIN);
		assert_int_equal(contract_put(here.db, "sum", json, &is_new, &unknown, &row),
				 RC_OK);
		assert_int_equal(row.version, 2);
		definition_row_release(&row);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates WHERE newest = 1 "
					    "AND died_at IS NULL AND contract_version = 2"),
				 1);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates"), 2);
		db_free(db);
	}
}

/* It may be this poller's without its knowing: it is told so, and gives its lease up. */
static void a_run_whose_taking_was_not_heard_is_not_called_nothing(void **state)
{
	(void)state;
	for (int others = 0; others < 2; others++) {
		struct db *db = db_new(lossy_open());
		struct certify_task *tasks;
		size_t len;

		testdb_empty(NULL);
		struct id poller = poller_new();

		set_out();
		ask_for_second();
		if (others)
			assert_int_equal(ask_for(here.db, "sum", "press", &len), CERTIFY_ASKED);
		lossy_arm(LOSE_COMMIT_ANSWER, others, 1);
		assert_int_equal(certify_store_take(db, &poller, 2, &tasks, &len), RC_UNCERTAIN);
		assert_int_equal(len, others);
		for (size_t i = 0; i < len; i++)
			certify_task_release(&tasks[i]);
		free(tasks);
		db_free(db);
	}
}

static void the_newest_verdict_of_the_version_that_counts_is_listed(void **state)
{
	struct certificate_filter filter = { .limit = 1 };
	struct certificate *list;
	size_t len;
	bool more;

	(void)state;
	set_out();
	certify("sum", "second", false);
	certify("sum", "second", true);
	pass_a_millisecond();
	certify("sum", "press", false);
	assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more), RC_OK);
	assert_true(len == 1 && more && strcmp(list[0].provider, "press") == 0 && !list[0].passed &&
		    list[0].now == STANDING_FAILED);
	filter.has_before = true;
	filter.before = list[0].id;
	certificate_list_free(list, len);
	assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more), RC_OK);
	assert_true(len == 1 && !more && strcmp(list[0].provider, "second") == 0 &&
		    list[0].passed && list[0].now == STANDING_VALID);
	certificate_list_free(list, len);
	filter = (struct certificate_filter){ .has_valid = true, .valid = true, .limit = 9 };
	assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more), RC_OK);
	assert_true(len == 1 && strcmp(list[0].provider, "second") == 0);
	certificate_list_free(list, len);
	contract_new("sum", "press second", ", \"result_schema\": {}");
	filter = (struct certificate_filter){ .limit = 9 };
	assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more), RC_OK);
	assert_int_equal(len, 0);
	certificate_list_free(list, len);
}

/* Verdict `place` on a contract of its own, with a report of that many bytes. */
static void long_verdict(int place, size_t bytes)
{
	raw_run(here.raw, "INSERT INTO contracts VALUES ('long%d', 1, 1, 'press', NOW(6), NOW(6))",
		place);
	raw_run(here.raw,
		"INSERT INTO certificates (id, contract, contract_version, provider, "
		"provider_version, rule_version, subject, passed, rounds, report, issued_at, "
		"expires_at) VALUES (UNHEX(LPAD(HEX(%d), 32, '0')), 'long%d', 1, 'press', 1, 1, "
		"REPEAT('s', 32), 1, 3, REPEAT(' ', %zu), NOW(6), NOW(6))",
		place, place, bytes);
}

/* Newest first: one that is more than a page by itself; two and two; the last. */
static void a_page_of_long_reports_is_cut_short(void **state)
{
	static const size_t want[] = { 1, 2, 2, 1 };
	struct certificate_filter filter = { .limit = 50 };
	uint8_t next = 6;

	(void)state;
	for (int place = 1; place <= 6; place++)
		long_verdict(place, place == 6 ? 9u << 20 : 3u << 20);
	for (size_t page = 0; page < ROWS(want); page++) {
		struct certificate *list;
		size_t len;
		bool more;

		assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more),
				 RC_OK);
		assert_int_equal(len, want[page]);
		assert_int_equal(more, page + 1 < ROWS(want));
		for (size_t i = 0; i < len; i++)
			assert_int_equal(list[i].id.bytes[15], next--);
		filter.has_before = true;
		filter.before = list[len - 1].id;
		certificate_list_free(list, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_certification_asked_for_twice_is_one_run),
		TEST(what_cannot_be_certified_is_refused_and_leaves_no_run),
		TEST(one_of_two_pollers_takes_a_run),
		TEST(a_run_whose_poller_is_lost_is_begun_again_by_another),
		TEST(a_run_of_a_version_that_counts_no_more_is_dropped),
		TEST(an_edit_ends_a_certification_of_the_version_before_at_its_next_step),
		TEST(a_disabled_provider_can_be_certified_by_whoever_asks_after_that),
		TEST(a_run_is_dropped_by_its_poller_alone),
		TEST(a_verdict_on_what_has_changed_meanwhile_is_dead),
		TEST(a_verdict_whose_commit_was_not_heard_is_written_once),
		TEST(an_edit_whose_commit_was_not_heard_carries_over_once),
		TEST(a_run_whose_taking_was_not_heard_is_not_called_nothing),
		TEST(the_newest_verdict_of_the_version_that_counts_is_listed),
		TEST(a_page_of_long_reports_is_cut_short),
	};

	return cmocka_run_group_tests_name("certify", tests, testdb_open, testdb_close);
}
