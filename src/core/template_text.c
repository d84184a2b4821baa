#include "core/template_text.h"

#include <stdbool.h>
#include <string.h>

#include "core/words.h"

#define OPEN "{{"
#define CLOSE "}}"
#define BRACES_LEN 2

static const char *const names[PIECE__MAX] = {
	[PIECE_INPUT] = "input",
	[PIECE_JOB_ID] = "job.id",
	[PIECE_ATTEMPT_ID] = "attempt.id",
	[PIECE_CALLBACK_URL] = "callback_url",
};

/* The bytes of a JSON string with its quotes, as far as its end shows; 0: it has none. */
static size_t literal_len(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '"')
			return i + 1;
	}
	return 0;
}

/* The end of a literal may hold "}}" itself, so it isn't looked for by them. */
static void find_literal(struct piece *piece, const char *inner, size_t left)
{
	struct json_doc *doc;
	struct json_error error;
	size_t len = literal_len(inner, left);

	if (len == 0 || left - len < BRACES_LEN || memcmp(inner + len, CLOSE, BRACES_LEN) != 0)
		return;
	piece->len = len + 2 * BRACES_LEN;
	if (json_parse(inner, len, 1, &doc, &error) != RC_OK)
		return;
	json_free(doc);
	piece->kind = PIECE_LITERAL;
	piece->bytes = inner;
	piece->bytes_len = len;
}

static bool blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void find_pointer(struct piece *piece, const char *inner, size_t len)
{
	if (blank(inner[len - 1]) || !json_pointer_valid(inner, len))
		return;
	piece->kind = PIECE_POINTER;
	piece->bytes = inner;
	piece->bytes_len = len;
}

static void find_name(struct piece *piece, const char *inner, size_t len)
{
	for (int kind = 0; kind < PIECE__MAX; kind++)
		if (names[kind] && strlen(names[kind]) == len &&
		    memcmp(names[kind], inner, len) == 0)
			piece->kind = (enum piece_kind)kind;
}

static struct piece placeholder(const char *text, size_t len)
{
	struct piece piece = { .kind = PIECE_BROKEN, .len = len };
	const char *inner = text + BRACES_LEN;
	size_t left = len - BRACES_LEN;

	if (left > 0 && *inner == '"') {
		find_literal(&piece, inner, left);
		return piece;
	}
	const char *close = memmem(inner, left, CLOSE, BRACES_LEN);

	if (!close || close == inner)
		return piece;
	piece.len = (size_t)(close - text) + BRACES_LEN;
	if (*inner == '/')
		find_pointer(&piece, inner, (size_t)(close - inner));
	else
		find_name(&piece, inner, (size_t)(close - inner));
	return piece;
}

struct piece piece_first(const char *text, size_t len)
{
	const char *open = memmem(text, len, OPEN, BRACES_LEN);

	if (open == text)
		return placeholder(text, len);
	size_t plain = open ? (size_t)(open - text) : len;

	return (struct piece){ PIECE_PLAIN, text, plain, plain };
}

static enum rc found_text(const char *text, const char *name, struct piece_value *value_out,
			  struct text *why)
{
	if (!text) {
		text_addf(why, "the template names {{%s}}, which isn't set up here", name);
		return RC_INVALID;
	}
	*value_out = (struct piece_value){ .text = text, .text_len = strlen(text) };
	return RC_OK;
}

enum rc piece_resolve(const struct piece *piece, const struct template_values *values,
		      struct piece_value *value_out, struct text *why)
{
	const char *name = names[piece->kind];

	*value_out = (struct piece_value){ 0 };
	switch (piece->kind) {
	case PIECE_INPUT: value_out->json = values->input; return RC_OK;
	case PIECE_JOB_ID: return found_text(values->job_id, name, value_out, why);
	case PIECE_ATTEMPT_ID: return found_text(values->attempt_id, name, value_out, why);
	case PIECE_CALLBACK_URL: return found_text(values->callback_url, name, value_out, why);
	case PIECE_POINTER:
		value_out->json = json_at(values->input, piece->bytes, piece->bytes_len);
		if (value_out->json)
			return RC_OK;
		text_add_str(why, "the template names ");
		words_add_name(why, piece->bytes, piece->bytes_len);
		text_add_str(why, ", where the input has nothing");
		return RC_INVALID;
	case PIECE_PLAIN:
	case PIECE_LITERAL:
	case PIECE_BROKEN:
	case PIECE__MAX: break;
	}
	text_add_str(why, "the template has a {{ that is no placeholder");
	return RC_INVALID;
}

static enum rc add_literal(const struct piece *piece, struct text *out)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(piece->bytes, piece->bytes_len, 1, &doc, &error);

	if (rc != RC_OK)
		return rc;
	text_add(out, json_root(doc)->string, json_root(doc)->string_len);
	json_free(doc);
	return RC_OK;
}

enum rc piece_add_text(const struct piece *piece, const struct template_values *values,
		       struct text *out, struct text *why)
{
	struct piece_value value;

	if (piece->kind == PIECE_PLAIN) {
		text_add(out, piece->bytes, piece->bytes_len);
		return RC_OK;
	}
	if (piece->kind == PIECE_LITERAL)
		return add_literal(piece, out);
	enum rc rc = piece_resolve(piece, values, &value, why);

	if (rc != RC_OK)
		return rc;
	if (!value.json)
		text_add(out, value.text, value.text_len);
	else if (value.json->type == JSON_STRING)
		text_add(out, value.json->string, value.json->string_len);
	else
		text_add(out, value.json->raw, value.json->raw_len);
	return RC_OK;
}

enum rc template_room(const struct text *out, const char *what, struct text *why)
{
	enum rc rc = text_rc(out);

	if (rc == RC_INVALID)
		text_addf(why, "%s would be longer than %zu bytes", what, out->cap);
	return rc;
}
