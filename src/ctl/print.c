/* print.c: see print.h. */
#include "ctl/print.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/timestamp.h"

#define LINE_MAX_BYTES (256u << 20) /* a result of 64 MiB, each byte escaped to four */

/* The code point of the well-formed sequence of `len` bytes. */
static uint32_t code_point(const char *bytes, size_t len)
{
	static const unsigned char lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (unsigned char)bytes[0] & lead_bits[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
	return code;
}

/* What may move the cursor, end a line, or show text in another order than it is. */
static bool acts_on_terminal(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

void print_escape(struct text *out, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t bad;
		size_t step = text_utf8_next(bytes + at, len - at, &bad);
		bool plain = step > 0 && !acts_on_terminal(code_point(bytes + at, step));

		if (step == 0)
			step = 1;
		if (plain)
			text_add(out, bytes + at, step);
		for (size_t i = 0; !plain && i < step; i++)
			text_addf(out, "\\x%02x", (unsigned char)bytes[at + i]);
		at += step;
	}
}

void print_vline(FILE *to, const char *format, va_list args)
{
	char *raw = NULL;
	struct text line;
	int len = vasprintf(&raw, format, args);

	text_init(&line, LINE_MAX_BYTES);
	if (len >= 0)
		print_escape(&line, raw, (size_t)len);
	text_add_str(&line, "\n");
	if (len >= 0 && text_ok(&line))
		fwrite(line.bytes, 1, line.len, to);
	else
		fputs("(a line too long for the memory)\n", to);
	text_release(&line);
	if (len >= 0)
		free(raw);
}

void print_line(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_vline(to, format, args);
	va_end(args);
}

/* In JSON what is dangerous can only stand inside strings (but white space, which stays), so \u
 * fits wherever it is. */
static void add_json_safely(struct text *out, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t bad;
		size_t step = text_utf8_next(bytes + at, len - at, &bad);
		uint32_t code = step ? code_point(bytes + at, step) : 0xfffd;
		bool space = code == '\n' || code == '\t' || code == '\r';

		if (step == 0)
			text_add_str(out, "\xef\xbf\xbd");
		else if (acts_on_terminal(code) && !space)
			text_addf(out, "\\u%04" PRIx32, code);
		else
			text_add(out, bytes + at, step);
		at += step ? step : 1;
	}
}

bool print_json(FILE *to, struct json_object *object, bool indented)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	size_t len = 0;
	struct text safe;

	flags |= indented ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
			  : JSON_C_TO_STRING_PLAIN;
	const char *json = json_object_to_json_string_length(object, flags, &len);
	if (!json)
		return false;
	text_init(&safe, LINE_MAX_BYTES);
	add_json_safely(&safe, json, len);
	text_add_str(&safe, "\n");
	bool whole = text_ok(&safe);
	if (whole)
		fwrite(safe.bytes, 1, safe.len, to);
	text_release(&safe);
	return whole;
}

char *print_age(int64_t length_us, char age_out[PRINT_AGE_MAX])
{
	int64_t seconds = length_us > 0 ? length_us / 1000000 : 0;

	if (seconds < 120)
		snprintf(age_out, PRINT_AGE_MAX, "%" PRId64 "s", seconds);
	else if (seconds < 120 * 60)
		snprintf(age_out, PRINT_AGE_MAX, "%" PRId64 "m", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(age_out, PRINT_AGE_MAX, "%" PRId64 "h", seconds / 3600);
	else
		snprintf(age_out, PRINT_AGE_MAX, "%" PRId64 "d", seconds / 86400);
	return age_out;
}

char *print_time(int64_t us, char time_out[PRINT_TIME_MAX])
{
	char whole[TIMESTAMP_TEXT_LEN + 1];

	time_out[0] = '\0';
	if (us != 0 && us >= TIMESTAMP_MIN_US && us <= TIMESTAMP_MAX_US)
		snprintf(time_out, PRINT_TIME_MAX, "%.19sZ", timestamp_format(us, whole));
	return time_out;
}
