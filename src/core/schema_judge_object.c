/* schema_judge_object.c: keywords for objects. Members of the document and names of the schema are
 * both in the order of their bytes, so the two are gone through side by side. */
#include "core/schema_judging.h"

#define TOO_COSTLY "it takes too many steps to judge"

static bool pay_for_names(struct judging *in, const struct json_value *member)
{
	return judge_spend(in, 1 + (uint64_t)member->name_len / 8);
}

/* Moves *named on to the first that isn't smaller than `member`. True: it is the same name. */
static bool seek(const struct json_value **named, size_t *i, const struct json_value *member)
{
	int order = 1;

	while (*named && (order = judge_compare((*named)->name, (*named)->name_len, member->name,
						member->name_len)) < 0) {
		*named = (*named)->next_by_name;
		(*i)++;
	}
	return *named && order == 0;
}

enum schema_verdict judge_properties(struct judging *in, const struct schema_node *node,
				     const struct schema_part *part, const struct place *at,
				     unsigned char *marks)
{
	const struct json_value *named = part->value->by_name;
	enum schema_verdict verdict = SCHEMA_MET;
	size_t rank = 0, i = 0;

	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	if (!judge_spend(in, part->number))
		return judge_open(in, node, part, at, TOO_COSTLY);
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name, rank++) {
		if (!pay_for_names(in, member))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (!seek(&named, &i, member))
			continue;
		verdict =
			judge_and(verdict, judge_child(in, part->nodes[i], at, member, named, -1));
		judge_mark(marks, rank, SCHEMA_MET);
	}
	return verdict;
}

enum schema_verdict judge_pattern_properties(struct judging *in, const struct schema_node *node,
					     const struct schema_part *part, const struct place *at,
					     unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;
	size_t rank = 0;

	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name, rank++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		for (size_t i = 0; i < part->count && verdict != SCHEMA_BROKEN; i++) {
			if (!judge_spend(in, 1))
				return judge_open(in, node, part, at, TOO_COSTLY);
			enum schema_verdict match =
				judge_pattern(in, node, part, at, part->patterns[i], member->name,
					      member->name_len);

			if (match == SCHEMA_BROKEN)
				continue;
			in->quiet += match == SCHEMA_UNJUDGED;
			enum schema_verdict one =
				judge_child(in, part->nodes[i], at, member, NULL, -1);
			in->quiet -= match == SCHEMA_UNJUDGED;
			if (match == SCHEMA_UNJUDGED && one == SCHEMA_BROKEN)
				one = SCHEMA_UNJUDGED;
			verdict = judge_and(verdict, one);
			judge_mark(marks, rank, match);
		}
	}
	return verdict;
}

/* Is there a pattern of patternProperties for this name? */
static enum schema_verdict some_pattern(struct judging *in, const struct schema_node *node,
					const struct schema_part *patterns, const struct place *at,
					const struct json_value *member)
{
	enum schema_verdict verdict = SCHEMA_BROKEN;

	for (size_t i = 0; patterns && i < patterns->count && verdict != SCHEMA_MET; i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, patterns, at, TOO_COSTLY);
		verdict = judge_or(verdict,
				   judge_pattern(in, node, patterns, at, patterns->patterns[i],
						 member->name, member->name_len));
	}
	return verdict;
}

/* A member that may be one of those which `node` is for: where it breaks it, that is open. */
static enum schema_verdict judge_left(struct judging *in, const struct schema_node *node,
				      const struct place *at, const struct json_value *member,
				      bool sure)
{
	in->quiet += !sure;
	enum schema_verdict verdict = judge_child(in, node, at, member, NULL, -1);
	in->quiet -= !sure;
	return verdict == SCHEMA_BROKEN && !sure ? SCHEMA_UNJUDGED : verdict;
}

enum schema_verdict judge_additional_properties(struct judging *in, const struct schema_node *node,
						const struct schema_part *part,
						const struct place *at, unsigned char *marks)
{
	const struct schema_part *properties = schema_part_of(node, KEYWORD_PROPERTIES);
	const struct schema_part *patterns = schema_part_of(node, KEYWORD_PATTERN_PROPERTIES);
	const struct json_value *named = properties ? properties->value->by_name : NULL;
	enum schema_verdict verdict = SCHEMA_MET;
	size_t rank = 0, i = 0;

	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	if (!judge_spend(in, properties ? properties->number : 0))
		return judge_open(in, node, part, at, TOO_COSTLY);
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name, rank++) {
		if (!pay_for_names(in, member))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (seek(&named, &i, member))
			continue;
		enum schema_verdict match = some_pattern(in, node, patterns, at, member);
		if (match == SCHEMA_MET)
			continue;
		verdict = judge_and(verdict, judge_left(in, part->nodes[0], at, member,
							match == SCHEMA_BROKEN));
		judge_mark(marks, rank, SCHEMA_MET); /* by a pattern, or else by this */
	}
	return verdict;
}

enum schema_verdict judge_property_names(struct judging *in, const struct schema_node *node,
					 const struct schema_part *part, const struct place *at,
					 unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;

	(void)marks;
	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name) {
		const struct json_value name = { .type = JSON_STRING,
						 .raw = member->name,
						 .raw_len = member->name_len,
						 .string = member->name,
						 .string_len = member->name_len };

		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		verdict = judge_and(verdict, judge_child(in, part->nodes[0], at, &name, NULL, -1));
	}
	return verdict;
}

/* Are all the names there? *missing_out: else the first that isn't. */
static enum schema_verdict all_there(struct judging *in, const struct schema_names *names,
				     const struct json_value *object,
				     const struct json_value **missing_out)
{
	const struct json_value *member = object->by_name;

	for (size_t i = 0; i < names->len; i++) {
		const struct json_value *name = names->list[i];
		int order = 1;

		if (!judge_spend(in, 1 + (uint64_t)name->string_len / 8))
			return SCHEMA_UNJUDGED;
		for (; member; member = member->next_by_name) {
			if (!pay_for_names(in, member))
				return SCHEMA_UNJUDGED;
			order = judge_compare(member->name, member->name_len, name->string,
					      name->string_len);
			if (order >= 0)
				break;
		}
		if (!member || order != 0) {
			*missing_out = name;
			return SCHEMA_BROKEN;
		}
	}
	return SCHEMA_MET;
}

static enum schema_verdict judge_names(struct judging *in, const struct schema_node *node,
				       const struct schema_part *part, const struct place *at,
				       const struct schema_names *names)
{
	struct place missing = { .outer = at, .index = -1 };
	enum schema_verdict verdict = all_there(in, names, at->value, &missing.named);

	if (verdict == SCHEMA_UNJUDGED)
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, &missing, verdict == SCHEMA_MET);
}

enum schema_verdict judge_required(struct judging *in, const struct schema_node *node,
				   const struct schema_part *part, const struct place *at,
				   unsigned char *marks)
{
	(void)marks;
	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	return judge_names(in, node, part, at, &part->required[0]);
}

/* What must hold for the whole object because one member is there. */
enum schema_verdict judge_dependent(struct judging *in, const struct schema_node *node,
				    const struct schema_part *part, const struct place *at,
				    unsigned char *marks)
{
	const struct json_value *named = part->value->by_name;
	enum schema_verdict verdict = SCHEMA_MET;
	size_t i = 0;

	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	if (!judge_spend(in, part->number))
		return judge_open(in, node, part, at, TOO_COSTLY);
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name) {
		if (!pay_for_names(in, member))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (!seek(&named, &i, member))
			continue;
		verdict = judge_and(verdict,
				    part->nodes[i]
					    ? judge_node(in, part->nodes[i], at, marks)
					    : judge_names(in, node, part, at, &part->required[i]));
	}
	return verdict;
}

enum schema_verdict judge_unevaluated_properties(struct judging *in, const struct schema_node *node,
						 const struct schema_part *part,
						 const struct place *at, unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;
	size_t rank = 0;

	if (at->value->type != JSON_OBJECT)
		return SCHEMA_MET;
	for (const struct json_value *member = at->value->by_name;
	     member && verdict != SCHEMA_BROKEN; member = member->next_by_name, rank++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (marks[rank] == MARK_YES)
			continue;
		verdict = judge_and(verdict, judge_left(in, part->nodes[0], at, member,
							marks[rank] == MARK_NO));
		judge_mark(marks, rank, SCHEMA_MET);
	}
	return verdict;
}
