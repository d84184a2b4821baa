/* contract_write.c: a definition with its defaults filled in. */
#include <inttypes.h>
#include <string.h>

#include "core/contract_private.h"
#include "core/provider_rules.h"

void contract_write_raw(const struct json_value *value, const char *without, struct text *out)
{
	if (value)
		text_add(out, value->raw, value->raw_len);
	else
		text_add_str(out, without);
}

/* Only where the author wrote it. */
static void add_member(const struct json_value *object, const char *name, struct text *out)
{
	const struct json_value *member = json_member(object, name);

	if (!member)
		return;
	text_addf(out, ", \"%s\": ", name);
	contract_write_raw(member, "", out);
}

static void add_list(const struct json_value *object, const char *name, struct text *out)
{
	text_addf(out, ", \"%s\": ", name);
	contract_write_raw(json_member(object, name), "[]", out);
}

void contract_write_route(const struct route *route, struct text *out)
{
	text_addf(out, "{\"provider\": \"%s\"", route->provider);
	add_member(route->json, "request", out);
	add_member(route->json, "headers", out);
	text_add_str(out, ", \"result\": {\"pointer\": ");
	text_add_json_string(out, route->result_pointer, strlen(route->result_pointer));
	text_addf(out, ", \"as\": \"%s\"}", result_as_name(route->result_as));
	add_list(route->json, "doubt", out);
	add_list(route->json, "require", out);
	add_member(route->json, "tokenizer", out);
	text_add_str(out, "}");
}

void contract_write_fixtures(const struct contract *contract, struct text *out)
{
	const struct json_value *fixtures = json_member(json_root(contract->doc), "fixtures");
	const struct json_value *fixture = fixtures ? fixtures->child : NULL;

	text_add_str(out, "[");
	for (size_t i = 0; fixture; i++, fixture = fixture->next) {
		text_add_str(out, i == 0 ? "{\"name\": " : ", {\"name\": ");
		contract_write_raw(contract->fixtures[i].name, "", out);
		text_add_str(out, ", \"input\": ");
		contract_write_raw(contract->fixtures[i].input, "", out);
		add_list(fixture, "checks", out);
		text_add_str(out, "}");
	}
	text_add_str(out, "]");
}

static void add_routes(const struct contract *contract, struct text *out)
{
	text_add_str(out, ", \"routes\": [");
	for (size_t i = 0; i < contract->routes_len; i++) {
		if (i > 0)
			text_add_str(out, ", ");
		contract_write_route(&contract->routes[i], out);
	}
	text_add_str(out, "]");
}

static void add_on_failure(const struct contract *contract, struct text *out)
{
	static const char *const names[POLICY_ON__MAX] = {
		[POLICY_ON_NEVER_SENT] = "never_sent",
		[POLICY_ON_REFUSED] = "refused",
		[POLICY_ON_RETRY_LATER] = "retry_later",
		[POLICY_ON_VIOLATION] = "contract_violation",
	};

	text_add_str(out, ", \"on_failure\": {");
	for (int i = 0; i < POLICY_ON__MAX; i++)
		text_addf(out, "%s\"%s\": \"%s\"", i > 0 ? ", " : "", names[i],
			  policy_name(contract->on_failure[i]));
	text_add_str(out, "}");
}

void contract_write(const struct contract *contract, struct text *out)
{
	const struct json_value *root = json_root(contract->doc);

	text_addf(out, "{\"side_effects\": %s", contract->side_effects ? "true" : "false");
	add_member(root, "result_schema", out);
	add_list(root, "checks", out);
	add_routes(contract, out);
	add_on_failure(contract, out);
	text_add_str(out, ", \"fixtures\": ");
	contract_write_fixtures(contract, out);
	text_addf(out, ", \"certify\": {\"rounds\": %" PRIu32 ", \"max_age_s\": %" PRIu32,
		  contract->rounds, contract->max_age_s);
	add_member(json_member(root, "certify"), "overrides", out);
	text_add_str(out, "}}");
}
