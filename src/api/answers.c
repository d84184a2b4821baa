/* answers.c: answers that several handlers give. */
#include <string.h>

#include "api/handlers.h"

void answer_unavailable(struct reply *reply)
{
	reply_problem(
		reply, PROBLEM_UNAVAILABLE,
		"The database can't be reached or refuses; the same request may be sent again.");
}

void answer_unauthorized(struct reply *reply, bool token_was_bad, const char *detail)
{
	reply_problem(reply, PROBLEM_UNAUTHORIZED, "%s", detail);
	reply->challenge = true;
	reply->token_was_bad = token_was_bad;
}

bool body_is_empty(const struct call *call, struct reply *reply)
{
	struct flaws flaws;

	if (!call->body || (call->body->type == JSON_OBJECT && call->body->count == 0))
		return true;
	flaws_init(&flaws);
	if (call->body->type != JSON_OBJECT)
		flaws_add(&flaws, "", NULL, 0, "must be an object without members, or left out");
	for (const struct json_value *v = call->body->child; v && call->body->type == JSON_OBJECT;
	     v = v->next)
		flaws_add(&flaws, "", v->name, v->name_len, "there is no such member");
	reply_problem(reply, PROBLEM_INVALID_REQUEST, "The body must be empty or {}.");
	reply_add_flaws(reply, &flaws);
	flaws_release(&flaws);
	return false;
}

bool path_name(const struct call *call, char name_out[NAME_MAX_LEN + 1])
{
	if (!name_valid(call->name, call->name_len))
		return false;
	memcpy(name_out, call->name, call->name_len);
	name_out[call->name_len] = '\0';
	return true;
}

static void refuse_provider(struct reply *reply, const char *detail)
{
	struct flaws flaws;

	flaws_init(&flaws);
	flaws_add(&flaws, "", "provider", strlen("provider"), "%s", detail);
	reply_problem(reply, PROBLEM_INVALID_REQUEST, "The next provider can't be this one.");
	reply_add_flaws(reply, &flaws);
	flaws_release(&flaws);
}

static void refuse_in_doubt(struct reply *reply, const struct job *job, const struct id *attempt_id)
{
	reply_problem(reply, PROBLEM_ATTEMPT_IN_DOUBT,
		      "An attempt is still in doubt; no other may start, and a "
		      "starting one is its poller's.");
	reply_add_job_id(reply, &job->id);
	for (size_t i = 0; i < job->attempts_len; i++) {
		const struct attempt *attempt = &job->attempts[i];

		if (attempt_id ? id_equal(&attempt->id, attempt_id)
			       : attempt_in_doubt(attempt->state)) {
			reply_add_attempt(reply, attempt);
			return;
		}
	}
}

/* A conflict with the state of a job that the caller may see. */
static void refuse(struct reply *reply, enum problem problem, const struct job *job)
{
	const char *state = job_state_name(job->state);

	reply_problem(reply, problem, "%s. The job is %s.", problem_row(problem)->title,
		      state ? state : "unreadable");
	reply_add_job_id(reply, &job->id);
	reply_name_job(reply, &job->id);
	view_etag(job, reply->etag);
}

static void refuse_route(struct reply *reply, enum standing why)
{
	reply_problem(reply, PROBLEM_NOT_CERTIFIED,
		      "This provider may not serve the contract's jobs now: %s.",
		      standing_name(why));
	reply_add_why(reply, standing_name(why));
}

void answer_changed(struct reply *reply, enum changed changed, int status, const struct job *job,
		    const struct refusal *refusal)
{
	switch (changed) {
	case CHANGED_DONE: reply_job(reply, status, job); return;
	case CHANGED_TOMBSTONE:
		reply_job(reply, 201, job);
		reply->located = true;
		return;
	case CHANGED_NO_SUCH_JOB:
		reply_problem(reply, PROBLEM_NOT_FOUND,
			      "There is no such thing, or it isn't yours.");
		return;
	case CHANGED_STALE: refuse(reply, PROBLEM_STALE, job); return;
	case CHANGED_JOB_SETTLED: refuse(reply, PROBLEM_JOB_SETTLED, job); return;
	case CHANGED_DEADLINE_PASSED: refuse(reply, PROBLEM_DEADLINE_PASSED, job); return;
	case CHANGED_IN_DOUBT:
		reply_name_job(reply, &job->id);
		refuse_in_doubt(reply, job, &refusal->attempt_id);
		return;
	case CHANGED_EFFECT_DONE: refuse(reply, PROBLEM_EFFECT_DONE, job); return;
	case CHANGED_NO_SUCH_PROVIDER:
		refuse_provider(reply, "there is no provider of this name");
		return;
	case CHANGED_PROVIDER_DISABLED: refuse_provider(reply, "this provider is disabled"); return;
	case CHANGED_NOT_CERTIFIED: refuse_route(reply, refusal->why); return;
	case CHANGED_CONTRACT_VIOLATION:
		reply_problem(reply, PROBLEM_CONTRACT_VIOLATION, "Nothing was done: %s.",
			      refusal->words);
		return;
	case CHANGED_ATTEMPT_SETTLED: refuse(reply, PROBLEM_ATTEMPT_SETTLED, job); return;
	case CHANGED_ATTEMPT_LOST: refuse(reply, PROBLEM_ATTEMPT_LOST, job); return;
	case CHANGED_TOO_LARGE:
		reply_problem(reply, PROBLEM_BODY_TOO_LARGE,
			      "The database takes no value of this size.");
		return;
	case CHANGED_NOT_STORED:
	case CHANGED__MAX: break;
	}
	answer_unavailable(reply);
}
