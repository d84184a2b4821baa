/* contract_private.h: what the files contract_*.c share. */
#ifndef CORE_CONTRACT_PRIVATE_H
#define CORE_CONTRACT_PRIVATE_H

#include "core/contract.h"

struct contract_reading {
	struct contract *contract;
	struct flaws *flaws;
	bool no_memory;
};

/* A member of one of the definition's objects. `at` is the value's pointer, `into` what the object
 * is read into. */
struct contract_field {
	const char *name;
	bool required;
	void (*read)(struct contract_reading *in, void *into, const char *at,
		     const struct json_value *value);
};

#define CONTRACT_POINTER_MAX 128 /* of what `at` can be */

/* Each member by its field; unknown and missing ones are flaws, and so is what is no object. */
void contract_members_read(struct contract_reading *in, const struct contract_field *fields,
			   size_t fields_len, void *into, const char *at,
			   const struct json_value *object);

/* The value itself is wrong. */
void contract_wrong(struct contract_reading *in, const char *at, const char *detail);

void contract_number_read(struct contract_reading *in, const char *at,
			  const struct json_value *value, uint32_t min, uint32_t max,
			  uint32_t *number_out);
void contract_checks_read(struct contract_reading *in, const char *at,
			  const struct json_value *value, struct check_list *list_out);
void contract_routes_read(struct contract_reading *in, const char *at,
			  const struct json_value *value);
void contract_fixtures_read(struct contract_reading *in, const char *at,
			    const struct json_value *value);

/* A string that is a JSON pointer; false: it has been called a flaw. */
bool contract_pointer_read(struct contract_reading *in, const char *at,
			   const struct json_value *value);

/* As contract_write() has them. */
void contract_write_route(const struct route *route, struct text *out);
void contract_write_fixtures(const struct contract *contract, struct text *out);
void contract_write_raw(const struct json_value *value, const char *without, struct text *out);

#endif
