/* test_json_tree.c: finding and reading what is in a tree, and its canonical bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_number.h"

#define DEPTH 64
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* A C string with its length, NUL bytes included. */
#define TEXT(literal) literal, sizeof(literal) - 1

static struct json_doc *parsed(const char *text, size_t len)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(text, len, DEPTH, &doc, &error);

	if (rc != RC_OK)
		fail_msg("refused at %zu (%s): %.*s", error.offset, error.detail, (int)len, text);
	return doc;
}

static char *canon_of(const struct json_doc *doc)
{
	struct text canon;

	text_init(&canon, 1 << 24);
	json_canon(json_root(doc), &canon);
	char *bytes = text_take(&canon);
	assert_non_null(bytes);
	return bytes;
}

static void canonical_form_is_what_the_header_says(void **state)
{
	static const struct {
		const char *text, *canon;
	} rows[] = {
		{ " { } ", "{}" },
		{ "[ 1 , 2.50, -1.50, 1000, 0.001, -0.0 ]", "[1,25e-1,-15e-1,1e3,1e-3,0]" },
		{ "1e999999999999999999", "1e999999999999999999" },
		{ "10e999999999999999999", "1e1000000000000000000" },
		{ "0.1e-999999999999999999", "1e-1000000000000000000" },
		{ "12.34", "1234e-2" },
		{ "\"\\/\\u0041\\u007f\\u001F\\n\"", "\"/A\x7f\\u001f\\n\"" },
		{ "{\"b\":true,\"a\":false,\"\":null,\"ab\":[]}",
		  "{\"\":null,\"a\":false,\"ab\":[],\"b\":true}" },
		/* By bytes: U+E000 sorts before U+10000, which UTF-16 order would turn round. */
		{ "{\"\\ud800\\udc00\":1,\"\\ue000\":2}", "{\"\ue000\":2,\"\U00010000\":1}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json_doc *doc = parsed(rows[i].text, strlen(rows[i].text));
		char *canon = canon_of(doc);
		if (strcmp(canon, rows[i].canon) != 0)
			fail_msg("%s: got %s, want %s", rows[i].text, canon, rows[i].canon);
		free(canon);
		json_free(doc);
	}
}

static void a_value_keeps_its_text_and_its_members_their_order(void **state)
{
	(void)state;
	struct json_doc *doc = parsed(TEXT(" {\"b\" : [1, {}] , \"a\":\"x\\ny\"} "));
	const struct json_value *root = json_root(doc), *b = root->child, *a = b->next;

	assert_int_equal(root->count, 2);
	assert_int_equal(root->raw_len, 28);
	assert_int_equal(b->raw_len, 7);
	assert_memory_equal(b->raw, "[1, {}]", 7);
	assert_int_equal(b->name_offset, 2);
	assert_null(a->next);
	assert_true(json_is_string(a, "x\ny"));
	assert_int_equal(a->raw_len, 6);
	assert_ptr_equal(json_member(root, "a"), a);
	assert_null(json_member(root, "c"));
	assert_null(json_member(a, "a"));
	assert_null(json_member(NULL, "a"));
	assert_false(json_is_string(NULL, "x"));
	assert_memory_equal(b->name, "b", b->name_len);
	assert_null(b->child->name);
	json_free(doc);
	json_free(NULL);
}

static void pointers_follow_rfc_6901(void **state)
{
	static const char text[] =
		"{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,"
		"\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8,\"~1\":9,\"0\":{\"-\":10}}";
	static const struct {
		const char *pointer, *raw;
	} rows[] = {
		{ "", text },
		{ "/foo", "[\"bar\",\"baz\"]" },
		{ "/foo/0", "\"bar\"" },
		{ "/foo/1", "\"baz\"" },
		{ "/", "0" },
		{ "/a~1b", "1" },
		{ "/c%d", "2" },
		{ "/e^f", "3" },
		{ "/g|h", "4" },
		{ "/i\\j", "5" },
		{ "/k\"l", "6" },
		{ "/ ", "7" },
		{ "/m~0n", "8" },
		{ "/~01", "9" },
		{ "/0/-", "10" },
		{ "/foo/2", NULL },
		{ "/foo/01", NULL },
		{ "/foo/-", NULL },
		{ "/foo/", NULL },
		{ "/foo/+1", NULL },
		{ "/foo/18446744073709551616", NULL },
		{ "/foo/0/x", NULL },
		{ "foo", NULL },
		{ "/m~n", NULL },
		{ "/m~", NULL },
		{ "/nothing", NULL },
		{ "/fo", NULL },
		{ "/fooo", NULL },
		{ "//", NULL },
	};

	(void)state;
	struct json_doc *doc = parsed(text, sizeof text - 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct json_value *found =
			json_at(json_root(doc), rows[i].pointer, strlen(rows[i].pointer));
		bool same = found && rows[i].raw && found->raw_len == strlen(rows[i].raw) &&
			    memcmp(found->raw, rows[i].raw, found->raw_len) == 0;
		if (!same && (found || rows[i].raw))
			fail_msg("pointer \"%s\" found %s", rows[i].pointer,
				 found ? "something else" : "nothing");
	}
	json_free(doc);
	assert_true(json_pointer_valid("", 0));
	assert_true(json_pointer_valid("/~0~1", 5));
	assert_false(json_pointer_valid("/~", 2));
	assert_false(json_pointer_valid("/~2", 3));
	assert_false(json_pointer_valid("a", 1));
}

static void integers_are_read_in_any_spelling_and_never_rounded(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{ "5", true, 5 },
		{ "5.0", true, 5 },
		{ "50e-1", true, 5 },
		{ "0.5e1", true, 5 },
		{ "-0", true, 0 },
		{ "0e999999999999999999", true, 0 },
		{ "1e18", true, INT64_C(1000000000000000000) },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-922337203685477580800e-2", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "1e19", false, 0 },
		{ "9999999999999999999", false, 0 },
		{ "18446744073709551617", false, 0 },
		{ "5.5", false, 0 },
		{ "1e-1", false, 0 },
		{ "1e999999999999999999", false, 0 },
		{ "1e-999999999999999999", false, 0 },
		{ "\"5\"", false, 0 },
		{ "null", false, 0 },
		{ "[5]", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json_doc *doc = parsed(rows[i].text, strlen(rows[i].text));
		int64_t number = 77;
		bool ok = json_to_i64(json_root(doc), INT64_MIN, INT64_MAX, &number);
		if (ok != rows[i].ok || number != (ok ? rows[i].want : 77))
			fail_msg("%s: %d, %lld", rows[i].text, ok, (long long)number);
		json_free(doc);
	}
	struct json_doc *doc = parsed(TEXT("100"));
	int64_t number = 77;
	assert_true(json_to_i64(json_root(doc), 1, 100, &number));
	assert_false(json_to_i64(json_root(doc), 1, 99, &number));
	assert_false(json_to_i64(json_root(doc), 101, 200, &number));
	assert_false(json_to_i64(NULL, 1, 100, &number));
	json_free(doc);
}

static void the_form_that_keeps_digits_is_the_canonical_one_but_for_numbers(void **state)
{
	static const struct {
		const char *text, *form;
	} rows[] = {
		{ "[ 1 , 2.50, -0.0, 10E+2 ]", "[1,2.50,-0.0,10E+2]" },
		{ "{\"b\": [{\"d\": 1.0, \"c\": 1e0}], \"a\": \"\\u0041\\/\", \"\": null}",
		  "{\"\":null,\"a\":\"A/\",\"b\":[{\"c\":1e0,\"d\":1.0}]}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json_doc *doc = parsed(rows[i].text, strlen(rows[i].text));
		struct text form;

		text_init(&form, 1 << 10);
		json_canon_digits(json_root(doc), &form);
		assert_string_equal(form.bytes, rows[i].form);
		text_release(&form);
		json_free(doc);
	}
}

static void canonical_form_past_the_cap_fails_instead_of_being_cut(void **state)
{
	struct text canon;

	(void)state;
	struct json_doc *doc = parsed(TEXT("[1,2,3]"));
	text_init(&canon, 6);
	json_canon(json_root(doc), &canon);
	assert_false(text_ok(&canon));
	text_release(&canon);
	json_free(doc);
}

static struct json_decimal decimal_of(const char *text, struct json_doc **doc_out)
{
	*doc_out = parsed(text, strlen(text));
	return json_number_decimal(json_root(*doc_out));
}

static void numbers_sort_as_exact_decimals(void **state)
{
	static const char *const rising[] = {
		"-1e999999999999999999",
		"-18446744073709551617",
		"-18446744073709551616",
		"-10.01",
		"-10",
		"-9.99",
		"-1e-999999999999999999",
		"-0",
		"1e-999999999999999999",
		"0.001",
		"0.00100000001",
		"0.01",
		"1",
		"1.5",
		"1.50000000000000000000001",
		"2",
		"9.99",
		"10",
		"10.01",
		"123",
		"123.4",
		"1.24e2",
		"9007199254740992",
		"9007199254740993",
		"1e999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rising) * COUNT(rising); i++) {
		struct json_doc *doc_a, *doc_b;
		size_t at = i / COUNT(rising), other = i % COUNT(rising);
		struct json_decimal a = decimal_of(rising[at], &doc_a);
		struct json_decimal b = decimal_of(rising[other], &doc_b);
		int order = json_number_compare(&a, &b), want = (at > other) - (at < other);
		if ((order > 0) - (order < 0) != want || json_number_equal(&a, &b) != (want == 0))
			fail_msg("%s and %s: %d, want %d", rising[at], rising[other], order, want);
		json_free(doc_a);
		json_free(doc_b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical_form_is_what_the_header_says),
		cmocka_unit_test(a_value_keeps_its_text_and_its_members_their_order),
		cmocka_unit_test(pointers_follow_rfc_6901),
		cmocka_unit_test(integers_are_read_in_any_spelling_and_never_rounded),
		cmocka_unit_test(the_form_that_keeps_digits_is_the_canonical_one_but_for_numbers),
		cmocka_unit_test(canonical_form_past_the_cap_fails_instead_of_being_cut),
		cmocka_unit_test(numbers_sort_as_exact_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
