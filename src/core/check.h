/* check.h: checks of meaning: one place in a document and what must hold there.
 *
 *   {"pointer": "/total", "equals": 3}        equal as JSON values, numbers as exact decimals
 *   {"pointer": "/currency", "in": ["EUR"]}   equal to one of them
 *   {"pointer": "/iban", "matches": "^DE"}    a string in which the pattern is found
 *   {"pointer": "/total", "min": 0, "max": 9} a number; either or both
 *   {"pointer": "/text", "max_length": 280}   a string of at most so many code points
 *   {"pointer": "/id", "equals_input": "/id"} equal to the job's input there
 *
 * A check has a pointer and exactly one of these (min and max count as one). Where nothing stands
 * at the pointer, or a value of another type, it doesn't hold. */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/flaws.h"
#include "core/pattern.h"

#define CHECKS_MAX 64 /* of one list */

/* What the patterns of one list may cost together, for a document of so many bytes: as much as a
 * schema may. One match may cost a quarter of it. */
#define CHECKS_STEPS(len) (4 * PATTERN_STEPS(len))

enum check_kind {
	CHECK_EQUALS,
	CHECK_IN,
	CHECK_MATCHES,
	CHECK_RANGE,
	CHECK_MAX_LENGTH,
	CHECK_EQUALS_INPUT,
	CHECK_KIND__MAX
};

struct check {
	enum check_kind kind;
	const struct json_value *pointer; /* a JSON_STRING; this and the others point into the
					     document that the list was read from */
	const struct json_value *value;	  /* EQUALS, IN (an array), EQUALS_INPUT (a pointer) */
	const struct json_value *min;	  /* RANGE: NULL: no bound */
	const struct json_value *max;
	int64_t max_length;
	struct pattern *pattern; /* MATCHES; owned */
};

struct check_list {
	struct check *list;
	size_t len;
};

enum check_verdict {
	CHECK_HOLDS,
	CHECK_BROKEN,
	CHECK_UNJUDGED, /* a pattern that would take too long, or comes after such ones: never
			   taken for "holds" */
	CHECK_VERDICT__MAX
};

/* `json`: an array, which must outlive the list; `pointer` says where it stands, for the flaws.
 * RC_OK: check_list_release() it. RC_INVALID: flaws has them all. RC_FAULT: no memory. */
MUST_CHECK enum rc check_list_read(const struct json_value *json, const char *pointer,
				   struct check_list *list_out, struct flaws *flaws);
void check_list_release(struct check_list *list);

/* Adds the check's kind and pointer, as in: equals at "/total". One line, whatever the pointer
 * holds. */
void check_add_name(const struct check *check, struct text *out);

/* Both: input: NULL where there is none (then EQUALS_INPUT is broken). */

/* All of them: HOLDS, else the first that doesn't (BROKEN before UNJUDGED), named in `why` by its
 * pointer and kind, which the contract's author wrote; no value of the document goes there. */
enum check_verdict check_list_judge(const struct check_list *list,
				    const struct json_value *document,
				    const struct json_value *input, struct text *why);

/* The first that holds, or NULL: for the route's `doubt`. One that can't be judged counts as
 * holding. */
const struct check *check_list_any(const struct check_list *list, const struct json_value *document,
				   const struct json_value *input);

#endif
