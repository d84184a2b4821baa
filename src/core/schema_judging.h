/* schema_judging.h: one judgement. Private to schema_judge*.c. */
#ifndef CORE_SCHEMA_JUDGING_H
#define CORE_SCHEMA_JUDGING_H

#include "core/schema_private.h"

/* What one judgement may cost: about half a second for a small document. A step is a byte compared,
 * a member or keyword looked at. */
#define JUDGE_STEPS UINT64_C(20000000)
#define JUDGE_STEPS_BYTE 16 /* and so many more for each byte of the document */

/* How deep schemas may apply schemas, which bounds the C stack: about 500 bytes a level. A document
 * of 1,000 levels under a schema that refers to itself gets by on 2,000. */
#define JUDGE_DEPTH_MAX 2500

/* A value and the way to it, for people. */
struct place {
	const struct json_value *value;
	const struct place *outer;
	const struct json_value *named; /* the schema's own member that has its name, or NULL */
	int64_t index;			/* -1: no element */
};

/* The schemas with an id that were gone through. */
struct scope {
	uint32_t resource;
	const struct scope *outer;
};

struct judging {
	const struct schema *schema;
	const struct scope *scope;
	uint64_t steps_left;
	unsigned int depth;
	unsigned int quiet; /* above 0: what is broken here needn't break the whole */
	bool no_memory;
	struct text broken; /* the first that breaks the whole */
	struct text open;   /* the first that can't be judged */
};

/* How sure it is that a keyword has looked at a child of the value: a byte for each, in the order
 * of by_name for an object's. NULL: nobody asks. */
enum mark { MARK_NO, MARK_MAYBE, MARK_YES };

typedef enum schema_verdict judge_keyword(struct judging *in, const struct schema_node *node,
					  const struct schema_part *part, const struct place *at,
					  unsigned char *marks);

/* schema_judge.c */
enum schema_verdict judge_node(struct judging *in, const struct schema_node *node,
			       const struct place *at, unsigned char *marks);
/* As above, where the verdict needn't be the whole's. */
enum schema_verdict judge_aside(struct judging *in, const struct schema_node *node,
				const struct place *at, unsigned char *marks);
enum schema_verdict judge_child(struct judging *in, const struct schema_node *node,
				const struct place *at, const struct json_value *child,
				const struct json_value *named, int64_t index);
bool judge_spend(struct judging *in, uint64_t steps); /* false: there aren't so many left */
enum schema_verdict judge_and(enum schema_verdict a, enum schema_verdict b);
enum schema_verdict judge_or(enum schema_verdict a, enum schema_verdict b);
/* Each tells what it is about, if it is the first, and returns its verdict. `detail`: a constant.
 */
enum schema_verdict judge_broken(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at);
enum schema_verdict judge_open(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at,
			       const char *detail);
/* MET or BROKEN, and tells. */
enum schema_verdict judge_bool(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at, bool met);
void judge_mark(unsigned char *marks, size_t i, enum schema_verdict verdict);
/* < 0, 0, > 0 */
int judge_compare(const char *a, size_t a_len, const char *b, size_t b_len);
enum schema_verdict judge_pattern(struct judging *in, const struct schema_node *node,
				  const struct schema_part *part, const struct place *at,
				  const struct pattern *pattern, const char *text, size_t len);

/* schema_judge_value.c */
judge_keyword judge_type, judge_const, judge_enum, judge_multiple_of, judge_bound, judge_length,
	judge_count, judge_format, judge_pattern_keyword;
/* schema_judge_array.c */
judge_keyword judge_unique, judge_prefix_items, judge_items, judge_contains,
	judge_unevaluated_items;
/* schema_judge_object.c */
judge_keyword judge_required, judge_properties, judge_pattern_properties,
	judge_additional_properties, judge_property_names, judge_dependent,
	judge_unevaluated_properties;
/* schema_judge_logic.c */
judge_keyword judge_ref, judge_dynamic_ref, judge_all_of, judge_any_of, judge_one_of, judge_not,
	judge_if;

#endif
