/* test_schema_format.c: where the formats end, beside what the official suite has of them (see
 * test_schema_suite.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/schema_format.h"
#include "core/schema_uri.h"

static void a_format_is_as_its_standard_says(void **state)
{
	static const struct {
		const char *format, *text;
		enum format_verdict want;
	} rows[] = {
		{ "date", "2024-02-29", FORMAT_IS },
		{ "date", "2023-02-29", FORMAT_IS_NOT },
		{ "date", "2000-02-29", FORMAT_IS },
		{ "date", "1900-02-29", FORMAT_IS_NOT },
		{ "date", "2024-04-31", FORMAT_IS_NOT },
		{ "date", "0000-01-01", FORMAT_IS },
		{ "date", "2024-1-01", FORMAT_IS_NOT },
		{ "date-time", "2024-02-29T23:59:60Z", FORMAT_IS },
		{ "date-time", "2024-02-29 23:59:00Z", FORMAT_IS_NOT },
		{ "date-time", "2024-02-29t23:59:00.000000000001z", FORMAT_IS },
		{ "date-time", "2024-02-29T23:59:00.Z", FORMAT_IS_NOT },
		{ "date-time", "2024-02-29T23:59:00", FORMAT_IS_NOT },
		{ "time", "00:00:00-23:59", FORMAT_IS },
		{ "time", "00:00:00+24:00", FORMAT_IS_NOT },
		{ "time", "", FORMAT_IS_NOT },
		{ "uuid", "01234567-89AB-cdef-0123-456789abcdef", FORMAT_IS },
		{ "uuid", "01234567-89ab-cdef-0123-456789abcde", FORMAT_IS_NOT },
		{ "uuid", "0123456789ab-cdef-0123-456789abcdef0", FORMAT_IS_NOT },
		{ "uuid", "{1234567-89ab-cdef-0123-456789abcdef", FORMAT_IS_NOT },
		{ "ipv4", "0.0.0.0", FORMAT_IS },
		{ "ipv4", "255.255.255.256", FORMAT_IS_NOT },
		{ "ipv4", "1.2.3", FORMAT_IS_NOT },
		{ "ipv4", "1.2.3.4.", FORMAT_IS_NOT },
		{ "ipv4", "1.2.3.0004", FORMAT_IS_NOT },
		{ "ipv6", "", FORMAT_IS_NOT },
		{ "ipv6", ":", FORMAT_IS_NOT },
		{ "ipv6", "1::2::3", FORMAT_IS_NOT },
		{ "ipv6", "1:2:3:4:5:6:7::", FORMAT_IS },
		{ "ipv6", "1:2:3:4:5:6:7:8::", FORMAT_IS_NOT },
		{ "ipv6", "1.2.3.4::", FORMAT_IS_NOT },
		{ "ipv6", "1:2:3:4:5:6:7:1.2.3.4", FORMAT_IS_NOT },
		{ "hostname", "a", FORMAT_IS },
		{ "hostname", "a..b", FORMAT_IS_NOT },
		{ "hostname", "XN--a", FORMAT_OPEN },
		{ "hostname", "xn--a.b_c", FORMAT_IS_NOT },
		{ "email", "a@b", FORMAT_IS },
		{ "email", "a@xn--b", FORMAT_OPEN },
		{ "email", "a\"b@c", FORMAT_IS_NOT },
		{ "email", "\"a\\\"b\"@c", FORMAT_IS },
		{ "email", "\"a\\\"@c", FORMAT_IS_NOT },
		{ "email", "\"\"@c", FORMAT_IS },
		{ "email", "a@[IPv6:::1", FORMAT_IS_NOT },
		{ "email", "a@[1.2.3.4]", FORMAT_IS },
		{ "email", "a@[v1.2]", FORMAT_IS_NOT },
		{ "uri", "http://[::1]:80/", FORMAT_IS },
		{ "uri", "http://[v1.a]/", FORMAT_IS },
		{ "uri", "http://[v.a]/", FORMAT_IS_NOT },
		{ "uri", "http://[]/", FORMAT_IS_NOT },
		{ "uri", "http://[::1]x/", FORMAT_IS_NOT },
		{ "uri", "a:", FORMAT_IS },
		{ "uri", "a:b[c]", FORMAT_IS_NOT },
		{ "uri", "a://b#c#d", FORMAT_IS_NOT },
		{ "uri", "", FORMAT_IS_NOT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		schema_format_judge *judge =
			schema_format_find(rows[i].format, strlen(rows[i].format));
		assert_non_null(judge);
		enum format_verdict got = judge(rows[i].text, strlen(rows[i].text));
		if (got != rows[i].want)
			fail_msg("%s %s: got %d, want %d", rows[i].format, rows[i].text, got,
				 rows[i].want);
	}
}

/* RFC 3986, 5.4.1 and 5.4.2, without fragments, and some from bases that are no URL. */
static void a_reference_is_resolved_as_in_the_rfcs_examples(void **state)
{
	static const char rfc[] = "http://a/b/c/d;p?q";
	static const struct {
		const char *base, *reference, *want;
	} rows[] = {
		{ rfc, "g:h", "g:h" },
		{ rfc, "g", "http://a/b/c/g" },
		{ rfc, "./g", "http://a/b/c/g" },
		{ rfc, "g/", "http://a/b/c/g/" },
		{ rfc, "/g", "http://a/g" },
		{ rfc, "//g", "http://g" },
		{ rfc, "?y", "http://a/b/c/d;p?y" },
		{ rfc, "g?y", "http://a/b/c/g?y" },
		{ rfc, "#s", "http://a/b/c/d;p?q" },
		{ rfc, "g#s", "http://a/b/c/g" },
		{ rfc, ";x", "http://a/b/c/;x" },
		{ rfc, "", "http://a/b/c/d;p?q" },
		{ rfc, ".", "http://a/b/c/" },
		{ rfc, "./", "http://a/b/c/" },
		{ rfc, "..", "http://a/b/" },
		{ rfc, "../", "http://a/b/" },
		{ rfc, "../g", "http://a/b/g" },
		{ rfc, "../..", "http://a/" },
		{ rfc, "../../g", "http://a/g" },
		{ rfc, "../../../g", "http://a/g" },
		{ rfc, "/./g", "http://a/g" },
		{ rfc, "/../g", "http://a/g" },
		{ rfc, "g.", "http://a/b/c/g." },
		{ rfc, "..g", "http://a/b/c/..g" },
		{ rfc, "./../g", "http://a/b/g" },
		{ rfc, "./g/.", "http://a/b/c/g/" },
		{ rfc, "g/./h", "http://a/b/c/g/h" },
		{ rfc, "g/../h", "http://a/b/c/h" },
		{ rfc, "g;x=1/../y", "http://a/b/c/y" },
		{ "", "a", "a" },
		{ "", "./a", "a" },
		{ "http://a", "b", "http://a/b" },
		{ "urn:a:b", "#c", "urn:a:b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text out;

		text_init(&out, 256);
		schema_uri_resolve(rows[i].base, strlen(rows[i].base), rows[i].reference,
				   strlen(rows[i].reference), &out);
		if (strcmp(out.bytes ? out.bytes : "", rows[i].want) != 0)
			fail_msg("%s from %s: got %s, want %s", rows[i].reference, rows[i].base,
				 out.bytes, rows[i].want);
		text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_format_is_as_its_standard_says),
		cmocka_unit_test(a_reference_is_resolved_as_in_the_rfcs_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
