/* check.c: whether a check holds. Reading them is check_read.c's. */
#include "core/check.h"

#include <string.h>

#include "base/json_number.h"
#include "core/words.h"

static const char *const kind_names[CHECK_KIND__MAX] = {
	[CHECK_EQUALS] = "equals",	   [CHECK_IN] = "in",
	[CHECK_MATCHES] = "matches",	   [CHECK_RANGE] = "min, max",
	[CHECK_MAX_LENGTH] = "max_length", [CHECK_EQUALS_INPUT] = "equals_input",
};

static enum check_verdict verdict_of(bool holds)
{
	return holds ? CHECK_HOLDS : CHECK_BROKEN;
}

static bool in_list(const struct json_value *list, const struct json_value *at)
{
	for (const struct json_value *value = list->child; value; value = value->next)
		if (json_equal(value, at))
			return true;
	return false;
}

static enum check_verdict judge_pattern(const struct pattern *pattern, const struct json_value *at,
					uint64_t *steps_left)
{
	if (at->type != JSON_STRING)
		return CHECK_BROKEN;
	switch (pattern_match(pattern, at->string, at->string_len, steps_left)) {
	case PATTERN_MATCHES: return CHECK_HOLDS;
	case PATTERN_DIFFERS: return CHECK_BROKEN;
	case PATTERN_UNJUDGED:
	case PATTERN_VERDICT__MAX: break;
	}
	return CHECK_UNJUDGED;
}

static bool in_range(const struct check *check, const struct json_value *at)
{
	if (at->type != JSON_NUMBER)
		return false;
	struct json_decimal number = json_number_decimal(at), bound;

	if (check->min) {
		bound = json_number_decimal(check->min);
		if (json_number_compare(&number, &bound) < 0)
			return false;
	}
	if (check->max) {
		bound = json_number_decimal(check->max);
		if (json_number_compare(&number, &bound) > 0)
			return false;
	}
	return true;
}

/* A code point is each byte that doesn't continue one: the scanner has let no broken UTF-8 by. */
static bool short_enough(const struct json_value *at, int64_t max_length)
{
	int64_t length = 0;

	if (at->type != JSON_STRING)
		return false;
	for (uint32_t i = 0; i < at->string_len; i++)
		length += ((unsigned char)at->string[i] & 0xc0) != 0x80;
	return length <= max_length;
}

static bool equals_input(const struct check *check, const struct json_value *at,
			 const struct json_value *input)
{
	const struct json_value *given =
		input ? json_at(input, check->value->string, check->value->string_len) : NULL;

	return given && json_equal(given, at);
}

static enum check_verdict judge(const struct check *check, const struct json_value *document,
				const struct json_value *input, uint64_t *steps_left)
{
	const struct json_value *at =
		json_at(document, check->pointer->string, check->pointer->string_len);

	if (!at)
		return CHECK_BROKEN;
	switch (check->kind) {
	case CHECK_EQUALS: return verdict_of(json_equal(check->value, at));
	case CHECK_IN: return verdict_of(in_list(check->value, at));
	case CHECK_MATCHES: return judge_pattern(check->pattern, at, steps_left);
	case CHECK_RANGE: return verdict_of(in_range(check, at));
	case CHECK_MAX_LENGTH: return verdict_of(short_enough(at, check->max_length));
	case CHECK_EQUALS_INPUT: return verdict_of(equals_input(check, at, input));
	case CHECK_KIND__MAX: break;
	}
	return CHECK_UNJUDGED;
}

void check_add_name(const struct check *check, struct text *out)
{
	text_addf(out, "%s at ", kind_names[check->kind]);
	words_add_name(out, check->pointer->string, check->pointer->string_len);
}

enum check_verdict check_list_judge(const struct check_list *list,
				    const struct json_value *document,
				    const struct json_value *input, struct text *why)
{
	uint64_t steps_left = CHECKS_STEPS(document->raw_len);
	const struct check *unjudged = NULL;

	for (size_t i = 0; i < list->len; i++) {
		switch (judge(&list->list[i], document, input, &steps_left)) {
		case CHECK_HOLDS: break;
		case CHECK_BROKEN:
			text_add_str(why, "a check doesn't hold: ");
			check_add_name(&list->list[i], why);
			return CHECK_BROKEN;
		case CHECK_UNJUDGED:
		case CHECK_VERDICT__MAX: unjudged = unjudged ? unjudged : &list->list[i]; break;
		}
	}
	if (!unjudged)
		return CHECK_HOLDS;
	text_add_str(why, "a check can't be judged: ");
	check_add_name(unjudged, why);
	return CHECK_UNJUDGED;
}

const struct check *check_list_any(const struct check_list *list, const struct json_value *document,
				   const struct json_value *input)
{
	uint64_t steps_left = CHECKS_STEPS(document->raw_len);

	for (size_t i = 0; i < list->len; i++)
		if (judge(&list->list[i], document, input, &steps_left) != CHECK_BROKEN)
			return &list->list[i];
	return NULL;
}
