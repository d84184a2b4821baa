/* printshop_buf.c: see the header. */
#include "printshop_buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_BYTES = 64 << 10, FIRST_BYTES = 1024, LINE_BYTES = 512 };

void buf_release(struct buf *buf)
{
	free(buf->bytes);
	*buf = (struct buf){ .cap = buf->cap };
}

void buf_clear(struct buf *buf)
{
	if (buf->size > KEEP_BYTES)
		buf_release(buf);
	buf->len = 0;
	buf->failed = false;
}

void buf_consume(struct buf *buf, size_t len)
{
	if (len >= buf->len) {
		buf_clear(buf);
		return;
	}
	memmove(buf->bytes, buf->bytes + len, buf->len - len);
	buf->len -= len;
}

char *buf_room(struct buf *buf, size_t len)
{
	size_t cap = buf->cap ? buf->cap : BUF_CAP_BYTES;

	if (buf->failed || len > cap - buf->len) {
		buf->failed = true;
		return NULL;
	}
	if (buf->size - buf->len < len) {
		size_t size = buf->size ? buf->size : FIRST_BYTES;

		while (size < buf->len + len)
			size *= 2;
		char *bytes = realloc(buf->bytes, size);
		if (!bytes) {
			buf->failed = true;
			return NULL;
		}
		buf->bytes = bytes;
		buf->size = size;
	}
	return buf->bytes + buf->len;
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	char *room = buf_room(buf, len);
	if (!room)
		return;
	memcpy(room, bytes, len);
	buf->len += len;
}

void buf_add_str(struct buf *buf, const char *str)
{
	buf_add(buf, str, strlen(str));
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof line) {
		buf->failed = true;
		return;
	}
	buf_add(buf, line, (size_t)len);
}

/* How many bytes the UTF-8 sequence at `at` takes (RFC 3629, table in section 4); 0 where there is
 * none. */
static size_t utf8_len(const unsigned char *at, size_t left)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t len;

	if (at[0] < 0x80)
		return 1;
	if (at[0] >= 0xC2 && at[0] <= 0xDF)
		len = 2;
	else if (at[0] >= 0xE0 && at[0] <= 0xEF)
		len = 3;
	else if (at[0] >= 0xF0 && at[0] <= 0xF4)
		len = 4;
	else
		return 0;
	if (at[0] == 0xE0)
		low = 0xA0;
	else if (at[0] == 0xED)
		high = 0x9F;
	else if (at[0] == 0xF0)
		low = 0x90;
	else if (at[0] == 0xF4)
		high = 0x8F;
	if (left < len || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (at[i] < 0x80 || at[i] > 0xBF)
			return 0;
	}
	return len;
}

void buf_add_json(struct buf *buf, const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *)bytes;

	buf_add(buf, "\"", 1);
	for (size_t i = 0; i < len;) {
		size_t step = utf8_len(at + i, len - i);

		if (step == 0) {
			buf_add_str(buf, "\\ufffd");
			step = 1;
		} else if (at[i] == '"' || at[i] == '\\') {
			buf_add(buf, (char[]){ '\\', (char)at[i] }, 2);
		} else if (at[i] < 0x20 || at[i] == 0x7F) {
			buf_addf(buf, "\\u%04x", at[i]);
		} else {
			buf_add(buf, at + i, step);
		}
		i += step;
	}
	buf_add(buf, "\"", 1);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool buf_add_urldecoded(struct buf *buf, const char *bytes, size_t len, bool plus)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];

		if (c == '%') {
			int high = len - i > 2 ? hex_digit(bytes[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(bytes[i + 2]) : -1;

			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		buf_add(buf, &c, 1);
	}
	return true;
}
