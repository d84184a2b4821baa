/* secret_ref.h: how a header value names its secrets: ${env:NAME} and ${file:/absolute/path}. The
 * form only; the poller alone reads what they name (provider/secrets.h). */
#ifndef CORE_SECRET_REF_H
#define CORE_SECRET_REF_H

#include <stddef.h>

#define SECRET_NAME_MAX 255 /* of a variable's name or a path, in bytes */

enum secret_kind { SECRET_NONE, SECRET_ENV, SECRET_FILE, SECRET_BROKEN, SECRET__MAX };

/* One step through a value: first plain text (maybe none), then a reference or the end. */
struct secret_ref {
	size_t plain_len;      /* bytes before the reference, or all that was left */
	enum secret_kind kind; /* NONE: the value ends here. BROKEN: a "${" that is neither form */
	const char *name;      /* inside the value */
	size_t name_len;
	size_t len; /* plain text and reference together: where the next step begins */
};

struct secret_ref secret_ref_next(const char *value, size_t len);

#endif
