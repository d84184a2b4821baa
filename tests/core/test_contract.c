#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/certify.h"
#include "core/contract.h"
#include "core/template.h"

#define TOKENIZER                                                                                  \
	"{\"url\": \"http://t/tokenize\", \"request\": {\"content\": \"{{/p}}\", "                 \
	"\"add_special\": true}, \"tokens\": \"/tokens\", "                                        \
	"\"detokenize_url\": \"http://t/detokenize\", \"limit\": 4096}"

/* Every member there is, no value a default's. */
static const char full[] =
	"{ \"result_schema\" : {\"type\": \"object\", \"minimum\": 1.50},"
	" \"side_effects\": false,"
	" \"checks\": [{\"pointer\": \"/total\", \"min\": 0.10, \"max\": 1e2}],"
	" \"routes\": [{\"provider\": \"first\"},"
	"  {\"provider\": \"second\", \"request\": {\"m\": \"{{/p}}\", \"t\": 0.70},"
	"   \"headers\": {\"X-A\": \"{{job.id}}\", \"Authorization\": \"Bearer ${env:T}\"},"
	"   \"result\": {\"pointer\": \"/choices/0\", \"as\": \"json\"},"
	"   \"doubt\": [{\"pointer\": \"/error/code\", \"min\": 500}],"
	"   \"require\": [{\"pointer\": \"/f\", \"equals\": \"stop\"}],"
	"   \"tokenizer\": " TOKENIZER "}],"
	" \"on_failure\": {\"never_sent\": \"retry\", \"refused\": \"stop\","
	"  \"retry_later\": \"next_route\", \"contract_violation\": \"retry\"},"
	" \"fixtures\": [{\"name\": \"one\", \"input\": {\"n\": 1.0, \"p\": \"hi\"}, \"checks\": "
	"[{\"pointer\": "
	"\"\", \"equals\": 1.00}]}, {\"input\": null, \"name\": \"two\"}],"
	" \"certify\": {\"rounds\": 5, \"max_age_s\": 60, \"overrides\": {\"temperature\": 0.0}} }";

#define LEAST "{\"routes\": [{\"provider\": \"p\"}]}"

static struct contract *read_ok(const char *text)
{
	struct contract *contract;
	struct flaws flaws;

	flaws_init(&flaws);
	if (contract_read(text, strlen(text), &contract, &flaws) != RC_OK)
		fail_msg("%s: %s %s", text, flaws.len ? flaws.list[0].pointer : "?",
			 flaws.len ? flaws.list[0].detail : "");
	return contract;
}

static void only_routes_are_required_and_the_rest_has_its_defaults(void **state)
{
	struct contract *contract = read_ok(LEAST);

	(void)state;
	assert_null(contract->schema);
	assert_true(contract->side_effects);
	assert_int_equal(contract->routes_len, 1);
	assert_string_equal(contract->routes[0].result_pointer, "");
	assert_int_equal(contract->routes[0].result_as, RESULT_AS_VALUE);
	assert_false(contract->routes[0].has_tokenizer);
	assert_null(contract->routes[0].request);
	assert_int_equal(contract->on_failure[POLICY_ON_NEVER_SENT], POLICY_NEXT_ROUTE);
	assert_int_equal(contract->on_failure[POLICY_ON_REFUSED], POLICY_NEXT_ROUTE);
	assert_int_equal(contract->on_failure[POLICY_ON_RETRY_LATER], POLICY_RETRY);
	assert_int_equal(contract->on_failure[POLICY_ON_VIOLATION], POLICY_STOP);
	assert_int_equal(contract->rounds, 3);
	assert_int_equal(contract->max_age_s, 604800);
	assert_null(contract->overrides);
	assert_false(contract_can_certify(contract));
	contract_free(contract);

	contract = read_ok("{\"side_effects\": false, \"routes\": [{\"provider\": \"p\"}]}");
	assert_int_equal(contract->on_failure[POLICY_ON_VIOLATION], POLICY_NEXT_ROUTE);
	contract_free(contract);
	contract_free(NULL);
}

static void every_member_is_read(void **state)
{
	struct contract *contract = read_ok(full);
	const struct route *route = contract_route(contract, "second");

	(void)state;
	assert_non_null(contract->schema);
	assert_ptr_equal(route, &contract->routes[1]);
	assert_null(contract_route(contract, "third"));
	assert_string_equal(route->result_pointer, "/choices/0");
	assert_int_equal(route->result_as, RESULT_AS_JSON);
	assert_int_equal(route->doubt.len, 1);
	assert_int_equal(route->require.len, 1);
	assert_true(route->has_tokenizer);
	assert_string_equal(route->tokenizer.prompt_name, "content");
	assert_int_equal(route->tokenizer.limit, 4096);
	assert_true(json_is_string(route->tokenizer.url, "http://t/tokenize"));
	assert_true(json_is_string(contract_route_header(route, "x-a"), "{{job.id}}"));
	assert_null(contract_route_header(route, "x"));
	assert_null(contract_route_header(&contract->routes[0], "x-a"));
	assert_int_equal(contract->on_failure[POLICY_ON_REFUSED], POLICY_STOP);
	assert_int_equal(contract->fixtures_len, 2);
	assert_true(json_is_string(contract->fixtures[1].name, "two"));
	assert_int_equal(contract->fixtures[1].input->type, JSON_NULL);
	assert_true(contract_can_certify(contract));
	assert_int_equal(contract->rounds, 5);
	contract_free(contract);
}

static void what_is_written_is_what_was_read_to_the_digit(void **state)
{
	static const char *const kept[] = {
		"\"minimum\": 1.50",
		"\"min\": 0.10, \"max\": 1e2",
		"\"t\": 0.70",
		"{\"temperature\": 0.0}",
		"{\"n\": 1.0, \"p\": \"hi\"}",
		"\"equals\": 1.00",
		"\"tokenizer\": " TOKENIZER,
		"\"Bearer ${env:T}\"",
		("\"never_sent\": \"retry\", \"refused\": \"stop\", \"retry_later\": "
		 "\"next_route\", "
		 "\"contract_violation\": \"retry\""),
		"\"rounds\": 5, \"max_age_s\": 60",
		("{\"provider\": \"first\", \"result\": {\"pointer\": \"\", \"as\": \"value\"}, "
		 "\"doubt\": [], \"require\": []}"),
	};
	struct contract *contract = read_ok(full);
	struct text once, twice;

	(void)state;
	text_init(&once, CONTRACT_MAX_BYTES);
	text_init(&twice, CONTRACT_MAX_BYTES);
	contract_write(contract, &once);
	assert_true(text_ok(&once));
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (!strstr(once.bytes, kept[i]))
			fail_msg("%s isn't in %s", kept[i], once.bytes);
	contract_free(contract);
	contract = read_ok(once.bytes);
	contract_write(contract, &twice);
	assert_string_equal(once.bytes, twice.bytes);
	contract_free(contract);
	text_clear(&once);

	contract = read_ok(LEAST);
	contract_write(contract, &once);
	assert_string_equal(
		once.bytes,
		"{\"side_effects\": true, \"checks\": [], \"routes\": [{\"provider\": \"p\", "
		"\"result\": {\"pointer\": \"\", \"as\": \"value\"}, \"doubt\": [], \"require\": "
		"[]}], \"on_failure\": {\"never_sent\": \"next_route\", \"refused\": "
		"\"next_route\", \"retry_later\": \"retry\", \"contract_violation\": \"stop\"}, "
		"\"fixtures\": [], \"certify\": {\"rounds\": 3, \"max_age_s\": 604800}}");
	contract_free(contract);
	text_release(&once);
	text_release(&twice);
}

/* A definition with one more member, a route, a route with one more, a tokenizer with one changed.
 */
#define TOP(m) "{\"routes\": [{\"provider\": \"p\"}], " m "}"
#define ROUTE(m) "{\"routes\": [{\"provider\": \"p\", " m "}]}"
#define HEADER(n, v) ROUTE("\"headers\": {\"" n "\": " v "}")
#define TOKENS(u, r, t, d, l)                                                                      \
	ROUTE("\"tokenizer\": {\"url\": " u ", \"request\": " r ", \"tokens\": " t                 \
	      ", \"detokenize_url\": " d ", \"limit\": " l "}")
#define U "\"http://t/\""
#define R "{\"prompt\": \"{{/p}}\"}"
#define FIXTURE(m) TOP("\"fixtures\": [{" m "}]")

static const struct {
	const char *text, *pointer;
} bad_rows[] = {
	{ "", "" },
	{ "{", "" },
	{ "[]", "" },
	{ "null", "" },
	{ LEAST " x", "" },
	{ "{}", "/routes" },
	{ TOP("\"route\": 1"), "/route" },
	{ TOP("\"a/b\": 1"), "/a~1b" },
	{ TOP("\"checks\\u0000\": []"), "/checks\xef\xbf\xbd" },
	{ TOP("\"result_schema\": 1"), "/result_schema" },
	{ TOP("\"result_schema\": null"), "/result_schema" },
	{ TOP("\"result_schema\": {\"type\": 1}"), "/result_schema/type" },
	{ TOP("\"side_effects\": null"), "/side_effects" },
	{ TOP("\"side_effects\": \"no\""), "/side_effects" },
	{ TOP("\"checks\": {}"), "/checks" },
	{ TOP("\"checks\": [{\"pointer\": \"/a\"}]"), "/checks/0" },
	{ TOP("\"checks\": [{\"pointer\": \"/a\", \"matches\": \"(\"}]"), "/checks/0/matches" },
	{ "{\"routes\": []}", "/routes" },
	{ "{\"routes\": {}}", "/routes" },
	{ "{\"routes\": null}", "/routes" },
	{ "{\"routes\": [1]}", "/routes/0" },
	{ "{\"routes\": [{}]}", "/routes/0/provider" },
	{ "{\"routes\": [{\"provider\": 1}]}", "/routes/0/provider" },
	{ "{\"routes\": [{\"provider\": \"\"}]}", "/routes/0/provider" },
	{ "{\"routes\": [{\"provider\": \"A\"}]}", "/routes/0/provider" },
	{ "{\"routes\": [{\"provider\": \"a\\u0000\"}]}", "/routes/0/provider" },
	{ "{\"routes\": [{\"provider\": \"a\"}, {\"provider\": \"b\"}, {\"provider\": \"a\"}]}",
	  "/routes/2/provider" },
	{ ROUTE("\"requests\": 1"), "/routes/0/requests" },
	{ ROUTE("\"request\": \"{{x}}\""), "/routes/0/request" },
	{ ROUTE("\"request\": [{\"a\": \"{{}}\"}]"), "/routes/0/request/0/a" },
	{ ROUTE("\"headers\": []"), "/routes/0/headers" },
	{ HEADER("a b", "\"\""), "/routes/0/headers/a b" },
	{ HEADER("", "\"\""), "/routes/0/headers" },
	{ HEADER("Host", "\"\""), "/routes/0/headers/Host" },
	{ HEADER("traceparent", "\"\""), "/routes/0/headers/traceparent" },
	{ HEADER("idempotency-KEY", "\"\""), "/routes/0/headers/idempotency-KEY" },
	{ ROUTE("\"headers\": {\"X\": \"\", \"x\": \"\"}"), "/routes/0/headers/x" },
	{ HEADER("X", "1"), "/routes/0/headers/X" },
	{ HEADER("X", "\"a\\r\\nB: c\""), "/routes/0/headers/X" },
	{ HEADER("X", "\"${env:}\""), "/routes/0/headers/X" },
	{ HEADER("X", "\"${env:{{/a}}}\""), "/routes/0/headers/X" },
	{ HEADER("X", "\"{{key}}\""), "/routes/0/headers/X" },
	{ ROUTE("\"result\": \"/a\""), "/routes/0/result" },
	{ ROUTE("\"result\": {\"pointer\": \"a\"}"), "/routes/0/result/pointer" },
	{ ROUTE("\"result\": {\"pointer\": \"/a\\u0000\"}"), "/routes/0/result/pointer" },
	{ ROUTE("\"result\": {\"as\": \"xml\"}"), "/routes/0/result/as" },
	{ ROUTE("\"result\": {\"at\": 1}"), "/routes/0/result/at" },
	{ ROUTE("\"doubt\": 1"), "/routes/0/doubt" },
	{ ROUTE("\"doubt\": [1]"), "/routes/0/doubt/0" },
	{ ROUTE("\"require\": [{\"pointer\": \"/a\", \"equals\": 1, \"in\": []}]"),
	  "/routes/0/require/0/in" },
	{ ROUTE("\"tokenizer\": 1"), "/routes/0/tokenizer" },
	{ ROUTE("\"tokenizer\": {}"), "/routes/0/tokenizer/url" },
	{ TOKENS("\"t/\"", R, "\"\"", U, "1"), "/routes/0/tokenizer/url" },
	{ TOKENS("1", R, "\"\"", U, "1"), "/routes/0/tokenizer/url" },
	{ TOKENS("\"http://h/{{job.id}}\"", R, "\"\"", U, "1"), "/routes/0/tokenizer/url" },
	{ TOKENS(U, "1", "\"\"", U, "1"), "/routes/0/tokenizer/request" },
	{ TOKENS(U, "{}", "\"\"", U, "1"), "/routes/0/tokenizer/request" },
	{ TOKENS(U, "{\"prompt\": 1, \"content\": 1}", "\"\"", U, "1"),
	  "/routes/0/tokenizer/request" },
	{ TOKENS(U, "{\"prompt\": \"{{prompt}}\"}", "\"\"", U, "1"),
	  "/routes/0/tokenizer/request/prompt" },
	{ TOKENS(U, R, "\"t\"", U, "1"), "/routes/0/tokenizer/tokens" },
	{ TOKENS(U, R, "1", U, "1"), "/routes/0/tokenizer/tokens" },
	{ TOKENS(U, R, "\"\"", "\"\"", "1"), "/routes/0/tokenizer/detokenize_url" },
	{ TOKENS(U, R, "\"\"", U, "0"), "/routes/0/tokenizer/limit" },
	{ TOKENS(U, R, "\"\"", U, "100000001"), "/routes/0/tokenizer/limit" },
	{ TOKENS(U, R, "\"\"", U, "1.5"), "/routes/0/tokenizer/limit" },
	{ TOP("\"on_failure\": []"), "/on_failure" },
	{ TOP("\"on_failure\": {\"refuse\": \"stop\"}"), "/on_failure/refuse" },
	{ TOP("\"on_failure\": {\"refused\": \"Stop\"}"), "/on_failure/refused" },
	{ TOP("\"on_failure\": {\"never_sent\": null}"), "/on_failure/never_sent" },
	{ TOP("\"on_failure\": {\"contract_violation\": \"next_route\"}"),
	  "/on_failure/contract_violation" },
	{ TOP("\"on_failure\": {\"contract_violation\": \"retry\"}, \"side_effects\": true"),
	  "/on_failure/contract_violation" },
	{ TOP("\"fixtures\": {}"), "/fixtures" },
	{ TOP("\"fixtures\": [1]"), "/fixtures/0" },
	{ FIXTURE("\"name\": \"a\""), "/fixtures/0/input" },
	{ FIXTURE("\"input\": 1"), "/fixtures/0/name" },
	{ FIXTURE("\"name\": \"\", \"input\": 1"), "/fixtures/0/name" },
	{ FIXTURE("\"name\": 1, \"input\": 1"), "/fixtures/0/name" },
	{ FIXTURE("\"name\": \"a\", \"input\": 1, \"output\": 1"), "/fixtures/0/output" },
	{ FIXTURE("\"name\": \"a\", \"input\": 1}, {\"input\": 1, \"name\": \"\\u0061\""),
	  "/fixtures/1/name" },
	{ FIXTURE("\"name\": \"a\", \"input\": 1, \"checks\": [{}]"),
	  "/fixtures/0/checks/0/pointer" },
	{ TOP("\"certify\": []"), "/certify" },
	{ TOP("\"certify\": {\"rounds\": 0}"), "/certify/rounds" },
	{ TOP("\"certify\": {\"rounds\": 101}"), "/certify/rounds" },
	{ TOP("\"certify\": {\"max_age_s\": 59}"), "/certify/max_age_s" },
	{ TOP("\"certify\": {\"max_age_s\": 31622401}"), "/certify/max_age_s" },
	{ TOP("\"certify\": {\"overrides\": null}"), "/certify/overrides" },
	{ TOP("\"certify\": {\"round\": 1}"), "/certify/round" },
};

static void each_bad_member_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
		struct contract *contract;
		struct flaws flaws;

		flaws_init(&flaws);
		if (contract_read(bad_rows[i].text, strlen(bad_rows[i].text), &contract, &flaws) !=
		    RC_INVALID)
			fail_msg("taken: %s", bad_rows[i].text);
		assert_null(contract);
		if (flaws.len == 0 || strcmp(flaws.list[0].pointer, bad_rows[i].pointer) != 0)
			fail_msg("%s: %s: %s", bad_rows[i].text,
				 flaws.len ? flaws.list[0].pointer : "no flaw",
				 flaws.len ? flaws.list[0].detail : "");
		flaws_release(&flaws);
	}
}

static void every_flaw_is_told_at_once(void **state)
{
	static const char text[] =
		"{\"x\": 1, \"checks\": [1, {\"pointer\": \"a\", \"equals\": 1}], \"routes\": "
		"[{\"provider\": \"p\", \"request\": \"{{\", \"headers\": {\"Host\": \"\"}, "
		"\"tokenizer\": {\"limit\": 0}}, 2], \"certify\": {\"rounds\": \"3\"}}";
	static const char *const pointers[] = { "/x",
						"/checks/0",
						"/checks/1/pointer",
						"/routes/0/request",
						"/routes/0/headers/Host",
						"/routes/0/tokenizer/limit",
						"/routes/0/tokenizer/url",
						"/routes/0/tokenizer/request",
						"/routes/0/tokenizer/tokens",
						"/routes/0/tokenizer/detokenize_url",
						"/routes/1",
						"/certify/rounds" };
	struct contract *contract;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(contract_read(text, strlen(text), &contract, &flaws), RC_INVALID);
	assert_int_equal(flaws.count, sizeof pointers / sizeof pointers[0]);
	for (size_t i = 0; i < flaws.len; i++)
		assert_string_equal(flaws.list[i].pointer, pointers[i]);
	flaws_release(&flaws);
}

static void one_too_many_is_refused(void **state)
{
	static const struct {
		const char *before, *each, *after, *pointer;
		size_t max;
	} rows[] = {
		{ "{\"routes\": [", "{\"provider\": \"p%zu\"}", "]}", "/routes",
		  CONTRACT_ROUTES_MAX },
		{ "{\"routes\": [{\"provider\": \"p\"}], \"fixtures\": [",
		  "{\"name\": \"%zu\", \"input\": 1}", "]}", "/fixtures", CONTRACT_FIXTURES_MAX },
		{ "{\"routes\": [{\"provider\": \"p\", \"headers\": {", "\"h%zu\": \"\"", "}}]}",
		  "/routes/0/headers", PROVIDER_HEADERS_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t count = rows[i].max; count <= rows[i].max + 1; count++) {
			struct contract *contract;
			struct flaws flaws;
			struct text text;

			flaws_init(&flaws);
			text_init(&text, 1 << 16);
			text_add_str(&text, rows[i].before);
			for (size_t k = 0; k < count; k++) {
				char each[64];

				snprintf(each, sizeof each, rows[i].each, k);
				text_addf(&text, "%s%s", k ? ", " : "", each);
			}
			text_add_str(&text, rows[i].after);
			enum rc rc = contract_read(text.bytes, text.len, &contract, &flaws);
			assert_int_equal(rc, count > rows[i].max ? RC_INVALID : RC_OK);
			if (rc != RC_OK)
				assert_string_equal(flaws.list[0].pointer, rows[i].pointer);
			contract_free(contract);
			flaws_release(&flaws);
			text_release(&text);
		}
}

/* As long as it may be when it is written with its defaults, and one byte longer. */
static void what_is_stored_can_always_be_read_again(void **state)
{
	struct contract *contract;
	struct flaws flaws;
	struct text text, written;
	size_t least_written;

	(void)state;
	text_init(&text, 2 * CONTRACT_MAX_BYTES);
	text_init(&written, 2 * CONTRACT_MAX_BYTES);
	contract = read_ok(ROUTE("\"request\": \"\""));
	contract_write(contract, &written);
	least_written = written.len;
	contract_free(contract);
	for (size_t more = 0; more <= 1; more++) {
		flaws_init(&flaws);
		text_clear(&text);
		text_clear(&written);
		text_add_str(&text, "{\"routes\": [{\"provider\": \"p\", \"request\": \"");
		for (size_t i = 0; i < CONTRACT_MAX_BYTES - least_written + more; i++)
			text_add(&text, "x", 1);
		text_add_str(&text, "\"}]}");
		enum rc rc = contract_read(text.bytes, text.len, &contract, &flaws);
		assert_int_equal(rc, more ? RC_INVALID : RC_OK);
		if (rc == RC_OK) {
			contract_write(contract, &written);
			assert_int_equal(written.len, CONTRACT_MAX_BYTES);
			contract_free(contract);
			assert_int_equal(
				contract_read(written.bytes, written.len, &contract, &flaws),
				RC_OK);
			contract_free(contract);
		}
		flaws_release(&flaws);
	}
	text_release(&text);
	text_release(&written);
}

static void depth_and_length_are_bounded(void **state)
{
	static char deep[1000], wide[CONTRACT_MAX_BYTES + 2];
	struct contract *contract;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	memset(deep, '[', sizeof deep);
	memset(wide, ' ', sizeof wide);
	assert_int_equal(contract_read(deep, sizeof deep, &contract, &flaws), RC_INVALID);
	assert_int_equal(contract_read(wide, CONTRACT_MAX_BYTES + 1, &contract, &flaws),
			 RC_INVALID);
	assert_string_equal(flaws.list[1].detail, "is longer than 1048576 bytes");
	flaws_release(&flaws);
}

static void each_reason_of_a_failure_has_its_row(void **state)
{
	static const struct {
		enum reason reason;
		enum policy_on on;
	} rows[] = {
		{ REASON_NEVER_SENT, POLICY_ON_NEVER_SENT },
		{ REASON_RETRY_LATER, POLICY_ON_RETRY_LATER },
		{ REASON_REFUSED, POLICY_ON_REFUSED },
		{ REASON_REDIRECT, POLICY_ON_REFUSED },
		{ REASON_TEMPLATE, POLICY_ON_REFUSED },
		{ REASON_PROVIDER_FAILED, POLICY_ON_REFUSED },
		{ REASON_OPERATOR, POLICY_ON_REFUSED },
	};

	(void)state;
	for (int reason = 0; reason < REASON__MAX; reason++) {
		enum policy_on want = POLICY_ON_VIOLATION;

		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
			if ((int)rows[i].reason == reason)
				want = rows[i].on;
		assert_int_equal(policy_on_reason((enum reason)reason), want);
	}
	assert_string_equal(policy_name(POLICY_NEXT_ROUTE), "next_route");
	assert_null(policy_name(POLICY__MAX));
}

static void a_result_is_judged_by_schema_then_checks(void **state)
{
	static const struct {
		const char *result;
		enum contract_verdict want;
	} rows[] = {
		{ "{\"total\": 3}", CONTRACT_MET },
		{ " {\"total\": 3.0} ", CONTRACT_MET },
		{ "{\"total\": 4}", CONTRACT_BROKEN },
		{ "{\"total\": \"3\"}", CONTRACT_BROKEN },
		{ "{}", CONTRACT_BROKEN },
		{ "null", CONTRACT_BROKEN },
		{ "[{\"total\": 3}]", CONTRACT_BROKEN },
	};
	struct contract *contract =
		read_ok(TOP("\"result_schema\": {\"type\": \"object\", \"required\": [\"total\"]}, "
			    "\"checks\": [{\"pointer\": \"/total\", \"equals_input\": \"/t\"}]"));
	struct json_doc *input;
	struct json_error error;
	enum contract_verdict verdict;
	struct text why;

	(void)state;
	assert_int_equal(json_parse("{\"t\": 3}", 8, 64, &input, &error), RC_OK);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		text_init(&why, 2048);
		assert_int_equal(contract_judge(contract, rows[i].result, strlen(rows[i].result),
						json_root(input), &verdict, &why),
				 RC_OK);
		if (verdict != rows[i].want)
			fail_msg("%s: %d %s", rows[i].result, (int)verdict, why.bytes);
		assert_int_equal(why.len > 0, verdict != CONTRACT_MET);
		text_release(&why);
	}
	text_init(&why, 2048);
	assert_int_equal(
		contract_judge(contract, "{\"total\": 3", 11, json_root(input), &verdict, &why),
		RC_INVALID);
	assert_int_equal(verdict, CONTRACT_UNJUDGED);
	assert_int_equal(contract_judge(contract, "{\"total\": 3}", 12, NULL, &verdict, &why),
			 RC_OK);
	assert_int_equal(verdict, CONTRACT_BROKEN);
	text_release(&why);
	json_free(input);
	contract_free(contract);
}

/* Whatever is sent of it is JSON, or can't be made. */
static void send_all(const struct contract *contract, const struct route *route, uint32_t seed)
{
	const struct template_values values = { .job_id = "J", .attempt_id = "A" };
	struct certify *certify;
	struct json_doc *doc;
	struct json_error error;
	struct text out;

	assert_int_equal(certify_open(contract, route, &certify), RC_OK);
	text_init(&out, 1 << 16);
	for (uint32_t i = 0; i < 20 && certify_next(certify) != CERTIFY_DONE; i++) {
		enum certify_step step = certify_next(certify);
		enum rc rc = certify_body(certify, &values, &out);

		if (rc != RC_OK && rc != RC_INVALID)
			fail_msg("seed %u: %d", seed, (int)rc);
		if (rc == RC_OK && json_parse(out.bytes, out.len, 128, &doc, &error) != RC_OK)
			fail_msg("seed %u: %s", seed, out.bytes);
		if (rc == RC_OK)
			json_free(doc);
		if (rc == RC_OK && step == CERTIFY_WORK)
			certify_work_answer(certify, &(struct outcome){ .kind = OUTCOME_UNKNOWN });
		else if (rc == RC_OK)
			certify_tokenizer_answer(certify, true,
						 "{\"tokens\": [1], \"content\": \"hi\"}", 32, "");
		text_clear(&out);
	}
	text_release(&out);
	certify_free(certify);
}

/* Any text that comes of a good definition by a few random changes is read or refused, and what is
 * read is what is written. */
static void a_mutated_definition_is_read_or_refused(void **state)
{
	static const char bytes[] = "{}[]\",:\\0123e.-truefalsn/~$ \x00\xff\xc3";
	static char text[2 * sizeof full];
	unsigned int read = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 20000; seed++) {
		uint32_t random = seed * 2654435761u | 1;
		size_t len = sizeof full - 1;
		struct contract *contract;
		struct flaws flaws;

		memcpy(text, full, len);
		for (uint32_t changes = 1 + seed % 3; changes > 0; changes--) {
			random = random * 1664525u + 1013904223u;
			size_t at = (random >> 8) % len;
			random = random * 1664525u + 1013904223u;
			char byte = bytes[(random >> 8) % (sizeof bytes - 1)];

			if (random % 3 == 0) { /* gone */
				memmove(text + at, text + at + 1, len - at - 1);
				len--;
			} else if (random % 3 == 1) { /* more */
				memmove(text + at + 1, text + at, len - at);
				text[at] = byte;
				len++;
			} else {
				text[at] = byte;
			}
		}
		flaws_init(&flaws);
		enum rc rc = contract_read(text, len, &contract, &flaws);
		if (rc == RC_OK ? flaws.count != 0 : rc != RC_INVALID || flaws.count == 0)
			fail_msg("seed %u: %d, %zu flaws", seed, (int)rc, flaws.count);
		if (rc == RC_OK) {
			struct text once;

			read++;
			text_init(&once, CONTRACT_MAX_BYTES);
			for (size_t i = 0; i < contract->routes_len; i++)
				send_all(contract, &contract->routes[i], seed);
			contract_write(contract, &once);
			contract_free(contract);
			if (contract_read(once.bytes, once.len, &contract, &flaws) != RC_OK)
				fail_msg("seed %u: %s", seed, once.bytes);
			contract_free(contract);
			text_release(&once);
		}
		flaws_release(&flaws);
	}
	assert_in_range(read, 1000, 19000); /* both ends are tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_routes_are_required_and_the_rest_has_its_defaults),
		cmocka_unit_test(every_member_is_read),
		cmocka_unit_test(what_is_written_is_what_was_read_to_the_digit),
		cmocka_unit_test(each_bad_member_is_named),
		cmocka_unit_test(every_flaw_is_told_at_once),
		cmocka_unit_test(one_too_many_is_refused),
		cmocka_unit_test(what_is_stored_can_always_be_read_again),
		cmocka_unit_test(depth_and_length_are_bounded),
		cmocka_unit_test(each_reason_of_a_failure_has_its_row),
		cmocka_unit_test(a_result_is_judged_by_schema_then_checks),
		cmocka_unit_test(a_mutated_definition_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
