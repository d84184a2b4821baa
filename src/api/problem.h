/* problem.h: every problem type that an answer may carry (RFC 9457), as rows. The same rows are the
 * pages that a `type` leads to: GET /problems/<name>. */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include <stddef.h>

#include "base/text.h"

enum problem {
	PROBLEM_UNAUTHORIZED,
	PROBLEM_NOT_FOUND,
	PROBLEM_METHOD_NOT_ALLOWED,
	PROBLEM_OPERATOR_ONLY,
	PROBLEM_BODY_TOO_LARGE,
	PROBLEM_BODY_INCOMPLETE,
	PROBLEM_BODY_UNEXPECTED,
	PROBLEM_KEY_MISSING,
	PROBLEM_KEY_INVALID,
	PROBLEM_INVALID_IF_MATCH,
	PROBLEM_UNSUPPORTED_MEDIA_TYPE,
	PROBLEM_INVALID_JSON,
	PROBLEM_INVALID_QUERY,
	PROBLEM_INVALID_JOB,
	PROBLEM_INVALID_REQUEST,
	PROBLEM_INVALID_PROVIDER,
	PROBLEM_INVALID_CONTRACT,
	PROBLEM_CONTRACT_VIOLATION,
	PROBLEM_NOT_CERTIFIED,
	PROBLEM_NO_FIXTURES,
	PROBLEM_SIDE_EFFECTS,
	PROBLEM_STALE,
	PROBLEM_KEY_REUSED,
	PROBLEM_INTENT_CANCELLED,
	PROBLEM_JOB_SETTLED,
	PROBLEM_DEADLINE_PASSED,
	PROBLEM_ATTEMPT_IN_DOUBT,
	PROBLEM_EFFECT_DONE,
	PROBLEM_ATTEMPT_SETTLED,
	PROBLEM_ATTEMPT_LOST,
	PROBLEM_PROVIDER_IN_USE,
	PROBLEM_UNAVAILABLE,
	PROBLEM_GATEWAY,
	PROBLEM_INTERNAL,
	/* the web server's own */
	PROBLEM_BAD_REQUEST,
	PROBLEM_FORBIDDEN,
	PROBLEM_URI_TOO_LONG,
	PROBLEM_TOO_MANY_REQUESTS,
	PROBLEM_TOO_EARLY,
	PROBLEM_CERTIFICATE_NEEDED,
	PROBLEM__MAX
};

struct problem_row {
	const char *name; /* the type is /problems/<name> */
	int status;
	const char *title;
	const char *page; /* what it means and what to do */
};

const struct problem_row *problem_row(enum problem problem);

/* The row by its name, or NULL. */
const struct problem_row *problem_find(const char *name, size_t len);

void problem_page(const struct problem_row *row, struct text *out); /* plain text */
void problem_index(struct text *out);				    /* one line a type */

#endif
