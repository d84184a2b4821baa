/* input.c: see input.h. */
#include "ctl/input.h"

#include <errno.h>
#include <string.h>

#include "core/intent.h"
#include "ctl/print.h"

#define LENGTH_MAX_S (UINT64_C(36500) * 86400)
#define LIST_LIMIT_MAX 200
#define LIST_LIMIT_DEFAULT 50
#define CHUNK_BYTES 65536

bool input_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > max)
			return false;
	}
	if (number < min)
		return false;
	*number_out = (uint32_t)number;
	return true;
}

bool input_length(const char *text, uint64_t *seconds_out)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	uint64_t number = 0;
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 12 || strlen(text) != digits + 1)
		return false;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (text[digits] != units[i].unit)
			continue;
		if (number == 0 || number > LENGTH_MAX_S / units[i].seconds)
			return false;
		*seconds_out = number * units[i].seconds;
		return true;
	}
	return false;
}

bool input_owner(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > OWNER_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < 0x20 || byte == 0x7f)
			return false;
	}
	return true;
}

static enum ctl_exit read_all(struct ctl *ctl, const char *path, FILE *from, struct text *out)
{
	char chunk[CHUNK_BYTES];
	size_t got;

	while ((got = fread(chunk, 1, sizeof chunk, from)) > 0) {
		if (got > out->cap - out->len) {
			ctl_say(ctl, "%s: more than %zu bytes", path, out->cap);
			return CTL_REFUSED;
		}
		text_add(out, chunk, got);
		if (!text_ok(out)) {
			ctl_say(ctl, "out of memory");
			return CTL_REFUSED;
		}
	}
	if (ferror(from)) {
		ctl_say(ctl, "%s: %s", path, strerror(errno));
		return CTL_REFUSED;
	}
	return CTL_DONE;
}

const char *input_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum ctl_exit input_file(struct ctl *ctl, const char *path, struct text *out)
{
	if (strcmp(path, "-") == 0)
		return read_all(ctl, input_name(path), stdin, out);
	FILE *from = fopen(path, "rb");
	if (!from) {
		ctl_say(ctl, "%s: %s", path, strerror(errno));
		return CTL_REFUSED;
	}
	enum ctl_exit end = read_all(ctl, path, from, out);
	fclose(from);
	return end;
}

enum ctl_exit input_json(struct ctl *ctl, const char *what, const struct text *bytes,
			 struct json_doc **doc_out)
{
	struct json_error error;

	switch (json_parse(bytes->bytes ? bytes->bytes : "", bytes->len, INTENT_DEPTH_MAX, doc_out,
			   &error)) {
	case RC_OK: return CTL_DONE;
	case RC_INVALID:
		ctl_say(ctl, "%s is not JSON: at byte %zu, %s", what, error.offset, error.detail);
		return CTL_REFUSED;
	case RC_CONFLICT:
	case RC_RETRY:
	case RC_UNCERTAIN:
	case RC_FAULT:
	case RC_NOT_FOUND:
	case RC__MAX: break;
	}
	ctl_say(ctl, "out of memory");
	return CTL_REFUSED;
}

enum ctl_exit input_flaws(struct ctl *ctl, const char *what, const struct flaws *flaws)
{
	ctl_say(ctl, "%s: %zu flaw%s; nothing was changed", what, flaws->count,
		flaws->count == 1 ? "" : "s");
	for (size_t i = 0; i < flaws->len; i++) {
		const struct flaw *flaw = &flaws->list[i];

		print_line(ctl->err, "%s: %s", flaw->pointer[0] ? flaw->pointer : "(the whole)",
			   flaw->detail);
	}
	return CTL_REFUSED;
}

enum ctl_exit input_page(struct ctl *ctl, const struct args *args, struct input_page *page_out)
{
	const char *limit = args->option[OPTION_LIMIT];
	const char *before = args->option[OPTION_BEFORE];

	*page_out =
		(struct input_page){ .limit = LIST_LIMIT_DEFAULT, .has_before = before != NULL };
	if (limit && !input_number(limit, 1, LIST_LIMIT_MAX, &page_out->limit))
		return ctl_usage(ctl, "--limit %s: a number from 1 to %d", limit, LIST_LIMIT_MAX);
	return before ? ctl_read_id(ctl, "a row", before, &page_out->before) : CTL_DONE;
}
