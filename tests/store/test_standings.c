/* test_standings.c: how the routes of the contracts that count now stand. */
#include "testdb.h"

#include <stdio.h>

#include "store/certificate_store.h"

#define MAX 8

static int empty(void **state)
{
	static const char *const tables[] = { "certificates", "contract_routes",
					      "contract_versions", "contracts" };

	for (size_t i = 0; i < ROWS(tables); i++)
		raw_run(here.raw, "DELETE FROM %s", tables[i]);
	return testdb_empty(state);
}

static void contract_new(const char *name, unsigned int version, bool live)
{
	raw_run(here.raw, "REPLACE INTO contracts VALUES ('%s', %u, %d, 'press', NOW(6), NOW(6))",
		name, version, live);
}

static void route_new(const char *name, unsigned int version, unsigned int place,
		      const char *provider)
{
	raw_run(here.raw, "INSERT INTO contract_routes VALUES ('%s', %u, %u, '%s')", name, version,
		place, provider);
}

/* `set`: assignments that make it another than a valid one of two days; "" for none. */
static void certificate_new(const char *name, unsigned int version, const char *provider,
			    const char *set)
{
	raw_run(here.raw,
		"INSERT INTO certificates SET id = UNHEX(MD5(RAND())), contract = '%s', "
		"contract_version = %u, provider = '%s', provider_version = 1, rule_version = %d, "
		"subject = REPEAT('s', 32), passed = 1, rounds = 3, report = '[]', issued_at = "
		"NOW(6), expires_at = NOW(6) + INTERVAL 2 DAY",
		name, version, provider, CONTRACT_RULE_VERSION);
	if (set[0])
		raw_run(here.raw, "UPDATE certificates SET %s", set);
}

static struct route_standing only_one(const char *contract)
{
	struct route_standing list[MAX];
	size_t len;
	bool more;

	assert_int_equal(
		certificate_store_standings(here.db, contract, 86400, list, MAX, &len, &more),
		RC_OK);
	assert_int_equal(len, 1);
	assert_false(more);
	return list[0];
}

static void a_route_stands_as_its_newest_verdict_does_now(void **state)
{
	static const struct {
		const char *set; /* NULL: no verdict */
		enum standing now;
		bool expiring;
	} rows[] = {
		{ NULL, STANDING_NOT_CERTIFIED, false },
		{ "", STANDING_VALID, false },
		{ "expires_at = NOW(6) + INTERVAL 1 HOUR", STANDING_VALID, true },
		{ "expires_at = NOW(6)", STANDING_EXPIRED, true },
		{ "died_at = NOW(6)", STANDING_SUBJECT_CHANGED, false },
		{ "provider_version = 2", STANDING_SUBJECT_CHANGED, false },
		{ "rule_version = 0", STANDING_SUBJECT_CHANGED, false },
		{ "passed = 0", STANDING_FAILED, false },
		{ "superseded_at = NOW(6)", STANDING_NOT_CERTIFIED, false },
		{ "contract_version = 1", STANDING_NOT_CERTIFIED, false },
		{ "provider = 'other'", STANDING_NOT_CERTIFIED, false },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		empty(NULL);
		contract_new("sum", 2, true);
		route_new("sum", 2, 1, "press");
		if (rows[i].set)
			certificate_new("sum", 2, "press", rows[i].set);
		struct route_standing route = only_one("sum");

		if (route.now != rows[i].now || route.expiring != rows[i].expiring ||
		    (route.expires_us != 0) !=
			    (rows[i].set && rows[i].now != STANDING_NOT_CERTIFIED))
			fail_msg("row %zu: %d, %d", i, route.now, route.expiring);
		assert_string_equal(route.contract, "sum");
		assert_string_equal(route.provider, "press");
		assert_int_equal(route.place, 1);
	}
	raw_run(here.raw, "UPDATE certificates SET contract_version = 2, provider = 'press'");
	raw_run(here.raw, "UPDATE providers SET enabled = 0");
	assert_int_equal(only_one("sum").now, STANDING_DISABLED);
}

static void routes_come_by_contract_in_order_and_only_of_what_counts(void **state)
{
	struct route_standing list[MAX];
	size_t len;
	bool more;

	(void)state;
	contract_new("b", 2, true);
	route_new("b", 1, 0, "old");
	route_new("b", 2, 1, "second");
	route_new("b", 2, 0, "press");
	contract_new("a", 1, true);
	route_new("a", 1, 0, "press");
	contract_new("gone", 1, false);
	route_new("gone", 1, 0, "press");
	assert_int_equal(certificate_store_standings(here.db, NULL, 0, list, MAX, &len, &more),
			 RC_OK);
	assert_int_equal(len, 3);
	assert_false(more);
	assert_string_equal(list[0].contract, "a");
	assert_string_equal(list[1].provider, "press");
	assert_string_equal(list[2].provider, "second");
	assert_int_equal(certificate_store_standings(here.db, NULL, 0, list, 2, &len, &more),
			 RC_OK);
	assert_int_equal(len, 2);
	assert_true(more);
	assert_int_equal(certificate_store_standings(here.db, "gone", 0, list, MAX, &len, &more),
			 RC_OK);
	assert_int_equal(len, 0);
	assert_false(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_route_stands_as_its_newest_verdict_does_now, empty),
		cmocka_unit_test_setup(routes_come_by_contract_in_order_and_only_of_what_counts,
				       empty),
	};

	return cmocka_run_group_tests_name("standings", tests, testdb_open, testdb_close);
}
