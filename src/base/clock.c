/* clock.c: see clock.h. */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/log.h"

int64_t clock_real_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The kernel's source has no state in this process, so a fork can't repeat what came before. */
void clock_random(void *out, size_t len)
{
	char *at = out;

	while (len > 0) {
		ssize_t got = getrandom(at, len, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			log_error("clock.no-random", "errno=%d", errno);
			abort();
		}
		at += got;
		len -= (size_t)got;
	}
}

struct id clock_id(void)
{
	unsigned char random[ID_RANDOM_BYTES];

	clock_random(random, sizeof random);
	return id_make(clock_real_us(), random);
}
