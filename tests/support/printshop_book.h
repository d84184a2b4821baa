/* printshop_book.h: what the print shop has seen: the printers with their counts, the keys each has
 * met, and the last requests in order. One book a process.
 *
 * A request counts from the moment its header is whole. It is open until its answer is out, or the
 * shop has closed the connection on purpose; hung_up means that the caller closed before that. */
#ifndef PRINTSHOP_BOOK_H
#define PRINTSHOP_BOOK_H

#include "printshop_buf.h"
#include "printshop_http.h"

#include <stdint.h>

enum {
	BOOK_NAME_BYTES_MAX = 64,
	BOOK_PRINTERS_MAX = 1024,
	BOOK_KEYS_MAX = 2000000, /* of all printers together */
	BOOK_REQUESTS_MAX = 20000,
	BOOK_REQUEST_BYTES_MAX = 64 << 20, /* of the requests kept; older ones go first */
	BOOK_BODY_BYTES_MAX = 4096,
	BOOK_TYPE_BYTES = 128,
};

struct key_row {
	struct key_row *next;
	uint64_t hash;
	char *answer; /* what honour gives again; NULL: nothing printed under the key yet */
	size_t answer_len;
	char type[BOOK_TYPE_BYTES];
	size_t len;
	char key[];
};

struct printer {
	char name[BOOK_NAME_BYTES_MAX + 1];
	char *mode; /* set at run time; NULL is normal */
	uint64_t requests;
	uint64_t reading; /* of these, those whose body is still on its way */
	uint64_t sheets;
	uint64_t open;
	uint64_t hung_up;
	uint64_t peak; /* of open */
	struct key_row **keys;
	size_t key_slots;
	size_t distinct_keys;
};

bool book_name_ok(const char *name, size_t len);	    /* [a-z0-9-]+ */
struct printer *book_find(const char *name, size_t len);    /* NULL: never seen */
struct printer *book_printer(const char *name, size_t len); /* or a new one; NULL: no room */

/* Both free nothing that a caller holds: printers stay for good, with everything zeroed. */
void book_reset(void);
void book_release(void);

/* Another key of the printer, or the same again. NULL: the book is full. The row lives until
 * book_reset(). */
struct key_row *book_key(struct printer *printer, const char *key, size_t len);
void book_keep_answer(struct key_row *row, const struct buf *answer, const char *type);

/* The life of a request. What book_open() returns names it in book_read(); a number that has left
 * the book, or was there before a reset, is passed over. */
uint64_t book_open(struct printer *printer, uint64_t at_ms, uint64_t connection, const char *head,
		   size_t head_len);
void book_read(struct printer *printer, uint64_t number, const char *body, size_t len, bool whole);
void book_close(struct printer *printer, bool hung_up);

void book_write_printer(const struct printer *printer, struct buf *out);
void book_write_counts(struct buf *out);
void book_write_requests(const struct printer *only, struct buf *out); /* NULL: of all printers */

#endif
