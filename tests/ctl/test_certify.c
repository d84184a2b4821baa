/* test_certify.c: onejob contract certify: what it asks for, how long it waits, and what it tells.
 * The store is scripted, and so is the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/cmd.h"
#include "store/certificate_store.h"
#include "store/migrate.h"
#include "store/vitals.h"

#define EXPIRES_US INT64_C(1796164847000000)
#define EXPIRES "2026-12-01T22:40:47Z"

/* One route's story. */
struct part {
	const char *contract, *provider;
	uint8_t before, after; /* ids of its newest verdict before and after the run; 0: none */
	bool passed;
	enum standing now;
	uint32_t version; /* of the verdict after; 0: the one that was asked for, 3 */
	const char *report;
};

static struct script {
	const struct part *parts;
	size_t len;
	const struct expiring *expiring;
	size_t expiring_len;
	enum certify_asked asked[2]; /* of the first and the second order */
	unsigned int rounds;	     /* looks until the runs have ended */
	bool taken;
	uint64_t pollers;
	bool broken; /* the database fails at the first look */

	unsigned int orders, looks, questions; /* counted */
	char asked_for[512];
	uint32_t within_s;
	int64_t now_ms;
} script;

static int reset(void **state)
{
	(void)state;
	script = (struct script){ .pollers = 1 };
	return 0;
}

struct db *db_new(const char *defaults_file)
{
	(void)defaults_file;
	return (struct db *)&script;
}
void db_free(struct db *db)
{
	(void)db;
}
void db_be_patient(struct db *db)
{
	(void)db;
}
enum rc db_ready(struct db *db)
{
	(void)db;
	return RC_OK;
}
const char *db_error(const struct db *db)
{
	(void)db;
	return "gone away";
}
bool db_lacks_right(const struct db *db)
{
	(void)db;
	return false;
}
enum rc migrate_check(struct db *db, struct schema_state *state_out)
{
	(void)db;
	*state_out = (struct schema_state){ .verdict = SCHEMA_CURRENT };
	return RC_OK;
}
int64_t clock_real_us(void)
{
	return EXPIRES_US;
}
int64_t clock_monotonic_ms(void)
{
	return script.now_ms += 4000;
}
void clock_random(void *out, size_t len)
{
	memset(out, 7, len);
}
struct id clock_id(void)
{
	return (struct id){ { 1 } };
}

static struct certificate certificate_of(const struct part *part, bool after)
{
	struct certificate c = { .contract_version = after && part->version ? part->version : 3,
				 .passed = !after || part->passed,
				 .now = after ? part->now : STANDING_VALID,
				 .rounds = 3,
				 .issued_us = EXPIRES_US,
				 .expires_us = EXPIRES_US };

	c.id.bytes[15] = after ? part->after : part->before;
	snprintf(c.contract, sizeof c.contract, "%s", part->contract);
	snprintf(c.provider, sizeof c.provider, "%s", part->provider);
	c.report.bytes = strdup(part->report ? part->report : "[]");
	c.report.len = strlen(c.report.bytes);
	return c;
}

/* Pages of one, as where their reports are long. */
enum rc certificate_store_list(struct db *db, const struct certificate_filter *filter,
			       struct certificate **list_out, size_t *len_out, bool *more_out)
{
	bool after = script.looks > script.rounds, begun = !filter->has_before;

	(void)db;
	*list_out = calloc(1, sizeof **list_out);
	*len_out = 0;
	*more_out = false;
	for (size_t i = 0; i < script.len; i++) {
		const struct part *part = &script.parts[i];

		if (strcmp(part->contract, filter->contract) != 0 ||
		    !(after ? part->after : part->before))
			continue;
		*more_out = *len_out == 1;
		if (begun && *len_out == 0)
			(*list_out)[(*len_out)++] = certificate_of(part, after);
		begun = begun || filter->before.bytes[15] == (after ? part->after : part->before);
	}
	return RC_OK;
}
void certificate_list_free(struct certificate *list, size_t len)
{
	for (size_t i = 0; i < len; i++)
		certificate_release(&list[i]);
	free(list);
}
enum rc certificate_store_expiring(struct db *db, uint32_t within_s, const char *contract,
				   struct expiring *list_out, size_t *len_out)
{
	(void)db;
	(void)contract;
	script.within_s = within_s;
	for (size_t i = 0; i < script.expiring_len; i++)
		list_out[i] = script.expiring[i];
	*len_out = script.expiring_len;
	return RC_OK;
}

static void keep(const char *text)
{
	size_t used = strlen(script.asked_for);

	snprintf(script.asked_for + used, sizeof script.asked_for - used, "%s", text);
}

enum certify_asked certify_store_ask(struct db *db, const struct certify_order *order,
				     uint32_t *version_out, char (*providers_out)[NAME_MAX_LEN + 1],
				     size_t *len_out, size_t *unknown_out)
{
	(void)db;
	*version_out = 3;
	*unknown_out = order->routes_len ? order->routes_len - 1 : 0;
	*len_out = 0;
	keep(order->contract);
	keep(order->side_effects ? "!" : ":");
	for (size_t i = 0; i < order->routes_len; i++) {
		keep(order->routes[i]);
		keep(",");
	}
	for (size_t i = 0; i < script.len; i++)
		if (strcmp(script.parts[i].contract, order->contract) == 0)
			snprintf(providers_out[(*len_out)++], NAME_MAX_LEN + 1, "%s",
				 script.parts[i].provider);
	return script.asked[script.orders++ > 0];
}
enum rc certify_store_runs(struct db *db, const char *contract, struct certify_run *runs_out,
			   size_t max, size_t *len_out)
{
	(void)db;
	(void)max;
	*len_out = 0;
	if (script.broken)
		return RC_FAULT;
	if (contract == NULL || script.looks++ >= script.rounds)
		return RC_OK;
	for (size_t i = 0; i < script.len; i++) {
		struct certify_run *run = &runs_out[*len_out];

		if (strcmp(script.parts[i].contract, contract) != 0)
			continue;
		*run = (struct certify_run){
			.contract_version = 3, .done = 1, .total = 9, .taken = script.taken
		};
		snprintf(run->provider, sizeof run->provider, "%s", script.parts[i].provider);
		(*len_out)++;
	}
	return RC_OK;
}
enum rc vitals_read(struct db *db, struct vitals *vitals_out)
{
	(void)db;
	script.questions++;
	*vitals_out = (struct vitals){ .pollers_alive = script.pollers };
	return RC_OK;
}

/* What it printed, until the next call. */
static char *out, *err;

static enum ctl_exit run(const char *contract, const char *route, const char *second, bool json,
			 const char *more)
{
	struct args args = { .operand = { contract } };
	struct ctl ctl = { .conf_ok = true, .json = json };
	size_t out_len, err_len;

	free(out);
	free(err);
	args.option[OPTION_ROUTE] = route;
	args.again[OPTION_ROUTE][0] = second;
	if (strstr(more, "side-effects"))
		args.option[OPTION_SIDE_EFFECTS] = "";
	if (strstr(more, "no-wait"))
		args.option[OPTION_NO_WAIT] = "";
	if (strstr(more, "renew"))
		args.option[OPTION_RENEW] = "";
	if (strstr(more, "within"))
		args.option[OPTION_WITHIN] = strstr(more, "within ") + 7;
	ctl.out = open_memstream(&out, &out_len);
	ctl.err = open_memstream(&err, &err_len);
	enum ctl_exit end = cmd_contract_certify(&ctl, &args);

	fclose(ctl.out);
	fclose(ctl.err);
	return end;
}

static void has(const char *where, const char *text)
{
	if (!strstr(where, text))
		fail_msg("no '%s' in: %s", text, where);
}

static const struct part both[] = {
	{ .contract = "sum",
	  .provider = "a",
	  .before = 1,
	  .after = 3,
	  .passed = true,
	  .report = "[{\"round\":1,\"fixture\":\"f\",\"passed\":true,\"why\":null},"
		    "{\"round\":2,\"fixture\":\"f\",\"passed\":true,\"why\":null}]" },
	{ .contract = "sum", .provider = "b", .after = 4, .passed = true, .report = "[]" },
};

static void a_command_line_that_means_nothing_asks_for_nothing(void **state)
{
	(void)state;
	script.parts = both;
	script.len = 2;
	assert_int_equal(run(NULL, NULL, NULL, false, ""), CTL_USAGE);
	assert_int_equal(run("Sum", NULL, NULL, false, ""), CTL_USAGE);
	assert_int_equal(run("sum", "B", NULL, false, ""), CTL_USAGE);
	assert_int_equal(run("sum", "b", "b", false, ""), CTL_USAGE);
	assert_int_equal(run("sum", "b", NULL, false, "renew"), CTL_USAGE);
	assert_int_equal(run("sum", NULL, NULL, false, "within 12h"), CTL_USAGE);
	assert_int_equal(run(NULL, NULL, NULL, false, "renew within 12"), CTL_USAGE);
	assert_int_equal(script.orders, 0);
}

static void it_waits_for_every_verdict_and_tells_them(void **state)
{
	(void)state;
	script.parts = both;
	script.len = 2;
	script.rounds = 3;
	script.taken = true;
	assert_int_equal(run("sum", "a", "b", false, "side-effects"), CTL_DONE);
	assert_string_equal(script.asked_for, "sum!a,b,");
	assert_int_equal(script.looks, 4);
	assert_int_equal(script.questions, 0); /* a run that is taken has a living poller */
	assert_string_equal(out, "sum, version 3\n  a: passed, 2 of 2; valid until " EXPIRES
				 "\n  b: passed, 0 of 0; valid until " EXPIRES "\n");
	assert_string_equal(err, "");
}

static void a_route_that_failed_is_told_by_fixture_and_round_and_is_no_success(void **state)
{
	static const struct part failed[] = {
		{ .contract = "sum",
		  .provider = "a",
		  .before = 1,
		  .after = 3,
		  .passed = true,
		  .report = "[]" },
		{ .contract = "sum",
		  .provider = "b",
		  .after = 4,
		  .now = STANDING_FAILED,
		  .report = "[{\"round\":1,\"fixture\":\"empty\",\"passed\":true,\"why\":null},"
			    "{\"round\":2,\"fixture\":\"long \\u001b one\",\"passed\":false,"
			    "\"why\":\"the result has no /total\"}]" },
	};

	(void)state;
	script.parts = failed;
	script.len = 2;
	assert_int_equal(run("sum", NULL, NULL, false, ""), CTL_REFUSED);
	has(out,
	    "  b: FAILED, 1 of 2 passed\n    round 2, long \\x1b one: the result has no /total\n");
	assert_null(strstr(out, "empty"));
	script.looks = 0;
	assert_int_equal(run("sum", NULL, NULL, true, ""), CTL_REFUSED);
	has(out, "{\"certificates\":[{\"id\":\"00000000-0000-0000-0000-000000000003\"");
	has(out, "\"provider\":\"b\",\"passed\":false,\"valid\":false,\"why\":\"failed\"");
}

static void a_verdict_that_is_not_of_this_run_is_none(void **state)
{
	static const struct part rows[] = {
		{ .contract = "sum", .provider = "a", .before = 1, .after = 1, .passed = true },
		{ .contract = "sum", .provider = "a", .before = 1 },
		{ .contract = "sum",
		  .provider = "a",
		  .before = 1,
		  .after = 3,
		  .passed = true,
		  .version = 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		reset(NULL);
		script.parts = &rows[i];
		script.len = 1;
		assert_int_equal(run("sum", NULL, NULL, false, ""), CTL_REFUSED);
		has(out, "  a: no verdict");
		script.looks = 0;
		assert_int_equal(run("sum", NULL, NULL, true, ""), CTL_REFUSED);
		assert_string_equal(out, "{\"certificates\":[]}\n");
		has(err, "sum, a: no verdict");
	}
}

static void a_proof_of_what_has_changed_meanwhile_is_no_success(void **state)
{
	static const struct {
		struct part part;
		enum ctl_exit want;
	} rows[] = {
		{ { .contract = "sum",
		    .provider = "a",
		    .after = 3,
		    .passed = true,
		    .now = STANDING_SUBJECT_CHANGED },
		  CTL_REFUSED },
		{ { .contract = "sum",
		    .provider = "a",
		    .after = 3,
		    .passed = true,
		    .now = STANDING_EXPIRED },
		  CTL_REFUSED },
		{ { .contract = "sum",
		    .provider = "a",
		    .after = 3,
		    .passed = true,
		    .now = STANDING_DISABLED },
		  CTL_DONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		reset(NULL);
		script.parts = &rows[i].part;
		script.len = 1;
		assert_int_equal(run("sum", NULL, NULL, false, ""), rows[i].want);
		has(out, "not valid now: ");
		has(out, standing_name(rows[i].part.now));
	}
}

static void it_does_not_wait_for_ever_where_no_poller_is_alive(void **state)
{
	(void)state;
	script.parts = both;
	script.len = 2;
	script.rounds = 1000000;
	script.pollers = 0;
	assert_int_equal(run("sum", NULL, NULL, false, ""), CTL_REFUSED);
	has(err, "no poller is alive");
	assert_string_equal(out, "");
	assert_true(script.looks > 1); /* a gap between two pollers is no reason to give up */
}

static void without_waiting_it_tells_what_was_asked_for(void **state)
{
	(void)state;
	script.parts = both;
	script.len = 2;
	script.rounds = 1000000;
	assert_int_equal(run("sum", NULL, NULL, false, "no-wait"), CTL_DONE);
	assert_string_equal(out, "sum, version 3\n  a: asked for\n  b: asked for\n");
	assert_int_equal(run("sum", NULL, NULL, true, "no-wait"), CTL_DONE);
	has(out, "{\"asked\":[{\"contract\":\"sum\",\"version\":3,\"provider\":\"a\"},");
	assert_int_equal(script.looks, 0);
}

static void every_refusal_is_said(void **state)
{
	static const struct {
		enum certify_asked asked;
		enum ctl_exit want;
		const char *says;
	} rows[] = {
		{ CERTIFY_NO_SUCH_CONTRACT, CTL_REFUSED, "there is no contract sum" },
		{ CERTIFY_NO_SUCH_ROUTE, CTL_REFUSED, "sum has no route of the provider c" },
		{ CERTIFY_NO_FIXTURES, CTL_REFUSED, "no fixture has a check of its own" },
		{ CERTIFY_SIDE_EFFECTS, CTL_REFUSED, "--side-effects" },
		{ CERTIFY_NOT_STORED, CTL_UNREACHED, "gone away" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		reset(NULL);
		script.asked[0] = rows[i].asked;
		assert_int_equal(run("sum", "b", "c", false, ""), rows[i].want);
		has(err, rows[i].says);
		assert_string_equal(out, "");
	}
}

static void a_database_that_fails_while_waiting_is_unreached(void **state)
{
	(void)state;
	script.parts = both;
	script.len = 2;
	script.broken = true;
	assert_int_equal(run("sum", NULL, NULL, false, ""), CTL_UNREACHED);
	has(err, "what was asked for stays so");
}

static void renewing_asks_each_contract_once_for_what_runs_out(void **state)
{
	static const struct part parts[] = {
		{ .contract = "sum", .provider = "a", .before = 1, .after = 3, .passed = true },
		{ .contract = "sum", .provider = "b", .before = 1, .after = 4, .passed = true },
		{ .contract = "order", .provider = "x", .before = 1, .after = 5, .passed = true },
	};
	static const struct expiring expiring[] = { { "sum", "b" },
						    { "order", "x" },
						    { "sum", "a" } };

	(void)state;
	script.parts = parts;
	script.len = 3;
	script.expiring = expiring;
	script.expiring_len = 3;
	assert_int_equal(run(NULL, NULL, NULL, false, "renew"), CTL_DONE);
	assert_string_equal(script.asked_for, "sum:b,a,order:x,");
	assert_int_equal(script.within_s, 86400);
	has(out, "sum, version 3\n  a: passed");
	has(out, "order, version 3\n  x: passed");
	script.looks = 0;
	assert_int_equal(run(NULL, NULL, NULL, false, "renew within 2h"), CTL_DONE);
	assert_int_equal(script.within_s, 7200);
}

static void renewing_leaves_side_effects_out_unless_they_are_meant(void **state)
{
	static const struct part parts[] = {
		{ .contract = "sum", .provider = "a", .before = 1, .after = 3, .passed = true },
		{ .contract = "order", .provider = "x", .before = 1, .after = 5, .passed = true },
	};
	static const struct expiring expiring[] = { { "order", "x" }, { "sum", "a" } };

	(void)state;
	script.parts = parts;
	script.len = 2;
	script.expiring = expiring;
	script.expiring_len = 2;
	script.asked[0] = CERTIFY_SIDE_EFFECTS;
	assert_int_equal(run(NULL, NULL, NULL, false, "renew"), CTL_DONE);
	has(err, "order has side effects");
	has(out, "sum, version 3\n");
	assert_null(strstr(out, "order"));
	reset(NULL);
	script.expiring_len = 1;
	script.expiring = expiring;
	script.asked[0] = CERTIFY_SIDE_EFFECTS;
	assert_int_equal(run(NULL, NULL, NULL, false, "renew"), CTL_DONE);
	assert_string_equal(out, "nothing was asked for\n");
	reset(NULL);
	script.expiring_len = 0;
	assert_int_equal(run(NULL, NULL, NULL, false, "renew"), CTL_DONE);
	assert_string_equal(out,
			    "no certificate runs out within 24h, so there is nothing to renew\n");
	assert_int_equal(run(NULL, NULL, NULL, true, "renew"), CTL_DONE);
	assert_string_equal(out, "{\"certificates\":[]}\n");
}

#define T(test) cmocka_unit_test_setup(test, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_command_line_that_means_nothing_asks_for_nothing),
		T(it_waits_for_every_verdict_and_tells_them),
		T(a_route_that_failed_is_told_by_fixture_and_round_and_is_no_success),
		T(a_verdict_that_is_not_of_this_run_is_none),
		T(a_proof_of_what_has_changed_meanwhile_is_no_success),
		T(it_does_not_wait_for_ever_where_no_poller_is_alive),
		T(without_waiting_it_tells_what_was_asked_for),
		T(every_refusal_is_said),
		T(a_database_that_fails_while_waiting_is_unreached),
		T(renewing_asks_each_contract_once_for_what_runs_out),
		T(renewing_leaves_side_effects_out_unless_they_are_meant),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(out);
	free(err);
	return failed;
}
