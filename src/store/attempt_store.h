/* attempt_store.h: lists of attempts and of races, for operators. */
#ifndef STORE_ATTEMPT_STORE_H
#define STORE_ATTEMPT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/rc.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "store/db.h"

/* Newest first. has_state false: any. Keyset by id. attempt_list_free() the array. */
MUST_CHECK enum rc attempt_store_list(struct db *db, bool has_state, enum attempt_state state,
				      const struct id *before, uint32_t limit,
				      struct attempt **attempts_out, size_t *len_out,
				      bool *more_out);
/* One attempt, and its provider's row in the version that the request was built from; *has_def_out:
 * that is known and can be read. Both are the caller's. RC_NOT_FOUND. */
MUST_CHECK enum rc attempt_store_get(struct db *db, const struct id *id,
				     struct attempt *attempt_out, struct provider_def *def_out,
				     bool *has_def_out);

void attempt_list_free(struct attempt *attempts, size_t len);

struct race {
	struct id id;
	struct id job_id;
	struct id attempt_id;
	bool has_winner;
	struct id winner;
	enum race_why why;
	unsigned char sha256[SHA256_BYTES];
	uint64_t bytes;
	int64_t created_us;
};
MUST_CHECK enum rc race_store_list(struct db *db, const struct id *before, uint32_t limit,
				   struct race **races_out, size_t *len_out,
				   bool *more_out); /* free() the array */

#endif
