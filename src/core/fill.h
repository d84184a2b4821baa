/* fill.h: the placeholders in a provider's row: {{reference}}, {{key}}, {{job.id}}, {{attempt.id}}
 * and {{callback_url}}.
 *
 * What is put in is never read again for placeholders. In a URL it is percent-encoded (RFC 3986:
 * all but unreserved characters), so that it stays within its segment. */
#ifndef CORE_FILL_H
#define CORE_FILL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rc.h"
#include "base/text.h"

enum fill { FILL_REFERENCE, FILL_KEY, FILL_JOB_ID, FILL_ATTEMPT_ID, FILL_CALLBACK_URL, FILL__MAX };

/* NULL: not there. A text that names it can't be filled. */
struct fill_values {
	const char *values[FILL__MAX];
};

/* Which placeholders a text names, as bits (1 << fill); *broken_out: a "{{" that is none of them.
 */
unsigned int fill_names(const char *text, size_t len, bool *broken_out);

/* RC_OK; RC_INVALID: a value isn't there, and *missing_out is its name, a constant, or it would be
 * longer than out's cap, and *missing_out is NULL; RC_FAULT: no memory. */
MUST_CHECK enum rc fill_text(const char *text, size_t len, const struct fill_values *values,
			     bool url, struct text *out, const char **missing_out);

#endif
