#include "store/token_store.h"

#include <stdlib.h>
#include <string.h>

#include "store/stmt.h"

#define TOKENS_MAX 10000

enum rc token_store_add(struct db *db, const unsigned char sha256[SHA256_BYTES], const char *owner,
			size_t owner_len, enum role role, uint64_t lifetime_s)
{
	struct stmt *st = db_stmt(db, SQL_TOKEN_ADD);

	bind_bytes(st, sha256, SHA256_BYTES);
	bind_bytes(st, owner, owner_len);
	bind_str(st, role_name(role));
	if (lifetime_s)
		bind_u64(st, lifetime_s);
	else
		bind_null(st);
	return stmt_run(st);
}

struct tokens {
	struct token_row *rows;
	size_t len;
};

static void read_token(struct stmt *st, struct token_row *row)
{
	char role[16];

	(void)col_bytes(st, row->sha256, SHA256_BYTES);
	row->owner_len = col_bytes(st, row->owner, OWNER_MAX);
	row->owner[row->owner_len] = '\0';
	(void)role_parse(role, col_bytes(st, role, sizeof role), &row->role);
	row->created_us = col_time(st);
	row->expires_us = col_time(st);
}

static enum rc list(struct db *db, void *arg)
{
	struct tokens *tokens = arg;
	struct stmt *st = db_stmt(db, SQL_TOKEN_LIST);
	enum rc rc = stmt_run(st);

	tokens->len = 0;
	while (rc == RC_OK && tokens->len < TOKENS_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			read_token(st, &tokens->rows[tokens->len++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc token_store_list(struct db *db, struct token_row **rows_out, size_t *len_out)
{
	struct tokens tokens = { calloc(TOKENS_MAX, sizeof(struct token_row)), 0 };

	if (!tokens.rows)
		return RC_FAULT;
	enum rc rc = db_read(db, list, &tokens);

	if (rc != RC_OK) {
		free(tokens.rows);
		return rc;
	}
	*rows_out = tokens.rows;
	*len_out = tokens.len;
	return RC_OK;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The lowest and the highest digest that begin with these digits. */
static bool prefix_range(const char *id, size_t len, unsigned char low[SHA256_BYTES],
			 unsigned char high[SHA256_BYTES])
{
	memset(low, 0, SHA256_BYTES);
	memset(high, 0xff, SHA256_BYTES);
	if (len % 2 != 0 || len > 2 * SHA256_BYTES)
		return false;
	for (size_t i = 0; i < len; i += 2) {
		int upper = hex_digit(id[i]), lower = hex_digit(id[i + 1]);

		if (upper < 0 || lower < 0)
			return false;
		low[i / 2] = high[i / 2] = (unsigned char)(upper << 4 | lower);
	}
	return true;
}

struct revoke {
	unsigned char low[SHA256_BYTES], high[SHA256_BYTES];
};

static enum rc revoke(struct db *db, void *arg)
{
	const struct revoke *range = arg;
	unsigned char digest[SHA256_BYTES];
	struct stmt *st = db_stmt(db, SQL_TOKEN_FIND);

	bind_bytes(st, range->low, SHA256_BYTES);
	bind_bytes(st, range->high, SHA256_BYTES);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	(void)col_bytes(st, digest, sizeof digest);
	rc = stmt_fetch(st);
	if (rc == RC_OK) {
		stmt_done(st);
		return RC_CONFLICT;
	}
	if (rc != RC_NOT_FOUND)
		return rc;
	st = db_stmt(db, SQL_TOKEN_REVOKE);
	bind_bytes(st, digest, sizeof digest);
	return stmt_run(st);
}

enum rc token_store_revoke(struct db *db, const char *id, size_t len)
{
	struct revoke range;

	if ((len != TOKEN_ID_LEN && len != 2 * SHA256_BYTES) ||
	    !prefix_range(id, len, range.low, range.high))
		return RC_NOT_FOUND;
	return db_transact(db, revoke, &range);
}
