/* contract_fixtures.c: what a certification asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/contract_private.h"

static bool named_before(const struct contract *contract, const struct json_value *name)
{
	for (size_t i = 0; i < contract->fixtures_len; i++)
		if (contract->fixtures[i].name && json_equal(contract->fixtures[i].name, name))
			return true;
	return false;
}

static void read_name(struct contract_reading *in, void *into, const char *at,
		      const struct json_value *value)
{
	struct fixture *fixture = into;

	if (value->type != JSON_STRING || value->string_len == 0 ||
	    value->string_len > CONTRACT_FIXTURE_NAME_MAX)
		flaws_add(in->flaws, at, NULL, 0, "must be a string of 1 to %d bytes",
			  CONTRACT_FIXTURE_NAME_MAX);
	else if (named_before(in->contract, value))
		contract_wrong(in, at, "names a fixture before it");
	else
		fixture->name = value;
}

static void read_input(struct contract_reading *in, void *into, const char *at,
		       const struct json_value *value)
{
	struct fixture *fixture = into;

	(void)in;
	(void)at;
	fixture->input = value;
}

static void read_checks(struct contract_reading *in, void *into, const char *at,
			const struct json_value *value)
{
	struct fixture *fixture = into;

	contract_checks_read(in, at, value, &fixture->checks);
}

void contract_fixtures_read(struct contract_reading *in, const char *at,
			    const struct json_value *value)
{
	static const struct contract_field fields[] = {
		{ "name", true, read_name },
		{ "input", true, read_input },
		{ "checks", false, read_checks },
	};
	struct contract *contract = in->contract;
	char below[CONTRACT_POINTER_MAX];

	if (value->type != JSON_ARRAY || value->count > CONTRACT_FIXTURES_MAX) {
		flaws_add(in->flaws, at, NULL, 0, "must be an array of up to %d fixtures",
			  CONTRACT_FIXTURES_MAX);
		return;
	}
	contract->fixtures = calloc((size_t)value->count + 1, sizeof *contract->fixtures);
	if (!contract->fixtures) {
		in->no_memory = true;
		return;
	}
	for (const struct json_value *fixture = value->child; fixture; fixture = fixture->next) {
		struct fixture *into = &contract->fixtures[contract->fixtures_len];

		snprintf(below, sizeof below, "%s/%zu", at, contract->fixtures_len);
		contract_members_read(in, fields, sizeof fields / sizeof fields[0], into, below,
				      fixture);
		contract->fixtures_len++;
	}
}

bool contract_can_certify(const struct contract *contract)
{
	for (size_t i = 0; i < contract->fixtures_len; i++)
		if (contract->fixtures[i].checks.len > 0)
			return true;
	return false;
}
