/* printshop_buf.h: the print shop's growing byte buffer, with a cap.
 *
 * Adding past the cap, or without memory, sets `failed` and leaves what was there; later additions
 * do nothing. So a writer adds all it has and asks once. The print shop stands alone on purpose: a
 * fault in the code under test must not be a fault of the witness, too. */
#ifndef PRINTSHOP_BUF_H
#define PRINTSHOP_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *bytes;
	size_t len;
	size_t size; /* allocated */
	size_t cap;  /* len never passes this; 0 means BUF_CAP_BYTES */
	bool failed;
};

enum { BUF_CAP_BYTES = 512 << 20 };

void buf_release(struct buf *buf); /* frees what is inside; the cap stays */
void buf_clear(struct buf *buf);   /* len 0, not failed; frees only what is above 64 KiB */
void buf_consume(struct buf *buf, size_t len); /* drops the first `len` bytes */

/* Room for `len` more bytes behind buf->len; NULL (and failed) past the cap. The caller moves
 * buf->len itself. */
char *buf_room(struct buf *buf, size_t len);

void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_add_str(struct buf *buf, const char *str);
void buf_addf(struct buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3))); /* 512 bytes at most */

/* A JSON string with its quotes. Bytes that aren't UTF-8 become U+FFFD, one each. */
void buf_add_json(struct buf *buf, const char *bytes, size_t len);

/* `len` bytes with %XX resolved, and '+' taken as a blank where `plus` says so. False: a % without
 * two digits. */
bool buf_add_urldecoded(struct buf *buf, const char *bytes, size_t len, bool plus);

#endif
