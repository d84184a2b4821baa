#include "poller/loop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/keyring.h"
#include "base/log.h"
#include "poller/desk.h"
#include "poller/wire.h"

#define DESCRIPTORS_BESIDE 64 /* for the database, the loop and name look-ups */
#define SENT_AT_ONCE 32	      /* between two looks at the sockets */

struct poller {
	uv_loop_t loop;
	uv_async_t bell; /* the desk rings it from its thread */
	uv_signal_t term, interrupt;
	uv_timer_t span; /* --for */
	uv_timer_t grace;
	uint32_t grace_s;
	bool stopping;
	bool again; /* told to stop more than once */
	bool over;  /* the desk is done, the handles are closing */
	struct keyring keyring;
	struct desk *desk;
	struct errand_list claimed; /* taken from the desk, and not yet sent */
	struct wire *wire;
};

static void finished(struct errand *errand, void *arg)
{
	struct poller *p = arg;
	struct errand_list list = { 0 };

	errand_push(&list, errand);
	desk_return(p->desk, &list);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle) && handle->type != UV_POLL)
		uv_close(handle, NULL);
}

static void end(struct poller *p)
{
	if (p->over)
		return;
	p->over = true;
	wire_close(p->wire);
	uv_walk(&p->loop, close_handle, NULL);
}

/* A large claim goes out in pieces: libcurl begins to connect, and hears answers, in the loop
 * alone, and the first of hundreds shall not wait until the last is built. */
static void on_bell(uv_async_t *bell)
{
	struct poller *p = bell->data;
	struct errand_list claimed;
	struct errand *errand;

	desk_take(p->desk, &claimed);
	errand_append(&p->claimed, &claimed);
	for (int n = 0; n < SENT_AT_ONCE && (errand = errand_pop(&p->claimed)); n++)
		wire_send(p->wire, errand);
	if (p->claimed.len > 0)
		uv_async_send(bell);
	if (desk_done(p->desk))
		end(p);
}

static void ring(void *arg)
{
	struct poller *p = arg;

	uv_async_send(&p->bell);
}

static void on_grace_over(uv_timer_t *timer)
{
	struct poller *p = timer->data;

	log_warning("poller.abandon", "in_flight=%zu: the grace is over; they are unknown",
		    wire_in_flight(p->wire));
	wire_abandon(p->wire);
	desk_hurry(p->desk, p->again);
}

static void on_span_over(uv_timer_t *timer)
{
	struct poller *p = timer->data;

	desk_stop_claiming(p->desk);
}

/* The first signal stops the claiming and waits for answers; the second doesn't wait. */
static void on_signal(uv_signal_t *handle, int signum)
{
	struct poller *p = handle->data;

	log_info("poller.stop", "signal=%d in_flight=%zu again=%d", signum, wire_in_flight(p->wire),
		 p->stopping);
	desk_stop_claiming(p->desk);
	p->again = p->stopping;
	uv_timer_start(&p->grace, on_grace_over, p->stopping ? 0 : (uint64_t)p->grace_s * 1000, 0);
	p->stopping = true;
}

/* A thousand requests need more descriptors than the usual soft limit. */
static enum rc raise_limit(uint32_t in_flight_max)
{
	struct rlimit limit;
	rlim_t need = (rlim_t)in_flight_max + DESCRIPTORS_BESIDE;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return RC_FAULT;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < need) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need)
		return RC_OK;
	log_error("poller.descriptors",
		  "ONEJOB_IN_FLIGHT=%" PRIu32 " needs %ju descriptors, the limit is %ju: raise the "
		  "limit or lower the setting",
		  in_flight_max, (uintmax_t)need, (uintmax_t)limit.rlim_max);
	return RC_INVALID;
}

static void open_handles(struct poller *p, const struct options *options)
{
	uv_loop_init(&p->loop);
	uv_async_init(&p->loop, &p->bell, on_bell);
	uv_signal_init(&p->loop, &p->term);
	uv_signal_init(&p->loop, &p->interrupt);
	uv_timer_init(&p->loop, &p->span);
	uv_timer_init(&p->loop, &p->grace);
	p->bell.data = p->term.data = p->interrupt.data = p->span.data = p->grace.data = p;
	uv_signal_start(&p->term, on_signal, SIGTERM);
	uv_signal_start(&p->interrupt, on_signal, SIGINT);
	if (options->for_s)
		uv_timer_start(&p->span, on_span_over, (uint64_t)options->for_s * 1000, 0);
}

int poller_run(const struct conf *conf, const struct options *options)
{
	struct poller p = { .grace_s = conf->grace_s };
	struct wire_orders wire = { &p.loop,
				    conf->in_flight_max,
				    conf->lease_s,
				    &p.keyring,
				    conf->callback_base,
				    conf->webhook_private == 1,
				    finished,
				    &p };
	struct desk_orders desk = { conf->defaults_file,
				    conf->in_flight_max,
				    conf->lease_s,
				    conf->poll_ms,
				    options->once,
				    ring,
				    &p };

	if (raise_limit(conf->in_flight_max) != RC_OK ||
	    keyring_load(conf->callback_keys, &p.keyring) != RC_OK)
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	open_handles(&p, options);
	p.wire = wire_open(&wire);
	if (!p.wire)
		return EXIT_FAILURE;
	p.desk = desk_open(&desk);
	if (!p.desk)
		return EXIT_FAILURE;
	log_info("poller.start", "in_flight=%" PRIu32 " lease_s=%" PRIu32, conf->in_flight_max,
		 conf->lease_s);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	bool all_settled = desk_close(p.desk);

	wire_free(p.wire);
	keyring_release(&p.keyring);
	uv_loop_close(&p.loop);
	if (!all_settled)
		return EXIT_FAILURE;
	log_info("poller.end", "all that was begun is written down");
	return EXIT_SUCCESS;
}
