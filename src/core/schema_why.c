/* schema_why.c: why a verdict isn't "met", for people, without anything of the document's own. */
#include "core/schema_judging.h"

#include <string.h>

#include "core/utf8.h"

#define PATH_MAX_BYTES 256
#define CUT "\xe2\x80\xa6" /* U+2026 */

/* A pointer as text: cut where it is long, without control characters. */
static void add_shown(struct text *out, const struct text *pointer)
{
	size_t end = pointer->len;

	if (end > PATH_MAX_BYTES) {
		end = PATH_MAX_BYTES;
		while (end > 0 && ((unsigned char)pointer->bytes[end] & 0xc0) == 0x80)
			end--;
	}
	for (size_t i = 0; i < end; i++) {
		unsigned char c = (unsigned char)pointer->bytes[i];

		if (c < 0x20 || c == 0x7f)
			text_add_str(out, "?");
		else
			text_add(out, &c, 1);
	}
	if (end < pointer->len || !text_ok(pointer))
		text_add_str(out, CUT);
}

/* From the root down: so long a way as fits is kept. */
static void add_place(const struct place *at, struct text *out)
{
	if (!at->outer)
		return;
	add_place(at->outer, out);
	if (at->index >= 0)
		text_addf(out, "/%lld", (long long)at->index);
	else if (at->named && at->named->name)
		schema_pointer_token(at->named->name, at->named->name_len, out);
	else if (at->named) /* an element of `required` and its like */
		schema_pointer_token(at->named->string, at->named->string_len, out);
	else
		text_add_str(out, "/*");
}

static void add_where(struct text *out, const struct judging *in, const struct schema_node *node,
		      const struct schema_part *part, const struct place *at)
{
	struct text path;

	text_init(&path, 4 * PATH_MAX_BYTES);
	schema_pointer_add(in->schema, node, &path);
	if (part)
		schema_pointer_token(part->name, strlen(part->name), &path);
	add_shown(out, &path);
	text_release(&path);
	text_add_str(out, " at ");
	text_init(&path, 4 * PATH_MAX_BYTES);
	add_place(at, &path);
	if (path.len == 0)
		text_add_str(out, "the document's root");
	else
		add_shown(out, &path);
	text_release(&path);
}

enum schema_verdict judge_broken(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at)
{
	if (in->quiet > 0 || in->broken.len > 0)
		return SCHEMA_BROKEN;
	if (part)
		text_addf(&in->broken, "\"%s\" isn't met: ", part->name);
	else
		text_add_str(&in->broken, "nothing is allowed here: ");
	add_where(&in->broken, in, node, part, at);
	return SCHEMA_BROKEN;
}

enum schema_verdict judge_open(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at,
			       const char *detail)
{
	if (in->open.len > 0)
		return SCHEMA_UNJUDGED;
	text_addf(&in->open, "%s: ", detail);
	add_where(&in->open, in, node, part, at);
	return SCHEMA_UNJUDGED;
}

enum schema_verdict judge_bool(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at, bool met)
{
	return met ? SCHEMA_MET : judge_broken(in, node, part, at);
}
