#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/certify.h"

#define TOKENIZER                                                                                  \
	", \"tokenizer\": {\"url\": \"http://t/\", \"request\": {\"content\": \"<{{/p}}>\", "      \
	"\"add_special\": false, \"tokens\": 1}, \"tokens\": \"/t\", \"detokenize_url\": "         \
	"\"http://d/\", \"limit\": 3}"
#define FIXTURES                                                                                   \
	"\"fixtures\": [{\"name\": \"one\", \"input\": {\"p\": \"a\", \"n\": 1.50}, \"checks\": "  \
	"[{\"pointer\": \"/n\", \"equals_input\": \"/n\"}]}, {\"name\": \"two\", \"input\": "      \
	"{\"p\": \"b\"}}]"
#define CONTRACT(route, more)                                                                      \
	"{\"routes\": [{\"provider\": \"p\", \"request\": {\"prompt\": \"{{/p}}\", \"t\": "        \
	"0.7}" route "}], " FIXTURES more "}"
#define ROUNDS(n, overrides) ", \"certify\": {\"rounds\": " n overrides "}"

struct run {
	struct contract *contract;
	struct certify *certify;
	struct text out;
};

static const struct template_values values = { .job_id = "J", .attempt_id = "A" };

static void run_open(struct run *run, const char *contract)
{
	struct flaws flaws;

	flaws_init(&flaws);
	text_init(&run->out, 1 << 16);
	if (contract_read(contract, strlen(contract), &run->contract, &flaws) != RC_OK)
		fail_msg("%s: %s: %s", contract, flaws.list[0].pointer, flaws.list[0].detail);
	assert_int_equal(certify_open(run->contract, &run->contract->routes[0], &run->certify),
			 RC_OK);
}

static void run_close(struct run *run)
{
	certify_free(run->certify);
	contract_free(run->contract);
	text_release(&run->out);
}

static void expect_body(struct run *run, enum certify_step step, const char *body)
{
	struct json_doc *doc;
	struct json_error error;

	assert_int_equal(certify_next(run->certify), step);
	text_clear(&run->out);
	assert_int_equal(certify_body(run->certify, &values, &run->out), RC_OK);
	assert_string_equal(run->out.bytes, body);
	assert_int_equal(json_parse(run->out.bytes, run->out.len, 64, &doc, &error), RC_OK);
	json_free(doc);
}

static void work(struct run *run, enum outcome_kind kind, enum reason reason, const char *text)
{
	struct outcome outcome = { .kind = kind, .reason = reason };

	text_init(&outcome.result, 1 << 16);
	text_init(&outcome.detail, 1000);
	text_add_str(kind == OUTCOME_RESULT ? &outcome.result : &outcome.detail, text);
	outcome.public_len = outcome.detail.len;
	text_add_str(&outcome.detail, ": tiger.internal");
	certify_work_answer(run->certify, &outcome);
	outcome_release(&outcome);
}

static void tokens(struct run *run, const char *body)
{
	certify_tokenizer_answer(run->certify, true, body, strlen(body), "");
}

static void expect_report(struct run *run, const char *report)
{
	struct text out;

	text_init(&out, 1 << 20);
	certify_report(run->certify, CERTIFY_REPORT_MAX, &out);
	assert_string_equal(out.bytes, report);
	text_release(&out);
}

static void every_fixture_is_asked_in_every_round(void **state)
{
	static const char *const names[] = { "one", "two" };
	struct run run;

	(void)state;
	run_open(&run, CONTRACT("", ROUNDS("2", "")));
	assert_int_equal(certify_total(run.certify), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(certify_next(run.certify), CERTIFY_WORK);
		assert_int_equal(certify_round(run.certify), i / 2 + 1);
		assert_int_equal(certify_done(run.certify), i);
		assert_true(json_is_string(certify_fixture(run.certify)->name, names[i % 2]));
		assert_false(certify_passed(run.certify));
		expect_body(&run, CERTIFY_WORK,
			    i % 2 ? "{\"prompt\": \"b\", \"t\": 0.7}"
				  : "{\"prompt\": \"a\", \"t\": 0.7}");
		work(&run, OUTCOME_RESULT, REASON_NONE, "{\"n\": 15e-1}");
	}
	assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
	assert_int_equal(certify_done(run.certify), 4);
	assert_int_equal(certify_round(run.certify), 2);
	assert_null(certify_fixture(run.certify));
	assert_true(certify_passed(run.certify));
	expect_report(&run,
		      "[{\"round\": 1, \"fixture\": \"one\", \"passed\": true, \"why\": null}, "
		      "{\"round\": 1, \"fixture\": \"two\", \"passed\": true, \"why\": null}, "
		      "{\"round\": 2, \"fixture\": \"one\", \"passed\": true, \"why\": null}, "
		      "{\"round\": 2, \"fixture\": \"two\", \"passed\": true, \"why\": null}]");
	assert_int_equal(certify_body(run.certify, &values, &run.out), RC_INVALID);
	work(&run, OUTCOME_UNKNOWN, REASON_TIMEOUT, "too late");
	tokens(&run, "{}");
	assert_true(certify_passed(run.certify));
	run_close(&run);
	certify_free(NULL);
}

static void whatever_is_no_result_fails_its_round_and_the_run_goes_on(void **state)
{
	static const struct {
		enum outcome_kind kind;
		enum reason reason;
		const char *text, *why;
	} rows[] = {
		{ OUTCOME_RESULT, REASON_NONE, "{\"n\": 1.51}",
		  "by the fixture, a check doesn't hold: equals_input at \\\"/n\\\"" },
		{ OUTCOME_RESULT, REASON_NONE, "null",
		  "by the fixture, a check doesn't hold: equals_input at \\\"/n\\\"" },
		{ OUTCOME_ACCEPTED, REASON_NONE, "x",
		  "the work was only taken, and no result came" },
		{ OUTCOME_FAILED, REASON_CONTRACT_VIOLATION, "the provider answered 200, but",
		  "failed, contract_violation: the provider answered 200, but" },
		{ OUTCOME_FAILED, REASON_REFUSED, "the provider answered 400",
		  "failed, refused: the provider answered 400" },
		{ OUTCOME_RETRY, REASON_RETRY_LATER, "the provider answered 429",
		  "failed, retry_later: the provider answered 429" },
		{ OUTCOME_UNKNOWN, REASON_TIMEOUT, "no whole answer came in time",
		  "unknown, timeout: no whole answer came in time" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct run run;
		char report[1024];

		run_open(&run, CONTRACT("", ROUNDS("1", "")));
		work(&run, rows[i].kind, rows[i].reason, rows[i].text);
		assert_int_equal(certify_next(run.certify), CERTIFY_WORK);
		assert_true(json_is_string(certify_fixture(run.certify)->name, "two"));
		work(&run, OUTCOME_RESULT, REASON_NONE, "1");
		snprintf(report, sizeof report,
			 "[{\"round\": 1, \"fixture\": \"one\", \"passed\": false, \"why\": "
			 "\"%s\"}, {\"round\": 1, \"fixture\": \"two\", \"passed\": true, \"why\": "
			 "null}]",
			 rows[i].why);
		assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
		assert_false(certify_passed(run.certify));
		expect_report(&run, report);
		run_close(&run);
	}
}

static void overrides_are_merged_into_the_work_alone(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, CONTRACT(TOKENIZER, ROUNDS("1", ", \"overrides\": {\"t\": 0.0, \"content\": "
						       "null, \"seed\": 1}")));
	expect_body(&run, CERTIFY_TOKENIZE,
		    "{\"content\": \"<a>\", \"add_special\": false, \"tokens\": 1}");
	tokens(&run, "{\"t\": []}");
	tokens(&run, "{\"content\": \"<a>\"}");
	expect_body(&run, CERTIFY_WORK, "{\"prompt\": \"a\", \"t\": 0.0, \"seed\": 1}");
	run_close(&run);
}

static void the_prompt_goes_there_and_back_before_the_work(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, CONTRACT(TOKENIZER, ROUNDS("1", "")));
	for (int i = 0; i < 2; i++) {
		expect_body(&run, CERTIFY_TOKENIZE,
			    i ? "{\"content\": \"<b>\", \"add_special\": false, \"tokens\": 1}"
			      : "{\"content\": \"<a>\", \"add_special\": false, \"tokens\": 1}");
		tokens(&run, "{\"t\": [1, 2.0 ,30e-1]}");
		expect_body(&run, CERTIFY_DETOKENIZE,
			    "{\"tokens\": [1, 2.0 ,30e-1], \"add_special\": false}");
		tokens(&run,
		       i ? "{\"content\": \"<\\u0062>\"}" : "{\"content\": \"<a>\", \"x\": 1}");
		assert_int_equal(certify_next(run.certify), CERTIFY_WORK);
		work(&run, OUTCOME_RESULT, REASON_NONE, "{\"n\": 1.5}");
	}
	assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
	assert_true(certify_passed(run.certify));
	run_close(&run);
}

/* vLLM's form: the prompt has another name, there and back, and the model goes along both ways. */
static void a_prompt_called_prompt_goes_there_and_back_too(void **state)
{
	struct run run;

	(void)state;
	run_open(&run,
		 CONTRACT(", \"tokenizer\": {\"url\": \"http://t/\", \"request\": {\"model\": "
			  "\"m\", \"prompt\": \"<{{/p}}>\", \"add_special_tokens\": false}, "
			  "\"tokens\": \"/tokens\", \"detokenize_url\": \"http://d/\", "
			  "\"limit\": 3}",
			  ROUNDS("1", "")));
	for (int i = 0; i < 2; i++) {
		expect_body(&run, CERTIFY_TOKENIZE,
			    i ? "{\"model\": \"m\", \"prompt\": \"<b>\", "
				"\"add_special_tokens\": false}"
			      : "{\"model\": \"m\", \"prompt\": \"<a>\", "
				"\"add_special_tokens\": false}");
		tokens(&run, "{\"count\": 2, \"max_model_len\": 9, \"tokens\": [7, 8]}");
		expect_body(&run, CERTIFY_DETOKENIZE,
			    "{\"tokens\": [7, 8], \"model\": \"m\", "
			    "\"add_special_tokens\": false}");
		tokens(&run, i ? "{\"content\": \"<b>\"}" : "{\"prompt\": \"<a>\"}");
		if (i == 0)
			work(&run, OUTCOME_RESULT, REASON_NONE, "{\"n\": 1.5}");
	}
	assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
	expect_report(&run,
		      "[{\"round\": 1, \"fixture\": \"one\", \"passed\": true, \"why\": null}, "
		      "{\"round\": 1, \"fixture\": \"two\", \"passed\": false, \"why\": \"the "
		      "detokenizer's answer has no string \\\"prompt\\\"\"}]");
	run_close(&run);
}

static void a_prompt_that_doesnt_survive_fails_without_the_work(void **state)
{
	static const struct {
		const char *tokens, *back, *why;
	} rows[] = {
		{ "{\"t\": [1, 2, 3, 4]}", NULL, "the prompt is 4 tokens long; the limit is 3" },
		{ "{\"t\": {}}", NULL,
		  "the tokenizer's answer has no array of integers at its pointer" },
		{ "{\"tokens\": [1]}", NULL,
		  "the tokenizer's answer has no array of integers at its pointer" },
		{ "{\"t\": [1, 1.5]}", NULL,
		  "the tokenizer's answer has no array of integers at its pointer" },
		{ "{\"t\": [\"1\"]}", NULL,
		  "the tokenizer's answer has no array of integers at its pointer" },
		{ "{\"t\": [null]}", NULL,
		  "the tokenizer's answer has no array of integers at its pointer" },
		{ "{\"t\": [1]", NULL,
		  "the tokenizer's answer isn't JSON: the text ends early, at byte 9" },
		{ NULL, NULL, "the tokenizer gave no answer: 503" },
		{ "{\"t\": [1]}", "[]", "the detokenizer's answer has no string \\\"content\\\"" },
		{ "{\"t\": [1]}", "{\"prompt\": \"<a>\"}",
		  "the detokenizer's answer has no string \\\"content\\\"" },
		{ "{\"t\": [1]}", "{\"content\": null}",
		  "the detokenizer's answer has no string \\\"content\\\"" },
		{ "{\"t\": [1]}", "{\"content\": \" <a>\"}",
		  "the prompt doesn't survive the tokenizer: of 3 bytes 4 came back, and they "
		  "differ from byte 0 on" },
		{ "{\"t\": [1]}", "{\"content\": \"<a>\\u0000\"}",
		  "the prompt doesn't survive the tokenizer: of 3 bytes 4 came back, and they "
		  "differ from byte 3 on" },
		{ "{\"t\": []}", "{\"content\": \"\"}",
		  "the prompt doesn't survive the tokenizer: of 3 bytes 0 came back, and they "
		  "differ from byte 0 on" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct run run;
		char report[1024];

		run_open(&run, CONTRACT(TOKENIZER, ROUNDS("1", "")));
		expect_body(&run, CERTIFY_TOKENIZE,
			    "{\"content\": \"<a>\", \"add_special\": false, \"tokens\": 1}");
		if (rows[i].tokens)
			tokens(&run, rows[i].tokens);
		else
			certify_tokenizer_answer(run.certify, false, NULL, 0, "503");
		if (rows[i].back)
			tokens(&run, rows[i].back);
		if (certify_done(run.certify) != 1)
			fail_msg("%s %s: no verdict", rows[i].tokens, rows[i].back);
		assert_int_equal(certify_next(run.certify), CERTIFY_TOKENIZE);
		snprintf(report, sizeof report,
			 "[{\"round\": 1, \"fixture\": \"one\", \"passed\": false, \"why\": "
			 "\"%s\"}]",
			 rows[i].why);
		expect_report(&run, report);
		run_close(&run);
	}
}

static void a_request_that_cant_be_made_fails_its_fixture(void **state)
{
	static const struct {
		const char *contract, *why;
	} rows[] = {
		{ "{\"routes\": [{\"provider\": \"p\", \"request\": [\"{{/q}}\"]}], " FIXTURES "}",
		  "the request: the template names \\\"/q\\\", where the input has nothing" },
		{ "{\"routes\": [{\"provider\": \"p\", \"request\": "
		  "\"{{callback_url}}\"}], " FIXTURES "}",
		  "the request: the template names {{callback_url}}, which isn't set up here" },
		{ "{\"routes\": [{\"provider\": \"p\", \"request\": [1]}], " FIXTURES ROUNDS(
			  "1", ", \"overrides\": {}") "}",
		  "the request is no object that overrides could be merged into" },
		{ CONTRACT(", \"tokenizer\": {\"url\": \"http://t/\", \"request\": {\"prompt\": "
			   "\"{{/q}}\"}, \"tokens\": \"/t\", \"detokenize_url\": \"http://d/\", "
			   "\"limit\": 3}",
			   ""),
		  "the tokenizer's request: the template names \\\"/q\\\", where the input has "
		  "nothing" },
		{ CONTRACT(", \"tokenizer\": {\"url\": \"http://t/\", \"request\": {\"prompt\": "
			   "\"{{/n}}\"}, \"tokens\": \"/t\", \"detokenize_url\": \"http://d/\", "
			   "\"limit\": 3}",
			   ""),
		  "the tokenizer's request has no string \\\"prompt\\\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct run run;
		char report[1024];

		run_open(&run, rows[i].contract);
		assert_int_equal(certify_body(run.certify, &values, &run.out), RC_INVALID);
		assert_int_equal(certify_done(run.certify), 1);
		assert_true(json_is_string(certify_fixture(run.certify)->name, "two"));
		snprintf(report, sizeof report,
			 "[{\"round\": 1, \"fixture\": \"one\", \"passed\": false, \"why\": "
			 "\"%s\"}]",
			 rows[i].why);
		expect_report(&run, report);
		run_close(&run);
	}
}

static void without_a_template_the_input_is_sent_as_written(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, "{\"routes\": [{\"provider\": \"p\"}], " FIXTURES "}");
	expect_body(&run, CERTIFY_WORK, "{\"p\": \"a\", \"n\": 1.50}");
	run_close(&run);
}

/* Whatever it is that has no room. Taken for a lack of memory it would be rendered again, and its
 * run never end. */
static void a_request_that_can_never_fit_fails_its_fixture(void **state)
{
	static const struct {
		const char *contract, *tokens; /* tokens: of an answer that comes first */
		size_t cap;
		const char *why;
	} rows[] = {
		{ CONTRACT("", ""), NULL, 24,
		  "the request: the request would be longer than 24 bytes" },
		{ CONTRACT("", ROUNDS("1", ", \"overrides\": {\"t\": 0.25}")), NULL, 25,
		  "the request would be longer than 25 bytes" },
		{ "{\"routes\": [{\"provider\": \"p\"}], " FIXTURES "}", NULL, 3,
		  "the request would be longer than 3 bytes" },
		{ CONTRACT(TOKENIZER, ""), NULL, 20, "the request would be longer than 20 bytes" },
		{ CONTRACT(TOKENIZER, ""), "{\"t\": [1000000000, 2000000000, 3000000000]}", 55,
		  "the request would be longer than 55 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct run run;
		struct text small;
		char report[1024];

		run_open(&run, rows[i].contract);
		text_init(&small, rows[i].cap);
		if (rows[i].tokens) {
			assert_int_equal(certify_body(run.certify, &values, &run.out), RC_OK);
			tokens(&run, rows[i].tokens);
		}
		assert_int_equal(certify_body(run.certify, &values, &small), RC_INVALID);
		assert_int_equal(certify_done(run.certify), 1);
		snprintf(report, sizeof report,
			 "[{\"round\": 1, \"fixture\": \"one\", \"passed\": false, \"why\": "
			 "\"%s\"}]",
			 rows[i].why);
		expect_report(&run, report);
		text_release(&small);
		run_close(&run);
	}
}

static void without_a_check_of_a_fixture_nothing_is_proven(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, "{\"routes\": [{\"provider\": \"p\"}]}");
	assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
	assert_int_equal(certify_total(run.certify), 0);
	assert_false(certify_passed(run.certify));
	expect_report(&run, "[]");
	run_close(&run);

	run_open(&run, "{\"routes\": [{\"provider\": \"p\"}], \"fixtures\": [{\"name\": \"a\", "
		       "\"input\": 1}], \"certify\": {\"rounds\": 1}}");
	work(&run, OUTCOME_RESULT, REASON_NONE, "1");
	assert_int_equal(certify_next(run.certify), CERTIFY_DONE);
	assert_false(certify_passed(run.certify));
	run_close(&run);
}

/* E06, E07: a route that ignores the schema, or the system prompt that the fixture is about. */
static void e06_a_route_that_answers_in_prose_isnt_certified(void **state)
{
	static const char *const bodies[] = { "\"The n is 1.5.\"", "{\"n\": \"1.5\"}",
					      "{\"n\": 1}" };
	struct provider_def def;
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	struct run run;

	(void)state;
	flaws_init(&flaws);
	assert_int_equal(json_parse("{\"url\": \"http://p/\"}", 20, 64, &doc, &error), RC_OK);
	assert_int_equal(provider_def_read(json_root(doc), &def, &flaws), RC_OK);
	json_free(doc);
	run_open(&run, CONTRACT("", ", \"result_schema\": {\"type\": \"object\"}" ROUNDS("3", "")));
	while (certify_next(run.certify) != CERTIFY_DONE) {
		const struct fixture *fixture = certify_fixture(run.certify);
		const char *body = json_is_string(fixture->name, "one")
					   ? bodies[certify_round(run.certify) - 1]
					   : "{}";
		const struct terms terms = { run.contract, &run.contract->routes[0],
					     fixture->input };
		struct seen seen = { .end = SEEN_WHOLE,
				     .http_status = 200,
				     .retry_after_ms = -1,
				     .body = body,
				     .body_len = strlen(body),
				     .detail = "" };
		struct outcome outcome;

		assert_int_equal(outcome_of(&seen, &def, &terms, &outcome), RC_OK);
		certify_work_answer(run.certify, &outcome);
		outcome_release(&outcome);
	}
	assert_false(certify_passed(run.certify));
	struct text report;
	unsigned int failed = 0;

	text_init(&report, 1 << 16);
	certify_report(run.certify, CERTIFY_REPORT_MAX, &report);
	for (const char *at = report.bytes; (at = strstr(at, "\"passed\": false")); at++)
		failed++;
	assert_int_equal(failed, 3);
	text_release(&report);
	run_close(&run);
	provider_def_release(&def);
}

static void the_longest_words_are_cut_between_characters(void **state)
{
	struct run run;
	struct text out, why;
	struct json_doc *doc;
	struct json_error error;

	(void)state;
	text_init(&why, 3000);
	text_init(&out, 1 << 16);
	while (why.len < 3000)
		text_add_str(&why, "\xe2\x82\xac");
	run_open(&run, CONTRACT(TOKENIZER, ROUNDS("1", "")));
	certify_tokenizer_answer(run.certify, false, NULL, 0, why.bytes);
	certify_report(run.certify, CERTIFY_REPORT_MAX, &out);
	assert_int_equal(json_parse(out.bytes, out.len, 64, &doc, &error), RC_OK);
	const struct json_value *said = json_at(json_root(doc), "/0/why", 6);
	assert_in_range(said->string_len, CERTIFY_WHY_MAX - 4, CERTIFY_WHY_MAX - 1);
	assert_null(strstr(out.bytes, "\xef\xbf\xbd"));
	json_free(doc);
	text_release(&why);
	text_release(&out);
	run_close(&run);
}

static void a_report_has_whole_entries_up_to_its_size_and_counts_the_rest(void **state)
{
	static const char none[] = "[{\"round\": 2, \"fixture\": \"\", \"passed\": false, "
				   "\"why\": \"4 more, of which 1 failed, have no place in this "
				   "report\"}]";
	static const char half[] = "{\"round\": 2, \"fixture\": \"\", \"passed\": true, "
				   "\"why\": \"2 more, of which 0 failed, have no place in this "
				   "report\"}]";
	static const char whole[] =
		"{\"round\": 2, \"fixture\": \"two\", \"passed\": true, \"why\": null}]";
	static const char *const ends[] = { none, half, whole };
	size_t seen = 0, last = SIZE_MAX;
	struct run run;

	(void)state;
	run_open(&run, CONTRACT("", ROUNDS("2", "")));
	for (uint32_t i = 0; i < 4; i++)
		work(&run, i == 1 ? OUTCOME_FAILED : OUTCOME_RESULT, REASON_REFUSED,
		     "{\"n\": 1.5}");
	for (size_t max = 0; max < 400; max++) {
		struct text out;
		struct json_doc *doc;
		struct json_error error;

		text_init(&out, max + 200);
		certify_report(run.certify, max, &out);
		assert_true(text_ok(&out));
		assert_int_equal(json_parse(out.bytes, out.len, 64, &doc, &error), RC_OK);
		assert_true(json_root(doc)->count <= 4);
		if (seen < sizeof ends / sizeof ends[0] && strstr(out.bytes, ends[seen]))
			seen++;
		last = out.len;
		json_free(doc);
		text_release(&out);
	}
	assert_int_equal(seen, sizeof ends / sizeof ends[0]);
	assert_in_range(last, 200, 400);
	run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fixture_is_asked_in_every_round),
		cmocka_unit_test(whatever_is_no_result_fails_its_round_and_the_run_goes_on),
		cmocka_unit_test(overrides_are_merged_into_the_work_alone),
		cmocka_unit_test(the_prompt_goes_there_and_back_before_the_work),
		cmocka_unit_test(a_prompt_called_prompt_goes_there_and_back_too),
		cmocka_unit_test(a_prompt_that_doesnt_survive_fails_without_the_work),
		cmocka_unit_test(a_request_that_cant_be_made_fails_its_fixture),
		cmocka_unit_test(without_a_template_the_input_is_sent_as_written),
		cmocka_unit_test(a_request_that_can_never_fit_fails_its_fixture),
		cmocka_unit_test(without_a_check_of_a_fixture_nothing_is_proven),
		cmocka_unit_test(e06_a_route_that_answers_in_prose_isnt_certified),
		cmocka_unit_test(the_longest_words_are_cut_between_characters),
		cmocka_unit_test(a_report_has_whole_entries_up_to_its_size_and_counts_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
