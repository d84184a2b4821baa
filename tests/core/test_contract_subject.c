#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/contract.h"

#define TOKENIZER(limit)                                                                           \
	"{\"url\": \"http://t/\", \"request\": {\"prompt\": \"{{/p}}\", \"k\": 1}, \"tokens\": "   \
	"\"/t\", "                                                                                 \
	"\"detokenize_url\": \"http://d/\", \"limit\": " limit "}"

/* Text in it is replaced for each row. */
static const char base_contract[] =
	"{\"result_schema\": {\"type\": \"object\", \"maxProperties\": 9}, \"side_effects\": "
	"false, \"checks\": "
	"[{\"pointer\": \"/c\", \"equals\": 1}], \"routes\": [{\"provider\": \"other\"}, "
	"{\"provider\": \"mine\", \"request\": {\"m\": \"{{/p}}\", \"n\": [{\"o\": 256}]}, "
	"\"headers\": {\"X\": \"1\"}, "
	"\"result\": {\"pointer\": \"/r\"}, \"doubt\": [{\"pointer\": \"/d\", \"equals\": 1}], "
	"\"require\": [{\"pointer\": \"/q\", \"equals\": 1}], \"tokenizer\": " TOKENIZER(
		"10") "}], "
		      "\"on_failure\": {\"refused\": \"stop\"}, \"fixtures\": [{\"name\": \"n\", "
		      "\"input\": "
		      "{\"p\": \"hi\", \"i\": 1}, \"checks\": [{\"pointer\": \"/f\", \"equals\": "
		      "1}]}], "
		      "\"certify\": "
		      "{\"rounds\": 2, \"max_age_s\": 600, \"overrides\": {\"t\": 0}}}";

static const char base_provider[] =
	"{\"url\": \"http://p/\", \"method\": \"PUT\", \"headers\": {\"A\": \"${env:T}\"}, "
	"\"connect_timeout_ms\": 5, \"timeout_ms\": 50, \"max_in_flight\": 3, "
	"\"max_result_bytes\": 900, \"idempotency\": {\"header\": \"K\", \"honoured\": false}, "
	"\"side_effects\": true, \"outcomes\": {\"500\": \"failed\"}, \"retry\": {\"base_ms\": 7, "
	"\"max_ms\": 9}, \"result\": {\"pointer\": \"/a\"}, \"enabled\": true}";

struct row {
	const char *from, *to;
	bool changes;
};

static void replace(const char *text, const struct row *row, struct text *out)
{
	const char *at = strstr(text, row->from);

	if (!at)
		fail_msg("%s isn't there", row->from);
	text_add(out, text, (size_t)(at - text));
	text_add_str(out, row->to);
	text_add_str(out, at + strlen(row->from));
}

static void make_def(const char *text, struct provider_def *def_out)
{
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;

	flaws_init(&flaws);
	if (json_parse(text, strlen(text), 64, &doc, &error) != RC_OK ||
	    provider_def_read(json_root(doc), def_out, &flaws) != RC_OK)
		fail_msg("bad row: %s", text);
	json_free(doc);
}

static void subject_of(const char *text, const char *provider,
		       unsigned char subject_out[SHA256_BYTES])
{
	struct contract *contract;
	struct provider_def def;
	struct flaws flaws;

	flaws_init(&flaws);
	make_def(provider, &def);
	if (contract_read(text, strlen(text), &contract, &flaws) != RC_OK)
		fail_msg("%s: %s: %s", text, flaws.list[0].pointer, flaws.list[0].detail);
	assert_int_equal(
		contract_subject(contract, contract_route(contract, "mine"), &def, subject_out),
		RC_OK);
	contract_free(contract);
	provider_def_release(&def);
}

static const struct row contract_rows[] = {
	{ "\"type\": \"object\"", "\"type\": \"array\"", true },
	{ "\"result_schema\": {\"type\": \"object\", \"maxProperties\": 9}, ", "", true },
	{ "\"side_effects\": false", "\"side_effects\": true", true },
	{ "\"/c\", \"equals\": 1", "\"/c\", \"equals\": 2", true },
	{ "\"m\": \"{{/p}}\"", "\"m\": \"{{/q}}\"", true },
	{ "\"request\": {\"m\": \"{{/p}}\", \"n\": [{\"o\": 256}]}, ", "", true },
	{ "\"X\": \"1\"", "\"X\": \"2\"", true },
	{ "\"X\": \"1\"", "\"x\": \"1\"", true },
	{ "{\"pointer\": \"/r\"}", "{\"pointer\": \"/s\"}", true },
	{ "{\"pointer\": \"/r\"}", "{\"pointer\": \"/r\", \"as\": \"json\"}", true },
	{ "\"/d\", \"equals\": 1", "\"/d\", \"equals\": 2", true },
	{ "\"/q\", \"equals\": 1", "\"/q\", \"equals\": 2", true },
	{ "\"limit\": 10", "\"limit\": 11", true },
	{ ", \"tokenizer\": " TOKENIZER("10"), "", true },
	{ "\"name\": \"n\"", "\"name\": \"m\"", true },
	{ "\"p\": \"hi\"", "\"p\": \"ho\"", true },
	{ "\"/f\", \"equals\": 1", "\"/f\", \"equals\": 2", true },
	{ "\"rounds\": 2", "\"rounds\": 3", true },
	{ "\"overrides\": {\"t\": 0}", "\"overrides\": {\"t\": 1}", true },
	{ ", \"overrides\": {\"t\": 0}", "", true },
	{ ", \"overrides\": {\"t\": 0}", ", \"overrides\": {}", true },

	/* What is sent counts by its digits ... */
	{ "\"o\": 256", "\"o\": 256.0", true },
	{ "\"o\": 256", "\"o\": 2.56e2", true },
	{ "\"k\": 1", "\"k\": 1.0", true },
	{ "\"i\": 1", "\"i\": 1e0", true },
	{ "\"t\": 0", "\"t\": -0", true },
	{ "{\"m\": \"{{/p}}\", \"n\": [{\"o\": 256}]}",
	  "{\"n\":[ {\"\\u006f\" : 256}\n],\"m\":\"{{\\/p}}\"}", false },
	{ "{\"p\": \"hi\", \"i\": 1}", "{\"i\":1,\"p\":\"hi\"}", false },
	{ "{\"t\": 0}", "{ \"t\" :0 }", false },
	/* ... and what is judged by its value. */
	{ "\"maxProperties\": 9", "\"maxProperties\": 9.0", false },
	{ "\"/d\", \"equals\": 1", "\"/d\", \"equals\": 1.0", false },
	{ "\"/q\", \"equals\": 1", "\"/q\", \"equals\": 1.0", false },
	{ "\"/f\", \"equals\": 1", "\"/f\", \"equals\": 1.0", false },
	{ "\"limit\": 10", "\"limit\": 1e1", false },

	{ "\"refused\": \"stop\"", "\"refused\": \"retry\"", false },
	{ "\"on_failure\": {\"refused\": \"stop\"}, ", "", false },
	{ "\"max_age_s\": 600", "\"max_age_s\": 700", false },
	{ "{\"provider\": \"other\"}, ", "", false },
	{ "{\"provider\": \"other\"}", "{\"provider\": \"other\", \"request\": 1}", false },
	{ "\"certify\": {\"rounds\": 2, \"max_age_s\": 600", "\"certify\": {  \"rounds\" :2.0",
	  false },
	{ "\"pointer\": \"/c\", \"equals\": 1", "\"equals\":\n10e-1, \"pointer\": \"/\\u0063\"",
	  false },
	{ "{\"pointer\": \"/r\"}", "{ \"as\": \"value\", \"pointer\": \"/r\"}", false },
	{ "\"on_failure\": {\"refused\": \"stop\"}, \"fixtures\": [{\"name\": \"n\", ",
	  "\"fixtures\": [{\"name\":\"n\",", false },
};

static void a_change_in_what_is_proven_changes_the_subject_and_no_other_does(void **state)
{
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];

	(void)state;
	subject_of(base_contract, base_provider, before);
	for (size_t i = 0; i < sizeof contract_rows / sizeof contract_rows[0]; i++) {
		struct text text;

		text_init(&text, 8192);
		replace(base_contract, &contract_rows[i], &text);
		subject_of(text.bytes, base_provider, after);
		if ((memcmp(before, after, sizeof after) != 0) != contract_rows[i].changes)
			fail_msg("%s -> %s", contract_rows[i].from, contract_rows[i].to);
		text_release(&text);
	}
}

static const struct row provider_rows[] = {
	{ "http://p/", "http://q/", true },
	{ "PUT", "POST", true },
	{ "${env:T}", "${env:U}", true },
	{ "\"connect_timeout_ms\": 5", "\"connect_timeout_ms\": 6", true },
	{ "\"timeout_ms\": 50", "\"timeout_ms\": 51", true },
	{ "\"max_result_bytes\": 900", "\"max_result_bytes\": 901", true },
	{ "\"header\": \"K\"", "\"header\": \"L\"", true },
	{ "\"honoured\": false", "\"honoured\": true", true },
	{ "\"side_effects\": true", "\"side_effects\": false", true },
	{ "\"500\": \"failed\"", "\"501\": \"failed\"", true },
	{ "\"pointer\": \"/a\"", "\"pointer\": \"/b\"", true },
	{ "\"enabled\"", "\"accepted\": {}, \"enabled\"", true },

	{ "\"enabled\": true", "\"enabled\": false", false },
	{ "\"max_in_flight\": 3", "\"max_in_flight\": 4", false },
	{ "\"base_ms\": 7", "\"base_ms\": 8", false },
	{ ", \"retry\": {\"base_ms\": 7, \"max_ms\": 9}", "", false },
	{ "{\"url\": \"http://p/\", \"method\": \"PUT\"",
	  "{\"method\" : \"PUT\",\n\"url\":\"http:\\/\\/p/\"", false },
};

static void a_change_in_the_providers_row_counts_unless_it_is_one_of_three(void **state)
{
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES], whole[SHA256_BYTES],
		now[SHA256_BYTES];
	struct provider_def def;

	(void)state;
	subject_of(base_contract, base_provider, whole);
	make_def(base_provider, &def);
	assert_int_equal(contract_provider_subject(&def, before), RC_OK);
	provider_def_release(&def);
	for (size_t i = 0; i < sizeof provider_rows / sizeof provider_rows[0]; i++) {
		struct text text;

		text_init(&text, 8192);
		replace(base_provider, &provider_rows[i], &text);
		make_def(text.bytes, &def);
		assert_int_equal(contract_provider_subject(&def, after), RC_OK);
		subject_of(base_contract, text.bytes, now);
		if ((memcmp(before, after, sizeof after) != 0) != provider_rows[i].changes ||
		    (memcmp(whole, now, sizeof now) != 0) != provider_rows[i].changes)
			fail_msg("%s -> %s", provider_rows[i].from, provider_rows[i].to);
		provider_def_release(&def);
		text_release(&text);
	}
}

static void routes_in_another_order_keep_their_subjects(void **state)
{
	static const struct row row = { "\"routes\": [{\"provider\": \"other\"}, ", "\"routes\": [",
					false };
	static const struct row end = { "}], \"on_failure\"",
					"}, {\"provider\": \"other\"}], \"on_failure\"", false };
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	struct text half, text;

	(void)state;
	text_init(&half, 8192);
	text_init(&text, 8192);
	replace(base_contract, &row, &half);
	replace(half.bytes, &end, &text);
	subject_of(base_contract, base_provider, before);
	subject_of(text.bytes, base_provider, after);
	assert_memory_equal(before, after, sizeof after);
	text_release(&half);
	text_release(&text);
}

static void what_is_stored_has_the_subject_of_what_was_sent(void **state)
{
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	struct contract *contract;
	struct flaws flaws;
	struct text written;

	(void)state;
	flaws_init(&flaws);
	text_init(&written, 8192);
	assert_int_equal(contract_read(base_contract, strlen(base_contract), &contract, &flaws),
			 RC_OK);
	contract_write(contract, &written);
	subject_of(base_contract, base_provider, before);
	subject_of(written.bytes, base_provider, after);
	assert_memory_equal(before, after, sizeof after);
	contract_free(contract);
	text_release(&written);
}

/* Certificates go by this digest: where it comes out another way, what is proven means something
 * else, and the rule version must say so. */
static void a_subject_is_made_in_another_way_only_under_another_rule_version(void **state)
{
	static const char known[] =
		"64199802c48a05790240df68d45dc5ac83d8d2f450fef16502eff931c09bbdcd";
	unsigned char subject[SHA256_BYTES];
	struct text hex;

	(void)state;
	assert_int_equal(CONTRACT_RULE_VERSION, 2);
	text_init(&hex, 2 * SHA256_BYTES);
	subject_of(base_contract, base_provider, subject);
	text_add_hex(&hex, subject, sizeof subject);
	assert_string_equal(hex.bytes, known);
	text_release(&hex);
}

static void each_route_has_a_subject_of_its_own(void **state)
{
	unsigned char mine[SHA256_BYTES], other[SHA256_BYTES];
	struct contract *contract;
	struct provider_def def;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	make_def(base_provider, &def);
	assert_int_equal(contract_read(base_contract, strlen(base_contract), &contract, &flaws),
			 RC_OK);
	assert_int_equal(contract_subject(contract, &contract->routes[0], &def, other), RC_OK);
	assert_int_equal(contract_subject(contract, &contract->routes[1], &def, mine), RC_OK);
	assert_memory_not_equal(mine, other, sizeof mine);
	contract_free(contract);
	provider_def_release(&def);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_in_what_is_proven_changes_the_subject_and_no_other_does),
		cmocka_unit_test(a_change_in_the_providers_row_counts_unless_it_is_one_of_three),
		cmocka_unit_test(routes_in_another_order_keep_their_subjects),
		cmocka_unit_test(what_is_stored_has_the_subject_of_what_was_sent),
		cmocka_unit_test(a_subject_is_made_in_another_way_only_under_another_rule_version),
		cmocka_unit_test(each_route_has_a_subject_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
