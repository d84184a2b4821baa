/* definition_rows.h: how rows with a definition are read, whatever they define. Private to store.
 */
#ifndef STORE_DEFINITION_ROWS_H
#define STORE_DEFINITION_ROWS_H

#include "store/definition.h"
#include "store/stmt.h"

/* `statement` selects name, version, definition, created_at, updated_at. One row by its name;
 * inside a transaction. RC_OK: what was in *row is freed first. RC_NOT_FOUND. */
MUST_CHECK enum rc definition_rows_get(struct db *db, enum sql statement, const char *name,
				       struct definition_row *row);

/* The same, outside of one. */
MUST_CHECK enum rc definition_rows_read(struct db *db, enum sql statement, const char *name,
					struct definition_row *row_out);

/* Names above `after` (NULL: from the start), by name; the statement takes that and a limit, and so
 * does `sizes`, the sizes of the same rows (see page_fit.h); SQL__MAX: none of them is large. The
 * list is the caller's: definition_list_free() it. */
MUST_CHECK enum rc definition_rows_list(struct db *db, enum sql statement, enum sql sizes,
					const char *after, uint32_t limit,
					struct definition_row **rows_out, size_t *len_out,
					bool *more_out);

#endif
