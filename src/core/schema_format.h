/* schema_format.h: the formats that are asserted. */
#ifndef CORE_SCHEMA_FORMAT_H
#define CORE_SCHEMA_FORMAT_H

#include <stddef.h>

/* In the order of goodness: the worst of several parts is the whole's. */
enum format_verdict { FORMAT_IS, FORMAT_OPEN, FORMAT_IS_NOT };

typedef enum format_verdict schema_format_judge(const char *text, size_t len);

/* date-time, date, time (RFC 3339), uuid (RFC 9562), email (RFC 5321), uri (RFC 3986), ipv4, ipv6
 * (RFC 4291), hostname (RFC 1123; open where a label is in Punycode, which takes Unicode's tables
 * to judge). NULL: not one of them. Each takes time linear in the text. */
schema_format_judge *schema_format_find(const char *name, size_t len);

#endif
