/* shop.h: for tests of provider/: the print shop as a child process, and one exchange with it
 * through a multi handle, driven as the poller drives it. A failure in here fails the test that
 * called. */
#ifndef TESTS_PROVIDER_SHOP_H
#define TESTS_PROVIDER_SHOP_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "provider/exchange.h"

/* Starts the program named by $PRINTSHOP on a free port; the URL is http://127.0.0.1:PORT. */
void shop_open(void);
void shop_close(void);
const char *shop_url(void);

/* Requests that a printer has received since it was first named. */
int shop_requests(const char *printer);

/* Waits, up to 5 s, until a printer has read so many requests to their end. */
void shop_wait_requests(const char *printer, int requests);

/* GET or POST of a path of the shop; the body, which the caller frees. */
char *shop_ask(const char *method, const char *path);

/* A server for one connection, in a thread: reads a header and `want` bytes of body, says `reply`,
 * closes. Set reply, reply_len and want, peer_start(), use port; peer_end() waits for it, then
 * `got` is what it has read. */
struct peer {
	int listener;
	int port;
	const char *reply;
	size_t reply_len;
	size_t want; /* bytes of body to read before the reply */
	bool reset;  /* end with a reset */
	char got[65536];
	size_t got_len;
	pthread_t thread;
};

void peer_start(struct peer *peer);
void peer_end(struct peer *peer);

/* A listening socket that nobody accepts from: the system takes connections and some bytes, and no
 * answer ever comes. */
int silent_listener(int *port_out);

/* One exchange and what came of it. Zero it, set what differs from the defaults, trade_make(),
 * look, trade_release(). */
struct trade {
	/* before */
	const char *url;  /* whole; or NULL and: */
	const char *path; /* of the shop: "/inkjet/stall" */
	const char *row;  /* more members of the provider's row, each with ", " in front; or NULL */
	const char *input; /* or NULL: {"copies":1} */
	size_t input_len;  /* 0: to the NUL */
	const char *key;   /* or NULL: a fixed one */
	const char *traceparent;
	enum exchange_kind kind; /* with `reference` for a question's URL */
	const char *reference;
	const struct route *route; /* with `values` for its headers; or NULL */
	const struct template_values *values;
	int64_t budget_ms; /* 0: none; any below -1: spent */
	int64_t now_us;
	int64_t hold_ms; /* from its making on; 0: it may be sent at any time */
	bool wait_out;	 /* the hold is over by the time that the request is handed to libcurl */
	CURLM *multi;	 /* or NULL: one of its own */
	/* after */
	enum rc built;
	CURLcode code;
	int64_t took_ms;
	struct provider_def def;
	struct exchange *exchange;
	struct seen seen;
	struct outcome outcome;
};

void trade_make(struct trade *trade);
void trade_release(struct trade *trade);

#endif
