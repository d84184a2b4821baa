/* schema_refs.c: where $ref and $dynamicRef lead, always to a schema of this document. */
#include "core/schema_private.h"

#include <stdlib.h>
#include <string.h>

#include "core/schema_uri.h"

#define REFERENCE_MAX_BYTES 4096

static int compare_places(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)(*(struct schema_node *const *)a)->json;
	uintptr_t right = (uintptr_t)(*(struct schema_node *const *)b)->json;

	return (left > right) - (left < right);
}

static struct schema_node *node_at(const struct schema_compile *in, const struct json_value *json)
{
	struct schema_node key = { .json = json }, *pointer = &key;
	struct schema_node **found = bsearch(&pointer, in->by_json, in->schema->nodes_len,
					     sizeof(struct schema_node *), compare_places);

	return found ? *found : NULL;
}

/* `fragment`: decoded. */
static struct schema_node *by_pointer(struct schema_compile *in, const struct schema_node *node,
				      const struct schema_part *part,
				      const struct schema_resource *resource,
				      const struct text *fragment)
{
	const struct json_value *json =
		json_at(resource->root->json, fragment->bytes, fragment->len);
	struct schema_node *target = json ? node_at(in, json) : NULL;

	if (!json)
		schema_flaw(in, node, part->name, "leads to nothing");
	else if (!target)
		schema_flaw(in, node, part->name, "leads to what is no schema");
	return target;
}

static struct schema_node *by_anchor(struct schema_compile *in, const struct schema_node *node,
				     struct schema_part *part,
				     const struct schema_resource *resource,
				     const struct text *fragment)
{
	uint32_t index = (uint32_t)(resource - in->schema->resources);
	const struct schema_anchor *anchor =
		schema_anchor_find(in->schema, index, fragment->bytes, fragment->len);

	if (!anchor) {
		schema_flaw(in, node, part->name, "leads to no anchor of this document");
		return NULL;
	}
	if (part->keyword == KEYWORD_DYNAMIC_REF && anchor->dynamic)
		part->dynamic = anchor;
	return anchor->node;
}

static const struct schema_resource *resource_of(struct schema_compile *in,
						 const struct schema_node *node,
						 const struct schema_part *part)
{
	const struct schema_resource *base = &in->schema->resources[node->resource], *found = NULL;
	struct text uri;
	bool absolute;

	if (!schema_uri_valid(part->value->string, part->value->string_len, &absolute)) {
		schema_flaw(in, node, part->name, "must be a reference (RFC 3986)");
		return NULL;
	}
	text_init(&uri, REFERENCE_MAX_BYTES);
	schema_uri_resolve(base->uri, base->uri_len, part->value->string, part->value->string_len,
			   &uri);
	if (text_ok(&uri))
		found = schema_resource_find(in, uri.bytes ? uri.bytes : "", uri.len);
	if (!found)
		schema_flaw(in, node, part->name,
			    "leads out of this document, and nothing is fetched");
	text_release(&uri);
	return found;
}

static void resolve(struct schema_compile *in, const struct schema_node *node,
		    struct schema_part *part)
{
	const struct schema_resource *resource = resource_of(in, node, part);
	size_t hash = schema_uri_fragment(part->value->string, part->value->string_len);
	struct text fragment;

	if (!resource)
		return;
	text_init(&fragment, REFERENCE_MAX_BYTES);
	if (hash < part->value->string_len)
		schema_uri_decode(part->value->string + hash + 1,
				  part->value->string_len - hash - 1, &fragment);
	if (!text_ok(&fragment))
		schema_flaw(in, node, part->name, "is too long");
	else if (fragment.len == 0)
		part->nodes[0] = resource->root;
	else if (fragment.bytes[0] == '/')
		part->nodes[0] = by_pointer(in, node, part, resource, &fragment);
	else
		part->nodes[0] = by_anchor(in, node, part, resource, &fragment);
	text_release(&fragment);
}

void schema_refs_resolve(struct schema_compile *in)
{
	struct schema *schema = in->schema;

	in->by_json = schema_alloc(in, schema->nodes_len, sizeof *in->by_json);
	if (!in->by_json || in->no_memory)
		return;
	memcpy(in->by_json, schema->nodes, schema->nodes_len * sizeof *in->by_json);
	qsort(in->by_json, schema->nodes_len, sizeof *in->by_json, compare_places);
	for (size_t i = 0; i < schema->nodes_len; i++) {
		struct schema_node *node = schema->nodes[i];

		for (size_t j = 0; j < node->parts_len; j++) {
			struct schema_part *part = &node->parts[j];
			if ((part->keyword == KEYWORD_REF ||
			     part->keyword == KEYWORD_DYNAMIC_REF) &&
			    part->value->type == JSON_STRING)
				resolve(in, node, part);
		}
	}
}
