/* settling.h: what came back from the wire is written down, on the desk's thread. */
#ifndef POLLER_SETTLING_H
#define POLLER_SETTLING_H

#include <stddef.h>
#include <stdint.h>

struct desk;

/* Takes what came back. */
void settling_collect(struct desk *d);

/* Takes what came back, and writes it down in batches: words first. */
void settling_run(struct desk *d);

/* How many words the next batch may have, where one of `len` of up to batch_max took so long: a
 * batch is one transaction, and none shall take longer than piece_ms. */
size_t settling_next_max(size_t batch_max, size_t len, int64_t took_ms, int64_t piece_ms);

#endif
