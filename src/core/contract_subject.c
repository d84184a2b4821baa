/* contract_subject.c: what a certificate proves, as a digest. */
#include <inttypes.h>
#include <string.h>

#include "core/contract_private.h"

/* Far more than a contract and a provider's row can be. */
#define FORM_MAX_BYTES (8 * (size_t)CONTRACT_MAX_BYTES)

/* Members of a form that don't count as any value does, but: */
enum how {
	IS_FREE, /* not at all: it may change while a certificate lives */
	IS_SENT, /* by its digits, as the provider gets them */
	HAS_MEMBERS,
};

struct member {
	const char *name; /* NULL ends a list */
	enum how how;
	const struct member *members; /* of HAS_MEMBERS: an object's, or an array of objects' */
};

static const struct member provider_members[] = {
	{ "enabled", IS_FREE, NULL },
	{ "max_in_flight", IS_FREE, NULL },
	{ "retry", IS_FREE, NULL },
	{ 0 },
};

static const struct member tokenizer_members[] = { { "request", IS_SENT, NULL }, { 0 } };
static const struct member fixture_members[] = { { "input", IS_SENT, NULL }, { 0 } };

static const struct member route_members[] = {
	{ "request", IS_SENT, NULL },
	{ "tokenizer", HAS_MEMBERS, tokenizer_members },
	{ 0 },
};

static const struct member contract_members[] = {
	{ "fixtures", HAS_MEMBERS, fixture_members },
	{ "overrides", IS_SENT, NULL },
	{ "route", HAS_MEMBERS, route_members },
	{ 0 },
};

static void add_object(const struct json_value *object, const struct member *members,
		       struct text *out);

/* NULL: it counts by its value. */
static const struct member *find(const struct member *members, const struct json_value *json)
{
	for (; members->name; members++)
		if (json->name_len == strlen(members->name) &&
		    memcmp(json->name, members->name, json->name_len) == 0)
			return members;
	return NULL;
}

static void add_members(const struct json_value *json, const struct member *members,
			struct text *out)
{
	const char *between = "";

	if (json->type != JSON_ARRAY) {
		add_object(json, members, out);
		return;
	}
	text_add_str(out, "[");
	for (const struct json_value *object = json->child; object; object = object->next) {
		text_add_str(out, between);
		add_object(object, members, out);
		between = ",";
	}
	text_add_str(out, "]");
}

static void add_object(const struct json_value *object, const struct member *members,
		       struct text *out)
{
	const char *between = "";

	text_add_str(out, "{");
	for (const struct json_value *json = object->by_name; json; json = json->next_by_name) {
		const struct member *member = find(members, json);

		if (member && member->how == IS_FREE)
			continue;
		text_add_str(out, between);
		text_add_json_string(out, json->name, json->name_len);
		text_add_str(out, ":");
		if (!member)
			json_canon(json, out);
		else if (member->how == IS_SENT)
			json_canon_digits(json, out);
		else
			add_members(json, member->members, out);
		between = ",";
	}
	text_add_str(out, "}");
}

/* `written` is one JSON object, in any form. */
static enum rc digest(const struct text *written, const struct member *members,
		      unsigned char subject_out[SHA256_BYTES])
{
	struct json_doc *doc;
	struct json_error error;
	struct text form;

	if (!text_ok(written) ||
	    json_parse(written->bytes, written->len, JSON_DEPTH_LIMIT, &doc, &error) != RC_OK)
		return RC_FAULT;
	text_init(&form, FORM_MAX_BYTES);
	add_object(json_root(doc), members, &form);
	json_free(doc);
	bool whole = text_ok(&form);

	if (whole)
		digest_sha256(form.bytes, form.len, subject_out);
	text_release(&form);
	return whole ? RC_OK : RC_FAULT;
}

enum rc contract_provider_subject(const struct provider_def *def,
				  unsigned char subject_out[SHA256_BYTES])
{
	struct text written;

	text_init(&written, FORM_MAX_BYTES);
	provider_def_write(def, &written);
	enum rc rc = digest(&written, provider_members, subject_out);

	text_release(&written);
	return rc;
}

/* Names and `null` for what was left out keep the parts apart, whatever they hold. */
static void add_parts(const struct contract *contract, const struct route *route, struct text *out)
{
	text_addf(out, "{\"rule\": %d, \"schema\": ", CONTRACT_RULE_VERSION);
	contract_write_raw(contract->schema_json, "null", out);
	text_addf(out, ", \"side_effects\": %s, \"checks\": ",
		  contract->side_effects ? "true" : "false");
	contract_write_raw(json_member(json_root(contract->doc), "checks"), "[]", out);
	text_add_str(out, ", \"fixtures\": ");
	contract_write_fixtures(contract, out);
	text_addf(out, ", \"rounds\": %" PRIu32 ", \"overrides\": ", contract->rounds);
	contract_write_raw(contract->overrides, "null", out);
	text_add_str(out, ", \"route\": ");
	contract_write_route(route, out);
}

enum rc contract_subject(const struct contract *contract, const struct route *route,
			 const struct provider_def *def, unsigned char subject_out[SHA256_BYTES])
{
	unsigned char provider[SHA256_BYTES];
	struct text written;
	enum rc rc = contract_provider_subject(def, provider);

	if (rc != RC_OK)
		return rc;
	text_init(&written, FORM_MAX_BYTES);
	add_parts(contract, route, &written);
	text_add_str(&written, ", \"provider\": \"");
	text_add_hex(&written, provider, sizeof provider);
	text_add_str(&written, "\"}");
	rc = digest(&written, contract_members, subject_out);
	text_release(&written);
	return rc;
}
