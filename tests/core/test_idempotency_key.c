/* test_idempotency_key.c: both forms of the header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/idempotency_key.h"

struct row {
	const char *value;
	const char *key; /* NULL: refused */
};

static void check(const struct row *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct idempotency_key key;
		const char *flaw =
			idempotency_key_parse(rows[i].value, strlen(rows[i].value), &key);

		if (!flaw != !!rows[i].key)
			fail_msg("<%s>: %s", rows[i].value,
				 flaw ? flaw : "taken, though it can't be a key");
		if (!flaw && (key.len != strlen(rows[i].key) ||
			      memcmp(key.bytes, rows[i].key, key.len) != 0))
			fail_msg("<%s>: got <%.*s>, want <%s>", rows[i].value, (int)key.len,
				 key.bytes, rows[i].key);
	}
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows)[0])

static void a01_a_blank_at_the_end_makes_another_key(void **state)
{
	static const struct row rows[] = {
		{ "\"k1\"", "k1" },   { "\"k1 \"", "k1 " }, { "\" k1\"", " k1" },
		{ "k1 ", "k1" }, /* outside the quotes it belongs to the line, not to the value */
		{ " \t k1\t", "k1" }, { " \"k1\" ", "k1" }, { "\" \"", " " },
	};

	(void)state;
	CHECK(rows);
}

static void a02_case_makes_another_key(void **state)
{
	static const struct row rows[] = { { "Order-7", "Order-7" }, { "order-7", "order-7" } };

	(void)state;
	CHECK(rows);
}

static void a03_a_key_has_255_bytes_at_most(void **state)
{
	char bare[4001];
	char quoted[516];
	struct idempotency_key key;

	(void)state;
	memset(bare, 'k', sizeof bare);
	assert_null(idempotency_key_parse(bare, 255, &key));
	assert_int_equal(key.len, 255);
	assert_non_null(idempotency_key_parse(bare, 256, &key));
	assert_non_null(idempotency_key_parse(bare, 300, &key));
	assert_non_null(idempotency_key_parse(bare, 4000, &key));
	quoted[0] = '"';
	for (size_t i = 0; i < 256; i++)
		memcpy(quoted + 1 + 2 * i, "\\\"", 2);
	quoted[511] = '"'; /* 255 escaped quotes: they count once each */
	assert_null(idempotency_key_parse(quoted, 512, &key));
	assert_int_equal(key.len, 255);
	quoted[511] = '\\';
	quoted[513] = '"';
	assert_non_null(idempotency_key_parse(quoted, 514, &key));
}

static void a04_an_empty_or_blank_key_is_refused(void **state)
{
	static const struct row rows[] = {
		{ "", NULL }, { " ", NULL }, { "   \t", NULL }, { "\"\"", NULL }
	};

	(void)state;
	CHECK(rows);
}

static void a05_both_forms_name_the_same_key(void **state)
{
	static const struct row rows[] = {
		{ "\"k-1\"", "k-1" }, { "k-1", "k-1" },	  { "\"a\\\"b\\\\c\"", "a\"b\\c" },
		{ "\"a,b\"", "a,b" }, { "a\\b", "a\\b" },
	};

	(void)state;
	CHECK(rows);
}

static void nothing_follows_a_quoted_key(void **state)
{
	static const struct row rows[] = {
		{ "\"a\"b", NULL }, { "\"a\";p=1", NULL }, { "\"a\", \"b\"", NULL },
		{ "\"a", NULL },    { "\"a\\\"", NULL },   { "\"a\\n\"", NULL },
		{ "\"a\\", NULL },  { "\"\"\"", NULL },	   { "\"a\" \"b\"", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void only_printable_ascii_is_taken(void **state)
{
	static const struct row rows[] = {
		{ "a,b", NULL },
		{ "a b", NULL },
		{ "a\"b", NULL },
		{ "a\x01", NULL },
		{ "a\x7f", NULL },
		{ "k\xc3\xa9y", NULL },
		{ "\"k\xc3\xa9y\"", NULL },
		{ "\"a\tb\"", NULL },
		{ "\"a\x7f\"", NULL },
		{ "a\tb", NULL },
		{ "!~", "!~" },
	};
	struct idempotency_key key;

	(void)state;
	CHECK(rows);
	assert_non_null(idempotency_key_parse("a\0b", 3, &key));
	assert_non_null(idempotency_key_parse("\"a\0b\"", 5, &key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a01_a_blank_at_the_end_makes_another_key),
		cmocka_unit_test(a02_case_makes_another_key),
		cmocka_unit_test(a03_a_key_has_255_bytes_at_most),
		cmocka_unit_test(a04_an_empty_or_blank_key_is_refused),
		cmocka_unit_test(a05_both_forms_name_the_same_key),
		cmocka_unit_test(nothing_follows_a_quoted_key),
		cmocka_unit_test(only_printable_ascii_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
