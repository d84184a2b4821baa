/* fake_store.h: the store's functions that the API calls, scripted, so that its tests need no
 * database. */
#ifndef SUPPORT_FAKE_STORE_H
#define SUPPORT_FAKE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/provider_def.h"
#include "store/attempt_store.h"
#include "store/certificate_store.h"
#include "store/contract_store.h"
#include "store/job_store.h"
#include "store/migrate.h"
#include "store/provider_store.h"
#include "store/settle.h"
#include "store/terms_store.h"
#include "store/vitals.h"

#define FAKE_LOOKS 64

/* What the store answers, and what it was asked last. fake_store_reset() before each test. */
struct fake_store {
	/* answers */
	enum rc identify;
	enum role role;
	enum rc get; /* and all other functions that return an rc */
	enum created created;
	enum changed changed;
	enum schema_age schema;
	struct refusal refusal;
	enum settled settled;	       /* of settle_words() */
	const char *definition;	       /* that the attempt was built from; NULL: it isn't known */
	enum attempt_state attempt_is; /* of attempt_store_get() */
	bool too_large;		       /* results, for the database */
	bool more;		       /* lists: older rows exist */
	bool provider_new;
	const char *terms_text; /* the contract of the attempt's job; NULL: none */
	bool contract_new;
	size_t unknown_route; /* of contract_store_put() and certify_store_ask() */
	enum certify_asked asked;
	enum standing standing; /* of the certificate that is handed out */
	enum job_state state;	/* of the job that is handed out; see fake_job() */
	const char *owner;	/* of that job */
	int told_fd;		/* not 0: job_store_create() writes a byte, how many it was given;
				   job_store_look() the same and FAKE_LOOKS */
	int go_fd;		/* not 0: and reads one before it answers */
	bool with_attempt;	/* it has one attempt, in state unknown */

	/* questions */
	unsigned int identify_calls;
	unsigned int write_calls; /* everything that could change a row */
	unsigned int read_calls;  /* get and lists */
	struct caller caller;
	char caller_owner[OWNER_MAX + 1];
	struct idempotency_key key;
	struct intent intent;
	char input[256]; /* the intent's, as text */
	char traceparent[TRACEPARENT_LEN + 1];
	struct job_filter filter;
	char filter_text[NAME_MAX_LEN + OWNER_MAX +
			 2]; /* contract, provider or owner, whichever was given last */
	struct id id;
	bool has_before;
	struct id before;
	bool has_state;
	enum attempt_state attempt_state;
	uint32_t limit;
	char provider[NAME_MAX_LEN + 1]; /* asked for; "" for NULL */
	struct if_match if_match;
	struct word word;
	char word_result[256];
	char word_detail[1001];
	char word_note[4001];
	uint32_t provider_timeout_ms;
	char contract[NAME_MAX_LEN + 1]; /* asked for; "" for NULL */
	size_t contract_routes;		 /* how many the contract that was put has */
	struct certificate_filter certificates;
	struct certify_order order;
	char order_routes[256]; /* with commas between; "" for NULL */
};

extern struct fake_store fake;

void fake_store_reset(void);

/* The job and attempt that are handed out. */
#define FAKE_JOB "01940000-0000-7000-8000-000000000001"
#define FAKE_ATTEMPT "01940000-0000-7000-8000-000000000002"
#define FAKE_RACE "01940000-0000-7000-8000-000000000003"
#define FAKE_CERTIFICATE "01940000-0000-7000-8000-000000000004"
void fake_job(struct job *job_out);

#endif
