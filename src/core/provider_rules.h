/* provider_rules.h: what the single members of a provider's row may be. Each returns NULL, or what
 * is wrong as a constant sentence part. */
#ifndef CORE_PROVIDER_RULES_H
#define CORE_PROVIDER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/provider_def.h"

/* http or https, absolute, ASCII (RFC 3986), no user info, no fragment, no ${...}; up to 4,096
 * bytes. */
const char *provider_url_flaw(const char *url, size_t len);

/* The same with placeholders (see fill.h) in the path or query, never in the host. */
const char *provider_filled_url_flaw(const char *url, size_t len);

const char *provider_method_flaw(const char *method, size_t len);

/* A token (RFC 9110) that isn't one of the names which the poller sets itself. */
const char *provider_header_name_flaw(const char *name, size_t len);

/* field-value of RFC 9110 (no control bytes, no blanks at its ends), every ${...} well-formed. */
const char *provider_header_value_flaw(const char *value, size_t len);

/* The names in a definition. The parse functions take exactly those; false leaves *_out untouched.
 */
const char *override_name(enum override means);
bool override_parse(const char *text, size_t len, enum override *means_out);
const char *status_means_name(enum status_means means);
bool status_means_parse(const char *text, size_t len, enum status_means *means_out);
const char *result_as_name(enum result_as as);
bool result_as_parse(const char *text, size_t len, enum result_as *as_out);

#endif
