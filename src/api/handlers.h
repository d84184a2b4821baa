/* handlers.h: what a handler is given, and the handlers, one file a resource. */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/reply.h"
#include "api/request.h"
#include "base/json.h"
#include "base/keyring.h"
#include "core/idempotency_key.h"
#include "core/intent.h"
#include "core/job.h"
#include "store/db.h"
#include "store/job_store.h"

/* A thread of the process: all that outlives a request. */
struct api {
	struct db *db;
	uint32_t max_body_bytes;
	bool trust_owner;
	struct keyring keyring; /* verifies callbacks */
};

/* For what only the database can decide, together with others of its kind; all else is checked. */
enum waits { WAITS_NOT, WAITS_CREATE, WAITS_LOOK, WAITS__MAX };

/* One request on its way. What its route asks for has been read and checked before the handler
 * runs. */
struct call {
	const struct request *request;
	struct caller caller; /* as the request says; an open route has none */
	struct identity
		who;  /* as the database says; not for a route whose statement checks the caller */
	bool checked; /* the database has been asked about the caller */
	struct id id; /* {id} of the path */
	const char *name; /* {name} of the path, inside the request */
	size_t name_len;
	struct idempotency_key key;
	struct if_match if_match;
	struct json_doc *doc;
	const struct json_value *body;	       /* NULL: there was none */
	char traceparent[TRACEPARENT_LEN + 1]; /* "": none, or none that is valid */
	enum waits waits;
	struct intent intent;
	struct create create;	/* of this intent; jobs_created() answers once it is decided */
	struct if_match unless; /* jobs_looked() does */
	struct look look;
};

typedef void handler_fn(const struct api *api, struct call *call, struct reply *reply);

handler_fn jobs_create, jobs_list, jobs_get, jobs_cancel, jobs_cancel_key, jobs_request_attempt;
handler_fn attempts_list, attempts_settle, races_list;
handler_fn providers_list, providers_get, providers_put, providers_delete;
handler_fn contracts_list, contracts_get, contracts_put, contracts_delete, contracts_certify;
handler_fn certificates_list;
handler_fn callbacks_receive;
handler_fn health_live, health_ready, metrics_show, problems_index, problems_page;

/* The second halves of jobs_create() and jobs_get(). */
void jobs_created(struct call *call, struct reply *reply);
void jobs_looked(struct call *call, struct reply *reply);

/* Answers that several handlers give. */
void answer_unavailable(struct reply *reply);
void answer_unauthorized(struct reply *reply, bool token_was_bad, const char *detail);

/* What a change to a job came to. `attempt`: the one in doubt, or NULL. `status` is that of
 * CHANGED_DONE. */
void answer_changed(struct reply *reply, enum changed changed, int status, const struct job *job,
		    const struct refusal *refusal);

/* {id} -> the answer for an empty body or {}: false when the body has members, which are named in a
 * 422. */
bool body_is_empty(const struct call *call, struct reply *reply);

/* The path's {name} with a NUL. False: it can't be the name of a provider or contract. */
bool path_name(const struct call *call, char name_out[NAME_MAX_LEN + 1]);

#endif
