/* schema_judge_value.c: assertions on one value, as it stands. */
#include "core/schema_judging.h"

#define TOO_COSTLY "it takes too many steps to judge"

static bool is_integer(const struct json_value *value)
{
	return json_number_decimal(value).exponent >= 0;
}

enum schema_verdict judge_type(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at,
			       unsigned char *marks)
{
	const struct json_value *value = at->value;

	(void)marks;
	if (part->types & (1u << value->type))
		return SCHEMA_MET;
	if (value->type != JSON_NUMBER || !(part->types & TYPE_INTEGER))
		return judge_broken(in, node, part, at);
	if (!judge_spend(in, value->raw_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, at, is_integer(value));
}

/* Two values are looked at until they differ, so never further than the shorter one is long. */
static enum schema_verdict equal(struct judging *in, const struct json_value *a,
				 const struct json_value *b)
{
	if (a->type != b->type)
		return judge_spend(in, 1) ? SCHEMA_BROKEN : SCHEMA_UNJUDGED;
	if (!judge_spend(in, 1 + (a->raw_len < b->raw_len ? a->raw_len : b->raw_len)))
		return SCHEMA_UNJUDGED;
	return json_equal(a, b) ? SCHEMA_MET : SCHEMA_BROKEN;
}

static enum schema_verdict tell(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				enum schema_verdict verdict)
{
	if (verdict == SCHEMA_UNJUDGED)
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, at, verdict == SCHEMA_MET);
}

enum schema_verdict judge_const(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				unsigned char *marks)
{
	(void)marks;
	return tell(in, node, part, at, equal(in, part->value, at->value));
}

enum schema_verdict judge_enum(struct judging *in, const struct schema_node *node,
			       const struct schema_part *part, const struct place *at,
			       unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_BROKEN;

	(void)marks;
	for (const struct json_value *one = part->value->child; one && verdict == SCHEMA_BROKEN;
	     one = one->next)
		verdict = equal(in, one, at->value);
	return tell(in, node, part, at, verdict);
}

enum schema_verdict judge_multiple_of(struct judging *in, const struct schema_node *node,
				      const struct schema_part *part, const struct place *at,
				      unsigned char *marks)
{
	bool multiple = false;

	(void)marks;
	if (at->value->type != JSON_NUMBER)
		return SCHEMA_MET;
	if (!judge_spend(in, at->value->raw_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	struct json_decimal number = json_number_decimal(at->value);
	if (!json_number_multiple_of(&number, &part->decimal, &in->steps_left, &multiple))
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, at, multiple);
}

enum schema_verdict judge_bound(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				unsigned char *marks)
{
	(void)marks;
	if (at->value->type != JSON_NUMBER)
		return SCHEMA_MET;
	if (!judge_spend(in, at->value->raw_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	struct json_decimal number = json_number_decimal(at->value);
	int order = json_number_compare(&number, &part->decimal);
	bool upper = part->keyword == KEYWORD_MAXIMUM || part->keyword == KEYWORD_EXCLUSIVE_MAXIMUM;
	bool exclusive = part->keyword == KEYWORD_EXCLUSIVE_MAXIMUM ||
			 part->keyword == KEYWORD_EXCLUSIVE_MINIMUM;

	if (order == 0)
		return judge_bool(in, node, part, at, !exclusive);
	return judge_bool(in, node, part, at, upper == (order < 0));
}

enum schema_verdict judge_length(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	const struct json_value *value = at->value;
	uint64_t points = 0;

	(void)marks;
	if (value->type != JSON_STRING)
		return SCHEMA_MET;
	if (!judge_spend(in, value->string_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	for (uint32_t i = 0; i < value->string_len; i++)
		points += ((unsigned char)value->string[i] & 0xc0) != 0x80;
	return judge_bool(in, node, part, at,
			  part->keyword == KEYWORD_MAX_LENGTH ? points <= part->number
							      : points >= part->number);
}

/* Of items or members. */
enum schema_verdict judge_count(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				unsigned char *marks)
{
	bool items = part->keyword == KEYWORD_MAX_ITEMS || part->keyword == KEYWORD_MIN_ITEMS;
	bool max = part->keyword == KEYWORD_MAX_ITEMS || part->keyword == KEYWORD_MAX_PROPERTIES;
	uint64_t count = at->value->count;

	(void)marks;
	if (at->value->type != (items ? JSON_ARRAY : JSON_OBJECT))
		return SCHEMA_MET;
	return judge_bool(in, node, part, at, max ? count <= part->number : count >= part->number);
}

enum schema_verdict judge_format(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	(void)marks;
	if (at->value->type != JSON_STRING)
		return SCHEMA_MET;
	if (!judge_spend(in, 4 * (uint64_t)at->value->string_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	switch (part->format(at->value->string, at->value->string_len)) {
	case FORMAT_IS: return SCHEMA_MET;
	case FORMAT_OPEN:
		return judge_open(in, node, part, at, "a name in Punycode can't be judged");
	case FORMAT_IS_NOT: break;
	}
	return judge_broken(in, node, part, at);
}

/* Says nothing where the text differs: that may be right. */
enum schema_verdict judge_pattern(struct judging *in, const struct schema_node *node,
				  const struct schema_part *part, const struct place *at,
				  const struct pattern *pattern, const char *text, size_t len)
{
	switch (pattern_match(pattern, text, len, &in->steps_left)) {
	case PATTERN_MATCHES: return SCHEMA_MET;
	case PATTERN_DIFFERS: return SCHEMA_BROKEN;
	case PATTERN_UNJUDGED:
	case PATTERN_VERDICT__MAX: break;
	}
	return judge_open(in, node, part, at, "the pattern takes too long");
}

enum schema_verdict judge_pattern_keyword(struct judging *in, const struct schema_node *node,
					  const struct schema_part *part, const struct place *at,
					  unsigned char *marks)
{
	(void)marks;
	if (at->value->type != JSON_STRING)
		return SCHEMA_MET;
	enum schema_verdict verdict = judge_pattern(in, node, part, at, part->patterns[0],
						    at->value->string, at->value->string_len);
	return verdict == SCHEMA_BROKEN ? judge_broken(in, node, part, at) : verdict;
}
