/* schema_uri.h: references of RFC 3986, as far as schemas name one another with them. */
#ifndef CORE_SCHEMA_URI_H
#define CORE_SCHEMA_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Section 5.2: `reference` without its fragment, from `base`, which may be relative or empty too.
 * Adds to `out`. */
void schema_uri_resolve(const char *base, size_t base_len, const char *reference,
			size_t reference_len, struct text *out);

/* Where the fragment's # stands, or `len`. */
size_t schema_uri_fragment(const char *reference, size_t len);

/* Section 2.1: adds the bytes with every %XX decoded. False: a % without two hex digits. */
bool schema_uri_decode(const char *bytes, size_t len, struct text *out);

/* Is it a reference (section 4.1), in ASCII; has it a scheme? */
bool schema_uri_valid(const char *reference, size_t len, bool *absolute_out);

#endif
