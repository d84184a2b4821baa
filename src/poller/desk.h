/* desk.h: the poller's database, on a thread of its own: claims, leases, settling, reaping. The
 * wire never waits for it.
 *
 * Between the two threads there are two chains of errands under one lock: claimed ones go out to
 * the wire, finished ones come back. What came back is settled in batches: whatever is there when
 * the thread is free. */
#ifndef POLLER_DESK_H
#define POLLER_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "poller/errand.h"

struct desk;

struct desk_orders {
	const char *defaults_file;
	uint32_t in_flight_max;
	uint32_t lease_s;
	uint32_t poll_ms;
	bool once;		 /* stop claiming when nothing is due */
	void (*ring)(void *arg); /* called on the desk's thread: there are errands to take, or the
				    desk is done */
	void *arg;
};

/* Starts the thread. NULL: logged. `orders` is copied. */
struct desk *desk_open(const struct desk_orders *orders);

/* Claim no more. The desk is done when all it has handed out has come back and is settled. */
void desk_stop_claiming(struct desk *desk);

/* The wire's side: take what was claimed; bring back what is finished. */
void desk_take(struct desk *desk, struct errand_list *claimed_out);
void desk_return(struct desk *desk, struct errand_list *finished);
bool desk_done(struct desk *desk);

/* Time is short: while the database refuses, try for about ten seconds more, or (at_once) no more
 * than one, and then be done. */
void desk_hurry(struct desk *desk, bool at_once);

/* Waits for the thread, and frees. False: something could not be settled (the database is away) and
 * is left to its lease; or --once never found a database to work with. Logged. */
bool desk_close(struct desk *desk);

#endif
