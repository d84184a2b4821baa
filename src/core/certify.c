/* certify.c: the run: whose turn it is, what the answers mean, the report. Requests are
 * certify_body.c's. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/certify_private.h"
#include "core/result_read.h"
#include "core/utf8.h"

#define PART_MAX_BYTES (64u << 20) /* of the request, the prompt, the tokens */
#define SENTENCE_MAX_BYTES 4096
#define REPORT_ENTRY_MAX_BYTES (16u << 10)

static enum certify_step first_step(const struct certify *certify)
{
	if (certify->done == certify->total)
		return CERTIFY_DONE;
	return certify->route->has_tokenizer ? CERTIFY_TOKENIZE : CERTIFY_WORK;
}

enum rc certify_open(const struct contract *contract, const struct route *route,
		     struct certify **certify_out)
{
	struct certify *certify = calloc(1, sizeof *certify);

	*certify_out = NULL;
	if (!certify)
		return RC_FAULT;
	certify->contract = contract;
	certify->route = route;
	certify->total = contract->rounds * (uint32_t)contract->fixtures_len;
	certify->verdicts = calloc((size_t)certify->total + 1, sizeof *certify->verdicts);
	text_init(&certify->request, PART_MAX_BYTES);
	text_init(&certify->prompt, PART_MAX_BYTES);
	text_init(&certify->tokens, PART_MAX_BYTES);
	if (!certify->verdicts) {
		certify_free(certify);
		return RC_FAULT;
	}
	certify->step = first_step(certify);
	*certify_out = certify;
	return RC_OK;
}

void certify_free(struct certify *certify)
{
	if (!certify)
		return;
	text_release(&certify->request);
	text_release(&certify->prompt);
	text_release(&certify->tokens);
	free(certify->verdicts);
	free(certify);
}

enum certify_step certify_next(const struct certify *certify)
{
	return certify->step;
}

uint32_t certify_round(const struct certify *certify)
{
	if (certify->step == CERTIFY_DONE)
		return certify->contract->rounds;
	return certify->done / (uint32_t)certify->contract->fixtures_len + 1;
}

static const struct fixture *fixture_at(const struct certify *certify, uint32_t place)
{
	return &certify->contract->fixtures[place % certify->contract->fixtures_len];
}

const struct fixture *certify_fixture(const struct certify *certify)
{
	return certify->step == CERTIFY_DONE ? NULL : fixture_at(certify, certify->done);
}

uint32_t certify_done(const struct certify *certify)
{
	return certify->done;
}

uint32_t certify_total(const struct certify *certify)
{
	return certify->total;
}

static void conclude(struct certify *certify, bool passed)
{
	certify->verdicts[certify->done++].passed = passed;
	certify->step = first_step(certify);
}

void certify_fail(struct certify *certify, const char *format, ...)
{
	char *why = certify->verdicts[certify->done].why, sentence[SENTENCE_MAX_BYTES];
	size_t len, used = 0;
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	len = strlen(sentence);
	for (size_t step; used < len; used += step) {
		step = utf8_char(sentence + used, len - used);
		if (step == 0 || used + step >= CERTIFY_WHY_MAX)
			break;
	}
	memcpy(why, sentence, used);
	why[used] = '\0';
	conclude(certify, false);
}

/* The fixture's own checks, at a result that meets the contract. */
static void judge_result(struct certify *certify, const struct text *result)
{
	const struct fixture *fixture = certify_fixture(certify);
	struct json_doc *doc;
	struct json_error error;
	struct text why;

	if (json_parse(result->bytes, result->len, RESULT_DEPTH_MAX, &doc, &error) != RC_OK) {
		certify_fail(certify, "the result can't be judged");
		return;
	}
	text_init(&why, SENTENCE_MAX_BYTES / 2);
	if (check_list_judge(&fixture->checks, json_root(doc), fixture->input, &why) == CHECK_HOLDS)
		conclude(certify, true);
	else
		certify_fail(certify, "by the fixture, %s", why.bytes ? why.bytes : "");
	text_release(&why);
	json_free(doc);
}

void certify_work_answer(struct certify *certify, const struct outcome *outcome)
{
	const char *said = outcome->detail.bytes ? outcome->detail.bytes : "";
	int said_len = (int)(outcome->public_len > 0 ? outcome->public_len : outcome->detail.len);
	const char *reason = reason_name(outcome->reason);

	if (certify->step != CERTIFY_WORK)
		return;
	switch (outcome->kind) {
	case OUTCOME_RESULT: judge_result(certify, &outcome->result); return;
	case OUTCOME_ACCEPTED:
		certify_fail(certify, "the work was only taken, and no result came");
		return;
	case OUTCOME_FAILED:
	case OUTCOME_RETRY:
	case OUTCOME_CANCELLED:
		certify_fail(certify, "failed, %s: %.*s", reason ? reason : "none", said_len, said);
		return;
	case OUTCOME_UNKNOWN:
	case OUTCOME__MAX: break;
	}
	certify_fail(certify, "unknown, %s: %.*s", reason ? reason : "none", said_len, said);
}

static bool integers(const struct json_value *tokens)
{
	int64_t number;

	for (const struct json_value *token = tokens->child; token; token = token->next)
		if (!json_to_i64(token, INT64_MIN, INT64_MAX, &number))
			return false;
	return true;
}

static void judge_tokens(struct certify *certify, const struct json_value *root)
{
	const struct tokenizer *tokenizer = &certify->route->tokenizer;
	const struct json_value *tokens =
		json_at(root, tokenizer->tokens->string, tokenizer->tokens->string_len);

	if (!tokens || tokens->type != JSON_ARRAY || !integers(tokens)) {
		certify_fail(certify,
			     "the tokenizer's answer has no array of integers at its pointer");
		return;
	}
	if (tokens->count > tokenizer->limit) {
		certify_fail(certify,
			     "the prompt is %" PRIu32 " tokens long; the limit is %" PRIu32,
			     tokens->count, tokenizer->limit);
		return;
	}
	text_clear(&certify->tokens);
	text_add(&certify->tokens, tokens->raw, tokens->raw_len);
	if (text_ok(&certify->tokens))
		certify->step = CERTIFY_DETOKENIZE;
	else
		certify_fail(certify, "there is no memory for the tokens");
}

static void judge_prompt(struct certify *certify, const struct json_value *root)
{
	const char *name = certify->route->tokenizer.prompt_name;
	const struct json_value *back = json_member(root, name);
	size_t at = 0, len = certify->prompt.len;

	if (!back || back->type != JSON_STRING) {
		certify_fail(certify, "the detokenizer's answer has no string \"%s\"", name);
		return;
	}
	while (at < len && at < back->string_len && certify->prompt.bytes[at] == back->string[at])
		at++;
	if (at == len && at == back->string_len)
		certify->step = CERTIFY_WORK;
	else
		certify_fail(certify,
			     "the prompt doesn't survive the tokenizer: of %zu bytes %" PRIu32
			     " came back, and they differ from byte %zu on",
			     len, back->string_len, at);
}

void certify_tokenizer_answer(struct certify *certify, bool ok, const char *body, size_t len,
			      const char *why)
{
	const char *who = certify->step == CERTIFY_TOKENIZE ? "tokenizer" : "detokenizer";
	struct json_doc *doc;
	struct json_error error;

	if (certify->step != CERTIFY_TOKENIZE && certify->step != CERTIFY_DETOKENIZE)
		return;
	if (!ok) {
		certify_fail(certify, "the %s gave no answer: %s", who, why);
		return;
	}
	enum rc rc = json_parse(body, len, RESULT_DEPTH_MAX, &doc, &error);

	if (rc == RC_INVALID) {
		certify_fail(certify, "the %s's answer isn't JSON: %s, at byte %zu", who,
			     error.detail, error.offset);
	} else if (rc != RC_OK) {
		certify_fail(certify, "there is no memory for the %s's answer", who);
	} else if (certify->step == CERTIFY_TOKENIZE) {
		judge_tokens(certify, json_root(doc));
	} else {
		judge_prompt(certify, json_root(doc));
	}
	json_free(doc);
}

bool certify_passed(const struct certify *certify)
{
	if (certify->step != CERTIFY_DONE || !contract_can_certify(certify->contract))
		return false;
	for (uint32_t i = 0; i < certify->total; i++)
		if (!certify->verdicts[i].passed)
			return false;
	return true;
}

static void report_entry(const struct certify *certify, uint32_t i, struct text *out)
{
	const struct certify_verdict *verdict = &certify->verdicts[i];
	const struct json_value *name = fixture_at(certify, i)->name;

	text_addf(out, "{\"round\": %zu, \"fixture\": ", i / certify->contract->fixtures_len + 1);
	text_add(out, name->raw, name->raw_len);
	text_addf(out, ", \"passed\": %s, \"why\": ", verdict->passed ? "true" : "false");
	if (verdict->passed)
		text_add_str(out, "null");
	else
		text_add_json_string(out, verdict->why, strlen(verdict->why));
	text_add_str(out, "}");
}

static void report_left_out(const struct certify *certify, uint32_t from, struct text *out)
{
	uint32_t failed = 0;

	for (uint32_t i = from; i < certify->done; i++)
		failed += !certify->verdicts[i].passed;
	text_addf(out,
		  "{\"round\": %" PRIu32 ", \"fixture\": \"\", \"passed\": %s, \"why\": \"%" PRIu32
		  " more, of which %" PRIu32 " failed, have no place in this report\"}",
		  certify_round(certify), failed == 0 ? "true" : "false", certify->done - from,
		  failed);
}

void certify_report(const struct certify *certify, size_t max, struct text *out)
{
	struct text entry;

	text_init(&entry, REPORT_ENTRY_MAX_BYTES);
	text_add_str(out, "[");
	for (uint32_t i = 0; i < certify->done; i++) {
		text_clear(&entry);
		report_entry(certify, i, &entry);
		if (i > 0)
			text_add_str(out, ", ");
		if (!text_ok(&entry) || out->len + entry.len >= max) {
			report_left_out(certify, i, out);
			break;
		}
		text_add(out, entry.bytes, entry.len);
	}
	text_add_str(out, "]");
	text_release(&entry);
}
