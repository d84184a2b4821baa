/* test_certificate_races.c: a claim along a route, and what ends that route's certificate, on two
 * connections at once. */
#include "contract_kit.h"

#include "base/clock.h"

/* A contract "sum" over press and second, the latter certified. */
static void set_out(void)
{
	provider_new("second", 64);
	contract_new("sum", "press second", "");
	certify("sum", "second", true);
}

static struct id queue_for_second(void)
{
	return job_new((struct a_job){ .provider = "second",
				       .more = "contract = 'sum', provider = NULL, "
					       "contract_version = 1" });
}

/* A change on another connection, while a claim has read the certificate and hasn't committed. */
struct crossing {
	enum rc (*change)(struct db *db);
	enum rc rc;
};

static void change_it(struct db *db, size_t index, void *arg)
{
	struct crossing *crossing = arg;

	(void)index;
	do
		crossing->rc = crossing->change(db);
	while (crossing->rc == RC_RETRY);
}

static enum rc put_routes(struct db *db, const char *providers)
{
	struct definition_row row;
	bool is_new;
	size_t unknown;
	enum rc rc = contract_put(db, "sum", contract_over(providers, ", \"result_schema\": {}"),
				  &is_new, &unknown, &row);

	definition_row_release(&row);
	return rc;
}

static enum rc edit_it(struct db *db)
{
	return put_routes(db, "press second");
}

static enum rc drop_the_route(struct db *db)
{
	return put_routes(db, "press");
}

static enum rc delete_it(struct db *db)
{
	return contract_store_delete(db, "sum");
}

static enum rc change_the_provider(struct db *db)
{
	return provider_put(db, "second", "{\"url\":\"http://b/\"}");
}

static struct id judge;
static struct certify_task *task;

static void take_a_run(void)
{
	const char *provider = "second";
	const struct certify_order order = { "sum", &provider, 1, true };
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	uint32_t version;
	size_t len, unknown;

	judge = poller_new();
	assert_int_equal(certify_store_ask(here.db, &order, &version, providers, &len, &unknown),
			 CERTIFY_ASKED);
	assert_int_equal(certify_store_take(here.db, &judge, 1, &task, &len), RC_OK);
	assert_int_equal(len, 1);
}

static enum rc judge_it(struct db *db)
{
	return certify_store_end(db, &judge, task, false, "[]", 2);
}

static void claim_it(struct db *db, size_t index, void *arg)
{
	struct id poller = clock_id();
	struct claim_cursor cursor = { 0 };
	struct taken *taken = arg;

	(void)index;
	taken->rc = poller_register(db, &poller, "host", 1, 60);
	if (taken->rc == RC_OK)
		take(db, &poller, 1, &cursor, taken);
}

static const char *all_changes(void)
{
	return raw_text("SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(version, live) FROM "
			"contracts), (SELECT GROUP_CONCAT(version) FROM providers), (SELECT "
			"COUNT(died_at) + COUNT(*) FROM certificates))");
}

/* What the claim is about to write waits for `other`; so must the change wait for the claim. */
static void cross(enum rc (*change)(struct db *db), struct taken *taken)
{
	struct id job = queue_for_second(), id = clock_id();
	struct crossing crossing = { change, RC__MAX };
	const char *before = all_changes();
	MYSQL *other = testdb_raw();

	raw_run(here.raw, "DO SLEEP(0.12)"); /* what raw_until() saw the last time is forgotten */
	raw_run(other, "START TRANSACTION");
	raw_run(other,
		"INSERT INTO attempts SET id = %s, job_id = %s, number = 1, provider = 'x', "
		"provider_version = 1, generation = 0, state = 'failed', version_read = 0, "
		"started_at = NOW(6)",
		x(&id), x(&job));
	struct crew *claimer = crew_start(1, claim_it, taken);

	raw_until(1, LOCK_WAITS);
	struct crew *changer = crew_start(1, change_it, &crossing);

	raw_until(2, LOCK_WAITS);
	assert_string_equal(all_changes(), before);
	raw_run(other, "ROLLBACK");
	crew_join(claimer);
	crew_join(changer);
	mysql_close(other);
	assert_int_equal(crossing.rc, RC_OK);
	assert_string_not_equal(all_changes(), before);
}

/* Where the machine is so slow that the claim gave up its wait and began anew, the change may come
 * first: once more. */
static void whichever_of_a_claim_and_a_change_commits_first_decides(void **state)
{
	static enum rc (*const changes[])(struct db * db) = { edit_it, drop_the_route, delete_it,
							      change_the_provider, judge_it };
	static struct taken taken;

	(void)state;
	for (size_t i = 0; i < ROWS(changes); i++) {
		taken.len = 0;
		for (int round = 0; taken.len == 0 && round < 5; round++) {
			testdb_empty(NULL);
			set_out();
			take_a_run();
			cross(changes[i], &taken);
			certify_task_release(task);
			free(task);
		}
		if (taken.rc != RC_OK || taken.len != 1 || !taken.claims[0].has_certificate)
			fail_msg("change %zu: code %d, %zu claims", i, (int)taken.rc, taken.len);
	}
}

/* And a claim that comes while the change isn't committed goes nowhere, or before it. */
static void no_claim_goes_along_a_certificate_that_a_committed_edit_has_ended(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		static struct taken taken;
		struct crossing crossing = { drop_the_route, RC__MAX };

		testdb_empty(NULL);
		set_out();
		queue_for_second();
		struct crew *changer = crew_start(1, change_it, &crossing);

		claim_it(here.db, 0, &taken);
		uint64_t edited = raw_number("SELECT version FROM contracts");

		crew_join(changer);
		assert_int_equal(crossing.rc, RC_OK);
		if (taken.len == 1 && strcmp(taken.claims[0].provider, "second") == 0)
			assert_int_equal(
				raw_number("SELECT a.started_at <= c.died_at FROM attempts a JOIN "
					   "certificates c ON c.id = a.certificate_id"),
				1);
		else if (edited == 2 && taken.len == 1)
			assert_string_equal(taken.claims[0].provider, "press");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whichever_of_a_claim_and_a_change_commits_first_decides),
		TEST(no_claim_goes_along_a_certificate_that_a_committed_edit_has_ended),
	};

	return cmocka_run_group_tests_name("certificate races", tests, testdb_open, testdb_close);
}
