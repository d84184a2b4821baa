/* wire.h: the requests on their way: libcurl's multi handle by its socket interface, on a libuv
 * loop. */
#ifndef POLLER_WIRE_H
#define POLLER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/keyring.h"
#include "base/rc.h"
#include "poller/errand.h"

struct wire;

/* finished: called on the loop with an errand whose word is ready; it is the callee's. */
struct wire_orders {
	uv_loop_t *loop;
	uint32_t in_flight_max;
	uint32_t lease_s;
	const struct keyring *keyring; /* signs callback URLs; empty: there are none */
	const char *callback_base;     /* NULL: the same */
	bool hooks_private;	       /* owners' endpoints may have private addresses */
	void (*finished)(struct errand *errand, void *arg);
	void *arg;
};

/* NULL: logged. */
struct wire *wire_open(const struct wire_orders *orders);

/* Send it, unless half of its lease has passed since it was claimed. It comes back through
 * `finished`, maybe at once. */
void wire_send(struct wire *wire, struct errand *errand);

size_t wire_in_flight(const struct wire *wire);

/* Give up what is on its way: each comes back as unknown (shutdown). What is to be sent from now on
 * comes back unsent. */
void wire_abandon(struct wire *wire);

/* Stops the loop's handles; the loop must run until they are closed, then wire_free(). Nothing may
 * be in flight. */
void wire_close(struct wire *wire);
void wire_free(struct wire *wire);

#endif
