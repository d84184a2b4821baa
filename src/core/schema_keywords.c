/* schema_keywords.c: a row for each keyword of the drafts, and the readers of values that are no
 * schemas. */
#include "core/schema_private.h"

#include <stdlib.h>
#include <string.h>

static void must_be(struct schema_compile *in, const struct schema_node *node,
		    const struct schema_part *part, const char *what)
{
	schema_flaw(in, node, part->name, "must be %s", what);
}

static void read_string(struct schema_compile *in, struct schema_node *node,
			struct schema_part *part)
{
	if (part->value->type != JSON_STRING)
		must_be(in, node, part, "a string");
}

static void read_bool(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	if (part->value->type != JSON_TRUE && part->value->type != JSON_FALSE)
		must_be(in, node, part, "true or false");
}

static void read_array(struct schema_compile *in, struct schema_node *node,
		       struct schema_part *part)
{
	if (part->value->type != JSON_ARRAY)
		must_be(in, node, part, "an array");
}

static void read_any(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	(void)in;
	(void)node;
	(void)part;
}

/* Has its meaning in a meta-schema, which this is not: nothing is judged by it. */
static void read_vocabulary(struct schema_compile *in, struct schema_node *node,
			    struct schema_part *part)
{
	if (part->value->type != JSON_OBJECT) {
		must_be(in, node, part, "an object");
		return;
	}
	for (const struct json_value *member = part->value->child; member; member = member->next)
		if (member->type != JSON_TRUE && member->type != JSON_FALSE)
			schema_flaw_within(in, node, part->name, member, -1,
					   "must be true or false");
}

/* The root's was read before; another may stand where an id begins a schema of its own. */
static void read_schema(struct schema_compile *in, struct schema_node *node,
			struct schema_part *part)
{
	const struct schema_resource *resource = &in->schema->resources[node->resource];
	const struct json_value *root = in->schema->nodes[0]->json;
	const struct json_value *uri = json_member(root, "$schema");

	if (!node->parent)
		return;
	if (resource->root != node)
		schema_flaw(in, node, part->name, "must stand at the root or beside an $id");
	else if (!uri || !json_equal(uri, part->value))
		schema_flaw(in, node, part->name, "must be the same as the root's");
}

static const char *const type_names[] = {
	[JSON_NULL] = "null",	  [JSON_FALSE] = "boolean", [JSON_TRUE] = "boolean",
	[JSON_NUMBER] = "number", [JSON_STRING] = "string", [JSON_ARRAY] = "array",
	[JSON_OBJECT] = "object", [JSON__MAX] = "integer",
};

/* 0: no name of a type. */
static unsigned int type_bits(const struct json_value *name)
{
	unsigned int bits = 0;

	for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
		if (json_is_string(name, type_names[i]))
			bits |= 1u << i;
	return bits;
}

#define A_TYPE "one of null, boolean, integer, number, string, array, object"

static void read_type(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	int64_t index = 0;

	if (part->value->type == JSON_STRING) {
		part->types = type_bits(part->value);
		if (part->types == 0)
			must_be(in, node, part, A_TYPE);
		return;
	}
	if (part->value->type != JSON_ARRAY || part->value->count == 0) {
		must_be(in, node, part, "the name of a type or an array of them");
		return;
	}
	for (const struct json_value *name = part->value->child; name; name = name->next, index++) {
		unsigned int bits = type_bits(name);

		if (bits == 0)
			schema_flaw_within(in, node, part->name, NULL, index, "must be " A_TYPE);
		else if (part->types & bits)
			schema_flaw_within(in, node, part->name, NULL, index,
					   "names the type a second time");
		part->types |= bits;
	}
}

static bool read_decimal(struct schema_compile *in, const struct schema_node *node,
			 struct schema_part *part)
{
	if (part->value->type != JSON_NUMBER) {
		must_be(in, node, part, "a number");
		return false;
	}
	part->decimal = json_number_decimal(part->value);
	return true;
}

static void read_number(struct schema_compile *in, struct schema_node *node,
			struct schema_part *part)
{
	read_decimal(in, node, part);
}

static void read_divisor(struct schema_compile *in, struct schema_node *node,
			 struct schema_part *part)
{
	if (!read_decimal(in, node, part))
		return;
	if (part->decimal.count == 0 || part->decimal.negative)
		must_be(in, node, part, "a number above 0");
	else if (part->decimal.count > JSON_DIVISOR_DIGITS_MAX)
		schema_flaw(in, node, part->name, "has more than %d digits",
			    JSON_DIVISOR_DIGITS_MAX);
}

/* A count of code points, items or members. No document reaches UINT64_MAX of them, so whatever is
 * larger means the same. */
static void read_count(struct schema_compile *in, struct schema_node *node,
		       struct schema_part *part)
{
	int64_t number;

	if (part->value->type != JSON_NUMBER) {
		must_be(in, node, part, "a whole number from 0");
		return;
	}
	struct json_decimal decimal = json_number_decimal(part->value);
	if (decimal.negative || decimal.exponent < 0)
		must_be(in, node, part, "a whole number from 0");
	else
		part->number = json_number_i64(&decimal, &number) ? (uint64_t)number : UINT64_MAX;
}

static int compare_strings(const void *a, const void *b)
{
	const struct json_value *left = *(const struct json_value *const *)a;
	const struct json_value *right = *(const struct json_value *const *)b;
	uint32_t len = left->string_len < right->string_len ? left->string_len : right->string_len;
	int order = memcmp(left->string, right->string, len);

	if (order != 0)
		return order;
	return (left->string_len > right->string_len) - (left->string_len < right->string_len);
}

void schema_read_names(struct schema_compile *in, const struct schema_node *node,
		       const char *keyword, const struct json_value *array,
		       const struct json_value *member, struct schema_names *names_out)
{
	*names_out = (struct schema_names){ .len = 0 };
	if (array->type != JSON_ARRAY) {
		schema_flaw_within(in, node, keyword, member, -1, "must be an array of strings");
		return;
	}
	names_out->list = schema_alloc(in, array->count, sizeof *names_out->list);
	for (const struct json_value *name = array->child; name && names_out->list;
	     name = name->next) {
		if (name->type != JSON_STRING) {
			schema_flaw_within(in, node, keyword, member, -1,
					   "must be an array of strings");
			return;
		}
		names_out->list[names_out->len++] = name;
	}
	if (names_out->len > 1)
		qsort(names_out->list, names_out->len, sizeof *names_out->list, compare_strings);
	for (size_t i = 1; i < names_out->len; i++)
		if (compare_strings(&names_out->list[i - 1], &names_out->list[i]) == 0) {
			schema_flaw_within(in, node, keyword, member, -1,
					   "must not name a member twice");
			return;
		}
}

static void read_required(struct schema_compile *in, struct schema_node *node,
			  struct schema_part *part)
{
	part->required = schema_alloc(in, 1, sizeof *part->required);
	if (part->required)
		schema_read_names(in, node, part->name, part->value, NULL, part->required);
	part->count = 1;
}

static void read_format(struct schema_compile *in, struct schema_node *node,
			struct schema_part *part)
{
	if (part->value->type != JSON_STRING) {
		must_be(in, node, part, "a string");
		return;
	}
	part->format = schema_format_find(part->value->string, part->value->string_len);
	if (!part->format)
		must_be(in, node, part,
			"one of the formats that are asserted: date-time, date, time, uuid, email, "
			"uri, ipv4, ipv6, hostname");
}

static void read_ref(struct schema_compile *in, struct schema_node *node, struct schema_part *part)
{
	read_string(in, node, part);
	part->nodes = schema_alloc(in, 1, sizeof(struct schema_node *));
	part->count = 1;
}

#define BOTH (DRAFT_2020 | DRAFT_7)

static const struct schema_row rows[] = {
	{ "$schema", BOTH, KEYWORD_SCHEMA, read_schema },
	{ "$id", BOTH, KEYWORD_ID, read_any }, /* these three: schema_ids.c */
	{ "$anchor", DRAFT_2020, KEYWORD_ANCHOR, read_any },
	{ "$dynamicAnchor", DRAFT_2020, KEYWORD_DYNAMIC_ANCHOR, read_any },
	{ "$ref", BOTH, KEYWORD_REF, read_ref },
	{ "$dynamicRef", DRAFT_2020, KEYWORD_DYNAMIC_REF, read_ref },
	{ "$vocabulary", DRAFT_2020, KEYWORD_NOTE, read_vocabulary },
	{ "$comment", BOTH, KEYWORD_NOTE, read_string },
	{ "$defs", DRAFT_2020, KEYWORD_DEFS, schema_read_map },
	{ "definitions", BOTH, KEYWORD_DEFS, schema_read_map }, /* 2020-12's meta-schema keeps it */
	{ "title", BOTH, KEYWORD_NOTE, read_string },
	{ "description", BOTH, KEYWORD_NOTE, read_string },
	{ "default", BOTH, KEYWORD_NOTE, read_any },
	{ "examples", BOTH, KEYWORD_NOTE, read_array },
	{ "deprecated", DRAFT_2020, KEYWORD_NOTE, read_bool },
	{ "readOnly", BOTH, KEYWORD_NOTE, read_bool },
	{ "writeOnly", BOTH, KEYWORD_NOTE, read_bool },
	{ "contentEncoding", BOTH, KEYWORD_NOTE, read_string },
	{ "contentMediaType", BOTH, KEYWORD_NOTE, read_string },
	{ "contentSchema", DRAFT_2020, KEYWORD_CONTENT_SCHEMA, schema_read_one },
	{ "type", BOTH, KEYWORD_TYPE, read_type },
	{ "const", BOTH, KEYWORD_CONST, read_any },
	{ "enum", BOTH, KEYWORD_ENUM, read_array },
	{ "multipleOf", BOTH, KEYWORD_MULTIPLE_OF, read_divisor },
	{ "maximum", BOTH, KEYWORD_MAXIMUM, read_number },
	{ "exclusiveMaximum", BOTH, KEYWORD_EXCLUSIVE_MAXIMUM, read_number },
	{ "minimum", BOTH, KEYWORD_MINIMUM, read_number },
	{ "exclusiveMinimum", BOTH, KEYWORD_EXCLUSIVE_MINIMUM, read_number },
	{ "maxLength", BOTH, KEYWORD_MAX_LENGTH, read_count },
	{ "minLength", BOTH, KEYWORD_MIN_LENGTH, read_count },
	{ "pattern", BOTH, KEYWORD_PATTERN, schema_read_pattern },
	{ "format", BOTH, KEYWORD_FORMAT, read_format },
	{ "maxItems", BOTH, KEYWORD_MAX_ITEMS, read_count },
	{ "minItems", BOTH, KEYWORD_MIN_ITEMS, read_count },
	{ "uniqueItems", BOTH, KEYWORD_UNIQUE_ITEMS, read_bool },
	{ "prefixItems", DRAFT_2020, KEYWORD_PREFIX_ITEMS, schema_read_list },
	{ "items", DRAFT_2020, KEYWORD_ITEMS, schema_read_one },
	{ "items", DRAFT_7, KEYWORD_ITEMS, schema_read_items },
	{ "additionalItems", DRAFT_7, KEYWORD_ITEMS, schema_read_items },
	{ "contains", BOTH, KEYWORD_CONTAINS, schema_read_one },
	{ "maxContains", DRAFT_2020, KEYWORD_MAX_CONTAINS, read_count },
	{ "minContains", DRAFT_2020, KEYWORD_MIN_CONTAINS, read_count },
	{ "maxProperties", BOTH, KEYWORD_MAX_PROPERTIES, read_count },
	{ "minProperties", BOTH, KEYWORD_MIN_PROPERTIES, read_count },
	{ "required", BOTH, KEYWORD_REQUIRED, read_required },
	{ "properties", BOTH, KEYWORD_PROPERTIES, schema_read_map },
	{ "patternProperties", BOTH, KEYWORD_PATTERN_PROPERTIES, schema_read_pattern_map },
	{ "additionalProperties", BOTH, KEYWORD_ADDITIONAL_PROPERTIES, schema_read_one },
	{ "propertyNames", BOTH, KEYWORD_PROPERTY_NAMES, schema_read_one },
	{ "dependentRequired", DRAFT_2020, KEYWORD_DEPENDENT, schema_read_dependencies },
	{ "dependentSchemas", DRAFT_2020, KEYWORD_DEPENDENT, schema_read_map },
	{ "dependencies", DRAFT_7, KEYWORD_DEPENDENT, schema_read_dependencies },
	{ "allOf", BOTH, KEYWORD_ALL_OF, schema_read_list },
	{ "anyOf", BOTH, KEYWORD_ANY_OF, schema_read_list },
	{ "oneOf", BOTH, KEYWORD_ONE_OF, schema_read_list },
	{ "not", BOTH, KEYWORD_NOT, schema_read_one },
	{ "if", BOTH, KEYWORD_IF, schema_read_one },
	{ "then", BOTH, KEYWORD_THEN, schema_read_one },
	{ "else", BOTH, KEYWORD_ELSE, schema_read_one },
	{ "unevaluatedItems", DRAFT_2020, KEYWORD_UNEVALUATED_ITEMS, schema_read_one },
	{ "unevaluatedProperties", DRAFT_2020, KEYWORD_UNEVALUATED_PROPERTIES, schema_read_one },
};

const struct schema_row *schema_row_find(const char *name, size_t len, unsigned int draft)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if ((rows[i].drafts & draft) && strlen(rows[i].name) == len &&
		    memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}
