/* exchange.h: one request to a provider: a provider's row and a job -> a curl handle -> what was
 * seen.
 *
 * An exchange goes over one connection of its own unless the row says that the provider honours an
 * idempotency key: libcurl sends a request again by itself when a kept connection turns out dead.
 * Redirects aren't followed, nothing waits for "100 Continue", and only http and https over
 * HTTP/1.1 are spoken. curl_global_init() is the program's. */
#ifndef PROVIDER_EXCHANGE_H
#define PROVIDER_EXCHANGE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/contract.h"
#include "core/outcome.h"
#include "core/provider_def.h"
#include "core/template.h"
#include "provider/answer.h"

#define EXCHANGE_NO_BUDGET (-1)
#define EXCHANGE_AT_ANY_TIME 0

enum exchange_kind {
	EXCHANGE_WORK,	 /* the attempt itself */
	EXCHANGE_STATUS, /* the row's status query: GET, no body, no key */
	EXCHANGE_CANCEL, /* the row's cancel: its method, no body, no key */
	EXCHANGE_TOOL,	 /* a route's tokenizer: POST to order.url, no key */
	EXCHANGE_KIND__MAX
};

/* What is to be sent. Nothing of it is kept: all may go once exchange_build() has returned. */
struct exchange_order {
	const struct provider_def *def;
	struct id job_id;
	struct id attempt_id;
	const char *input; /* goes out as the body, byte for byte */
	size_t input_len;
	const char *provider_key; /* <job id>-<generation> */
	const char *traceparent;  /* the client's, or NULL */
	int64_t budget_ms;	  /* until the job's deadline; EXCHANGE_NO_BUDGET without one */
	int64_t send_before_ms;	  /* by clock_monotonic_ms(): no byte of it goes out from then on;
				     EXCHANGE_AT_ANY_TIME where that does no harm */
	const char *callback_url; /* of this attempt, for {{callback_url}}; NULL: none here */
	enum exchange_kind kind;
	const char *reference; /* of the two questions: for {{reference}}; may be NULL */

	/* With a contract: the route's headers, filled with these values; else NULL. `input` is the
	 * body, ready to go. */
	const struct route *route;
	const struct template_values *values;
	const char *certify; /* the run's id, of a certification's requests: X-Onejob-Certify; or
				NULL */
	const char *url;     /* EXCHANGE_TOOL */
};

struct exchange {
	CURL *easy;  /* NULL: the request couldn't be made, and exchange_seen() says why */
	void *owner; /* the caller's own; NULL at first */
	struct curl_slist *headers;
	struct answer answer;
	uint64_t input_len;
	bool may_send;	     /* libcurl's pre-request callback ran */
	bool repeated;	     /* and ran again */
	bool deadline_rules; /* the job's deadline comes before the provider's time-out */
	bool too_late;	     /* the deadline had passed before anything was done */
	bool not_equipped;   /* this host lacks a secret or a setting */
	int64_t send_before_ms;
	bool hold_over; /* send_before_ms had come, and nothing went out */
	char detail[CURL_ERROR_SIZE + 256];
};

/* RC_OK: *exchange_out->easy is ready for curl_multi_add_handle(), its CURLOPT_PRIVATE is the
 * exchange. RC_INVALID: it must not be sent (a secret is missing, the deadline or the hold has
 * passed);
 * exchange_seen() with CURLE_OK says so. In both cases *exchange_out is the caller's:
 * exchange_free() it. RC_FAULT: no memory, nothing was made, never sent. */
MUST_CHECK enum rc exchange_build(const struct exchange_order *order,
				  struct exchange **exchange_out);

/* The handle must have been taken out of its multi handle. NULL is fine. */
void exchange_free(struct exchange *exchange);

/* What was seen when the transfer ended with `code`. *seen_out points into the exchange, which must
 * outlive it. now_us is the time (since 1970) against which a Retry-After date is measured where
 * the answer has no Date. */
void exchange_seen(struct exchange *exchange, CURLcode code, int64_t now_us, struct seen *seen_out);

/* The same for one that is given up while it runs, because the poller goes down. */
void exchange_abandoned(struct exchange *exchange, int64_t now_us, struct seen *seen_out);

#endif
