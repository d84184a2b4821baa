/* hook.h: one message to an owner's endpoint: an event and an endpoint -> a curl handle -> what
 * became of it.
 *
 * A connection of its own, no redirects, 15 s for the whole of it. The endpoint is an owner's
 * choice, so the address is judged when the connection is made, after the name has been resolved: a
 * name that changes its address in between gains nothing. For the same reason no proxy is used,
 * unless private addresses are allowed. curl_global_init() is the program's. */
#ifndef PROVIDER_HOOK_H
#define PROVIDER_HOOK_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/webhook.h"
#include "core/webhook_def.h"
#include "provider/answer.h"

/* What is to be sent. Nothing of it is kept. */
struct hook_order {
	const struct webhook_event *event;
	const struct webhook_def *def;
	int64_t now_us;	    /* the time of this try, since 1970, by the database's clock */
	bool allow_private; /* any address will do, and the environment's proxy is used */
};

enum hook_end {
	HOOK_DELIVERED, /* 2xx */
	HOOK_GONE,	/* 410: the endpoint wants no more */
	HOOK_TIMED_OUT, /* no answer in time: to be tried again, and others first */
	HOOK_FAILED,	/* anything else: to be tried again */
	HOOK_END__MAX
};

struct hook {
	CURL *easy; /* NULL: the request couldn't be made. CURLOPT_PRIVATE is the caller's. */
	struct curl_slist *headers;
	struct answer answer; /* its header; the body is counted and dropped */
	size_t body_bytes;
	bool allow_private;
	bool answered; /* hook_end(): what it said counts */
	bool refused;  /* an address was refused: `detail` says which */
	char detail[CURL_ERROR_SIZE + 256];
	char error[CURL_ERROR_SIZE]; /* libcurl's */
};

/* RC_OK: *hook_out->easy is ready for curl_multi_add_handle(). RC_INVALID: it can't be signed (a
 * secret is missing or isn't one); hook_end() says so. In both cases *hook_out is the caller's:
 * hook_free() it. RC_FAULT: no memory, nothing was made. */
MUST_CHECK enum rc hook_build(const struct hook_order *order, struct hook **hook_out);

/* The handle must have been taken out of its multi handle. NULL is fine. A message whose hook is
 * freed before its end may have arrived. */
void hook_free(struct hook *hook);

/* What became of it, when the transfer ended with `code` (CURLE_OK after RC_INVALID). *why_out: in
 * words, never what the endpoint or a secret holds, at most 1,000 bytes; it lives in the hook. */
enum hook_end hook_end(struct hook *hook, CURLcode code, const char **why_out);

/* After hook_end(): the Retry-After of a whole answer, in milliseconds (see answer.h); -1: none. */
int64_t hook_retry_after_ms(const struct hook *hook, int64_t now_us);

#endif
