/* retry_after.h: the Retry-After header (RFC 9110, 10.2.3) in seconds or any of the three date
 * forms (5.6.7). */
#ifndef CORE_RETRY_AFTER_H
#define CORE_RETRY_AFTER_H

#include <stddef.h>
#include <stdint.h>

#define RETRY_AFTER_MAX_MS INT64_C(86400000) /* more is cut to 24 h */

/* Milliseconds from now_us, 0 to RETRY_AFTER_MAX_MS; a past date is 0. -1 for anything unreadable,
 * negative or fractional. A date is measured against `now_us`, which should be the answer's own
 * Date where it has a readable one. */
int64_t retry_after_parse(const char *value, size_t len, int64_t now_us);

/* IMF-fixdate, RFC 850 or asctime. -1 when unreadable. now_us resolves RFC 850's two-digit year. */
int64_t http_date_parse(const char *value, size_t len, int64_t now_us);

#endif
