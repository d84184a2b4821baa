/* pattern.h: regular expressions as JSON Schema has them: ECMA-262 with its `u` flag, not anchored.
 *
 * A pattern is read by ECMA-262's grammar and written anew for PCRE2, so nothing passes through
 * that means something else there. Refused: back references (the two differ in what a repeated
 * group has captured), lookbehinds without a fixed length, lone surrogates, and what ECMA-262
 * itself refuses with `u`, such as \Z, \- outside a class or a lone brace. */
#ifndef CORE_PATTERN_H
#define CORE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"

#define PATTERN_MAX_BYTES 4096
#define PATTERN_WHY_MAX 160

/* What one match may cost: about a tenth of a second, and for each byte of the subject so much that
 * a simple pattern gets to its end. */
#define PATTERN_STEPS(len) (UINT64_C(5000000) + 4 * (uint64_t)(len))

struct pattern;

enum pattern_verdict {
	PATTERN_MATCHES,
	PATTERN_DIFFERS,
	PATTERN_UNJUDGED, /* would take too much time or memory, or the subject is no UTF-8 */
	PATTERN_VERDICT__MAX
};

/* RC_OK: *out is the caller's, pattern_free() it; several threads may match with it at once.
 * RC_INVALID: no pattern that can be used; `why` is a sentence part that repeats nothing but single
 * ASCII characters of it. RC_FAULT: no memory. */
MUST_CHECK enum rc pattern_compile(const char *text, size_t len, struct pattern **out,
				   char why[PATTERN_WHY_MAX]);
void pattern_free(struct pattern *pattern); /* NULL is fine */

/* Does it match anywhere in `subject`? *steps_left is the purse of whoever has more to judge:
 * what this match may cost, where that is less than PATTERN_STEPS(), and what is left after. A step
 * is a byte that was looked at or an item of the pattern that was tried, and each match costs some
 * by itself, whatever it is about. */
enum pattern_verdict pattern_match(const struct pattern *pattern, const char *subject, size_t len,
				   uint64_t *steps_left);

#endif
