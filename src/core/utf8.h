/* utf8.h: is this UTF-8 (RFC 3629: shortest forms only, no surrogates, up to U+10FFFF)? */
#ifndef CORE_UTF8_H
#define CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at `bytes`, 1 to 4; 0 when no whole, valid one stands there within `left`
 * bytes. */
size_t utf8_char(const char *bytes, size_t left);

bool utf8_valid(const char *bytes, size_t len);

#endif
