/* words.h: what strangers have named, put into a sentence for people. */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#include <stddef.h>

#include "base/text.h"

#define WORDS_NAME_MAX 200 /* bytes that a name may take in a sentence, its quotes not counted */

/* Adds the name in double quotes: one line, valid UTF-8 whatever comes in (controls, NUL and broken
 * bytes become '?'), cut with an ellipsis where it is long. */
void words_add_name(struct text *out, const char *name, size_t len);

#endif
