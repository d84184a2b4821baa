/* digest.c: see digest.h. */
#include "base/digest.h"

#include <pthread.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/log.h"

static void need(bool done, const char *what)
{
	if (done)
		return;
	log_error("digest.failed", "what=%s", what);
	abort();
}

/* Looked up once: a look-up costs as much as a short digest. */
static const EVP_MD *sha256;

static void fetch_sha256(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	need(sha256 != NULL, "sha256");
}

void digest_sha256(const void *bytes, size_t len, unsigned char digest_out[SHA256_BYTES])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_sha256);
	need(EVP_Digest(bytes, len, digest_out, NULL, sha256, NULL) == 1, "sha256");
}

void digest_hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len,
			unsigned char digest_out[SHA256_BYTES])
{
	size_t out_len = 0;
	unsigned char *done = EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_len, bytes,
					len, digest_out, SHA256_BYTES, &out_len);

	need(done && out_len == SHA256_BYTES, "hmac");
}

bool digest_equal(const void *a, const void *b, size_t len)
{
	return CRYPTO_memcmp(a, b, len) == 0;
}
