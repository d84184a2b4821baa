/* json_scan.c: from bytes to a tree, strictly, one token a step and without recursion.
 *
 * The way back up needs no stack. While an array or object is open, two of its links aren't in use
 * yet: `next` holds its parent and `next_by_name` its last child. Closing it clears both. */
#include "base/json_private.h"

#include <assert.h>
#include <string.h>

enum want { WANT_VALUE, WANT_NAME, WANT_FIRST, WANT_MORE, WANT_NOTHING };

struct scan {
	struct json_cursor in;
	const char *text;
	struct json_doc *doc;
	struct json_value *open; /* the innermost array or object, or NULL */
	unsigned int depth;
	unsigned int depth_max;
	enum want want;
	bool no_memory;
};

static struct json_value *parent_of(const struct json_value *open)
{
	return open->next;
}

static struct json_value *last_of(const struct json_value *open)
{
	return open->next_by_name;
}

static bool stop(struct scan *s, const char *detail)
{
	return json_token_stop(&s->in, s->in.at, detail);
}

static void skip_space(struct json_cursor *in)
{
	while (in->at < in->end &&
	       (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t'))
		in->at++;
}

static void *alloc(struct scan *s, size_t bytes)
{
	void *piece = json_tree_alloc(s->doc, bytes);

	if (!piece)
		s->no_memory = true;
	return piece;
}

/* A new last child of the open container, or the root. */
static struct json_value *add_value(struct scan *s)
{
	struct json_value *value = alloc(s, sizeof *value);

	if (!value)
		return NULL;
	*value = (struct json_value){ .type = JSON_NULL };
	if (!s->open) {
		s->doc->root = value;
		return value;
	}
	if (s->open->count++ == 0)
		s->open->child = value;
	else
		last_of(s->open)->next = value;
	s->open->next_by_name = value;
	return value;
}

static bool open_container(struct scan *s, struct json_value *value)
{
	if (s->depth == s->depth_max)
		return stop(s, "arrays and objects are nested too deeply");
	s->depth++;
	value->type = *s->in.at++ == '[' ? JSON_ARRAY : JSON_OBJECT;
	value->next = s->open;
	s->open = value;
	s->want = WANT_FIRST;
	return true;
}

/* The innermost container, with its links as they stay. */
static struct json_value *pop(struct scan *s)
{
	struct json_value *value = s->open;

	s->open = parent_of(value);
	s->depth--;
	value->next = NULL;
	value->next_by_name = NULL;
	return value;
}

static bool closes(const struct scan *s)
{
	return s->open && *s->in.at == (s->open->type == JSON_ARRAY ? ']' : '}');
}

static bool stop_at_repeated(struct scan *s, const struct json_value *member)
{
	return json_token_stop(&s->in, s->text + member->name_offset, "a member is named twice");
}

static void value_ends(struct scan *s, struct json_value *value)
{
	value->raw_len = (uint32_t)(s->in.at - value->raw);
	s->want = s->open ? WANT_MORE : WANT_NOTHING;
}

static bool close_container(struct scan *s)
{
	struct json_value *value = pop(s);
	const struct json_value *repeated = NULL;

	s->in.at++;
	value_ends(s, value);
	if (value->type == JSON_OBJECT)
		repeated = json_order_members(value);
	return repeated ? stop_at_repeated(s, repeated) : true;
}

/* A string or name as written between its quotes becomes what it stands for. Without escapes that
 * is the text itself. */
static bool unescaped(struct scan *s, const char *quote, bool escaped, const char **bytes_out,
		      uint32_t *len_out)
{
	size_t len = (size_t)(s->in.at - quote) - 2;

	*bytes_out = quote + 1;
	*len_out = (uint32_t)len;
	if (!escaped)
		return true;
	char *bytes = alloc(s, len);
	if (!bytes)
		return false;
	*len_out = (uint32_t)json_token_unescape(quote + 1, len, bytes);
	*bytes_out = bytes;
	return true;
}

static bool scan_string(struct scan *s, struct json_value *value)
{
	bool escaped;

	value->type = JSON_STRING;
	return json_token_string(&s->in, &escaped) &&
	       unescaped(s, value->raw, escaped, &value->string, &value->string_len);
}

static bool scan_word(struct scan *s, struct json_value *value, const char *word,
		      enum json_kind type)
{
	value->type = type;
	return json_token_word(&s->in, word);
}

static bool scan_scalar(struct scan *s, struct json_value *value)
{
	switch (*s->in.at) {
	case '"': return scan_string(s, value);
	case 't': return scan_word(s, value, "true", JSON_TRUE);
	case 'f': return scan_word(s, value, "false", JSON_FALSE);
	case 'n': return scan_word(s, value, "null", JSON_NULL);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9': value->type = JSON_NUMBER; return json_token_number(&s->in);
	}
	return stop(s, "a value is wanted here");
}

static bool scan_value(struct scan *s)
{
	bool named = s->open && s->open->type == JSON_OBJECT;
	struct json_value *value = named ? last_of(s->open) : add_value(s);

	if (!value)
		return false;
	value->raw = s->in.at;
	if (*s->in.at == '[' || *s->in.at == '{')
		return open_container(s, value);
	if (!scan_scalar(s, value))
		return false;
	value_ends(s, value);
	return true;
}

/* A member's name and the colon. The member is in the tree from here on; its value follows. */
static bool scan_name(struct scan *s)
{
	const char *quote = s->in.at;
	bool escaped;

	if (*quote != '"')
		return stop(s, "a member's name is wanted here");
	if (!json_token_string(&s->in, &escaped))
		return false;
	struct json_value *member = add_value(s);
	if (!member)
		return false;
	member->name = "";
	member->name_offset = (uint32_t)(quote - s->text);
	if (!unescaped(s, quote, escaped, &member->name, &member->name_len))
		return false;
	skip_space(&s->in);
	if (s->in.at == s->in.end || *s->in.at != ':')
		return stop(s, "a colon is wanted here");
	s->in.at++;
	s->want = WANT_VALUE;
	return true;
}

static bool scan_comma(struct scan *s)
{
	if (*s->in.at != ',')
		return stop(s, "a comma or the container's end is wanted here");
	s->in.at++;
	s->want = s->open->type == JSON_OBJECT ? WANT_NAME : WANT_VALUE;
	return true;
}

static bool scan_token(struct scan *s)
{
	switch (s->want) {
	case WANT_VALUE: return scan_value(s);
	case WANT_NAME: return scan_name(s);
	case WANT_FIRST:
		if (closes(s))
			return close_container(s);
		return s->open->type == JSON_OBJECT ? scan_name(s) : scan_value(s);
	case WANT_MORE: return closes(s) ? close_container(s) : scan_comma(s);
	case WANT_NOTHING: break;
	}
	return stop(s, "something follows the value");
}

static bool scan_text(struct scan *s)
{
	for (;;) {
		skip_space(&s->in);
		if (s->in.at == s->in.end)
			return s->want == WANT_NOTHING ? true : stop(s, "");
		if (!scan_token(s))
			return false;
	}
}

/* Repeated names are found when their object closes. So one may stand in front of the flaw that
 * stopped the scanner, in an object that was still open: then it is the first flaw. Each object is
 * sorted at most twice. */
static void find_earlier_repeats(struct scan *s)
{
	while (s->open) {
		struct json_value *value = pop(s);
		if (value->type != JSON_OBJECT)
			continue;
		const struct json_value *repeated = json_order_members(value);
		if (repeated && s->text + repeated->name_offset < s->in.at)
			stop_at_repeated(s, repeated);
	}
}

static enum rc refuse(struct json_error *error_out, size_t offset, const char *detail)
{
	*error_out = (struct json_error){ .offset = offset, .detail = detail };
	return RC_INVALID;
}

enum rc json_parse(const char *text, size_t len, unsigned int depth_max, struct json_doc **doc_out,
		   struct json_error *error_out)
{
	assert(depth_max >= 1 && depth_max <= JSON_DEPTH_LIMIT);
	*doc_out = NULL;
	if (len > JSON_TEXT_MAX_BYTES)
		return refuse(error_out, JSON_TEXT_MAX_BYTES, "the text is longer than 1 GiB");
	if (len == 0)
		return refuse(error_out, 0, "the text is empty");
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return refuse(error_out, 0, "a byte order mark stands in front");

	struct scan s = { .in = { text, text + len, "" }, .text = text, .depth_max = depth_max };
	enum rc rc = RC_FAULT;
	s.want = WANT_VALUE;
	s.doc = json_tree_new();
	if (!s.doc)
		goto fail;
	if (scan_text(&s)) {
		*doc_out = s.doc;
		return RC_OK;
	}
	if (s.no_memory)
		goto fail;
	find_earlier_repeats(&s);
	rc = refuse(error_out, (size_t)(s.in.at - text), s.in.detail);
fail:
	json_free(s.doc);
	return rc;
}
