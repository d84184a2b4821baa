/* route.h: from a request to its handler: who may ask, what is read first, and the order of
 * refusals. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/handlers.h"

/* Answers one request, in this order: 401, 404 or 405, 403, 413, 400 (body cut short, key,
 * If-Match), 415, 400 (JSON), then the handler. Never fails: what goes wrong is an answer. The
 * reply is finished. */
void route_answer(const struct api *api, const struct request *request, struct reply *reply);

/* The same in two halves, for requests that share a statement. WAITS_NOT: the reply is finished.
 * Else call->create wants to be decided by job_store_create(), or call->look by job_store_look();
 * then route_end() finishes the reply. The request must live until then, and `call` stay where it
 * is. */
enum waits route_begin(const struct api *api, const struct request *request, struct call *call,
		       struct reply *reply);
void route_end(struct call *call, struct reply *reply);

/* Whether it may come to that: anything else is answered by its first half. */
bool route_may_wait(const struct request *request);

#endif
