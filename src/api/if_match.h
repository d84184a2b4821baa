/* if_match.h: the conditional headers (RFC 9110, 13.1). */
#ifndef API_IF_MATCH_H
#define API_IF_MATCH_H

#include <stdbool.h>

#include "api/request.h"
#include "store/job_store.h"

/* If-Match, all its lines as one list. A tag that is weak or none of ours matches nothing and is
 * left out. False: it can't be read, or more than 8 tags could match. */
bool if_match_read(const struct request *request, struct if_match *out);

/* If-None-Match as pairs, as far as there is room for them: a hint what to look for first. False:
 * none. */
bool if_none_match_read(const struct request *request, struct if_match *out);

/* It holds this ETag (weak comparison) or "*". One that can't be read holds nothing. */
bool if_none_match_holds(const struct request *request, const char *etag);

#endif
