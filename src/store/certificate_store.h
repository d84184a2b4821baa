/* certificate_store.h: the verdicts on routes, and the certifications under way. All times are the
 * database's. */
#ifndef STORE_CERTIFICATE_STORE_H
#define STORE_CERTIFICATE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/certificate.h"
#include "core/contract.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "core/standing.h"
#include "store/db.h"

struct certificate_filter {
	const char *contract; /* NULL: any */
	const char *provider;
	bool has_valid;
	bool valid;
	bool has_before; /* keyset: ids below this one */
	struct id before;
	uint32_t limit; /* 1 to 200 */
};

/* The newest verdict of each route of the versions that count now, newest first. A page of long
 * reports ends early: *more_out. */
MUST_CHECK enum rc certificate_store_list(struct db *db, const struct certificate_filter *filter,
					  struct certificate **list_out, size_t *len_out,
					  bool *more_out);
void certificate_list_free(struct certificate *list, size_t len);

/* Reports of verdicts that died or were superseded so long ago become empty lists. */
MUST_CHECK enum rc certificate_store_purge_reports(struct db *db, uint64_t older_than_s,
						   uint64_t *emptied_out);

#define CERTIFICATES_EXPIRING_MAX 256

/* Routes whose certificate has run out or will within so many seconds. contract NULL: of all.
 * list_out: room for CERTIFICATES_EXPIRING_MAX. */
struct expiring {
	char contract[NAME_MAX_LEN + 1];
	char provider[NAME_MAX_LEN + 1];
};
MUST_CHECK enum rc certificate_store_expiring(struct db *db, uint32_t within_s,
					      const char *contract, struct expiring *list_out,
					      size_t *len_out);

/* How each route of the contracts that count now stands, by contract, then in order of preference.
 * contract NULL: of all. More than `max`: *more_out. */
struct route_standing {
	char contract[NAME_MAX_LEN + 1];
	uint32_t place; /* from 0, which needs no certificate */
	char provider[NAME_MAX_LEN + 1];
	enum standing now;  /* NOT_CERTIFIED: there is no verdict on it */
	int64_t expires_us; /* 0: no verdict */
	bool expiring;	    /* within so many seconds, or it has expired */
};
MUST_CHECK enum rc certificate_store_standings(struct db *db, const char *contract,
					       uint32_t within_s, struct route_standing *list_out,
					       size_t max, size_t *len_out, bool *more_out);

enum certify_asked {
	CERTIFY_ASKED, /* 202: each is under way now, or was before */
	CERTIFY_NO_SUCH_CONTRACT,
	CERTIFY_NO_SUCH_ROUTE, /* *unknown_out: which of those that were named */
	CERTIFY_NO_FIXTURES,   /* none with a check of its own */
	CERTIFY_SIDE_EFFECTS,  /* the contract has them and the caller doesn't say so */
	CERTIFY_NOT_STORED,
	CERTIFY_ASKED__MAX
};

struct certify_order {
	const char *contract;
	const char *const *routes; /* providers; NULL: every route */
	size_t routes_len;
	bool side_effects; /* the caller knows of them */
};

/* providers_out: of the runs, CONTRACT_ROUTES_MAX places. */
MUST_CHECK enum certify_asked certify_store_ask(struct db *db, const struct certify_order *order,
						uint32_t *version_out,
						char (*providers_out)[NAME_MAX_LEN + 1],
						size_t *len_out, size_t *unknown_out);

/* What is under way for a contract. */
struct certify_run {
	struct id id;
	uint32_t contract_version;
	char provider[NAME_MAX_LEN + 1];
	uint32_t done, total; /* fixtures, over all rounds */
	bool taken;	      /* a living poller is at it */
};
MUST_CHECK enum rc certify_store_runs(struct db *db, const char *contract,
				      struct certify_run *runs_out, size_t max, size_t *len_out);

/* A run that a poller has taken: it is this poller's as long as its lease runs. */
struct certify_task {
	struct id id;
	char contract_name[NAME_MAX_LEN + 1];
	uint32_t contract_version;
	struct contract *contract; /* owned */
	const struct route *route; /* inside it */
	struct provider_def def;   /* owned */
	uint32_t provider_version;
};
void certify_task_release(struct certify_task *task);

/* Up to `max`; runs whose contract or route is there no more are dropped. The list is the caller's,
 * whatever is returned: free() it after certify_task_release() of each. RC_UNCERTAIN: there may be
 * one more that is this poller's and not in the list; only the end of its lease frees it. */
MUST_CHECK enum rc certify_store_take(struct db *db, const struct id *poller, size_t max,
				      struct certify_task **tasks_out, size_t *len_out);

/* How far it is, and whether to go on: to be asked before each request. RC_NOT_FOUND: send nothing
 * more; the run isn't this poller's any more, or what it is to prove isn't there any more, and it
 * was left: dropped where the contract has another version or the provider was disabled since,
 * begun anew by the next poller where the provider's row is another. A row that changed in what
 * nothing proves is followed. */
MUST_CHECK enum rc certify_store_progress(struct db *db, const struct id *poller,
					  struct certify_task *task, uint32_t done);

/* The verdict: written, with the run's end, in one transaction; dead at once where what was proven
 * has changed meanwhile. RC_NOT_FOUND: the run isn't this poller's any more, nothing is written.
 * RC_INVALID: the report is larger than the database takes; the run is there as before. */
MUST_CHECK enum rc certify_store_end(struct db *db, const struct id *poller,
				     const struct certify_task *task, bool passed,
				     const char *report, size_t report_len);

/* The run ends without a verdict. RC_NOT_FOUND: it isn't this poller's any more. */
MUST_CHECK enum rc certify_store_drop(struct db *db, const struct id *poller,
				      const struct certify_task *task);

/* Whether a poller could begin one now: for --once. */
MUST_CHECK enum rc certify_store_any(struct db *db, bool *any_out);

#endif
