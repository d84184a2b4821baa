/* schema_judge_array.c: keywords for arrays. A false schema among the items is told by itself. */
#include "core/schema_judging.h"

#include <stdlib.h>
#include <string.h>

#define TOO_COSTLY "it takes too many steps to judge"

/* An item's canonical form. */
struct form {
	size_t begin, len;
};

struct sorting {
	struct judging *in;
	const char *bytes;
	bool spent;
};

static int compare_forms(const void *a, const void *b, void *arg)
{
	const struct form *left = a, *right = b;
	struct sorting *sorting = arg;
	size_t len = left->len < right->len ? left->len : right->len;

	if (sorting->spent || !judge_spend(sorting->in, 1 + len / 8)) {
		sorting->spent = true;
		return 0;
	}
	return judge_compare(sorting->bytes + left->begin, left->len, sorting->bytes + right->begin,
			     right->len);
}

static bool forms_write(const struct json_value *array, struct text *text, struct form *forms)
{
	size_t i = 0;

	for (const struct json_value *item = array->child; item; item = item->next, i++) {
		forms[i].begin = text->len;
		json_canon(item, text);
		forms[i].len = text->len - forms[i].begin;
	}
	return text_ok(text);
}

/* Equal values have equal forms; sorted, they are neighbours. */
static enum schema_verdict unique(struct judging *in, const struct json_value *array,
				  struct form *forms, const struct text *text)
{
	struct sorting sorting = { .in = in, .bytes = text->bytes };
	bool twice = false;

	qsort_r(forms, array->count, sizeof *forms, compare_forms, &sorting);
	for (size_t i = 1; i < array->count && !twice; i++)
		twice = forms[i - 1].len == forms[i].len &&
			compare_forms(&forms[i - 1], &forms[i], &sorting) == 0;
	if (sorting.spent)
		return SCHEMA_UNJUDGED;
	return twice ? SCHEMA_BROKEN : SCHEMA_MET;
}

enum schema_verdict judge_unique(struct judging *in, const struct schema_node *node,
				 const struct schema_part *part, const struct place *at,
				 unsigned char *marks)
{
	const struct json_value *array = at->value;
	enum schema_verdict verdict = SCHEMA_UNJUDGED;
	struct text text;

	(void)marks;
	if (array->type != JSON_ARRAY || array->count < 2 || part->value->type == JSON_FALSE)
		return SCHEMA_MET;
	if (!judge_spend(in, 4 * (uint64_t)array->raw_len))
		return judge_open(in, node, part, at, TOO_COSTLY);
	text_init(&text, 2 * (size_t)array->raw_len + 64);
	struct form *forms = malloc(array->count * sizeof *forms);
	if (forms && forms_write(array, &text, forms))
		verdict = unique(in, array, forms, &text);
	else
		in->no_memory = true;
	free(forms);
	text_release(&text);
	if (verdict == SCHEMA_UNJUDGED)
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, at, verdict == SCHEMA_MET);
}

enum schema_verdict judge_prefix_items(struct judging *in, const struct schema_node *node,
				       const struct schema_part *part, const struct place *at,
				       unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;
	size_t i = 0;

	if (at->value->type != JSON_ARRAY)
		return SCHEMA_MET;
	for (const struct json_value *item = at->value->child;
	     item && i < part->count && verdict != SCHEMA_BROKEN; item = item->next, i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		verdict = judge_and(verdict,
				    judge_child(in, part->nodes[i], at, item, NULL, (int64_t)i));
		judge_mark(marks, i, SCHEMA_MET);
	}
	return verdict;
}

/* Those behind the ones that prefixItems has. */
enum schema_verdict judge_items(struct judging *in, const struct schema_node *node,
				const struct schema_part *part, const struct place *at,
				unsigned char *marks)
{
	const struct schema_part *prefix = schema_part_of(node, KEYWORD_PREFIX_ITEMS);
	size_t first = prefix ? prefix->count : 0, i = 0;
	enum schema_verdict verdict = SCHEMA_MET;

	if (at->value->type != JSON_ARRAY)
		return SCHEMA_MET;
	for (const struct json_value *item = at->value->child; item && verdict != SCHEMA_BROKEN;
	     item = item->next, i++) {
		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (i < first)
			continue;
		verdict = judge_and(verdict,
				    judge_child(in, part->nodes[0], at, item, NULL, (int64_t)i));
		judge_mark(marks, i, SCHEMA_MET);
	}
	return verdict;
}

/* Between `met` and `met` + `open` items are contained. */
static enum schema_verdict within(uint64_t met, uint64_t open, uint64_t min, uint64_t max)
{
	if (met + open < min || met > max)
		return SCHEMA_BROKEN;
	return met >= min && met + open <= max ? SCHEMA_MET : SCHEMA_UNJUDGED;
}

enum schema_verdict judge_contains(struct judging *in, const struct schema_node *node,
				   const struct schema_part *part, const struct place *at,
				   unsigned char *marks)
{
	const struct schema_part *min = schema_part_of(node, KEYWORD_MIN_CONTAINS);
	const struct schema_part *max = schema_part_of(node, KEYWORD_MAX_CONTAINS);
	uint64_t met = 0, open = 0;
	size_t i = 0;

	if (at->value->type != JSON_ARRAY)
		return SCHEMA_MET;
	in->quiet++;
	for (const struct json_value *item = at->value->child; item; item = item->next, i++) {
		if (!judge_spend(in, 1)) { /* nor will anybody be able to ask for the marks */
			open += at->value->count - i;
			break;
		}
		enum schema_verdict verdict =
			judge_child(in, part->nodes[0], at, item, NULL, (int64_t)i);

		met += verdict == SCHEMA_MET;
		open += verdict == SCHEMA_UNJUDGED;
		judge_mark(marks, i, verdict);
	}
	in->quiet--;
	enum schema_verdict verdict =
		within(met, open, min ? min->number : 1, max ? max->number : UINT64_MAX);
	if (verdict == SCHEMA_UNJUDGED)
		return judge_open(in, node, part, at, TOO_COSTLY);
	return judge_bool(in, node, part, at, verdict == SCHEMA_MET);
}

enum schema_verdict judge_unevaluated_items(struct judging *in, const struct schema_node *node,
					    const struct schema_part *part, const struct place *at,
					    unsigned char *marks)
{
	enum schema_verdict verdict = SCHEMA_MET;
	size_t i = 0;

	if (at->value->type != JSON_ARRAY)
		return SCHEMA_MET;
	for (const struct json_value *item = at->value->child; item && verdict != SCHEMA_BROKEN;
	     item = item->next, i++) {
		enum schema_verdict one = SCHEMA_MET;

		if (!judge_spend(in, 1))
			return judge_open(in, node, part, at, TOO_COSTLY);
		if (marks[i] == MARK_MAYBE) {
			in->quiet++;
			one = judge_child(in, part->nodes[0], at, item, NULL, (int64_t)i);
			in->quiet--;
			if (one == SCHEMA_BROKEN)
				one = SCHEMA_UNJUDGED;
		} else if (marks[i] == MARK_NO) {
			one = judge_child(in, part->nodes[0], at, item, NULL, (int64_t)i);
		}
		verdict = judge_and(verdict, one);
		judge_mark(marks, i, SCHEMA_MET);
	}
	return verdict;
}
