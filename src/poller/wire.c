#include "poller/wire.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/callback.h"
#include "poller/request.h"
#include "provider/exchange.h"
#include "provider/hook.h"

#define CALLBACK_MAX_BYTES 4096

struct wire {
	struct wire_orders orders;
	CURLM *multi;
	uv_timer_t timer;
	struct errand *list; /* those in flight, by prev and next */
	size_t in_flight;
	bool abandoned; /* nothing goes out any more */
};

/* What the watcher of one socket needs. */
struct watch {
	uv_poll_t poll;
	struct wire *wire;
	curl_socket_t socket;
};

static uint32_t random_u32(void)
{
	uint32_t random;

	clock_random(&random, sizeof random);
	return random;
}

/* --- the list of those in flight, to abandon them by */

static void list_add(struct wire *wire, struct errand *errand)
{
	errand->prev = NULL;
	errand->next = wire->list;
	if (wire->list)
		wire->list->prev = errand;
	wire->list = errand;
	wire->in_flight++;
}

static void list_remove(struct wire *wire, struct errand *errand)
{
	if (errand->prev)
		errand->prev->next = errand->next;
	else
		wire->list = errand->next;
	if (errand->next)
		errand->next->prev = errand->prev;
	errand->prev = errand->next = NULL;
	wire->in_flight--;
}

/* --- the end of an exchange */

/* Now, by the database's clock: neither what a Retry-After date is measured against nor the time in
 * a message's signature depends on this machine's. */
static int64_t now_us(const struct errand *errand)
{
	return errand->claimed_us + (clock_monotonic_ms() - errand->claimed_ms) * 1000;
}

static void conclude(struct wire *wire, struct errand *errand, struct exchange *exchange,
		     const struct seen *seen)
{
	errand_conclude(errand, seen, random_u32());
	exchange_free(exchange);
	wire->orders.finished(errand, wire->orders.arg);
}

static void conclude_hook(struct wire *wire, struct errand *errand, CURLcode code)
{
	const char *why = "";

	errand->told_end = hook_end(errand->exchange, code, &why);
	snprintf(errand->told_why, sizeof errand->told_why, "%s", why);
	errand->told_retry_after_ms = hook_retry_after_ms(errand->exchange, now_us(errand));
	hook_free(errand->exchange);
	wire->orders.finished(errand, wire->orders.arg);
}

static struct errand *errand_of(CURL *easy)
{
	char *private = NULL;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	return (struct errand *)private;
}

static void take_finished(struct wire *wire)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(wire->multi, &left))) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		struct errand *errand = errand_of(msg->easy_handle);
		CURLcode code = msg->data.result;
		struct seen seen;

		curl_multi_remove_handle(wire->multi, msg->easy_handle);
		list_remove(wire, errand);
		if (errand->kind == ERRAND_HOOK) {
			conclude_hook(wire, errand, code);
			continue;
		}
		exchange_seen(errand->exchange, code, now_us(errand), &seen);
		conclude(wire, errand, errand->exchange, &seen);
	}
}

/* --- libuv <-> libcurl */

static void act(struct wire *wire, curl_socket_t socket, int events)
{
	int running;
	CURLMcode code = curl_multi_socket_action(wire->multi, socket, events, &running);

	if (code != CURLM_OK)
		log_error("wire.multi", "error=\"%s\"", curl_multi_strerror(code));
	take_finished(wire);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;
	int flags = 0;

	if (status < 0)
		flags = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	act(watch->wire, watch->socket, flags);
}

static void on_timer(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void free_watch(uv_handle_t *handle)
{
	free(handle->data);
}

static int set_socket(CURL *easy, curl_socket_t socket, int what, void *arg, void *socket_arg)
{
	struct wire *wire = arg;
	struct watch *watch = socket_arg;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch) {
			uv_poll_stop(&watch->poll);
			uv_close((uv_handle_t *)&watch->poll, free_watch);
			curl_multi_assign(wire->multi, socket, NULL);
		}
		return 0;
	}
	if (!watch) {
		watch = calloc(1, sizeof *watch);
		if (!watch || uv_poll_init_socket(wire->orders.loop, &watch->poll, socket) != 0) {
			free(watch);
			return -1;
		}
		watch->poll.data = watch;
		watch->wire = wire;
		watch->socket = socket;
		curl_multi_assign(wire->multi, socket, watch);
	}
	if (what != CURL_POLL_OUT)
		events |= UV_READABLE;
	if (what != CURL_POLL_IN)
		events |= UV_WRITABLE;
	return uv_poll_start(&watch->poll, events, on_socket);
}

/* libcurl forbids calling back into it from here, so even "now" goes by way of the loop. */
static int set_timer(CURLM *multi, long ms, void *arg)
{
	struct wire *wire = arg;

	(void)multi;
	if (ms < 0)
		return uv_timer_stop(&wire->timer);
	return uv_timer_start(&wire->timer, on_timer, (uint64_t)ms, 0);
}

/* --- sending */

/* The deadline goes on while an attempt waits to be sent. */
static int64_t budget_left(const struct errand *errand)
{
	int64_t waited_ms = clock_monotonic_ms() - errand->claimed_ms;

	if (errand->budget_ms < 0)
		return EXCHANGE_NO_BUDGET;
	return errand->budget_ms > waited_ms ? errand->budget_ms - waited_ms : 0;
}

/* While the lease of its claim lasts, and for a resend no longer than its hold, nobody frees the
 * job for another attempt. The poller may renew its lease; but whether it has is known to the
 * database alone. */
static int64_t send_before_ms(const struct wire *wire, const struct errand *errand)
{
	int64_t lease_ms = (int64_t)wire->orders.lease_s * 1000;
	int64_t hold_ms = (int64_t)errand->def->timeout_ms + ASK_HOLD_BESIDE_MS;

	if (errand->kind == ERRAND_SEND)
		return errand->claimed_ms + lease_ms;
	if (errand->kind == ERRAND_RESEND)
		return errand->claimed_ms + (hold_ms < lease_ms ? hold_ms : lease_ms);
	return EXCHANGE_AT_ANY_TIME;
}

static struct exchange_order order_of(const struct wire *wire, const struct errand *errand,
				      const struct request *request)
{
	static const enum exchange_kind kinds[ERRAND_KIND__MAX] = {
		[ERRAND_SEND] = EXCHANGE_WORK,	   [ERRAND_RESEND] = EXCHANGE_WORK,
		[ERRAND_STATUS] = EXCHANGE_STATUS, [ERRAND_CANCEL] = EXCHANGE_CANCEL,
		[ERRAND_CERTIFY] = EXCHANGE_WORK,
	};
	struct exchange_order order = {
		.def = errand->def,
		.job_id = errand->job_id,
		.attempt_id = errand->attempt_id,
		.traceparent = errand->traceparent[0] ? errand->traceparent : NULL,
		.budget_ms = budget_left(errand),
		.send_before_ms = send_before_ms(wire, errand),
		.kind = kinds[errand->kind],
		.reference = errand->reference,
	};

	request_order(errand, request, &order);
	return order;
}

/* NULL where the deployment takes no callbacks. */
static const char *make_callback(const struct wire *wire, const struct errand *errand,
				 struct text *url)
{
	const struct keyring *ring = wire->orders.keyring;

	if (!wire->orders.callback_base || ring->len == 0)
		return NULL;
	callback_url(wire->orders.callback_base, ring->keys[0].bytes, ring->keys[0].len,
		     &errand->attempt_id, url);
	return text_ok(url) ? url->bytes : NULL;
}

static void return_unsent(struct wire *wire, struct errand *errand, const char *detail)
{
	errand_never_sent(errand, detail, random_u32());
	wire->orders.finished(errand, wire->orders.arg);
}

/* The input has been copied into the request; a thousand of them need not be held twice. With a
 * contract it is needed to judge the answer by. */
static void drop_input(struct errand *errand)
{
	if (!errand->input || errand->has_contract)
		return;
	free(errand->input->bytes);
	*errand->input = (struct blob){ 0 };
}

static bool begin(struct wire *wire, struct errand *errand, CURL *easy)
{
	if (curl_easy_setopt(easy, CURLOPT_PRIVATE, errand) != CURLE_OK ||
	    curl_multi_add_handle(wire->multi, easy) != CURLM_OK)
		return false;
	list_add(wire, errand);
	return true;
}

/* One that can't be sent now is left to its hold. */
static void send_hook(struct wire *wire, struct errand *errand)
{
	const struct hook_order order = { &errand->message->event, &errand->message->def,
					  now_us(errand), wire->orders.hooks_private };
	struct hook *hook;
	enum rc rc = wire->abandoned ? RC_FAULT : hook_build(&order, &hook);

	if (rc != RC_OK && rc != RC_INVALID) {
		wire->orders.finished(errand, wire->orders.arg);
		return;
	}
	errand->exchange = hook;
	if (rc == RC_INVALID) {
		conclude_hook(wire, errand, CURLE_OK);
	} else if (!begin(wire, errand, hook->easy)) {
		hook_free(hook);
		wire->orders.finished(errand, wire->orders.arg);
	}
}

/* After the claim. A question's hold is its row's time-out and this much beside it. */
static int64_t latest_ms(const struct wire *wire, const struct errand *errand)
{
	return (errand->kind == ERRAND_SEND ? (int64_t)wire->orders.lease_s * 1000
					    : ASK_HOLD_BESIDE_MS) /
	       2;
}

static void send_made(struct wire *wire, struct errand *errand, const struct exchange_order *order)
{
	struct exchange *exchange;
	struct seen seen;
	enum rc rc = exchange_build(order, &exchange);

	drop_input(errand);
	if (rc != RC_OK && rc != RC_INVALID) {
		return_unsent(wire, errand, "no memory for the request");
		return;
	}
	if (rc == RC_INVALID) {
		exchange_seen(exchange, CURLE_OK, now_us(errand), &seen);
		conclude(wire, errand, exchange, &seen);
		return;
	}
	errand->exchange = exchange;
	if (!begin(wire, errand, exchange->easy)) {
		exchange_free(exchange);
		return_unsent(wire, errand, "libcurl refused the request before it was sent");
	}
}

static void return_unmade(struct wire *wire, struct errand *errand, enum rc rc, const char *why)
{
	const struct seen seen = { .end = SEEN_NOT_BUILT,
				   .phase = PHASE_NOT_SENT,
				   .retry_after_ms = -1,
				   .body = "",
				   .detail_public = true, /* the place in the owner's input */
				   .detail = why };

	if (rc == RC_INVALID)
		conclude(wire, errand, NULL, &seen);
	else if (rc == RC_NOT_FOUND)
		wire->orders.finished(errand, wire->orders.arg);
	else
		return_unsent(wire, errand,
			      rc == RC_RETRY ? "this program can't read the contract's version"
					     : "no memory for the request");
}

static void send_request(struct wire *wire, struct errand *errand)
{
	char seen_why[512];
	struct request request;
	struct text callback, why;

	if (wire->abandoned) {
		return_unsent(wire, errand, "the poller went down before it could be sent");
		return;
	}
	if (clock_monotonic_ms() - errand->claimed_ms >= latest_ms(wire, errand)) {
		return_unsent(wire, errand, "half of its hold had passed before it could be sent");
		return;
	}
	text_init(&callback, CALLBACK_MAX_BYTES);
	text_init(&why, sizeof seen_why - 1);
	enum rc rc = request_make(errand, make_callback(wire, errand, &callback), &request, &why);

	snprintf(seen_why, sizeof seen_why, "%s", why.bytes ? why.bytes : "");
	if (rc == RC_OK) {
		struct exchange_order order = order_of(wire, errand, &request);

		send_made(wire, errand, &order);
	} else {
		return_unmade(wire, errand, rc, seen_why);
	}
	request_release(&request);
	text_release(&why);
	text_release(&callback);
}

void wire_send(struct wire *wire, struct errand *errand)
{
	if (errand->kind == ERRAND_HOOK)
		send_hook(wire, errand);
	else
		send_request(wire, errand);
}

size_t wire_in_flight(const struct wire *wire)
{
	return wire->in_flight;
}

void wire_abandon(struct wire *wire)
{
	wire->abandoned = true;
	while (wire->list) {
		struct errand *errand = wire->list;
		bool hook = errand->kind == ERRAND_HOOK;
		struct exchange *exchange = hook ? NULL : errand->exchange;
		struct seen seen;

		curl_multi_remove_handle(wire->multi, hook ? ((struct hook *)errand->exchange)->easy
							   : exchange->easy);
		list_remove(wire, errand);
		if (hook) {
			hook_free(errand->exchange);
			wire->orders.finished(errand, wire->orders.arg);
			continue;
		}
		exchange_abandoned(exchange, now_us(errand), &seen);
		conclude(wire, errand, exchange, &seen);
	}
}

/* --- birth and death */

struct wire *wire_open(const struct wire_orders *orders)
{
	struct wire *wire = calloc(1, sizeof *wire);

	if (!wire)
		return NULL;
	wire->orders = *orders;
	wire->multi = curl_multi_init();
	if (!wire->multi) {
		log_error("wire.open", "libcurl has no memory");
		free(wire);
		return NULL;
	}
	uv_timer_init(orders->loop, &wire->timer);
	wire->timer.data = wire;
	curl_multi_setopt(wire->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(wire->multi, CURLMOPT_SOCKETDATA, wire);
	curl_multi_setopt(wire->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(wire->multi, CURLMOPT_TIMERDATA, wire);
	curl_multi_setopt(wire->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)orders->in_flight_max);
	curl_multi_setopt(wire->multi, CURLMOPT_MAXCONNECTS, (long)orders->in_flight_max);
	return wire;
}

/* libcurl stops watching the sockets of its kept connections here, while the loop still runs. */
void wire_close(struct wire *wire)
{
	curl_multi_cleanup(wire->multi);
	wire->multi = NULL;
	uv_close((uv_handle_t *)&wire->timer, NULL);
}

void wire_free(struct wire *wire)
{
	free(wire);
}
