/* id.c: see id.h. */
#include "base/id.h"

#include <string.h>

struct id id_make(int64_t unix_us, const unsigned char random[ID_RANDOM_BYTES])
{
	struct id id;
	uint64_t ms = (uint64_t)(unix_us / 1000);

	for (int i = 0; i < 6; i++)
		id.bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
	memcpy(id.bytes + 6, random, ID_RANDOM_BYTES);
	id.bytes[6] = 0x70 | (id.bytes[6] & 0x0f); /* version 7 */
	id.bytes[8] = 0x80 | (id.bytes[8] & 0x3f); /* RFC 9562's variant */
	return id;
}

bool id_equal(const struct id *a, const struct id *b)
{
	return id_compare(a, b) == 0;
}

int id_compare(const struct id *a, const struct id *b)
{
	return memcmp(a->bytes, b->bytes, ID_BYTES);
}

int id_order(const void *a, const void *b)
{
	return id_compare(a, b);
}

static bool dash_follows(size_t byte)
{
	return byte == 3 || byte == 5 || byte == 7 || byte == 9;
}

char *id_format(const struct id *id, char text_out[ID_TEXT_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";
	char *at = text_out;

	for (size_t i = 0; i < ID_BYTES; i++) {
		*at++ = digits[id->bytes[i] >> 4];
		*at++ = digits[id->bytes[i] & 15];
		if (dash_follows(i))
			*at++ = '-';
	}
	*at = '\0';
	return text_out;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool id_parse(const char *text, size_t len, struct id *id_out)
{
	struct id id;

	if (len != ID_TEXT_LEN)
		return false;
	for (size_t i = 0; i < ID_BYTES; i++) {
		int high = hex_value(text[0]), low = hex_value(text[1]);
		if (high < 0 || low < 0)
			return false;
		id.bytes[i] = (unsigned char)(high << 4 | low);
		text += 2;
		if (dash_follows(i) && *text++ != '-')
			return false;
	}
	*id_out = id;
	return true;
}
