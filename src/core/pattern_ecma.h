/* pattern_ecma.h: from ECMA-262's grammar of patterns to PCRE2's. Private to pattern.c. */
#ifndef CORE_PATTERN_ECMA_H
#define CORE_PATTERN_ECMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "core/pattern.h"

/* False: `why` says what is wrong. `out` may have failed (see text.h), whatever is returned. */
bool pattern_ecma_translate(const char *text, size_t len, struct text *out,
			    char why[PATTERN_WHY_MAX]);

/* PCRE2's name for what stands in \p{...}, into `name_out`; false where ECMA-262 has no such
 * property or it isn't one of those that both have. See pattern_property.c. */
#define PATTERN_PROPERTY_MAX 64
bool pattern_property(const char *text, size_t len, char name_out[PATTERN_PROPERTY_MAX]);

#endif
