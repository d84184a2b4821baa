#include "core/callback.h"

#include <string.h>

#include "base/digest.h"

/* So that the same key can sign other things without one being taken for the other. */
#define PURPOSE "onejob callback 1\n"

static void to_base64url(const unsigned char digest[SHA256_BYTES],
			 char out[CALLBACK_SIGNATURE_LEN + 1])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned int bits = 0, held = 0;
	size_t len = 0;

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		bits = bits << 8 | digest[i];
		for (held += 8; held >= 6; held -= 6)
			out[len++] = digits[bits >> (held - 6) & 63];
	}
	out[len++] = digits[bits << (6 - held) & 63];
	out[len] = '\0';
}

char *callback_sign(const void *key, size_t key_len, const struct id *attempt_id,
		    char signature_out[CALLBACK_SIGNATURE_LEN + 1])
{
	unsigned char message[sizeof PURPOSE - 1 + ID_BYTES], digest[SHA256_BYTES];

	memcpy(message, PURPOSE, sizeof PURPOSE - 1);
	memcpy(message + sizeof PURPOSE - 1, attempt_id->bytes, ID_BYTES);
	digest_hmac_sha256(key, key_len, message, sizeof message, digest);
	to_base64url(digest, signature_out);
	return signature_out;
}

bool callback_signed_by(const void *key, size_t key_len, const struct id *attempt_id,
			const char *signature, size_t len)
{
	char right[CALLBACK_SIGNATURE_LEN + 1];

	callback_sign(key, key_len, attempt_id, right);
	return len == CALLBACK_SIGNATURE_LEN && digest_equal(right, signature, len);
}

void callback_url(const char *base, const void *key, size_t key_len, const struct id *attempt_id,
		  struct text *out)
{
	char signature[CALLBACK_SIGNATURE_LEN + 1], id[ID_TEXT_LEN + 1];

	text_addf(out, "%s" CALLBACK_PATH "%s/%s", base, id_format(attempt_id, id),
		  callback_sign(key, key_len, attempt_id, signature));
}
