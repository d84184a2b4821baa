/* stmt.h: bind, run and fetch, so that no other file of store sees MYSQL_BIND. Private to store.
 *
 * Bind in the order of the question marks, run, read the columns in the order of the SELECT. A slip
 * in counting is our own bug: it ends in an assertion. Errors are classified once, here (see db.c),
 * and logged once. */
#ifndef STORE_STMT_H
#define STORE_STMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/job.h"
#include "store/db.h"
#include "store/sql.h"

struct stmt;

/* The prepared statement; connects and prepares when needed. Never NULL: what went wrong comes out
 * of stmt_run(). A statement has one result at a time: taking it again drops the former. */
struct stmt *db_stmt(struct db *db, enum sql id);

/* The same with the text's groups repeated n times; n is a power of two up to STMT_GROUP_MAX. See
 * stmt_group(). */
#define STMT_GROUP_MAX 64
struct stmt *db_stmt_n(struct db *db, enum sql id, size_t n);

/* The largest n for db_stmt_n() that is not above `left` (at least 1). */
size_t stmt_group(size_t left);

/* The smallest n for db_stmt_n() that is not below it. */
size_t stmt_group_above(size_t n);

/* Pointers must live until stmt_run() returns. NULL bytes bind SQL NULL. */
void bind_u64(struct stmt *st, uint64_t value);
void bind_bytes(struct stmt *st, const void *bytes, size_t len);
void bind_str(struct stmt *st, const char *str);
void bind_id(struct stmt *st, const struct id *id);
void bind_time(struct stmt *st, int64_t us); /* 0: NULL */
void bind_null(struct stmt *st);

/* RC_OK; RC_CONFLICT: a duplicate key; RC_INVALID: a value that the column can't hold; RC_RETRY:
 * nothing was done by this statement (in a transaction: roll back and start again); RC_UNCERTAIN:
 * the answer was lost; RC_FAULT: logged. */
MUST_CHECK enum rc stmt_run(struct stmt *st);

uint64_t stmt_changed(
	const struct stmt *st); /* rows found by the WHERE of an UPDATE or DELETE, or inserted */

/* The last LAST_INSERT_ID(value) of an INSERT that was run. */
uint64_t stmt_insert_id(const struct stmt *st);

/* After a run with a result: RC_OK: a row; RC_NOT_FOUND: no more; RC_RETRY, RC_FAULT. */
MUST_CHECK enum rc stmt_fetch(struct stmt *st);
void stmt_done(struct stmt *st); /* drop what is left of the result */

/* The next column of the row. NULL reads as 0, "", false or an empty blob. */
uint64_t col_u64(struct stmt *st);
int64_t col_i64(struct stmt *st, int64_t if_null);
bool col_id(struct stmt *st, struct id *id_out); /* false: NULL (id_out zeroed) */
int64_t col_time(struct stmt *st);
size_t col_bytes(struct stmt *st, void *out,
		 size_t size);				/* cut at size; returns the length copied */
void col_name(struct stmt *st, char *out, size_t size); /* with a NUL */
bool col_blob(struct stmt *st, struct blob *blob_out);	/* the caller's; false: no memory */
void col_skip(struct stmt *st);

/* db.c's side */
MUST_CHECK enum rc db_begin(struct db *db);
MUST_CHECK enum rc db_commit(struct db *db);
void db_rollback(struct db *db);
MUST_CHECK enum rc db_execute(struct db *db,
			      const char *text); /* without values, without a result: DDL */
/* The same of what may have been done before: a thing that is there already is as good. */
MUST_CHECK enum rc db_execute_again(struct db *db, const char *text);
/* How long a statement of this connection waits for a table that others hold. */
MUST_CHECK enum rc db_limit_waits(struct db *db, unsigned int seconds);
unsigned int db_errno(const struct db *db);

/* Before round `round` (from 1) of something that was undone. */
void db_pause(int round);

/* Run a read that changes nothing, again when the connection turned out dead. */
MUST_CHECK enum rc db_read(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg);

#endif
