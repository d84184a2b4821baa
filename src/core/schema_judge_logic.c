/* schema_judge_logic.c: schemas for the value itself, in Kleene's logic of three values. While
 * somebody asks what was looked at, every branch is gone through. */
#include "core/schema_judging.h"

#define TOO_OPEN "it depends on what can't be judged"
#define TOO_COSTLY "it takes too many steps to judge"

enum schema_verdict judge_ref(struct judging *in, const struct schema_node *node,
			      const struct schema_part *part, const struct place *at,
			      unsigned char *marks)
{
	(void)node;
	return judge_node(in, part->nodes[0], at, marks);
}

/* The outermost schema with an id on the way here that has a dynamic anchor of the name. */
enum schema_verdict judge_dynamic_ref(struct judging *in, const struct schema_node *node,
				      const struct schema_part *part, const struct place *at,
				      unsigned char *marks)
{
	const struct schema_anchor *name = part->dynamic;
	const struct schema_node *target = part->nodes[0];

	for (const struct scope *scope = in->scope; name && scope; scope = scope->outer) {
		if (!judge_spend(in, 16 + name->name_len))
			return judge_open(in, node, part, at, TOO_COSTLY);
		const struct schema_anchor *anchor =
			schema_anchor_find(in->schema, scope->resource, name->name, name->name_len);
		if (anchor && anchor->dynamic)
			target = anchor->node;
	}
	return judge_node(in, target, at, marks);
}

enum schema_verdict judge_all_of(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;

	for (size_t i = 0; i < part->count && verdict != SCHEMA_BROKEN; i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		verdict = judge_and(verdict, judge_node(in, part->nodes[i], at, marks));
	}
	return verdict;
}

static enum schema_verdict tell(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				enum schema_verdict verdict)
{
	if (verdict == SCHEMA_UNJUDGED)
		return judge_open(in, node, part, at, TOO_OPEN);
	return judge_bool(in, node, part, at, verdict == SCHEMA_MET);
}

enum schema_verdict judge_any_of(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_BROKEN;

	for (size_t i = 0; i < part->count && (marks || verdict != SCHEMA_MET); i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		verdict = judge_or(verdict, judge_aside(in, part->nodes[i], at, marks));
	}
	return tell(in, node, part, at, verdict);
}

enum schema_verdict judge_one_of(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	size_t met = 0, open = 0;

	for (size_t i = 0; i < part->count && met < 2; i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		enum schema_verdict verdict = judge_aside(in, part->nodes[i], at, marks);

		met += verdict == SCHEMA_MET;
		open += verdict == SCHEMA_UNJUDGED;
	}
	if (met < 2 && open > 0)
		return judge_open(in, node, part, at, TOO_OPEN);
	return judge_bool(in, node, part, at, met == 1);
}

enum schema_verdict judge_not(struct judging *in, const struct schema_node *node,
			      const struct schema_part *part, const struct place *at,
			      unsigned char *marks)
{
	(void)marks; /* what a broken schema has looked at doesn't count */
	switch (judge_aside(in, part->nodes[0], at, NULL)) {
	case SCHEMA_MET: return judge_broken(in, node, part, at);
	case SCHEMA_BROKEN: return SCHEMA_MET;
	case SCHEMA_UNJUDGED:
	case SCHEMA_VERDICT__MAX: break;
	}
	return judge_open(in, node, part, at, TOO_OPEN);
}

static enum schema_verdict branch(struct judging *in, const struct schema_node *node,
				  enum schema_keyword keyword, const struct place *at,
				  unsigned char *marks)
{
	const struct schema_part *part = schema_part_of(node, keyword);

	return part ? judge_node(in, part->nodes[0], at, marks) : SCHEMA_MET;
}

enum schema_verdict judge_if(struct judging *in, const struct schema_node *node,
			     const struct schema_part *part, const struct place *at,
			     unsigned char *marks)
{
	switch (judge_aside(in, part->nodes[0], at, marks)) {
	case SCHEMA_MET: return branch(in, node, KEYWORD_THEN, at, marks);
	case SCHEMA_BROKEN: return branch(in, node, KEYWORD_ELSE, at, marks);
	case SCHEMA_UNJUDGED:
	case SCHEMA_VERDICT__MAX: break;
	}
	/* Either branch may be the one: their verdict counts where it is the same. What was looked
	 * at then depends on the branch too, so to one who asks it is open. */
	in->quiet++;
	enum schema_verdict then = branch(in, node, KEYWORD_THEN, at, marks);
	enum schema_verdict otherwise = branch(in, node, KEYWORD_ELSE, at, marks);
	in->quiet--;
	if (then != otherwise || (marks && then == SCHEMA_MET))
		then = SCHEMA_UNJUDGED;
	return tell(in, node, part, at, then);
}
