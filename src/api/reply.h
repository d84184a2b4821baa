/* reply.h: the answer to one request: status, headers, and a JSON body that is written once, at the
 * end.
 *
 * One reply serves a process: reply_begin() empties it for the next request and keeps its memory. A
 * handler says what the answer is; a later call replaces an earlier one whole, but for the identity
 * (X-Request-Id, X-Onejob-*). */
#ifndef API_REPLY_H
#define API_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/problem.h"
#include "api/request.h"
#include "base/text.h"
#include "core/flaws.h"
#include "core/idempotency_key.h"
#include "core/job.h"
#include "core/view.h"

#define KEY_MARK_LEN                                                                               \
	16 /* of the key's SHA-256 in hex: enough to find a key's lines, too little to tell the    \
	      key */

struct reply {
	int status;
	const char *content_type; /* NULL: no body */
	struct json_object *json; /* owned; what the body is written from */
	struct text job;	  /* or the body itself, where it is a job */
	const char *body;	  /* after reply_finish() */
	size_t body_len;
	struct text head;  /* after reply_finish(): header lines and the empty line */
	struct text plain; /* a body that isn't JSON */
	bool head_only;	   /* HEAD: all but the body */

	/* the identity, for the client and the web server's log */
	char request_id[REQUEST_ID_MAX + 1];
	char key_mark[KEY_MARK_LEN + 1];
	char trace_id[2 * ID_BYTES + 1];
	bool has_job;
	struct id job_id;

	/* headers of this answer; "", false and 0 stand for none */
	char etag[ETAG_MAX];
	char allow[64];
	bool located;	    /* Location: the job */
	bool replayed;	    /* Idempotent-Replayed: true */
	bool challenge;	    /* WWW-Authenticate */
	bool token_was_bad; /* and it says that the token is to blame */
	uint32_t retry_after_s;
};

void reply_init(struct reply *reply);
void reply_release(struct reply *reply);
void reply_begin(struct reply *reply, const struct request *request);

/* The identity headers for the log. */
void reply_name_key(struct reply *reply, const struct idempotency_key *key);
void reply_name_trace(struct reply *reply, const char *traceparent); /* a valid one */
void reply_name_job(struct reply *reply, const struct id *job_id);

/* A JSON body; `json` is taken over. NULL (no memory) turns the answer into a 500. */
void reply_json(struct reply *reply, int status, struct json_object *json);
void reply_job(struct reply *reply, int status, const struct job *job); /* with its ETag */
void reply_empty(struct reply *reply, int status);
struct text *reply_plain(struct reply *reply, int status); /* text/plain: add to what is returned */

/* problem+json. The detail is a format; members of the problem's own are added after. 503 gets its
 * Retry-After here. */
void reply_problem(struct reply *reply, enum problem problem, const char *detail, ...)
	__attribute__((format(printf, 3, 4)));
void reply_add_number(struct reply *reply, const char *member,
		      uint64_t number); /* `member`: a constant */
void reply_add_job_id(struct reply *reply, const struct id *job_id);
void reply_add_attempt(struct reply *reply, const struct attempt *attempt);
void reply_add_why(struct reply *reply, const char *why); /* ASCII */
void reply_add_flaws(struct reply *reply, const struct flaws *flaws);

/* Writes head and body. To be called once, after the handler. */
void reply_finish(struct reply *reply);

#endif
