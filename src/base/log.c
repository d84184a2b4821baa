/* log.c: a line is built in one buffer and written with one write(2), so lines of several processes
 * don't mix. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/timestamp.h"

#define LINE_BYTES 4096 /* with the newline */
#define CUT "..."

struct line {
	char bytes[LINE_BYTES];
	size_t len;
	size_t keep; /* as far as the line may stay if it has to be cut */
	bool cut;
};

static const char *program_name = "onejob";

void log_open(const char *program)
{
	program_name = program;
}

/* One character or one escape, never a part of it. The last byte is the newline's. */
static void add_unit(struct line *line, const char *unit, size_t len)
{
	if (line->cut || line->len + len > LINE_BYTES - 1) {
		line->cut = true;
		return;
	}
	memcpy(line->bytes + line->len, unit, len);
	line->len += len;
	if (line->len <= LINE_BYTES - 1 - strlen(CUT))
		line->keep = line->len;
}

static void add_escaped(struct line *line, const char *bytes, size_t len)
{
	char escape[5];
	size_t bad;

	for (size_t at = 0; at < len;) {
		size_t unit = text_utf8_next(bytes + at, len - at, &bad);
		unsigned char first = (unsigned char)bytes[at];
		bool control = unit == 1 && (first < 0x20 || first == 0x7f);
		bool control_c1 = unit == 2 && first == 0xc2 && (unsigned char)bytes[at + 1] < 0xa0;

		if (unit > 0 && !control && !control_c1) {
			add_unit(line, bytes + at, unit);
			at += unit;
			continue;
		}
		snprintf(escape, sizeof escape, "\\x%02x", first);
		add_unit(line, escape, 4);
		at++;
	}
}

static void add_word(struct line *line, const char *word)
{
	add_escaped(line, word, strlen(word));
	add_unit(line, " ", 1);
}

static void end_and_write(struct line *line)
{
	if (line->cut) {
		memcpy(line->bytes + line->keep, CUT, strlen(CUT));
		line->len = line->keep + strlen(CUT);
	} else if (line->bytes[line->len - 1] == ' ') {
		line->len--; /* no arguments */
	}
	line->bytes[line->len++] = '\n';
	ssize_t written;
	do
		written = write(STDERR_FILENO, line->bytes, line->len);
	while (written < 0 && errno == EINTR);
}

static void write_event(const char *level, const char *event, const char *format, va_list args)
{
	struct line line = { .len = 0 };
	char stamp[TIMESTAMP_TEXT_LEN + 1], arguments[LINE_BYTES];
	int errno_before = errno; /* a caller may log first and look at errno then */

	add_word(&line, timestamp_format(clock_real_us(), stamp));
	add_word(&line, level);
	add_word(&line, program_name);
	add_word(&line, event);
	errno = errno_before; /* for %m */
	int len = vsnprintf(arguments, sizeof arguments, format, args);
	if (len < 0)
		len = snprintf(arguments, sizeof arguments, "arguments=lost");
	/* What vsnprintf() cuts is longer than a line, so the line is cut before that. */
	add_escaped(&line, arguments, strnlen(arguments, sizeof arguments));
	end_and_write(&line);
	errno = errno_before;
}

#define WRITE_EVENT(level)                                                                         \
	do {                                                                                       \
		va_list args;                                                                      \
		va_start(args, format);                                                            \
		write_event(level, event, format, args);                                           \
		va_end(args);                                                                      \
	} while (0)

void log_info(const char *event, const char *format, ...)
{
	WRITE_EVENT("info");
}

void log_warning(const char *event, const char *format, ...)
{
	WRITE_EVENT("warning");
}

void log_error(const char *event, const char *format, ...)
{
	WRITE_EVENT("error");
}
