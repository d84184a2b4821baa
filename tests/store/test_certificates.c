/* test_certificates.c: what a certificate permits, what it dies of, and what it survives. */
#include "contract_kit.h"

#include <stdio.h>

#define NEWEST                                                                                     \
	"FROM certificates c JOIN contracts k ON k.name = c.contract AND k.version = "             \
	"c.contract_version WHERE c.newest = 1 AND c.provider = 'second'"

/* A contract "sum" over press and second, the latter certified. */
static struct id set_out(void)
{
	provider_new("second", 64);
	assert_int_equal(provider_put(here.db, "second", "{\"url\":\"http://a/\"}"), RC_OK);
	contract_new("sum", "press second", "");
	return certify("sum", "second", true);
}

/* Of the version that counts now, queued along a route. */
static struct id job_along(const char *provider)
{
	return job_new((struct a_job){ .provider = provider,
				       .more = "contract = 'sum', provider = NULL, "
					       "contract_version = (SELECT version FROM contracts "
					       "WHERE name = 'sum')" });
}

/* Whether a job along the route second would be started there; it is gone afterwards. */
static bool is_open(void)
{
	struct id job = job_along("second");
	bool open = strcmp(start_one(NULL), "second") == 0;

	raw_run(here.raw, "DELETE FROM attempts WHERE job_id = %s", x(&job));
	raw_run(here.raw, "DELETE FROM jobs WHERE id = %s", x(&job));
	return open;
}

static const char *standing_now(void)
{
	struct certificate_filter filter = { .contract = "sum", .provider = "second", .limit = 1 };
	struct certificate *list;
	size_t len;
	bool more;

	assert_int_equal(certificate_store_list(here.db, &filter, &list, &len, &more), RC_OK);
	const char *name = len == 0			   ? "none"
			   : list[0].now == STANDING_VALID ? "valid"
							   : standing_name(list[0].now);

	certificate_list_free(list, len);
	return name;
}

static void the_first_route_needs_no_certificate(void **state)
{
	struct id attempt;

	(void)state;
	set_out();
	job_along("press");
	assert_string_equal(start_one(&attempt), "press");
	assert_int_equal(raw_number("SELECT certificate_id IS NULL FROM attempts WHERE id = %s",
				    x(&attempt)),
			 1);
	certify("sum", "press", true); /* nor does it keep one that it didn't need */
	job_along("press");
	assert_string_equal(start_one(&attempt), "press");
	assert_int_equal(raw_number("SELECT certificate_id IS NULL FROM attempts WHERE id = %s",
				    x(&attempt)),
			 1);
	certify("sum", "press", false);
	job_along("press");
	assert_string_equal(start_one(&attempt), "press");
}

static void a_later_route_is_taken_with_a_certificate_whose_id_the_attempt_keeps(void **state)
{
	struct id certificate = set_out(), attempt;

	(void)state;
	job_along("second");
	assert_string_equal(start_one(&attempt), "second");
	assert_int_equal(raw_number("SELECT certificate_id = %s FROM attempts WHERE id = %s",
				    x(&certificate), x(&attempt)),
			 1);
	contract_new("other", "press second", "");
	contract_new("sum", "press second", ", \"result_schema\": {}");
	assert_false(is_open()); /* another contract's doesn't do, nor does the version's before */
}

static void by_sql(const char *sql)
{
	raw_run(here.raw, "%s", sql);
}

static void by_provider(const char *json)
{
	assert_int_equal(provider_put(here.db, "second", json), RC_OK);
}

static void by_contract(const char *more)
{
	contract_new("sum", "press second", more);
}

static void by_routes(const char *json)
{
	struct definition_row row;
	bool is_new;
	size_t unknown;

	assert_int_equal(contract_put(here.db, "sum", json, &is_new, &unknown, &row), RC_OK);
	definition_row_release(&row);
}

static void by_deletion(const char *name)
{
	assert_int_equal(contract_store_delete(here.db, name), RC_OK);
	contract_new("sum", "press second", "");
}

static void by_verdict(const char *provider)
{
	certify("sum", provider, false);
}

#define FIXTURES                                                                                   \
	"\"side_effects\":false,\"fixtures\":[{\"name\":\"one\",\"input\":{},\"checks\":[{"        \
	"\"pointer\":\"\",\"equals\":1}]}],"

static void whatever_a_certificate_dies_of_counts_for_the_next_claim(void **state)
{
	static const struct {
		void (*cause)(const char *how);
		const char *how, *stands;
	} rows[] = {
		{ by_contract, ", \"result_schema\": {\"type\": \"number\"}", "none" },
		{ by_contract, ", \"checks\": [{\"pointer\": \"\", \"equals\": 1}]", "none" },
		{ by_contract, ", \"certify\": {\"rounds\": 4}", "none" },
		{ by_contract, ", \"certify\": {\"overrides\": {\"temperature\": 0}}", "none" },
		{ by_routes,
		  "{" FIXTURES "\"routes\":[{\"provider\":\"press\"},{\"provider\":\"second\","
		  "\"request\":{\"model\":\"b\"}}]}",
		  "none" },
		{ by_deletion, "sum", "none" },
		{ by_provider, "{\"url\":\"http://b/\"}", "subject_changed" },
		{ by_provider, "{\"url\":\"http://a/\",\"headers\":{\"X\":\"1\"}}",
		  "subject_changed" },
		{ by_provider, "{\"url\":\"http://a/\",\"timeout_ms\":29999}", "subject_changed" },
		{ by_provider, "{\"url\":\"http://a/\",\"side_effects\":false}",
		  "subject_changed" },
		{ by_provider, "{\"url\":\"http://a/\",\"idempotency\":{\"honoured\":true}}",
		  "subject_changed" },
		{ by_provider, "{\"url\":\"http://a/\",\"enabled\":false}", "disabled" },
		{ by_verdict, "second", "failed" },
		{ by_sql, "UPDATE certificates SET expires_at = NOW(6)", "expired" },
		{ by_sql, "UPDATE certificates SET rule_version = rule_version + 1",
		  "subject_changed" },
		/* An old program's PUT. */
		{ by_sql, "UPDATE providers SET version = version + 1", "subject_changed" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		testdb_empty(NULL);
		set_out();
		if (!is_open() || strcmp(standing_now(), "valid") != 0)
			fail_msg("row %zu: not open at first", i);
		rows[i].cause(rows[i].how);
		if (is_open())
			fail_msg("row %zu: still open", i);
		if (strcmp(standing_now(), rows[i].stands) != 0)
			fail_msg("row %zu: it stands as %s", i, standing_now());
	}
}

static void a_change_back_does_not_bring_a_dead_certificate_back(void **state)
{
	(void)state;
	set_out();
	by_provider("{\"url\":\"http://b/\"}");
	by_provider("{\"url\":\"http://a/\"}");
	assert_false(is_open());
	certify("sum", "second", true);
	assert_true(is_open());
	by_contract(", \"result_schema\": {}");
	by_contract("");
	assert_false(is_open());
}

static void a_provider_put_anew_proves_nothing(void **state)
{
	(void)state;
	set_out();
	raw_run(here.raw, "DELETE FROM providers WHERE name = 'second'"); /* by an old program */
	raw_run(here.raw, "UPDATE certificates SET provider_version = 1");
	by_provider("{\"url\":\"http://b/\"}");
	assert_false(is_open());
}

static void changes_of_a_provider_that_prove_nothing_keep_its_certificates(void **state)
{
	static const char *const changes[] = {
		"{\"url\":\"http://a/\",\"max_in_flight\":7}",
		"{\"url\":\"http://a/\",\"max_in_flight\":7,\"retry\":{\"base_ms\":5}}",
		"{\"url\":\"http://a/\",\"enabled\":false}",
		"{\"url\":\"http://a/\"}",
	};
	const char *before;

	(void)state;
	set_out();
	before = raw_text("SELECT CONCAT(HEX(c.id), issued_at, expires_at) " NEWEST);
	for (size_t i = 0; i < ROWS(changes); i++) {
		by_provider(changes[i]);
		if (is_open() != (i != 2))
			fail_msg("change %zu", i);
		assert_string_equal(
			raw_text("SELECT CONCAT(HEX(c.id), issued_at, expires_at) " NEWEST),
			before);
	}
	raw_run(here.raw, "UPDATE providers SET version = version + 1 WHERE name = 'second'");
	by_provider("{\"url\":\"http://a/\",\"max_in_flight\":9}");
	assert_false(is_open()); /* what an old program changed in between is not overlooked */
}

#define ROUTE_OF(request)                                                                          \
	"{" FIXTURES                                                                               \
	"\"routes\":[{\"provider\":\"press\"},{\"provider\":\"second\",\"request\":" request "}]}"

static void an_edit_that_leaves_a_route_as_it_was_carries_its_certificate_over(void **state)
{
	static const char *const edits[] = {
		"{" FIXTURES "\"on_failure\":{\"refused\":\"stop\"},\"routes\":[{\"provider\":"
		"\"press\"},{\"provider\":\"second\"}]}",
		"{" FIXTURES "\"certify\":{\"max_age_s\":900000},\"routes\":[{\"provider\":"
		"\"press\"},{\"provider\":\"second\"}]}",
		"{" FIXTURES "\"routes\":[{\"provider\":\"press\",\"request\":{\"a\":1}},{"
		"\"provider\":\"second\"}]}",
		"{" FIXTURES "\"routes\":[{\"provider\":\"third\"},{\"provider\":\"press\"},{"
		"\"provider\":\"second\"}]}",
	};
	char before[64], id[64];

	(void)state;
	set_out();
	provider_new("third", 64);
	for (size_t i = 0; i < ROWS(edits); i++) {
		snprintf(before, sizeof before, "%s",
			 raw_text("SELECT CONCAT(issued_at, expires_at) " NEWEST));
		snprintf(id, sizeof id, "%s", raw_text("SELECT HEX(c.id) " NEWEST));
		by_routes(edits[i]);
		if (!is_open() || raw_number("SELECT MAX(version) FROM contracts") != i + 2)
			fail_msg("edit %zu: not open", i);
		assert_string_equal(raw_text("SELECT CONCAT(issued_at, expires_at) " NEWEST),
				    before);
		assert_string_not_equal(raw_text("SELECT HEX(c.id) " NEWEST), id);
		assert_int_equal(raw_number("SELECT COUNT(*) " NEWEST), 1);
		assert_int_equal(raw_number("SELECT COUNT(*) FROM certificates WHERE died_at IS "
					    "NULL"),
				 1);
	}
}

static void an_edit_of_a_requests_digits_alone_carries_no_certificate_over(void **state)
{
	(void)state;
	set_out();
	by_routes(ROUTE_OF("{\"max_tokens\":256}"));
	certify("sum", "second", true);
	by_routes(ROUTE_OF("{ \"max_tokens\" : 256 }"));
	assert_true(is_open());
	by_routes(ROUTE_OF("{\"max_tokens\":256.0}"));
	assert_false(is_open());
	assert_string_equal(standing_now(), "none");
}

static void a_certificate_of_another_rule_is_not_carried_over(void **state)
{
	(void)state;
	set_out();
	raw_run(here.raw, "UPDATE certificates SET rule_version = rule_version - 1");
	by_contract(", \"on_failure\": {\"refused\": \"stop\"}");
	assert_string_equal(standing_now(), "none");
	assert_false(is_open());
	certify("sum", "second", true);
	assert_true(is_open());
}

static void a_shorter_age_ends_what_is_carried_over_sooner(void **state)
{
	(void)state;
	set_out();
	by_contract(", \"certify\": {\"max_age_s\": 3600}");
	assert_int_equal(raw_number("SELECT TIMESTAMPDIFF(SECOND, issued_at, expires_at) " NEWEST),
			 3600);
	assert_true(is_open());
	raw_run(here.raw, "UPDATE certificates SET issued_at = issued_at - INTERVAL 3000 SECOND, "
			  "expires_at = expires_at - INTERVAL 3000 SECOND");
	by_contract(", \"certify\": {\"max_age_s\": 2000}");
	assert_false(is_open());
	assert_string_equal(standing_now(), "expired");
}

static void a_failed_verdict_is_carried_over_too(void **state)
{
	(void)state;
	set_out();
	certify("sum", "second", false);
	by_contract(", \"on_failure\": {\"refused\": \"stop\"}");
	assert_string_equal(standing_now(), "failed");
	assert_false(is_open());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_route_needs_no_certificate),
		TEST(a_later_route_is_taken_with_a_certificate_whose_id_the_attempt_keeps),
		TEST(whatever_a_certificate_dies_of_counts_for_the_next_claim),
		TEST(a_change_back_does_not_bring_a_dead_certificate_back),
		TEST(a_provider_put_anew_proves_nothing),
		TEST(changes_of_a_provider_that_prove_nothing_keep_its_certificates),
		TEST(an_edit_that_leaves_a_route_as_it_was_carries_its_certificate_over),
		TEST(an_edit_of_a_requests_digits_alone_carries_no_certificate_over),
		TEST(a_certificate_of_another_rule_is_not_carried_over),
		TEST(a_shorter_age_ends_what_is_carried_over_sooner),
		TEST(a_failed_verdict_is_carried_over_too),
	};

	return cmocka_run_group_tests_name("certificates", tests, testdb_open, testdb_close);
}
