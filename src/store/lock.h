/* lock.h: a job's or a provider's row, locked, as what a decision needs. Private to store. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/moves.h"
#include "store/job_store.h"
#include "store/stmt.h"

struct locked_job {
	struct id id;
	char owner[OWNER_MAX];
	size_t owner_len;
	bool tombstone;
	enum job_state state;
	uint64_t version;
	uint64_t revision;
	bool has_completed_by;
	struct id completed_by;
	uint32_t attempt_count;
	uint32_t attempts_allowed;
	char provider[NAME_MAX_LEN + 1];
	char next_provider[NAME_MAX_LEN + 1];
	enum reason error_reason;
	bool effect_done;
	int64_t deadline_left_us; /* INT64_MAX: no deadline */
	bool has_result;
	unsigned char result_sha256[SHA256_BYTES]; /* stays when the result is purged */
	bool purged;				   /* its payloads are gone */
	char contract[NAME_MAX_LEN + 1];	   /* "": none */
	uint32_t contract_version;
};

/* Inside a transaction. RC_NOT_FOUND. */
MUST_CHECK enum rc lock_job(struct db *db, const struct id *id, struct locked_job *locked_out);

/* The same for several, all different and in the order of their ids, in which they are locked.
 * *len_out: how many there are. */
MUST_CHECK enum rc lock_jobs(struct db *db, const struct id *ids, size_t len,
			     struct locked_job *locked_out, size_t *len_out);

/* Of several, in the order of their ids: locks those that no other session holds, and leaves no
 * others in the list. Outside a transaction it only looks. For work that comes again: what somebody
 * holds, for however long, keeps the rest waiting for nothing. */
MUST_CHECK enum rc lock_free_jobs(struct db *db, struct id *ids, size_t *len);

/* A provider's row, share-locked. definition_out may be NULL; else it is the caller's.
 * RC_NOT_FOUND. */
MUST_CHECK enum rc lock_provider(struct db *db, const char *name, bool *enabled_out,
				 struct blob *definition_out);

/* In a cluster: the provider's row is written by this transaction, so that of all that rest on it
 * (claims, resends, changes of it, of its routes and its certificates) none is committed at another
 * node meanwhile; and locked at this one. Before any other row but a poller's, or when it is locked
 * already. Nothing on a single server, where the lock does it. No such provider: RC_OK. */
MUST_CHECK enum rc lock_hold_provider(struct db *db, const char *name);

/* The same for the providers of a contract's routes. */
MUST_CHECK enum rc lock_hold_routes(struct db *db, const char *contract);

bool lock_visible(const struct locked_job *locked, const struct identity *who);
bool lock_matches(const struct locked_job *locked, const struct if_match *if_match);

#endif
