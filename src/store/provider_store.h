/* provider_store.h: providers' rows. */
#ifndef STORE_PROVIDER_STORE_H
#define STORE_PROVIDER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "store/db.h"
#include "store/definition.h"

/* *new_out: it wasn't there. Putting what is there already changes nothing, the version included.
 * Open attempts at this provider that nobody asks about come to their turn: by the new row there
 * may be a question. Other codes than RC_OK: it may be there; putting the same again is safe. */
MUST_CHECK enum rc provider_store_put(struct db *db, const char *name,
				      const struct provider_def *def, bool *new_out,
				      struct definition_row *row_out);
MUST_CHECK enum rc provider_store_get(struct db *db, const char *name,
				      struct definition_row *row_out);

/* By name, names above `after` (NULL: from the start). */
MUST_CHECK enum rc provider_store_list(struct db *db, const char *after, uint32_t limit,
				       struct definition_row **rows_out, size_t *len_out,
				       bool *more_out);

/* RC_CONFLICT: a queued job or an open attempt names it. RC_NOT_FOUND. */
MUST_CHECK enum rc provider_store_delete(struct db *db, const char *name);

#endif
