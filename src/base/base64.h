/* base64.h: RFC 4648, section 4: the usual alphabet, padded. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#define BASE64_LEN(bytes) (((bytes) + 2) / 3 * 4) /* without the NUL */

/* BASE64_LEN(len) characters and a NUL. Returns text_out. */
char *base64_encode(const void *bytes, size_t len, char *text_out);

/* Only what encoding makes is taken: whole groups of four, padding where it must be, no stray bits,
 * no blanks. At most `size` bytes. False: bytes_out may hold a part, *len_out is untouched. */
bool base64_decode(const char *text, size_t len, void *bytes_out, size_t size, size_t *len_out);

#endif
