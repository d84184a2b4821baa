/* timestamp.h: instants as microseconds since 1970-01-01T00:00:00Z (int64_t, `_us`). */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

#define TIMESTAMP_TEXT_LEN 27 /* 2026-12-01T22:40:47.123456Z, without the NUL */

/* Years 1000 to 9999: what a DATETIME(6) holds. */
#define TIMESTAMP_MIN_US INT64_C(-30610224000000000)
#define TIMESTAMP_MAX_US INT64_C(253402300799999999)

/* RFC 3339: date, T (or t), time, optional fraction, Z (or z) or an offset. Returns NULL, or what
 * is wrong as a constant sentence part ("a leap second can't be kept"). Refused: more than six
 * fraction digits unless the rest are zeros, second 60, offset -00:00 is taken as UTC, days that
 * aren't in the month, instants outside the range above. */
const char *timestamp_parse(const char *text, size_t len, int64_t *us_out);

/* RFC 3339 UTC with microseconds and Z. `us` must lie in the range above. Returns text_out. */
char *timestamp_format(int64_t us, char text_out[TIMESTAMP_TEXT_LEN + 1]);

/* An instant as a calendar and a clock in UTC show it; each in its usual range, months and days
 * from 1. */
struct timestamp_parts {
	int year, month, day, hour, minute, second, us;
};

/* `us` must lie in the range above. */
struct timestamp_parts timestamp_split(int64_t us);
int64_t timestamp_join(const struct timestamp_parts *parts);

#endif
