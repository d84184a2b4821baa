/* text.h: a growing byte buffer with a cap given at birth.
 *
 * Adding past the cap, or without memory, sets `failed` and leaves what was there; later additions
 * do nothing. So a writer adds all it has and asks once, with text_ok(). `bytes` is always followed
 * by a NUL that `len` doesn't count; before the first addition it is NULL. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rc.h"

struct text {
	char *bytes;
	size_t len;
	size_t size; /* allocated */
	size_t cap;  /* len never passes this */
	bool failed;
	bool full; /* what failed would have passed the cap: it will as often as it is tried */
};

void text_init(struct text *text, size_t cap_bytes); /* cap_bytes: below SIZE_MAX / 2 */
void text_release(struct text *text); /* frees what is inside; empty, with its cap, after */
void text_clear(struct text *text);   /* len 0, nothing failed; keeps the memory */

void text_add(struct text *text, const void *bytes, size_t len);
void text_add_str(struct text *text, const char *str);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_hex(struct text *text, const void *bytes, size_t len); /* lower case */

/* Quoted, with RFC 8259's escapes where they must be: quote, backslash, controls. A byte that is no
 * UTF-8 is written as U+FFFD, so that the output is JSON whatever comes in. */
void text_add_json_string(struct text *text, const char *bytes, size_t len);

bool text_ok(const struct text *text);

/* RC_OK; RC_INVALID: longer than its cap; RC_FAULT: no memory. */
MUST_CHECK enum rc text_rc(const struct text *text);

/* The bytes, which the caller must free; the text is empty after. "" when nothing was added, NULL
 * when failed. */
char *text_take(struct text *text);

/* How long the well-formed UTF-8 sequence is that `bytes` begins with, 1 to 4 (Unicode 15, table
 * 3-7: no overlong forms, no surrogates, nothing past U+10FFFF). 0: there is none, and *bad_out is
 * the index of the first byte that can't be, `len` where the sequence is cut short. */
size_t text_utf8_next(const char *bytes, size_t len, size_t *bad_out);

/* How many leading bytes stand for themselves in a JSON string: ASCII but controls, quote and
 * backslash. */
size_t text_json_plain(const char *bytes, size_t len);

#endif
