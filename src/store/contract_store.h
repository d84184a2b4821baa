/* contract_store.h: contracts by name, and their versions, which never change. */
#ifndef STORE_CONTRACT_STORE_H
#define STORE_CONTRACT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/contract.h"
#include "core/job.h"
#include "store/db.h"
#include "store/definition.h"

/* Putting what is there already changes nothing, the version included. Else certificates of the
 * version before die in the same transaction; those whose subject is the same under the new one are
 * issued again for it, with their dates.
 *
 * *new_out: it wasn't there. *unknown_out: RC_NOT_FOUND: the index of the first route whose
 * provider isn't there; nothing is written. */
MUST_CHECK enum rc contract_store_put(struct db *db, const char *name,
				      const struct contract *contract, bool *new_out,
				      size_t *unknown_out, struct definition_row *row_out);

/* The version that counts now. RC_NOT_FOUND: none, or deleted. */
MUST_CHECK enum rc contract_store_get(struct db *db, const char *name,
				      struct definition_row *row_out);

/* By name, names above `after` (NULL: from the start). */
MUST_CHECK enum rc contract_store_list(struct db *db, const char *after, uint32_t limit,
				       struct definition_row **rows_out, size_t *len_out,
				       bool *more_out);

/* No new job may name it; jobs keep their version, and fail over no more. RC_NOT_FOUND. */
MUST_CHECK enum rc contract_store_delete(struct db *db, const char *name);

/* Any version, read; contract_free() it. RC_NOT_FOUND; RC_INVALID: not readable by this program
 * (logged). Inside a transaction too. */
MUST_CHECK enum rc contract_store_version(struct db *db, const char *name, uint32_t version,
					  struct contract **contract_out);

#endif
