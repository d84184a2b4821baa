/* keyring.h: the keys that sign callback URLs, from a file: the first one signs, all of them
 * verify, so that a key is changed by listing the new one above the old one. */
#ifndef BASE_KEYRING_H
#define BASE_KEYRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rc.h"

#define KEYRING_MAX 4
#define KEY_BYTES_MIN 32
#define KEY_BYTES_MAX 128

struct keyring {
	struct {
		unsigned char bytes[KEY_BYTES_MAX];
		size_t len;
	} keys[KEYRING_MAX];
	size_t len; /* 0: no keys, and no callbacks */
};

/* A line a key, four at most: 64 to 256 hexadecimal digits (32 to 128 bytes); empty lines and lines
 * that begin with '#' are skipped. path NULL: an empty ring. RC_INVALID: logged, without any of the
 * file's content. */
MUST_CHECK enum rc keyring_load(const char *path, struct keyring *keyring_out);
void keyring_release(struct keyring *keyring); /* wipes it */

#endif
