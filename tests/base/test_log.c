/* test_log.c: a line as it is written, whatever its arguments hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/timestamp.h"

#define LINE_BYTES 4096
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* Standard error is one end of a socket that keeps writes apart: what one read returns is one
 * write(2). */
static int stderr_before, reader;

static int catch_stderr(void **state)
{
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return -1;
	stderr_before = dup(STDERR_FILENO);
	dup2(ends[0], STDERR_FILENO);
	close(ends[0]);
	reader = ends[1];
	log_open("onejob-test");
	return 0;
}

static int restore_stderr(void **state)
{
	(void)state;
	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	close(reader);
	return 0;
}

/* The one line written, its time checked and taken off. */
static const char *next_line(void)
{
	static char line[2 * LINE_BYTES];
	int64_t us;
	ssize_t len = recv(reader, line, sizeof line - 1, MSG_DONTWAIT);

	assert_in_range(len, TIMESTAMP_TEXT_LEN + 1, LINE_BYTES);
	line[len] = '\0';
	assert_int_equal(strlen(line), len);
	assert_int_equal(line[len - 1], '\n');
	assert_ptr_equal(strchr(line, '\n'), line + len - 1);
	assert_null(timestamp_parse(line, TIMESTAMP_TEXT_LEN, &us));
	assert_int_equal(recv(reader, line + len, 1, MSG_DONTWAIT), -1);
	line[len] = '\0';
	return line + TIMESTAMP_TEXT_LEN;
}

static void a_line_is_time_level_program_event_and_pairs(void **state)
{
	(void)state;
	log_info("race", "job=%s attempt=%d", "017f", 2);
	assert_string_equal(next_line(), " info onejob-test race job=017f attempt=2\n");
	log_warning("slow", "%s", "");
	assert_string_equal(next_line(), " warning onejob-test slow\n");
	log_error("conf.refused", "value=\"%s\"", "a b");
	assert_string_equal(next_line(), " error onejob-test conf.refused value=\"a b\"\n");
}

static void no_argument_can_forge_a_line_or_drive_a_terminal(void **state)
{
	static const struct {
		const char *value, *want;
	} rows[] = {
		{ "x\n2026-12-01T22:40:47.123456Z info onejob-api race",
		  "x\\x0a2026-12-01T22:40:47.123456Z info onejob-api race" },
		{ "\r\t\x1b[2J\x7f", "\\x0d\\x09\\x1b[2J\\x7f" },
		{ "\u00fc\u20ac\U0001F600", "\u00fc\u20ac\U0001F600" },
		{ "\xc2\x9b"
		  "2J",
		  "\\xc2\\x9b2J" }, /* a C1 control, well-formed as it is */
		{ "\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "back\\slash", "back\\slash" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[256];
		log_info("event", "value=%s", rows[i].value);
		snprintf(want, sizeof want, " info onejob-test event value=%s\n", rows[i].want);
		assert_string_equal(next_line(), want);
	}
}

static void a_line_that_is_too_long_is_cut_between_characters(void **state)
{
	static const struct {
		const char *unit, *shown;
	} rows[] = {
		{ "x", "x" },		{ "\n", "\\x0a" },
		{ "\u00fc", "\u00fc" }, { "\U0001F600", "\U0001F600" },
		{ "\xff", "\\xff" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char value[3 * LINE_BYTES] = "";
		for (size_t len = 0; len < sizeof value - 8; len += strlen(rows[i].unit))
			strcpy(value + len, rows[i].unit);
		log_info("event", "value=%s", value);
		const char *line = next_line();
		size_t len = strlen(line), shown = strlen(rows[i].shown);
		const char *first = line + strlen(" info onejob-test event value=");
		assert_string_equal(line + len - 4, "...\n");
		assert_true(len + TIMESTAMP_TEXT_LEN > LINE_BYTES - 4);
		assert_int_equal((size_t)(line + len - 4 - first) % shown, 0);
		for (; first < line + len - 4; first += shown)
			assert_memory_equal(first, rows[i].shown, shown);
	}
}

static void a_line_that_just_fits_is_not_cut(void **state)
{
	size_t room = LINE_BYTES - 1 - TIMESTAMP_TEXT_LEN - strlen(" info onejob-test event ");
	char value[LINE_BYTES + 1];

	(void)state;
	memset(value, 'x', sizeof value);
	value[room] = '\0';
	log_info("event", "%s", value);
	const char *line = next_line();
	assert_int_equal(strlen(line) + TIMESTAMP_TEXT_LEN, LINE_BYTES);
	assert_null(strstr(line, "..."));

	value[room] = 'x';
	value[room + 1] = '\0';
	log_info("event", "%s", value);
	line = next_line();
	assert_int_equal(strlen(line) + TIMESTAMP_TEXT_LEN, LINE_BYTES);
	assert_non_null(strstr(line, "x...\n"));
}

static void logging_leaves_errno_alone(void **state)
{
	int closed = dup(STDERR_FILENO);

	(void)state;
	close(STDERR_FILENO);
	errno = ENOENT;
	log_error("event", "lost=yes");
	assert_int_equal(errno, ENOENT);
	dup2(closed, STDERR_FILENO);
	close(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_is_time_level_program_event_and_pairs,
						catch_stderr, restore_stderr),
		cmocka_unit_test_setup_teardown(no_argument_can_forge_a_line_or_drive_a_terminal,
						catch_stderr, restore_stderr),
		cmocka_unit_test_setup_teardown(a_line_that_is_too_long_is_cut_between_characters,
						catch_stderr, restore_stderr),
		cmocka_unit_test_setup_teardown(a_line_that_just_fits_is_not_cut, catch_stderr,
						restore_stderr),
		cmocka_unit_test_setup_teardown(logging_leaves_errno_alone, catch_stderr,
						restore_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
