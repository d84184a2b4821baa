/* problem.c: the problem types. */
#include "api/problem.h"

#include <string.h>

static const struct problem_row rows[PROBLEM__MAX] = {
	[PROBLEM_UNAUTHORIZED] = { "unauthorized", 401, "Who is asking?",
				   "The request carries no bearer token that is known and hasn't "
				   "expired, or it carries two, or the token "
				   "belongs to another owner than the one the web server has "
				   "authenticated. Nothing was done." },
	[PROBLEM_NOT_FOUND] = { "not-found", 404, "There is no such thing",
				"The path leads nowhere, or to something that doesn't exist or "
				"belongs to another owner. Paths are "
				"compared as they were sent: none holds a percent sign or two "
				"slashes in a row." },
	[PROBLEM_METHOD_NOT_ALLOWED] = { "method-not-allowed", 405, "Not with this method",
					 "The path exists; the Allow header lists the methods it "
					 "takes." },
	[PROBLEM_OPERATOR_ONLY] = { "operator-only", 403, "For operators only",
				    "The token is good, but its role is user. Nothing was looked "
				    "up." },
	[PROBLEM_BODY_TOO_LARGE] = { "body-too-large", 413, "The body is too large",
				     "`limit_bytes` is the largest body that is taken here. "
				     "Nothing was done; the key isn't used up." },
	[PROBLEM_BODY_INCOMPLETE] = { "body-incomplete", 400, "The body isn't whole",
				      "Fewer or more bytes arrived than Content-Length announced. "
				      "Nothing was done; the key isn't used up." },
	[PROBLEM_BODY_UNEXPECTED] = { "body-unexpected", 400, "This request takes no body",
				      "A body was sent where none has a meaning. Nothing was "
				      "done." },
	[PROBLEM_KEY_MISSING] = { "idempotency-key-missing", 400, "The Idempotency-Key is missing",
				  "A job is created, or cancelled by key, under a key that the "
				  "client chooses: one key for one intent, "
				  "sent again with every repeat." },
	[PROBLEM_KEY_INVALID] = { "idempotency-key-invalid", 400,
				  "The Idempotency-Key can't be used",
				  "The header is sent once. Its value is a quoted string (RFC "
				  "8941) and nothing after it, or bare "
				  "visible ASCII without quotes and commas; 1 to 255 bytes. "
				  "Nothing was done." },
	[PROBLEM_INVALID_IF_MATCH] = { "invalid-if-match", 400, "If-Match can't be read",
				       "If-Match is * or a list of at most 8 entity tags, each in "
				       "quotes. Nothing was done." },
	[PROBLEM_UNSUPPORTED_MEDIA_TYPE] = { "unsupported-media-type", 415, "Not application/json",
					     "A body is sent once as Content-Type: "
					     "application/json, with charset=utf-8 or no "
					     "parameter." },
	[PROBLEM_INVALID_JSON] = { "invalid-json", 400, "The body isn't JSON",
				   "The body must be one JSON text (RFC 8259) in UTF-8, nested at "
				   "most 64 deep, with no member named "
				   "twice and no lone surrogate. `offset` is the first byte that "
				   "can't be. The key isn't used up." },
	[PROBLEM_INVALID_QUERY] = { "invalid-query", 400, "The query can't be read",
				    "A member of the query is unknown here, stands twice or has a "
				    "value it can't have. None is ignored." },
	[PROBLEM_INVALID_JOB] = { "invalid-job", 422, "This can't be a job",
				  "`errors` lists each flaw with a JSON pointer (RFC 6901) into "
				  "the body. No row was written and the key "
				  "isn't used up." },
	[PROBLEM_INVALID_REQUEST] = { "invalid-request", 422,
				      "The body says something it can't say here",
				      "`errors` lists each flaw with a JSON pointer (RFC 6901) "
				      "into the body. Nothing was changed." },
	[PROBLEM_INVALID_PROVIDER] = { "invalid-provider", 422, "This can't be a provider",
				       "`errors` lists each flaw with a JSON pointer (RFC 6901) "
				       "into the body. Nothing was changed." },
	[PROBLEM_STALE] = { "stale", 412, "It has changed meanwhile",
			    "If-Match names no ETag that the job has now. Read it again, look, and "
			    "decide again." },
	[PROBLEM_KEY_REUSED] = { "idempotency-key-reused", 409, "The key stands for another intent",
				 "The owner has used this key with another body before. `job_id` "
				 "is the first one's job; nothing of it "
				 "has changed. A repeat must be equal as JSON; another intent "
				 "needs a key of its own." },
	[PROBLEM_INTENT_CANCELLED] = { "intent-cancelled", 409, "The intent was cancelled",
				       "The key was cancelled before this create arrived, so "
				       "nothing will be done for it." },
	[PROBLEM_JOB_SETTLED] = { "job-settled", 409, "The job is settled",
				  "It has succeeded, was cancelled or has expired, and stays so." },
	[PROBLEM_DEADLINE_PASSED] = { "deadline-passed", 409, "The job's deadline has passed",
				      "No attempt starts after `deadline_at`, so none can be "
				      "asked for and none released for another. What is still out "
				      "may bring the result; an operator may settle it as "
				      "succeeded, failed or cancelled. Nothing was changed." },
	[PROBLEM_ATTEMPT_IN_DOUBT] = { "attempt-in-doubt", 409, "An attempt is still in doubt",
				       "`attempt` may still have, or may yet get, an effect. No "
				       "other attempt starts until it is settled: by "
				       "the provider's word or an operator's. While it is "
				       "starting, its poller alone settles it." },
	[PROBLEM_EFFECT_DONE] = { "effect-done", 409, "The effect may be there already",
				  "An attempt ended with an answer that can't be used after it may "
				  "have done its work. Only an operator "
				  "may ask for another attempt." },
	[PROBLEM_INVALID_CONTRACT] = { "invalid-contract", 422, "The contract is invalid",
				       "Each of `errors` names a place in the body and what is "
				       "wrong there. Nothing was changed." },
	[PROBLEM_CONTRACT_VIOLATION] = { "contract-violation", 422,
					 "The result breaks the contract",
					 "A result must meet the job's contract, whoever brings "
					 "it. "
					 "Nothing was changed." },
	[PROBLEM_NOT_CERTIFIED] = { "not-certified", 409, "The route isn't certified",
				    "Every route but the first needs a certificate that is valid "
				    "at "
				    "this moment. `why` says what is wrong: not_certified, failed, "
				    "subject_changed, expired, disabled, or no_route where the "
				    "contract doesn't name the provider." },
	[PROBLEM_NO_FIXTURES] = { "no-fixtures", 409, "There is nothing to certify by",
				  "A certification needs a fixture with a check of its own." },
	[PROBLEM_SIDE_EFFECTS] = { "side-effects", 409, "A certification would have side effects",
				   "The contract says that its work has side effects, and every "
				   "fixture really goes to the provider. Say "
				   "`\"side_effects\": true` if that is meant." },
	[PROBLEM_ATTEMPT_SETTLED] = { "attempt-settled", 409, "The attempt has ended",
				      "It is in a terminal state, and stays so." },
	[PROBLEM_ATTEMPT_LOST] = { "attempt-lost", 409, "The result came second",
				   "Another decision on the job was taken first. This result was "
				   "thrown away; the race is logged." },
	[PROBLEM_PROVIDER_IN_USE] = { "provider-in-use", 409, "The provider is in use",
				      "A queued job, an attempt that hasn't ended or a contract's "
				      "route names it." },
	[PROBLEM_UNAVAILABLE] = { "unavailable", 503, "Not now",
				  "The database can't be reached or refuses. What was asked may "
				  "not be done; the same request with the "
				  "same key may be sent again after Retry-After." },
	[PROBLEM_GATEWAY] = { "gateway", 500, "The web server passes too little",
			      "REQUEST_METHOD and REQUEST_URI must each arrive once: see the "
			      "FastCGI parameters of the web server." },
	[PROBLEM_INTERNAL] = { "internal", 500, "Something is wrong here",
			       "The log has a line with this X-Request-Id. Repeats with the same "
			       "key are safe." },
	[PROBLEM_BAD_REQUEST] = { "bad-request", 400, "The request can't be read",
				  "The web server refused it before anything looked at it: a "
				  "malformed line, or headers that are too "
				  "large. Nothing was done." },
	[PROBLEM_FORBIDDEN] = { "forbidden", 403, "Not from there",
				"The web server refuses this address or client. Nothing was "
				"done." },
	[PROBLEM_URI_TOO_LONG] = { "uri-too-long", 414, "The address is too long",
				   "The web server refused it. Nothing was done." },
	[PROBLEM_TOO_MANY_REQUESTS] = { "too-many-requests", 429, "Too many requests",
					"The web server bounds requests by client. Nothing was "
					"done; the same request with the same key may be "
					"sent again after Retry-After." },
	[PROBLEM_TOO_EARLY] = { "too-early", 425, "Too early",
				"It came as TLS early data, which others can replay, and it does "
				"more than read. Nothing was done; the same request with the same "
				"key is taken after the handshake." },
	[PROBLEM_CERTIFICATE_NEEDED] = { "certificate-needed", 400,
					 "A client certificate is needed",
					 "The web server knows its users by certificates. The "
					 "connection brought none that it accepts. Nothing was "
					 "done." },
};

const struct problem_row *problem_row(enum problem problem)
{
	return &rows[problem];
}

const struct problem_row *problem_find(const char *name, size_t len)
{
	for (size_t i = 0; i < PROBLEM__MAX; i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

void problem_page(const struct problem_row *row, struct text *out)
{
	text_addf(out, "/problems/%s (status %d)\n\n%s\n\n%s\n", row->name, row->status, row->title,
		  row->page);
}

void problem_index(struct text *out)
{
	for (size_t i = 0; i < PROBLEM__MAX; i++)
		text_addf(out, "%d  /problems/%s  %s\n", rows[i].status, rows[i].name,
			  rows[i].title);
}
