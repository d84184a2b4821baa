/* schema_compile.c: from the tree to nodes and parts. The depth of the recursion is that of the
 * schema, which has a cap; so have its size, its nodes and its patterns, and everything done here
 * is at worst n log n in those. */
#include "core/schema_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTER_MAX_BYTES 4096 /* flaws and verdicts show less */

struct schema_block {
	struct schema_block *next;
	max_align_t bytes[];
};

void *schema_alloc(struct schema_compile *in, size_t count, size_t size)
{
	if (count > SCHEMA_MAX_BYTES) { /* nothing is that often in so few bytes */
		in->no_memory = true;
		return NULL;
	}
	struct schema_block *block = calloc(1, sizeof *block + (count > 0 ? count : 1) * size);
	if (!block) {
		in->no_memory = true;
		return NULL;
	}
	block->next = in->schema->blocks;
	in->schema->blocks = block;
	return block->bytes;
}

void *schema_grow(struct schema_compile *in, void *array, size_t *size, size_t len, size_t each)
{
	if (len < *size)
		return array;
	size_t more = *size > 0 ? *size * 2 : 16;
	void *grown = realloc(array, more * each);
	if (!grown) {
		in->no_memory = true;
		return NULL;
	}
	*size = more;
	return grown;
}

const struct schema_part *schema_part_of(const struct schema_node *node,
					 enum schema_keyword keyword)
{
	for (size_t i = 0; i < node->parts_len; i++)
		if (node->parts[i].keyword == keyword)
			return &node->parts[i];
	return NULL;
}

void schema_pointer_token(const char *name, size_t len, struct text *out)
{
	text_add_str(out, "/");
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '~')
			text_add_str(out, "~0");
		else if (name[i] == '/')
			text_add_str(out, "~1");
		else
			text_add(out, name + i, 1);
	}
}

static void pointer_step(const char *keyword, const struct json_value *member, int64_t index,
			 struct text *out)
{
	schema_pointer_token(keyword, strlen(keyword), out);
	if (member)
		schema_pointer_token(member->name, member->name_len, out);
	else if (index >= 0)
		text_addf(out, "/%lld", (long long)index);
}

void schema_pointer_add(const struct schema *schema, const struct schema_node *node,
			struct text *out)
{
	if (!node->parent) {
		text_add_str(out, schema->pointer);
		return;
	}
	schema_pointer_add(schema, node->parent, out);
	pointer_step(node->keyword, node->member, node->index, out);
}

static void flaw_add(struct schema_compile *in, const struct schema_node *node, const char *keyword,
		     const struct json_value *member, int64_t index, const char *format,
		     va_list args)
{
	struct text pointer;
	char detail[512];

	vsnprintf(detail, sizeof detail, format, args);
	text_init(&pointer, POINTER_MAX_BYTES);
	schema_pointer_add(in->schema, node, &pointer);
	if (keyword)
		pointer_step(keyword, member, index, &pointer);
	/* Whatever is too long is cut there. */
	flaws_add(in->flaws, pointer.bytes ? pointer.bytes : "", NULL, 0, "%s", detail);
	text_release(&pointer);
}

void schema_flaw(struct schema_compile *in, const struct schema_node *node, const char *keyword,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	flaw_add(in, node, keyword, NULL, -1, format, args);
	va_end(args);
}

void schema_flaw_within(struct schema_compile *in, const struct schema_node *node,
			const char *keyword, const struct json_value *member, int64_t index,
			const char *format, ...)
{
	va_list args;

	va_start(args, format);
	flaw_add(in, node, keyword, member, index, format, args);
	va_end(args);
}

static void unknown_keyword(struct schema_compile *in, const struct schema_node *node,
			    const struct json_value *member)
{
	struct text pointer;

	text_init(&pointer, POINTER_MAX_BYTES);
	schema_pointer_add(in->schema, node, &pointer);
	flaws_add(in->flaws, pointer.bytes ? pointer.bytes : "", member->name, member->name_len,
		  "is no keyword of this draft");
	text_release(&pointer);
}

static int compare_parts(const void *a, const void *b)
{
	enum schema_keyword left = ((const struct schema_part *)a)->keyword;
	enum schema_keyword right = ((const struct schema_part *)b)->keyword;

	return (left > right) - (left < right);
}

/* What is only there to be resolved or read by people leaves no part behind. */
static bool is_judged(enum schema_keyword keyword)
{
	return keyword >= KEYWORD_TYPE;
}

static void read_parts(struct schema_compile *in, struct schema_node *node)
{
	size_t kept = 0;

	node->parts = schema_alloc(in, node->json->count, sizeof *node->parts);
	for (const struct json_value *member = node->json->child; member && node->parts;
	     member = member->next) {
		const struct schema_row *row =
			schema_row_find(member->name, member->name_len, in->schema->draft);

		if (!row) {
			unknown_keyword(in, node, member);
			continue;
		}
		struct schema_part *part = &node->parts[kept];
		*part = (struct schema_part){ .keyword = row->keyword,
					      .name = row->name,
					      .value = member };
		row->read(in, node, part);
		if (in->no_memory || in->too_much)
			return;
		if (is_judged(part->keyword))
			kept++;
		if (part->keyword == KEYWORD_UNEVALUATED_ITEMS ||
		    part->keyword == KEYWORD_UNEVALUATED_PROPERTIES)
			node->asks = true;
	}
	node->parts_len = kept;
	if (kept > 1)
		qsort(node->parts, kept, sizeof *node->parts, compare_parts);
	node->ref_only = in->schema->draft == DRAFT_7 && schema_part_of(node, KEYWORD_REF);
}

static void read_node(struct schema_compile *in, struct schema_node *node)
{
	if (in->depth == SCHEMA_DEPTH_MAX) {
		schema_flaw(in, node, NULL, "is nested more than %d schemas deep",
			    SCHEMA_DEPTH_MAX);
		in->too_much = true;
		return;
	}
	in->depth++;
	switch (node->json->type) {
	case JSON_TRUE: node->kind = NODE_TRUE; break;
	case JSON_FALSE: node->kind = NODE_FALSE; break;
	case JSON_OBJECT:
		node->kind = NODE_OBJECT;
		schema_ids_read(in, node);
		if (!in->no_memory && !in->too_much)
			read_parts(in, node);
		break;
	case JSON_NULL:
	case JSON_NUMBER:
	case JSON_STRING:
	case JSON_ARRAY:
	case JSON__MAX: schema_flaw(in, node, NULL, "must be a schema: an object, true or false");
	}
	in->depth--;
}

struct schema_node *schema_node_add(struct schema_compile *in, const struct schema_node *parent,
				    const struct schema_part *part, const struct json_value *json,
				    const struct json_value *member, int64_t index)
{
	struct schema *schema = in->schema;
	struct schema_node *node = schema_alloc(in, 1, sizeof *node);
	struct schema_node **grown = schema_grow(in, schema->nodes, &schema->nodes_size,
						 schema->nodes_len, sizeof *grown);

	if (grown)
		schema->nodes = grown;
	if (!node || !grown)
		return NULL;
	*node = (struct schema_node){ .json = json,
				      .parent = parent,
				      .keyword = part ? part->name : NULL,
				      .member = member,
				      .index = index,
				      .resource = parent ? parent->resource : 0,
				      .id = (uint32_t)schema->nodes_len };
	if (schema->nodes_len == SCHEMA_NODES_MAX) {
		schema_flaw(in, node, NULL, "is one schema too many: %d are allowed",
			    SCHEMA_NODES_MAX);
		in->too_much = true;
		return NULL;
	}
	schema->nodes[schema->nodes_len++] = node;
	read_node(in, node);
	return node;
}

/* The draft decides which keywords there are, so it is read before anything else. */
static bool draft_read(struct schema_compile *in, const struct json_value *json)
{
	const struct json_value *uri = json_member(json, "$schema");

	in->schema->draft = DRAFT_2020;
	if (!uri || json_is_string(uri, "https://json-schema.org/draft/2020-12/schema") ||
	    json_is_string(uri, "https://json-schema.org/draft/2020-12/schema#"))
		return true;
	in->schema->draft = DRAFT_7;
	if (json_is_string(uri, "http://json-schema.org/draft-07/schema#") ||
	    json_is_string(uri, "http://json-schema.org/draft-07/schema"))
		return true;
	flaws_add(in->flaws, in->schema->pointer, "$schema", strlen("$schema"),
		  "must be https://json-schema.org/draft/2020-12/schema or "
		  "http://json-schema.org/draft-07/schema#");
	return false;
}

static void compile_all(struct schema_compile *in, const struct json_value *json)
{
	if (json->raw_len > SCHEMA_MAX_BYTES) {
		flaws_add(in->flaws, in->schema->pointer, NULL, 0, "is longer than %d bytes",
			  SCHEMA_MAX_BYTES);
		return;
	}
	if (!draft_read(in, json) || !schema_node_add(in, NULL, NULL, json, NULL, -1) ||
	    in->no_memory || in->too_much)
		return;
	schema_ids_settle(in);
	schema_refs_resolve(in);
	if (!in->no_memory && in->flaws->count == in->flaws_before)
		schema_cycles_refuse(in);
}

enum rc schema_compile(const struct json_value *json, const char *pointer,
		       struct schema **schema_out, struct flaws *flaws)
{
	struct schema *schema = calloc(1, sizeof *schema);
	struct schema_compile in = { .schema = schema,
				     .flaws = flaws,
				     .flaws_before = flaws->count };

	*schema_out = NULL;
	if (!schema)
		return RC_FAULT;
	schema->pointer = strdup(pointer);
	if (schema->pointer)
		compile_all(&in, json);
	else
		in.no_memory = true;
	if (in.no_memory || flaws->count > in.flaws_before) {
		schema_free(schema);
		return in.no_memory ? RC_FAULT : RC_INVALID;
	}
	*schema_out = schema;
	return RC_OK;
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (size_t i = 0; i < schema->patterns_len; i++)
		pattern_free(schema->patterns[i]);
	for (struct schema_block *block = schema->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(schema->patterns);
	free(schema->anchors);
	free(schema->resources);
	free(schema->nodes);
	free(schema->pointer);
	free(schema);
}
