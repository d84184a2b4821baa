/* jobs.c: the handlers of /v1/jobs. */
#include <string.h>

#include "api/handlers.h"
#include "api/if_match.h"
#include "api/query.h"
#include "api/rows.h"
#include "base/clock.h"
#include "core/flaws.h"
#include "core/intent.h"

static void refuse_intent(struct reply *reply, const struct flaws *flaws)
{
	reply_problem(reply, PROBLEM_INVALID_JOB, "The body has %zu flaw%s.", flaws->count,
		      flaws->count == 1 ? "" : "s");
	reply_add_flaws(reply, flaws);
}

/* A provider or contract that the database doesn't know. */
static void refuse_target(struct reply *reply, const char *member, const char *detail)
{
	struct flaws flaws;

	flaws_init(&flaws);
	flaws_add(&flaws, "", member, strlen(member), "%s", detail);
	refuse_intent(reply, &flaws);
	flaws_release(&flaws);
}

static void refuse_key(struct reply *reply, enum problem problem, const char *detail,
		       const struct job *job)
{
	reply_problem(reply, problem, "%s", detail);
	reply_add_job_id(reply, &job->id);
	reply_name_job(reply, &job->id);
}

static void answer_created(struct reply *reply, enum created created, const struct job *job)
{
	switch (created) {
	case CREATED_NEW:
		reply_job(reply, 201, job);
		reply->located = true;
		return;
	case CREATED_REPLAYED:
		reply_job(reply, 200, job);
		reply->replayed = true;
		return;
	case CREATED_KEY_REUSED:
		refuse_key(reply, PROBLEM_KEY_REUSED,
			   "The key stands for another intent; that one is unchanged.", job);
		return;
	case CREATED_INTENT_CANCELLED:
		refuse_key(reply, PROBLEM_INTENT_CANCELLED,
			   "The key was cancelled before this create arrived.", job);
		return;
	case CREATED_NO_SUCH_CALLER:
		answer_unauthorized(
			reply, true,
			"The bearer token is unknown, has expired, or is another owner's.");
		return;
	case CREATED_NO_SUCH_PROVIDER:
		refuse_target(reply, "provider", "there is no provider of this name");
		return;
	case CREATED_NO_SUCH_CONTRACT:
		refuse_target(reply, "contract", "there is no contract of this name");
		return;
	case CREATED_TOO_LARGE:
		reply_problem(reply, PROBLEM_BODY_TOO_LARGE,
			      "The database takes no value of this size.");
		return;
	case CREATED_NOT_STORED:
	case CREATED__MAX: break;
	}
	answer_unavailable(reply);
}

static void prepare(struct call *call)
{
	call->waits = WAITS_CREATE;
	call->create = (struct create){
		.caller = &call->caller,
		.key = &call->key,
		.intent = &call->intent,
		.id = clock_id(),
		.now_us = clock_real_us(),
		.traceparent = call->traceparent[0] ? call->traceparent : NULL,
	};
}

void jobs_created(struct call *call, struct reply *reply)
{
	call->checked = true;
	answer_created(reply, call->create.created, &call->create.job);
	job_release(&call->create.job);
}

void jobs_create(const struct api *api, struct call *call, struct reply *reply)
{
	struct flaws flaws;
	enum rc rc;

	(void)api;
	flaws_init(&flaws);
	rc = intent_read(call->body, &call->intent, &flaws);
	if (rc == RC_OK)
		prepare(call);
	else if (rc == RC_INVALID)
		refuse_intent(reply, &flaws);
	else
		answer_unavailable(reply);
	flaws_release(&flaws);
}

static void answer_job(const struct call *call, struct reply *reply, const struct job *job)
{
	char etag[ETAG_MAX];

	view_etag(job, etag);
	if (call->look.unchanged || if_none_match_holds(call->request, etag)) {
		reply_empty(reply, 304);
		reply_name_job(reply, &job->id);
		memcpy(reply->etag, etag, sizeof etag);
	} else {
		reply_job(reply, 200, job);
	}
	reply->retry_after_s = job_retry_hint_s(job, clock_real_us());
}

void jobs_looked(struct call *call, struct reply *reply)
{
	struct look *look = &call->look;

	call->checked = true;
	if (look->rc == RC_OK)
		answer_job(call, reply, &look->job);
	else if (look->rc == RC_INVALID)
		answer_unauthorized(
			reply, true,
			"The bearer token is unknown, has expired, or is another owner's.");
	else if (look->rc == RC_NOT_FOUND)
		reply_problem(reply, PROBLEM_NOT_FOUND, "There is no such job, or it isn't yours.");
	else
		answer_unavailable(reply);
	job_release(&look->job);
}

void jobs_get(const struct api *api, struct call *call, struct reply *reply)
{
	(void)api;
	(void)reply;
	call->waits = WAITS_LOOK;
	call->look = (struct look){ .caller = &call->caller, .id = call->id };
	if (if_none_match_read(call->request, &call->unless))
		call->look.unless = &call->unless;
}

enum { BY_STATE, BY_CONTRACT, BY_PROVIDER, LIMIT, CURSOR, BY_OWNER, JOB_QUERY__MAX };

static bool read_name(const struct query_member *member, const char **name_out)
{
	if (!member->given)
		return true;
	*name_out = member->value;
	return name_valid(member->value, member->len);
}

/* Returns NULL, or what is wrong. */
static const char *read_filter(const struct query_member *query, struct job_filter *filter)
{
	filter->has_state = query[BY_STATE].given;
	if (filter->has_state &&
	    !job_state_parse(query[BY_STATE].value, query[BY_STATE].len, &filter->state))
		return "state must be " JOB_STATE_NAMES;
	if (!read_name(&query[BY_CONTRACT], &filter->contract))
		return "contract is no name that one can have";
	if (!read_name(&query[BY_PROVIDER], &filter->provider))
		return "provider is no name that one can have";
	if (!query_limit(&query[LIMIT], &filter->limit))
		return "limit must be 1 to 200";
	filter->has_before = query[CURSOR].given;
	if (filter->has_before && !cursor_to_id(&query[CURSOR], &filter->before))
		return "cursor is none that was given out here";
	if (query[BY_OWNER].given) {
		filter->owner = query[BY_OWNER].value;
		filter->owner_len = query[BY_OWNER].len;
	}
	return NULL;
}

static void list(const struct api *api, const struct call *call, const struct job_filter *filter,
		 struct reply *reply)
{
	char cursor[CURSOR_MAX + 1];
	struct job *jobs = NULL;
	size_t len = 0;
	bool more = false;

	if (job_store_list(api->db, &call->who, filter, &jobs, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	more = more && len > 0;
	if (more)
		cursor_of_id(&jobs[len - 1].id, cursor);
	reply_json(reply, 200, rows_jobs(jobs, len, more ? cursor : NULL));
	job_list_free(jobs, len);
}

void jobs_list(const struct api *api, struct call *call, struct reply *reply)
{
	struct query_member query[JOB_QUERY__MAX] = {
		[BY_STATE] = { .name = "state" },	[BY_CONTRACT] = { .name = "contract" },
		[BY_PROVIDER] = { .name = "provider" }, [LIMIT] = { .name = "limit" },
		[CURSOR] = { .name = "cursor" },	[BY_OWNER] = { .name = "owner" },
	};
	size_t known = call->who.role == ROLE_OPERATOR ? JOB_QUERY__MAX
						       : BY_OWNER; /* a user has one owner only */
	struct job_filter filter = { .limit = 0 };
	char detail[QUERY_DETAIL_MAX];
	const char *wrong;

	if (!query_read(call->request->query, call->request->query_len, query, known, detail)) {
		reply_problem(reply, PROBLEM_INVALID_QUERY, "Query: %s.", detail);
		return;
	}
	wrong = read_filter(query, &filter);
	if (wrong)
		reply_problem(reply, PROBLEM_INVALID_QUERY, "Query: %s.", wrong);
	else
		list(api, call, &filter, reply);
}

void jobs_cancel(const struct api *api, struct call *call, struct reply *reply)
{
	struct job job = { 0 };
	enum changed changed;

	if (!body_is_empty(call, reply))
		return;
	changed = job_store_cancel(api->db, &call->who, &call->id, &call->if_match, &job);
	answer_changed(reply, changed, 200, &job, NULL);
	job_release(&job);
}

void jobs_cancel_key(const struct api *api, struct call *call, struct reply *reply)
{
	struct id tombstone = clock_id();
	struct job job = { 0 };
	enum changed changed;

	if (!body_is_empty(call, reply))
		return;
	changed = job_store_cancel_key(api->db, &call->who, &call->key, &tombstone, clock_real_us(),
				       &job);
	answer_changed(reply, changed, 200, &job, NULL);
	job_release(&job);
}
