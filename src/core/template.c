/* template.c: the body. One string's pieces are template_text.c's, a header's value
 * template_header.c's. */
#include "core/template.h"

#include <string.h>

#include "core/template_text.h"

#define PATH_MAX_BYTES 512 /* a flaw shows less of it */
#define WHAT "the request"
#define REPLACEMENT "\xef\xbf\xbd"

/* A value and how it was reached, for the pointer of a flaw. */
struct place {
	const struct place *up; /* NULL: the template itself */
	const struct json_value *value;
	uint32_t index; /* of an array's element */
};

static void add_name(struct text *path, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (name[i]) {
		case '\0': text_add_str(path, REPLACEMENT); break;
		case '~': text_add_str(path, "~0"); break;
		case '/': text_add_str(path, "~1"); break;
		default: text_add(path, name + i, 1); break;
		}
	}
}

static void add_place(struct text *path, const char *root, const struct place *place)
{
	if (!place->up) {
		text_add_str(path, root);
		return;
	}
	add_place(path, root, place->up);
	text_add_str(path, "/");
	if (place->value->name)
		add_name(path, place->value->name, place->value->name_len);
	else
		text_addf(path, "%u", place->index);
}

static bool text_valid(const char *text, size_t len)
{
	struct piece piece;

	for (; len > 0; text += piece.len, len -= piece.len) {
		piece = piece_first(text, len);
		if (piece.kind == PIECE_BROKEN)
			return false;
	}
	return true;
}

void template_check_text(const char *text, size_t len, const char *pointer, const char *member,
			 struct flaws *flaws)
{
	if (!text_valid(text, len))
		flaws_add(flaws, pointer, member, member ? strlen(member) : 0,
			  "has a {{ that is no placeholder known here");
}

static void check_string(const struct place *place, const char *root, struct flaws *flaws)
{
	struct text path;

	if (text_valid(place->value->string, place->value->string_len))
		return;
	text_init(&path, PATH_MAX_BYTES);
	add_place(&path, root, place);
	template_check_text(place->value->string, place->value->string_len,
			    path.bytes ? path.bytes : "", NULL, flaws);
	text_release(&path);
}

static void check_value(const struct place *place, const char *root, struct flaws *flaws)
{
	struct place below = { .up = place };

	if (place->value->type == JSON_STRING)
		check_string(place, root, flaws);
	if (place->value->type != JSON_ARRAY && place->value->type != JSON_OBJECT)
		return;
	for (below.value = place->value->child; below.value; below.value = below.value->next) {
		check_value(&below, root, flaws);
		below.index++;
	}
}

void template_check(const struct json_value *template, const char *pointer, struct flaws *flaws)
{
	const struct place top = { .value = template };

	check_value(&top, pointer, flaws);
}

struct rendering {
	const struct template_values *values;
	struct text *out;
	struct text *why;
	const char *from; /* of the template's text: what comes before it is in `out` */
};

/* The string is one placeholder and nothing else: what it stands for keeps its type and digits. */
static enum rc render_whole(struct rendering *r, const struct piece *piece)
{
	struct piece_value value;

	if (piece->kind == PIECE_LITERAL) {
		text_add(r->out, piece->bytes, piece->bytes_len);
		return RC_OK;
	}
	enum rc rc = piece_resolve(piece, r->values, &value, r->why);

	if (rc != RC_OK)
		return rc;
	if (value.json)
		text_add(r->out, value.json->raw, value.json->raw_len);
	else
		text_add_json_string(r->out, value.text, value.text_len);
	return RC_OK;
}

/* Each piece is valid UTF-8 by itself, so the whole is. */
static enum rc render_mixed(struct rendering *r, const char *text, size_t len)
{
	enum rc rc = RC_OK;
	struct text whole;
	struct piece piece;

	text_init(&whole, r->out->cap);
	for (; rc == RC_OK && len > 0; text += piece.len, len -= piece.len) {
		piece = piece_first(text, len);
		rc = piece_add_text(&piece, r->values, &whole, r->why);
		if (rc == RC_OK)
			rc = template_room(&whole, WHAT, r->why);
	}
	if (rc == RC_OK)
		text_add_json_string(r->out, whole.bytes ? whole.bytes : "", whole.len);
	text_release(&whole);
	return rc;
}

static enum rc render_string(struct rendering *r, const struct json_value *string)
{
	if (!memmem(string->string, string->string_len, "{{", 2))
		return RC_OK;
	struct piece piece = piece_first(string->string, string->string_len);

	text_add(r->out, r->from, (size_t)(string->raw - r->from));
	r->from = string->raw + string->raw_len;
	if (piece.len == string->string_len)
		return render_whole(r, &piece);
	return render_mixed(r, string->string, string->string_len);
}

static enum rc render_value(struct rendering *r, const struct json_value *value)
{
	enum rc rc = RC_OK;

	if (value->type == JSON_STRING)
		return render_string(r, value);
	if (value->type != JSON_ARRAY && value->type != JSON_OBJECT)
		return RC_OK;
	for (const struct json_value *child = value->child; child && rc == RC_OK;
	     child = child->next)
		rc = text_ok(r->out) ? render_value(r, child) : template_room(r->out, WHAT, r->why);
	return rc;
}

enum rc template_render(const struct json_value *template, const struct template_values *values,
			struct text *out, struct text *why)
{
	struct rendering r = { values, out, why, template->raw };
	enum rc rc = render_value(&r, template);

	if (rc != RC_OK)
		return rc;
	text_add(out, r.from, (size_t)(template->raw + template->raw_len - r.from));
	return template_room(out, WHAT, why);
}
