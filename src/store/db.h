/* db.h: one connection to the database, its errors classified once, and whole transactions.
 *
 * A `struct db` belongs to one thread. It connects when first used and again after a loss; nothing
 * is tried twice behind the caller's back. Sessions run READ COMMITTED, strict, UTC, autocommit,
 * found rows (an UPDATE to equal values counts). The address comes from the client's option files,
 * group [onejob], as any MySQL user expects. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rc.h"

struct db;

/* defaults_file: an option file to read instead of the usual ones, or NULL. NULL when there is no
 * memory. The first call of a process comes before its other threads. */
struct db *db_new(const char *defaults_file);
void db_free(struct db *db); /* NULL is fine */

/* For migrations: wait for an answer as long as it takes. Before the first use. */
void db_be_patient(struct db *db);

/* The largest statement, values included, that the server takes; 0 before the first connection. */
uint64_t db_packet_max(const struct db *db);

/* Connect if that isn't so. After a failure it isn't tried again for a second. RC_RETRY: the server
 * can't be reached or refuses; the reason is in db_error(). */
MUST_CHECK enum rc db_ready(struct db *db);

/* Nobody needs the connection at the moment. One whose buffers a large value has made grow is
 * closed: they never shrink. The next use, or db_ready(), makes a new one. True: it was closed. */
bool db_rest(struct db *db);

/* The server is a node of a Galera cluster. What other nodes hold locked, it doesn't: see
 * HACKING.md. Known once there has been a connection. */
bool db_in_cluster(const struct db *db);

/* In a cluster: wait until what was committed at any node before this call is to be seen here. A
 * single server has nothing to wait for. RC_RETRY: it takes too long, or the node is cut off; then
 * for some seconds it isn't tried again. Transactions and reads do so by themselves: every few
 * seconds, and before they say RC_NOT_FOUND. */
MUST_CHECK enum rc db_catch_up(struct db *db);

/* Run `work` inside one transaction, which must do nothing but SQL: it is run again from the start
 * when the whole is rolled back by a deadlock or a cluster's certification (RC_RETRY), a few times,
 * and in a cluster once more where it finds nothing; not after a lock that was waited for in vain
 * (db_was_locked_out()). RC_UNCERTAIN: the commit's answer was lost; nobody knows. What `work`
 * returns otherwise comes back after a rollback; RC_OK means committed. */
MUST_CHECK enum rc db_transact(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg);

/* The same for what somebody is answered: in a cluster, where nothing was written (a refusal, or
 * what looks as if it had been done before), it is run again once all that others have written is
 * to be seen. */
MUST_CHECK enum rc db_transact_sure(struct db *db, enum rc (*work)(struct db *db, void *arg),
				    void *arg);

/* What was asked is refused as such, while something else may well be done. */
bool db_refused(enum rc rc);

/* The last error in words, for people; never NULL. */
const char *db_error(const struct db *db);

/* The last error was that this account may not do what was asked: it lacks a right. */
bool db_lacks_right(const struct db *db);

/* The last RC_FAULT was that a table, column or key to be made is there. */
bool db_was_there(const struct db *db);

/* The last RC_RETRY was that the server has no room, on its disk or by one of its limits. */
bool db_lacks_room(const struct db *db);

/* The last RC_INVALID was a value larger than the server's packets. */
bool db_was_too_large(const struct db *db);

/* The last RC_RETRY was a row that another session holds for longer than it is waited for. */
bool db_was_locked_out(const struct db *db);

/* "10.11.19-MariaDB by libmariadb 3.3.20", for doctor. Needs a connection; else the client's part
 * only. */
const char *db_versions(struct db *db);

/* The client library that runs, and the one that this program was compiled for. */
struct client_library {
	const char *name, *version; /* "libmariadb" or "libmysqlclient", "3.3.20" */
	const char *compiled_name, *compiled_version;
};
struct client_library db_client_library(void);

#endif
