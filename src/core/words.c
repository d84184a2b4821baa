#include "core/words.h"

#include <stdbool.h>

#include "core/utf8.h"

#define CUT_MARK "\xe2\x80\xa6" /* U+2026 */

void words_add_name(struct text *out, const char *name, size_t len)
{
	size_t used = 0;

	text_add_str(out, "\"");
	for (size_t i = 0; i < len;) {
		size_t step = utf8_char(name + i, len - i);
		bool plain = step > 0 && (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;

		if (used + step > WORDS_NAME_MAX) {
			text_add_str(out, CUT_MARK);
			break;
		}
		text_add(out, plain ? name + i : "?", plain ? step : 1);
		used += plain ? step : 1;
		i += step > 0 ? step : 1;
	}
	text_add_str(out, "\"");
}
