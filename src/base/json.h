/* json.h: the strict scanner and the exact tree for what clients and providers send.
 *
 * RFC 8259 to the letter, and stricter in four stated points: a member named twice in one object
 * (after unescaping), a lone surrogate escape, arrays and objects nested past `depth_max` (the
 * outermost counts as 1) and an exponent of more than 18 digits (leading zeros don't count) are
 * refused. A byte order mark is refused. U+0000 in names and strings is kept, over the full length.
 * Numbers stay text: they are compared as exact decimals and never pass through a double. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "base/text.h"

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
	JSON__MAX
};

#define JSON_TEXT_MAX_BYTES (1u << 30)

/* The largest depth_max: json_equal() and json_canon() recurse that far. */
#define JSON_DEPTH_LIMIT 1000

/* `string` and `name` are unescaped UTF-8, may hold NUL bytes and have none behind them. */
struct json_value {
	const char *raw; /* this value as written, inside the text given to json_parse() */
	union {
		const char *string;	    /* JSON_STRING */
		struct json_value *by_name; /* JSON_OBJECT: the member with the smallest name */
	};
	const char *name;	  /* of a member; else NULL */
	struct json_value *child; /* JSON_ARRAY, JSON_OBJECT: the first as written */
	struct json_value *next;
	struct json_value *next_by_name; /* of a member: the next larger name, by bytes */
	uint32_t raw_len;
	uint32_t string_len;
	uint32_t name_len;
	uint32_t name_offset; /* of a member: where its name's opening quote stands in the text */
	uint32_t count;	      /* JSON_ARRAY, JSON_OBJECT: how many children */
	enum json_kind type;
};

/* Of two flaws the first in the text is told. */
struct json_error {
	size_t offset;	    /* of the first byte that can't be, `len` where the text ends early;
			     * of the opening quote where a name comes the second time */
	const char *detail; /* a constant sentence part: "a member is named twice" */
};

struct json_doc;

/* Parse exactly one JSON text with white space around it. `text` (more than 1 GiB is refused) must
 * outlive the document, which points into it. depth_max: 1 to JSON_DEPTH_LIMIT. RC_OK: *doc_out is
 * the caller's, json_free() it. RC_INVALID: *error_out says where and why. RC_FAULT: no memory.
 * *doc_out is NULL but for RC_OK. Time is n log n in the worst case, memory linear (72 bytes a
 * value); parsing and freeing don't recurse. */
MUST_CHECK enum rc json_parse(const char *text, size_t len, unsigned int depth_max,
			      struct json_doc **doc_out, struct json_error *error_out);
void json_free(struct json_doc *doc); /* NULL is fine */
const struct json_value *json_root(const struct json_doc *doc);

/* A member of an object by its unescaped name, or NULL; NULL too when `object` is NULL or no
 * object. */
const struct json_value *json_member(const struct json_value *object, const char *name);

/* RFC 6901: "" is the value itself, "/a/0/b~1c" walks down. NULL where nothing is there or the
 * pointer is malformed (see json_pointer_valid). An array index is 0 or has no leading zero. */
const struct json_value *json_at(const struct json_value *value, const char *pointer,
				 size_t pointer_len);
bool json_pointer_valid(const char *pointer, size_t pointer_len);

/* The string's bytes are exactly those of the C string `str`. False for other types and for
 * NULL. */
bool json_is_string(const struct json_value *value, const char *str);

/* An integer written in any way that is exactly one (5, 5.0, 50e-1) and within [min, max]. False:
 * *number_out is untouched; `value` may be NULL. */
bool json_to_i64(const struct json_value *value, int64_t min, int64_t max, int64_t *number_out);

/* Equal as JSON values, in linear time: member order, white space and escapes don't count, numbers
 * as exact decimals (1 = 1.0 = 1e0, 0 = -0). Neither may be NULL. */
bool json_equal(const struct json_value *a, const struct json_value *b);

/* Adds the canonical form: two values are json_equal() if and only if their canonical bytes are the
 * same. It is JSON without white space: members sorted by the bytes of their unescaped names,
 * strings with no escape they don't need, numbers as sign, digits without leading or trailing
 * zeros, and the exponent of the last digit where it isn't 0 (-1.50 is -15e-1, 0 and -0 are 0). At
 * most twice as long as the value was written. */
void json_canon(const struct json_value *value, struct text *out);

/* The same, but numbers as they are written: for what is sent on, where 1 and 1.0 aren't the
 * same. */
void json_canon_digits(const struct json_value *value, struct text *out);

#endif
