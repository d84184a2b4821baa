/* test_digest.c: libcrypto's answers by the standards' own examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/text.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void check_hex(const unsigned char digest[SHA256_BYTES], const char *want)
{
	struct text hex;

	text_init(&hex, 2 * SHA256_BYTES);
	text_add_hex(&hex, digest, SHA256_BYTES);
	assert_string_equal(hex.bytes, want);
	text_release(&hex);
}

static void sha256_gives_the_examples_of_fips_180(void **state)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned char digest[SHA256_BYTES];
		digest_sha256(rows[i].bytes, strlen(rows[i].bytes), digest);
		check_hex(digest, rows[i].want);
	}
}

static void hmac_gives_the_examples_of_rfc_4231(void **state)
{
	unsigned char digest[SHA256_BYTES], long_key[131];

	(void)state;
	digest_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest);
	check_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(long_key, 0xaa, sizeof long_key);
	digest_hmac_sha256(long_key, sizeof long_key,
			   "Test Using Larger Than Block-Size Key - Hash Key First", 54, digest);
	check_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void equality_looks_at_every_byte(void **state)
{
	unsigned char a[SHA256_BYTES], b[SHA256_BYTES];

	(void)state;
	clock_random(a, sizeof a);
	memcpy(b, a, sizeof b);
	assert_true(digest_equal(a, b, sizeof a));
	assert_true(digest_equal(a, b, 0));
	for (size_t i = 0; i < sizeof a; i++) {
		b[i] ^= 1;
		assert_false(digest_equal(a, b, sizeof a));
		b[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_gives_the_examples_of_fips_180),
		cmocka_unit_test(hmac_gives_the_examples_of_rfc_4231),
		cmocka_unit_test(equality_looks_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
