/* if_match.c: lists of entity tags. */
#include "api/if_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/view.h"

struct tag {
	const char *text; /* the opening quote */
	size_t len;	  /* quotes included */
	bool weak;
};

static const char *skip_separators(const char *at)
{
	return at + strspn(at, " \t,");
}

/* The next entity-tag of a list. 1: one was read; 0: the list ends; -1: it can't be read. */
static int next_tag(const char **at, struct tag *tag_out)
{
	const char *start = skip_separators(*at);
	const char *end;

	if (*start == '\0')
		return 0;
	tag_out->weak = strncmp(start, "W/", 2) == 0;
	start += tag_out->weak ? 2 : 0;
	if (*start != '"')
		return -1;
	for (end = start + 1; *end != '"'; end++)
		if ((unsigned char)*end < 0x21 || *end == 0x7f)
			return -1;
	tag_out->text = start;
	tag_out->len = (size_t)(end + 1 - start);
	end++;
	*at = end + strspn(end, " \t");
	return **at == '\0' || **at == ',' ? 1 : -1;
}

static bool is_star(const char *value)
{
	value += strspn(value, " \t");
	return *value == '*' && value[1 + strspn(value + 1, " \t")] == '\0';
}

/* Reads a tag as ours: only the text that view_etag() would have written counts. */
static bool tag_is_ours(const struct tag *tag, uint64_t *version_out, uint64_t *revision_out)
{
	char text[ETAG_MAX];
	char again[ETAG_MAX];

	if (tag->weak || tag->len >= sizeof text)
		return false;
	memcpy(text, tag->text, tag->len);
	text[tag->len] = '\0';
	if (sscanf(text, "\"%" SCNu64 "-%" SCNu64 "\"", version_out, revision_out) != 2)
		return false;
	snprintf(again, sizeof again, "\"%" PRIu64 "-%" PRIu64 "\"", *version_out, *revision_out);
	return strcmp(text, again) == 0;
}

static bool read_line(const char *value, struct if_match *out)
{
	const size_t max = sizeof out->list / sizeof out->list[0];
	struct tag tag;
	int got;

	if (is_star(value)) {
		out->any = true;
		return true;
	}
	while ((got = next_tag(&value, &tag)) == 1) {
		uint64_t version, revision;

		if (!tag_is_ours(&tag, &version, &revision))
			continue;
		if (out->len == max)
			return false;
		out->list[out->len].version = version;
		out->list[out->len++].revision = revision;
	}
	return got == 0;
}

bool if_match_read(const struct request *request, struct if_match *out)
{
	const char *value;

	*out = (struct if_match){ .present = false };
	for (unsigned int i = 0; (value = request_nth(request, PARAM_IF_MATCH, i)); i++) {
		if (*skip_separators(value) == '\0' || !read_line(value, out))
			return false;
		out->present = true;
	}
	return true;
}

bool if_none_match_read(const struct request *request, struct if_match *out)
{
	const size_t max = sizeof out->list / sizeof out->list[0];
	const char *value;

	*out = (struct if_match){ .present = false };
	for (unsigned int i = 0; (value = request_nth(request, PARAM_IF_NONE_MATCH, i)); i++) {
		struct tag tag;

		out->any |= is_star(value);
		while (out->len < max && next_tag(&value, &tag) == 1) {
			tag.weak = false; /* RFC 9110, 13.1.2: weak comparison */
			out->len += tag_is_ours(&tag, &out->list[out->len].version,
						&out->list[out->len].revision);
		}
	}
	out->present = out->any || out->len > 0;
	return out->present;
}

bool if_none_match_holds(const struct request *request, const char *etag)
{
	const char *value;

	for (unsigned int i = 0; (value = request_nth(request, PARAM_IF_NONE_MATCH, i)); i++) {
		struct tag tag;

		if (is_star(value))
			return true;
		while (next_tag(&value, &tag) == 1)
			if (tag.len == strlen(etag) && memcmp(tag.text, etag, tag.len) == 0)
				return true;
	}
	return false;
}
