/* template_text.h: one string of a template, piece by piece: plain text and placeholders. */
#ifndef CORE_TEMPLATE_TEXT_H
#define CORE_TEMPLATE_TEXT_H

#include <stddef.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/template.h"

enum piece_kind {
	PIECE_PLAIN,
	PIECE_POINTER,
	PIECE_INPUT,
	PIECE_JOB_ID,
	PIECE_ATTEMPT_ID,
	PIECE_CALLBACK_URL,
	PIECE_LITERAL,
	PIECE_BROKEN, /* a "{{" that is no placeholder */
	PIECE__MAX
};

struct piece {
	enum piece_kind kind;
	const char *bytes; /* PLAIN: the text; POINTER: the pointer; LITERAL: the JSON string, with
			      its quotes */
	size_t bytes_len;
	size_t len; /* of the whole piece: where the next one begins */
};

/* The first piece of a text that isn't empty. */
struct piece piece_first(const char *text, size_t len);

/* What a placeholder stands for: a value of the input, or else a text. */
struct piece_value {
	const struct json_value *json; /* NULL: it is the text */
	const char *text;
	size_t text_len;
};

/* POINTER, INPUT and the three names. RC_INVALID: it isn't there, as `why` says. */
MUST_CHECK enum rc piece_resolve(const struct piece *piece, const struct template_values *values,
				 struct piece_value *value_out, struct text *why);

/* Adds what the piece stands for as plain text: a string as it is, anything else as its JSON text.
 */
MUST_CHECK enum rc piece_add_text(const struct piece *piece, const struct template_values *values,
				  struct text *out, struct text *why);

/* Whether all that was added to `out` is in it. RC_INVALID: it would be longer than its cap, as
 * `why` says of `what`. RC_FAULT: no memory. */
MUST_CHECK enum rc template_room(const struct text *out, const char *what, struct text *why);

#endif
