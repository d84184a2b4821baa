/* job_store.h: jobs in the database: create, read, list, cancel, ask for an attempt. */
#ifndef STORE_JOB_STORE_H
#define STORE_JOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/rc.h"
#include "core/idempotency_key.h"
#include "core/intent.h"
#include "core/job.h"
#include "core/standing.h"
#include "store/db.h"

/* Who asks: a bearer token (its SHA-256, which the statement itself checks against the tokens), or
 * an owner whom nginx has authenticated (role user). With both, the token decides and must belong
 * to that owner. */
struct caller {
	bool has_token;
	unsigned char token_sha256[SHA256_BYTES];
	const char *owner; /* NULL: none; else owner_len bytes, 1 to 255 */
	size_t owner_len;
};

/* The caller by the database: fills in the owner and role. RC_NOT_FOUND: no such token, expired, or
 * not that owner's. */
struct identity {
	char owner[OWNER_MAX + 1];
	size_t owner_len;
	enum role role;
};
MUST_CHECK enum rc job_store_identify(struct db *db, const struct caller *caller,
				      struct identity *identity_out);

enum created {
	CREATED_NEW,		  /* 201: committed */
	CREATED_REPLAYED,	  /* 200: the job as it is now */
	CREATED_KEY_REUSED,	  /* 409: job_out holds the first one's id only */
	CREATED_INTENT_CANCELLED, /* 409: the key was cancelled before this create; job_out holds
				     the id */
	CREATED_NO_SUCH_CALLER,	  /* 401 */
	CREATED_NO_SUCH_PROVIDER, /* 422 */
	CREATED_NO_SUCH_CONTRACT, /* 422 */
	CREATED_TOO_LARGE,	  /* 413: larger than the database takes */
	CREATED_NOT_STORED,	  /* 503: the same key may be sent again */
	CREATED__MAX
};

/* A create on its way, and what came of it. What it points to must live until it is decided. */
struct create {
	const struct caller *caller;
	const struct idempotency_key *key;
	const struct intent *intent;
	struct id id;		 /* the new job's */
	int64_t now_us;		 /* the time that created_at shows */
	const char *traceparent; /* the client's, valid, or NULL */
	/* the store's */
	bool alone;	     /* shares no statement */
	bool met;	     /* its key is there, or was another's of the same batch */
	bool caught_up;	     /* the cluster's other nodes have been asked */
	unsigned int rounds; /* so often it was tried alone */
	int64_t until_ms;    /* monotonic; it isn't tried again from then on */
	/* the answer */
	enum created created; /* once it is decided */
	struct job job;	      /* the caller's in every case: job_release() */
};

/* Takes creates that came at the same moment, `n` of at least 1 and at most CREATES_MAX, and tries
 * to decide some: as many as go into one statement, or the first alone. Returns how many are
 * decided; they come first in `creates` then, and the others keep their order but for one that has
 * to be tried again, which goes last. So who calls it until none is left gets an exact answer for
 * each, and one that waits for another session's row holds the others of its batch for little
 * longer than the server lets it wait.
 *
 * A new job alone costs one statement (token, provider and insert together), a replay two, and the
 * second of two equal ones that came together none. */
#define CREATES_MAX 32
MUST_CHECK size_t job_store_create(struct db *db, struct create **creates, size_t n);

/* One statement: the job with its attempts. RC_INVALID: no such caller (401). RC_NOT_FOUND: no such
 * job that this caller may see. RC_RETRY, RC_FAULT: 503. */
MUST_CHECK enum rc job_store_get(struct db *db, const struct caller *caller, const struct id *id,
				 struct job *job_out);

/* If-Match: what the client believes the ETag's pair to be; If-None-Match: what it has. */
struct if_match {
	bool present; /* false: don't check */
	bool any;     /* "*" */
	size_t len;
	struct {
		uint64_t version, revision;
	} list[8];
};
bool if_match_has(const struct if_match *if_match, uint64_t version, uint64_t revision);

/* A read on its way, and what came of it. What it points to must live until it is decided. */
struct look {
	const struct caller *caller;
	struct id id;
	const struct if_match *unless; /* the pairs that the client has; NULL: none */
	/* the store's */
	bool alone; /* shares no statement */
	/* the answer */
	enum rc rc;	/* as of job_store_get() */
	bool unchanged; /* as one of those pairs: of the job nothing is filled in but its id, state,
			   run_after and the pair */
	struct job job; /* the caller's: job_release() */
};

/* Takes reads that came at the same moment, `n` of at least 1, and decides some: up to LOOKS_MAX
 * with one to three statements, or one alone, as job_store_get(), which pays no heed to `unless`;
 * where the database is away, all at once. Returns how many are decided; they come first in `looks`
 * then. */
#define LOOKS_MAX 32
MUST_CHECK size_t job_store_look(struct db *db, struct look **looks, size_t n);

/* The same for one who is known already (the operator's command): an operator sees every job, a
 * user its own. */
MUST_CHECK enum rc job_store_read(struct db *db, const struct identity *who, const struct id *id,
				  struct job *job_out);

struct job_filter {
	bool has_state;
	enum job_state state;
	const char *contract; /* NULL: any; NUL-terminated names */
	const char *provider;
	const char *owner; /* an operator's filter; NULL: any */
	size_t owner_len;
	bool has_before; /* keyset: ids below this one */
	struct id before;
	uint32_t limit; /* 1 to 200 */
};

/* Newest first, up to `limit` rows; *more_out tells whether older ones exist. An array that the
 * caller frees after job_release() of each; see job_list_free(). A user sees its own jobs, whatever
 * the filter says. */
MUST_CHECK enum rc job_store_list(struct db *db, const struct identity *who,
				  const struct job_filter *filter, struct job **jobs_out,
				  size_t *len_out, bool *more_out);
void job_list_free(struct job *jobs, size_t len);

enum changed {
	CHANGED_DONE,	   /* it is as asked, now or before; job_out is the job */
	CHANGED_TOMBSTONE, /* cancel by key: 201, left behind for a create that is still on its way
			    */
	CHANGED_NO_SUCH_JOB,	 /* 404: or attempt */
	CHANGED_STALE,		 /* 412 */
	CHANGED_JOB_SETTLED,	 /* 409 */
	CHANGED_DEADLINE_PASSED, /* 409: no attempt starts any more */
	CHANGED_IN_DOUBT,    /* 409: attempt_out is the attempt (for settle: its poller holds it) */
	CHANGED_EFFECT_DONE, /* 409: role user, after a contract violation with side effects */
	CHANGED_NO_SUCH_PROVIDER,  /* 422 */
	CHANGED_PROVIDER_DISABLED, /* 422: it is there, and disabled */
	CHANGED_NOT_CERTIFIED,	   /* 409: a later route without a valid certificate; refusal.why */
	CHANGED_CONTRACT_VIOLATION, /* 422: the result breaks the contract; refusal.words */
	CHANGED_ATTEMPT_SETTLED,    /* 409: it is in a terminal state */
	CHANGED_ATTEMPT_LOST,	    /* 409: its result lost the swap; the race is logged */
	CHANGED_TOO_LARGE,	    /* 413: larger than the database takes */
	CHANGED_NOT_STORED,	    /* 503 */
	CHANGED__MAX
};

/* What a refusal names. */
struct refusal {
	struct id attempt_id; /* CHANGED_IN_DOUBT: the attempt (it is in the job's too) */
	enum standing why;    /* CHANGED_NOT_CERTIFIED */
	char words[512];      /* CHANGED_CONTRACT_VIOLATION: without any of the payload */
};

/* In each, job_out is filled in (and to be released) for CHANGED_DONE, _TOMBSTONE, _STALE,
 * _JOB_SETTLED, _DEADLINE_PASSED, _IN_DOUBT, _EFFECT_DONE, _ATTEMPT_SETTLED and _ATTEMPT_LOST;
 * zeroed otherwise. */
MUST_CHECK enum changed job_store_cancel(struct db *db, const struct identity *who,
					 const struct id *id, const struct if_match *if_match,
					 struct job *job_out);

MUST_CHECK enum changed job_store_cancel_key(struct db *db, const struct identity *who,
					     const struct idempotency_key *key,
					     const struct id *tombstone_id, int64_t now_us,
					     struct job *job_out);

/* The fallback button. provider: NULL for "{}". */
MUST_CHECK enum changed job_store_request_attempt(struct db *db, const struct identity *who,
						  const struct id *id, const char *provider,
						  const struct if_match *if_match,
						  struct job *job_out, struct refusal *refusal_out);

/* Purging, in small batches of short transactions. Settled jobs whose updated_at is older: payloads
 * emptied (the row and its key stay), or whole rows removed; never while an attempt is in doubt or
 * released. */
MUST_CHECK enum rc job_store_purge_payloads(struct db *db, uint64_t older_than_s,
					    uint64_t *purged_out);
MUST_CHECK enum rc job_store_purge_rows(struct db *db, uint64_t older_than_s, uint64_t *purged_out);

#endif
