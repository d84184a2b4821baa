#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/base64.h"

/* RFC 4648, section 10, and bytes that need the last two digits. */
static void the_vectors_of_the_standard_go_both_ways(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xbf", "+/+/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[16], bytes[16];
		size_t len = 99, want = strlen(rows[i].bytes);

		assert_string_equal(base64_encode(rows[i].bytes, want, text), rows[i].text);
		assert_int_equal(strlen(text), BASE64_LEN(want));
		if (!base64_decode(text, strlen(text), bytes, want, &len) || len != want ||
		    memcmp(bytes, rows[i].bytes, len) != 0)
			fail_msg("%s", rows[i].text);
	}
}

static void what_encoding_never_makes_is_refused(void **state)
{
	static const char *const rows[] = {
		"Zg",	"Zg=",	    "Zg===",	"Z===", "====",	    "Zh==",    "Zm9=", "Zm9v\n",
		"Zm 9", "Zg==Zg==", "Zm8=Zm9v", "-_-_", "Zm9vYg=a", "Zm9\x80", "Zm=v",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char bytes[16];
		size_t len = 99;

		if (base64_decode(rows[i], strlen(rows[i]), bytes, sizeof bytes, &len) || len != 99)
			fail_msg("%s", rows[i]);
	}
}

static void nothing_is_written_past_the_room_given(void **state)
{
	char bytes[4] = "....";
	size_t len;

	(void)state;
	assert_false(base64_decode("Zm9v", 4, bytes, 2, &len));
	assert_memory_equal(bytes, "....", 4);
	assert_true(base64_decode("Zm9v", 4, bytes, 3, &len));
	assert_memory_equal(bytes, "foo.", 4);
	assert_false(base64_decode("Zm\0v", 4, bytes, 4, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_the_standard_go_both_ways),
		cmocka_unit_test(what_encoding_never_makes_is_refused),
		cmocka_unit_test(nothing_is_written_past_the_room_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
