/* test_input.c: what is spelled out on the command line, and what is read from files and sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/job.h"
#include "ctl/input.h"
#include "ctl/socket_check.h"
#include "store/migrate.h"

/* The store is far: nothing here may reach for it. */
struct db *db_new(const char *defaults_file)
{
	(void)defaults_file;
	return NULL;
}

void db_be_patient(struct db *db)
{
	(void)db;
	abort();
}

void db_free(struct db *db)
{
	(void)db;
}

enum rc db_ready(struct db *db)
{
	(void)db;
	return RC_FAULT;
}

const char *db_error(const struct db *db)
{
	(void)db;
	return "";
}

bool db_lacks_right(const struct db *db)
{
	(void)db;
	return false;
}

enum rc migrate_check(struct db *db, struct schema_state *state_out)
{
	(void)db;
	(void)state_out;
	return RC_FAULT;
}

static void lengths_are_digits_and_one_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds; /* 0: refused */
	} rows[] = {
		{ "30s", 30 },
		{ "15m", 900 },
		{ "12h", 43200 },
		{ "90d", 7776000 },
		{ "36500d", UINT64_C(3153600000) },
		{ "007d", 604800 },
		{ "36501d", 0 },
		{ "0s", 0 },
		{ "0d", 0 },
		{ "", 0 },
		{ "d", 0 },
		{ "90", 0 },
		{ "-1d", 0 },
		{ "+1d", 0 },
		{ " 1d", 0 },
		{ "1d ", 0 },
		{ "1 d", 0 },
		{ "1.5h", 0 },
		{ "1w", 0 },
		{ "1D", 0 },
		{ "1dd", 0 },
		{ "99999999999999999999d", 0 },
		{ "18446744073709551617s", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t seconds = 0;
		bool taken = input_length(rows[i].text, &seconds);

		if (taken != (rows[i].seconds != 0) || seconds != rows[i].seconds)
			fail_msg("'%s'", rows[i].text);
	}
}

static void numbers_are_digits_within_their_bounds(void **state)
{
	static const struct {
		const char *text;
		uint32_t want; /* 0: refused */
	} rows[] = {
		{ "1", 1 },   { "200", 200 },	   { "0200", 200 },
		{ "0", 0 },   { "201", 0 },	   { "", 0 },
		{ "-1", 0 },  { "+1", 0 },	   { " 1", 0 },
		{ "1 ", 0 },  { "1e2", 0 },	   { "0x10", 0 },
		{ "1.0", 0 }, { "4294967297", 0 }, { "18446744073709551617", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint32_t number = 0;
		bool taken = input_number(rows[i].text, 1, 200, &number);

		if (taken != (rows[i].want != 0) || number != rows[i].want)
			fail_msg("'%s'", rows[i].text);
	}
}

static void owners_have_1_to_255_bytes_and_no_controls(void **state)
{
	char longest[OWNER_MAX + 1];
	char longer[OWNER_MAX + 2];

	(void)state;
	memset(longest, 'x', OWNER_MAX);
	longest[OWNER_MAX] = '\0';
	memset(longer, 'x', OWNER_MAX + 1);
	longer[OWNER_MAX + 1] = '\0';
	const struct {
		const char *owner;
		bool want;
	} rows[] = {
		{ "alice", true },  { "J\xc3\xbcrgen Q.", true },
		{ " ", true },	    { longest, true },
		{ "", false },	    { longer, false },
		{ "a\n", false },   { "\x1b[31m", false },
		{ "a\x7f", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (input_owner(rows[i].owner) != rows[i].want)
			fail_msg("row %zu", i);
	}
}

/* A ctl whose words are thrown away. */
static struct ctl quiet(void)
{
	FILE *nowhere = fopen("/dev/null", "w");

	assert_non_null(nowhere);
	return (struct ctl){ .out = nowhere, .err = nowhere };
}

static void a_file_larger_than_its_cap_is_refused_not_cut(void **state)
{
	char path[] = "/tmp/test_input.XXXXXX";
	int fd = mkstemp(path);
	struct ctl ctl = quiet();
	struct text bytes;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345678", 8), 8);
	text_init(&bytes, 8);
	assert_int_equal(input_file(&ctl, path, &bytes), CTL_DONE);
	assert_int_equal(bytes.len, 8);
	text_release(&bytes);
	text_init(&bytes, 7);
	assert_int_equal(input_file(&ctl, path, &bytes), CTL_REFUSED);
	text_release(&bytes);
	text_init(&bytes, 8);
	assert_int_equal(input_file(&ctl, "/tmp", &bytes), CTL_REFUSED);
	assert_int_equal(input_file(&ctl, "/nowhere/at/all", &bytes), CTL_REFUSED);
	text_release(&bytes);
	close(fd);
	unlink(path);
	fclose(ctl.out);
}

static void a_socket_accepts_only_while_somebody_listens(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char long_path[200];
	char folder[] = "/tmp/test_input.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder);
	assert_non_null(socket_check(address.sun_path));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_string_equal(socket_check(address.sun_path),
			    "the socket is there and nobody listens");
	assert_int_equal(listen(fd, 5), 0);
	assert_null(socket_check(address.sun_path));
	close(fd);
	assert_non_null(socket_check(address.sun_path));
	unlink(address.sun_path);
	rmdir(folder);
	memset(long_path, 'x', sizeof long_path - 1);
	long_path[sizeof long_path - 1] = '\0';
	assert_string_equal(socket_check(long_path), "the path is longer than a socket's can be");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_are_digits_and_one_unit),
		cmocka_unit_test(numbers_are_digits_within_their_bounds),
		cmocka_unit_test(owners_have_1_to_255_bytes_and_no_controls),
		cmocka_unit_test(a_file_larger_than_its_cap_is_refused_not_cut),
		cmocka_unit_test(a_socket_accepts_only_while_somebody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
