/* contract_subject.c: what a certificate proves, as a digest. */
#include <inttypes.h>
#include <string.h>

#include "core/contract_private.h"

/* Far more than a contract and a provider's row can be. */
#define FORM_MAX_BYTES (8 * (size_t)CONTRACT_MAX_BYTES)

/* What may change while a certificate lives: whether, how many at once and how often. */
static bool counts(const struct json_value *member)
{
	static const char *const free_members[] = { "enabled", "max_in_flight", "retry" };

	for (size_t i = 0; i < sizeof free_members / sizeof free_members[0]; i++)
		if (member->name_len == strlen(free_members[i]) &&
		    memcmp(member->name, free_members[i], member->name_len) == 0)
			return false;
	return true;
}

/* The canonical form of an object's members that count. */
static void add_canonical(const struct json_value *object, struct text *out)
{
	const char *between = "";

	text_add_str(out, "{");
	for (const struct json_value *member = object->by_name; member;
	     member = member->next_by_name) {
		if (!counts(member))
			continue;
		text_add_str(out, between);
		text_add_json_string(out, member->name, member->name_len);
		text_add_str(out, ":");
		json_canon(member, out);
		between = ",";
	}
	text_add_str(out, "}");
}

/* `written` is one JSON object, in any form. */
static enum rc digest(const struct text *written, unsigned char subject_out[SHA256_BYTES])
{
	struct json_doc *doc;
	struct json_error error;
	struct text form;

	if (!text_ok(written) ||
	    json_parse(written->bytes, written->len, JSON_DEPTH_LIMIT, &doc, &error) != RC_OK)
		return RC_FAULT;
	text_init(&form, FORM_MAX_BYTES);
	add_canonical(json_root(doc), &form);
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
	enum rc rc = digest(&written, subject_out);

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
	rc = digest(&written, subject_out);
	text_release(&written);
	return rc;
}
