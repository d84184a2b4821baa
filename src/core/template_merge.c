/* template_merge.c: JSON Merge Patch (RFC 7396) on text, so that digits stay. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/template.h"

/* The patch's members by name, and which of them the target has too. */
struct patch {
	struct patched {
		const struct json_value *member;
		bool used;
	} * list;
	size_t len;
};

static enum rc merge(const struct json_value *target, const struct json_value *patch,
		     struct text *out);

static int name_compare(const struct json_value *a, const struct json_value *b)
{
	size_t shorter = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->name, b->name, shorter);

	if (order != 0)
		return order;
	return (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static enum rc patch_sort(const struct json_value *json, struct patch *patch_out)
{
	*patch_out =
		(struct patch){ .list = calloc((size_t)json->count + 1, sizeof *patch_out->list) };
	if (!patch_out->list)
		return RC_FAULT;
	for (const struct json_value *member = json->by_name; member; member = member->next_by_name)
		patch_out->list[patch_out->len++].member = member;
	return RC_OK;
}

/* By halves: a body and a patch of many members mustn't cost their product. */
static struct patched *patch_find(const struct patch *patch, const struct json_value *member)
{
	size_t low = 0, high = patch->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = name_compare(member, patch->list[middle].member);

		if (order == 0)
			return &patch->list[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static void add_name(const struct json_value *member, bool *first_io, struct text *out)
{
	if (!*first_io)
		text_add(out, ", ", 2);
	*first_io = false;
	text_add_json_string(out, member->name, member->name_len);
	text_add(out, ": ", 2);
}

/* The target's own members, in their order. */
static enum rc merge_old(const struct json_value *target, struct patch *patch, bool *first_io,
			 struct text *out)
{
	enum rc rc = RC_OK;

	for (const struct json_value *member = target->child; member && rc == RC_OK;
	     member = member->next) {
		struct patched *patched = patch_find(patch, member);

		if (patched)
			patched->used = true;
		if (patched && patched->member->type == JSON_NULL)
			continue;
		add_name(member, first_io, out);
		if (patched)
			rc = merge(member, patched->member, out);
		else
			text_add(out, member->raw, member->raw_len);
	}
	return rc;
}

static enum rc merge_new(const struct patch *patch, bool *first_io, struct text *out)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; i < patch->len && rc == RC_OK; i++) {
		const struct json_value *member = patch->list[i].member;

		if (patch->list[i].used || member->type == JSON_NULL)
			continue;
		add_name(member, first_io, out);
		rc = merge(NULL, member, out);
	}
	return rc;
}

static enum rc merge(const struct json_value *target, const struct json_value *patch,
		     struct text *out)
{
	struct patch sorted;
	bool first = true;

	if (patch->type != JSON_OBJECT) {
		text_add(out, patch->raw, patch->raw_len);
		return RC_OK;
	}
	enum rc rc = patch_sort(patch, &sorted);

	if (rc != RC_OK)
		return rc;
	text_add(out, "{", 1);
	if (target && target->type == JSON_OBJECT)
		rc = merge_old(target, &sorted, &first, out);
	if (rc == RC_OK)
		rc = merge_new(&sorted, &first, out);
	text_add(out, "}", 1);
	free(sorted.list);
	return rc;
}

enum rc template_merge(const char *target, size_t target_len, const struct json_value *patch,
		       struct text *out)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(target, target_len, JSON_DEPTH_LIMIT, &doc, &error);

	if (rc != RC_OK)
		return rc;
	rc = merge(json_root(doc), patch, out);
	json_free(doc);
	return rc == RC_OK ? text_rc(out) : rc;
}
