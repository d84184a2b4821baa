#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/callback_read.h"
#include "core/contract.h"
#include "core/outcome.h"
#include "core/status_read.h"

/* A contract as somebody writes it who has been bitten before: see the faults of area E. */
static const char chat[] =
	"{\"result_schema\": {\"type\": \"object\", \"required\": [\"total\", \"currency\"], "
	"\"additionalProperties\": false, \"properties\": {\"total\": {\"type\": \"number\"}, "
	"\"currency\": {\"type\": \"string\"}}}, "
	"\"checks\": [{\"pointer\": \"/total\", \"equals_input\": \"/expect\"}, {\"pointer\": "
	"\"/currency\", \"in\": [\"EUR\", \"USD\"]}], "
	"\"routes\": [{\"provider\": \"p\", \"result\": {\"pointer\": "
	"\"/choices/0/message/content\", \"as\": \"json\"}, \"doubt\": [{\"pointer\": "
	"\"/error/code\", \"min\": 500}, {\"pointer\": \"/choices/0/finish_reason\", \"equals\": "
	"\"error\"}], \"require\": [{\"pointer\": \"/model\", \"equals\": \"a-1\"}, {\"pointer\": "
	"\"/choices/0/finish_reason\", \"equals\": \"stop\"}]}]}";

#define INPUT "{\"expect\": 3}"
#define ANSWER(model, reason, message)                                                             \
	"{\"model\": \"" model "\", \"choices\": [{\"index\": 0, \"finish_reason\": \"" reason     \
	"\", \"message\": {\"role\": \"assistant\", " message "}}]}"
#define SAID(content) ANSWER("a-1", "stop", "\"content\": " content)
#define GOOD "\"{\\\"total\\\": 3.00, \\\"currency\\\": \\\"EUR\\\"}\""
#define GOOD_RESULT "{\"total\": 3.00, \"currency\": \"EUR\"}"

static struct contract *read_contract(const char *text)
{
	struct contract *contract;
	struct flaws flaws;

	flaws_init(&flaws);
	if (contract_read(text, strlen(text), &contract, &flaws) != RC_OK)
		fail_msg("%s: %s: %s", text, flaws.list[0].pointer, flaws.list[0].detail);
	return contract;
}

static void make_def(const char *members, struct provider_def *def_out)
{
	char row[2048];
	struct flaws flaws;
	struct json_doc *doc;
	struct json_error error;

	snprintf(row, sizeof row, "{\"url\": \"http://p/\"%s}", members);
	flaws_init(&flaws);
	if (json_parse(row, strlen(row), 64, &doc, &error) != RC_OK ||
	    provider_def_read(json_root(doc), def_out, &flaws) != RC_OK)
		fail_msg("bad row: %s", row);
	json_free(doc);
}

/* A contract, a provider's row, an input, and what came of an answer. */
struct trial {
	struct contract *contract;
	struct provider_def def;
	struct json_doc *input;
	struct terms terms;
	struct outcome outcome;
};

static void trial_open(struct trial *trial, const char *contract, const char *def_members)
{
	struct json_error error;

	trial->contract = read_contract(contract);
	make_def(def_members, &trial->def);
	assert_int_equal(json_parse(INPUT, strlen(INPUT), 64, &trial->input, &error), RC_OK);
	trial->terms = (struct terms){ trial->contract, &trial->contract->routes[0],
				       json_root(trial->input) };
}

static void trial_close(struct trial *trial)
{
	contract_free(trial->contract);
	provider_def_release(&trial->def);
	json_free(trial->input);
}

static struct seen answer(uint32_t status, const char *body)
{
	return (struct seen){ .end = SEEN_WHOLE,
			      .phase = PHASE_ANSWER_BEGUN,
			      .http_status = status,
			      .retry_after_ms = -1,
			      .body = body,
			      .body_len = strlen(body),
			      .detail = "" };
}

static void ask(struct trial *trial, const struct seen *seen)
{
	assert_int_equal(outcome_of(seen, &trial->def, &trial->terms, &trial->outcome), RC_OK);
}

static void expect(struct trial *trial, const char *what, enum outcome_kind kind,
		   enum reason reason, const char *result)
{
	const struct outcome *got = &trial->outcome;

	if (got->kind != kind || got->reason != reason)
		fail_msg("%s: kind %d reason %s: %s", what, (int)got->kind,
			 got->reason ? reason_name(got->reason) : "none", got->detail.bytes);
	if (got->effect_done !=
	    (kind == OUTCOME_FAILED &&
	     (reason == REASON_CONTRACT_VIOLATION || reason == REASON_TOO_LARGE) &&
	     trial->contract->side_effects))
		fail_msg("%s: effect %d", what, got->effect_done);
	if (strcmp(got->result.bytes ? got->result.bytes : "", result ? result : "") != 0)
		fail_msg("%s: result %s", what, got->result.bytes);
	if (got->detail.len > 1000)
		fail_msg("%s: %zu bytes of detail", what, got->detail.len);
	outcome_release(&trial->outcome);
}

struct row {
	const char *what, *body;
	enum outcome_kind kind;
	enum reason reason;
	const char *words; /* of the detail; NULL: any */
};

#define BROKEN OUTCOME_FAILED, REASON_CONTRACT_VIOLATION
#define OPEN OUTCOME_UNKNOWN, REASON_GATEWAY

static void check_rows(const struct row *rows, size_t len)
{
	struct trial trial;

	trial_open(&trial, chat, ", \"side_effects\": false");
	for (size_t i = 0; i < len; i++) {
		struct seen seen = answer(200, rows[i].body);

		ask(&trial, &seen);
		if (rows[i].words && !strstr(trial.outcome.detail.bytes, rows[i].words))
			fail_msg("%s: %s", rows[i].what, trial.outcome.detail.bytes);
		expect(&trial, rows[i].what, rows[i].kind, rows[i].reason, NULL);
	}
	trial_close(&trial);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

static void a_good_answer_is_stored_byte_for_byte(void **state)
{
	struct trial trial;
	struct seen seen = answer(200, SAID(GOOD));

	(void)state;
	trial_open(&trial, chat, "");
	ask(&trial, &seen);
	expect(&trial, "good", OUTCOME_RESULT, REASON_NONE, GOOD_RESULT);

	seen = answer(201,
		      SAID("\" { \\\"currency\\\":\\\"\\\\u0045UR\\\",\\\"total\\\":30e-1}\\n\""));
	ask(&trial, &seen);
	expect(&trial, "another spelling", OUTCOME_RESULT, REASON_NONE,
	       "{ \"currency\":\"\\u0045UR\",\"total\":30e-1}");
	trial_close(&trial);
}

static void e02_an_error_inside_a_200_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "inner 429", "{\"error\": {\"code\": 429, \"message\": \"slow down\"}}", BROKEN,
		  "by the route's require a check doesn't hold: equals at \"/model\"" },
		{ "inner 400", "{\"error\": {\"code\": 400}}", BROKEN, NULL },
		{ "inner 502", "{\"error\": {\"code\": 502}}", OPEN,
		  "the route doubts it: min, max at \"/error/code\"" },
		{ "inner 500 beside a good answer",
		  "{\"model\": \"a-1\", \"error\": {\"code\": 500}, \"choices\": "
		  "[{\"finish_reason\": \"stop\", \"message\": {\"content\": " GOOD "}}]}",
		  OPEN, NULL },
		{ "the choice ends with error", ANSWER("a-1", "error", "\"content\": " GOOD), OPEN,
		  NULL },
		{ "no choices", "{\"model\": \"a-1\", \"choices\": []}", BROKEN, NULL },
		{ "null", "null", BROKEN, NULL },
		{ "an empty object", "{}", BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e03_json_in_a_fence_or_behind_prose_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "fenced",
		  SAID("\"```json\\n{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}\\n```\""),
		  BROKEN, "the string at the result's pointer isn't JSON" },
		{ "prose before it",
		  SAID("\"Here you go: {\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}\""),
		  BROKEN, NULL },
		{ "prose behind it",
		  SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"} I hope this helps\""),
		  BROKEN, NULL },
		{ "twice", SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}{}\""), BROKEN,
		  NULL },
		{ "a string of JSON",
		  SAID("\"\\\"{\\\\\\\"total\\\\\\\": 3, \\\\\\\"currency\\\\\\\": "
		       "\\\\\\\"EUR\\\\\\\"}\\\"\""),
		  BROKEN, NULL },
		{ "NaN", SAID("\"{\\\"total\\\": NaN, \\\"currency\\\": \\\"EUR\\\"}\""), BROKEN,
		  NULL },
		{ "a comma too many",
		  SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\",}\""), BROKEN, NULL },
		{ "a member named twice",
		  SAID("\"{\\\"total\\\": 4, \\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}\""),
		  BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e04_an_answer_that_was_stopped_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "cut JSON", ANSWER("a-1", "length", "\"content\": \"{\\\"total\\\": 3\""), BROKEN,
		  "equals at \"/choices/0/finish_reason\"" },
		{ "JSON that happens to parse", ANSWER("a-1", "length", "\"content\": " GOOD),
		  BROKEN, "equals at \"/choices/0/finish_reason\"" },
		{ "null content", ANSWER("a-1", "length", "\"content\": null"), BROKEN, NULL },
		{ "null content, stop", SAID("null"), BROKEN,
		  "what stands at the result's pointer isn't a string" },
		{ "no reason",
		  "{\"model\": \"a-1\", \"choices\": [{\"message\": {\"content\": " GOOD "}}]}",
		  BROKEN, NULL },
		{ "reason null",
		  "{\"model\": \"a-1\", \"choices\": [{\"finish_reason\": null, \"message\": "
		  "{\"content\": " GOOD "}}]}",
		  BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e05_a_refusal_or_a_filter_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "null and refusal",
		  ANSWER("a-1", "stop", "\"content\": null, \"refusal\": \"I can't\""), BROKEN,
		  NULL },
		{ "empty and refusal",
		  ANSWER("a-1", "stop", "\"content\": \"\", \"refusal\": \"I can't\""), BROKEN,
		  NULL },
		{ "content filter", ANSWER("a-1", "content_filter", "\"content\": \"\""), BROKEN,
		  "equals at \"/choices/0/finish_reason\"" },
		{ "a tool call", ANSWER("a-1", "tool_calls", "\"tool_calls\": [{}]"), BROKEN,
		  NULL },
		{ "a tool call that says stop",
		  ANSWER("a-1", "stop", "\"content\": null, \"tool_calls\": [{}]"), BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e06_what_ignores_the_schema_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "prose", SAID("\"The total is 3 EUR.\""), BROKEN, NULL },
		{ "the schema itself",
		  SAID("\"{\\\"type\\\": \\\"object\\\", \\\"required\\\": [\\\"total\\\"]}\""),
		  BROKEN, "the result breaks the contract's schema: " },
		{ "one key too many",
		  SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\", \\\"note\\\": 1}\""),
		  BROKEN, "the result breaks the contract's schema: " },
		{ "one key missing", SAID("\"{\\\"total\\\": 3}\""), BROKEN, NULL },
		{ "a wrapper",
		  SAID("\"{\\\"result\\\": {\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}}\""),
		  BROKEN, NULL },
		{ "a list of it", SAID("\"[{\\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}]\""),
		  BROKEN, NULL },
		{ "a number as a string",
		  SAID("\"{\\\"total\\\": \\\"3\\\", \\\"currency\\\": \\\"EUR\\\"}\""), BROKEN,
		  NULL },
		{ "another total", SAID("\"{\\\"total\\\": 4, \\\"currency\\\": \\\"EUR\\\"}\""),
		  BROKEN, "a check doesn't hold: equals_input at \"/total\"" },
		{ "another currency", SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"eur\\\"}\""),
		  BROKEN, "a check doesn't hold: in at \"/currency\"" },
		{ "an object where a string is due", SAID("{\"total\": 3, \"currency\": \"EUR\"}"),
		  BROKEN, NULL },
		{ "the result alone", GOOD_RESULT, BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e08_an_answer_of_another_model_is_no_success(void **state)
{
	static const struct row rows[] = {
		{ "another", ANSWER("b-2", "stop", "\"content\": " GOOD), BROKEN,
		  "equals at \"/model\"" },
		{ "nearly", ANSWER("a-1-mini", "stop", "\"content\": " GOOD), BROKEN, NULL },
		{ "none",
		  "{\"choices\": [{\"finish_reason\": \"stop\", \"message\": {\"content\": " GOOD
		  "}}]}",
		  BROKEN, NULL },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void e09_a_stream_that_breaks_is_open_and_nothing_of_it_is_a_result(void **state)
{
	static const char *const bodies[] = {
		"data: {\"choices\": [{\"delta\": {\"content\": \"{\"}}]}\n\n",
		"{\"model\": \"a-1\", \"choices\": [{\"finish_reason\": \"stop\", \"mess",
		"",
	};
	struct trial trial;

	(void)state;
	trial_open(&trial, chat, "");
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		struct seen seen = answer(200, bodies[i]);

		seen.close_delimited = true;
		ask(&trial, &seen);
		expect(&trial, bodies[i], OUTCOME_UNKNOWN, REASON_TRUNCATED, NULL);
		seen.end = SEEN_TRUNCATED;
		ask(&trial, &seen);
		expect(&trial, bodies[i], OUTCOME_UNKNOWN, REASON_TRUNCATED, NULL);
		seen.end = SEEN_RESET;
		ask(&trial, &seen);
		expect(&trial, bodies[i], OUTCOME_UNKNOWN, REASON_CONNECTION_RESET, NULL);
	}
	struct seen seen = answer(200, bodies[0]);
	ask(&trial, &seen);
	expect(&trial, "a whole stream where JSON is due", BROKEN, NULL);
	trial_close(&trial);
}

static void what_isnt_2xx_means_what_it_means_without_a_contract(void **state)
{
	static const struct {
		uint32_t status;
		enum outcome_kind kind;
		enum reason reason;
	} rows[] = {
		{ 307, OUTCOME_FAILED, REASON_REDIRECT },
		{ 400, OUTCOME_FAILED, REASON_REFUSED }, /* E07: "system role not supported" */
		{ 429, OUTCOME_RETRY, REASON_RETRY_LATER },
		{ 500, OUTCOME_UNKNOWN, REASON_GATEWAY },
		{ 501, OUTCOME_FAILED, REASON_REFUSED },
	};
	struct trial trial;

	(void)state;
	trial_open(&trial, chat, "");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen seen = answer(rows[i].status, SAID(GOOD));

		ask(&trial, &seen);
		expect(&trial, "status", rows[i].kind, rows[i].reason, NULL);
	}
	trial_close(&trial);
}

static void a_status_that_the_row_calls_a_success_meets_the_contract_or_fails(void **state)
{
	struct trial trial;
	struct seen seen = answer(500, SAID(GOOD));

	(void)state;
	trial_open(&trial, chat, ", \"outcomes\": {\"500\": \"succeeded\"}");
	ask(&trial, &seen);
	expect(&trial, "good", OUTCOME_RESULT, REASON_NONE, GOOD_RESULT);
	seen = answer(500, "{}");
	ask(&trial, &seen);
	expect(&trial, "not good", BROKEN, NULL);
	trial_close(&trial);
}

static void whether_an_effect_was_done_is_the_contracts_word_alone(void **state)
{
	static const char *const contracts[] = {
		"{\"side_effects\": false, \"result_schema\": false, \"routes\": [{\"provider\": "
		"\"p\"}]}",
		"{\"side_effects\": true, \"result_schema\": false, \"routes\": [{\"provider\": "
		"\"p\"}]}",
	};
	static const char *const defs[] = { ", \"side_effects\": false",
					    ", \"side_effects\": true" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct trial trial;
		struct seen seen = answer(200, "{}");

		trial_open(&trial, contracts[i / 2], defs[i % 2]);
		ask(&trial, &seen); /* expect() holds effect_done against the contract */
		expect(&trial, "broken", BROKEN, NULL);
		seen.too_large = true;
		ask(&trial, &seen);
		expect(&trial, "too large", OUTCOME_FAILED, REASON_TOO_LARGE, NULL);
		seen.too_large = false;
		seen.two_lengths = true;
		ask(&trial, &seen);
		expect(&trial, "two lengths", BROKEN, NULL);
		trial_close(&trial);
	}
}

static void the_null_of_an_empty_answer_must_meet_the_contract(void **state)
{
	struct trial trial;
	struct seen seen = answer(204, "");

	(void)state;
	trial_open(&trial, chat, ", \"outcomes\": {\"empty\": \"succeeded\"}");
	ask(&trial, &seen);
	expect(&trial, "null isn't due", BROKEN, NULL);
	trial_close(&trial);

	trial_open(&trial,
		   "{\"result_schema\": {\"type\": \"null\"}, \"routes\": [{\"provider\": \"p\"}]}",
		   ", \"outcomes\": {\"empty\": \"succeeded\"}");
	ask(&trial, &seen);
	expect(&trial, "null is due", OUTCOME_RESULT, REASON_NONE, "null");
	trial_close(&trial);

	trial_open(&trial, "{\"routes\": [{\"provider\": \"p\"}]}", "");
	ask(&trial, &seen);
	expect(&trial, "the row says nothing", OUTCOME_UNKNOWN, REASON_EMPTY, NULL);
	trial_close(&trial);
}

static void an_empty_answer_meets_no_require(void **state)
{
	struct trial trial;
	struct seen seen = answer(204, "");

	(void)state;
	trial_open(&trial,
		   "{\"result_schema\": {\"type\": \"null\"}, \"routes\": [{\"provider\": \"p\", "
		   "\"require\": [{\"pointer\": \"/status\", \"equals\": \"done\"}]}]}",
		   ", \"outcomes\": {\"empty\": \"succeeded\"}");
	ask(&trial, &seen);
	expect(&trial, "nothing says that it is done", BROKEN, NULL);
	trial_close(&trial);
}

static void the_routes_place_of_the_result_replaces_the_rows(void **state)
{
	struct trial trial;
	struct seen seen = answer(200, "{\"a\": \"1.0\", \"b\": 2}");

	(void)state;
	trial_open(&trial,
		   "{\"routes\": [{\"provider\": \"p\", \"result\": {\"pointer\": \"/a\", \"as\": "
		   "\"json\"}}]}",
		   ", \"result\": {\"pointer\": \"/b\"}");
	ask(&trial, &seen);
	expect(&trial, "the route's", OUTCOME_RESULT, REASON_NONE, "1.0");
	trial_close(&trial);
	trial_open(&trial, "{\"routes\": [{\"provider\": \"p\"}]}",
		   ", \"result\": {\"pointer\": \"/b\"}");
	ask(&trial, &seen);
	expect(&trial, "the route's default", OUTCOME_RESULT, REASON_NONE,
	       "{\"a\": \"1.0\", \"b\": 2}");
	trial_close(&trial);
}

#define TEXT_ROUTE(more)                                                                           \
	"{\"checks\": [{\"pointer\": \"\", \"max_length\": 20}], \"routes\": [{\"provider\": "     \
	"\"p\", \"result\": {\"as\": \"text\"}" more "}]}"
#define NO_ERROR ", \"doubt\": [{\"pointer\": \"/error\", \"equals\": 1}]"
#define SURE ", \"require\": [{\"pointer\": \"/ok\", \"equals\": true}]"

static void a_body_taken_as_text_is_looked_into_where_the_route_has_checks(void **state)
{
	static const struct {
		const char *contract, *body;
		enum outcome_kind kind;
		enum reason reason;
		const char *result;
	} rows[] = {
		{ TEXT_ROUTE(""), "a \"b\"", OUTCOME_RESULT, REASON_NONE, "\"a \\\"b\\\"\"" },
		{ TEXT_ROUTE(""), "longer than twenty bytes", BROKEN, NULL },
		{ TEXT_ROUTE(NO_ERROR), "no JSON", OUTCOME_RESULT, REASON_NONE, "\"no JSON\"" },
		{ TEXT_ROUTE(NO_ERROR), "{\"error\": 1}", OPEN, NULL },
		{ TEXT_ROUTE(SURE), "no JSON", BROKEN, NULL },
		{ TEXT_ROUTE(SURE), "{\"ok\": false}", BROKEN, NULL },
		{ TEXT_ROUTE(SURE), "{\"ok\": true}", OUTCOME_RESULT, REASON_NONE,
		  "\"{\\\"ok\\\": true}\"" },
		{ TEXT_ROUTE(""), "\xff", BROKEN, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct trial trial;
		struct seen seen = answer(200, rows[i].body);

		trial_open(&trial, rows[i].contract, "");
		ask(&trial, &seen);
		expect(&trial, rows[i].body, rows[i].kind, rows[i].reason, rows[i].result);
		seen.close_delimited = true;
		ask(&trial, &seen);
		expect(&trial, rows[i].body, OUTCOME_UNKNOWN, REASON_TRUNCATED, NULL);
		trial_close(&trial);
	}
}

#define ERROR_DOUBT ", \"doubt\": [{\"pointer\": \"/error/code\", \"min\": 500}]"

static void e02_a_doubt_in_broken_json_taken_as_text_is_no_success(void **state)
{
	static const char *const open[] = {
		"{\"error\":{\"code\":502,\"retry\":NaN}}",
		"{\"error\":{},\"error\":{\"code\":502}}",
		" \t\r\n[{\"error\":",
		"\xef\xbb\xbf{\"error\":{\"code\":502}}",
	};
	static const char *const contracts[] = { TEXT_ROUTE(ERROR_DOUBT),
						 TEXT_ROUTE(ERROR_DOUBT SURE) };
	struct trial trial;

	(void)state;
	for (size_t i = 0; i < sizeof contracts / sizeof contracts[0]; i++) {
		trial_open(&trial, contracts[i], "");
		for (size_t k = 0; k < sizeof open / sizeof open[0]; k++) {
			struct seen seen = answer(200, open[k]);

			ask(&trial, &seen);
			assert_non_null(
				strstr(trial.outcome.detail.bytes, "doubt can't be judged"));
			expect(&trial, open[k], OPEN, NULL);
		}
		trial_close(&trial);
	}
}

static void what_isnt_meant_as_json_or_has_to_be_holds_no_doubt(void **state)
{
	static const struct {
		const char *contract, *body;
		enum outcome_kind kind;
		enum reason reason;
		const char *result;
	} rows[] = {
		{ TEXT_ROUTE(ERROR_DOUBT), "a {\"b\"", OUTCOME_RESULT, REASON_NONE,
		  "\"a {\\\"b\\\"\"" },
		{ TEXT_ROUTE(ERROR_DOUBT), " \n", OUTCOME_RESULT, REASON_NONE, "\" \\n\"" },
		{ TEXT_ROUTE(ERROR_DOUBT SURE), "a", BROKEN, NULL },
		{ TEXT_ROUTE(""), "{\"a\":NaN", OUTCOME_RESULT, REASON_NONE, "\"{\\\"a\\\":NaN\"" },
		{ TEXT_ROUTE(SURE), "{\"a\":NaN", BROKEN, NULL },
		{ chat, "{\"error\":{\"code\":502,\"retry\":NaN}}", BROKEN,
		  NULL }, /* JSON is due */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct trial trial;
		struct seen seen = answer(200, rows[i].body);

		trial_open(&trial, rows[i].contract, "");
		ask(&trial, &seen);
		expect(&trial, rows[i].body, rows[i].kind, rows[i].reason, rows[i].result);
		trial_close(&trial);
	}
}

/* Costs more than one match may, in each of the four places where a pattern can stand. */
#define SLOW "\"^(x+x+)+$\""

static void what_cant_be_judged_is_never_a_success(void **state)
{
	static const struct {
		const char *contract;
		enum outcome_kind kind;
		enum reason reason;
		const char *words;
	} rows[] = {
		{ "{\"checks\": [{\"pointer\": \"/a\", \"matches\": " SLOW
		  "}], \"routes\": [{\"provider\": \"p\"}]}",
		  BROKEN, "can't be judged" },
		{ "{\"result_schema\": {\"properties\": {\"a\": {\"pattern\": " SLOW
		  "}}}, \"routes\": [{\"provider\": \"p\"}]}",
		  BROKEN, "can't be judged" },
		{ "{\"routes\": [{\"provider\": \"p\", \"require\": [{\"pointer\": \"/a\", "
		  "\"matches\": " SLOW "}]}]}",
		  BROKEN, "can't be judged" },
		{ "{\"routes\": [{\"provider\": \"p\", \"doubt\": [{\"pointer\": \"/a\", "
		  "\"matches\": " SLOW "}]}]}",
		  OPEN, "doubts" },
	};
	struct text body;

	(void)state;
	text_init(&body, 1 << 20);
	text_add_str(&body, "{\"a\": \"");
	for (int i = 0; i < 30000; i++)
		text_add_str(&body, "x");
	text_add_str(&body, "!\"}");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct trial trial;
		struct seen seen = answer(200, body.bytes);

		trial_open(&trial, rows[i].contract, "");
		ask(&trial, &seen);
		if (!strstr(trial.outcome.detail.bytes, rows[i].words))
			fail_msg("%s: %s", rows[i].contract, trial.outcome.detail.bytes);
		expect(&trial, rows[i].contract, rows[i].kind, rows[i].reason, NULL);
		trial_close(&trial);
	}
	text_release(&body);
}

static void nothing_of_the_payload_is_told(void **state)
{
	static const char *const bodies[] = {
		SAID("\"tiger\""),
		SAID("\"{\\\"tiger\\\": 1, \\\"total\\\": 3, \\\"currency\\\": \\\"EUR\\\"}\""),
		SAID("\"{\\\"total\\\": 3, \\\"currency\\\": \\\"tiger\\\"}\""),
		ANSWER("tiger", "stop", "\"content\": " GOOD),
		ANSWER("a-1", "tiger", "\"content\": " GOOD),
	};
	struct trial trial;

	(void)state;
	trial_open(&trial, chat, "");
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		struct seen seen = answer(200, bodies[i]);

		ask(&trial, &seen);
		assert_null(strstr(trial.outcome.detail.bytes, "tiger"));
		expect(&trial, bodies[i], BROKEN, NULL);
	}
	trial_close(&trial);
}

#define STATUS_ROW                                                                                 \
	", \"status\": {\"url\": \"http://p/{{job.id}}\", \"state\": \"/state\", \"map\": "        \
	"{\"done\": \"succeeded\", \"no\": \"failed\"}, \"result\": \"/out\"}"

static void a_status_answers_result_meets_schema_and_checks_and_no_pointers(void **state)
{
	static const struct {
		const char *body;
		enum outcome_kind kind;
		enum reason reason;
		const char *result;
	} rows[] = {
		{ "{\"state\": \"done\", \"out\": " GOOD_RESULT "}", OUTCOME_RESULT, REASON_NONE,
		  GOOD_RESULT },
		{ "{\"state\": \"done\", \"out\": " GOOD "}", BROKEN, NULL },
		{ "{\"state\": \"done\", \"out\": {\"total\": 4, \"currency\": \"EUR\"}}", BROKEN,
		  NULL },
		{ "{\"state\": \"done\"}", BROKEN, NULL },
		{ "{\"state\": \"no\", \"out\": " GOOD_RESULT "}", OUTCOME_FAILED,
		  REASON_PROVIDER_FAILED, NULL },
		{ "{\"state\": \"busy\", \"out\": " GOOD_RESULT "}", OUTCOME_UNKNOWN, REASON_NONE,
		  NULL },
	};
	struct trial trial;

	(void)state;
	trial_open(&trial, chat, STATUS_ROW);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen seen = answer(200, rows[i].body);

		assert_int_equal(status_of(&seen, &trial.def, &trial.terms, &trial.outcome), RC_OK);
		expect(&trial, rows[i].body, rows[i].kind, rows[i].reason, rows[i].result);
	}
	trial_close(&trial);
}

static void a_callback_is_judged_by_its_form(void **state)
{
	static const struct {
		const char *body;
		enum outcome_kind kind;
		enum reason reason;
		const char *result;
	} rows[] = {
		{ "{\"outcome\": \"succeeded\", \"result\": " GOOD_RESULT "}", OUTCOME_RESULT,
		  REASON_NONE, GOOD_RESULT },
		{ "{\"outcome\": \"succeeded\", \"result\": {\"total\": 3}}", BROKEN, NULL },
		{ "{\"outcome\": \"succeeded\"}", BROKEN, NULL },
		{ "{\"outcome\": \"failed\", \"error\": \"no\"}", OUTCOME_FAILED,
		  REASON_PROVIDER_FAILED, NULL },
		{ SAID(GOOD), OUTCOME_RESULT, REASON_NONE, GOOD_RESULT },
		{ ANSWER("a-1", "length", "\"content\": " GOOD), BROKEN, NULL },
		{ GOOD_RESULT, BROKEN, NULL },
		{ "{\"error\": {\"code\": 503}}", OPEN, NULL },
		{ "not JSON", BROKEN, NULL },
	};
	struct trial trial;

	(void)state;
	trial_open(&trial, chat, "");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int gone = 0; gone <= 1; gone++) {
			assert_int_equal(callback_read(gone ? NULL : &trial.def, &trial.terms,
						       rows[i].body, strlen(rows[i].body),
						       &trial.outcome),
					 RC_OK);
			expect(&trial, rows[i].body, rows[i].kind, rows[i].reason, rows[i].result);
		}
	assert_int_equal(
		callback_read(NULL, NULL, GOOD_RESULT, strlen(GOOD_RESULT), &trial.outcome),
		RC_INVALID);
	trial_close(&trial);
}

/* A schema's words and a check's name are long; the detail holds no more than it may. */
static void the_longest_words_fit_the_detail(void **state)
{
	struct text contract, name;
	struct trial trial;

	(void)state;
	text_init(&name, 1 << 16);
	text_init(&contract, 1 << 16);
	for (int i = 0; i < 5000; i++)
		text_add_str(&name, "n");
	text_addf(&contract,
		  "{\"result_schema\": {\"properties\": {\"%s\": {\"properties\": {\"%s\": "
		  "false}}}}, \"routes\": [{\"provider\": \"p\"}]}",
		  name.bytes, name.bytes);
	trial_open(&trial, contract.bytes, STATUS_ROW);
	text_clear(&contract);
	text_addf(&contract, "{\"state\": \"done\", \"out\": {\"%s\": {\"%s\": 1}}}", name.bytes,
		  name.bytes);
	struct seen seen = answer(200, contract.bytes);

	assert_int_equal(status_of(&seen, &trial.def, &trial.terms, &trial.outcome), RC_OK);
	assert_non_null(strstr(trial.outcome.detail.bytes, "breaks the contract's schema"));
	expect(&trial, "long", BROKEN, NULL);
	trial_close(&trial);
	text_release(&contract);
	text_release(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_answer_is_stored_byte_for_byte),
		cmocka_unit_test(e02_an_error_inside_a_200_is_no_success),
		cmocka_unit_test(e03_json_in_a_fence_or_behind_prose_is_no_success),
		cmocka_unit_test(e04_an_answer_that_was_stopped_is_no_success),
		cmocka_unit_test(e05_a_refusal_or_a_filter_is_no_success),
		cmocka_unit_test(e06_what_ignores_the_schema_is_no_success),
		cmocka_unit_test(e08_an_answer_of_another_model_is_no_success),
		cmocka_unit_test(e09_a_stream_that_breaks_is_open_and_nothing_of_it_is_a_result),
		cmocka_unit_test(what_isnt_2xx_means_what_it_means_without_a_contract),
		cmocka_unit_test(a_status_that_the_row_calls_a_success_meets_the_contract_or_fails),
		cmocka_unit_test(whether_an_effect_was_done_is_the_contracts_word_alone),
		cmocka_unit_test(the_null_of_an_empty_answer_must_meet_the_contract),
		cmocka_unit_test(an_empty_answer_meets_no_require),
		cmocka_unit_test(the_routes_place_of_the_result_replaces_the_rows),
		cmocka_unit_test(a_body_taken_as_text_is_looked_into_where_the_route_has_checks),
		cmocka_unit_test(e02_a_doubt_in_broken_json_taken_as_text_is_no_success),
		cmocka_unit_test(what_isnt_meant_as_json_or_has_to_be_holds_no_doubt),
		cmocka_unit_test(what_cant_be_judged_is_never_a_success),
		cmocka_unit_test(nothing_of_the_payload_is_told),
		cmocka_unit_test(a_status_answers_result_meets_schema_and_checks_and_no_pointers),
		cmocka_unit_test(a_callback_is_judged_by_its_form),
		cmocka_unit_test(the_longest_words_fit_the_detail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
