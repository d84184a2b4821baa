/* route.c: the routes as rows. A right belongs in the row, and so does what a handler needs: none
 * checks it again. */
#include "api/route.h"

#include <stdio.h>
#include <string.h>

#include "api/auth.h"
#include "api/if_match.h"
#include "base/log.h"
#include "core/intent.h"
#include "core/trace.h"

enum who {
	WHO_ANYONE,    /* no token */
	WHO_STATEMENT, /* a caller; the handler's own statement checks it, so that a good request
			  costs one look-up */
	WHO_CALLER,
	WHO_OPERATOR,
	WHO__MAX
};

/* BODY_RAW: the handler reads its bytes itself. None of the three: no body. */
enum needs {
	BODY_OPTIONAL = 1,
	BODY_REQUIRED = 2,
	NEEDS_KEY = 4,
	TAKES_IF_MATCH = 8,
	BODY_RAW = 16
};

static const struct route {
	const char *method;
	const char *path; /* {id}: a UUID, anything else is an unknown path; {name}: one segment;
			     each at most once */
	enum who who;
	unsigned int needs;
	handler_fn *handler;
} routes[] = {
	{ "POST", "/v1/jobs", WHO_STATEMENT, NEEDS_KEY | BODY_REQUIRED, jobs_create },
	{ "GET", "/v1/jobs", WHO_CALLER, 0, jobs_list },
	{ "POST", "/v1/jobs/cancel", WHO_CALLER, NEEDS_KEY | BODY_OPTIONAL, jobs_cancel_key },
	{ "GET", "/v1/jobs/{id}", WHO_STATEMENT, 0, jobs_get },
	{ "POST", "/v1/jobs/{id}/attempts", WHO_CALLER, BODY_OPTIONAL | TAKES_IF_MATCH,
	  jobs_request_attempt },
	{ "POST", "/v1/jobs/{id}/cancel", WHO_CALLER, BODY_OPTIONAL | TAKES_IF_MATCH, jobs_cancel },
	{ "GET", "/v1/attempts", WHO_OPERATOR, 0, attempts_list },
	{ "POST", "/v1/attempts/{id}/settle", WHO_OPERATOR, BODY_REQUIRED | TAKES_IF_MATCH,
	  attempts_settle },
	{ "POST", "/v1/callbacks/{id}/{name}", WHO_ANYONE, BODY_RAW, callbacks_receive },
	{ "GET", "/v1/races", WHO_OPERATOR, 0, races_list },
	{ "GET", "/v1/providers", WHO_OPERATOR, 0, providers_list },
	{ "GET", "/v1/providers/{name}", WHO_OPERATOR, 0, providers_get },
	{ "PUT", "/v1/providers/{name}", WHO_OPERATOR, BODY_REQUIRED, providers_put },
	{ "DELETE", "/v1/providers/{name}", WHO_OPERATOR, 0, providers_delete },
	{ "GET", "/v1/contracts", WHO_OPERATOR, 0, contracts_list },
	{ "GET", "/v1/contracts/{name}", WHO_OPERATOR, 0, contracts_get },
	{ "PUT", "/v1/contracts/{name}", WHO_OPERATOR, BODY_REQUIRED, contracts_put },
	{ "DELETE", "/v1/contracts/{name}", WHO_OPERATOR, 0, contracts_delete },
	{ "POST", "/v1/contracts/{name}/certify", WHO_OPERATOR, BODY_OPTIONAL, contracts_certify },
	{ "GET", "/v1/certificates", WHO_OPERATOR, 0, certificates_list },
	{ "GET", "/healthz", WHO_ANYONE, 0, health_live },
	{ "GET", "/readyz", WHO_ANYONE, 0, health_ready },
	{ "GET", "/metrics", WHO_ANYONE, 0, metrics_show },
	{ "GET", "/problems", WHO_ANYONE, 0, problems_index },
	{ "GET", "/problems/{name}", WHO_ANYONE, 0, problems_page },
};

#define ROUTES (sizeof routes / sizeof routes[0])

static bool take_segment(struct call *call, const char *pattern, const char *segment, size_t len)
{
	if (strncmp(pattern, "{id}", 4) == 0)
		return id_parse(segment, len, &call->id);
	call->name = segment;
	call->name_len = len;
	return len > 0;
}

static bool path_matches(struct call *call, const char *pattern)
{
	const char *at = call->request->path;
	const char *end = at + call->request->path_len;

	for (;;) {
		while (*pattern && *pattern != '{' && at < end && *pattern == *at) {
			pattern++;
			at++;
		}
		if (*pattern != '{')
			return *pattern == '\0' && at == end;

		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t len = (size_t)((slash ? slash : end) - at);

		if (!take_segment(call, pattern, at, len))
			return false;
		pattern = strchr(pattern, '}') + 1;
		at += len;
	}
}

/* The first row with the request's path; the rows after it with the same path are its other
 * methods. */
static const struct route *find_path(struct call *call)
{
	if (!request_path_plain(call->request))
		return NULL;
	for (size_t i = 0; i < ROUTES; i++)
		if (path_matches(call, routes[i].path))
			return &routes[i];
	return NULL;
}

static bool same_path(const struct route *row, const struct route *first)
{
	return row < routes + ROUTES && strcmp(row->path, first->path) == 0;
}

static const struct route *find_method(const struct route *first, const char *method)
{
	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	for (const struct route *row = first; row < routes + ROUTES; row++)
		if (same_path(row, first) && strcmp(row->method, method) == 0)
			return row;
	return NULL;
}

static void refuse_method(struct reply *reply, const struct route *first)
{
	size_t len = 0;

	reply_problem(reply, PROBLEM_METHOD_NOT_ALLOWED,
		      "The path takes other methods; see the Allow header.");
	for (const struct route *row = first; row < routes + ROUTES; row++) {
		const char *more = strcmp(row->method, "GET") == 0 ? ", HEAD" : "";

		if (same_path(row, first) && len < sizeof reply->allow)
			len += (size_t)snprintf(reply->allow + len, sizeof reply->allow - len,
						"%s%s%s", len ? ", " : "", row->method, more);
	}
}

/* The database's word about the caller. False: refused. */
static bool check_caller(const struct api *api, struct call *call, struct reply *reply)
{
	enum rc rc = job_store_identify(api->db, &call->caller, &call->who);

	call->checked = true;
	if (rc == RC_OK)
		return true;
	if (rc == RC_NOT_FOUND)
		answer_unauthorized(
			reply, true,
			"The bearer token is unknown, has expired, or is another owner's.");
	else
		answer_unavailable(reply);
	return false;
}

static bool take_body(const struct api *api, const struct call *call, const struct route *row,
		      struct reply *reply)
{
	const struct request *request = call->request;

	switch (request->body_state) {
	case BODY_TOO_LARGE:
		reply_problem(reply, PROBLEM_BODY_TOO_LARGE,
			      "The body is larger than is taken here.");
		if (request_announced(request, SIZE_MAX) > api->max_body_bytes)
			reply_add_number(reply, "limit_bytes", api->max_body_bytes);
		return false;
	case BODY_CUT:
		reply_problem(reply, PROBLEM_BODY_INCOMPLETE,
			      "%zu bytes arrived, another number was announced.",
			      request->body_len);
		return false;
	case BODY_NO_ROOM: answer_unavailable(reply); return false;
	case BODY_WHOLE:
	case BODY_STATE__MAX: break;
	}
	if (request->body_len > 0 && !(row->needs & (BODY_OPTIONAL | BODY_REQUIRED | BODY_RAW))) {
		reply_problem(reply, PROBLEM_BODY_UNEXPECTED, "%s takes no body here.",
			      row->method);
		return false;
	}
	return true;
}

static bool take_key(struct call *call, struct reply *reply)
{
	const char *value = request_param(call->request, PARAM_KEY);
	const char *flaw;

	if (!value) {
		reply_problem(reply, PROBLEM_KEY_MISSING,
			      "The Idempotency-Key header is required.");
		return false;
	}
	if (request_doubled(call->request, PARAM_KEY))
		flaw = "the header was sent twice";
	else
		flaw = idempotency_key_parse(value, strlen(value), &call->key);
	if (flaw) {
		reply_problem(reply, PROBLEM_KEY_INVALID, "Idempotency-Key: %s.", flaw);
		return false;
	}
	reply_name_key(reply, &call->key);
	return true;
}

static bool take_json(struct call *call, const struct route *row, struct reply *reply)
{
	const struct request *request = call->request;
	struct json_error error;
	enum rc rc;

	if (request->body_len == 0 && !(row->needs & BODY_REQUIRED))
		return true;
	if (!request_is_json(request)) {
		reply_problem(reply, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
			      "Content-Type must be application/json, sent once.");
		return false;
	}
	rc = json_parse(request->body, request->body_len, INTENT_DEPTH_MAX, &call->doc, &error);
	if (rc == RC_OK) {
		call->body = json_root(call->doc);
		return true;
	}
	if (rc == RC_INVALID) {
		reply_problem(reply, PROBLEM_INVALID_JSON, "At byte %zu: %s.", error.offset,
			      error.detail);
		reply_add_number(reply, "offset", error.offset);
	} else {
		answer_unavailable(reply);
	}
	return false;
}

/* All that the row asks for, in the order of refusals. */
static bool take_needs(const struct api *api, struct call *call, const struct route *row,
		       struct reply *reply)
{
	if (!take_body(api, call, row, reply))
		return false;
	if ((row->needs & NEEDS_KEY) && !take_key(call, reply))
		return false;
	if ((row->needs & TAKES_IF_MATCH) && !if_match_read(call->request, &call->if_match)) {
		reply_problem(reply, PROBLEM_INVALID_IF_MATCH,
			      "If-Match must be * or a list of at most 8 entity tags in quotes.");
		return false;
	}
	if (row->needs & (BODY_OPTIONAL | BODY_REQUIRED))
		return take_json(call, row, reply);
	return true;
}

/* A traceparent that isn't valid, or came twice, is as if it weren't there. */
static void take_trace(struct call *call, struct reply *reply)
{
	const char *value = request_param(call->request, PARAM_TRACEPARENT);

	if (!value || request_doubled(call->request, PARAM_TRACEPARENT) ||
	    !traceparent_valid(value, strlen(value)))
		return;
	memcpy(call->traceparent, value, TRACEPARENT_LEN);
	reply_name_trace(reply, call->traceparent);
}

static void run(const struct api *api, struct call *call, const struct route *row,
		struct reply *reply)
{
	if (take_needs(api, call, row, reply))
		row->handler(api, call, reply);
	/* Only a caller that is known learns anything, so a refusal that came before any statement
	 * waits for that. */
	if (row->who == WHO_STATEMENT && !call->checked && !call->waits)
		(void)check_caller(api, call, reply);
}

static void refuse_path(struct reply *reply)
{
	reply_problem(reply, PROBLEM_NOT_FOUND, "The path leads nowhere.");
}

static void answer(const struct api *api, struct call *call, const char *method,
		   struct reply *reply)
{
	const struct route *first = find_path(call);
	const struct route *row = first ? find_method(first, method) : NULL;
	bool open = first && first->who == WHO_ANYONE;
	const char *why = NULL;
	bool token_tried = false;

	if (!open)
		why = auth_read(call->request, api->trust_owner, &call->caller, &token_tried);
	if (why) {
		answer_unauthorized(reply, token_tried, why);
		return;
	}
	if (!open && (!row || row->who != WHO_STATEMENT) && !check_caller(api, call, reply))
		return;
	if (!first)
		refuse_path(reply);
	else if (!row)
		refuse_method(reply, first);
	else if (row->who == WHO_OPERATOR && call->who.role != ROLE_OPERATOR)
		reply_problem(reply, PROBLEM_OPERATOR_ONLY,
			      "The token's role is user; this is for operators.");
	else
		run(api, call, row, reply);
}

/* A job that is new has a line here too, so that one click can be followed through every log. */
static void tell(const struct request *request, const struct reply *reply)
{
	char job[ID_TEXT_LEN + 1], trace[TRACE_ID_LEN + 1] = "-";

	if (reply->trace_id[0])
		memcpy(trace, reply->trace_id, sizeof trace);
	else if (reply->has_job)
		trace_id(trace, NULL, &reply->job_id);
	if (reply->status >= 500)
		log_warning("api.failed", "request=%s status=%d trace=%s", request->id,
			    reply->status, trace);
	else if (reply->status == 201 && reply->has_job)
		log_info("api.created", "request=%s job=%s key_hash=%s trace=%s", request->id,
			 id_format(&reply->job_id, job), reply->key_mark, trace);
}

static void finish(struct call *call, struct reply *reply)
{
	json_free(call->doc);
	call->doc = NULL;
	reply_finish(reply);
	tell(call->request, reply);
}

enum waits route_begin(const struct api *api, const struct request *request, struct call *call,
		       struct reply *reply)
{
	const char *method = request_param(request, PARAM_METHOD);

	*call = (struct call){ .request = request };
	reply_begin(reply, request);
	if (!method || request_doubled(request, PARAM_METHOD) ||
	    !request_param(request, PARAM_URI) || request_doubled(request, PARAM_URI)) {
		log_error("api.gateway",
			  "request=%s flaw=\"REQUEST_METHOD and REQUEST_URI must each come once\"",
			  request->id);
		reply_problem(reply, PROBLEM_GATEWAY,
			      "The web server passed no usable method or path.");
	} else {
		reply->head_only = strcmp(method, "HEAD") == 0;
		take_trace(call, reply);
		answer(api, call, method, reply);
	}
	if (!call->waits)
		finish(call, reply);
	return call->waits;
}

void route_end(struct call *call, struct reply *reply)
{
	if (call->waits == WAITS_CREATE)
		jobs_created(call, reply);
	else
		jobs_looked(call, reply);
	finish(call, reply);
}

/* By itself. */
static void decide(const struct api *api, struct call *call)
{
	struct create *create = &call->create;
	struct look *look = &call->look;
	size_t decided = 0;

	while (decided == 0)
		decided = call->waits == WAITS_CREATE ? job_store_create(api->db, &create, 1)
						      : job_store_look(api->db, &look, 1);
}

void route_answer(const struct api *api, const struct request *request, struct reply *reply)
{
	struct call call;

	if (route_begin(api, request, &call, reply) == WAITS_NOT)
		return;
	decide(api, &call);
	route_end(&call, reply);
}

static bool is_method(const struct request *request, const char *method)
{
	const char *value = request_param(request, PARAM_METHOD);

	return value && strcmp(value, method) == 0;
}

bool route_may_wait(const struct request *request)
{
	static const char path[] = "/v1/jobs";
	const size_t len = sizeof path - 1;

	if (request->path_len < len || memcmp(request->path, path, len) != 0)
		return false;
	return request->path_len == len
		       ? is_method(request, "POST")
		       : (is_method(request, "GET") || is_method(request, "HEAD")) &&
				 request->path_len == len + 1 + ID_TEXT_LEN;
}
