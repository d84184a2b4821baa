#include "core/flaws.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

#define PART_MAX_BYTES 256
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define CUT_MARK "\xe2\x80\xa6"	   /* U+2026: what follows was too long to be shown */

/* One text of a flaw, always valid UTF-8 and never longer than PART_MAX_BYTES, however long or
 * broken its source. */
struct part {
	char bytes[PART_MAX_BYTES + 1];
	size_t len;
	bool full;
};

static void part_add(struct part *part, const char *bytes, size_t len)
{
	if (part->full)
		return;
	if (part->len + len > PART_MAX_BYTES - strlen(CUT_MARK)) {
		bytes = CUT_MARK;
		len = strlen(CUT_MARK);
		part->full = true;
	}
	memcpy(part->bytes + part->len, bytes, len);
	part->len += len;
	part->bytes[part->len] = '\0';
}

/* Strangers choose member names: NUL and broken UTF-8 become U+FFFD, and a pointer's own two
 * characters are escaped. */
static void part_add_safely(struct part *part, const char *bytes, size_t len, bool escape)
{
	for (size_t i = 0; i < len && !part->full;) {
		size_t step = utf8_char(bytes + i, len - i);

		if (step == 0 || bytes[i] == '\0') {
			part_add(part, REPLACEMENT, strlen(REPLACEMENT));
			i++;
			continue;
		}
		if (escape && bytes[i] == '~')
			part_add(part, "~0", 2);
		else if (escape && bytes[i] == '/')
			part_add(part, "~1", 2);
		else
			part_add(part, bytes + i, step);
		i += step;
	}
}

void flaws_init(struct flaws *flaws)
{
	memset(flaws, 0, sizeof *flaws);
}

void flaws_release(struct flaws *flaws)
{
	for (size_t i = 0; i < flaws->len; i++) {
		free(flaws->list[i].pointer);
		free(flaws->list[i].detail);
	}
	flaws_init(flaws);
}

void flaws_add(struct flaws *flaws, const char *parent, const char *member, size_t member_len,
	       const char *format, ...)
{
	struct part pointer = { .len = 0 }, detail = { .len = 0 };
	char sentence[4 * PART_MAX_BYTES];
	va_list args;

	flaws->count++;
	if (flaws->len == FLAWS_MAX)
		return;

	part_add_safely(&pointer, parent, strlen(parent), false);
	if (member && member_len > 0) {
		part_add(&pointer, "/", 1);
		part_add_safely(&pointer, member, member_len, true);
	}

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	part_add_safely(&detail, sentence, strlen(sentence), false);

	struct flaw flaw = { .pointer = strdup(pointer.bytes), .detail = strdup(detail.bytes) };
	if (!flaw.pointer || !flaw.detail) {
		free(flaw.pointer);
		free(flaw.detail);
		return; /* it is counted, and that is what refuses */
	}
	flaws->list[flaws->len++] = flaw;
}
