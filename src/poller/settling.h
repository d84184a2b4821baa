/* settling.h: what came back from the wire is written down, on the desk's thread. */
#ifndef POLLER_SETTLING_H
#define POLLER_SETTLING_H

struct desk;

/* Takes what came back. */
void settling_collect(struct desk *d);

/* Takes what came back, and writes it down in batches: words first. */
void settling_run(struct desk *d);

#endif
