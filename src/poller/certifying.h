/* certifying.h: the certifications that this poller has taken: every fixture, in every round,
 * through the real provider, one request at a time each. */
#ifndef POLLER_CERTIFYING_H
#define POLLER_CERTIFYING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/certify.h"
#include "core/outcome.h"
#include "store/certificate_store.h"

struct desk;
struct errand;

/* One run. While `out` it belongs to its errand, and the desk leaves it alone. */
struct certifying {
	struct certifying *next;
	struct certify_task task;
	struct id poller; /* whose lease holds it */
	struct certify *certify;
	enum certify_step step; /* what is on its way */
	bool out;
	int64_t next_ms; /* monotonic: no step before */
};

/* Takes what is asked for, sends the next steps, writes down what has ended. */
void certifying_run(struct desk *d);

/* A step came back: to the desk. */
void certifying_back(struct errand *errand);

/* What was seen becomes the step's answer. */
void certifying_conclude(struct errand *errand, const struct seen *seen);

/* What is left is begun again by another poller. */
void certifying_drop(struct desk *d);

/* None is here and none is waiting. */
bool certifying_idle(struct desk *d);

#endif
