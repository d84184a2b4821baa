/* loop.h: the poller's life: start, claim and send, drain, leave. */
#ifndef POLLER_LOOP_H
#define POLLER_LOOP_H

#include "base/conf.h"
#include "poller/options.h"

/* Runs until it is told to stop or its work is over; returns main's exit code. */
int poller_run(const struct conf *conf, const struct options *options);

#endif
