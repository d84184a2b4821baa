#include "core/callback_read.h"

#include <string.h>

#include "core/result_read.h"
#include "core/terms_judge.h"

#define DETAIL_MAX_BYTES 1000
#define RESULT_MAX_BYTES (64u << 20)

enum form { FORM_SUCCEEDED, FORM_FAILED, FORM_PROVIDERS };

static bool known_member(const struct json_value *member)
{
	static const char *const names[] = { "outcome", "result", "error" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == member->name_len &&
		    memcmp(names[i], member->name, member->name_len) == 0)
			return true;
	return false;
}

static enum form form_of(const struct json_value *root)
{
	const struct json_value *said = json_member(root, "outcome");

	if (!said)
		return FORM_PROVIDERS;
	for (const struct json_value *member = root->child; member; member = member->next)
		if (!known_member(member))
			return FORM_PROVIDERS;
	if (json_is_string(said, "succeeded"))
		return FORM_SUCCEEDED;
	return json_is_string(said, "failed") ? FORM_FAILED : FORM_PROVIDERS;
}

/* What is said of a callback that can't be used; of one that can, nothing. */
#define CALLED_BACK "the provider called back"

/* As an answer over HTTP would be. True: it decides. */
static bool too_large(const struct provider_def *def, const struct terms *terms, size_t len,
		      const char *what, struct outcome *outcome)
{
	if (!def || len <= def->max_result_bytes)
		return false;
	terms_unusable(def, terms, REASON_TOO_LARGE, what, outcome);
	return true;
}

static enum rc take_result(const struct provider_def *def, const struct terms *terms,
			   const struct json_value *root, struct outcome *outcome)
{
	const struct json_value *result = json_member(root, "result");

	text_add_str(&outcome->detail, CALLED_BACK);
	if (result && too_large(def, terms, result->raw_len,
				"the result is larger than max_result_bytes", outcome))
		return RC_OK;
	if (result)
		text_add(&outcome->result, result->raw, result->raw_len);
	else
		text_add_str(&outcome->result, "null");
	return text_ok(&outcome->result) ? terms_judge_result(def, terms, outcome) : RC_FAULT;
}

/* The provider's words are for people; nothing goes on that could break a line. */
static void take_error(const struct json_value *root, struct outcome *outcome)
{
	const struct json_value *error = json_member(root, "error");

	outcome->kind = OUTCOME_FAILED;
	outcome->reason = REASON_PROVIDER_FAILED;
	text_add_str(&outcome->detail, "the provider's callback says failed");
	if (!error || error->type != JSON_STRING || error->string_len > DETAIL_MAX_BYTES / 2)
		return;
	text_add_str(&outcome->detail, ": ");
	for (uint32_t i = 0; i < error->string_len; i++) {
		unsigned char c = (unsigned char)error->string[i];

		text_add(&outcome->detail,
			 c < 0x20 || c == 0x7f ? "?" : (const char *)&error->string[i], 1);
	}
}

static enum rc take_providers(const struct provider_def *def, const struct terms *terms,
			      const char *body, size_t len, struct outcome *outcome)
{
	if (!def && !terms)
		return RC_INVALID;
	text_add_str(&outcome->detail, CALLED_BACK);
	if (too_large(def, terms, len, "its body is larger than max_result_bytes", outcome))
		return RC_OK;
	return terms_judge_body(def, terms, body, len, true, outcome);
}

enum rc callback_read(const struct provider_def *def, const struct terms *terms, const char *body,
		      size_t len, struct outcome *outcome_out)
{
	struct outcome outcome = { .kind = OUTCOME_UNKNOWN, .retry_after_ms = -1 };
	struct json_doc *doc = NULL;
	struct json_error error;
	enum rc rc = json_parse(body, len, RESULT_DEPTH_MAX, &doc, &error);
	enum form form = rc == RC_OK ? form_of(json_root(doc)) : FORM_PROVIDERS;

	text_init(&outcome.result, RESULT_MAX_BYTES);
	text_init(&outcome.detail, DETAIL_MAX_BYTES);
	if (rc == RC_FAULT)
		goto fail;
	rc = RC_OK;
	if (form == FORM_SUCCEEDED)
		rc = take_result(def, terms, json_root(doc), &outcome);
	else if (form == FORM_FAILED)
		take_error(json_root(doc), &outcome);
	else
		rc = take_providers(def, terms, body, len, &outcome);
	if (outcome.kind == OUTCOME_RESULT)
		text_clear(&outcome.detail);
	if (rc == RC_OK && (!text_ok(&outcome.result) || !text_ok(&outcome.detail)))
		rc = RC_FAULT;
	if (rc != RC_OK)
		goto fail;
	json_free(doc);
	*outcome_out = outcome;
	return RC_OK;
fail:
	json_free(doc);
	outcome_release(&outcome);
	return rc;
}
