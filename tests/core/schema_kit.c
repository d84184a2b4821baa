#include "schema_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

struct json_doc *kit_parse(const char *text)
{
	struct json_doc *doc;
	struct json_error error;

	if (json_parse(text, strlen(text), JSON_DEPTH_LIMIT, &doc, &error) != RC_OK)
		fail_msg("%.200s: %s at %zu", text, error.detail, error.offset);
	return doc;
}

struct kit kit_compile(const char *text)
{
	struct kit kit = { .json = kit_parse(text) };

	flaws_init(&kit.flaws);
	enum rc rc = schema_compile(json_root(kit.json), "", &kit.schema, &kit.flaws);
	if (rc != (kit.flaws.count > 0 ? RC_INVALID : RC_OK))
		fail_msg("%.200s: rc %d with %zu flaws", text, rc, kit.flaws.count);
	return kit;
}

void kit_release(struct kit *kit)
{
	schema_free(kit->schema);
	json_free(kit->json);
	flaws_release(&kit->flaws);
}

enum schema_verdict kit_judge(const struct kit *kit, const char *document, char why[SCHEMA_WHY_MAX])
{
	struct json_doc *doc = kit_parse(document);
	enum schema_verdict verdict;
	struct text text;

	text_init(&text, SCHEMA_WHY_MAX);
	assert_int_equal(schema_judge(kit->schema, json_root(doc), &verdict, &text), RC_OK);
	assert_true(text_ok(&text));
	assert_int_equal(text.len > 0, verdict != SCHEMA_MET);
	if (why)
		snprintf(why, SCHEMA_WHY_MAX, "%s", text.bytes ? text.bytes : "");
	text_release(&text);
	json_free(doc);
	return verdict;
}

enum schema_verdict kit_verdict(const char *schema, const char *document)
{
	struct kit kit = kit_compile(schema);

	if (!kit.schema)
		fail_msg("%.200s: refused: %s: %s", schema, kit.flaws.list[0].pointer,
			 kit.flaws.list[0].detail);
	enum schema_verdict verdict = kit_judge(&kit, document, NULL);
	kit_release(&kit);
	return verdict;
}
