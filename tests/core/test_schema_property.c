/* test_schema_property.c: what must hold for every schema and document, on random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema_gen.h"
#include "schema_kit.h"

#define TEXT_MAX (1u << 20)
#define DRAFT_7 "\"$schema\":\"http://json-schema.org/draft-07/schema#\","

enum { SCHEMAS = 3000, DOCUMENTS = 4, MUTATIONS = 4000 };

/* Around S, whose id is urn:s: what has the same verdict as S on every document. */
static const char *const same[] = {
	"{\"$ref\":\"urn:s\"}",
	"{\"allOf\":[{\"$ref\":\"urn:s\"},{\"$ref\":\"urn:s\"}]}",
	"{\"anyOf\":[{\"$ref\":\"urn:s\"}]}",
	"{\"anyOf\":[false,{\"$ref\":\"urn:s\"},{\"$ref\":\"urn:s\"}]}",
	"{\"oneOf\":[{\"$ref\":\"urn:s\"},false]}",
	"{\"not\":{\"not\":{\"$ref\":\"urn:s\"}}}",
	"{\"if\":{\"$ref\":\"urn:s\"},\"then\":true,\"else\":false}",
	"{\"if\":true,\"then\":{\"$ref\":\"urn:s\"}}",
};
enum { SAME = sizeof same / sizeof same[0] };

static struct json_doc *parse(const struct text *text)
{
	struct json_doc *doc;
	struct json_error error;

	assert_true(text_ok(text));
	return json_parse(text->bytes, text->len, 64, &doc, &error) == RC_OK ? doc : NULL;
}

static struct schema *compile(const struct json_doc *doc)
{
	struct schema *schema;
	struct flaws flaws;

	flaws_init(&flaws);
	enum rc rc = schema_compile(json_root(doc), "", &schema, &flaws);
	assert_int_equal(rc, flaws.count > 0 ? RC_INVALID : RC_OK);
	flaws_release(&flaws);
	return schema;
}

static enum schema_verdict judge(const struct schema *schema, const struct json_doc *doc)
{
	enum schema_verdict verdict;
	struct text why;

	text_init(&why, SCHEMA_WHY_MAX);
	assert_int_equal(schema_judge(schema, json_root(doc), &verdict, &why), RC_OK);
	assert_int_equal(why.len > 0, verdict != SCHEMA_MET);
	text_release(&why);
	return verdict;
}

struct wrapped {
	struct text text;
	struct json_doc *doc;
	struct schema *schema;
};

/* false: S is refused, and so is what is built of it. */
static bool wrap(struct gen *gen, struct wrapped wrapped[SAME])
{
	struct text inner;
	size_t taken = 0;

	text_init(&inner, TEXT_MAX);
	gen_schema(gen, "urn:s", &inner);
	for (size_t i = 0; i < SAME; i++) {
		struct text *text = &wrapped[i].text;

		text_init(text, TEXT_MAX);
		text_addf(text, "{%s\"%s\":{\"s\":", gen->draft_7 ? DRAFT_7 : "",
			  gen->draft_7 ? "definitions" : "$defs");
		text_add(text, inner.bytes, inner.len);
		text_addf(text, "},\"allOf\":[%s]}", same[i]);
		wrapped[i].doc = parse(text);
		assert_non_null(wrapped[i].doc);
		wrapped[i].schema = compile(wrapped[i].doc);
		taken += wrapped[i].schema != NULL;
	}
	text_release(&inner);
	if (taken != 0 && taken != SAME)
		fail_msg("refused only in part: %s", wrapped[0].text.bytes);
	return taken > 0;
}

static void unwrap(struct wrapped wrapped[SAME])
{
	for (size_t i = 0; i < SAME; i++) {
		schema_free(wrapped[i].schema);
		json_free(wrapped[i].doc);
		text_release(&wrapped[i].text);
	}
}

static void compare(struct gen *gen, struct wrapped wrapped[SAME], int counts[SCHEMA_VERDICT__MAX])
{
	struct text text;

	text_init(&text, TEXT_MAX);
	gen_document(gen, 3, &text);
	struct json_doc *doc = parse(&text);
	assert_non_null(doc);
	enum schema_verdict want = judge(wrapped[0].schema, doc);
	counts[want]++;
	assert_int_equal(judge(wrapped[0].schema, doc), want);
	for (size_t i = 1; i < SAME; i++) {
		enum schema_verdict got = judge(wrapped[i].schema, doc);
		if (got != want)
			fail_msg("%s: got %d, %d without %s, on %s", wrapped[0].text.bytes, got,
				 want, same[i], text.bytes);
	}
	json_free(doc);
	text_release(&text);
}

static void run(bool draft_7)
{
	struct gen gen = { .state = draft_7 ? 7 : 2020, .draft_7 = draft_7, .wild = true };
	int counts[SCHEMA_VERDICT__MAX] = { 0 }, refused = 0;
	struct wrapped wrapped[SAME];

	for (int i = 0; i < SCHEMAS; i++) {
		bool taken = wrap(&gen, wrapped);

		refused += !taken;
		for (int j = 0; taken && j < DOCUMENTS; j++)
			compare(&gen, wrapped, counts);
		unwrap(wrapped);
	}
	printf("# %d met, %d broken, %d not judged, %d schemas refused\n", counts[SCHEMA_MET],
	       counts[SCHEMA_BROKEN], counts[SCHEMA_UNJUDGED], refused);
	/* A generator that only makes one kind tests nothing. */
	assert_in_range(counts[SCHEMA_MET], SCHEMAS / 2, DOCUMENTS * SCHEMAS);
	assert_in_range(counts[SCHEMA_BROKEN], SCHEMAS / 2, DOCUMENTS * SCHEMAS);
	assert_in_range(counts[SCHEMA_UNJUDGED], SCHEMAS / 100, SCHEMAS);
	assert_in_range(refused, 1, SCHEMAS / 2);
}

static void what_means_the_same_has_the_same_verdict_in_2020_12(void **state)
{
	(void)state;
	run(false);
}

static void what_means_the_same_has_the_same_verdict_in_7(void **state)
{
	(void)state;
	run(true);
}

/* Other bytes, bytes gone, bytes twice. */
static void mutate(struct gen *gen, struct text *text)
{
	static const char bytes[] = "\"\\{}[]:,#/$0123456789eE.-+truefalsnxitm^()*\xc3\xa9 ";

	for (uint32_t times = 1 + gen_below(gen, 2); times > 0 && text->len > 4; times--) {
		size_t at = gen_below(gen, (uint32_t)text->len - 2);
		size_t len = 1 + gen_below(gen, 4);

		if (at + len > text->len)
			len = text->len - at;
		switch (gen_below(gen, 3)) {
		case 0: text->bytes[at] = bytes[gen_below(gen, sizeof bytes - 1)]; break;
		case 1:
			memmove(text->bytes + at, text->bytes + at + len, text->len - at - len);
			text->len -= len;
			break;
		default:
			memmove(text->bytes + at, text->bytes + gen_below(gen, (uint32_t)at + 1),
				len);
		}
	}
}

static void no_mutated_schema_does_harm(void **state)
{
	struct gen gen = { .state = 42, .wild = true };
	int parsed = 0, taken = 0;

	(void)state;
	for (int i = 0; i < MUTATIONS; i++) {
		struct text text, document;

		text_init(&text, TEXT_MAX);
		text_init(&document, TEXT_MAX);
		gen_schema(&gen, "a", &text);
		gen_document(&gen, 3, &document);
		mutate(&gen, &text);
		struct json_doc *doc = parse(&text), *value = parse(&document);
		struct schema *schema = doc ? compile(doc) : NULL;
		if (schema)
			judge(schema, value);
		parsed += doc != NULL;
		taken += schema != NULL;
		schema_free(schema);
		json_free(doc);
		json_free(value);
		text_release(&text);
		text_release(&document);
	}
	printf("# %d parsed, %d of them taken\n", parsed, taken);
	assert_in_range(parsed, MUTATIONS / 10, MUTATIONS);
	assert_in_range(taken, MUTATIONS / 100, MUTATIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_means_the_same_has_the_same_verdict_in_2020_12),
		cmocka_unit_test(what_means_the_same_has_the_same_verdict_in_7),
		cmocka_unit_test(no_mutated_schema_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
