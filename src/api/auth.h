/* auth.h: who asks, as far as the request itself says it. Whether a token is good is the database's
 * word. */
#ifndef API_AUTH_H
#define API_AUTH_H

#include <stdbool.h>

#include "api/request.h"
#include "store/job_store.h"

#define AUTH_TOKEN_MAX 512

/* From `Authorization: Bearer` and, where the deployment turns that on (`trust_owner`), the
 * parameter ONEJOB_OWNER; a scheme other than Bearer beside a trusted owner is the web server's
 * business. REMOTE_USER is never read: a client can fill it. Returns NULL, or why there is no
 * caller as a constant sentence; `token_tried_out` tells whether a token was sent at all. The owner
 * points into the request. */
const char *auth_read(const struct request *request, bool trust_owner, struct caller *caller_out,
		      bool *token_tried_out);

#endif
