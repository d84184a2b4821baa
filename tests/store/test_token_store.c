/* test_token_store.c: tokens by their digest only, whose they are, and how they end. */
#include "testdb.h"

#include <stdio.h>

#include "store/token_store.h"

static void digest_of(const char *token, unsigned char out[SHA256_BYTES])
{
	digest_sha256(token, strlen(token), out);
}

static void a_token_names_its_owner_until_it_ends(void **state)
{
	static const struct {
		const char *token, *owner;
		size_t len;
		enum role role;
		uint64_t lifetime_s;
	} rows[] = {
		{ "one", "carol", 5, ROLE_USER, 0 },
		{ "two", "car\0l", 5, ROLE_OPERATOR, 60 },
		{ "three", " carol ", 7, ROLE_USER, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct caller caller = caller_with(rows[i].token);
		struct identity who;

		assert_int_equal(token_store_add(here.db, caller.token_sha256, rows[i].owner,
						 rows[i].len, rows[i].role, rows[i].lifetime_s),
				 RC_OK);
		assert_int_equal(job_store_identify(here.db, &caller, &who), RC_OK);
		assert_int_equal(who.owner_len, rows[i].len);
		assert_memory_equal(who.owner, rows[i].owner, rows[i].len);
		assert_int_equal(who.role, rows[i].role);
		assert_int_equal(
			token_store_add(here.db, caller.token_sha256, "else", 4, ROLE_USER, 0),
			RC_CONFLICT);
		raw_run(here.raw,
			"UPDATE tokens SET expires_at = NOW(6) WHERE expires_at IS NOT NULL");
		assert_int_equal(job_store_identify(here.db, &caller, &who),
				 rows[i].lifetime_s ? RC_NOT_FOUND : RC_OK);
	}
	assert_int_equal(found_anywhere("three"), 0); /* the token itself is nowhere */
}

static void who_nginx_names_is_a_user_of_1_to_255_bytes(void **state)
{
	char name[257];
	static const struct {
		size_t len;
		enum rc want;
	} rows[] = { { 0, RC_NOT_FOUND }, { 1, RC_OK }, { 255, RC_OK }, { 256, RC_NOT_FOUND } };

	(void)state;
	memset(name, 'n', sizeof name);
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct caller caller = { .owner = name, .owner_len = rows[i].len };
		struct identity who;

		assert_int_equal(job_store_identify(here.db, &caller, &who), rows[i].want);
		assert_int_equal(who.role, ROLE_USER);
	}
}

static void a_list_shows_every_token(void **state)
{
	struct token_row *rows;
	size_t len;

	(void)state;
	assert_int_equal(token_store_list(here.db, &rows, &len), RC_OK);
	assert_int_equal(len, 2);
	for (size_t i = 0; i < len; i++) {
		assert_true(rows[i].created_us > 0 && rows[i].expires_us == 0);
		assert_true(strcmp(rows[i].owner, rows[i].role == ROLE_OPERATOR ? "op" : "ann") ==
			    0);
	}
	free(rows);
}

static void a_token_is_revoked_by_twelve_digits_unless_two_share_them(void **state)
{
	static const char *const wrong[] = { "",
					     "0",
					     "aabbccddeef",
					     "aabbccddeeff0",
					     "AABBCCDDEEFF",
					     "zzbbccddeeff",
					     "aabbccddeeff00" };
	unsigned char digest[SHA256_BYTES] = { 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	char whole[65];

	(void)state;
	assert_int_equal(token_store_add(here.db, digest, "a", 1, ROLE_USER, 0), RC_OK);
	for (size_t i = 0; i < ROWS(wrong); i++)
		if (token_store_revoke(here.db, wrong[i], strlen(wrong[i])) != RC_NOT_FOUND)
			fail_msg("'%s'", wrong[i]);
	digest[31] = 7;
	assert_int_equal(token_store_add(here.db, digest, "b", 1, ROLE_USER, 0), RC_OK);
	assert_int_equal(token_store_revoke(here.db, "aabbccddeeff", 12), RC_CONFLICT);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM tokens"), 4);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		sprintf(whole + 2 * i, "%02x", digest[i]);
	assert_int_equal(token_store_revoke(here.db, whole, 64), RC_OK);
	assert_int_equal(token_store_revoke(here.db, whole, 64), RC_NOT_FOUND);
	assert_int_equal(token_store_revoke(here.db, "aabbccddeeff", 12), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM tokens WHERE owner IN ('a', 'b')"), 0);
	digest_of("ann-token", digest);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM tokens"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_token_names_its_owner_until_it_ends),
		TEST(who_nginx_names_is_a_user_of_1_to_255_bytes),
		TEST(a_list_shows_every_token),
		TEST(a_token_is_revoked_by_twelve_digits_unless_two_share_them),
	};

	return cmocka_run_group_tests_name("tokens", tests, testdb_open, testdb_close);
}
