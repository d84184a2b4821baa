/* clock.h: the machine's clocks and its random source. The I/O part of base: core takes both as
 * arguments. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

int64_t clock_real_us(void); /* since 1970, UTC */
int64_t clock_monotonic_ms(
	void); /* never goes back, and goes on while the machine sleeps; for lengths of time only */

/* Unpredictable bytes; the process ends if there are none. */
void clock_random(void *out, size_t len);

struct id clock_id(void); /* a new UUIDv7 of now */

#endif
