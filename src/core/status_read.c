#include "core/status_read.h"

#include <inttypes.h>
#include <string.h>

#include "core/result_read.h"
#include "core/terms_judge.h"

#define WORD_SHOWN_MAX 64
#define DETAIL_MAX_BYTES 1000

static bool plain(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f)
			return false;
	return true;
}

enum rc accepted_reference(const struct provider_def *def, const char *body, size_t len,
			   char reference_out[REFERENCE_MAX_BYTES + 1])
{
	struct json_doc *doc;
	struct json_error error;

	reference_out[0] = '\0';
	if (!def->accepted_reference || len == 0)
		return RC_OK;
	enum rc rc = json_parse(body, len, RESULT_DEPTH_MAX, &doc, &error);

	if (rc != RC_OK)
		return rc == RC_INVALID ? RC_OK : rc;
	const struct json_value *at =
		json_at(json_root(doc), def->accepted_reference, strlen(def->accepted_reference));
	bool string = at && at->type == JSON_STRING, number = at && at->type == JSON_NUMBER;

	if (string || number) {
		const char *bytes = string ? at->string : at->raw;
		size_t bytes_len = string ? at->string_len : at->raw_len;

		if (bytes_len <= REFERENCE_MAX_BYTES && plain(bytes, bytes_len)) {
			memcpy(reference_out, bytes, bytes_len);
			reference_out[bytes_len] = '\0';
		}
	}
	json_free(doc);
	return RC_OK;
}

static const struct provider_status_word *find_word(const struct provider_def *def,
						    const struct json_value *state)
{
	for (size_t i = 0; state && i < def->status_words_len; i++)
		if (json_is_string(state, def->status_words[i].word))
			return &def->status_words[i];
	return NULL;
}

static void decide(struct outcome *outcome, enum outcome_kind kind, enum reason reason,
		   const char *words)
{
	outcome->kind = kind;
	outcome->reason = reason;
	text_add_str(&outcome->detail, words);
}

static enum rc judge_done(const struct json_value *root, const struct provider_def *def,
			  const struct terms *terms, struct outcome *outcome)
{
	const struct json_value *at = json_at(root, def->status_result, strlen(def->status_result));

	if (!at) {
		terms_unusable(def, terms, REASON_CONTRACT_VIOLATION,
			       "has nothing at the result's pointer", outcome);
		return RC_OK;
	}
	text_add(&outcome->result, at->raw, at->raw_len);
	return text_ok(&outcome->result) ? terms_judge_result(def, terms, outcome) : RC_FAULT;
}

static enum rc judge_word(const struct json_value *root, const struct provider_def *def,
			  const struct terms *terms, struct outcome *outcome)
{
	const struct json_value *state =
		json_at(root, def->status_state, strlen(def->status_state));
	const struct provider_status_word *word = find_word(def, state);

	if (!word) {
		decide(outcome, OUTCOME_UNKNOWN, REASON_NONE,
		       ", whose state has no row in status.map");
		return RC_OK;
	}
	if (strlen(word->word) <= WORD_SHOWN_MAX)
		text_addf(&outcome->detail, ", state %s", word->word);
	switch (word->means) {
	case STATUS_SUCCEEDED: return judge_done(root, def, terms, outcome);
	case STATUS_FAILED: decide(outcome, OUTCOME_FAILED, REASON_PROVIDER_FAILED, ""); break;
	case STATUS_WORKING:
	case STATUS_MEANS__MAX: decide(outcome, OUTCOME_UNKNOWN, REASON_NONE, ""); break;
	}
	return RC_OK;
}

static enum rc judge_body(const struct seen *seen, const struct provider_def *def,
			  const struct terms *terms, struct outcome *outcome)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(seen->body, seen->body_len, RESULT_DEPTH_MAX, &doc, &error);

	if (rc == RC_INVALID) {
		decide(outcome, OUTCOME_UNKNOWN, REASON_NONE, ", which isn't JSON");
		return RC_OK;
	}
	if (rc != RC_OK)
		return rc;
	rc = judge_word(json_root(doc), def, terms, outcome);
	json_free(doc);
	return rc;
}

/* Begins the sentence. False: no whole answer came, which says nothing. */
static bool begin(const struct seen *seen, const struct provider_def *def, const char *question,
		  struct outcome *outcome)
{
	bool whole = seen->end == SEEN_WHOLE && !seen->two_lengths && !seen->too_large;

	*outcome = (struct outcome){ .kind = OUTCOME_UNKNOWN,
				     .phase = seen->phase,
				     .retry_after_ms = -1,
				     .http_status = whole ? seen->http_status : 0 };
	text_init(&outcome->result, (size_t)def->max_result_bytes + 1);
	text_init(&outcome->detail, DETAIL_MAX_BYTES);
	if (whole)
		text_addf(&outcome->detail, "the %s was answered %" PRIu32, question,
			  seen->http_status);
	else
		text_addf(&outcome->detail, "the %s got no whole answer", question);
	if (!whole)
		outcome_add_words(&outcome->detail, seen->detail ? seen->detail : "");
	return whole && seen->http_status >= 200 && seen->http_status <= 299;
}

static enum rc end(enum rc rc, struct outcome *outcome, struct outcome *outcome_out)
{
	if (rc != RC_OK || !text_ok(&outcome->detail) || !text_ok(&outcome->result)) {
		outcome_release(outcome);
		return RC_FAULT;
	}
	*outcome_out = *outcome;
	return RC_OK;
}

enum rc status_of(const struct seen *seen, const struct provider_def *def,
		  const struct terms *terms, struct outcome *outcome_out)
{
	struct outcome outcome;
	enum rc rc = RC_OK;

	if (begin(seen, def, "status query", &outcome))
		rc = judge_body(seen, def, terms, &outcome);
	return end(rc, &outcome, outcome_out);
}

/* A 202 only takes the wish down. */
static bool proves_the_end(uint32_t status)
{
	return status == 200 || status == 203 || status == 204;
}

enum rc cancel_of(const struct seen *seen, const struct provider_def *def,
		  struct outcome *outcome_out)
{
	struct outcome outcome;

	if (begin(seen, def, "cancel", &outcome) && def->cancel_proves &&
	    proves_the_end(seen->http_status))
		decide(&outcome, OUTCOME_CANCELLED, REASON_ATTEMPT_CANCELLED,
		       ", which proves the end");
	return end(RC_OK, &outcome, outcome_out);
}
