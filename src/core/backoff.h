/* backoff.h: how long to wait before the next try at a provider. */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include <stdint.h>

/* After n tries (n >= 1): d = min(max_ms, base_ms * 2^(n-1)), then a time between d/2 and d picked
 * by `random`; jitter stays on at the maximum, so that many waiting jobs don't start together.
 * Raised, never lowered, to retry_after_ms (-1: none). */
int64_t backoff_ms(uint32_t n, uint32_t base_ms, uint32_t max_ms, uint32_t random,
		   int64_t retry_after_ms);

#endif
