/* test_schema_hostile.c: schemas and documents written to take all the time, memory or stack there
 * is. That these tests end is what most of them are about; what is spent is counted in steps, so a
 * slow machine changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema_kit.h"

#define TEXT_MAX (64u << 20)

static void add_repeated(struct text *text, const char *bytes, size_t times)
{
	for (size_t i = 0; i < times; i++)
		text_add_str(text, bytes);
}

/* Compiles and judges what was written into the two texts, and releases them. */
static enum schema_verdict verdict_of(struct text *schema, struct text *document)
{
	assert_true(text_ok(schema) && text_ok(document));
	enum schema_verdict verdict = kit_verdict(schema->bytes, document->bytes);
	text_release(schema);
	text_release(document);
	return verdict;
}

static void begin(struct text *schema, struct text *document)
{
	text_init(schema, TEXT_MAX);
	text_init(document, TEXT_MAX);
}

/* Each definition applies the next one twice. */
static enum schema_verdict doubling(const char *open, const char *close, int levels,
				    const char *last, const char *document_text)
{
	struct text schema, document;

	begin(&schema, &document);
	text_add_str(&schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
	for (int i = 0; i < levels; i++)
		text_addf(&schema,
			  "\"%d\":{%s{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}%s},", i,
			  open, i + 1, i + 1, close);
	text_addf(&schema, "\"%d\":%s}}", levels, last);
	text_add_str(&document, document_text);
	return verdict_of(&schema, &document);
}

static void doubling_references_are_not_judged_to_the_end(void **state)
{
	static const struct {
		const char *open, *close, *last;
		enum schema_verdict small;
	} rows[] = {
		{ "\"allOf\":[", "]", "true", SCHEMA_MET },
		{ "\"anyOf\":[", "]", "false", SCHEMA_BROKEN },
		{ "\"oneOf\":[", "]", "false", SCHEMA_BROKEN },
		{ "\"allOf\":[", "],\"unevaluatedProperties\":true", "true", SCHEMA_MET },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(
			doubling(rows[i].open, rows[i].close, 8, rows[i].last, "{\"a\":1}"),
			rows[i].small);
		assert_int_equal(
			doubling(rows[i].open, rows[i].close, 100, rows[i].last, "{\"a\":1}"),
			SCHEMA_UNJUDGED);
	}
}

static void a_long_chain_of_references_does_not_end_the_stack(void **state)
{
	struct text schema, document;

	(void)state;
	begin(&schema, &document);
	text_add_str(&schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
	for (int i = 0; i < 5000; i++)
		text_addf(&schema, "\"%d\":{\"$ref\":\"#/$defs/%d\"},", i, i + 1);
	text_add_str(&schema, "\"5000\":true}}");
	text_add_str(&document, "1");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_UNJUDGED);
}

static void *judge_deep(void *arg)
{
	struct text schema, document;

	begin(&schema, &document);
	text_add_str(&schema, "{\"items\":{\"$ref\":\"#\"},\"properties\":{\"a\":{\"$ref\":\"#\"}},"
			      "\"unevaluatedItems\":false,\"uniqueItems\":true}");
	add_repeated(&document, "[", JSON_DEPTH_LIMIT);
	add_repeated(&document, "]", JSON_DEPTH_LIMIT);
	*(enum schema_verdict *)arg = verdict_of(&schema, &document);
	return NULL;
}

/* glibc gives a thread 8 MiB; half of that must do. */
static void the_deepest_document_is_judged_on_a_stack_of_4_mib(void **state)
{
	enum schema_verdict verdict = SCHEMA_VERDICT__MAX;
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 4u << 20), 0);
	assert_int_equal(pthread_create(&thread, &attr, judge_deep, &verdict), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
	assert_int_equal(verdict, SCHEMA_MET);
}

static enum schema_verdict unique(const char *format, int count, bool twice)
{
	struct text schema, document;

	begin(&schema, &document);
	text_add_str(&schema, "{\"uniqueItems\":true}");
	text_add_str(&document, "[");
	for (int i = 0; i < count; i++) {
		text_addf(&document, format, (i * 7919) % count);
		text_add_str(&document, ",");
	}
	text_addf(&document, format, twice ? count / 2 : count);
	text_add_str(&document, "]");
	return verdict_of(&schema, &document);
}

static void a_hundred_thousand_items_are_told_apart(void **state)
{
	static const char *const formats[] = {
		"%d",
		"\"x%d\"",
		"{\"name\":\"a rather long beginning that all of them share\",\"n\":[%d]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		assert_int_equal(unique(formats[i], 100000, false), SCHEMA_MET);
		assert_int_equal(unique(formats[i], 100000, true), SCHEMA_BROKEN);
	}
}

static void a_division_that_takes_too_long_is_not_judged(void **state)
{
	struct text schema, document;

	(void)state;
	begin(&schema, &document);
	text_add_str(&schema, "{\"multipleOf\":");
	add_repeated(&schema, "7", 1000);
	text_add_str(&schema, "}");
	add_repeated(&document, "9", 1000000);
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_UNJUDGED);

	begin(&schema, &document);
	text_add_str(&schema, "{\"multipleOf\":");
	add_repeated(&schema, "7", 1000);
	text_add_str(&schema, "}");
	add_repeated(&document, "7", 1000);
	text_add_str(&document, "e999999999999999999");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_MET);
}

static void many_values_against_many_constants_are_not_judged_to_the_end(void **state)
{
	struct text schema, document;

	(void)state;
	begin(&schema, &document);
	text_add_str(&schema, "{\"items\":{\"enum\":[0");
	add_repeated(&schema, ",\"aaaaaaaaaa\"", 15000);
	text_add_str(&schema, "]}}");
	text_add_str(&document, "[0");
	add_repeated(&document, ",\"aaaaaaaaab\"", 100000);
	text_add_str(&document, "]");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_BROKEN); /* the first is wrong */

	begin(&schema, &document);
	text_add_str(&schema, "{\"items\":{\"not\":{\"enum\":[0");
	add_repeated(&schema, ",\"aaaaaaaaaa\"", 15000);
	text_add_str(&schema, "]}}}");
	text_add_str(&document, "[1");
	add_repeated(&document, ",\"aaaaaaaaab\"", 100000);
	text_add_str(&document, "]");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_UNJUDGED);
}

static void slow_patterns_on_many_members_are_not_judged_to_the_end(void **state)
{
	struct text schema, document;

	(void)state;
	begin(&schema, &document);
	text_add_str(&schema, "{\"patternProperties\":{");
	for (int i = 0; i < 500; i++)
		text_addf(&schema, "%s\"^(a+)+%d$\":true", i > 0 ? "," : "", i);
	text_add_str(&schema, "},\"additionalProperties\":false}");
	text_add_str(&document, "{");
	for (int i = 0; i < 1000; i++)
		text_addf(&document, "%s\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%da\":1",
			  i > 0 ? "," : "", i);
	text_add_str(&document, "}");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_UNJUDGED);
}

/* Members with names of up to four bytes, under patterns that match none of them. */
static enum schema_verdict short_names(int members, int patterns, const char *more)
{
	struct text schema, document;

	begin(&schema, &document);
	text_add_str(&schema, "{\"patternProperties\":{");
	for (int i = 0; i < patterns; i++)
		text_addf(&schema, "%s\"^x%d\":true", i > 0 ? "," : "", i);
	text_addf(&schema, "}%s}", more);
	text_add_str(&document, "{");
	for (int i = 0; i < members; i++)
		text_addf(&document, "%s\"%x\":0", i > 0 ? "," : "", i);
	text_add_str(&document, "}");
	return verdict_of(&schema, &document);
}

/* Whether a pattern is for a name or not, the member is good. So this verdict can only come from
 * whoever stops: one who goes on without a step left finds the document met. */
static void
many_short_names_under_many_patterns_are_given_up_in_the_steps_that_are_left(void **state)
{
	static const char *const rows[] = { "", ",\"additionalProperties\":true" };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(short_names(1000, 100, rows[i]), SCHEMA_MET);
		assert_int_equal(short_names(1000, SCHEMA_PATTERNS_MAX, rows[i]), SCHEMA_UNJUDGED);
		assert_int_equal(short_names(60000, SCHEMA_PATTERNS_MAX, rows[i]), SCHEMA_UNJUDGED);
	}
}

/* A schema that has `one` so many times between `open` and `close`, on an array. */
static enum schema_verdict on_items(const char *open, const char *one, size_t times,
				    const char *close, size_t items)
{
	struct text schema, document;

	begin(&schema, &document);
	text_add_str(&schema, open);
	text_add_str(&schema, one);
	for (size_t i = 1; i < times; i++)
		text_addf(&schema, ",%s", one);
	text_add_str(&schema, close);
	text_add_str(&document, "[0");
	add_repeated(&document, ",0", items - 1);
	text_add_str(&document, "]");
	return verdict_of(&schema, &document);
}

/* `true` and `false` are judged without a step; a loop over thousands of them isn't. */
static void schemas_that_are_judged_at_once_are_not_judged_without_end(void **state)
{
	static const struct {
		const char *open, *one, *close;
		enum schema_verdict small;
	} rows[] = {
		{ "{\"items\":{\"allOf\":[", "true", "]}}", SCHEMA_MET },
		{ "{\"items\":{\"not\":{\"anyOf\":[", "false", "]}}}", SCHEMA_MET },
		{ "{\"items\":{\"not\":{\"oneOf\":[", "false", "]}}}", SCHEMA_MET },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(on_items(rows[i].open, rows[i].one, 9000, rows[i].close, 100),
				 rows[i].small);
		assert_int_equal(on_items(rows[i].open, rows[i].one, 9000, rows[i].close, 10000),
				 SCHEMA_UNJUDGED);
	}
}

/* The same 4,900 schemas for the items in front, applied 5,000 times. */
static void prefix_items_applied_again_and_again_are_not_judged_to_the_end(void **state)
{
	struct text open;

	(void)state;
	text_init(&open, TEXT_MAX);
	text_add_str(&open, "{\"allOf\":[{\"$ref\":\"#/$defs/p\"}");
	add_repeated(&open, ",{\"$ref\":\"#/$defs/p\"}", 4999);
	text_add_str(&open, "],\"$defs\":{\"p\":{\"prefixItems\":[");
	assert_int_equal(on_items(open.bytes, "true", 4900, "]}}}", 100), SCHEMA_MET);
	assert_int_equal(on_items(open.bytes, "true", 4900, "]}}}", 4900), SCHEMA_UNJUDGED);
	text_release(&open);
}

/* What a schema may hold at most; one more is refused, with a flaw or two that say so. */
static void assert_edge(const char *open, const char *middle, const char *close, size_t times,
			bool taken)
{
	struct text schema;

	text_init(&schema, TEXT_MAX);
	add_repeated(&schema, open, times);
	text_add_str(&schema, middle);
	add_repeated(&schema, close, times);
	struct kit kit = kit_compile(schema.bytes);
	assert_int_equal(kit.schema != NULL, taken);
	assert_int_equal(kit.flaws.count, taken ? 0 : 1);
	kit_release(&kit);
	text_release(&schema);
}

static void a_schema_nested_too_deep_is_refused(void **state)
{
	(void)state;
	assert_edge("{\"not\":", "true", "}", SCHEMA_DEPTH_MAX - 1, true);
	assert_edge("{\"not\":", "true", "}", SCHEMA_DEPTH_MAX, false);
	assert_edge("{\"properties\":{\"a\":", "true", "}}", JSON_DEPTH_LIMIT / 2, false);
}

static void a_schema_of_too_many_parts_is_refused(void **state)
{
	struct text schema;

	(void)state;
	for (int extra = 0; extra < 2; extra++) {
		text_init(&schema, TEXT_MAX);
		text_add_str(&schema, "{\"allOf\":[true");
		add_repeated(&schema, ",true", SCHEMA_NODES_MAX - 2 + (size_t)extra);
		text_add_str(&schema, "]}");
		assert_edge(schema.bytes, "", "", 1, extra == 0);
		text_release(&schema);

		text_init(&schema, TEXT_MAX);
		text_add_str(&schema, "{\"patternProperties\":{\"x\":true");
		for (int i = 1; i < SCHEMA_PATTERNS_MAX + extra; i++)
			text_addf(&schema, ",\"x%d\":true", i);
		text_add_str(&schema, "}}");
		assert_edge(schema.bytes, "", "", 1, extra == 0);
		text_release(&schema);

		text_init(&schema, TEXT_MAX);
		text_add_str(&schema, "{\"title\":\"");
		add_repeated(&schema, "x", SCHEMA_MAX_BYTES - 12 + (size_t)extra);
		text_add_str(&schema, "\"}");
		assert_edge(schema.bytes, "", "", 1, extra == 0);
		text_release(&schema);
	}
}

/* Every schema has an id, an anchor and a reference: each is looked up, none by going through all
 * of them. */
static void thousands_of_names_are_resolved(void **state)
{
	struct text schema, document;

	(void)state;
	begin(&schema, &document);
	text_add_str(&schema, "{\"$id\":\"http://a/\",\"$defs\":{\"x\":true");
	for (int i = 0; i < 3000; i++)
		text_addf(&schema,
			  ",\"%d\":{\"$id\":\"%d\",\"$dynamicAnchor\":\"a\",\"not\":"
			  "{\"items\":{\"$dynamicRef\":\"#a\"}}}",
			  i, i);
	text_add_str(&schema, "}}");
	text_add_str(&document, "1");
	assert_int_equal(verdict_of(&schema, &document), SCHEMA_MET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubling_references_are_not_judged_to_the_end),
		cmocka_unit_test(a_long_chain_of_references_does_not_end_the_stack),
		cmocka_unit_test(the_deepest_document_is_judged_on_a_stack_of_4_mib),
		cmocka_unit_test(a_hundred_thousand_items_are_told_apart),
		cmocka_unit_test(a_division_that_takes_too_long_is_not_judged),
		cmocka_unit_test(many_values_against_many_constants_are_not_judged_to_the_end),
		cmocka_unit_test(slow_patterns_on_many_members_are_not_judged_to_the_end),
		cmocka_unit_test(
			many_short_names_under_many_patterns_are_given_up_in_the_steps_that_are_left),
		cmocka_unit_test(schemas_that_are_judged_at_once_are_not_judged_without_end),
		cmocka_unit_test(prefix_items_applied_again_and_again_are_not_judged_to_the_end),
		cmocka_unit_test(a_schema_nested_too_deep_is_refused),
		cmocka_unit_test(a_schema_of_too_many_parts_is_refused),
		cmocka_unit_test(thousands_of_names_are_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
