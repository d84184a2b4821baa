/* schema_kit.h: schemas and documents from text, for tests. */
#ifndef TESTS_SCHEMA_KIT_H
#define TESTS_SCHEMA_KIT_H

#include "core/schema.h"

struct kit {
	struct json_doc *json;
	struct schema *schema; /* NULL: refused */
	struct flaws flaws;
};

/* Text that is no JSON fails the test. `text` must outlive the kit. */
struct json_doc *kit_parse(const char *text);
struct kit kit_compile(const char *text);
void kit_release(struct kit *kit);

/* The verdict on `document`; `why` may be NULL. */
enum schema_verdict kit_judge(const struct kit *kit, const char *document,
			      char why[SCHEMA_WHY_MAX]);

/* All of it; a schema that is refused fails the test. */
enum schema_verdict kit_verdict(const char *schema, const char *document);

#endif
