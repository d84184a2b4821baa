/* schema_private.h: what a compiled schema is. Private to schema_*.c.
 *
 * A node is one schema: an object, or true or false. A part is one keyword of it with what its
 * value was read into. Parts are in the order of enum schema_keyword, which is the order in which
 * they are judged: what annotates before what asks for annotations. All of it lives in one list of
 * blocks. */
#ifndef CORE_SCHEMA_PRIVATE_H
#define CORE_SCHEMA_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_number.h"
#include "core/pattern.h"
#include "core/schema.h"
#include "core/schema_format.h"

enum schema_draft { DRAFT_2020 = 1, DRAFT_7 = 2 };

enum schema_keyword {
	/* what stands for itself, is resolved when it is compiled, or only annotates */
	KEYWORD_SCHEMA,
	KEYWORD_ID,
	KEYWORD_ANCHOR,
	KEYWORD_DYNAMIC_ANCHOR,
	KEYWORD_NOTE,
	KEYWORD_DEFS,
	KEYWORD_CONTENT_SCHEMA,
	/* assertions on one value */
	KEYWORD_TYPE,
	KEYWORD_CONST,
	KEYWORD_ENUM,
	KEYWORD_MULTIPLE_OF,
	KEYWORD_MAXIMUM,
	KEYWORD_EXCLUSIVE_MAXIMUM,
	KEYWORD_MINIMUM,
	KEYWORD_EXCLUSIVE_MINIMUM,
	KEYWORD_MAX_LENGTH,
	KEYWORD_MIN_LENGTH,
	KEYWORD_MAX_ITEMS,
	KEYWORD_MIN_ITEMS,
	KEYWORD_MAX_PROPERTIES,
	KEYWORD_MIN_PROPERTIES,
	KEYWORD_REQUIRED,
	KEYWORD_FORMAT,
	KEYWORD_PATTERN,
	KEYWORD_UNIQUE_ITEMS,
	/* schemas for parts of the value */
	KEYWORD_PREFIX_ITEMS,
	KEYWORD_ITEMS,
	KEYWORD_CONTAINS,
	KEYWORD_MAX_CONTAINS,
	KEYWORD_MIN_CONTAINS,
	KEYWORD_PROPERTIES,
	KEYWORD_PATTERN_PROPERTIES,
	KEYWORD_ADDITIONAL_PROPERTIES,
	KEYWORD_PROPERTY_NAMES,
	/* schemas for the value itself */
	KEYWORD_REF,
	KEYWORD_DYNAMIC_REF,
	KEYWORD_ALL_OF,
	KEYWORD_ANY_OF,
	KEYWORD_ONE_OF,
	KEYWORD_NOT,
	KEYWORD_IF,
	KEYWORD_THEN,
	KEYWORD_ELSE,
	KEYWORD_DEPENDENT /* dependentRequired, dependentSchemas, dependencies */,
	/* what the others have left */
	KEYWORD_UNEVALUATED_ITEMS,
	KEYWORD_UNEVALUATED_PROPERTIES,
	KEYWORD__MAX
};

/* Strings of an array, by their bytes. */
struct schema_names {
	const struct json_value **list;
	size_t len;
};

struct schema_part {
	enum schema_keyword keyword;
	const char *name;		/* the keyword as written, a constant */
	const struct json_value *value; /* as written */
	/* Each is NULL or has `count` elements, those of an object in the order of its by_name. */
	struct schema_node **nodes;
	struct pattern **patterns;
	struct schema_names *required;
	size_t count;
	union {
		uint64_t number; /* of code points, items ... (UINT64_MAX: or more); steps for names
				  */
		unsigned int types; /* a bit for each enum json_kind, and TYPE_INTEGER */
		schema_format_judge *format;
		struct json_decimal decimal;
		const struct schema_anchor *dynamic; /* NULL: it behaves as $ref */
	};
};

#define TYPE_INTEGER (1u << JSON__MAX)

enum schema_kind { NODE_TRUE, NODE_FALSE, NODE_OBJECT };

struct schema_node {
	const struct json_value *json;
	enum schema_kind kind;
	struct schema_part *parts;
	size_t parts_len;
	bool asks;	   /* has a keyword for what the others have left */
	bool ref_only;	   /* draft 7: $ref makes the other keywords mean nothing */
	uint32_t resource; /* index in schema->resources */
	uint32_t id;	   /* index in schema->nodes */
	/* Where it stands: in its parent under `keyword`, there at `member` or as number `index`.
	 */
	const struct schema_node *parent;
	const char *keyword;
	const struct json_value *member;
	int64_t index; /* -1: no array */
};

/* A schema with an id of its own, or the root. */
struct schema_resource {
	const char *uri; /* resolved, without fragment */
	size_t uri_len;
	struct schema_node *root;
};

/* $anchor or $dynamicAnchor; in draft 7 an $id that is a fragment. */
struct schema_anchor {
	uint32_t resource;
	const char *name;
	size_t name_len;
	struct schema_node *node;
	const char *keyword;
	bool dynamic;
	uint32_t dynamic_name; /* of a dynamic one: the number of its name among all of them */
};

struct schema {
	enum schema_draft draft;
	char *pointer; /* of the root, in the caller's document */
	struct schema_node **nodes;
	size_t nodes_len, nodes_size;
	struct schema_resource *resources;
	size_t resources_len, resources_size;
	struct schema_anchor *anchors; /* by resource and name once compiled */
	size_t anchors_len, anchors_size;
	uint32_t dynamic_names;
	struct pattern **patterns; /* all of them, to be freed */
	size_t patterns_len, patterns_size;
	struct schema_block *blocks;
};

/* While it is compiled. */
struct schema_compile {
	struct schema *schema;
	struct flaws *flaws;
	size_t flaws_before;
	unsigned int depth;
	bool no_memory;
	bool too_much;	   /* a cap was passed and told; nothing more is read */
	uint32_t *by_uri;  /* indexes of resources, by their URIs */
	uint32_t *dynamic; /* indexes of dynamic anchors, by their names */
	size_t dynamic_len;
	struct schema_node **by_json; /* the nodes by where their values lie in memory */
};

/* A row for each name that a keyword has in one of the drafts. */
struct schema_row {
	const char *name;
	unsigned int drafts;
	enum schema_keyword keyword;
	void (*read)(struct schema_compile *in, struct schema_node *node, struct schema_part *part);
};

/* schema_compile.c. Memory that goes with the schema, zeroed; NULL: no_memory is set. */
void *schema_alloc(struct schema_compile *in, size_t count, size_t size);
/* One more element of an array with `len` of them, NULL when there is no memory. */
void *schema_grow(struct schema_compile *in, void *array, size_t *size, size_t len, size_t each);
struct schema_node *schema_node_add(struct schema_compile *in, const struct schema_node *parent,
				    const struct schema_part *part, const struct json_value *json,
				    const struct json_value *member, int64_t index);
const struct schema_part *schema_part_of(const struct schema_node *node,
					 enum schema_keyword keyword);
/* Adds the JSON pointer of a node in the caller's document. */
void schema_pointer_add(const struct schema *schema, const struct schema_node *node,
			struct text *out);
void schema_pointer_token(const char *name, size_t len, struct text *out);
void schema_flaw(struct schema_compile *in, const struct schema_node *node, const char *keyword,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The flaw lies in one element or member of the keyword's value. */
void schema_flaw_within(struct schema_compile *in, const struct schema_node *node,
			const char *keyword, const struct json_value *member, int64_t index,
			const char *format, ...) __attribute__((format(printf, 6, 7)));

/* schema_keywords.c */
const struct schema_row *schema_row_find(const char *name, size_t len, unsigned int draft);

/* schema_apply.c: readers of the keywords that hold schemas and patterns. */
void schema_read_one(struct schema_compile *in, struct schema_node *node, struct schema_part *part);
void schema_read_list(struct schema_compile *in, struct schema_node *node,
		      struct schema_part *part);
void schema_read_map(struct schema_compile *in, struct schema_node *node, struct schema_part *part);
void schema_read_items(struct schema_compile *in, struct schema_node *node,
		       struct schema_part *part);
void schema_read_dependencies(struct schema_compile *in, struct schema_node *node,
			      struct schema_part *part);
void schema_read_pattern(struct schema_compile *in, struct schema_node *node,
			 struct schema_part *part);
void schema_read_pattern_map(struct schema_compile *in, struct schema_node *node,
			     struct schema_part *part);
/* schema_keywords.c: used by schema_read_dependencies() too; `member`: where the array isn't the
 * keyword's whole value. */
void schema_read_names(struct schema_compile *in, const struct schema_node *node,
		       const char *keyword, const struct json_value *array,
		       const struct json_value *member, struct schema_names *names_out);

/* schema_ids.c: before a node's parts are read, what names it. */
void schema_ids_read(struct schema_compile *in, struct schema_node *node);
void schema_ids_settle(struct schema_compile *in);
struct schema_resource *schema_resource_find(const struct schema_compile *in, const char *uri,
					     size_t len);
const struct schema_anchor *schema_anchor_find(const struct schema *schema, uint32_t resource,
					       const char *name, size_t len);

/* schema_refs.c: once all nodes are there. */
void schema_refs_resolve(struct schema_compile *in);
/* schema_cycles.c: once all references are resolved. */
void schema_cycles_refuse(struct schema_compile *in);

#endif
