/* contract_routes.c: a definition's routes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/contract_private.h"
#include "core/provider_rules.h"
#include "core/template.h"

#define FIELDS(list) (list), sizeof(list) / sizeof(list)[0]

static void read_provider(struct contract_reading *in, void *into, const char *at,
			  const struct json_value *value)
{
	struct route *route = into;

	if (value->type != JSON_STRING || !name_valid(value->string, value->string_len)) {
		contract_wrong(in, at,
			       "must be 1 to 64 of a-z, 0-9, '-', '_' and '.', and begin with a "
			       "letter or digit");
		return;
	}
	memcpy(route->provider, value->string, value->string_len);
	route->provider[value->string_len] = '\0';
	if (contract_route(in->contract, route->provider) != route)
		contract_wrong(in, at, "has a route already");
}

static void read_request(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	struct route *route = into;

	route->request = value;
	template_check(value, at, in->flaws);
}

static bool named_before(const struct json_value *object, const struct json_value *header)
{
	for (const struct json_value *other = object->child; other != header; other = other->next)
		if (other->name_len == header->name_len &&
		    strncasecmp(other->name, header->name, header->name_len) == 0)
			return true;
	return false;
}

/* The header of a provider's key may have another name, which its row alone tells. */
static const char *header_flaw(const struct json_value *object, const struct json_value *header)
{
	static const char key[] = "Idempotency-Key";
	const char *flaw = provider_header_name_flaw(header->name, header->name_len);

	if (flaw)
		return flaw;
	if (header->name_len == strlen(key) && strncasecmp(header->name, key, strlen(key)) == 0)
		return "is set by onejob itself";
	if (named_before(object, header))
		return "is named twice (case doesn't count)";
	return header->type == JSON_STRING ? NULL : "must be a string";
}

static void read_headers(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	struct route *route = into;

	if (value->type != JSON_OBJECT || value->count > PROVIDER_HEADERS_MAX) {
		flaws_add(in->flaws, at, NULL, 0, "must be an object of up to %d headers",
			  PROVIDER_HEADERS_MAX);
		return;
	}
	route->headers = value;
	for (const struct json_value *header = value->child; header; header = header->next) {
		const char *flaw = header_flaw(value, header);
		char name[PROVIDER_HEADER_NAME_MAX + 1];

		if (flaw) {
			flaws_add(in->flaws, at, header->name, header->name_len, "%s", flaw);
			continue;
		}
		memcpy(name, header->name, header->name_len);
		name[header->name_len] = '\0';
		template_check_header(header->string, header->string_len, at, name, in->flaws);
	}
}

static void read_result_pointer(struct contract_reading *in, void *into, const char *at,
				const struct json_value *value)
{
	struct route *route = into;

	if (!contract_pointer_read(in, at, value))
		return;
	if (memchr(value->string, '\0', value->string_len)) {
		contract_wrong(in, at, "must not hold U+0000");
		return;
	}
	char *copy = strndup(value->string, value->string_len);

	if (!copy) {
		in->no_memory = true;
		return;
	}
	free(route->result_pointer);
	route->result_pointer = copy;
}

static void read_result_as(struct contract_reading *in, void *into, const char *at,
			   const struct json_value *value)
{
	struct route *route = into;

	if (value->type != JSON_STRING ||
	    !result_as_parse(value->string, value->string_len, &route->result_as))
		contract_wrong(in, at, "must be \"value\", \"json\" or \"text\"");
}

static void read_result(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "pointer", false, read_result_pointer },
		{ "as", false, read_result_as },
	};

	contract_members_read(in, FIELDS(fields), into, at, value);
}

static void read_doubt(struct contract_reading *in, void *into, const char *at,
		       const struct json_value *value)
{
	struct route *route = into;

	contract_checks_read(in, at, value, &route->doubt);
}

static void read_require(struct contract_reading *in, void *into, const char *at,
			 const struct json_value *value)
{
	struct route *route = into;

	contract_checks_read(in, at, value, &route->require);
}

static bool is_url(struct contract_reading *in, const char *at, const struct json_value *value)
{
	const char *flaw = value->type == JSON_STRING
				   ? provider_url_flaw(value->string, value->string_len)
				   : "must be a string";

	if (flaw)
		contract_wrong(in, at, flaw);
	return !flaw;
}

static void read_tokenizer_url(struct contract_reading *in, void *into, const char *at,
			       const struct json_value *value)
{
	struct tokenizer *tokenizer = into;

	if (is_url(in, at, value))
		tokenizer->url = value;
}

static void read_detokenize_url(struct contract_reading *in, void *into, const char *at,
				const struct json_value *value)
{
	struct tokenizer *tokenizer = into;

	if (is_url(in, at, value))
		tokenizer->detokenize_url = value;
}

static void read_tokenizer_request(struct contract_reading *in, void *into, const char *at,
				   const struct json_value *value)
{
	struct tokenizer *tokenizer = into;
	bool content = json_member(value, "content"), prompt = json_member(value, "prompt");

	tokenizer->request = value;
	if (value->type != JSON_OBJECT || content == prompt)
		contract_wrong(in, at,
			       "must be an object with exactly one of the members content and "
			       "prompt, which is the prompt");
	tokenizer->prompt_name = content ? "content" : "prompt";
	template_check(value, at, in->flaws);
}

static void read_tokens(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	struct tokenizer *tokenizer = into;

	if (contract_pointer_read(in, at, value))
		tokenizer->tokens = value;
}

static void read_limit(struct contract_reading *in, void *into, const char *at,
		       const struct json_value *value)
{
	struct tokenizer *tokenizer = into;

	contract_number_read(in, at, value, 1, CONTRACT_TOKENS_MAX, &tokenizer->limit);
}

static void read_tokenizer(struct contract_reading *in, void *into, const char *at,
			   const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "url", true, read_tokenizer_url },
		{ "request", true, read_tokenizer_request },
		{ "tokens", true, read_tokens },
		{ "detokenize_url", true, read_detokenize_url },
		{ "limit", true, read_limit },
	};
	struct route *route = into;

	route->has_tokenizer = true;
	contract_members_read(in, FIELDS(fields), &route->tokenizer, at, value);
}

static void read_route(struct contract_reading *in, struct route *route, const char *at,
		       const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "provider", true, read_provider },	{ "request", false, read_request },
		{ "headers", false, read_headers },	{ "result", false, read_result },
		{ "doubt", false, read_doubt },		{ "require", false, read_require },
		{ "tokenizer", false, read_tokenizer },
	};

	route->json = value;
	route->result_pointer = strdup("");
	if (!route->result_pointer)
		in->no_memory = true;
	contract_members_read(in, FIELDS(fields), route, at, value);
}

void contract_routes_read(struct contract_reading *in, const char *at,
			  const struct json_value *value)
{
	struct contract *contract = in->contract;
	char below[CONTRACT_POINTER_MAX];

	if (value->type != JSON_ARRAY || value->count == 0 || value->count > CONTRACT_ROUTES_MAX) {
		flaws_add(in->flaws, at, NULL, 0, "must be an array of 1 to %d routes",
			  CONTRACT_ROUTES_MAX);
		return;
	}
	for (const struct json_value *route = value->child; route; route = route->next) {
		snprintf(below, sizeof below, "%s/%zu", at, contract->routes_len);
		read_route(in, &contract->routes[contract->routes_len++], below, route);
	}
}

const struct json_value *contract_route_header(const struct route *route, const char *name)
{
	const struct json_value *header = route->headers ? route->headers->child : NULL;
	size_t len = strlen(name);

	while (header && (header->name_len != len || strncasecmp(header->name, name, len) != 0))
		header = header->next;
	return header;
}
