#include "core/schema_uri.h"

#include <string.h>

/* A reference in its parts (section 3). A part that isn't there has no bytes; an authority that is
 * there may be empty. */
struct uri {
	const char *scheme, *authority, *path, *query;
	size_t scheme_len, authority_len, path_len, query_len; /* with : and // and ? */
};

static bool is_alpha(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static size_t scheme_length(const char *text, size_t len)
{
	if (len == 0 || !is_alpha(text[0]))
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (text[i] == ':')
			return i + 1;
		if (!is_alpha(text[i]) && !is_digit(text[i]) &&
		    !(text[i] && strchr("+-.", text[i])))
			return 0;
	}
	return 0;
}

static size_t find_any(const char *text, size_t len, const char *any)
{
	size_t i = 0;

	while (i < len && !(text[i] != '\0' && strchr(any, text[i])))
		i++;
	return i;
}

static struct uri split(const char *text, size_t len)
{
	struct uri uri = { .scheme = text, .scheme_len = scheme_length(text, len) };

	text += uri.scheme_len;
	len -= uri.scheme_len;
	uri.authority = text;
	if (len >= 2 && text[0] == '/' && text[1] == '/')
		uri.authority_len = 2 + find_any(text + 2, len - 2, "/?");
	uri.path = text + uri.authority_len;
	len -= uri.authority_len;
	uri.path_len = find_any(uri.path, len, "?");
	uri.query = uri.path + uri.path_len;
	uri.query_len = len - uri.path_len;
	return uri;
}

/* Section 5.2.4, one segment after another: `.` goes, `..` takes the one before it along. `out` is
 * never cut below `floor`. */
static void add_without_dots(const char *path, size_t len, struct text *out)
{
	size_t floor = out->len;

	for (size_t at = 0; at < len && text_ok(out);) {
		size_t slash = path[at] == '/', end = at + slash;

		while (end < len && path[end] != '/')
			end++;
		const char *name = path + at + slash;
		size_t name_len = end - at - slash;
		bool dot = name_len == 1 && name[0] == '.';
		bool dots = name_len == 2 && name[0] == '.' && name[1] == '.';
		if (dots) {
			while (out->len > floor && out->bytes[out->len - 1] != '/')
				out->len--;
			if (out->len > floor)
				out->len--;
		}
		if (!dot && !dots)
			text_add(out, path + at, end - at);
		else if (end == len && (slash || out->len > floor))
			text_add_str(out, "/");
		/* Relative still: the slash behind a dot goes with it. */
		at = (dot || dots) && !slash && end < len ? end + 1 : end;
	}
}

/* Section 5.2.3: the reference's path in the folder of the base's. */
static void add_merged(const struct uri *base, const struct uri *reference, struct text *out)
{
	struct text merged;
	size_t keep = base->path_len;

	text_init(&merged, out->cap);
	while (keep > 0 && base->path[keep - 1] != '/')
		keep--;
	if (base->authority_len > 0 && base->path_len == 0)
		text_add_str(&merged, "/");
	text_add(&merged, base->path, keep);
	text_add(&merged, reference->path, reference->path_len);
	if (text_ok(&merged))
		add_without_dots(merged.bytes ? merged.bytes : "", merged.len, out);
	else
		out->failed = true;
	text_release(&merged);
}

void schema_uri_resolve(const char *base_text, size_t base_len, const char *reference_text,
			size_t reference_len, struct text *out)
{
	struct uri base = split(base_text, base_len);
	struct uri uri = split(reference_text, schema_uri_fragment(reference_text, reference_len));

	if (uri.scheme_len > 0 || uri.authority_len > 0) {
		const struct uri *from = uri.scheme_len > 0 ? &uri : &base;
		text_add(out, from->scheme, from->scheme_len);
		text_add(out, uri.authority, uri.authority_len);
		if (uri.path_len > 0 && uri.path[0] == '/')
			add_without_dots(uri.path, uri.path_len, out);
		else
			text_add(out, uri.path, uri.path_len); /* urn:a:b has no folders */
		text_add(out, uri.query, uri.query_len);
		return;
	}
	text_add(out, base.scheme, base.scheme_len);
	text_add(out, base.authority, base.authority_len);
	if (uri.path_len == 0) {
		text_add(out, base.path, base.path_len);
		if (uri.query_len == 0)
			uri = base;
	} else if (uri.path[0] == '/') {
		add_without_dots(uri.path, uri.path_len, out);
	} else {
		add_merged(&base, &uri, out);
	}
	text_add(out, uri.query, uri.query_len);
}

size_t schema_uri_fragment(const char *reference, size_t len)
{
	const char *hash = memchr(reference, '#', len);

	return hash ? (size_t)(hash - reference) : len;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

bool schema_uri_decode(const char *bytes, size_t len, struct text *out)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];

		if (c == '%') {
			if (len - i < 3 || !is_hex(bytes[i + 1]) || !is_hex(bytes[i + 2]))
				return false;
			c = (char)(hex_value(bytes[i + 1]) << 4 | hex_value(bytes[i + 2]));
			i += 2;
		}
		text_add(out, &c, 1);
	}
	return true;
}

/* Characters of `text` are unreserved, sub-delims, %XX or of `also`. */
static bool characters_valid(const char *text, size_t len, const char *also)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%') {
			if (len - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))
				return false;
			i += 2;
		} else if (!is_alpha(c) && !is_digit(c) &&
			   (c == '\0' || (!strchr("-._~!$&'()*+,;=", c) && !strchr(also, c)))) {
			return false;
		}
	}
	return true;
}

/* Section 3.2.2. Whether what stands in brackets is an address is for schema_format.c. */
static bool authority_valid(const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);

	if (at) {
		if (!characters_valid(text, (size_t)(at - text), ":"))
			return false;
		len -= (size_t)(at - text) + 1;
		text = at + 1;
	}
	const char *close = len > 0 && text[0] == '[' ? memchr(text, ']', len) : NULL;
	if (len > 0 && text[0] == '[' && !close)
		return false;
	size_t host_len = close ? (size_t)(close - text) + 1 : find_any(text, len, ":");
	if (close ? !characters_valid(text + 1, host_len - 2, ":")
		  : !characters_valid(text, host_len, ""))
		return false;
	if (host_len == len)
		return true;
	if (text[host_len] != ':')
		return false;
	for (size_t i = host_len + 1; i < len; i++)
		if (!is_digit(text[i]))
			return false;
	return true;
}

bool schema_uri_valid(const char *reference, size_t len, bool *absolute_out)
{
	size_t fragment = schema_uri_fragment(reference, len);
	struct uri uri = split(reference, fragment);

	*absolute_out = uri.scheme_len > 0;
	/* Without a scheme the first segment of a path can't hold a colon. */
	if (uri.scheme_len == 0 && uri.authority_len == 0 &&
	    memchr(uri.path, ':', find_any(uri.path, uri.path_len, "/")))
		return false;
	if (uri.authority_len > 0 && !authority_valid(uri.authority + 2, uri.authority_len - 2))
		return false;
	return characters_valid(uri.path, uri.path_len, ":@/") &&
	       characters_valid(uri.query, uri.query_len, ":@/?") &&
	       (fragment == len ||
		characters_valid(reference + fragment + 1, len - fragment - 1, ":@/?"));
}
