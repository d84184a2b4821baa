/* contract_read.c: a definition's own members. Its routes are contract_routes.c's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/contract_private.h"

#define ROUNDS_DEFAULT 3
#define AGE_DEFAULT_S 604800

static bool named(const struct json_value *member, const char *name)
{
	return strlen(name) == member->name_len &&
	       memcmp(name, member->name, member->name_len) == 0;
}

void contract_wrong(struct contract_reading *in, const char *at, const char *detail)
{
	flaws_add(in->flaws, at, NULL, 0, "%s", detail);
}

static void member_read(struct contract_reading *in, const struct contract_field *fields,
			size_t fields_len, void *into, const char *at,
			const struct json_value *member)
{
	char below[CONTRACT_POINTER_MAX];

	for (size_t i = 0; i < fields_len; i++) {
		if (!named(member, fields[i].name))
			continue;
		snprintf(below, sizeof below, "%s/%s", at, fields[i].name);
		fields[i].read(in, into, below, member);
		return;
	}
	flaws_add(in->flaws, at, member->name, member->name_len, "unknown member \"%.*s\"",
		  member->name_len < 256 ? (int)member->name_len : 256, member->name);
}

void contract_members_read(struct contract_reading *in, const struct contract_field *fields,
			   size_t fields_len, void *into, const char *at,
			   const struct json_value *object)
{
	if (object->type != JSON_OBJECT) {
		contract_wrong(in, at, "must be an object");
		return;
	}
	for (const struct json_value *member = object->child; member; member = member->next)
		member_read(in, fields, fields_len, into, at, member);
	for (size_t i = 0; i < fields_len; i++)
		if (fields[i].required && !json_member(object, fields[i].name))
			flaws_add(in->flaws, at, fields[i].name, strlen(fields[i].name),
				  "is required");
}

void contract_number_read(struct contract_reading *in, const char *at,
			  const struct json_value *value, uint32_t min, uint32_t max,
			  uint32_t *number_out)
{
	int64_t number;

	if (json_to_i64(value, min, max, &number))
		*number_out = (uint32_t)number;
	else
		flaws_add(in->flaws, at, NULL, 0,
			  "must be a whole number from %" PRIu32 " to %" PRIu32, min, max);
}

void contract_checks_read(struct contract_reading *in, const char *at,
			  const struct json_value *value, struct check_list *list_out)
{
	if (check_list_read(value, at, list_out, in->flaws) == RC_FAULT)
		in->no_memory = true;
}

bool contract_pointer_read(struct contract_reading *in, const char *at,
			   const struct json_value *value)
{
	bool valid =
		value->type == JSON_STRING && json_pointer_valid(value->string, value->string_len);

	if (!valid)
		contract_wrong(in, at, "must be a JSON pointer (RFC 6901)");
	return valid;
}

static void read_schema(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	struct contract *contract = into;

	contract->schema_json = value;
	if (schema_compile(value, at, &contract->schema, in->flaws) == RC_FAULT)
		in->no_memory = true;
}

static void read_side_effects(struct contract_reading *in, void *into, const char *at,
			      const struct json_value *value)
{
	struct contract *contract = into;

	if (value->type == JSON_TRUE || value->type == JSON_FALSE)
		contract->side_effects = value->type == JSON_TRUE;
	else
		contract_wrong(in, at, "must be true or false");
}

static void read_checks(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	struct contract *contract = into;

	contract_checks_read(in, at, value, &contract->checks);
}

static void read_routes(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	(void)into;
	contract_routes_read(in, at, value);
}

static void read_policy(struct contract_reading *in, enum policy_on on, const char *at,
			const struct json_value *value)
{
	if (value->type != JSON_STRING ||
	    !policy_parse(value->string, value->string_len, &in->contract->on_failure[on]))
		contract_wrong(in, at, "must be \"retry\", \"next_route\" or \"stop\"");
}

static void read_never_sent(struct contract_reading *in, void *into, const char *at,
			    const struct json_value *value)
{
	(void)into;
	read_policy(in, POLICY_ON_NEVER_SENT, at, value);
}

static void read_refused(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	(void)into;
	read_policy(in, POLICY_ON_REFUSED, at, value);
}

static void read_retry_later(struct contract_reading *in, void *into, const char *at,
			     const struct json_value *value)
{
	(void)into;
	read_policy(in, POLICY_ON_RETRY_LATER, at, value);
}

static void read_violation(struct contract_reading *in, void *into, const char *at,
			   const struct json_value *value)
{
	(void)into;
	read_policy(in, POLICY_ON_VIOLATION, at, value);
}

static void read_on_failure(struct contract_reading *in, void *into, const char *at,
			    const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "never_sent", false, read_never_sent },
		{ "refused", false, read_refused },
		{ "retry_later", false, read_retry_later },
		{ "contract_violation", false, read_violation },
	};

	contract_members_read(in, fields, sizeof fields / sizeof fields[0], into, at, value);
}

static void read_fixtures(struct contract_reading *in, void *into, const char *at,
			  const struct json_value *value)
{
	(void)into;
	contract_fixtures_read(in, at, value);
}

static void read_rounds(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	struct contract *contract = into;

	contract_number_read(in, at, value, 1, CONTRACT_ROUNDS_MAX, &contract->rounds);
}

static void read_max_age(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	struct contract *contract = into;

	contract_number_read(in, at, value, CONTRACT_AGE_MIN_S, CONTRACT_AGE_MAX_S,
			     &contract->max_age_s);
}

static void read_overrides(struct contract_reading *in, void *into, const char *at,
			   const struct json_value *value)
{
	struct contract *contract = into;

	if (value->type == JSON_OBJECT)
		contract->overrides = value;
	else
		contract_wrong(in, at, "must be an object");
}

static void read_certify(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "rounds", false, read_rounds },
		{ "max_age_s", false, read_max_age },
		{ "overrides", false, read_overrides },
	};

	contract_members_read(in, fields, sizeof fields / sizeof fields[0], into, at, value);
}

static void read_definition(struct contract_reading *in, const struct json_value *root)
{
	static const struct contract_field fields[] = {
		{ "result_schema", false, read_schema },
		{ "side_effects", false, read_side_effects },
		{ "checks", false, read_checks },
		{ "routes", true, read_routes },
		{ "on_failure", false, read_on_failure },
		{ "fixtures", false, read_fixtures },
		{ "certify", false, read_certify },
	};

	contract_members_read(in, fields, sizeof fields / sizeof fields[0], in->contract, "", root);
}

/* What isn't told by the definition. A violation after an effect moves nothing by itself. */
static void check_policies(struct contract_reading *in)
{
	struct contract *contract = in->contract;
	const enum policy defaults[POLICY_ON__MAX] = {
		[POLICY_ON_NEVER_SENT] = POLICY_NEXT_ROUTE,
		[POLICY_ON_REFUSED] = POLICY_NEXT_ROUTE,
		[POLICY_ON_RETRY_LATER] = POLICY_RETRY,
		[POLICY_ON_VIOLATION] = contract->side_effects ? POLICY_STOP : POLICY_NEXT_ROUTE,
	};

	for (int i = 0; i < POLICY_ON__MAX; i++)
		if (contract->on_failure[i] == POLICY__MAX)
			contract->on_failure[i] = defaults[i];
	if (contract->side_effects && contract->on_failure[POLICY_ON_VIOLATION] != POLICY_STOP)
		contract_wrong(in, "/on_failure/contract_violation",
			       "must be \"stop\" where there are side effects");
}

/* With its defaults it mustn't be too long to be read again. */
static void check_written(struct contract_reading *in)
{
	struct text written;

	text_init(&written, 2 * CONTRACT_MAX_BYTES);
	contract_write(in->contract, &written);
	if (!text_ok(&written))
		in->no_memory = true;
	else if (written.len > CONTRACT_MAX_BYTES)
		flaws_add(in->flaws, "", NULL, 0, "is longer than %u bytes with its defaults",
			  CONTRACT_MAX_BYTES);
	text_release(&written);
}

static struct contract *contract_new(const char *text, size_t len)
{
	struct contract *contract = calloc(1, sizeof *contract);

	if (!contract)
		return NULL;
	contract->text = malloc(len + 1);
	if (!contract->text) {
		free(contract);
		return NULL;
	}
	memcpy(contract->text, text, len);
	contract->text[len] = '\0';
	contract->side_effects = true;
	contract->rounds = ROUNDS_DEFAULT;
	contract->max_age_s = AGE_DEFAULT_S;
	for (int i = 0; i < POLICY_ON__MAX; i++)
		contract->on_failure[i] = POLICY__MAX;
	return contract;
}

static enum rc parse(struct contract *contract, size_t len, struct flaws *flaws)
{
	struct json_error error;
	enum rc rc = json_parse(contract->text, len, CONTRACT_DEPTH_MAX, &contract->doc, &error);

	if (rc == RC_INVALID)
		flaws_add(flaws, "", NULL, 0, "isn't JSON: %s, at byte %zu", error.detail,
			  error.offset);
	return rc;
}

enum rc contract_read(const char *text, size_t len, struct contract **contract_out,
		      struct flaws *flaws)
{
	struct contract_reading in = { .flaws = flaws };
	size_t flaws_before = flaws->count;

	*contract_out = NULL;
	if (len > CONTRACT_MAX_BYTES) {
		flaws_add(flaws, "", NULL, 0, "is longer than %u bytes", CONTRACT_MAX_BYTES);
		return RC_INVALID;
	}
	in.contract = contract_new(text, len);
	if (!in.contract)
		return RC_FAULT;
	enum rc rc = parse(in.contract, len, flaws);

	if (rc == RC_OK) {
		read_definition(&in, json_root(in.contract->doc));
		check_policies(&in);
		if (!in.no_memory && flaws->count == flaws_before)
			check_written(&in);
		rc = in.no_memory ? RC_FAULT : flaws->count > flaws_before ? RC_INVALID : RC_OK;
	}
	if (rc != RC_OK) {
		contract_free(in.contract);
		return rc;
	}
	*contract_out = in.contract;
	return RC_OK;
}
