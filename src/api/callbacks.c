/* callbacks.c: a provider's word about one attempt, under the URL that it was given. */
#include <json-c/json.h>

#include "api/handlers.h"
#include "base/log.h"
#include "core/callback.h"
#include "core/callback_read.h"
#include "core/intent.h"
#include "store/attempt_store.h"
#include "store/settle.h"
#include "store/terms_store.h"

static bool signed_by_us(const struct api *api, const struct call *call)
{
	bool good = false;

	for (size_t i = 0; i < api->keyring.len; i++)
		good |= callback_signed_by(api->keyring.keys[i].bytes, api->keyring.keys[i].len,
					   &call->id, call->name, call->name_len);
	return good;
}

static void answer_accepted(struct reply *reply, const char *why_not)
{
	struct json_object *body = json_object_new_object();

	if (body)
		json_object_object_add(body, "accepted", json_object_new_boolean(why_not == NULL));
	if (body && why_not)
		json_object_object_add(body, "reason", json_object_new_string(why_not));
	reply_json(reply, 200, body);
}

/* What comes of the other request isn't known yet: this word counts when it is. */
static void answer_sent_again(const struct attempt *attempt, struct reply *reply)
{
	char id[ID_TEXT_LEN + 1];

	log_info("callback.early", "attempt=%s why=sent-again", id_format(&attempt->id, id));
	reply_problem(reply, PROBLEM_UNAVAILABLE,
		      "The same request is on its way to the provider again; call again when it "
		      "has been answered.");
}

static void answer_verdict(const struct attempt *attempt, enum settled verdict, struct reply *reply)
{
	switch (verdict) {
	case SETTLED_MADE: answer_accepted(reply, NULL); return;
	case SETTLED_LOST: answer_accepted(reply, "the job was settled otherwise"); return;
	case SETTLED_REFUSED: answer_sent_again(attempt, reply); return;
	case SETTLED_REPEATED:
	case SETTLED_NOTED:
	case SETTLED_LATE: answer_accepted(reply, "the attempt had ended"); return;
	case SETTLED_NO_SUCH_ATTEMPT:
	case SETTLED__MAX: break;
	}
	reply_problem(reply, PROBLEM_NOT_FOUND, "There is no such attempt.");
}

/* By another row than the one that the request was built from it could only be misread. This
 * process may be an older program's, so it is worth another call; the doubt stays. */
static void answer_unread(const struct attempt *attempt, struct reply *reply)
{
	reply_name_job(reply, &attempt->job_id);
	reply_problem(reply, PROBLEM_UNAVAILABLE,
		      "The provider's row that the request was built from can't be read here, and "
		      "the body isn't in onejob's own form.");
}

static struct word word_of(const struct attempt *attempt, const struct outcome *outcome)
{
	bool result = outcome->kind == OUTCOME_RESULT;

	return (struct word){
		.attempt_id = attempt->id,
		.job_id = attempt->job_id,
		.event = result ? ON_RESULT : ON_FAILURE,
		.by = BY_POLLER,
		.result = outcome->result.bytes,
		.result_len = outcome->result.len,
		.reason = outcome->reason,
		.phase = PHASE_ANSWER_BEGUN,
		.http_status = attempt->http_status,
		.detail = outcome->detail.len ? outcome->detail.bytes : NULL,
		.effect_done = outcome->effect_done,
		.retry_after_ms = -1,
		.ask_after_ms = -1,
	};
}

/* The work is done, and what it came to never fits: to be called again would help nobody. */
static void say_too_large(struct word *word, bool side_effects)
{
	word->event = ON_FAILURE;
	word->result = NULL;
	word->result_len = 0;
	word->reason = REASON_TOO_LARGE;
	word->effect_done = side_effects;
	word->detail = "the result is larger than the database takes (max_allowed_packet)";
}

static void settle(const struct api *api, const struct attempt *attempt,
		   const struct outcome *outcome, bool side_effects, struct reply *reply)
{
	struct word word = word_of(attempt, outcome);
	enum settled verdict;

	reply_name_job(reply, &attempt->job_id);
	enum rc rc = settle_words(api->db, &word, 1, &verdict);

	if (rc == RC_INVALID && word.event == ON_RESULT && db_was_too_large(api->db)) {
		say_too_large(&word, side_effects);
		rc = settle_words(api->db, &word, 1, &verdict);
	}
	if (rc == RC_OK)
		answer_verdict(attempt, verdict, reply);
	else
		answer_unavailable(reply);
}

/* The body by the provider's row and, for a job with a contract, by that and its route. RC_INVALID:
 * this program can't read one of them. *side_effects: where nobody says, there are some. */
static enum rc read_body(const struct api *api, const struct request *request,
			 const struct attempt *attempt, const struct provider_def *def,
			 struct outcome *outcome_out, bool *side_effects_out)
{
	struct job_terms stored;
	struct json_doc *input = NULL;
	struct json_error error;
	enum rc rc = terms_store_read(api->db, &attempt->job_id, attempt->provider, &stored);

	if (rc != RC_OK)
		return rc == RC_INVALID ? RC_FAULT : rc;
	if (stored.has_contract && !stored.route)
		rc = RC_INVALID;
	else if (stored.has_contract && stored.input.bytes)
		rc = json_parse(stored.input.bytes, stored.input.len, INTENT_DEPTH_MAX, &input,
				&error);
	const struct terms terms = { .contract = stored.contract,
				     .route = stored.route,
				     .input = input ? json_root(input) : NULL };

	*side_effects_out = stored.contract ? stored.contract->side_effects
			    : def	    ? def->side_effects
					    : true;
	if (rc == RC_OK)
		rc = callback_read(def, stored.has_contract ? &terms : NULL, request->body,
				   request->body_len, outcome_out);
	json_free(input);
	job_terms_release(&stored);
	return rc;
}

static void take_word(const struct api *api, const struct call *call, const struct attempt *attempt,
		      const struct provider_def *def, struct reply *reply)
{
	const struct request *request = call->request;
	struct outcome outcome;
	bool side_effects;

	if (request->body_len == 0) { /* a sign of life; the doubt stays */
		reply_name_job(reply, &attempt->job_id);
		answer_accepted(reply, "the body is empty");
		return;
	}
	enum rc rc = read_body(api, request, attempt, def, &outcome, &side_effects);

	if (rc == RC_OK && outcome.kind == OUTCOME_UNKNOWN) {
		reply_name_job(reply, &attempt->job_id);
		answer_accepted(reply, "it leaves the doubt as it is");
		outcome_release(&outcome);
	} else if (rc == RC_INVALID && attempt_in_play(attempt->state)) {
		answer_unread(attempt, reply);
	} else if (rc == RC_INVALID) {
		answer_accepted(reply, "the attempt had ended");
	} else if (rc != RC_OK) {
		answer_unavailable(reply);
	} else {
		settle(api, attempt, &outcome, side_effects, reply);
		outcome_release(&outcome);
	}
}

void callbacks_receive(const struct api *api, struct call *call, struct reply *reply)
{
	struct attempt attempt = { 0 };
	struct provider_def def;
	bool has_def;
	enum rc rc;

	if (!signed_by_us(api, call)) {
		reply_problem(reply, PROBLEM_NOT_FOUND, "The path leads nowhere.");
		return;
	}
	rc = attempt_store_get(api->db, &call->id, &attempt, &def, &has_def);
	if (rc == RC_NOT_FOUND) {
		reply_problem(reply, PROBLEM_NOT_FOUND, "There is no such attempt.");
		return;
	}
	if (rc != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	take_word(api, call, &attempt, has_def ? &def : NULL, reply);
	if (has_def)
		provider_def_release(&def);
	attempt_release(&attempt);
}
