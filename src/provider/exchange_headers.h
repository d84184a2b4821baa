/* exchange_headers.h: the header of a request, as libcurl's list. A line with a control byte can't
 * come to be in it. */
#ifndef PROVIDER_EXCHANGE_HEADERS_H
#define PROVIDER_EXCHANGE_HEADERS_H

#include <curl/curl.h>

#include "base/rc.h"
#include "base/text.h"
#include "provider/exchange.h"

/* RC_OK: *headers_out is the caller's, curl_slist_free_all() it. RC_INVALID: `why` says what can't
 * be sent, without any secret. RC_NOT_FOUND: the same, and what is missing is this host's: a
 * secret, a setting. RC_FAULT: no memory. */
MUST_CHECK enum rc exchange_headers(const struct exchange_order *order,
				    struct curl_slist **headers_out, struct text *why);

#endif
