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

/* What becomes of a group of tests that isn't simply passed. */
enum fate {
	PASSES,
	REMOTE,	 /* refused: it needs another document, and nothing is ever fetched */
	REFUSED, /* refused on purpose: what we don't judge must not be in a contract */
	OPEN,	 /* nothing is met: can't be judged without Unicode's tables */
	FATE__MAX
};

struct exception {
	const char *file;
	const char *group; /* NULL: all of them */
	enum fate fate;
};

struct counts {
	int groups[FATE__MAX];
	int tests[FATE__MAX];
	int asserted; /* valid in the suite as `format` only annotates there; broken here */
};

static const struct exception in_2020_12[] = {
	{ "refRemote.json", NULL, REMOTE },
	{ "defs.json", "validate definition against metaschema", REMOTE },
	{ "ref.json", "remote ref, containing refs itself", REMOTE },
	{ "dynamicRef.json", "strict-tree schema, guards against misspelled properties", REMOTE },
	{ "dynamicRef.json", "tests for implementation dynamic anchor and reference link", REMOTE },
	{ "dynamicRef.json",
	  "$ref and $dynamicAnchor are independent of order - $defs first", REMOTE },
	{ "dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first", REMOTE },
	{ "dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", REMOTE },
	{ "vocabulary.json", NULL, REMOTE }, /* a meta-schema of its own */
};

static const struct exception in_7[] = {
	{ "refRemote.json", NULL, REMOTE },
	{ "definitions.json", "validate definition against metaschema", REMOTE },
	{ "ref.json", "remote ref, containing refs itself", REMOTE },
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

static int failures;

static void run_group(const char *file, const struct json_value *group, bool draft_7)
{
	const struct json_value *d = json_member(group, "description");
	struct text text;
	struct json_doc *doc = schema_of(json_member(group, "schema"), draft_7, &text);
	struct flaws flaws;
	struct schema *schema;

	flaws_init(&flaws);
	enum rc rc = schema_compile(json_root(doc), "", &schema, &flaws);
	if (rc != RC_OK) {
		printf("# %s | %.*s | refused %s: %s\n", file, (int)d->string_len, d->string, flaws.list[0].pointer, flaws.list[0].detail);
		failures++;
	} else
	for (const struct json_value *t = json_member(group, "tests")->child; t; t = t->next) {
		enum schema_verdict v;
		struct text why;
		text_init(&why, 1000);
		rc = schema_judge(schema, json_member(t, "data"), &v, &why);
		enum schema_verdict want = json_member(t, "valid")->type == JSON_TRUE ? SCHEMA_MET : SCHEMA_BROKEN;
		if (rc != RC_OK || v != want) {
			const struct json_value *td = json_member(t, "description");
			printf("# %s | %.*s | %.*s | got %d (%s)\n", file, (int)d->string_len, d->string, (int)td->string_len, td->string, v, why.bytes ? why.bytes : "");
			failures++;
		}
		text_release(&why);
	}
	flaws_release(&flaws);
	schema_free(schema);
	json_free(doc);
	text_release(&text);
}

static void run_dir(const char *dir, bool draft_7)
{
	DIR *d = opendir(folder(dir));
	for (struct dirent *e; (e = readdir(d));) {
		size_t len;
		if (!strstr(e->d_name, ".json")) continue;
		char *text = read_whole(dir, e->d_name, &len);
		struct json_doc *doc = parse(text, len);
		char name[600];
		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		for (const struct json_value *g = json_root(doc)->child; g; g = g->next)
			run_group(name, g, draft_7);
		json_free(doc);
		free(text);
	}
	closedir(d);
}

int main(void) { run_dir("draft2020-12", false); run_dir("draft7", true); run_dir("draft2020-12/optional", false); run_dir("draft7/optional", true); run_dir("draft2020-12/optional/format", false); run_dir("draft7/optional/format", true); printf("%d %d %d\n", failures, (int)sizeof in_7, (int)sizeof in_2020_12); return 0; }
