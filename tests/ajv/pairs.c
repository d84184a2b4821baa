/* pairs.c: random schemas and documents with our verdicts, a JSON text a line, for ajv.sh. Only
 * what both validators mean to judge alike is made (see schema_gen.h): every number is one that a
 * double holds exactly, for ajv computes with doubles; no `format`; only patterns that are the same
 * in every dialect. What is refused here isn't printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "schema_gen.h"
#include "schema_kit.h"

#define TEXT_MAX (1u << 20)

enum { SCHEMAS = 300, DOCUMENTS = 2 };

static const char *verdict_name(enum schema_verdict verdict)
{
	switch (verdict) {
	case SCHEMA_MET: return "true";
	case SCHEMA_BROKEN: return "false";
	case SCHEMA_UNJUDGED:
	case SCHEMA_VERDICT__MAX: break;
	}
	return "null";
}

static void print_pair(struct gen *gen, const struct kit *kit, const char *schema)
{
	struct text document;

	text_init(&document, TEXT_MAX);
	gen_document(gen, 3, &document);
	printf("{\"draft_7\":%s,\"met\":%s,\"schema\":%s,\"document\":%s}\n",
	       gen->draft_7 ? "true" : "false", verdict_name(kit_judge(kit, document.bytes, NULL)),
	       schema, document.bytes);
	text_release(&document);
}

/* false: the schema is refused. */
static bool print_pairs(struct gen *gen)
{
	struct text inner, schema;

	text_init(&inner, TEXT_MAX);
	text_init(&schema, TEXT_MAX);
	gen_schema(gen, "http://example.com/s", &inner);
	/* Behind the brace that opens it */
	if (gen->draft_7)
		text_add_str(&schema, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",");
	else
		text_add_str(&schema, "{");
	text_add(&schema, inner.bytes + 1, inner.len - 1);
	struct kit kit = kit_compile(schema.bytes);
	bool taken = kit.schema != NULL;
	for (int i = 0; taken && i < DOCUMENTS; i++)
		print_pair(gen, &kit, schema.bytes);
	kit_release(&kit);
	text_release(&inner);
	text_release(&schema);
	return taken;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	for (int draft_7 = 0; draft_7 < 2; draft_7++) {
		struct gen gen = { .state = seed * 2 + (uint64_t)draft_7 + 1,
				   .draft_7 = draft_7 == 1 };
		for (int taken = 0; taken < SCHEMAS;)
			taken += print_pairs(&gen);
	}
	return 0;
}
