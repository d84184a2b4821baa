/* test_conf.c: what a setting may be, and what is said when it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const char *const names[] = {
	"ONEJOB_MAX_BODY", "ONEJOB_TRUST_OWNER",   "ONEJOB_IN_FLIGHT",	   "ONEJOB_LEASE_SECONDS",
	"ONEJOB_POLL_MS",  "ONEJOB_GRACE_SECONDS", "ONEJOB_DEFAULTS_FILE", "ONEJOB_API_SOCKET",
};

static int clear(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		unsetenv(names[i]);
	return 0;
}

/* conf_load() with standard error caught in `log`. */
static enum rc load(struct conf *conf_out, char *log, size_t log_size)
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	enum rc rc = conf_load(conf_out);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	log[fread(log, 1, log_size - 1, file)] = '\0';
	fclose(file);
	return rc;
}

static void without_settings_the_defaults_hold(void **state)
{
	struct conf conf;
	char log[4096];

	(void)state;
	assert_int_equal(load(&conf, log, sizeof log), RC_OK);
	assert_string_equal(log, "");
	assert_int_equal(conf.max_body_bytes, 1048576);
	assert_int_equal(conf.trust_owner, 0);
	assert_int_equal(conf.in_flight_max, 960);
	assert_int_equal(conf.lease_s, 30);
	assert_int_equal(conf.poll_ms, 200);
	assert_int_equal(conf.grace_s, 30);
	assert_null(conf.defaults_file);
}

static void bounds_are_taken_and_what_lies_past_them_refused(void **state)
{
	static const struct {
		const char *name;
		size_t offset;
		uint32_t min, max;
	} rows[] = {
		{ "ONEJOB_MAX_BODY", offsetof(struct conf, max_body_bytes), 1024, 67108864 },
		{ "ONEJOB_TRUST_OWNER", offsetof(struct conf, trust_owner), 0, 1 },
		{ "ONEJOB_IN_FLIGHT", offsetof(struct conf, in_flight_max), 1, 10000 },
		{ "ONEJOB_LEASE_SECONDS", offsetof(struct conf, lease_s), 30, 3600 },
		{ "ONEJOB_POLL_MS", offsetof(struct conf, poll_ms), 10, 60000 },
		{ "ONEJOB_GRACE_SECONDS", offsetof(struct conf, grace_s), 0, 3600 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const int64_t values[] = { rows[i].min, rows[i].max, (int64_t)rows[i].min - 1,
					   (int64_t)rows[i].max + 1 };
		for (size_t k = 0; k < COUNT(values); k++) {
			struct conf conf;
			char log[4096], text[32];
			uint32_t got;
			snprintf(text, sizeof text, "%lld", (long long)values[k]);
			setenv(rows[i].name, text, 1);
			enum rc rc = load(&conf, log, sizeof log);
			if (rc != (k < 2 ? RC_OK : RC_INVALID))
				fail_msg("%s=%s: rc %d", rows[i].name, text, rc);
			if (k < 2) {
				memcpy(&got, (char *)&conf + rows[i].offset, sizeof got);
				assert_int_equal(got, values[k]);
			}
		}
		unsetenv(rows[i].name);
	}
}

static void what_is_no_number_is_refused_by_name_value_and_bounds(void **state)
{
	static const char *const values[] = {
		"5m",
		"",
		" 50",
		"50 ",
		"+50",
		"-50",
		"5e1",
		"50.0",
		"0x32",
		"4294967346",
		"18446744073709551666",
		"fifty",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		struct conf conf, untouched;
		char log[4096], want[128];
		memset(&conf, 0x5a, sizeof conf);
		untouched = conf;
		setenv("ONEJOB_LEASE_SECONDS", values[i], 1);
		if (load(&conf, log, sizeof log) != RC_INVALID)
			fail_msg("taken: \"%s\"", values[i]);
		snprintf(want, sizeof want,
			 " conf.refused name=ONEJOB_LEASE_SECONDS value=\"%s\" min=30 max=3600\n",
			 values[i]);
		if (!strstr(log, want))
			fail_msg("\"%s\" not in: %s", want, log);
		assert_memory_equal(&conf, &untouched, sizeof conf);
	}
}

static void every_flaw_is_named_at_once(void **state)
{
	struct conf conf;
	char log[4096];

	(void)state;
	setenv("ONEJOB_POLL_MS", "9", 1);
	setenv("ONEJOB_DEFAULTS_FILE", "my.cnf", 1);
	assert_int_equal(load(&conf, log, sizeof log), RC_INVALID);
	assert_non_null(strstr(log, "name=ONEJOB_POLL_MS value=\"9\""));
	assert_non_null(strstr(log, "name=ONEJOB_DEFAULTS_FILE value=\"my.cnf\""));
}

static void the_defaults_file_must_be_an_absolute_path(void **state)
{
	static const struct {
		const char *value;
		enum rc want;
	} rows[] = {
		{ "/etc/onejob/my.cnf", RC_OK },
		{ "", RC_INVALID },
		{ "my.cnf", RC_INVALID },
		{ "~/my.cnf", RC_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf conf;
		char log[4096];
		setenv("ONEJOB_DEFAULTS_FILE", rows[i].value, 1);
		if (load(&conf, log, sizeof log) != rows[i].want)
			fail_msg("\"%s\": not %d", rows[i].value, rows[i].want);
		if (rows[i].want == RC_OK)
			assert_string_equal(conf.defaults_file, rows[i].value);
	}
}

static void printing_shows_every_setting_with_its_value(void **state)
{
	struct conf conf;
	char log[4096], *printed;
	size_t printed_len;

	(void)state;
	setenv("ONEJOB_POLL_MS", "350", 1);
	setenv("ONEJOB_DEFAULTS_FILE", "/etc/x.cnf", 1);
	assert_int_equal(load(&conf, log, sizeof log), RC_OK);
	FILE *to = open_memstream(&printed, &printed_len);
	assert_non_null(to);
	conf_print(&conf, to);
	fclose(to);
	for (size_t i = 0; i < COUNT(names); i++) {
		if (!strstr(printed, names[i]))
			fail_msg("%s isn't in: %s", names[i], printed);
	}
	assert_non_null(strstr(printed, "ONEJOB_POLL_MS=350 (10 to 60000, default 200): "));
	assert_non_null(strstr(printed, "ONEJOB_DEFAULTS_FILE=/etc/x.cnf (default: not set): "));
	free(printed);
}

static void a_variable_that_no_setting_has_is_a_stranger(void **state)
{
	static char *mine[] = { "ONEJOB_THREDS=4",   "ONEJOB_THREADS=4",
				"ONEJOB_THREADS_=4", "ONEJOB_API_SOCKET=",
				"ONEJOB_STACK=/a",   "MY_ONEJOB_X=1",
				"ONEJOB_THREAD=4",   NULL };
	char **before = environ;
	struct text list;

	(void)state;
	text_init(&list, 1000);
	environ = mine;
	conf_strangers(&list);
	environ = before;
	assert_string_equal(list.bytes, "ONEJOB_THREDS, ONEJOB_THREADS_, ONEJOB_THREAD");
	text_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_settings_the_defaults_hold, clear),
		cmocka_unit_test_setup(bounds_are_taken_and_what_lies_past_them_refused, clear),
		cmocka_unit_test_setup(what_is_no_number_is_refused_by_name_value_and_bounds,
				       clear),
		cmocka_unit_test_setup(every_flaw_is_named_at_once, clear),
		cmocka_unit_test_setup(the_defaults_file_must_be_an_absolute_path, clear),
		cmocka_unit_test(a_variable_that_no_setting_has_is_a_stranger),
		cmocka_unit_test_setup(printing_shows_every_setting_with_its_value, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
