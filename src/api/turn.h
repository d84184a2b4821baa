/* turn.h: which thread of a process takes connections.
 *
 * Where they are mostly creates and reads one does, so that those which come at the same moment
 * meet in it, and share a statement. It keeps the turn from one batch to the next: nothing is
 * handed over, nobody is woken. Where it is busy for longer than it should be (a statement waits
 * for another session's row), one of those who wait takes the turn from it. Where they are mostly
 * something else, which can't be shared, the turn is open to all threads. */
#ifndef API_TURN_H
#define API_TURN_H

#include <stdbool.h>

struct turn;

/* How long one thread's work may hold up the connections that come meanwhile. */
#define TURN_PATIENCE_MS 100

struct turn *turn_new(int patience_ms); /* NULL: no memory */
void turn_free(struct turn *turn);	/* NULL is fine */

/* A thread's own, zeroed at first: which turn it has or had. */
typedef unsigned long turn_ticket;

enum turns {
	TURN_MINE,    /* or open to all */
	TURN_NOT_YET, /* idle_ms have passed */
	TURN_STOPPED,
	TURN__MAX
};

/* Waits for the turn, if this thread doesn't have it (any more). */
enum turns turn_wait(struct turn *turn, turn_ticket *ticket, int idle_ms);

bool turn_is_mine(struct turn *turn, turn_ticket ticket);

/* The holder has work from now on, until it waits for its next turn. */
void turn_busy(struct turn *turn, turn_ticket ticket);

/* What a thread had to do: of the kinds that can share a statement, and others. */
void turn_took(struct turn *turn, unsigned int shared, unsigned int others);

/* The holder's: to another thread, if one waits. */
void turn_pass(struct turn *turn, turn_ticket ticket);

/* Nobody gets it any more. */
void turn_stop(struct turn *turn);

#endif
