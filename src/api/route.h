/* route.h: from a request to its handler: who may ask, what is read first, and the order of
 * refusals. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/handlers.h"

/* Answers one request, in this order: 401, 404 or 405, 403, 413, 400 (body cut short, key,
 * If-Match), 415, 400 (JSON), then the handler. Never fails: what goes wrong is an answer. The
 * reply is finished. */
void route_answer(const struct api *api, const struct request *request, struct reply *reply);

#endif
