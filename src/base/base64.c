/* base64.c: see base64.h. */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t len, char *text_out)
{
	const unsigned char *in = bytes;
	char *out = text_out;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned int group = (unsigned int)in[i] << 16;

		if (left > 1)
			group |= (unsigned int)in[i + 1] << 8;
		if (left > 2)
			group |= in[i + 2];
		*out++ = digits[group >> 18];
		*out++ = digits[group >> 12 & 63];
		*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[group & 63] : '=';
	}
	*out = '\0';
	return text_out;
}

static bool digit_value(char digit, unsigned int *value_out)
{
	const char *at = digit == '\0' ? NULL : strchr(digits, digit);

	if (!at)
		return false;
	*value_out = (unsigned int)(at - digits);
	return true;
}

/* The bytes of one group of four; 0: it is none. Padding stands at the text's end only. */
static size_t group_bytes(const char group[4], bool last, unsigned char bytes_out[3])
{
	size_t padding = 0;
	unsigned int bits = 0, value;

	if (last && group[3] == '=')
		padding = group[2] == '=' ? 2 : 1;
	for (size_t i = 0; i < 4 - padding; i++) {
		if (!digit_value(group[i], &value))
			return 0;
		bits |= value << (18 - 6 * i);
	}
	if ((padding == 1 && bits & 0xff) || (padding == 2 && bits & 0xffff))
		return 0;
	for (size_t i = 0; i < 3; i++)
		bytes_out[i] = (unsigned char)(bits >> (16 - 8 * i));
	return 3 - padding;
}

bool base64_decode(const char *text, size_t len, void *bytes_out, size_t size, size_t *len_out)
{
	unsigned char *out = bytes_out, group[3];
	size_t got = 0;

	if (len % 4 != 0)
		return false;
	for (size_t i = 0; i < len; i += 4) {
		size_t count = group_bytes(text + i, i + 4 == len, group);

		if (count == 0 || count > size - got)
			return false;
		memcpy(out + got, group, count);
		got += count;
	}
	*len_out = got;
	return true;
}
