/* intent.c: every member of a create, checked, and the fingerprint that tells one intent from
 * another. */
#include "core/intent.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/timestamp.h"

#define METADATA_MAX_MEMBERS 64
#define METADATA_MAX_BYTES 16384     /* names and values together, unescaped */
#define METADATA_MAX_RAW_BYTES 65536 /* as written, with its blanks and escapes: lists carry it */

enum member {
	MEMBER_CONTRACT,
	MEMBER_PROVIDER,
	MEMBER_INPUT,
	MEMBER_MAX_ATTEMPTS,
	MEMBER_NOT_BEFORE,
	MEMBER_EXPIRES_AT,
	MEMBER_DEADLINE_AT,
	MEMBER_METADATA,
	MEMBER__MAX
};

static const char *const member_names[MEMBER__MAX] = {
	[MEMBER_CONTRACT] = "contract",
	[MEMBER_PROVIDER] = "provider",
	[MEMBER_INPUT] = "input",
	[MEMBER_MAX_ATTEMPTS] = "max_attempts",
	[MEMBER_NOT_BEFORE] = "not_before",
	[MEMBER_EXPIRES_AT] = "expires_at",
	[MEMBER_DEADLINE_AT] = "deadline_at",
	[MEMBER_METADATA] = "metadata",
};

struct reading {
	const struct json_value *members[MEMBER__MAX]; /* NULL: left out */
	struct flaws *flaws;
};

static void wrong(struct reading *r, enum member member, const char *why)
{
	const char *name = member_names[member];

	flaws_add(r->flaws, "", name, strlen(name), "%s", why);
}

static enum member member_of(const struct json_value *value)
{
	enum member m = 0;

	while (m < MEMBER__MAX && (strlen(member_names[m]) != value->name_len ||
				   memcmp(member_names[m], value->name, value->name_len) != 0))
		m++;
	return m;
}

/* Sorts the body's members; null in an optional one counts as left out. */
static void find_members(struct reading *r, const struct json_value *root)
{
	for (const struct json_value *v = root->child; v; v = v->next) {
		enum member m = member_of(v);

		if (m == MEMBER__MAX)
			flaws_add(r->flaws, "", v->name, v->name_len, "there is no such member");
		else if (v->type != JSON_NULL || m == MEMBER_INPUT)
			r->members[m] = v;
	}
}

static void read_name(struct reading *r, enum member member, char name_out[NAME_MAX_LEN + 1])
{
	const struct json_value *v = r->members[member];

	if (!v)
		return;
	if (v->type != JSON_STRING) {
		wrong(r, member, "must be a string");
	} else if (!name_valid(v->string, v->string_len)) {
		wrong(r, member,
		      "must be 1 to 64 of a-z, 0-9, '-', '_' and '.', and begin with a letter or "
		      "digit");
	} else {
		memcpy(name_out, v->string, v->string_len);
		name_out[v->string_len] = '\0';
	}
}

static void read_target(struct reading *r, struct intent *intent)
{
	read_name(r, MEMBER_CONTRACT, intent->contract);
	read_name(r, MEMBER_PROVIDER, intent->provider);
	if (r->members[MEMBER_CONTRACT] && r->members[MEMBER_PROVIDER])
		wrong(r, MEMBER_PROVIDER,
		      "can't stand beside contract: a job names one of the two");
	else if (!r->members[MEMBER_CONTRACT] && !r->members[MEMBER_PROVIDER])
		flaws_add(r->flaws, "", NULL, 0, "one of contract and provider is required");
}

static void read_input(struct reading *r, struct intent *intent)
{
	const struct json_value *v = r->members[MEMBER_INPUT];

	if (!v) {
		wrong(r, MEMBER_INPUT, "is required");
		return;
	}
	intent->input = v->raw;
	intent->input_len = v->raw_len;
}

static void read_max_attempts(struct reading *r, struct intent *intent)
{
	const struct json_value *v = r->members[MEMBER_MAX_ATTEMPTS];
	int64_t number = INTENT_MAX_ATTEMPTS_DEFAULT;

	if (v && !json_to_i64(v, 1, 100, &number))
		wrong(r, MEMBER_MAX_ATTEMPTS, "must be an integer from 1 to 100");
	intent->max_attempts = (uint32_t)number;
}

/* The instant 0 is how "none" is kept, so it is refused rather than forgotten. */
static int64_t read_time(struct reading *r, enum member member)
{
	const struct json_value *v = r->members[member];
	const char *why;
	int64_t us = 0;

	if (!v)
		return 0;
	if (v->type != JSON_STRING)
		why = "must be a string: a time of RFC 3339";
	else
		why = timestamp_parse(v->string, v->string_len, &us);
	if (!why && us == 0)
		why = "1970-01-01T00:00:00Z can't be kept";
	if (why)
		wrong(r, member, why);
	return us;
}

static void read_metadata(struct reading *r, struct intent *intent)
{
	const struct json_value *v = r->members[MEMBER_METADATA];
	size_t bytes = 0;

	intent->metadata = "{}";
	intent->metadata_len = 2;
	if (!v)
		return;
	if (v->type != JSON_OBJECT) {
		wrong(r, MEMBER_METADATA, "must be an object of strings");
		return;
	}
	for (const struct json_value *m = v->child; m; m = m->next) {
		if (m->type != JSON_STRING)
			flaws_add(r->flaws, "/metadata", m->name, m->name_len, "must be a string");
		bytes += (size_t)m->name_len + m->string_len;
	}
	if (v->count > METADATA_MAX_MEMBERS)
		wrong(r, MEMBER_METADATA, "has more than 64 members");
	if (bytes > METADATA_MAX_BYTES)
		wrong(r, MEMBER_METADATA, "is larger than 16384 bytes (names and values together)");
	if (v->raw_len > METADATA_MAX_RAW_BYTES)
		wrong(r, MEMBER_METADATA, "is longer than 65536 bytes as written");
	intent->metadata = v->raw;
	intent->metadata_len = v->raw_len;
}

/* A JSON array of every member in canonical form, defaults filled in. Its places are fixed and JSON
 * can't be cut in two ways, so that equal bytes mean equal intents. Names need no escapes. */
static enum rc fingerprint(const struct reading *r, struct intent *intent)
{
	const struct json_value *metadata = r->members[MEMBER_METADATA];
	struct text form;

	text_init(&form, 2 * (intent->input_len + intent->metadata_len) + 512);
	text_addf(&form,
		  "[\"intent-1\",\"%s\",\"%s\",%" PRIu32 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
		  intent->contract, intent->provider, intent->max_attempts, intent->not_before_us,
		  intent->expires_us, intent->deadline_us);
	json_canon(r->members[MEMBER_INPUT], &form);
	text_add_str(&form, ",");
	if (metadata)
		json_canon(metadata, &form);
	else
		text_add_str(&form, "{}");
	text_add_str(&form, "]");
	if (!text_ok(&form)) {
		text_release(&form);
		return RC_FAULT;
	}
	digest_sha256(form.bytes, form.len, intent->fingerprint);
	text_release(&form);
	return RC_OK;
}

enum rc intent_read(const struct json_value *root, struct intent *intent_out, struct flaws *flaws)
{
	struct reading r = { .flaws = flaws };

	*intent_out = (struct intent){ .max_attempts = INTENT_MAX_ATTEMPTS_DEFAULT };
	if (root->type != JSON_OBJECT) {
		flaws_add(flaws, "", NULL, 0, "must be an object");
		return RC_INVALID;
	}
	find_members(&r, root);
	read_target(&r, intent_out);
	read_input(&r, intent_out);
	read_max_attempts(&r, intent_out);
	intent_out->not_before_us = read_time(&r, MEMBER_NOT_BEFORE);
	intent_out->expires_us = read_time(&r, MEMBER_EXPIRES_AT);
	intent_out->deadline_us = read_time(&r, MEMBER_DEADLINE_AT);
	read_metadata(&r, intent_out);
	if (flaws->count > 0)
		return RC_INVALID;
	return fingerprint(&r, intent_out);
}
