#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/template.h"

#define INPUT                                                                                      \
	"{\"a\": \"x\\\"\\n{{input}}\", \"n\": 1.50, \"big\": 12345678901234567890123, "           \
	"\"o\": {\"k\": [1, null]}, \"nul\": \"\\u0000\", \"ls\": \"\xe2\x80\xa8\", \"\": 7, "     \
	"\"a b\": 8, \"s/t\": 9, \"sec\": \"${env:HOME}\", \"d\": \"$\", \"line\": \"a\\r\\nB: "   \
	"c\"}"

static struct json_doc *parse_len(const char *text, size_t len)
{
	struct json_doc *doc;
	struct json_error error;

	if (json_parse(text, len, JSON_DEPTH_LIMIT, &doc, &error) != RC_OK)
		fail_msg("not JSON: %s at %zu in %.*s", error.detail, error.offset,
			 len < 2000 ? (int)len : 2000, text);
	return doc;
}

static struct json_doc *parse(const char *text)
{
	return parse_len(text, strlen(text));
}

static struct template_values values_of(const struct json_doc *input)
{
	return (struct template_values){ .input = json_root(input),
					 .job_id = "J1",
					 .attempt_id = "A2",
					 .callback_url = "http://s/cb?x=1" };
}

static const struct {
	const char *template, *want;
} rows[] = {
	{ "\"plain\"", "\"plain\"" },
	{ "{ \"a\" :1.0 ,\"b\":\t[ ] }", "{ \"a\" :1.0 ,\"b\":\t[ ] }" },
	{ "\"\\u0041\\/\"", "\"\\u0041\\/\"" },
	{ "{\"x\": \"{{/n}}\"}", "{\"x\": 1.50}" },
	{ "{\"x\": \"{{/big}}\"}", "{\"x\": 12345678901234567890123}" },
	{ "\"{{/o}}\"", "{\"k\": [1, null]}" },
	{ "\"{{/o/k/1}}\"", "null" },
	{ "\"{{/a}}\"", "\"x\\\"\\n{{input}}\"" },
	{ "\"\\u007b{/n}}\"", "1.50" },
	{ "[\"n={{/n}};{{/o}}\"]", "[\"n=1.50;{\\\"k\\\": [1, null]}\"]" },
	{ "\"<{{/a}}>\"", "\"<x\\\"\\n{{input}}>\"" },
	{ "\"{{/a}}{{/a}}\"", "\"x\\\"\\n{{input}}x\\\"\\n{{input}}\"" },
	{ "\"<{{/nul}}{{/ls}}>\"", "\"<\\u0000\xe2\x80\xa8>\"" },
	{ "\"{{/}}\"", "7" },
	{ "\"{{/a b}}\"", "8" },
	{ "\"{{/s~1t}}\"", "9" },
	{ "\"{{input}}\"", INPUT },
	{ "[\"{{job.id}}\", \"{{attempt.id}}\", \"{{callback_url}}\"]",
	  "[\"J1\", \"A2\", \"http://s/cb?x=1\"]" },
	{ "\"{{job.id}}/{{attempt.id}}\"", "\"J1/A2\"" },
	{ "\"{{\\\"{{\\\"}}\"", "\"{{\"" },
	{ "\"{{\\\"{{\\\"}}/n}}\"", "\"{{/n}}\"" },
	{ "\"{{\\\"}}\\\"}}{{/n}}\"", "\"}}1.50\"" },
	{ "\"{{\\\"\\\"}}\"", "\"\"" },
	{ "\"{{\\\"a\\\\\\\"b\\\\u0000\\\"}}\"", "\"a\\\"b\\u0000\"" },
	{ "\"x{{\\\"a\\\\\\\"b\\\\u0000\\\"}}\"", "\"xa\\\"b\\u0000\"" },
	{ "\"}} { }\"", "\"}} { }\"" },
	{ "{\"{{/n}}\": 1, \"b\": \"{{/n}}\"}", "{\"{{/n}}\": 1, \"b\": 1.50}" },
	{ "\"{{/n}}}\"", "\"1.50}\"" },
};

static void a_template_is_rendered_as_its_row_says(void **state)
{
	struct json_doc *input = parse(INPUT);
	const struct template_values values = values_of(input);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json_doc *template = parse(rows[i].template);
		struct flaws flaws;
		struct text out, why;

		flaws_init(&flaws);
		text_init(&out, 4096);
		text_init(&why, 512);
		template_check(json_root(template), "/request", &flaws);
		if (flaws.count > 0)
			fail_msg("%s: %s", rows[i].template, flaws.list[0].detail);
		assert_int_equal(template_render(json_root(template), &values, &out, &why), RC_OK);
		if (strcmp(out.bytes, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].template, out.bytes);
		json_free(parse_len(out.bytes, out.len));
		text_release(&out);
		text_release(&why);
		json_free(template);
	}
	json_free(input);
}

static const char *const broken_rows[] = {
	"{{",
	"{{}}",
	"a{{",
	"{{/a",
	"{{/a}",
	"{{ /a }}",
	"{{/a }}",
	"{{ input}}",
	"{{input }}",
	"{{a}}",
	"{{job}}",
	"{{Job.id}}",
	"{{key}}",
	"{{reference}}",
	"{{prompt}}",
	"{{/~}}",
	"{{/~2}}",
	"{{\"a}}",
	"{{\"a\" }}",
	"{{\"a\"}",
	"{{\"\\\"}}",
	"{{\"\\x\"}}",
	"{{\"\\ud800\"}}",
	"{{{/n}}",
	"{{/n}}{{",
	"{{\"\t\"}}",
	"{{input\n}}",
};

static void a_placeholder_that_cant_be_understood_is_a_flaw(void **state)
{
	struct json_doc *input = parse(INPUT);
	const struct template_values values = values_of(input);

	(void)state;
	for (size_t i = 0; i < sizeof broken_rows / sizeof broken_rows[0]; i++) {
		struct text text, out, why;
		struct flaws flaws;

		text_init(&text, 1024);
		text_init(&out, 1024);
		text_init(&why, 1024);
		flaws_init(&flaws);
		text_add_str(&text, "{\"x~y/z\": [0, ");
		text_add_json_string(&text, broken_rows[i], strlen(broken_rows[i]));
		text_add_str(&text, "]}");
		struct json_doc *template = parse(text.bytes);

		template_check(json_root(template), "/routes/0/request", &flaws);
		if (flaws.count != 1)
			fail_msg("taken: %s", broken_rows[i]);
		assert_string_equal(flaws.list[0].pointer, "/routes/0/request/x~0y~1z/1");
		assert_int_equal(template_render(json_root(template), &values, &out, &why),
				 RC_INVALID);
		flaws_release(&flaws);
		json_free(template);
		text_release(&text);
		text_release(&out);
		text_release(&why);
	}
	json_free(input);
}

static void every_broken_string_is_told_wherever_it_stands(void **state)
{
	struct json_doc *template =
		parse("[\"{{\", {\"a\\u0000\": {\"\": \"{{x}}\"}}, \"{{/ok}}\", [[\"{{}}\"]]]");
	static const char *const pointers[] = { "/0", "/1/a\xef\xbf\xbd/", "/3/0/0" };
	struct flaws flaws;

	(void)state;
	flaws_init(&flaws);
	template_check(json_root(template), "", &flaws);
	assert_int_equal(flaws.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(flaws.list[i].pointer, pointers[i]);
	flaws_release(&flaws);
	json_free(template);
}

static void what_isnt_there_is_named_and_nothing_of_the_input_is(void **state)
{
	static const struct {
		const char *template, *why;
	} missing[] = {
		{ "{\"x\": \"{{/none/1}}\"}",
		  "the template names \"/none/1\", where the input has nothing" },
		{ "[\"a{{/o/k/2}}\"]",
		  "the template names \"/o/k/2\", where the input has nothing" },
		{ "[\"{{/o/k/00}}\"]",
		  "the template names \"/o/k/00\", where the input has nothing" },
		{ "\"{{callback_url}}\"",
		  "the template names {{callback_url}}, which isn't set up here" },
	};
	struct json_doc *input = parse(INPUT);
	struct template_values values = values_of(input);

	(void)state;
	values.callback_url = NULL;
	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		struct json_doc *template = parse(missing[i].template);
		struct text out, why;

		text_init(&out, 1024);
		text_init(&why, 512);
		assert_int_equal(template_render(json_root(template), &values, &out, &why),
				 RC_INVALID);
		assert_string_equal(why.bytes, missing[i].why);
		text_release(&out);
		text_release(&why);
		json_free(template);
	}
	json_free(input);
}

static void a_body_is_never_longer_than_its_cap(void **state)
{
	struct json_doc *input = parse("\"0123456789\\n\"");
	struct json_doc *template = parse("[\"{{input}}\", \"<{{input}}>\"]");
	const struct template_values values = values_of(input);
	const size_t need = strlen("[\"0123456789\\n\", \"<0123456789\\n>\"]");

	(void)state;
	for (size_t cap = 0; cap <= need; cap++) {
		struct text out, why;

		text_init(&out, cap);
		text_init(&why, 512);
		enum rc rc = template_render(json_root(template), &values, &out, &why);
		assert_int_equal(rc, cap < need ? RC_INVALID : RC_OK);
		assert_true(cap >= need || strstr(why.bytes, "would be longer than"));
		assert_true(out.len <= cap);
		text_release(&out);
		text_release(&why);
	}
	json_free(template);
	json_free(input);
}

/* A template that would grow to terabytes stops at the cap, and soon. */
static void a_huge_template_stops_at_the_cap(void **state)
{
	struct text text, out, why;

	(void)state;
	text_init(&text, 1 << 20);
	text_init(&out, 1 << 20);
	text_init(&why, 512);
	text_add_str(&text, "[");
	for (int i = 0; i < 30000; i++)
		text_add_str(&text, i == 0 ? "\"{{input}}\"" : ",\"{{input}} {{input}}\"");
	text_add_str(&text, "]");
	struct json_doc *template = parse(text.bytes);
	const struct template_values values = values_of(template);

	assert_int_equal(template_render(json_root(template), &values, &out, &why), RC_INVALID);
	assert_string_equal(why.bytes, "the request would be longer than 1048576 bytes");
	json_free(template);
	text_release(&text);
	text_release(&out);
	text_release(&why);
}

/* As the poller's reads them, but for what is secret. */
static enum rc expand(const char *value, struct text *out, struct text *why)
{
	for (const char *at = value; *at;) {
		if (strncmp(at, "${env:NONE}", 11) == 0) {
			text_add_str(why, "NONE isn't set");
			return RC_INVALID;
		}
		if (strncmp(at, "${env:T}", 8) == 0) {
			text_add_str(out, "tiger{{/n}}");
			at += 8;
		} else if (strncmp(at, "${env:HOME}", 11) == 0) {
			fail_msg("what came from the input was expanded");
		} else {
			text_add(out, at++, 1);
		}
	}
	return RC_OK;
}

static const struct {
	const char *value;
	enum rc rc;
	const char *want;
} header_rows[] = {
	{ "plain", RC_OK, "plain" },
	{ "", RC_OK, "" },
	{ "{{/n}}", RC_OK, "1.50" },
	{ "v={{/o}}", RC_OK, "v={\"k\": [1, null]}" },
	{ "{{job.id}} {{attempt.id}}", RC_OK, "J1 A2" },
	{ "Bearer ${env:T}", RC_OK, "Bearer tiger{{/n}}" },
	{ "${env:T}{{/n}}${env:T}", RC_OK, "tiger{{/n}}1.50tiger{{/n}}" },
	{ "{{/sec}}", RC_OK, "${env:HOME}" },
	{ "{{/d}}{env:HOME}", RC_OK, "${env:HOME}" },
	{ "{{\"$\"}}{env:HOME}", RC_OK, "${env:HOME}" },
	{ "{{\"${env:HOME}\"}}", RC_OK, "${env:HOME}" },
	{ "x{{/a}}", RC_INVALID, "a header's value would hold a byte that a header can't carry" },
	{ "{{/line}}", RC_INVALID, "a header's value would hold a byte that a header can't carry" },
	{ "{{/nul}}", RC_INVALID, "a header's value would hold a byte that a header can't carry" },
	{ "{{\"\\u007f\"}}", RC_INVALID,
	  "a header's value would hold a byte that a header can't carry" },
	{ "{{/none}}", RC_INVALID, "the template names \"/none\", where the input has nothing" },
	{ "${env:NONE}", RC_INVALID, "NONE isn't set" },
};

static void a_headers_secrets_are_read_in_its_own_text_only(void **state)
{
	struct json_doc *input = parse(INPUT);
	const struct template_values values = values_of(input);

	(void)state;
	for (size_t i = 0; i < sizeof header_rows / sizeof header_rows[0]; i++) {
		const char *value = header_rows[i].value;
		struct flaws flaws;
		struct text out, why;

		flaws_init(&flaws);
		text_init(&out, 1024);
		text_init(&why, 1024);
		template_check_header(value, strlen(value), "/headers", "X", &flaws);
		if (flaws.count > 0)
			fail_msg("%s: %s", value, flaws.list[0].detail);
		enum rc rc =
			template_render_header(value, strlen(value), &values, expand, &out, &why);
		if (rc != header_rows[i].rc)
			fail_msg("%s: %d", value, (int)rc);
		const struct text *said = rc == RC_OK ? &out : &why;
		assert_string_equal(said->bytes ? said->bytes : "", header_rows[i].want);
		text_release(&out);
		text_release(&why);
	}
	json_free(input);
}

static void a_bad_header_value_is_a_flaw_that_repeats_nothing_of_it(void **state)
{
	static const char *const bad[] = {
		"tiger{{",
		"tiger{{x}}",
		"tiger${",
		"tiger${env:}",
		"${env:{{/tiger}}}",
		" tiger",
		"tiger\t",
		"tiger\r\nX",
		"${file:/a{{/b}}tiger}",
		"{{/a${env:T}b}} {{",
		"tiger${x}",
		"{{/a}}${tiger",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct flaws flaws;

		flaws_init(&flaws);
		template_check_header(bad[i], strlen(bad[i]), "/headers", "X", &flaws);
		if (flaws.count != 1)
			fail_msg("taken: %s", bad[i]);
		assert_string_equal(flaws.list[0].pointer, "/headers/X");
		assert_null(strstr(flaws.list[0].detail, "tiger"));
		flaws_release(&flaws);
	}
}

/* RFC 7396, appendix A, and what keeps places and digits. */
static const struct {
	const char *target, *patch, *want;
} merge_rows[] = {
	{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
	{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
	{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
	{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
	{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
	{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
	{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
	{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
	{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
	{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
	{ "{\"a\":\"foo\"}", "null", "null" },
	{ "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
	{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
	{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
	{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	{ "{\"z\":1.50,\"a\":2,\"m\":0.0}", "{\"a\":1e2,\"b\":0.10}",
	  "{\"z\":1.50,\"a\":1e2,\"m\":0.0,\"b\":0.10}" },
	{ "{\"a\\u0000\":1,\"a\":2}", "{\"a\\u0000\":3}", "{\"a\\u0000\":3,\"a\":2}" },
};

static void a_patch_is_merged_as_rfc_7396_has_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof merge_rows / sizeof merge_rows[0]; i++) {
		struct json_doc *patch = parse(merge_rows[i].patch);
		struct text out, plain;
		const char *target = merge_rows[i].target;

		text_init(&out, 1024);
		text_init(&plain, 1024);
		assert_int_equal(template_merge(target, strlen(target), json_root(patch), &out),
				 RC_OK);
		for (size_t c = 0; c < out.len; c++)
			if (out.bytes[c] != ' ')
				text_add(&plain, out.bytes + c, 1);
		if (strcmp(plain.bytes, merge_rows[i].want) != 0)
			fail_msg("%s + %s: %s", target, merge_rows[i].patch, plain.bytes);
		text_release(&out);
		text_release(&plain);
		json_free(patch);
	}
}

static void a_patch_on_what_isnt_json_is_refused(void **state)
{
	struct json_doc *patch = parse("{}");
	struct text out;

	(void)state;
	text_init(&out, 64);
	assert_int_equal(template_merge("{", 1, json_root(patch), &out), RC_INVALID);
	text_release(&out);
	json_free(patch);
}

/* A seed a run; what fails prints it. */
static uint32_t fuzz_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static const char *const fuzz_parts[] = {
	"{{",
	"}}",
	"{{/a}}",
	"{{/n}}",
	"{{input}}",
	"{{\"",
	"\"}}",
	"\\",
	"\"",
	"{",
	"}",
	"/",
	"{{job.id}}",
	"\x01",
	"\xe2\x80\xa8",
	"{{/nul}}",
	"{{\"{{\"}}",
	"{{/o}}",
	"\xf0\x9f\x98\x80",
	"a",
	"$",
	"{{/}}",
};

static void what_passes_the_check_renders_to_json_or_names_what_isnt_there(void **state)
{
	struct json_doc *input = parse(INPUT);
	const struct template_values values = values_of(input);

	(void)state;
	for (uint32_t seed = 1; seed <= 20000; seed++) {
		uint32_t random = seed * 2654435761u | 1;
		struct text string, text, out, why;
		struct flaws flaws;

		text_init(&string, 4096);
		text_init(&text, 8192);
		text_init(&out, 1 << 16);
		text_init(&why, 512);
		flaws_init(&flaws);
		for (uint32_t parts = fuzz_next(&random) % 8; parts > 0; parts--)
			text_add_str(&string,
				     fuzz_parts[fuzz_next(&random) %
						(sizeof fuzz_parts / sizeof fuzz_parts[0])]);
		text_add_str(&text, "{\"k\": [");
		text_add_json_string(&text, string.bytes ? string.bytes : "", string.len);
		text_add_str(&text, ", 1.0]}");
		struct json_doc *template = parse_len(text.bytes, text.len);

		template_check(json_root(template), "", &flaws);
		enum rc rc = template_render(json_root(template), &values, &out, &why);
		if (flaws.count > 0 ? rc == RC_OK : rc != RC_OK && rc != RC_INVALID)
			fail_msg("seed %u: %s: %d", seed, text.bytes, (int)rc);
		if (rc == RC_OK)
			json_free(parse_len(out.bytes, out.len));
		flaws_release(&flaws);
		json_free(template);
		text_release(&string);
		text_release(&text);
		text_release(&out);
		text_release(&why);
	}
	json_free(input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_template_is_rendered_as_its_row_says),
		cmocka_unit_test(a_placeholder_that_cant_be_understood_is_a_flaw),
		cmocka_unit_test(every_broken_string_is_told_wherever_it_stands),
		cmocka_unit_test(what_isnt_there_is_named_and_nothing_of_the_input_is),
		cmocka_unit_test(a_body_is_never_longer_than_its_cap),
		cmocka_unit_test(a_huge_template_stops_at_the_cap),
		cmocka_unit_test(a_headers_secrets_are_read_in_its_own_text_only),
		cmocka_unit_test(a_bad_header_value_is_a_flaw_that_repeats_nothing_of_it),
		cmocka_unit_test(a_patch_is_merged_as_rfc_7396_has_it),
		cmocka_unit_test(a_patch_on_what_isnt_json_is_refused),
		cmocka_unit_test(what_passes_the_check_renders_to_json_or_names_what_isnt_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
