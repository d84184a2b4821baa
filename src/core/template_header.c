/* template_header.c: a header's value, where secrets stand between what comes from the input. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/secret_ref.h"
#include "core/template.h"
#include "core/template_text.h"

static bool line_bytes(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)bytes[i] < 0x20 && bytes[i] != '\t') || bytes[i] == 0x7f)
			return false;
	return true;
}

static bool blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static bool secrets_valid(const char *text, size_t len)
{
	struct secret_ref ref;

	for (; len > 0; text += ref.len, len -= ref.len) {
		ref = secret_ref_next(text, len);
		if (ref.kind == SECRET_BROKEN)
			return false;
	}
	return true;
}

static const char *value_flaw(const char *text, size_t len)
{
	struct piece piece;

	if (!line_bytes(text, len))
		return "must not hold control bytes";
	if (len > 0 && (blank(text[0]) || blank(text[len - 1])))
		return "must not begin or end with a blank";
	for (; len > 0; text += piece.len, len -= piece.len) {
		piece = piece_first(text, len);
		if (piece.kind == PIECE_BROKEN)
			return "has a {{ that is no placeholder known here";
		if (piece.kind == PIECE_PLAIN && !secrets_valid(piece.bytes, piece.bytes_len))
			return "has a ${ that is neither ${env:NAME} nor ${file:/path}";
	}
	return NULL;
}

void template_check_header(const char *text, size_t len, const char *pointer, const char *member,
			   struct flaws *flaws)
{
	const char *flaw = value_flaw(text, len);

	if (flaw)
		flaws_add(flaws, pointer, member, member ? strlen(member) : 0, "%s", flaw);
}

static enum rc add_own(const struct piece *piece,
		       enum rc (*expand)(const char *value, struct text *out, struct text *why),
		       struct text *out, struct text *why)
{
	if (!expand) {
		text_add(out, piece->bytes, piece->bytes_len);
		return RC_OK;
	}
	char *own = strndup(piece->bytes, piece->bytes_len);

	if (!own)
		return RC_FAULT;
	enum rc rc = expand(own, out, why);

	free(own);
	return rc;
}

enum rc template_render_header(const char *text, size_t len, const struct template_values *values,
			       enum rc (*expand)(const char *value, struct text *out,
						 struct text *why),
			       struct text *out, struct text *why)
{
	struct piece piece;
	size_t before = out->len;

	for (; len > 0; text += piece.len, len -= piece.len) {
		piece = piece_first(text, len);
		enum rc rc = piece.kind == PIECE_PLAIN ? add_own(&piece, expand, out, why)
						       : piece_add_text(&piece, values, out, why);
		if (rc == RC_OK)
			rc = template_room(out, "a header's value", why);
		if (rc != RC_OK)
			return rc;
	}
	if (line_bytes(out->bytes ? out->bytes + before : "", out->len - before))
		return RC_OK;
	text_add_str(why, "a header's value would hold a byte that a header can't carry");
	return RC_INVALID;
}
