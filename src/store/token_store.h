/* token_store.h: bearer tokens. The database keeps only their SHA-256; a token's id is the first 12
 * hex digits of that. */
#ifndef STORE_TOKEN_STORE_H
#define STORE_TOKEN_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/rc.h"
#include "core/job.h"
#include "store/db.h"

#define TOKEN_ID_LEN 12

struct token_row {
	unsigned char sha256[SHA256_BYTES];
	char owner[OWNER_MAX + 1];
	size_t owner_len;
	enum role role;
	int64_t created_us;
	int64_t expires_us; /* 0: never */
};

/* lifetime_s 0: never expires. */
MUST_CHECK enum rc token_store_add(struct db *db, const unsigned char sha256[SHA256_BYTES],
				   const char *owner, size_t owner_len, enum role role,
				   uint64_t lifetime_s);
MUST_CHECK enum rc token_store_list(struct db *db, struct token_row **rows_out,
				    size_t *len_out); /* free() it; at most 10,000 */

/* By id (12 hex digits). RC_NOT_FOUND; RC_CONFLICT: two tokens share it, give the whole SHA-256 (64
 * digits). */
MUST_CHECK enum rc token_store_revoke(struct db *db, const char *id, size_t len);

#endif
