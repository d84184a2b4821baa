/* check_read.c: a list of checks as its author wrote it -> struct check_list. */
#include "core/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_number.h"

#define PATH_MAX_BYTES 512 /* a flaw shows less of it */

struct reading {
	struct check *check;
	struct flaws *flaws;
	char path[PATH_MAX_BYTES]; /* of the check */
	unsigned int kinds;	   /* that have been seen, as bits */
	bool no_memory;
};

static void wrong(struct reading *in, const struct json_value *member, const char *detail)
{
	flaws_add(in->flaws, in->path, member->name, member->name_len, "%s", detail);
}

static bool is_pointer(struct reading *in, const struct json_value *value)
{
	bool valid =
		value->type == JSON_STRING && json_pointer_valid(value->string, value->string_len);

	if (!valid)
		wrong(in, value, "must be a JSON pointer (RFC 6901)");
	return valid;
}

static void read_pointer(struct reading *in, const struct json_value *value)
{
	if (is_pointer(in, value))
		in->check->pointer = value;
}

static void read_equals(struct reading *in, const struct json_value *value)
{
	in->check->value = value;
}

static void read_in(struct reading *in, const struct json_value *value)
{
	if (value->type != JSON_ARRAY || value->count == 0)
		wrong(in, value, "must be an array of one value at least");
	in->check->value = value;
}

static void read_matches(struct reading *in, const struct json_value *value)
{
	char why[PATTERN_WHY_MAX] = "";

	if (value->type != JSON_STRING) {
		wrong(in, value, "must be a string: a regular expression");
		return;
	}
	enum rc rc = pattern_compile(value->string, value->string_len, &in->check->pattern, why);

	if (rc == RC_INVALID)
		flaws_add(in->flaws, in->path, value->name, value->name_len,
			  "is no pattern that can be used: %s", why);
	else if (rc != RC_OK)
		in->no_memory = true;
}

static void read_bound(struct reading *in, const struct json_value *value)
{
	if (value->type != JSON_NUMBER)
		wrong(in, value, "must be a number");
	else if (strncmp(value->name, "min", value->name_len) == 0)
		in->check->min = value;
	else
		in->check->max = value;
}

static void read_max_length(struct reading *in, const struct json_value *value)
{
	if (!json_to_i64(value, 0, JSON_TEXT_MAX_BYTES, &in->check->max_length))
		flaws_add(in->flaws, in->path, value->name, value->name_len,
			  "must be a whole number from 0 to %u", JSON_TEXT_MAX_BYTES);
}

static void read_equals_input(struct reading *in, const struct json_value *value)
{
	if (is_pointer(in, value))
		in->check->value = value;
}

/* CHECK_KIND__MAX: a member that is no kind. */
static const struct row {
	const char *name;
	void (*read)(struct reading *in, const struct json_value *value);
	enum check_kind kind;
} rows[] = {
	{ "pointer", read_pointer, CHECK_KIND__MAX },
	{ "equals", read_equals, CHECK_EQUALS },
	{ "in", read_in, CHECK_IN },
	{ "matches", read_matches, CHECK_MATCHES },
	{ "min", read_bound, CHECK_RANGE },
	{ "max", read_bound, CHECK_RANGE },
	{ "max_length", read_max_length, CHECK_MAX_LENGTH },
	{ "equals_input", read_equals_input, CHECK_EQUALS_INPUT },
};

static const struct row *row_of(const struct json_value *member)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strlen(rows[i].name) == member->name_len &&
		    memcmp(rows[i].name, member->name, member->name_len) == 0)
			return &rows[i];
	return NULL;
}

static void read_members(struct reading *in, const struct json_value *json)
{
	for (const struct json_value *member = json->child; member; member = member->next) {
		const struct row *row = row_of(member);

		if (!row) {
			flaws_add(in->flaws, in->path, member->name, member->name_len,
				  "there is no such member of a check");
			continue;
		}
		if (row->kind != CHECK_KIND__MAX) {
			in->kinds |= 1u << row->kind;
			in->check->kind = row->kind;
		}
		row->read(in, member);
	}
}

static void check_together(struct reading *in, const struct json_value *json)
{
	const struct check *check = in->check;

	if (!json_member(json, "pointer"))
		flaws_add(in->flaws, in->path, "pointer", strlen("pointer"), "is required");
	if (in->kinds == 0 || (in->kinds & (in->kinds - 1)) != 0)
		flaws_add(in->flaws, in->path, NULL, 0,
			  "must have exactly one of equals, in, matches, min and max, max_length, "
			  "equals_input");
	if (!check->min || !check->max)
		return;
	struct json_decimal min = json_number_decimal(check->min);
	struct json_decimal max = json_number_decimal(check->max);

	if (json_number_compare(&min, &max) > 0)
		flaws_add(in->flaws, in->path, "max", strlen("max"), "must not be less than min");
}

static void read_check(struct reading *in, const struct json_value *json)
{
	in->kinds = 0;
	if (json->type != JSON_OBJECT) {
		flaws_add(in->flaws, in->path, NULL, 0, "must be an object");
		return;
	}
	read_members(in, json);
	check_together(in, json);
}

enum rc check_list_read(const struct json_value *json, const char *pointer,
			struct check_list *list_out, struct flaws *flaws)
{
	struct reading in = { .flaws = flaws };
	size_t flaws_before = flaws->count;

	*list_out = (struct check_list){ 0 };
	if (json->type != JSON_ARRAY || json->count > CHECKS_MAX) {
		flaws_add(flaws, pointer, NULL, 0, "must be an array of up to %d checks",
			  CHECKS_MAX);
		return RC_INVALID;
	}
	if (json->count == 0)
		return RC_OK;
	list_out->list = calloc(json->count, sizeof *list_out->list);
	if (!list_out->list)
		return RC_FAULT;
	for (const struct json_value *value = json->child; value && !in.no_memory;
	     value = value->next) {
		snprintf(in.path, sizeof in.path, "%s/%zu", pointer, list_out->len);
		in.check = &list_out->list[list_out->len++];
		read_check(&in, value);
	}
	if (!in.no_memory && flaws->count == flaws_before)
		return RC_OK;
	check_list_release(list_out);
	return in.no_memory ? RC_FAULT : RC_INVALID;
}

void check_list_release(struct check_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		pattern_free(list->list[i].pattern);
	free(list->list);
	*list = (struct check_list){ 0 };
}
