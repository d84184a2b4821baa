/* request.h: what goes out for an errand: the body and the values of the route's headers, built
 * from exactly the versions that were claimed. */
#ifndef POLLER_REQUEST_H
#define POLLER_REQUEST_H

#include "base/rc.h"
#include "base/text.h"
#include "core/template.h"
#include "poller/errand.h"
#include "provider/exchange.h"

#define REQUEST_MAX_BYTES (64u << 20)

struct request {
	struct text made; /* the body, where it isn't the input as written */
	const char *body;
	size_t body_len;
	char job_id[ID_TEXT_LEN + 1], attempt_id[ID_TEXT_LEN + 1];
	char run_id[ID_TEXT_LEN + 1];
	char key[ID_TEXT_LEN + 32];
	struct text url; /* of a tokenizer */
	struct template_values values;
};

/* callback: of the attempt, or NULL. RC_OK: request_order() is complete. RC_INVALID: it can't be
 * made, or is larger than REQUEST_MAX_BYTES: `why` says so (and nothing of the input).
 * RC_NOT_FOUND: a certification's step that needs no request any more. RC_RETRY: this program can't
 * read the contract's version. RC_FAULT: no memory. In each case request_release() it. */
MUST_CHECK enum rc request_make(struct errand *errand, const char *callback,
				struct request *request_out, struct text *why);
void request_release(struct request *request);

/* Fills in what of an order comes from here. It points into the request. */
void request_order(const struct errand *errand, const struct request *request,
		   struct exchange_order *order);

#endif
