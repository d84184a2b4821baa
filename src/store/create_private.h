/* create_private.h: one create, and the two ways it can be written: alone, or with others. */
#ifndef STORE_CREATE_PRIVATE_H
#define STORE_CREATE_PRIVATE_H

#include <stdbool.h>

#include "store/job_store.h"
#include "store/stmt.h"

/* After a repeat so many new jobs still ask for their key first. */
#define REPEATS_REMEMBERED 8

/* One round: the insert, and where it meets the key, a look at whose that is. False: nothing is
 * decided, another round may; but c->created stands if there is none. */
bool create_alone(struct db *db, struct create *c);

/* c->job as it was just written, with this owner, without reading it again. RC_UNCERTAIN: no
 * memory; it is written all the same. */
MUST_CHECK enum rc create_fill(struct create *c, const void *owner, size_t owner_len,
			       uint64_t contract_version);

/* The columns of an insert that the request alone fills: key and fingerprint; and from input to
 * updated_at. */
void create_bind_key(struct stmt *st, const struct create *c);
void create_bind_rest(struct stmt *st, const struct create *c);

#endif
