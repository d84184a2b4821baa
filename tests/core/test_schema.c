/* test_schema.c: what the official suite doesn't ask (see test_schema_suite.c): refusals and their
 * pointers, exact numbers, the third value, and what a verdict tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "schema_kit.h"

#define DRAFT_7 "\"$schema\":\"http://json-schema.org/draft-07/schema#\""

/* A pattern that isn't judged on LONG. */
#define SLOW "{\"pattern\":\"^(a+)+$\"}"
#define LONG "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\""

static bool has_flaw(const struct flaws *flaws, const char *pointer)
{
	for (size_t i = 0; i < flaws->len; i++)
		if (strcmp(flaws->list[i].pointer, pointer) == 0)
			return true;
	return false;
}

/* Up to three pointers, and no flaw elsewhere. */
struct refusal {
	const char *schema;
	const char *pointers[3];
};

static void run_refusals(const struct refusal *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct kit kit = kit_compile(rows[i].schema);
		size_t count = 0;

		for (; count < 3 && rows[i].pointers[count]; count++)
			if (!has_flaw(&kit.flaws, rows[i].pointers[count]))
				fail_msg("%s: no flaw at '%s'", rows[i].schema,
					 rows[i].pointers[count]);
		if (kit.flaws.count != count)
			fail_msg("%s: %zu flaws, one at '%s': %s", rows[i].schema, kit.flaws.count,
				 kit.flaws.list[0].pointer, kit.flaws.list[0].detail);
		kit_release(&kit);
	}
}

#define REFUSALS(rows) run_refusals(rows, sizeof(rows) / sizeof(rows)[0])

static void a_value_of_the_wrong_type_is_refused_where_it_stands(void **state)
{
	static const struct refusal rows[] = {
		{ "1", { "" } },
		{ "{\"type\":\"int\",\"maximum\":\"3\",\"required\":\"a\"}",
		  { "/type", "/maximum", "/required" } },
		{ "{\"type\":[]}", { "/type" } },
		{ "{\"type\":[\"null\",\"nil\",\"null\"]}", { "/type/1", "/type/2" } },
		{ "{\"properties\":{\"a/b\":{\"minLength\":-1},\"c\":3}}",
		  { "/properties/a~1b/minLength", "/properties/c" } },
		{ "{\"minLength\":1.5,\"maxItems\":1e-1,\"minItems\":null}",
		  { "/minLength", "/maxItems", "/minItems" } },
		{ "{\"multipleOf\":0,\"allOf\":[],\"anyOf\":{}}",
		  { "/multipleOf", "/allOf", "/anyOf" } },
		{ "{\"multipleOf\":-1}", { "/multipleOf" } },
		{ "{\"oneOf\":[true,{\"not\":[]},null]}", { "/oneOf/1/not", "/oneOf/2" } },
		{ "{\"prefixItems\":true,\"items\":[true]}", { "/prefixItems", "/items" } },
		{ "{\"enum\":1,\"uniqueItems\":1,\"pattern\":1}",
		  { "/enum", "/uniqueItems", "/pattern" } },
		{ "{\"required\":[\"a\",\"a\"]}", { "/required" } },
		{ "{\"dependentRequired\":{\"a\":[1],\"b\":true}}",
		  { "/dependentRequired/a", "/dependentRequired/b" } },
		{ "{\"pattern\":\"a**\",\"patternProperties\":{\"(\":true,\"\\\\Z\":true}}",
		  { "/pattern", "/patternProperties/(", "/patternProperties/\\Z" } },
		{ "{\"title\":1,\"$comment\":[],\"examples\":{}}",
		  { "/title", "/$comment", "/examples" } },
		{ "{\"$vocabulary\":{\"a:b\":1},\"deprecated\":0,\"$defs\":[]}",
		  { "/$vocabulary/a:b", "/deprecated", "/$defs" } },
		{ "{\"$ref\":1,\"$id\":2,\"$anchor\":3}", { "/$ref", "/$id", "/$anchor" } },
		{ "{" DRAFT_7 ",\"items\":[1],\"additionalItems\":2}",
		  { "/items/0", "/additionalItems" } },
		{ "{" DRAFT_7 ",\"dependencies\":{\"a\":[1],\"b\":2}}",
		  { "/dependencies/a", "/dependencies/b" } },
	};

	(void)state;
	REFUSALS(rows);
}

static void what_would_not_be_judged_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{ "{\"minlength\":1}", { "/minlength" } },
		{ "{\"items\":{\"nullable\":true},\"id\":\"a\"}", { "/items/nullable", "/id" } },
		{ "{\"format\":\"regex\"}", { "/format" } },
		{ "{\"format\":\"Date\"}", { "/format" } },
		{ "{\"additionalItems\":true,\"dependencies\":{}}",
		  { "/additionalItems", "/dependencies" } },
		{ "{" DRAFT_7 ",\"$defs\":{},\"prefixItems\":[true],\"minContains\":1}",
		  { "/$defs", "/prefixItems", "/minContains" } },
		{ "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", { "/$schema" } },
		{ "{\"$schema\":7}", { "/$schema" } },
		{ "{\"not\":{" DRAFT_7 "}}", { "/not/$schema" } },
		{ "{\"not\":{\"$id\":\"a\"," DRAFT_7 "}}", { "/not/$schema" } },
	};

	(void)state;
	REFUSALS(rows);
}

static void a_reference_that_does_not_stay_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{ "{\"$ref\":\"http://example.com/a\"}", { "/$ref" } },
		{ "{\"$ref\":\"#/$defs/a\"}", { "/$ref" } },
		{ "{\"$ref\":\"#a\"}", { "/$ref" } },
		{ "{\"$ref\":\"#/const\",\"const\":{}}", { "/$ref" } },
		{ "{\"$ref\":\"#/$defs\",\"$defs\":{}}", { "/$ref" } },
		{ "{\"$ref\":\"a b\"}", { "/$ref" } },
		{ "{\"$ref\":\"#%2\"}", { "/$ref" } },
		{ "{\"$dynamicRef\":\"b#c\"}", { "/$dynamicRef" } },
		{ "{\"$id\":\"http://example.com/a\",\"$ref\":\"b\"}", { "/$ref" } },
		{ "{\"$id\":\"a#b\"}", { "/$id" } },
		{ "{\"$id\":\"\"}", { "/$id" } },
		{ "{\"$id\":\"http://exa mple/\"}", { "/$id" } },
		{ "{\"$anchor\":\"1a\",\"$dynamicAnchor\":\"a/b\"}",
		  { "/$anchor", "/$dynamicAnchor" } },
		{ "{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"./x\"}}}",
		  { "/$defs/b/$id" } },
		{ "{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$dynamicAnchor\":\"x\"}}}",
		  { "/$defs/b/$dynamicAnchor" } },
		{ "{" DRAFT_7 ",\"definitions\":{\"a\":{\"$id\":\"#x\"},\"b\":{\"$id\":\"#x\"}}}",
		  { "/definitions/b/$id" } },
	};

	(void)state;
	REFUSALS(rows);
}

static void a_reference_that_goes_round_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{ "{\"$ref\":\"#\"}", { "/$ref" } },
		{ "{\"allOf\":[{\"$ref\":\"#\"}]}", { "/allOf/0/$ref" } },
		{ "{\"not\":{\"$ref\":\"#\"}}", { "/not/$ref" } },
		{ "{\"if\":{\"anyOf\":[true,{\"$ref\":\"#\"}]}}", { "/if/anyOf/1/$ref" } },
		{ "{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}",
		  { "/dependentSchemas/a/$ref" } },
		{ "{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
		  { "/$defs/b/$ref" } },
		{ "{\"$dynamicAnchor\":\"a\",\"oneOf\":[{\"$dynamicRef\":\"#a\"}]}",
		  { "/oneOf/0/$dynamicRef", "/oneOf/0/$dynamicRef" } },
		{ "{" DRAFT_7 ",\"definitions\":{\"a\":{\"$ref\":\"#/definitions/a\"}}}",
		  { "/definitions/a/$ref" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kit kit = kit_compile(rows[i].schema);

		if (!has_flaw(&kit.flaws, rows[i].pointers[0]))
			fail_msg("%s: no flaw at '%s'", rows[i].schema, rows[i].pointers[0]);
		kit_release(&kit);
	}
}

static void pointers_begin_where_the_schema_stands(void **state)
{
	struct json_doc *doc = kit_parse("{\"items\":{\"type\":1}}");
	struct schema *schema;
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(schema_compile(json_root(doc), "/contract/schema", &schema, &flaws),
			 RC_INVALID);
	assert_null(schema);
	assert_int_equal(flaws.count, 1);
	assert_string_equal(flaws.list[0].pointer, "/contract/schema/items/type");
	flaws_release(&flaws);
	json_free(doc);
}

struct verdict {
	const char *schema, *document;
	enum schema_verdict want;
};

static void run_verdicts(const struct verdict *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		enum schema_verdict got = kit_verdict(rows[i].schema, rows[i].document);

		if (got != rows[i].want)
			fail_msg("%s on %s: got %d, want %d", rows[i].schema, rows[i].document, got,
				 rows[i].want);
	}
}

#define VERDICTS(rows) run_verdicts(rows, sizeof(rows) / sizeof(rows)[0])

static void numbers_are_exact_however_large(void **state)
{
	static const struct verdict rows[] = {
		{ "{\"const\":9007199254740993}", "9007199254740992", SCHEMA_BROKEN },
		{ "{\"const\":9007199254740993}", "9007199254740993.0", SCHEMA_MET },
		{ "{\"const\":0}", "-0.0e5", SCHEMA_MET },
		{ "{\"enum\":[0.1,1e400]}", "10e399", SCHEMA_MET },
		{ "{\"enum\":[0.1]}", "0.1000000000000000055511151231257827", SCHEMA_BROKEN },
		{ "{\"maximum\":1e400}", "1.0000000000000000000000000000001e400", SCHEMA_BROKEN },
		{ "{\"exclusiveMinimum\":9007199254740992}", "9007199254740993", SCHEMA_MET },
		{ "{\"exclusiveMinimum\":9007199254740993}", "9007199254740993", SCHEMA_BROKEN },
		{ "{\"type\":\"integer\"}", "1e999999999999999999", SCHEMA_MET },
		{ "{\"type\":\"integer\"}", "1.00000000000000000000000000001", SCHEMA_BROKEN },
		{ "{\"type\":\"integer\"}", "1.50e1", SCHEMA_MET },
		{ "{\"uniqueItems\":true}", "[9007199254740993,9007199254740992]", SCHEMA_MET },
		{ "{\"uniqueItems\":true}", "[1,{\"a\":1,\"b\":[2]},{\"b\":[2.0],\"a\":10e-1}]",
		  SCHEMA_BROKEN },
		{ "{\"uniqueItems\":true}", "[\"1\",1,true,[1],[\"1\"],null,\"null\"]",
		  SCHEMA_MET },
		{ "{\"maxLength\":2}", "\"\\ud83d\\udc32\\u0000\"", SCHEMA_MET },
		{ "{\"minLength\":2}", "\"\\ud83d\\udc32\"", SCHEMA_BROKEN },
		{ "{\"maxLength\":1e30,\"minLength\":0.0}", "\"a\"", SCHEMA_MET },
		{ "{\"minLength\":1e30}", "\"a\"", SCHEMA_BROKEN },
	};

	(void)state;
	VERDICTS(rows);
}

static void multiples_are_exact_and_end(void **state)
{
	static const struct verdict rows[] = {
		{ "{\"multipleOf\":0.01}", "4.35", SCHEMA_MET },
		{ "{\"multipleOf\":0.01}", "4.351", SCHEMA_BROKEN },
		{ "{\"multipleOf\":1e-308}", "1e308", SCHEMA_MET },
		{ "{\"multipleOf\":3e-308}", "1e308", SCHEMA_BROKEN },
		{ "{\"multipleOf\":1e-999999999999999999}", "1e999999999999999999", SCHEMA_MET },
		{ "{\"multipleOf\":7}", "1e999999999999999999", SCHEMA_BROKEN },
		{ "{\"multipleOf\":1024}", "1e999999999999999999", SCHEMA_MET },
		{ "{\"multipleOf\":1024}", "1e9", SCHEMA_BROKEN },
		{ "{\"multipleOf\":1024}", "1e10", SCHEMA_MET },
		{ "{\"multipleOf\":390625}", "-1e8", SCHEMA_MET },
		{ "{\"multipleOf\":1e3}", "100", SCHEMA_BROKEN },
		{ "{\"multipleOf\":2.5}", "7.5", SCHEMA_MET },
		{ "{\"multipleOf\":123456789012345678901234567890}",
		  "370370367037037036703703703670", SCHEMA_MET },
		{ "{\"multipleOf\":123456789012345678901234567890}",
		  "370370367037037036703703703671", SCHEMA_BROKEN },
		{ "{\"multipleOf\":0.3}", "0", SCHEMA_MET },
		{ "{\"multipleOf\":1}", "\"1.5\"", SCHEMA_MET },
	};

	(void)state;
	VERDICTS(rows);
}

static void what_cannot_be_judged_is_never_met_by_itself(void **state)
{
	static const struct verdict rows[] = {
		{ SLOW, LONG, SCHEMA_UNJUDGED },
		{ "{\"not\":" SLOW "}", LONG, SCHEMA_UNJUDGED },
		{ "{\"not\":{\"not\":" SLOW "}}", LONG, SCHEMA_UNJUDGED },
		{ "{\"allOf\":[" SLOW ",true]}", LONG, SCHEMA_UNJUDGED },
		{ "{\"allOf\":[" SLOW ",false]}", LONG, SCHEMA_BROKEN },
		{ "{\"anyOf\":[" SLOW ",true]}", LONG, SCHEMA_MET },
		{ "{\"anyOf\":[" SLOW ",false]}", LONG, SCHEMA_UNJUDGED },
		{ "{\"oneOf\":[" SLOW ",true]}", LONG, SCHEMA_UNJUDGED },
		{ "{\"oneOf\":[" SLOW ",false]}", LONG, SCHEMA_UNJUDGED },
		{ "{\"oneOf\":[" SLOW ",true,true]}", LONG, SCHEMA_BROKEN },
		{ "{\"if\":" SLOW ",\"then\":true}", LONG, SCHEMA_MET },
		{ "{\"if\":" SLOW ",\"then\":false}", LONG, SCHEMA_UNJUDGED },
		{ "{\"if\":" SLOW ",\"then\":false,\"else\":false}", LONG, SCHEMA_BROKEN },
		{ "{\"contains\":" SLOW "}", "[1," LONG "]", SCHEMA_MET }, /* 1 is no string */
		{ "{\"contains\":" SLOW ",\"minContains\":2}", "[1," LONG "]", SCHEMA_UNJUDGED },
		{ "{\"contains\":" SLOW ",\"minContains\":3}", "[1," LONG "]", SCHEMA_BROKEN },
		{ "{\"contains\":" SLOW ",\"maxContains\":1}", "[1," LONG "]", SCHEMA_UNJUDGED },
		{ "{\"contains\":" SLOW ",\"maxContains\":1}", "[1,2," LONG "]", SCHEMA_BROKEN },
		{ "{\"contains\":" SLOW ",\"minContains\":0}", "[" LONG "]", SCHEMA_MET },
		{ "{\"propertyNames\":" SLOW "}", "{" LONG ":1}", SCHEMA_UNJUDGED },
		{ "{\"patternProperties\":{\"^(a+)+$\":true}}", "{" LONG ":1}", SCHEMA_MET },
		{ "{\"patternProperties\":{\"^(a+)+$\":false}}", "{" LONG ":1}", SCHEMA_UNJUDGED },
		{ "{\"patternProperties\":{\"^(a+)+$\":true},\"additionalProperties\":false}",
		  "{" LONG ":1}", SCHEMA_UNJUDGED },
		{ "{\"patternProperties\":{\"^(a+)+$\":true},\"additionalProperties\":true}",
		  "{" LONG ":1}", SCHEMA_MET },
		{ "{\"patternProperties\":{\"^(a+)+$\":true},\"unevaluatedProperties\":false}",
		  "{" LONG ":1}", SCHEMA_UNJUDGED },
		{ "{\"anyOf\":[true,{\"properties\":{\"a\":true,\"b\":" SLOW
		  "}}],\"unevaluatedProperties\":false}",
		  "{\"a\":1,\"b\":" LONG "}", SCHEMA_UNJUDGED },
		{ "{\"anyOf\":[true,{\"properties\":{\"a\":true,\"b\":" SLOW
		  "}}],\"unevaluatedProperties\":false}",
		  "{\"a\":1,\"b\":" LONG ",\"c\":1}", SCHEMA_BROKEN },
		{ "{\"if\":{\"properties\":{\"b\":" SLOW
		  "}},\"then\":{\"properties\":{\"a\":true}},"
		  "\"unevaluatedProperties\":false}",
		  "{\"a\":1,\"b\":" LONG "}", SCHEMA_UNJUDGED },
		{ "{\"contains\":" SLOW ",\"minContains\":0,\"unevaluatedItems\":false}",
		  "[" LONG "]", SCHEMA_UNJUDGED },
		{ "{\"contains\":" SLOW
		  ",\"minContains\":0,\"unevaluatedItems\":{\"type\":\"string\"}}",
		  "[" LONG "]", SCHEMA_MET },
		{ "{\"format\":\"hostname\"}", "\"xn--zca.example\"", SCHEMA_UNJUDGED },
		{ "{\"format\":\"hostname\"}", "\"xn--zca.-example\"", SCHEMA_BROKEN },
	};

	(void)state;
	VERDICTS(rows);
}

static void draft_7_is_read_by_its_own_rules(void **state)
{
	static const struct verdict rows[] = {
		{ "{" DRAFT_7 ",\"items\":[true,{\"type\":\"null\"}],\"additionalItems\":false}",
		  "[1,null]", SCHEMA_MET },
		{ "{" DRAFT_7 ",\"items\":[true],\"additionalItems\":false}", "[1,2]",
		  SCHEMA_BROKEN },
		{ "{" DRAFT_7 ",\"items\":true,\"additionalItems\":false}", "[1,2]", SCHEMA_MET },
		{ "{" DRAFT_7 ",\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":true},"
		  "\"type\":\"null\"}",
		  "1", SCHEMA_MET },
		{ "{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":true},\"type\":\"null\"}",
		  "1", SCHEMA_BROKEN },
	};

	(void)state;
	VERDICTS(rows);
}

static void a_verdict_tells_where_and_nothing_of_the_document(void **state)
{
	static const struct {
		const char *schema, *document, *want;
	} rows[] = {
		{ "{\"properties\":{\"a\":{\"items\":{\"maximum\":3}}}}", "{\"a\":[1,77]}",
		  "\"maximum\" isn't met: /properties/a/items/maximum at /a/1" },
		{ "{\"required\":[\"a\",\"b/c\"]}", "{\"a\":77}",
		  "\"required\" isn't met: /required at /b~1c" },
		{ "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"secret\":77}",
		  "\"type\" isn't met: /additionalProperties/type at /*" },
		{ "{\"patternProperties\":{\"^s\":false}}", "{\"secret\":77}",
		  "nothing is allowed here: /patternProperties/^s at /*" },
		{ "{\"propertyNames\":{\"maxLength\":3}}", "{\"secret\":77}",
		  "\"maxLength\" isn't met: /propertyNames/maxLength at /*" },
		{ "{\"unevaluatedProperties\":false}", "{\"secret\":77}",
		  "nothing is allowed here: /unevaluatedProperties at /*" },
		{ "{\"anyOf\":[{\"type\":\"null\"},{\"const\":1}]}", "77",
		  "\"anyOf\" isn't met: /anyOf at the document's root" },
		{ "{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"const\":1}}}", "77",
		  "\"const\" isn't met: /$defs/x/const at the document's root" },
		{ "{\"properties\":{\"a\\u0007\":{\"const\":1}}}", "{\"a\\u0007\":77}",
		  "\"const\" isn't met: /properties/a?/const at /a?" },
		{ SLOW, LONG, "the pattern takes too long: /pattern at the document's root" },
	};
	char why[SCHEMA_WHY_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kit kit = kit_compile(rows[i].schema);

		assert_non_null(kit.schema);
		kit_judge(&kit, rows[i].document, why);
		assert_string_equal(why, rows[i].want);
		kit_release(&kit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_of_the_wrong_type_is_refused_where_it_stands),
		cmocka_unit_test(what_would_not_be_judged_is_refused),
		cmocka_unit_test(a_reference_that_does_not_stay_is_refused),
		cmocka_unit_test(a_reference_that_goes_round_is_refused),
		cmocka_unit_test(pointers_begin_where_the_schema_stands),
		cmocka_unit_test(numbers_are_exact_however_large),
		cmocka_unit_test(multiples_are_exact_and_end),
		cmocka_unit_test(what_cannot_be_judged_is_never_met_by_itself),
		cmocka_unit_test(draft_7_is_read_by_its_own_rules),
		cmocka_unit_test(a_verdict_tells_where_and_nothing_of_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
