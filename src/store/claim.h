/* claim.h: what a poller takes from the queue, its lease, and what dead pollers left.
 *
 * A poller's id is new at each start and its lease is one row; every attempt it has claimed is held
 * under that lease. All times are the database's. */
#ifndef STORE_CLAIM_H
#define STORE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/contract.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "store/db.h"

#define CLAIM_MAX 256
#define CLAIM_BYTES_MAX (UINT64_C(64) << 20) /* of the inputs of one claim, or one job */
#define CLAIM_PROVIDERS_MAX 256		     /* with jobs that are due, looked at by one claim */

/* One attempt on disk that may be sent now. */
struct claim {
	struct id job_id;
	struct id attempt_id;
	uint32_t number;
	uint64_t version_read;
	uint32_t generation; /* the provider's key is <job id>-<generation> */
	uint32_t tries_here; /* attempts of this job at this provider, this one included: for the
				back-off */
	char provider[NAME_MAX_LEN + 1];
	uint32_t provider_version;
	struct provider_def *def; /* shared by the claims of one batch; claim_list_free() */
	struct blob input;
	int64_t now_us;	   /* the database's clock at the claim */
	int64_t budget_ms; /* until deadline_at by the database's clock; -1: none */
	char traceparent[TRACEPARENT_LEN + 1]; /* the client's, or "" */

	/* With a contract; these two are NULL where this program can't read that version, and then
	 * nothing may be sent. Shared by the claims of one batch. */
	char contract_name[NAME_MAX_LEN + 1]; /* "": none */
	uint32_t contract_version;
	const struct contract *contract;
	const struct route *route;
	bool has_certificate; /* it needed one */
	struct id certificate_id;
};

struct claim_contract {
	char name[NAME_MAX_LEN + 1];
	uint32_t version;
	struct contract *contract;
};

struct claim_list {
	struct claim *list;
	size_t len;
	struct provider_def *defs; /* what the claims point to */
	size_t defs_len;
	struct claim_contract *contracts;
	size_t contracts_len;
	bool cut; /* there are more that are due, whose inputs would have been too much at once */
	bool unwalked; /* a provider's owners are more than one claim looks through: some may have
			  something due that haven't been looked at in this round */
};
void claim_list_free(struct claim_list *claims);

/* Register a new poller, or renew its lease. RC_NOT_FOUND from renew: the lease had run out and
 * others may have reaped; take a new id. lease_s 30 to 3600. */
MUST_CHECK enum rc poller_register(struct db *db, const struct id *id, const char *host,
				   uint32_t pid, uint32_t lease_s);
MUST_CHECK enum rc poller_renew(struct db *db, const struct id *id, uint32_t lease_s);
MUST_CHECK enum rc poller_leave(struct db *db, const struct id *id);

/* Up to `max` (at most CLAIM_MAX) due jobs get a `starting` attempt each, in one commit, which also
 * renews the lease. Bounded per provider by max_in_flight over all pollers, resends included;
 * providers take turns, and at each of them its owners. `ids`: max fresh ids for the attempts.
 * cursor: where the turns stand, kept by the caller, zeroed at first.
 *
 * RC_OK: committed, may be sent (len 0 is no error). RC_RETRY, RC_FAULT: nothing claimed.
 * RC_UNCERTAIN: the commit's answer was lost; send nothing, the lease makes it unknown.
 * RC_NOT_FOUND: the lease had run out; nothing claimed. */
struct claim_turn {
	char provider[NAME_MAX_LEN + 1];
	unsigned char owner[OWNER_MAX]; /* the last one served or looked at */
	size_t owner_len;		/* 0: none was served here yet */

	/* A round that no claim has been through yet: where it began. */
	bool walking;
	unsigned char begun[OWNER_MAX];
	size_t begun_len;
};
struct claim_cursor {
	char provider[NAME_MAX_LEN + 1]; /* the last one served */
	struct claim_turn turns[CLAIM_PROVIDERS_MAX];
	size_t turns_len;
};
MUST_CHECK enum rc claim_jobs(struct db *db, const struct id *poller, uint32_t lease_s,
			      const struct id *ids, size_t max, struct claim_cursor *cursor,
			      struct claim_list *claims_out);

/* Whether a job could start now, were there room for it. */
MUST_CHECK enum rc claim_any_due(struct db *db, bool *due_out);

/* Attempts of pollers whose lease has run out become unknown (poller_lost). */
MUST_CHECK enum rc claim_reap(struct db *db, size_t *reaped_out);

/* Queued jobs whose provider isn't there any more (a create that crossed its deletion) fail for
 * good: never_sent. */
MUST_CHECK enum rc claim_fail_stranded(struct db *db, size_t *failed_out);

/* Jobs queued along a later route of their contract whose provider has been disabled go on to the
 * next one that is open, or fail for good. At most 64 a call. */
MUST_CHECK enum rc claim_reroute(struct db *db, size_t *moved_out);

/* Queued jobs whose expires_at (before any attempt) or deadline_at has passed fail for good. At
 * most 256 a call. */
MUST_CHECK enum rc claim_expire(struct db *db, size_t *expired_out);

#endif
