/* ready.h: before the poller's first claim: is the database there, and is its schema one that this
 * program can work with? */
#ifndef POLLER_READY_H
#define POLLER_READY_H

#include <stdbool.h>

struct desk;

/* True from the first time on that all was well. Otherwise it is looked at again a moment later,
 * and a schema that doesn't fit is told once; but with --once the desk ends, and the reason and its
 * fix are told. */
bool ready_look(struct desk *d);

#endif
