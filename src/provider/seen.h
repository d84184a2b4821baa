/* seen.h: libcurl's facts about a finished exchange -> how it ended and how far the request got. */
#ifndef PROVIDER_SEEN_H
#define PROVIDER_SEEN_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "provider/answer.h"

/* What libcurl can be relied on for. Not among them, measured with 7.88.1: CURLINFO_CONNECT_TIME_T
 * is still 0 while a TLS handshake hangs on a standing connection; CURLINFO_PRETRANSFER_TIME_T only
 * tells that a first piece was sent; CURLINFO_STARTTRANSFER_TIME_T is set by a close without a
 * byte, and by a body of more than 64 KiB on its way out. */
struct seen_facts {
	CURLcode code;
	/* libcurl was about to send: its pre-request callback ran. Before that no byte goes out. */
	bool may_send;
	bool proxied;	    /* a proxy answered CONNECT (CURLINFO_HTTP_CONNECTCODE) */
	bool broke;	    /* the system reported an error of the connection (CURLINFO_OS_ERRNO) */
	uint64_t body_sent; /* bytes of the request's body that were handed to the system */
	uint64_t body_len;
};

enum phase seen_phase(const struct seen_facts *facts, const struct answer *answer);

enum seen_end seen_end(const struct seen_facts *facts, const struct answer *answer);

#endif
