/* schema_ids.c: $id, $anchor, $dynamicAnchor: what schemas are called. */
#include "core/schema_private.h"

#include <stdlib.h>
#include <string.h>

#include "core/schema_uri.h"

#define URI_MAX_BYTES 2048

static bool resource_add(struct schema_compile *in, struct schema_node *node, const char *uri,
			 size_t len)
{
	struct schema *schema = in->schema;
	char *copy = schema_alloc(in, len + 1, 1);
	struct schema_resource *grown = schema_grow(in, schema->resources, &schema->resources_size,
						    schema->resources_len, sizeof *grown);

	if (grown)
		schema->resources = grown;
	if (!copy || !grown)
		return false;
	memcpy(copy, uri, len);
	node->resource = (uint32_t)schema->resources_len;
	schema->resources[schema->resources_len++] =
		(struct schema_resource){ .uri = copy, .uri_len = len, .root = node };
	return true;
}

/* Draft 7: letters, digits, - _ : and points behind a letter; 2020-12 without the colon, but the
 * first may be _ too. The union is taken: neither is taken for something else. */
static bool anchor_valid(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool first = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';

		if (!first && (i == 0 || !((c >= '0' && c <= '9') || (c && strchr("-.:", c)))))
			return false;
	}
	return len > 0;
}

static void anchor_add(struct schema_compile *in, struct schema_node *node, const char *keyword,
		       const char *name, size_t len, bool dynamic)
{
	struct schema *schema = in->schema;

	if (!anchor_valid(name, len)) {
		schema_flaw(in, node, keyword,
			    "must be a name: a letter, then letters, digits, - _ and points");
		return;
	}
	struct schema_anchor *grown = schema_grow(in, schema->anchors, &schema->anchors_size,
						  schema->anchors_len, sizeof *grown);
	if (!grown)
		return;
	schema->anchors = grown;
	schema->anchors[schema->anchors_len++] = (struct schema_anchor){
		.resource = node->resource,
		.name = name,
		.name_len = len,
		.node = node,
		.keyword = keyword,
		.dynamic = dynamic,
	};
}

static const struct json_value *string_of(struct schema_compile *in, const struct schema_node *node,
					  const char *keyword)
{
	const struct json_value *value = json_member(node->json, keyword);

	if (value && value->type != JSON_STRING) {
		schema_flaw(in, node, keyword, "must be a string");
		return NULL;
	}
	return value;
}

static void read_id(struct schema_compile *in, struct schema_node *node,
		    const struct json_value *id)
{
	size_t fragment = schema_uri_fragment(id->string, id->string_len);
	const struct schema_resource *base =
		node->parent ? &in->schema->resources[node->resource] : NULL;
	struct text uri;
	bool absolute;

	if (!schema_uri_valid(id->string, id->string_len, &absolute)) {
		schema_flaw(in, node, "$id", "must be a reference (RFC 3986)");
		return;
	}
	if (fragment == 0) {
		schema_flaw(in, node, "$id", "names nothing");
		return;
	}
	if (fragment + 1 < id->string_len) {
		schema_flaw(in, node, "$id", "must not have a fragment");
		return;
	}
	text_init(&uri, URI_MAX_BYTES);
	schema_uri_resolve(base ? base->uri : "", base ? base->uri_len : 0, id->string, fragment,
			   &uri);
	if (!text_ok(&uri))
		schema_flaw(in, node, "$id", "is longer than %d bytes", URI_MAX_BYTES);
	else
		resource_add(in, node, uri.bytes ? uri.bytes : "", uri.len);
	text_release(&uri);
}

void schema_ids_read(struct schema_compile *in, struct schema_node *node)
{
	bool draft_7 = in->schema->draft == DRAFT_7;
	const struct json_value *id = string_of(in, node, "$id"), *name;

	if (draft_7 && node->parent && json_member(node->json, "$ref"))
		id = NULL; /* $ref makes it mean nothing */
	bool fragment = draft_7 && id && id->string_len > 1 && id->string[0] == '#';
	if (id && !fragment)
		read_id(in, node, id);
	if (in->schema->resources_len == 0) /* the root, whatever else is wrong with its id */
		resource_add(in, node, "", 0);
	if (fragment)
		anchor_add(in, node, "$id", id->string + 1, id->string_len - 1, false);
	if (draft_7 || in->no_memory)
		return;
	name = string_of(in, node, "$anchor");
	if (name)
		anchor_add(in, node, "$anchor", name->string, name->string_len, false);
	name = string_of(in, node, "$dynamicAnchor");
	if (name)
		anchor_add(in, node, "$dynamicAnchor", name->string, name->string_len, true);
}

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_anchors(const void *a, const void *b)
{
	const struct schema_anchor *left = a, *right = b;

	if (left->resource != right->resource)
		return left->resource < right->resource ? -1 : 1;
	return compare_bytes(left->name, left->name_len, right->name, right->name_len);
}

static int compare_anchor_names(const void *a, const void *b, void *arg)
{
	const struct schema_anchor *anchors = arg;
	const struct schema_anchor *left = &anchors[*(const uint32_t *)a];
	const struct schema_anchor *right = &anchors[*(const uint32_t *)b];

	return compare_bytes(left->name, left->name_len, right->name, right->name_len);
}

static int compare_resources(const void *a, const void *b, void *arg)
{
	const struct schema_resource *resources = arg;
	const struct schema_resource *left = &resources[*(const uint32_t *)a];
	const struct schema_resource *right = &resources[*(const uint32_t *)b];

	return compare_bytes(left->uri, left->uri_len, right->uri, right->uri_len);
}

static void resources_settle(struct schema_compile *in)
{
	struct schema *schema = in->schema;

	in->by_uri = schema_alloc(in, schema->resources_len, sizeof *in->by_uri);
	if (!in->by_uri)
		return;
	for (uint32_t i = 0; i < schema->resources_len; i++)
		in->by_uri[i] = i;
	if (schema->resources_len > 1)
		qsort_r(in->by_uri, schema->resources_len, sizeof *in->by_uri, compare_resources,
			schema->resources);
	for (size_t i = 1; i < schema->resources_len; i++)
		if (compare_resources(&in->by_uri[i - 1], &in->by_uri[i], schema->resources) == 0)
			schema_flaw(in, schema->resources[in->by_uri[i]].root, "$id",
				    "is the id of another schema too");
}

/* Dynamic anchors of one name get one number. */
static void dynamic_names_count(struct schema_compile *in)
{
	struct schema *schema = in->schema;
	struct schema_anchor *anchors = schema->anchors;

	in->dynamic = schema_alloc(in, schema->anchors_len, sizeof *in->dynamic);
	for (uint32_t i = 0; i < schema->anchors_len && in->dynamic; i++)
		if (anchors[i].dynamic)
			in->dynamic[in->dynamic_len++] = i;
	if (in->dynamic_len > 1)
		qsort_r(in->dynamic, in->dynamic_len, sizeof *in->dynamic, compare_anchor_names,
			anchors);
	for (size_t i = 0; i < in->dynamic_len; i++) {
		if (i == 0 ||
		    compare_anchor_names(&in->dynamic[i - 1], &in->dynamic[i], anchors) != 0)
			schema->dynamic_names++;
		anchors[in->dynamic[i]].dynamic_name = schema->dynamic_names - 1;
	}
}

void schema_ids_settle(struct schema_compile *in)
{
	struct schema *schema = in->schema;

	resources_settle(in);
	if (schema->anchors_len > 1)
		qsort(schema->anchors, schema->anchors_len, sizeof *schema->anchors,
		      compare_anchors);
	for (size_t i = 1; i < schema->anchors_len; i++)
		if (compare_anchors(&schema->anchors[i - 1], &schema->anchors[i]) == 0)
			schema_flaw(in, schema->anchors[i].node, schema->anchors[i].keyword,
				    "is the name of another schema too");
	dynamic_names_count(in);
}

struct schema_resource *schema_resource_find(const struct schema_compile *in, const char *uri,
					     size_t len)
{
	size_t low = 0, high = in->schema->resources_len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct schema_resource *resource = &in->schema->resources[in->by_uri[middle]];
		int order = compare_bytes(uri, len, resource->uri, resource->uri_len);

		if (order == 0)
			return resource;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct schema_anchor *schema_anchor_find(const struct schema *schema, uint32_t resource,
					       const char *name, size_t len)
{
	const struct schema_anchor key = { .resource = resource, .name = name, .name_len = len };

	if (schema->anchors_len == 0)
		return NULL;
	return bsearch(&key, schema->anchors, schema->anchors_len, sizeof key, compare_anchors);
}
