/* text.c: see text.h. */
#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 64

void text_init(struct text *text, size_t cap_bytes)
{
	assert(cap_bytes < SIZE_MAX / 2);
	*text = (struct text){ .cap = cap_bytes };
}

void text_release(struct text *text)
{
	free(text->bytes);
	text_init(text, text->cap);
}

void text_clear(struct text *text)
{
	text->len = 0;
	text->failed = text->full = false;
	if (text->bytes)
		text->bytes[0] = '\0';
}

/* Makes room for `more` bytes and the NUL. Doubling keeps many small additions linear. */
static bool reserve(struct text *text, size_t more)
{
	if (text->failed)
		return false;
	if (more > text->cap - text->len) {
		text->full = true;
		goto fail;
	}
	size_t need = text->len + more + 1;
	if (need <= text->size)
		return true;
	size_t size = text->size ? text->size * 2 : FIRST_BYTES;
	if (size > text->cap + 1)
		size = text->cap + 1;
	if (size < need)
		size = need;
	char *bytes = realloc(text->bytes, size);
	if (!bytes)
		goto fail;
	text->bytes = bytes;
	text->size = size;
	return true;
fail:
	text->failed = true;
	return false;
}

void text_add(struct text *text, const void *bytes, size_t len)
{
	if (!reserve(text, len))
		return;
	if (len > 0)
		memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

void text_add_str(struct text *text, const char *str)
{
	text_add(text, str, strlen(str));
}

/* What fits into the room that is there, which is most, is formatted once. */
void text_addf(struct text *text, const char *format, ...)
{
	size_t room = text->failed ? 0 : text->size - text->len;
	va_list args;

	va_start(args, format);
	int len = vsnprintf(room ? text->bytes + text->len : NULL, room, format, args);
	va_end(args);
	if (len < 0 || !reserve(text, (size_t)len)) {
		if (room)
			text->bytes[text->len] = '\0';
		text->failed = true;
		return;
	}
	if ((size_t)len >= room) {
		va_start(args, format);
		vsnprintf(text->bytes + text->len, (size_t)len + 1, format, args);
		va_end(args);
	}
	text->len += (size_t)len;
}

void text_add_hex(struct text *text, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;

	if (!reserve(text, len > text->cap / 2 ? text->cap + 1 : len * 2))
		return;
	for (size_t i = 0; i < len; i++) {
		text->bytes[text->len++] = digits[from[i] >> 4];
		text->bytes[text->len++] = digits[from[i] & 15];
	}
	text->bytes[text->len] = '\0';
}

size_t text_utf8_next(const char *bytes, size_t len, size_t *bad_out)
{
	const unsigned char *at = (const unsigned char *)bytes;
	unsigned int low = 0x80, high = 0xbf; /* the bounds of the second byte */
	size_t need;

	*bad_out = 0;
	if (len == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	need = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	switch (at[0]) {
	case 0xe0: low = 0xa0; break;  /* below: overlong */
	case 0xed: high = 0x9f; break; /* above: surrogates */
	case 0xf0: low = 0x90; break;  /* below: overlong */
	case 0xf4: high = 0x8f; break; /* above: past U+10FFFF */
	}
	for (size_t i = 1; i < need; i++) {
		if (i == len || at[i] < low || at[i] > high) {
			*bad_out = i;
			return 0;
		}
		low = 0x80;
		high = 0xbf;
	}
	return need;
}

static const bool json_plain[256] = {
	[0x20 ... 0x21] = true,
	[0x23 ... 0x5b] = true,
	[0x5d ... 0x7f] = true,
};

size_t text_json_plain(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && json_plain[(unsigned char)bytes[at]])
		at++;
	return at;
}

/* One byte that can't stand in a JSON string as it is. */
static void add_json_escape(struct text *text, unsigned char byte)
{
	switch (byte) {
	case '"': text_add(text, "\\\"", 2); return;
	case '\\': text_add(text, "\\\\", 2); return;
	case '\b': text_add(text, "\\b", 2); return;
	case '\f': text_add(text, "\\f", 2); return;
	case '\n': text_add(text, "\\n", 2); return;
	case '\r': text_add(text, "\\r", 2); return;
	case '\t': text_add(text, "\\t", 2); return;
	}
	if (byte >= 0x80)
		text_add(text, "\xef\xbf\xbd", 3);
	else
		text_addf(text, "\\u%04x", byte);
}

void text_add_json_string(struct text *text, const char *bytes, size_t len)
{
	size_t from = 0, at = 0;

	text_add(text, "\"", 1);
	while (at < len) {
		size_t plain = text_json_plain(bytes + at, len - at);
		at += plain;
		if (plain > 0)
			continue;
		size_t bad;
		size_t sequence = text_utf8_next(bytes + at, len - at, &bad);
		if (sequence > 1) {
			at += sequence;
			continue;
		}
		text_add(text, bytes + from, at - from);
		add_json_escape(text, (unsigned char)bytes[at]);
		from = ++at;
	}
	if (from < len)
		text_add(text, bytes + from, len - from);
	text_add(text, "\"", 1);
}

bool text_ok(const struct text *text)
{
	return !text->failed;
}

enum rc text_rc(const struct text *text)
{
	if (!text->failed)
		return RC_OK;
	return text->full ? RC_INVALID : RC_FAULT;
}

char *text_take(struct text *text)
{
	text_add(text, "", 0); /* so that there is a NUL to give away */
	if (!text_ok(text)) {
		text_release(text);
		return NULL;
	}
	char *bytes = text->bytes;
	text_init(text, text->cap);
	return bytes;
}
