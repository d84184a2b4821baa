/* json_token.c: where a token ends and whether it may stand so (RFC 8259, sections 6 and 7). */
#include "base/json_private.h"

#include <string.h>

#define EXPONENT_DIGITS_MAX 18

bool json_token_stop(struct json_cursor *in, const char *at, const char *detail)
{
	in->at = at;
	in->detail = at == in->end ? "the text ends early" : detail;
	return false;
}

bool json_token_word(struct json_cursor *in, const char *word)
{
	const char *at = in->at;

	for (; *word; word++, at++) {
		if (at == in->end || *at != *word)
			return json_token_stop(in, at, "a value is wanted here");
	}
	in->at = at;
	return true;
}

static bool is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

static const char *past_digits(const char *at, const char *end)
{
	while (is_digit(at, end))
		at++;
	return at;
}

/* `at` is behind the letter e. */
static bool exponent_token(struct json_cursor *in, const char *at)
{
	if (at < in->end && (*at == '+' || *at == '-'))
		at++;
	if (!is_digit(at, in->end))
		return json_token_stop(in, at, "an exponent has no digits");
	while (at < in->end && *at == '0')
		at++;
	const char *digits = at;
	at = past_digits(at, in->end);
	if (at - digits > EXPONENT_DIGITS_MAX)
		return json_token_stop(in, digits + EXPONENT_DIGITS_MAX,
				       "an exponent has more than 18 digits");
	in->at = at;
	return true;
}

bool json_token_number(struct json_cursor *in)
{
	const char *at = in->at;

	if (*at == '-')
		at++;
	if (!is_digit(at, in->end))
		return json_token_stop(in, at, "a number has no digits");
	if (*at == '0') {
		at++;
		if (is_digit(at, in->end))
			return json_token_stop(in, at, "a number begins with a needless zero");
	} else {
		at = past_digits(at, in->end);
	}
	if (at < in->end && *at == '.') {
		at++;
		if (!is_digit(at, in->end))
			return json_token_stop(in, at, "no digit follows the decimal point");
		at = past_digits(at, in->end);
	}
	if (at < in->end && (*at == 'e' || *at == 'E'))
		return exponent_token(in, at + 1);
	in->at = at;
	return true;
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

static unsigned int hex4_value(const char *at)
{
	unsigned int value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 4 | (unsigned int)hex_value(at[i]);
	return value;
}

/* The six bytes \uDC00 to \uDFFF, byte by byte, so that an error's offset is exact. */
static bool low_surrogate_fits(int index, char c)
{
	switch (index) {
	case 0: return c == '\\';
	case 1: return c == 'u';
	case 2: return c == 'd' || c == 'D';
	case 3: return hex_value(c) >= 0xc;
	}
	return hex_value(c) >= 0;
}

static bool low_surrogate_token(struct json_cursor *in)
{
	const char *at = in->at;

	for (int i = 0; i < 6; i++) {
		if (at + i == in->end || !low_surrogate_fits(i, at[i]))
			return json_token_stop(in, at + i, "a surrogate escape stands alone");
	}
	in->at = at + 6;
	return true;
}

/* `at` is behind \u. */
static bool unicode_token(struct json_cursor *in, const char *at)
{
	for (int i = 0; i < 4; i++) {
		if (at + i == in->end || hex_value(at[i]) < 0)
			return json_token_stop(in, at + i,
					       "an escape wants four hexadecimal digits");
		if (i == 1 && hex_value(at[0]) == 0xd && hex_value(at[1]) >= 0xc)
			return json_token_stop(in, at + 1, "a surrogate escape stands alone");
	}
	in->at = at + 4;
	if (hex_value(at[0]) == 0xd && hex_value(at[1]) >= 0x8)
		return low_surrogate_token(in);
	return true;
}

static bool escape_token(struct json_cursor *in)
{
	const char *at = in->at + 1;

	if (at == in->end)
		return json_token_stop(in, at, "");
	switch (*at) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't': in->at = at + 1; return true;
	case 'u': return unicode_token(in, at + 1);
	}
	return json_token_stop(in, at, "there is no such escape");
}

static bool utf8_token(struct json_cursor *in)
{
	size_t bad;
	size_t len = text_utf8_next(in->at, (size_t)(in->end - in->at), &bad);

	if (len == 0)
		return json_token_stop(in, in->at + bad, "a string is not UTF-8");
	in->at += len;
	return true;
}

bool json_token_string(struct json_cursor *in, bool *escaped_out)
{
	*escaped_out = false;
	in->at++;
	for (;;) {
		in->at += text_json_plain(in->at, (size_t)(in->end - in->at));
		if (in->at == in->end)
			return json_token_stop(in, in->at, "");
		unsigned char byte = (unsigned char)*in->at;
		if (byte == '"') {
			in->at++;
			return true;
		}
		if (byte < 0x20)
			return json_token_stop(in, in->at,
					       "a control character stands in a string");
		if (byte == '\\')
			*escaped_out = true;
		if (!(byte == '\\' ? escape_token(in) : utf8_token(in)))
			return false;
	}
}

static char *put_utf8(char *out, unsigned int point)
{
	if (point < 0x80) {
		*out++ = (char)point;
		return out;
	}
	if (point < 0x800) {
		*out++ = (char)(0xc0 | point >> 6);
	} else {
		if (point < 0x10000) {
			*out++ = (char)(0xe0 | point >> 12);
		} else {
			*out++ = (char)(0xf0 | point >> 18);
			*out++ = (char)(0x80 | (point >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (point >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (point & 0x3f));
	return out;
}

/* One escape at *at_io, which moves past it. It is sound: json_token_string() has passed it. */
static char *put_escape(char *out, const char **at_io)
{
	static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *at = *at_io + 1;

	if (*at != 'u') {
		*out++ = meant[strchr(plain, *at) - plain];
		*at_io = at + 1;
		return out;
	}
	unsigned int point = hex4_value(at + 1);
	at += 5;
	if (point >= 0xd800 && point <= 0xdbff) {
		point = 0x10000 + ((point & 0x3ff) << 10) + (hex4_value(at + 2) & 0x3ff);
		at += 6;
	}
	*at_io = at;
	return put_utf8(out, point);
}

size_t json_token_unescape(const char *raw, size_t len, char *out)
{
	const char *end = raw + len, *begin = out;

	while (raw < end) {
		const char *escape = memchr(raw, '\\', (size_t)(end - raw));
		size_t plain = (size_t)((escape ? escape : end) - raw);
		memcpy(out, raw, plain);
		out += plain;
		raw += plain;
		if (escape)
			out = put_escape(out, &raw);
	}
	return (size_t)(out - begin);
}
