/* webhook_def.h: an owner's endpoint: where its messages go, and where the secrets are that sign
 * them. */
#ifndef CORE_WEBHOOK_DEF_H
#define CORE_WEBHOOK_DEF_H

#include <stddef.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/flaws.h"

#define WEBHOOK_SECRETS_MAX 2 /* two while one takes the other's place */
#define WEBHOOK_DEF_MAX_BYTES 8192

struct webhook_def {
	char *url;			    /* see provider_url_flaw() */
	char *secrets[WEBHOOK_SECRETS_MAX]; /* ${env:NAME} or ${file:/path}, which the poller alone
					       reads */
	size_t secrets_len;		    /* at least 1 */
};

/* From single values; more secrets than fit are a flaw. RC_OK: *def_out is the caller's,
 * webhook_def_release() it. RC_INVALID: each flaw is added with its pointer ("/url", "/secrets/0").
 * RC_FAULT: no memory. */
MUST_CHECK enum rc webhook_def_make(const char *url, const char *const *secrets, size_t secrets_len,
				    struct webhook_def *def_out, struct flaws *flaws);

/* As it is stored: the URL, and the array that webhook_secrets_write() made. RC_INVALID: written by
 * hand, or by a newer program. */
MUST_CHECK enum rc webhook_def_stored(const char *url, const char *secrets, size_t secrets_len,
				      struct webhook_def *def_out);

void webhook_secrets_write(const struct webhook_def *def, struct text *out);
void webhook_def_release(struct webhook_def *def);

#endif
