#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/check.h"

static struct json_doc *parse(const char *text)
{
	struct json_doc *doc;
	struct json_error error;

	if (json_parse(text, strlen(text), 64, &doc, &error) != RC_OK)
		fail_msg("not JSON: %s", text);
	return doc;
}

static enum rc read_list(const char *text, struct json_doc **doc_out, struct check_list *list_out,
			 struct flaws *flaws)
{
	*doc_out = parse(text);
	flaws_init(flaws);
	return check_list_read(json_root(*doc_out), "/checks", list_out, flaws);
}

#define HOLDS CHECK_HOLDS
#define BROKEN CHECK_BROKEN

static const struct {
	const char *check, *document, *input; /* input NULL: there is none */
	enum check_verdict want;
} rows[] = {
	{ "{\"pointer\": \"/a\", \"equals\": 3}", "{\"a\": 3.0}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"equals\": 3}", "{\"a\": 30e-1}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"equals\": 3}", "{\"a\": \"3\"}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"equals\": 9007199254740993}", "{\"a\": 9007199254740992}", NULL,
	  BROKEN },
	{ "{\"pointer\": \"/a\", \"equals\": null}", "{\"a\": null}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"equals\": null}", "{}", NULL, BROKEN },
	{ "{\"pointer\": \"\", \"equals\": {\"x\": 1, \"y\": 2}}", "{\"y\":2,\"x\":1}", NULL,
	  HOLDS },
	{ "{\"pointer\": \"/a\\u0000b\", \"equals\": 1}", "{\"a\\u0000b\": 1, \"a\": 2}", NULL,
	  HOLDS },
	{ "{\"pointer\": \"/a\", \"in\": [1, \"EUR\"]}", "{\"a\": \"EUR\"}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"in\": [1, \"EUR\"]}", "{\"a\": \"EUR \"}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"in\": [[]]}", "{\"a\": []}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"matches\": \"^DE\"}", "{\"a\": \"DE12\"}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"matches\": \"^DE\"}", "{\"a\": \"xDE12\"}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"matches\": \"1\"}", "{\"a\": 1}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"matches\": \"\"}", "{}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"min\": 0}", "{\"a\": 0}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"min\": 0}", "{\"a\": -0.0}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"min\": 0}", "{\"a\": -1e-30}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"min\": 0.1, \"max\": 0.3}", "{\"a\": 0.3}", NULL, HOLDS },
	{ "{\"pointer\": \"/a\", \"max\": 0.3, \"min\": 0.1}", "{\"a\": 0.30000000000000000001}",
	  NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"max\": 9}", "{\"a\": \"5\"}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"max\": 9}", "{\"a\": 1e999999999}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"max_length\": 2}", "{\"a\": \"\xc3\xa9\xf0\x9f\x98\x80\"}", NULL,
	  HOLDS },
	{ "{\"pointer\": \"/a\", \"max_length\": 2}", "{\"a\": \"abc\"}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"max_length\": 2}", "{\"a\": \"\\u0000\\u0000\\u0000\"}", NULL,
	  BROKEN },
	{ "{\"pointer\": \"/a\", \"max_length\": 0}", "{\"a\": []}", NULL, BROKEN },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"/id\"}", "{\"a\": 1}", "{\"id\": 1.0}",
	  HOLDS },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"/id\"}", "{\"a\": 1}", "{\"id\": 2}", BROKEN },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"/id\"}", "{\"a\": 1}", "{}", BROKEN },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"/id\"}", "{\"a\": null}", "{}", BROKEN },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"\"}", "{\"a\": [1]}", "[1]", HOLDS },
	{ "{\"pointer\": \"/a\", \"equals_input\": \"/id\"}", "{\"a\": null}", NULL, BROKEN },
};

static void a_check_holds_as_its_row_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json_doc *doc, *document = parse(rows[i].document);
		struct json_doc *input = rows[i].input ? parse(rows[i].input) : NULL;
		struct check_list list;
		struct flaws flaws;
		struct text why;
		char text[512];

		snprintf(text, sizeof text, "[%s]", rows[i].check);
		text_init(&why, 512);
		assert_int_equal(read_list(text, &doc, &list, &flaws), RC_OK);
		enum check_verdict got = check_list_judge(&list, json_root(document),
							  input ? json_root(input) : NULL, &why);
		if (got != rows[i].want)
			fail_msg("%s at %s: %d", rows[i].check, rows[i].document, (int)got);
		assert_int_equal(why.len > 0, got != CHECK_HOLDS);
		assert_int_equal(check_list_any(&list, json_root(document),
						input ? json_root(input) : NULL) != NULL,
				 got == CHECK_HOLDS);
		text_release(&why);
		check_list_release(&list);
		json_free(input);
		json_free(document);
		json_free(doc);
	}
}

#define P "{\"pointer\": \"/a\""

static const struct {
	const char *list, *pointer;
	size_t count;
} bad_rows[] = {
	{ "{}", "/checks", 1 },
	{ "[1]", "/checks/0", 1 },
	{ "[null]", "/checks/0", 1 },
	{ "[{}]", "/checks/0/pointer", 2 },
	{ "[{\"equals\": 1}]", "/checks/0/pointer", 1 },
	{ "[" P "}]", "/checks/0", 1 },
	{ "[" P ", \"equals\": 1}, " P ", \"equals\": 1, \"in\": [1]}]", "/checks/1", 1 },
	{ "[" P ", \"matches\": \"x\", \"min\": 1}]", "/checks/0", 1 },
	{ "[" P ", \"equal\": 1}]", "/checks/0/equal", 2 },
	{ "[" P ", \"equals\": 1, \"\\u0000\": 1}]", "/checks/0/\xef\xbf\xbd", 1 },
	{ "[" P ", \"equals\": 1, \"min\\u0000\": 1}]", "/checks/0/min\xef\xbf\xbd", 1 },
	{ "[{\"pointer\": \"a\", \"equals\": 1}]", "/checks/0/pointer", 1 },
	{ "[{\"pointer\": \"/~2\", \"equals\": 1}]", "/checks/0/pointer", 1 },
	{ "[{\"pointer\": 1, \"equals\": 1}]", "/checks/0/pointer", 1 },
	{ "[" P ", \"in\": []}]", "/checks/0/in", 1 },
	{ "[" P ", \"in\": \"EUR\"}]", "/checks/0/in", 1 },
	{ "[" P ", \"matches\": 1}]", "/checks/0/matches", 1 },
	{ "[" P ", \"matches\": \"(\"}]", "/checks/0/matches", 1 },
	{ "[" P ", \"min\": \"1\"}]", "/checks/0/min", 1 },
	{ "[" P ", \"max\": null}]", "/checks/0/max", 1 },
	{ "[" P ", \"min\": 2, \"max\": 1.9999999999999999999}]", "/checks/0/max", 1 },
	{ "[" P ", \"max_length\": -1}]", "/checks/0/max_length", 1 },
	{ "[" P ", \"max_length\": 1.5}]", "/checks/0/max_length", 1 },
	{ "[" P ", \"max_length\": 1e400}]", "/checks/0/max_length", 1 },
	{ "[" P ", \"equals_input\": \"id\"}]", "/checks/0/equals_input", 1 },
	{ "[" P ", \"equals_input\": null}]", "/checks/0/equals_input", 1 },
};

static void each_bad_check_is_named_by_its_pointer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
		struct json_doc *doc;
		struct check_list list;
		struct flaws flaws;

		if (read_list(bad_rows[i].list, &doc, &list, &flaws) != RC_INVALID)
			fail_msg("taken: %s", bad_rows[i].list);
		if (flaws.count != bad_rows[i].count)
			fail_msg("%s: %zu flaws", bad_rows[i].list, flaws.count);
		bool named = false;
		for (size_t f = 0; f < flaws.len; f++)
			named = named || strcmp(flaws.list[f].pointer, bad_rows[i].pointer) == 0;
		if (!named)
			fail_msg("%s: %s", bad_rows[i].list, flaws.list[0].pointer);
		assert_null(list.list);
		flaws_release(&flaws);
		json_free(doc);
	}
}

static void one_check_too_many_is_refused(void **state)
{
	(void)state;
	for (size_t count = CHECKS_MAX; count <= 10000; count += 9936) {
		struct text text;
		struct json_doc *doc;
		struct check_list list;
		struct flaws flaws;

		text_init(&text, 1 << 20);
		for (size_t i = 0; i < count; i++)
			text_addf(&text, "%s" P ", \"matches\": \"x\"}", i ? ", " : "[");
		text_add_str(&text, "]");
		enum rc rc = read_list(text.bytes, &doc, &list, &flaws);
		assert_int_equal(rc, count > CHECKS_MAX ? RC_INVALID : RC_OK);
		assert_int_equal(flaws.count, count > CHECKS_MAX);
		check_list_release(&list);
		flaws_release(&flaws);
		json_free(doc);
		text_release(&text);
	}
}

/* The pattern and the string cost more than one match may. */
#define SLOW_CHECK "{\"pointer\": \"/a\", \"matches\": \"^(x+x+)+$\"}"
#define SLOW "[" SLOW_CHECK
#define AND_SLOW ", " SLOW_CHECK
#define QUICK ", {\"pointer\": \"/b\", \"matches\": \"z\"}]"

static void what_cant_be_judged_never_holds_and_is_a_doubt(void **state)
{
	static const struct {
		const char *list;
		enum check_verdict want;
		const char *why;
	} slow[] = {
		{ SLOW "]", CHECK_UNJUDGED, "a check can't be judged: matches at \"/a\"" },
		{ SLOW ", " P ", \"equals\": 1}]", CHECK_BROKEN,
		  "a check doesn't hold: equals at \"/a\"" },
		/* A list has one purse, which a few such matches empty. */
		{ SLOW AND_SLOW QUICK, CHECK_BROKEN, "a check doesn't hold: matches at \"/b\"" },
		{ SLOW AND_SLOW AND_SLOW AND_SLOW AND_SLOW QUICK, CHECK_UNJUDGED,
		  "a check can't be judged: matches at \"/a\"" },
	};
	struct text document;

	(void)state;
	text_init(&document, 1 << 20);
	text_add_str(&document, "{\"a\": \"");
	for (int i = 0; i < 30000; i++)
		text_add_str(&document, "x");
	text_add_str(&document, "!\", \"b\": \"y\"}");
	for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
		struct json_doc *doc, *at = parse(document.bytes);
		struct check_list list;
		struct flaws flaws;
		struct text why;

		text_init(&why, 512);
		assert_int_equal(read_list(slow[i].list, &doc, &list, &flaws), RC_OK);
		assert_int_equal(check_list_judge(&list, json_root(at), NULL, &why), slow[i].want);
		assert_string_equal(why.bytes, slow[i].why);
		assert_ptr_equal(check_list_any(&list, json_root(at), NULL), &list.list[0]);
		text_release(&why);
		check_list_release(&list);
		json_free(at);
		json_free(doc);
	}
	text_release(&document);
}

static void a_broken_check_is_told_in_one_line_without_the_payload(void **state)
{
	struct json_doc *doc, *document = parse("{\"a\": \"tiger\"}");
	struct check_list list;
	struct flaws flaws;
	struct text why, long_list;

	(void)state;
	text_init(&why, 512);
	text_init(&long_list, 1 << 16);
	text_add_str(&long_list, "[{\"pointer\": \"/\\n\\u0000\xc3\xa9");
	for (int i = 0; i < 1000; i++)
		text_add_str(&long_list, "\xe2\x82\xac");
	text_add_str(&long_list, "\", \"equals\": \"tiger\"}]");
	assert_int_equal(read_list(long_list.bytes, &doc, &list, &flaws), RC_OK);
	assert_int_equal(check_list_judge(&list, json_root(document), NULL, &why), CHECK_BROKEN);
	assert_true(text_ok(&why));
	assert_non_null(strstr(why.bytes, "equals at \"/??\xc3\xa9\xe2\x82\xac"));
	assert_non_null(strstr(why.bytes, "\xe2\x82\xac\xe2\x80\xa6\""));
	assert_null(strstr(why.bytes, "tiger"));
	assert_in_range(why.len, 200, 300);
	check_list_release(&list);
	json_free(document);
	json_free(doc);
	text_release(&why);
	text_release(&long_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_check_holds_as_its_row_says),
		cmocka_unit_test(each_bad_check_is_named_by_its_pointer),
		cmocka_unit_test(one_check_too_many_is_refused),
		cmocka_unit_test(what_cant_be_judged_never_holds_and_is_a_doubt),
		cmocka_unit_test(a_broken_check_is_told_in_one_line_without_the_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
