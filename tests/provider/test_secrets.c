#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "provider/secrets.h"

static char folder[] = "/tmp/onejob-secrets-XXXXXX";
static struct text out, why;

static enum rc expand(const char *value)
{
	text_clear(&out);
	text_clear(&why);
	return secrets_expand(value, &out, &why);
}

/* Writes a file in the folder; the reference to it. */
static char *file_of(const char *name, const char *bytes, size_t len)
{
	static char reference[256];
	char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *to = fopen(path, "w");
	assert_non_null(to);
	assert_int_equal(fwrite(bytes, 1, len, to), len);
	fclose(to);
	snprintf(reference, sizeof reference, "<${file:%s}>", path);
	return reference;
}

static int begin(void **state)
{
	(void)state;
	text_init(&out, 200000);
	text_init(&why, 1000);
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	static const char *const names[] = { "plain", "big", "bad", "pipe" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	text_release(&out);
	text_release(&why);
	return rmdir(folder);
}

static void variables_are_put_in_place(void **state)
{
	static const struct {
		const char *value, *want;
	} rows[] = {
		{ "", "" },
		{ "plain $x {y} $", "plain $x {y} $" },
		{ "Bearer ${env:SECRET_A}", "Bearer tiger" },
		{ "${env:SECRET_A}${env:SECRET_A}!", "tigertiger!" },
		{ "a${env:SECRET_EMPTY}b", "ab" },
		{ "${env:SECRET_NESTED}",
		  "${env:SECRET_A}" }, /* what came out is never expanded again */
	};

	(void)state;
	setenv("SECRET_A", "tiger", 1);
	setenv("SECRET_EMPTY", "", 1);
	setenv("SECRET_NESTED", "${env:SECRET_A}", 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(expand(rows[i].value), RC_OK);
		assert_string_equal(out.bytes ? out.bytes : "", rows[i].want);
	}
}

static void one_newline_at_the_end_of_a_file_is_dropped(void **state)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "tiger", "<tiger>" }, { "tiger\n", "<tiger>" }, { "tiger\r\n", "<tiger>" },
		{ "", "<>" },		{ "\n", "<>" },		  { "\r\n", "<>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(expand(file_of("plain", rows[i].bytes, strlen(rows[i].bytes))),
				 RC_OK);
		assert_string_equal(out.bytes, rows[i].want);
	}
}

static void a_file_may_have_64_kib_and_no_byte_more(void **state)
{
	char *big = malloc(SECRET_MAX_BYTES + 2);

	(void)state;
	memset(big, 'x', SECRET_MAX_BYTES + 2);
	assert_int_equal(expand(file_of("big", big, SECRET_MAX_BYTES)), RC_OK);
	assert_int_equal(out.len, SECRET_MAX_BYTES + 2);
	big[SECRET_MAX_BYTES] = '\n';
	assert_int_equal(expand(file_of("big", big, SECRET_MAX_BYTES + 1)), RC_OK);
	big[SECRET_MAX_BYTES] = 'x';
	assert_int_equal(expand(file_of("big", big, SECRET_MAX_BYTES + 1)), RC_NOT_FOUND);
	assert_int_equal(expand(file_of("big", big, SECRET_MAX_BYTES + 2)), RC_NOT_FOUND);
	free(big);
}

static void what_a_header_cant_carry_is_refused_unseen(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "tiger\n\n", 7 }, { "tiger\r", 6 },	{ "ti\nger", 6 },
		{ "ti\0ger", 6 },   { "tiger\x7f", 6 }, { "tiger\n\r\n", 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(expand(file_of("bad", rows[i].bytes, rows[i].len)), RC_NOT_FOUND);
		assert_non_null(strstr(why.bytes, "/bad"));
		assert_null(strstr(why.bytes, "tiger"));
	}
	setenv("SECRET_BAD", "tiger\r\nX: y", 1);
	assert_int_equal(expand("${env:SECRET_BAD}"), RC_NOT_FOUND);
	assert_string_equal(why.bytes, "SECRET_BAD holds a byte that a header can't carry");
	assert_int_equal(expand("a\nb"), RC_INVALID);
}

static void what_is_missing_is_named(void **state)
{
	char path[128], value[256];

	(void)state;
	assert_int_equal(expand("x ${env:SECRET_MISSING}"), RC_NOT_FOUND);
	assert_string_equal(why.bytes, "the environment variable SECRET_MISSING isn't set");
	assert_int_equal(expand("${file:/no/such/file}"), RC_NOT_FOUND);
	assert_non_null(strstr(why.bytes, "/no/such/file"));
	assert_int_equal(expand("${file:/tmp}"), RC_NOT_FOUND);
	assert_int_equal(expand("${file:/dev/zero}"), RC_NOT_FOUND);
	assert_int_equal(expand("${nope}"), RC_INVALID);

	snprintf(path, sizeof path, "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(value, sizeof value, "${file:%s}", path);
	assert_int_equal(expand(value), RC_NOT_FOUND); /* and it doesn't wait for a writer */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_put_in_place),
		cmocka_unit_test(one_newline_at_the_end_of_a_file_is_dropped),
		cmocka_unit_test(a_file_may_have_64_kib_and_no_byte_more),
		cmocka_unit_test(what_a_header_cant_carry_is_refused_unseen),
		cmocka_unit_test(what_is_missing_is_named),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
