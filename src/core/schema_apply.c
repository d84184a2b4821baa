/* schema_apply.c: readers of the keywords whose values are schemas, or patterns. */
#include "core/schema_private.h"

#include <string.h>

static void node_put(struct schema_compile *in, struct schema_node *node, struct schema_part *part,
		     const struct json_value *json, const struct json_value *member, int64_t index)
{
	struct schema_node *child = schema_node_add(in, node, part, json, member, index);

	if (child)
		part->nodes[part->count++] = child;
}

static bool nodes_make(struct schema_compile *in, struct schema_part *part, size_t count)
{
	part->nodes = schema_alloc(in, count, sizeof(struct schema_node *));
	return part->nodes;
}

void schema_read_one(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	if (nodes_make(in, part, 1))
		node_put(in, node, part, part->value, NULL, -1);
}

void schema_read_list(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	int64_t index = 0;

	if (part->value->type != JSON_ARRAY || part->value->count == 0) {
		schema_flaw(in, node, part->name, "must be an array of one schema or more");
		return;
	}
	if (!nodes_make(in, part, part->value->count))
		return;
	for (const struct json_value *element = part->value->child;
	     element && !in->no_memory && !in->too_much; element = element->next)
		node_put(in, node, part, element, NULL, index++);
}

static bool is_object(struct schema_compile *in, const struct schema_node *node,
		      const struct schema_part *part)
{
	if (part->value->type == JSON_OBJECT)
		return true;
	schema_flaw(in, node, part->name, "must be an object");
	return false;
}

/* What it costs to go through the names beside a document's. */
static uint64_t names_cost(const struct json_value *object)
{
	uint64_t cost = 0;

	for (const struct json_value *member = object->child; member; member = member->next)
		cost += 1 + (uint64_t)member->name_len / 8;
	return cost;
}

void schema_read_map(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	if (!is_object(in, node, part) || !nodes_make(in, part, part->value->count))
		return;
	part->number = names_cost(part->value);
	for (const struct json_value *member = part->value->by_name;
	     member && !in->no_memory && !in->too_much; member = member->next_by_name)
		node_put(in, node, part, member, member, -1);
}

/* Draft 7 says with `items` and `additionalItems` what 2020-12 says with `prefixItems` and `items`.
 * Without an array in `items` the other one means nothing. */
void schema_read_items(struct schema_compile *in, struct schema_node *node,
		       struct schema_part *part)
{
	const struct json_value *items = json_member(node->json, "items");

	if (part->value == items && items->type == JSON_ARRAY) {
		part->keyword = KEYWORD_PREFIX_ITEMS;
		schema_read_list(in, node, part);
		return;
	}
	schema_read_one(in, node, part);
	if (part->value != items && !(items && items->type == JSON_ARRAY))
		part->keyword = KEYWORD_NOTE;
}

/* dependentRequired, and draft 7's dependencies, which may be schemas too. */
void schema_read_dependencies(struct schema_compile *in, struct schema_node *node,
			      struct schema_part *part)
{
	bool schemas = strcmp(part->name, "dependencies") == 0;

	if (!is_object(in, node, part) || !nodes_make(in, part, part->value->count))
		return;
	part->number = names_cost(part->value);
	part->required = schema_alloc(in, part->value->count, sizeof *part->required);
	for (const struct json_value *member = part->value->by_name;
	     member && part->required && !in->no_memory && !in->too_much;
	     member = member->next_by_name) {
		if (!schemas || member->type == JSON_ARRAY) {
			schema_read_names(in, node, part->name, member, member,
					  &part->required[part->count++]);
			continue;
		}
		node_put(in, node, part, member, member, -1);
	}
}

/* NULL: there is a flaw, or no memory. */
static struct pattern *pattern_read(struct schema_compile *in, const struct schema_node *node,
				    const struct schema_part *part, const char *text, size_t len,
				    const struct json_value *member)
{
	struct schema *schema = in->schema;
	struct pattern *pattern, **grown;
	char why[PATTERN_WHY_MAX];

	if (schema->patterns_len == SCHEMA_PATTERNS_MAX) {
		schema_flaw_within(in, node, part->name, member, -1,
				   "is one pattern too many: %d are allowed", SCHEMA_PATTERNS_MAX);
		in->too_much = true;
		return NULL;
	}
	grown = schema_grow(in, schema->patterns, &schema->patterns_size, schema->patterns_len,
			    sizeof *grown);
	if (!grown)
		return NULL;
	schema->patterns = grown;
	switch (pattern_compile(text, len, &pattern, why)) {
	case RC_OK: schema->patterns[schema->patterns_len++] = pattern; return pattern;
	case RC_INVALID:
		schema_flaw_within(in, node, part->name, member, -1, "is a pattern that %s", why);
		return NULL;
	case RC_FAULT:
	case RC_CONFLICT:
	case RC_RETRY:
	case RC_UNCERTAIN:
	case RC_NOT_FOUND:
	case RC__MAX: break;
	}
	in->no_memory = true;
	return NULL;
}

void schema_read_pattern(struct schema_compile *in, struct schema_node *node,
			 struct schema_part *part)
{
	if (part->value->type != JSON_STRING) {
		schema_flaw(in, node, part->name, "must be a string");
		return;
	}
	part->patterns = schema_alloc(in, 1, sizeof(struct pattern *));
	if (part->patterns)
		part->patterns[0] = pattern_read(in, node, part, part->value->string,
						 part->value->string_len, NULL);
	part->count = 1;
}

void schema_read_pattern_map(struct schema_compile *in, struct schema_node *node,
			     struct schema_part *part)
{
	schema_read_map(in, node, part);
	if (!part->nodes)
		return;
	part->patterns = schema_alloc(in, part->value->count, sizeof(struct pattern *));
	size_t i = 0;
	for (const struct json_value *member = part->value->by_name;
	     member && part->patterns && !in->no_memory && !in->too_much;
	     member = member->next_by_name)
		part->patterns[i++] =
			pattern_read(in, node, part, member->name, member->name_len, member);
}
