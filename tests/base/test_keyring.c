#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/keyring.h"

#define LINES_MAX 6
#define LINE_BYTES 600

/* A file of lines of so many digits; a negative number: a comment. */
static void write_lines(const int *lines, char digit, char path[32])
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/keyring-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	for (size_t i = 0; i < LINES_MAX && lines[i] != 0; i++) {
		char line[LINE_BYTES];
		size_t len = (size_t)abs(lines[i]);

		memset(line, digit, len);
		if (lines[i] < 0)
			line[0] = '#';
		fprintf(file, "%.*s\n\n", (int)len, line);
	}
	assert_int_equal(fclose(file), 0);
}

static void four_keys_of_64_to_256_digits_are_taken_and_nothing_else(void **state)
{
	static const struct {
		int lines[LINES_MAX];
		char digit;
		size_t keys; /* 0: refused */
	} rows[] = {
		{ { 64 }, 'a', 1 },
		{ { 256 }, 'F', 1 },
		{ { -7, 64, -64, 66, -300, 68 }, '0', 3 },
		{ { 64, 66, 128, 256 }, '9', 4 },
		{ { 64, 66, 128, 256, 70 }, '9', 0 },
		{ { 62 }, 'a', 0 },
		{ { 65 }, 'a', 0 },
		{ { 258 }, 'a', 0 },
		{ { 599 }, 'a', 0 },
		{ { 64 }, 'g', 0 },
		{ { -64 }, 'a', 0 },
		{ { 0 }, 'a', 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct keyring ring;
		char path[32];

		write_lines(rows[i].lines, rows[i].digit, path);
		enum rc rc = keyring_load(path, &ring);

		unlink(path);
		if (rc != (rows[i].keys ? RC_OK : RC_INVALID) || ring.len != rows[i].keys)
			fail_msg("row %zu: rc %d, %zu keys", i, rc, ring.len);
		keyring_release(&ring);
	}
}

static void the_first_line_is_the_key_that_signs(void **state)
{
	static const int lines[LINES_MAX] = { 64, 70 };
	struct keyring ring;
	char path[32];

	(void)state;
	write_lines(lines, 'a', path);
	assert_int_equal(keyring_load(path, &ring), RC_OK);
	unlink(path);
	assert_int_equal(ring.keys[0].len, 32);
	assert_int_equal(ring.keys[0].bytes[31], 0xaa);
	assert_int_equal(ring.keys[1].len, 35);
	keyring_release(&ring);
	assert_int_equal(keyring_load("/nowhere/keys", &ring), RC_INVALID);
	assert_int_equal(keyring_load(NULL, &ring), RC_OK);
	assert_int_equal(ring.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_keys_of_64_to_256_digits_are_taken_and_nothing_else),
		cmocka_unit_test(the_first_line_is_the_key_that_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
