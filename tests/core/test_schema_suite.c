/* test_schema_suite.c: the JSON Schema Test Suite (json-schema-org/JSON-Schema-Test-Suite, MIT, see
 * its LICENSE beside it), drafts 2020-12 and 7, the optional part too. Draft 7's schemas don't say
 * that they are of draft 7, and without `$schema` a schema is taken for one of 2020-12: so they get
 * a `$schema` here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"

#define DEPTH 64
#define FILE_MAX_BYTES (1 << 20)

/* What becomes of a group of tests. */
enum fate {
	PASSES,
	REMOTE, /* refused: it needs another document or meta-schema, and nothing is ever fetched */
	UNKNOWN, /* refused on purpose: an unknown keyword, or a reference into what is no schema */
	FORMAT,	 /* refused on purpose: a format that isn't asserted */
	PUNYCODE,  /* never met: a name in Punycode takes Unicode's tables to judge */
	ANNOTATED, /* optional: draft 7 lets `content...` assert; here it only annotates */
	FATE__MAX
};

static const char *const fate_names[] = {
	"pass",		  "refused: remote", "refused: unknown keyword", "refused: format",
	"open: Punycode", "annotation only"
};

struct exception {
	const char *file;
	const char *group; /* NULL: all of them */
	enum fate fate;
};

static const struct exception in_2020_12[] = {
	{ "refRemote.json", NULL, REMOTE },
	{ "vocabulary.json", NULL, REMOTE },
	{ "defs.json", "validate definition against metaschema", REMOTE },
	{ "ref.json", "remote ref, containing refs itself", REMOTE },
	{ "dynamicRef.json", "strict-tree schema, guards against misspelled properties", REMOTE },
	{ "dynamicRef.json", "tests for implementation dynamic anchor and reference link", REMOTE },
	{ "dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first",
	  REMOTE },
	{ "dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first",
	  REMOTE },
	{ "dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", REMOTE },
	{ "format.json", "idn-email format", FORMAT },
	{ "format.json", "regex format", FORMAT },
	{ "format.json", "idn-hostname format", FORMAT },
	{ "format.json", "json-pointer format", FORMAT },
	{ "format.json", "relative-json-pointer format", FORMAT },
	{ "format.json", "iri format", FORMAT },
	{ "format.json", "iri-reference format", FORMAT },
	{ "format.json", "uri-reference format", FORMAT },
	{ "format.json", "uri-template format", FORMAT },
	{ "format.json", "duration format", FORMAT },
	{ "optional/cross-draft.json", NULL, REMOTE },
	{ "optional/format-assertion.json", NULL, REMOTE },
	{ "optional/dependencies-compatibility.json", NULL, UNKNOWN },
	{ "optional/refOfUnknownKeyword.json", NULL, UNKNOWN },
	{ "optional/unknownKeyword.json", NULL, UNKNOWN },
	{ "optional/format/duration.json", NULL, FORMAT },
	{ "optional/format/ecmascript-regex.json", NULL, FORMAT },
	{ "optional/format/hostname.json", "validation of A-label (punycode) host names",
	  PUNYCODE },
	{ "optional/format/idn-email.json", NULL, FORMAT },
	{ "optional/format/idn-hostname.json", NULL, FORMAT },
	{ "optional/format/iri-reference.json", NULL, FORMAT },
	{ "optional/format/iri.json", NULL, FORMAT },
	{ "optional/format/json-pointer.json", NULL, FORMAT },
	{ "optional/format/regex.json", NULL, FORMAT },
	{ "optional/format/relative-json-pointer.json", NULL, FORMAT },
	{ "optional/format/unknown.json", NULL, FORMAT },
	{ "optional/format/uri-reference.json", NULL, FORMAT },
	{ "optional/format/uri-template.json", NULL, FORMAT },
};

static const struct exception in_7[] = {
	{ "refRemote.json", NULL, REMOTE },
	{ "definitions.json", "validate definition against metaschema", REMOTE },
	{ "ref.json", "remote ref, containing refs itself", REMOTE },
	{ "format.json", "idn-email format", FORMAT },
	{ "format.json", "regex format", FORMAT },
	{ "format.json", "idn-hostname format", FORMAT },
	{ "format.json", "json-pointer format", FORMAT },
	{ "format.json", "relative-json-pointer format", FORMAT },
	{ "format.json", "iri format", FORMAT },
	{ "format.json", "iri-reference format", FORMAT },
	{ "format.json", "uri-reference format", FORMAT },
	{ "format.json", "uri-template format", FORMAT },
	{ "optional/content.json", NULL, ANNOTATED },
	{ "optional/cross-draft.json", "refs to future drafts are processed as future drafts",
	  REMOTE },
	{ "optional/unknownKeyword.json", NULL, UNKNOWN },
	{ "optional/format/ecmascript-regex.json", NULL, FORMAT },
	{ "optional/format/hostname.json", "validation of A-label (punycode) host names",
	  PUNYCODE },
	{ "optional/format/idn-email.json", NULL, FORMAT },
	{ "optional/format/idn-hostname.json", NULL, FORMAT },
	{ "optional/format/iri-reference.json", NULL, FORMAT },
	{ "optional/format/iri.json", NULL, FORMAT },
	{ "optional/format/json-pointer.json", NULL, FORMAT },
	{ "optional/format/regex.json", NULL, FORMAT },
	{ "optional/format/relative-json-pointer.json", NULL, FORMAT },
	{ "optional/format/unknown.json", NULL, FORMAT },
	{ "optional/format/uri-reference.json", NULL, FORMAT },
	{ "optional/format/uri-template.json", NULL, FORMAT },
};

/* In the required part of 2020-12 a broken format is valid, for there it only annotates. Here it
 * asserts, and this is how such a test is called. */
#define ANNOTATES "is only an annotation by default"

struct suite {
	const char *folder;
	bool draft_7;
	const struct exception *exceptions;
	size_t exceptions_len;
};

struct counts {
	int tests[FATE__MAX];
	int formats; /* ANNOTATES: broken here */
};

static const char *folder(const char *name)
{
	static char path[4096];
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof path, "%s/tests/data/json-schema/%s", srcdir ? srcdir : ".", name);
	return path;
}

static char *read_whole(const char *dir, const char *name, size_t *len_out)
{
	char path[8192];

	snprintf(path, sizeof path, "%s/%s", folder(dir), name);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("can't open %s", path);
	char *text = malloc(FILE_MAX_BYTES);
	assert_non_null(text);
	*len_out = fread(text, 1, FILE_MAX_BYTES, file);
	assert_true(*len_out < FILE_MAX_BYTES);
	fclose(file);
	return text;
}

static struct json_doc *parse(const char *text, size_t len)
{
	struct json_doc *doc;
	struct json_error error;

	if (json_parse(text, len, DEPTH, &doc, &error) != RC_OK)
		fail_msg("no JSON: %s at %zu", error.detail, error.offset);
	return doc;
}

/* The schema as it is to be compiled, in `text`. */
static struct json_doc *schema_of(const struct json_value *schema, bool draft_7, struct text *text)
{
	text_init(text, 2 * FILE_MAX_BYTES);
	if (draft_7 && schema->type == JSON_OBJECT && !json_member(schema, "$schema")) {
		text_add_str(text, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"");
		text_add_str(text, schema->count > 0 ? "," : "");
		text_add(text, schema->raw + 1, schema->raw_len - 1);
	} else {
		text_add(text, schema->raw, schema->raw_len);
	}
	assert_true(text_ok(text));
	return parse(text->bytes, text->len);
}

static bool is_named(const struct json_value *object, const char *end)
{
	const struct json_value *text = json_member(object, "description");
	size_t len = strlen(end);

	return text->string_len >= len &&
	       memcmp(text->string + text->string_len - len, end, len) == 0;
}

static enum fate fate_of(const struct suite *suite, const char *file,
			 const struct json_value *group)
{
	for (size_t i = 0; i < suite->exceptions_len; i++) {
		const struct exception *row = &suite->exceptions[i];

		if (strcmp(row->file, file) == 0 &&
		    (!row->group || json_is_string(json_member(group, "description"), row->group)))
			return row->fate;
	}
	return PASSES;
}

static void fail_at(const char *file, const struct json_value *group, const struct json_value *test,
		    const char *what)
{
	const struct json_value *name = json_member(group, "description");
	const struct json_value *one = test ? json_member(test, "description") : NULL;

	fail_msg("%s: %.*s: %.*s: %s", file, (int)name->string_len, name->string,
		 one ? (int)one->string_len : 0, one ? one->string : "", what);
}

static void judge(const char *file, const struct json_value *group, const struct json_value *test,
		  const struct schema *schema, enum fate fate, struct counts *counts)
{
	bool valid = json_member(test, "valid")->type == JSON_TRUE;
	enum schema_verdict verdict;
	struct text why;

	text_init(&why, SCHEMA_WHY_MAX);
	assert_int_equal(schema_judge(schema, json_member(test, "data"), &verdict, &why), RC_OK);
	if (verdict != SCHEMA_MET && (why.len == 0 || !text_ok(&why)))
		fail_at(file, group, test, "no reason is given");
	bool annotates = is_named(test, ANNOTATES);
	if (annotates)
		valid = false;
	if (fate == ANNOTATED)
		valid = true;
	if (fate == PUNYCODE ? verdict == SCHEMA_MET
			     : verdict != (valid ? SCHEMA_MET : SCHEMA_BROKEN))
		fail_at(file, group, test, why.len > 0 ? why.bytes : "met");
	counts->formats += annotates;
	counts->tests[fate] += !annotates;
	text_release(&why);
}

static void run_group(const struct suite *suite, const char *file, const struct json_value *group,
		      struct counts *counts)
{
	const struct json_value *tests = json_member(group, "tests");
	enum fate fate = fate_of(suite, file, group);
	bool refused = fate == REMOTE || fate == UNKNOWN || fate == FORMAT;
	struct text text;
	struct json_doc *doc = schema_of(json_member(group, "schema"), suite->draft_7, &text);
	struct schema *schema;
	struct flaws flaws;

	flaws_init(&flaws);
	enum rc rc = schema_compile(json_root(doc), "", &schema, &flaws);
	if (rc != (refused ? RC_INVALID : RC_OK))
		fail_at(file, group, NULL, flaws.len > 0 ? flaws.list[0].detail : "compiled");
	if (refused)
		counts->tests[fate] += (int)tests->count;
	for (const struct json_value *test = refused ? NULL : tests->child; test; test = test->next)
		judge(file, group, test, schema, fate, counts);
	flaws_release(&flaws);
	schema_free(schema);
	json_free(doc);
	text_release(&text);
}

static void tell(const char *file, const struct counts *before, const struct counts *counts)
{
	printf("# %s:", file);
	for (size_t i = 0; i < FATE__MAX; i++)
		if (counts->tests[i] > before->tests[i])
			printf(" %d %s", counts->tests[i] - before->tests[i], fate_names[i]);
	if (counts->formats > before->formats)
		printf(" %d format asserts", counts->formats - before->formats);
	printf("\n");
}

static void run_file(const struct suite *suite, const char *file, struct counts *counts)
{
	struct counts before = *counts;
	size_t len;
	char *text = read_whole(suite->folder, file, &len);
	struct json_doc *doc = parse(text, len);

	for (const struct json_value *group = json_root(doc)->child; group; group = group->next)
		run_group(suite, file, group, counts);
	tell(file, &before, counts);
	json_free(doc);
	free(text);
}

static int is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

/* Every file of one folder; the counts say whether one got lost. */
static struct counts run(const struct suite *suite, const char *sub)
{
	struct counts counts = { .formats = 0 };
	struct dirent **entries;
	char path[512];

	snprintf(path, sizeof path, "%s/%s", suite->folder, sub);
	int len = scandir(folder(path), &entries, is_json, alphasort);
	if (len < 0)
		fail_msg("no folder %s; is srcdir set?", folder(path));
	for (int i = 0; i < len; i++) {
		snprintf(path, sizeof path, "%s%s", sub, entries[i]->d_name);
		run_file(suite, path, &counts);
		free(entries[i]);
	}
	free(entries);
	return counts;
}

static const struct suite draft_2020_12 = { "draft2020-12", false, in_2020_12,
					    sizeof in_2020_12 / sizeof in_2020_12[0] };
static const struct suite draft_7 = { "draft7", true, in_7, sizeof in_7 / sizeof in_7[0] };

static void assert_counts(const struct counts *counts, const struct counts *want)
{
	for (size_t i = 0; i < FATE__MAX; i++)
		if (counts->tests[i] != want->tests[i])
			fail_msg("%s: %d tests, want %d", fate_names[i], counts->tests[i],
				 want->tests[i]);
	assert_int_equal(counts->formats, want->formats);
}

static void draft_2020_12_is_met_but_for_remotes_and_formats(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 1167, [REMOTE] = 53, [FORMAT] = 70 }, .formats = 9
	};
	struct counts counts = run(&draft_2020_12, "");

	(void)state;
	assert_counts(&counts, &want);
}

static void draft_7_is_met_but_for_remotes_and_formats(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 846, [REMOTE] = 27, [FORMAT] = 54 }
	};
	struct counts counts = run(&draft_7, "");

	(void)state;
	assert_counts(&counts, &want);
}

static void the_optional_part_of_2020_12_is_met_but_for_what_is_listed(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 108, [REMOTE] = 5, [UNKNOWN] = 49 }
	};
	struct counts counts = run(&draft_2020_12, "optional/");

	(void)state;
	assert_counts(&counts, &want);
}

static void the_optional_part_of_7_is_met_but_for_what_is_listed(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 103, [REMOTE] = 2, [UNKNOWN] = 3, [ANNOTATED] = 10 }
	};
	struct counts counts = run(&draft_7, "optional/");

	(void)state;
	assert_counts(&counts, &want);
}

static void nine_formats_of_2020_12_assert_all_but_punycode(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 371, [FORMAT] = 355, [PUNYCODE] = 38 }
	};
	struct counts counts = run(&draft_2020_12, "optional/format/");

	(void)state;
	assert_counts(&counts, &want);
}

static void eight_formats_of_7_assert_all_but_punycode(void **state)
{
	static const struct counts want = {
		.tests = { [PASSES] = 336, [FORMAT] = 302, [PUNYCODE] = 38 }
	};
	struct counts counts = run(&draft_7, "optional/format/");

	(void)state;
	assert_counts(&counts, &want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draft_2020_12_is_met_but_for_remotes_and_formats),
		cmocka_unit_test(draft_7_is_met_but_for_remotes_and_formats),
		cmocka_unit_test(the_optional_part_of_2020_12_is_met_but_for_what_is_listed),
		cmocka_unit_test(the_optional_part_of_7_is_met_but_for_what_is_listed),
		cmocka_unit_test(nine_formats_of_2020_12_assert_all_but_punycode),
		cmocka_unit_test(eight_formats_of_7_assert_all_but_punycode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
