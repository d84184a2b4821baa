/* db_private.h: what db.c and stmt.c share. */
#ifndef STORE_DB_PRIVATE_H
#define STORE_DB_PRIVATE_H

#include <stdbool.h>

#include "base/digest.h"
#include "store/mysql_client.h"
#include "store/stmt.h"

#define STMT_SIZES 7 /* groups of 1, 2, 4 ... 64 */

#define KNOWN_OWNERS 64

/* Whose a token is never changes, so that an insert which has checked the token need not say it
 * again. Whether the token still counts is asked of the database, always. */
struct known_owner {
	unsigned char token_sha256[SHA256_BYTES];
	unsigned char owner[OWNER_MAX];
	size_t owner_len; /* 0: an empty place */
};

struct db {
	MYSQL *mysql; /* NULL: not connected */
	const char *defaults_file;
	bool in_transaction;
	bool wrote;		    /* rows, in the transaction that is open or was last */
	bool patient;		    /* no time-out on answers */
	bool cluster;		    /* the server is a Galera node */
	uint64_t packet_max;	    /* the server's max_allowed_packet, in bytes */
	int64_t stay_away_until_ms; /* monotonic */
	int64_t caught_up_ms;	    /* monotonic, since this connection was made; 0: not yet */
	int64_t behind_until_ms;    /* monotonic: it didn't catch up, so nobody waits till then */
	unsigned int error_no;
	char error[512];
	char versions[128];
	unsigned int repeats;	 /* creates of keys that were there, lately: see job_create.c */
	unsigned int alone;	 /* so many more creates share no statement: see create_many.c */
	unsigned int alone_next; /* what lost work costs the next time; 0: the least */
	struct known_owner known[KNOWN_OWNERS];
	struct stmt *stmts[SQL__MAX][STMT_SIZES];
};

/* What a failed call means, and remembered in db->error. `sent`: a statement was on its way that
 * writes by itself, so a lost connection leaves it open whether it did. Logs faults; closes a lost
 * connection. */
enum rc db_failed(struct db *db, unsigned int error_no, const char *error, const char *what,
		  bool sent);

/* False: the transaction isn't there any more, though no answer has said so; told. To be asked
 * after each answer inside one. */
bool db_still_open(struct db *db, const char *what);

/* Its statements go with it, and an open transaction is undone. */
void db_disconnect(struct db *db);

/* A statement that the server would hang up on: RC_INVALID, logged. */
enum rc db_too_large(struct db *db, const char *what);

void stmt_free(struct stmt *st); /* NULL is fine */

#endif
