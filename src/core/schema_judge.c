/* schema_judge.c: a node against a value, and what it costs. */
#include "core/schema_judging.h"

#include <stdlib.h>
#include <string.h>

#define TOO_COSTLY "it takes too many steps to judge"

/* A keyword that isn't here is read by another one: `if` has `then` and `else`, `contains` its two
 * bounds. */
static judge_keyword *const judges[KEYWORD__MAX] = {
	[KEYWORD_TYPE] = judge_type,
	[KEYWORD_CONST] = judge_const,
	[KEYWORD_ENUM] = judge_enum,
	[KEYWORD_MULTIPLE_OF] = judge_multiple_of,
	[KEYWORD_MAXIMUM] = judge_bound,
	[KEYWORD_EXCLUSIVE_MAXIMUM] = judge_bound,
	[KEYWORD_MINIMUM] = judge_bound,
	[KEYWORD_EXCLUSIVE_MINIMUM] = judge_bound,
	[KEYWORD_MAX_LENGTH] = judge_length,
	[KEYWORD_MIN_LENGTH] = judge_length,
	[KEYWORD_MAX_ITEMS] = judge_count,
	[KEYWORD_MIN_ITEMS] = judge_count,
	[KEYWORD_MAX_PROPERTIES] = judge_count,
	[KEYWORD_MIN_PROPERTIES] = judge_count,
	[KEYWORD_REQUIRED] = judge_required,
	[KEYWORD_FORMAT] = judge_format,
	[KEYWORD_PATTERN] = judge_pattern_keyword,
	[KEYWORD_UNIQUE_ITEMS] = judge_unique,
	[KEYWORD_PREFIX_ITEMS] = judge_prefix_items,
	[KEYWORD_ITEMS] = judge_items,
	[KEYWORD_CONTAINS] = judge_contains,
	[KEYWORD_PROPERTIES] = judge_properties,
	[KEYWORD_PATTERN_PROPERTIES] = judge_pattern_properties,
	[KEYWORD_ADDITIONAL_PROPERTIES] = judge_additional_properties,
	[KEYWORD_PROPERTY_NAMES] = judge_property_names,
	[KEYWORD_REF] = judge_ref,
	[KEYWORD_DYNAMIC_REF] = judge_dynamic_ref,
	[KEYWORD_ALL_OF] = judge_all_of,
	[KEYWORD_ANY_OF] = judge_any_of,
	[KEYWORD_ONE_OF] = judge_one_of,
	[KEYWORD_NOT] = judge_not,
	[KEYWORD_IF] = judge_if,
	[KEYWORD_DEPENDENT] = judge_dependent,
	[KEYWORD_UNEVALUATED_ITEMS] = judge_unevaluated_items,
	[KEYWORD_UNEVALUATED_PROPERTIES] = judge_unevaluated_properties,
};

enum schema_verdict judge_and(enum schema_verdict a, enum schema_verdict b)
{
	if (a == SCHEMA_BROKEN || b == SCHEMA_BROKEN)
		return SCHEMA_BROKEN;
	return a == SCHEMA_MET ? b : a;
}

enum schema_verdict judge_or(enum schema_verdict a, enum schema_verdict b)
{
	if (a == SCHEMA_MET || b == SCHEMA_MET)
		return SCHEMA_MET;
	return a == SCHEMA_BROKEN ? b : a;
}

bool judge_spend(struct judging *in, uint64_t steps)
{
	if (steps > in->steps_left) {
		in->steps_left = 0;
		return false;
	}
	in->steps_left -= steps;
	return true;
}

int judge_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

void judge_mark(unsigned char *marks, size_t i, enum schema_verdict verdict)
{
	enum mark mark = verdict == SCHEMA_MET	      ? MARK_YES
			 : verdict == SCHEMA_UNJUDGED ? MARK_MAYBE
						      : MARK_NO;

	if (marks && marks[i] < mark)
		marks[i] = (unsigned char)mark;
}

/* What a node has looked at counts as far as its verdict does. */
static void marks_merge(unsigned char *marks, const unsigned char *own, size_t count,
			enum schema_verdict verdict)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char mark = own[i];

		if (verdict == SCHEMA_UNJUDGED && mark == MARK_YES)
			mark = MARK_MAYBE;
		if (marks[i] < mark)
			marks[i] = mark;
	}
}

static enum schema_verdict judge_parts(struct judging *in, const struct schema_node *node,
				       const struct place *at, unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;

	for (size_t i = 0; i < node->parts_len && verdict != SCHEMA_BROKEN; i++) {
		const struct schema_part *part = &node->parts[i];
		judge_keyword *judge = judges[part->keyword];

		if (!judge || (node->ref_only && part->keyword != KEYWORD_REF))
			continue;
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		verdict = judge_and(verdict, judge(in, node, part, at, marks));
	}
	return verdict;
}

/* Whoever asks what was looked at, inside this node or outside, gets that of this node alone. */
static enum schema_verdict judge_marking(struct judging *in, const struct schema_node *node,
					 const struct place *at, unsigned char *marks)
{
	size_t count = at->value->type == JSON_OBJECT || at->value->type == JSON_ARRAY
			       ? at->value->count
			       : 0;
	unsigned char *own = NULL;

	if ((marks || node->asks) && count > 0) {
		if (!judge_spend(in, count))
			return judge_open(in, node, NULL, at, TOO_COSTLY);
		own = calloc(count, 1);
		if (!own) {
			in->no_memory = true;
			return SCHEMA_UNJUDGED;
		}
	}
	enum schema_verdict verdict = judge_parts(in, node, at, own);
	if (marks && own && verdict != SCHEMA_BROKEN)
		marks_merge(marks, own, count, verdict);
	free(own);
	return verdict;
}

enum schema_verdict judge_node(struct judging *in, const struct schema_node *node,
			       const struct place *at, unsigned char *marks)
{
	struct scope scope = { .resource = node->resource, .outer = in->scope };
	const struct scope *before = in->scope;

	if (node->kind == NODE_TRUE)
		return SCHEMA_MET;
	if (node->kind == NODE_FALSE)
		return judge_broken(in, node, NULL, at);
	if (in->no_memory)
		return SCHEMA_UNJUDGED;
	if (!judge_spend(in, 1))
		return judge_open(in, node, NULL, at, TOO_COSTLY);
	if (in->depth == JUDGE_DEPTH_MAX)
		return judge_open(in, node, NULL, at, "schemas apply one another too deep");
	in->depth++;
	if (!before || before->resource != scope.resource)
		in->scope = &scope;
	enum schema_verdict verdict = judge_marking(in, node, at, marks);
	in->scope = before;
	in->depth--;
	return verdict;
}

enum schema_verdict judge_aside(struct judging *in, const struct schema_node *node,
				const struct place *at, unsigned char *marks)
{
	in->quiet++;
	enum schema_verdict verdict = judge_node(in, node, at, marks);
	in->quiet--;
	return verdict;
}

enum schema_verdict judge_child(struct judging *in, const struct schema_node *node,
				const struct place *at, const struct json_value *child,
				const struct json_value *named, int64_t index)
{
	struct place place = { .value = child, .outer = at, .named = named, .index = index };

	return judge_node(in, node, &place, NULL);
}

enum rc schema_judge(const struct schema *schema, const struct json_value *document,
		     enum schema_verdict *verdict_out, struct text *why)
{
	struct judging in = {
		.schema = schema,
		.steps_left = JUDGE_STEPS + (uint64_t)JUDGE_STEPS_BYTE * document->raw_len,
	};
	const struct place root = { .value = document, .index = -1 };

	text_init(&in.broken, SCHEMA_WHY_MAX);
	text_init(&in.open, SCHEMA_WHY_MAX);
	*verdict_out = judge_node(&in, schema->nodes[0], &root, NULL);
	if (in.no_memory)
		*verdict_out = SCHEMA_UNJUDGED;
	if (*verdict_out != SCHEMA_MET) {
		const struct text *reason = *verdict_out == SCHEMA_BROKEN ? &in.broken : &in.open;
		text_add(why, reason->bytes, reason->len);
	}
	text_release(&in.broken);
	text_release(&in.open);
	return in.no_memory ? RC_FAULT : RC_OK;
}
