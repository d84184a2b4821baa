/* test_json_suite.c: JSONTestSuite (nst/JSONTestSuite, MIT, see its LICENSE beside it), every file
 * of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define DEPTH 64
#define FILE_MAX_BYTES (1 << 20)

/* What the folder held when this was written. A file that got lost must not pass as one that went
 * well. */
enum { ACCEPTED_COUNT = 95, REFUSED_COUNT = 188, EITHER_COUNT = 35 };

/* RFC 8259 lets a name come twice ("SHOULD be unique"); here it is refused, for two readers may
 * pick different ones. */
static const char *const stricter[] = {
	"y_object_duplicated_key.json",
	"y_object_duplicated_key_and_value.json",
};

static const char *folder(void)
{
	static char path[4096];
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof path, "%s/tests/data/json-parsing", srcdir ? srcdir : ".");
	return path;
}

static bool is_stricter(const char *name)
{
	for (size_t i = 0; i < sizeof stricter / sizeof stricter[0]; i++) {
		if (strcmp(name, stricter[i]) == 0)
			return true;
	}
	return false;
}

/* The file in memory of exactly its size, so that a sanitizer sees one byte read too many. */
static char *read_whole(const char *name, size_t *len_out)
{
	char path[8192];

	snprintf(path, sizeof path, "%s/%s", folder(), name);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("can't open %s", path);
	char *large = malloc(FILE_MAX_BYTES);
	assert_non_null(large);
	*len_out = fread(large, 1, FILE_MAX_BYTES, file);
	assert_true(*len_out < FILE_MAX_BYTES);
	fclose(file);
	char *exact = malloc(*len_out + 1);
	assert_non_null(exact);
	memcpy(exact + 1, large, *len_out);
	free(large);
	return exact;
}

static enum rc verdict(const char *name)
{
	struct json_doc *doc;
	struct json_error error;
	struct text canon;
	size_t len;
	char *text = read_whole(name, &len);
	enum rc rc = json_parse(text + 1, len, DEPTH, &doc, &error);

	if (rc == RC_OK) {
		text_init(&canon, FILE_MAX_BYTES);
		json_canon(json_root(doc), &canon);
		assert_true(text_ok(&canon));
		assert_true(json_equal(json_root(doc), json_root(doc)));
		text_release(&canon);
	} else if (error.offset > len) {
		fail_msg("%s: offset %zu past the end", name, error.offset);
	}
	json_free(doc);
	free(text);
	return rc;
}

/* Runs every file that begins with `prefix`; `want` RC__MAX: either answer will do. Returns how
 * many there were. */
static int run(char prefix, enum rc want)
{
	int count = 0;
	DIR *dir = opendir(folder());

	if (!dir)
		fail_msg("no folder %s; is srcdir set?", folder());
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] != prefix || entry->d_name[1] != '_')
			continue;
		enum rc due = is_stricter(entry->d_name) ? RC_INVALID : want;
		enum rc rc = verdict(entry->d_name);
		if (due == RC__MAX ? rc != RC_OK && rc != RC_INVALID : rc != due)
			fail_msg("%s: rc %d, want %d", entry->d_name, rc, due);
		count++;
	}
	closedir(dir);
	return count;
}

static void every_y_file_is_accepted_but_repeated_names(void **state)
{
	(void)state;
	assert_int_equal(run('y', RC_OK), ACCEPTED_COUNT);
}

static void every_n_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(run('n', RC_INVALID), REFUSED_COUNT);
}

static void no_i_file_does_harm(void **state)
{
	(void)state;
	assert_int_equal(run('i', RC__MAX), EITHER_COUNT);
}

/* Where the suite leaves the answer open, ours is fixed: exact numbers are taken, bytes that are no
 * text are not. */
static void the_open_questions_have_these_answers(void **state)
{
	static const struct {
		const char *name;
		enum rc want;
	} rows[] = {
		{ "i_number_double_huge_neg_exp.json", RC_OK },
		{ "i_number_huge_exp.json", RC_INVALID }, /* an exponent of more than 18 digits */
		{ "i_number_neg_int_huge_exp.json", RC_OK },
		{ "i_number_too_big_pos_int.json", RC_OK },
		{ "i_object_key_lone_2nd_surrogate.json", RC_INVALID },
		{ "i_string_UTF-8_invalid_sequence.json", RC_INVALID },
		{ "i_string_UTF8_surrogate_U+D800.json", RC_INVALID },
		{ "i_string_overlong_sequence_2_bytes.json", RC_INVALID },
		{ "i_string_utf16LE_no_BOM.json", RC_INVALID },
		{ "i_structure_500_nested_arrays.json", RC_INVALID },
		{ "i_structure_UTF-8_BOM_empty_object.json", RC_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum rc rc = verdict(rows[i].name);
		if (rc != rows[i].want)
			fail_msg("%s: rc %d, want %d", rows[i].name, rc, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_y_file_is_accepted_but_repeated_names),
		cmocka_unit_test(every_n_file_is_refused),
		cmocka_unit_test(no_i_file_does_harm),
		cmocka_unit_test(the_open_questions_have_these_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
