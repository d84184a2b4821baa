/* idempotency_key.h: the Idempotency-Key header: quoted, an RFC 8941 string and nothing after it,
 * or bare. */
#ifndef CORE_IDEMPOTENCY_KEY_H
#define CORE_IDEMPOTENCY_KEY_H

#include <stddef.h>

#include "core/job.h"

struct idempotency_key {
	char bytes[KEY_MAX]; /* no NUL at the end */
	size_t len;	     /* 1 to 255 */
};

/* Blanks around the value are dropped (OWS of RFC 9110). Quoted: \" and \\ are the only escapes,
 * bytes 0x20 to 0x7E. Bare: 0x21 to 0x7E but '"' and ',' (a comma can't be told from two header
 * lines). Returns NULL, or what is wrong as a constant sentence part. Both forms of a key give the
 * same bytes. */
const char *idempotency_key_parse(const char *value, size_t len, struct idempotency_key *key_out);

#endif
