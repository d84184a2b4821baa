#include "core/provider_def.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fill.h"
#include "core/provider_rules.h"

struct reading {
	struct provider_def *def;
	struct flaws *flaws;
	bool no_memory;
};

/* A member of the definition or of one of its objects. */
struct field {
	const char *object; /* pointer of the object that it belongs to: "" or "/retry" */
	const char *name;
	void (*read)(struct reading *in, const struct field *field, const struct json_value *value);
	size_t offset; /* in struct provider_def */
	uint32_t min, max;
};

static const struct field *field_find(const char *object, const struct json_value *member);

static void *target(const struct reading *in, const struct field *field)
{
	return (char *)in->def + field->offset;
}

static void complain(struct reading *in, const struct field *field, const char *detail)
{
	flaws_add(in->flaws, field->object, field->name, strlen(field->name), "%s", detail);
}

/* Puts a copy in place of what stands in *place, the default. */
static void replace(struct reading *in, char **place, const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy) {
		in->no_memory = true;
		return;
	}
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	free(*place);
	*place = copy;
}

static bool is_string(struct reading *in, const struct field *field, const struct json_value *value)
{
	if (value->type != JSON_STRING)
		complain(in, field, "must be a string");
	else if (memchr(value->string, '\0', value->string_len))
		complain(in, field, "must not hold U+0000");
	else
		return true;
	return false;
}

static void read_checked(struct reading *in, const struct field *field,
			 const struct json_value *value,
			 const char *(*find_flaw)(const char *text, size_t len))
{
	if (!is_string(in, field, value))
		return;

	const char *flaw = find_flaw(value->string, value->string_len);
	if (flaw)
		complain(in, field, flaw);
	else
		replace(in, target(in, field), value->string, value->string_len);
}

static void read_url(struct reading *in, const struct field *field, const struct json_value *value)
{
	read_checked(in, field, value, provider_url_flaw);
}

static void read_method(struct reading *in, const struct field *field,
			const struct json_value *value)
{
	read_checked(in, field, value, provider_method_flaw);
}

/* What says who sends and what, and so can't carry a key. */
static const char *key_header_flaw(const char *name, size_t len)
{
	static const char *const taken[] = { "Content-Type", "Content-Encoding", "Authorization",
					     "Cookie", "Accept" };

	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		if (len == strlen(taken[i]) && strncasecmp(name, taken[i], len) == 0)
			return "has another meaning; a key can't be put there";
	return provider_header_name_flaw(name, len);
}

static void read_key_header(struct reading *in, const struct field *field,
			    const struct json_value *value)
{
	read_checked(in, field, value, key_header_flaw);
}

static const char *pointer_flaw(const char *text, size_t len)
{
	return json_pointer_valid(text, len) ? NULL : "must be a JSON pointer (RFC 6901)";
}

static void read_pointer(struct reading *in, const struct field *field,
			 const struct json_value *value)
{
	read_checked(in, field, value, pointer_flaw);
}

static void read_as(struct reading *in, const struct field *field, const struct json_value *value)
{
	if (value->type != JSON_STRING ||
	    !result_as_parse(value->string, value->string_len, target(in, field)))
		complain(in, field, "must be \"value\", \"json\" or \"text\"");
}

static void read_bool(struct reading *in, const struct field *field, const struct json_value *value)
{
	if (value->type == JSON_TRUE || value->type == JSON_FALSE)
		*(bool *)target(in, field) = value->type == JSON_TRUE;
	else
		complain(in, field, "must be true or false");
}

static void read_u32(struct reading *in, const struct field *field, const struct json_value *value)
{
	int64_t number;

	if (json_to_i64(value, field->min, field->max, &number))
		*(uint32_t *)target(in, field) = (uint32_t)number;
	else
		flaws_add(in->flaws, field->object, field->name, strlen(field->name),
			  "must be a whole number from %" PRIu32 " to %" PRIu32, field->min,
			  field->max);
}

static void members_read(struct reading *in, const char *object, const struct json_value *value)
{
	for (const struct json_value *member = value->child; member; member = member->next) {
		const struct field *field = field_find(object, member);

		if (field)
			field->read(in, field, member);
		else
			flaws_add(in->flaws, object, member->name, member->name_len,
				  "unknown member \"%.*s\"",
				  member->name_len < 256 ? (int)member->name_len : 256,
				  member->name);
	}
}

static bool is_object(struct reading *in, const struct field *field, const struct json_value *value)
{
	if (value->type != JSON_OBJECT)
		complain(in, field, "must be an object");
	return value->type == JSON_OBJECT;
}

static void read_object(struct reading *in, const struct field *field,
			const struct json_value *value)
{
	char object[32] = "/";

	if (!is_object(in, field, value))
		return;
	if (field->offset != 0)
		*(bool *)target(in, field) = true;
	strncat(object, field->name, sizeof object - 2);
	members_read(in, object, value);
}

static void read_filled_url(struct reading *in, const struct field *field,
			    const struct json_value *value)
{
	read_checked(in, field, value, provider_filled_url_flaw);
}

static const char *status_word_flaw(const struct reading *in, const struct json_value *member,
				    enum status_means *means_out)
{
	if (memchr(member->name, '\0', member->name_len))
		return "must not be named with U+0000";
	if (member->type != JSON_STRING ||
	    !status_means_parse(member->string, member->string_len, means_out))
		return "must be \"succeeded\", \"failed\" or \"working\"";
	return in->def->status_words_len == PROVIDER_STATUS_WORDS_MAX
		       ? "is one word too many: 64 are allowed"
		       : NULL;
}

static void read_status_map(struct reading *in, const struct field *field,
			    const struct json_value *value)
{
	if (!is_object(in, field, value))
		return;
	for (const struct json_value *member = value->child; member; member = member->next) {
		struct provider_status_word *word =
			&in->def->status_words[in->def->status_words_len];
		enum status_means means = STATUS_WORKING;
		const char *flaw = status_word_flaw(in, member, &means);

		if (flaw) {
			flaws_add(in->flaws, "/status/map", member->name, member->name_len, "%s",
				  flaw);
			continue;
		}
		word->means = means;
		replace(in, &word->word, member->name, member->name_len);
		if (in->no_memory)
			return;
		in->def->status_words_len++;
	}
}

static bool header_known(const struct provider_def *def, const char *name, size_t len)
{
	for (size_t i = 0; i < def->headers_len; i++)
		if (strlen(def->headers[i].name) == len &&
		    strncasecmp(def->headers[i].name, name, len) == 0)
			return true;
	return false;
}

/* What is wrong with one member of `headers`. A value may be a secret, so no sentence repeats it.
 */
static const char *header_flaw(const struct reading *in, const struct json_value *member)
{
	const char *flaw = provider_header_name_flaw(member->name, member->name_len);

	if (flaw)
		return flaw;
	if (header_known(in->def, member->name, member->name_len))
		return "is named twice (case doesn't count)";
	if (member->type != JSON_STRING)
		return "must be a string";
	flaw = provider_header_value_flaw(member->string, member->string_len);
	if (flaw)
		return flaw;
	return in->def->headers_len == PROVIDER_HEADERS_MAX
		       ? "is one header too many: 32 are allowed"
		       : NULL;
}

static void read_headers(struct reading *in, const struct field *field,
			 const struct json_value *value)
{
	if (!is_object(in, field, value))
		return;
	for (const struct json_value *member = value->child; member; member = member->next) {
		const char *flaw = header_flaw(in, member);

		if (flaw) {
			flaws_add(in->flaws, "/headers", member->name, member->name_len, "%s",
				  flaw);
			continue;
		}
		struct provider_header *header = &in->def->headers[in->def->headers_len];
		replace(in, &header->name, member->name, member->name_len);
		replace(in, &header->value, member->string, member->string_len);
		if (in->no_memory)
			return;
		in->def->headers_len++;
	}
}

/* A status of three digits, or `empty`. */
static bool status_parse(const char *name, size_t len, uint32_t *status_out)
{
	if (len == strlen("empty") && memcmp(name, "empty", len) == 0) {
		*status_out = 0;
		return true;
	}
	if (len != 3 || name[0] < '1' || name[0] > '5')
		return false;
	for (size_t i = 1; i < len; i++)
		if (name[i] < '0' || name[i] > '9')
			return false;
	*status_out = (uint32_t)((name[0] - '0') * 100 + (name[1] - '0') * 10 + (name[2] - '0'));
	return true;
}

static const char *outcome_flaw(const struct json_value *member,
				struct provider_outcome *outcome_out)
{
	if (!status_parse(member->name, member->name_len, &outcome_out->status))
		return "must be named by a status from 100 to 599 or \"empty\"";
	if (member->type != JSON_STRING ||
	    !override_parse(member->string, member->string_len, &outcome_out->means))
		return "must be \"succeeded\", \"failed\", \"retry\" or \"unknown\"";
	return NULL;
}

static void read_outcomes(struct reading *in, const struct field *field,
			  const struct json_value *value)
{
	if (!is_object(in, field, value))
		return;
	for (const struct json_value *member = value->child; member; member = member->next) {
		struct provider_outcome outcome;
		const char *flaw = outcome_flaw(member, &outcome);

		if (!flaw && in->def->outcomes_len == PROVIDER_OUTCOMES_MAX)
			flaw = "is one outcome too many: 64 are allowed";
		if (flaw)
			flaws_add(in->flaws, "/outcomes", member->name, member->name_len, "%s",
				  flaw);
		else
			in->def->outcomes[in->def->outcomes_len++] = outcome;
	}
}

#define AT(member) offsetof(struct provider_def, member)

static const struct field fields[] = {
	{ "", "url", read_url, AT(url), 0, 0 },
	{ "", "method", read_method, AT(method), 0, 0 },
	{ "", "headers", read_headers, 0, 0, 0 },
	{ "", "connect_timeout_ms", read_u32, AT(connect_timeout_ms), 1, 600000 },
	{ "", "timeout_ms", read_u32, AT(timeout_ms), 1, 86400000 },
	{ "", "max_in_flight", read_u32, AT(max_in_flight), 1, 100000 },
	{ "", "max_result_bytes", read_u32, AT(max_result_bytes), 1, 67108864 },
	{ "", "idempotency", read_object, 0, 0, 0 },
	{ "/idempotency", "header", read_key_header, AT(key_header), 0, 0 },
	{ "/idempotency", "honoured", read_bool, AT(key_honoured), 0, 0 },
	{ "", "side_effects", read_bool, AT(side_effects), 0, 0 },
	{ "", "outcomes", read_outcomes, 0, 0, 0 },
	{ "", "retry", read_object, 0, 0, 0 },
	{ "/retry", "base_ms", read_u32, AT(retry_base_ms), 1, 86400000 },
	{ "/retry", "max_ms", read_u32, AT(retry_max_ms), 1, 86400000 },
	{ "", "result", read_object, 0, 0, 0 },
	{ "/result", "pointer", read_pointer, AT(result_pointer), 0, 0 },
	{ "/result", "as", read_as, AT(result_as), 0, 0 },
	{ "", "enabled", read_bool, AT(enabled), 0, 0 },
	{ "", "accepted", read_object, AT(has_accepted), 0, 0 },
	{ "/accepted", "reference", read_pointer, AT(accepted_reference), 0, 0 },
	{ "/accepted", "deadline_ms", read_u32, AT(accepted_deadline_ms), 1000, 2592000000u },
	{ "", "status", read_object, AT(has_status), 0, 0 },
	{ "/status", "url", read_filled_url, AT(status_url), 0, 0 },
	{ "/status", "state", read_pointer, AT(status_state), 0, 0 },
	{ "/status", "map", read_status_map, 0, 0, 0 },
	{ "/status", "result", read_pointer, AT(status_result), 0, 0 },
	{ "", "cancel", read_object, AT(has_cancel), 0, 0 },
	{ "/cancel", "url", read_filled_url, AT(cancel_url), 0, 0 },
	{ "/cancel", "method", read_method, AT(cancel_method), 0, 0 },
	{ "/cancel", "proves", read_bool, AT(cancel_proves), 0, 0 },
};

static const struct field *field_find(const char *object, const struct json_value *member)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].object, object) == 0 &&
		    strlen(fields[i].name) == member->name_len &&
		    memcmp(fields[i].name, member->name, member->name_len) == 0)
			return &fields[i];
	return NULL;
}

static void defaults_set(struct reading *in)
{
	*in->def = (struct provider_def){
		.connect_timeout_ms = 5000,
		.timeout_ms = 30000,
		.max_in_flight = 64,
		.max_result_bytes = 1048576,
		.side_effects = true,
		.retry_base_ms = 1000,
		.retry_max_ms = 300000,
		.enabled = true,
		.accepted_deadline_ms = 3600000,
	};
	replace(in, &in->def->method, "POST", strlen("POST"));
	replace(in, &in->def->key_header, "Idempotency-Key", strlen("Idempotency-Key"));
	replace(in, &in->def->result_pointer, "", 0);
	replace(in, &in->def->status_result, "", 0);
	replace(in, &in->def->cancel_method, "POST", strlen("POST"));
}

static void need(struct reading *in, bool there, const char *object, const char *member)
{
	if (!there)
		flaws_add(in->flaws, object, member, strlen(member), "is required");
}

uint32_t provider_def_question_ms(const struct provider_def *def)
{
	return def->timeout_ms < PROVIDER_QUESTION_MAX_MS ? def->timeout_ms
							  : PROVIDER_QUESTION_MAX_MS;
}

bool provider_def_needs_reference(const char *url)
{
	bool broken;

	return url && (fill_names(url, strlen(url), &broken) & 1u << FILL_REFERENCE);
}

bool provider_def_can_ask(const struct provider_def *def, bool named)
{
	bool status = def->has_status && (named || !provider_def_needs_reference(def->status_url));

	return status || def->key_honoured;
}

/* A URL that names the provider's reference needs a row that says where it is. */
static void check_reference(struct reading *in, const char *object, const char *url)
{
	if (provider_def_needs_reference(url) && !in->def->accepted_reference)
		flaws_add(in->flaws, object, "url", strlen("url"),
			  "names {{reference}}, but accepted.reference doesn't say where that is");
}

/* The job's id or the key would also reach a later attempt at the same provider. */
static void check_names_attempt(struct reading *in, const char *url)
{
	const unsigned int own = 1u << FILL_REFERENCE | 1u << FILL_ATTEMPT_ID;
	bool broken;

	if (url && (fill_names(url, strlen(url), &broken) & ~own))
		flaws_add(in->flaws, "/cancel", "url", strlen("url"),
			  "may name only {{reference}} and {{attempt.id}}, which are this "
			  "attempt's own");
}

static void check_ways_out(struct reading *in)
{
	const struct provider_def *def = in->def;

	if (def->has_status) {
		need(in, def->status_url, "/status", "url");
		need(in, def->status_state, "/status", "state");
		need(in, def->status_words_len > 0, "/status", "map");
		check_reference(in, "/status", def->status_url);
	}
	if (def->has_cancel) {
		need(in, def->cancel_url, "/cancel", "url");
		check_reference(in, "/cancel", def->cancel_url);
		check_names_attempt(in, def->cancel_url);
	}
}

/* What no single member shows. */
static void check_together(struct reading *in, const struct json_value *json)
{
	const struct provider_def *def = in->def;

	if (!json_member(json, "url"))
		flaws_add(in->flaws, "", "url", strlen("url"), "is required");
	if (def->retry_max_ms < def->retry_base_ms)
		flaws_add(in->flaws, "/retry", "max_ms", strlen("max_ms"),
			  "must not be less than base_ms");
	for (size_t i = 0; i < def->headers_len; i++)
		if (strcasecmp(def->headers[i].name, def->key_header) == 0)
			flaws_add(in->flaws, "/headers", def->headers[i].name,
				  strlen(def->headers[i].name),
				  "is the header of the idempotency key, which onejob sets itself");
}

enum rc provider_def_read(const struct json_value *json, struct provider_def *def_out,
			  struct flaws *flaws)
{
	struct provider_def def;
	struct reading in = { .def = &def, .flaws = flaws };
	size_t flaws_before = flaws->count;

	defaults_set(&in);
	if (in.no_memory)
		goto fail;
	if (json->type != JSON_OBJECT) {
		flaws_add(flaws, "", NULL, 0, "must be an object");
		goto fail;
	}
	if (json->raw_len > PROVIDER_MAX_BYTES) {
		flaws_add(flaws, "", NULL, 0, "is longer than %d bytes", PROVIDER_MAX_BYTES);
		goto fail;
	}
	members_read(&in, "", json);
	if (in.no_memory)
		goto fail;
	check_together(&in, json);
	check_ways_out(&in);
	if (flaws->count > flaws_before)
		goto fail;
	*def_out = def;
	return RC_OK;
fail:
	provider_def_release(&def);
	return in.no_memory ? RC_FAULT : RC_INVALID;
}
