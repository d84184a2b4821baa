/* test_id.c: UUIDv7 (RFC 9562) and its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/id.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void an_id_is_the_example_of_rfc_9562(void **state)
{
	/* Appendix A.6: 2022-02-22T19:22:22.000Z, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F */
	static const unsigned char random[ID_RANDOM_BYTES] = { 0x0c, 0xc3, 0x18, 0xc4, 0xdc,
							       0x0c, 0x0c, 0x07, 0x39, 0x8f };
	char text[ID_TEXT_LEN + 1];

	(void)state;
	struct id id = id_make(INT64_C(1645557742000) * 1000, random);
	assert_string_equal(id_format(&id, text), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void version_and_variant_hold_whatever_the_random_bytes_are(void **state)
{
	unsigned char zeros[ID_RANDOM_BYTES], ones[ID_RANDOM_BYTES];
	char text[ID_TEXT_LEN + 1];

	(void)state;
	memset(zeros, 0x00, sizeof zeros);
	memset(ones, 0xff, sizeof ones);
	struct id low = id_make(0, zeros), high = id_make(0, ones);
	assert_string_equal(id_format(&low, text), "00000000-0000-7000-8000-000000000000");
	assert_string_equal(id_format(&high, text), "00000000-0000-7fff-bfff-ffffffffffff");
	assert_true(id_compare(&low, &high) < 0);
	assert_false(id_equal(&low, &high));
}

static void ids_sort_by_time(void **state)
{
	unsigned char zeros[ID_RANDOM_BYTES], ones[ID_RANDOM_BYTES];

	(void)state;
	memset(zeros, 0x00, sizeof zeros);
	memset(ones, 0xff, sizeof ones);
	for (int64_t us = 999; us < INT64_C(4000000000000000); us = us * 3 + 1) {
		struct id earlier = id_make(us, ones), later = id_make(us + 1000, zeros);
		if (id_compare(&earlier, &later) >= 0)
			fail_msg("%lld us sorts after the next millisecond", (long long)us);
	}
}

static void only_the_usual_text_is_an_id(void **state)
{
	static const struct {
		const char *text;
		bool ok;
	} rows[] = {
		{ "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", true },
		{ "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", true },
		{ "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", true },
		{ "", false },
		{ "017f22e2-79b0-7cc3-98c4-dc0c0c07398", false },
		{ "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0", false },
		{ "017f22e279b07cc398c4dc0c0c07398f", false },
		{ "017f22e2079b007cc3098c40dc0c0c07398f", false },
		{ "017f22e-279b0-7cc3-98c4-dc0c0c07398f", false },
		{ "g17f22e2-79b0-7cc3-98c4-dc0c0c07398f", false },
		{ "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", false },
		{ " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f", false },
		{ "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}", false },
		{ "017f22e2-79b0-7cc3-98c4-dc0c0c07398\n", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct id id, untouched;
		memset(&id, 0x5a, sizeof id);
		untouched = id;
		bool ok = id_parse(rows[i].text, strlen(rows[i].text), &id);
		if (ok != rows[i].ok || ok == id_equal(&id, &untouched))
			fail_msg("%s: %d", rows[i].text, ok);
	}
}

static void text_and_back_is_the_same_id(void **state)
{
	static const unsigned char random[ID_RANDOM_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	char text[ID_TEXT_LEN + 1];
	struct id back;

	(void)state;
	struct id id = id_make(INT64_C(1796158189123456), random);
	assert_true(id_parse(id_format(&id, text), ID_TEXT_LEN, &back));
	assert_true(id_equal(&id, &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_is_the_example_of_rfc_9562),
		cmocka_unit_test(version_and_variant_hold_whatever_the_random_bytes_are),
		cmocka_unit_test(ids_sort_by_time),
		cmocka_unit_test(only_the_usual_text_is_an_id),
		cmocka_unit_test(text_and_back_is_the_same_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
