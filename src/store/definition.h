/* definition.h: rows that hold a definition under a name: providers, and the contracts that count
 * now. */
#ifndef STORE_DEFINITION_H
#define STORE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/job.h"
#include "core/provider_def.h"

struct definition_row {
	char name[NAME_MAX_LEN + 1];
	uint32_t version;	/* from 1; up with every change */
	struct blob definition; /* as provider_def_write() or contract_write() made it */
	int64_t created_us;
	int64_t updated_us;
};
void definition_row_release(struct definition_row *row);
void definition_list_free(struct definition_row *rows, size_t len);

/* RC_OK: the caller's. RC_INVALID: written by hand, or by a newer program. RC_FAULT. */
MUST_CHECK enum rc definition_read(const struct blob *definition, struct provider_def *def_out);

/* Of an attempt whose track is lost: whether its provider, by its row (no bytes: it is gone), can
 * be asked about it. What this program can't read another may: true. named: see
 * provider_def_can_ask(). */
bool definition_can_ask(const struct blob *definition, bool named);

#endif
