#include "core/backoff.h"

int64_t backoff_ms(uint32_t n, uint32_t base_ms, uint32_t max_ms, uint32_t random,
		   int64_t retry_after_ms)
{
	uint64_t whole = base_ms;

	for (uint32_t i = 1; i < n && whole > 0 && whole < max_ms; i++)
		whole *= 2; /* below 2^33: it was under max_ms */
	if (whole > max_ms)
		whole = max_ms;

	uint64_t half = whole / 2;
	uint64_t spread = whole - half + 1;
	int64_t wait = (int64_t)(half + ((uint64_t)random * spread >> 32));

	return wait < retry_after_ms ? retry_after_ms : wait;
}
