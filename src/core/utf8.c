#include "core/utf8.h"

#include <stdint.h>

static bool in_range(unsigned char byte, unsigned char low, unsigned char high)
{
	return byte >= low && byte <= high;
}

/* Table 3-7 of Unicode, chapter 3: what the second byte may be depends on the first. */
size_t utf8_char(const char *bytes, size_t left)
{
	static const struct {
		unsigned char first, last, low, high;
		size_t len;
	} rows[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *u = (const unsigned char *)bytes;

	if (left == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!in_range(u[0], rows[i].first, rows[i].last))
			continue;
		if (left < rows[i].len || !in_range(u[1], rows[i].low, rows[i].high))
			return 0;
		for (size_t k = 2; k < rows[i].len; k++)
			if (!in_range(u[k], 0x80, 0xbf))
				return 0;
		return rows[i].len;
	}
	return 0;
}

bool utf8_valid(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t step = utf8_char(bytes + i, len - i);

		if (step == 0)
			return false;
		i += step;
	}
	return true;
}
