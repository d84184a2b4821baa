/* webhook_store.h: owners' endpoints. */
#ifndef STORE_WEBHOOK_STORE_H
#define STORE_WEBHOOK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/job.h"
#include "core/webhook_def.h"
#include "store/db.h"

struct webhook_row {
	char owner[OWNER_MAX + 1];
	size_t owner_len;
	bool readable; /* false: `def` is empty, written by hand or by a newer program */
	struct webhook_def def;
	bool enabled;
	struct blob disabled_why;
	int64_t created_us;
	int64_t updated_us;
	uint64_t waiting;	 /* messages that will be tried */
	uint64_t given_up;	 /* messages that won't, unless the endpoint is put or enabled */
	struct blob last_answer; /* to the newest message that failed */
};
void webhook_row_release(struct webhook_row *row);

/* Whether it was there or not, it is enabled then, and the messages that were given up are due
 * again. *new_out: it wasn't there. */
MUST_CHECK enum rc webhook_store_put(struct db *db, const char *owner, size_t owner_len,
				     const struct webhook_def *def, bool *new_out);

/* By owner, owners above `after` (length 0: from the start). */
MUST_CHECK enum rc webhook_store_list(struct db *db, const char *after, size_t after_len,
				      uint32_t limit, struct webhook_row **rows_out,
				      size_t *len_out, bool *more_out);
void webhook_list_free(struct webhook_row *rows, size_t len);

/* Enabled again, or still: what was given up is due again, from the first try on. RC_NOT_FOUND. */
MUST_CHECK enum rc webhook_store_enable(struct db *db, const char *owner, size_t owner_len);

/* With its messages. RC_NOT_FOUND. */
MUST_CHECK enum rc webhook_store_delete(struct db *db, const char *owner, size_t owner_len);

#endif
