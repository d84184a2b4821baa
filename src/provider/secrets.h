/* secrets.h: a header value with its ${env:NAME} and ${file:/path} read. The only place that sees a
 * secret's value. */
#ifndef PROVIDER_SECRETS_H
#define PROVIDER_SECRETS_H

#include "base/rc.h"
#include "base/text.h"

#define SECRET_MAX_BYTES 65536 /* of one file or variable */

/* Adds the expanded value to `out`. A file is read at each call, so that a secret can be changed
 * without a restart; one newline at its end (LF or CRLF) is dropped. The result never holds a
 * control byte but the tab. RC_NOT_FOUND: this host has no such secret that can be used; another
 * one may. RC_INVALID: the value itself can't be a header's, or is longer than out's cap. Then
 * `why` names the variable or file and what is wrong, never what is in it. RC_FAULT: no memory. */
MUST_CHECK enum rc secrets_expand(const char *value, struct text *out, struct text *why);

#endif
