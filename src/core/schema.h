/* schema.h: JSON Schema, draft 2020-12, and draft 7 where the root's `$schema` says so, over the
 * exact tree of base/json.h. Numbers are exact decimals throughout.
 *
 * A schema is refused when it is compiled for whatever would make a verdict mean less than it
 * seems: an unknown keyword, a keyword's value of the wrong type, a `$schema` of another draft, a
 * `$ref` that leads out of the document or to no schema, an id or anchor that comes twice,
 * references that go round without getting deeper into the document, a `format` that isn't asserted
 * here, a `pattern` that pattern.h refuses. `format` always asserts: date-time, date, time, uuid,
 * email, uri, ipv4, ipv6, hostname.
 *
 * A verdict has three values. SCHEMA_UNJUDGED comes from a pattern that takes too long, a budget of
 * steps that is spent (it grows with the document), too deep a recursion, or a host name in
 * Punycode; it is never turned into SCHEMA_MET: what is met or broken whatever the open part would
 * have been is, and nothing else (Kleene's logic). */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/flaws.h"

#define SCHEMA_MAX_BYTES (256 * 1024)
#define SCHEMA_NODES_MAX 10000 /* schemas within a schema */
#define SCHEMA_PATTERNS_MAX 1000
#define SCHEMA_DEPTH_MAX 128 /* schemas nested in one another */

/* What schema_judge() adds to `why` at most. */
#define SCHEMA_WHY_MAX 800

struct schema;

/* `json` must outlive the schema. `pointer` is where it stands in a larger document ("" for itself)
 * and goes before the flaws' pointers. RC_OK: *schema_out is the caller's, schema_free() it; it
 * never changes, so several threads may judge by it at once. RC_INVALID: what is wrong has been
 * added to `flaws`, all of it. RC_FAULT: no memory. */
MUST_CHECK enum rc schema_compile(const struct json_value *json, const char *pointer,
				  struct schema **schema_out, struct flaws *flaws);
void schema_free(struct schema *schema); /* NULL is fine */

enum schema_verdict { SCHEMA_MET, SCHEMA_BROKEN, SCHEMA_UNJUDGED, SCHEMA_VERDICT__MAX };

/* Where the verdict isn't SCHEMA_MET, adds a sentence part to `why`: which keyword, where it stands
 * in the schema, and where in the document. It holds nothing of the document's own: no value, and a
 * member's name only where the schema itself has it, else `*`. Valid UTF-8 without control
 * characters. RC_FAULT: no memory; *verdict_out is SCHEMA_UNJUDGED. */
MUST_CHECK enum rc schema_judge(const struct schema *schema, const struct json_value *document,
				enum schema_verdict *verdict_out, struct text *why);

#endif
