/* test_auth.c: who asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "support/ask.h"
#include "support/fake_store.h"

#define JOB "/v1/jobs/" FAKE_JOB

static int setup(void **state)
{
	(void)state;
	fake_store_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ask_end();
	return 0;
}

static void a_bearer_token_is_passed_on_as_its_hash(void **state)
{
	static const char *const values[] = { "Bearer aZ09-._~+/==", "bearer aZ09-._~+/==",
					      "BEARER  aZ09-._~+/== ", " Bearer aZ09-._~+/==\t" };
	unsigned char want[SHA256_BYTES];

	(void)state;
	digest_sha256("aZ09-._~+/==", 12, want);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		const struct ask what = { .uri = JOB, .authorization = values[i] };

		if (ask(&what) != 200 || !fake.caller.has_token ||
		    memcmp(fake.caller.token_sha256, want, sizeof want) != 0)
			fail_msg("<%s>", values[i]);
		assert_null(fake.caller.owner);
		memset(&fake.caller, 0, sizeof fake.caller);
	}
}

static void what_can_not_be_a_token_is_401_without_a_look_up(void **state)
{
	static const char *const values[] = { "Bearer",
					      "Bearer ",
					      "Bearer a b",
					      "Bearer =",
					      "Bearer a=b",
					      "Bearer a,b",
					      "Bearer a, Bearer b",
					      "Bearer\ta",
					      "Bearerx a",
					      "Basic YWRtaW46eA==",
					      "a",
					      "Bearer \"a\"",
					      "Bearer a\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		const struct ask what = { .uri = JOB, .authorization = values[i] };

		if (ask(&what) != 401 || !answer_header("WWW-Authenticate"))
			fail_msg("<%s>: %s", values[i], answer_body());
		assert_int_equal(fake.read_calls + fake.identify_calls, 0);
	}
}

static void a_token_has_512_bytes_at_most(void **state)
{
	char value[7 + 513 + 1] = "Bearer ";
	const struct ask what = { .uri = JOB, .authorization = value };

	(void)state;
	memset(value + 7, 'a', 512);
	assert_int_equal(ask(&what), 200);
	memset(value + 7, 'a', 513);
	assert_int_equal(ask(&what), 401);
}

static void two_authorizations_are_none(void **state)
{
	const struct ask what = { .uri = JOB, .more = { "HTTP_AUTHORIZATION=Bearer token-2" } };

	(void)state;
	assert_int_equal(ask(&what), 401);
	assert_int_equal(fake.read_calls, 0);
}

static void a_bad_token_is_told_from_a_missing_one(void **state)
{
	const struct ask missing = { .uri = JOB, .authorization = "" };
	const struct ask bad = { .uri = JOB };

	(void)state;
	fake.get = RC_INVALID;
	assert_int_equal(ask(&missing), 401);
	assert_null(strstr(answer_header("WWW-Authenticate"), "invalid_token"));
	assert_int_equal(ask(&bad), 401);
	assert_non_null(strstr(answer_header("WWW-Authenticate"), "invalid_token"));
}

static void an_owner_counts_only_where_the_deployment_says_so(void **state)
{
	const struct ask off = { .uri = JOB,
				 .authorization = "",
				 .more = { "ONEJOB_OWNER=alice" } };
	const struct ask on = { .uri = JOB,
				.authorization = "",
				.trust_owner = true,
				.more = { "ONEJOB_OWNER=alice" } };
	const struct ask header = { .uri = JOB,
				    .authorization = "",
				    .trust_owner = true,
				    .more = { "HTTP_ONEJOB_OWNER=alice" } };

	(void)state;
	assert_int_equal(ask(&off), 401);
	assert_int_equal(ask(&header), 401);
	assert_int_equal(ask(&on), 200);
	assert_false(fake.caller.has_token);
	assert_string_equal(fake.caller_owner, "alice");
}

static void remote_user_is_never_read(void **state)
{
	const struct ask what = { .uri = JOB,
				  .authorization = "",
				  .trust_owner = true,
				  .more = { "REMOTE_USER=alice" } };

	(void)state;
	assert_int_equal(ask(&what), 401);
}

static void a_token_beside_an_owner_is_passed_on_with_it(void **state)
{
	const struct ask both = { .uri = JOB,
				  .trust_owner = true,
				  .more = { "ONEJOB_OWNER=alice" } };
	const struct ask basic = { .uri = JOB,
				   .authorization = "Basic YWxpY2U6eA==",
				   .trust_owner = true,
				   .more = { "ONEJOB_OWNER=alice" } };
	const struct ask broken = { .uri = JOB,
				    .authorization = "Bearer a b",
				    .trust_owner = true,
				    .more = { "ONEJOB_OWNER=alice" } };

	(void)state;
	assert_int_equal(ask(&both), 200);
	assert_true(fake.caller.has_token);
	assert_string_equal(fake.caller_owner, "alice");
	assert_int_equal(ask(&basic), 200); /* the web server has checked it */
	assert_false(fake.caller.has_token);
	assert_int_equal(ask(&broken), 401);
}

static void an_owner_that_can_not_be_one_is_refused(void **state)
{
	char longest[13 + 256 + 1] = "ONEJOB_OWNER=";
	const struct ask what = {
		.uri = JOB, .authorization = "", .trust_owner = true, .more = { longest }
	};
	const struct ask control = { .uri = JOB,
				     .authorization = "",
				     .trust_owner = true,
				     .more = { "ONEJOB_OWNER=a\tb" } };
	const struct ask twice = { .uri = JOB,
				   .authorization = "",
				   .trust_owner = true,
				   .more = { "ONEJOB_OWNER=alice", "ONEJOB_OWNER=bob" } };
	const struct ask empty = {
		.uri = JOB, .authorization = "", .trust_owner = true, .more = { "ONEJOB_OWNER=" }
	};
	const struct ask bytes = { .uri = JOB,
				   .authorization = "",
				   .trust_owner = true,
				   .more = { "ONEJOB_OWNER=\xff\xfe" } };

	(void)state;
	memset(longest + 13, 'x', 255);
	assert_int_equal(ask(&what), 200);
	memset(longest + 13, 'x', 256);
	assert_int_equal(ask(&what), 401);
	assert_int_equal(ask(&control), 401);
	assert_int_equal(ask(&twice), 401);
	assert_int_equal(ask(&empty), 401);
	assert_int_equal(ask(&bytes), 200);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_bearer_token_is_passed_on_as_its_hash),
		T(what_can_not_be_a_token_is_401_without_a_look_up),
		T(a_token_has_512_bytes_at_most),
		T(two_authorizations_are_none),
		T(a_bad_token_is_told_from_a_missing_one),
		T(an_owner_counts_only_where_the_deployment_says_so),
		T(remote_user_is_never_read),
		T(a_token_beside_an_owner_is_passed_on_with_it),
		T(an_owner_that_can_not_be_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
