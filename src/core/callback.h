/* callback.h: the address under which a provider brings its word about one attempt: its id, and a
 * signature that only the holders of the keys can make (HMAC-SHA-256, base64url without padding,
 * RFC 4648). */
#ifndef CORE_CALLBACK_H
#define CORE_CALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/text.h"

#define CALLBACK_SIGNATURE_LEN 43 /* without the NUL */
#define CALLBACK_PATH "/v1/callbacks/"

/* Lower-level of the two: signature_out gets a NUL. Returns signature_out. */
char *callback_sign(const void *key, size_t key_len, const struct id *attempt_id,
		    char signature_out[CALLBACK_SIGNATURE_LEN + 1]);

/* Takes the same time whatever differs. */
bool callback_signed_by(const void *key, size_t key_len, const struct id *attempt_id,
			const char *signature, size_t len);

/* <base>/v1/callbacks/<attempt id>/<signature> */
void callback_url(const char *base, const void *key, size_t key_len, const struct id *attempt_id,
		  struct text *out);

#endif
