/* flaws.h: what is wrong with a body, as a list of JSON pointers and sentences for a 422. */
#ifndef CORE_FLAWS_H
#define CORE_FLAWS_H

#include <stddef.h>

#define FLAWS_MAX 32 /* more are counted, not kept */

struct flaw {
	char *pointer; /* RFC 6901, "" for the body itself; at most 256 bytes */
	char *detail;  /* at most 256 bytes, valid UTF-8 */
};

struct flaws {
	struct flaw list[FLAWS_MAX];
	size_t len;   /* kept */
	size_t count; /* found */
};

void flaws_init(struct flaws *flaws);
void flaws_release(struct flaws *flaws);

/* `parent` is a pointer, `member` a name that is escaped and appended ("" or NULL: the parent
 * itself is wrong). */
void flaws_add(struct flaws *flaws, const char *parent, const char *member, size_t member_len,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
