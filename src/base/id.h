/* id.h: UUIDv7 (RFC 9562), 16 bytes, sorted by time when compared byte by byte. */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_BYTES 16
#define ID_TEXT_LEN 36 /* without the NUL */
#define ID_RANDOM_BYTES 10

struct id {
	unsigned char bytes[ID_BYTES];
};

struct id id_make(int64_t unix_us, const unsigned char random[ID_RANDOM_BYTES]);
bool id_equal(const struct id *a, const struct id *b);
int id_compare(const struct id *a, const struct id *b);
int id_order(const void *a,
	     const void *b); /* the same, of two struct id: for qsort() and bsearch() */

/* Lower case, with a NUL. Returns text_out. */
char *id_format(const struct id *id, char text_out[ID_TEXT_LEN + 1]);

/* Exactly the 36 characters of the usual form, lower or upper case hex, any version. False: *id_out
 * is untouched. */
bool id_parse(const char *text, size_t len, struct id *id_out);

#endif
