/* digest.h: SHA-256 (FIPS 180-4), HMAC-SHA-256 (RFC 2104) and constant-time comparison, by
 * libcrypto. The process ends if libcrypto can't: no digest is ever made up. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#define SHA256_BYTES 32

void digest_sha256(const void *bytes, size_t len, unsigned char digest_out[SHA256_BYTES]);
void digest_hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len,
			unsigned char digest_out[SHA256_BYTES]);

/* Takes the same time whatever differs. */
bool digest_equal(const void *a, const void *b, size_t len);

#endif
