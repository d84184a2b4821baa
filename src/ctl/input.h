/* input.h: what the command line points to or spells out: files, lengths of time, counts, names. */
#ifndef CTL_INPUT_H
#define CTL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "core/flaws.h"
#include "ctl/command.h"
#include "ctl/ctl.h"

/* "30s", "15m", "12h", "90d": digits and one unit, more than nothing, up to a hundred years. */
bool input_length(const char *text, uint64_t *seconds_out);

/* Digits alone, within [min, max]. */
bool input_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out);

/* 1 to 255 bytes and no control bytes. */
bool input_owner(const char *text);

/* The whole file, or standard input for "-", into `out`, whose cap is what it may hold. Anything
 * but CTL_DONE has been said. */
enum ctl_exit input_file(struct ctl *ctl, const char *path, struct text *out);

const char *input_name(const char *path); /* for messages */

/* The bytes as one strict JSON text; `what` and the offset are in the message. The document points
 * into `bytes`. */
enum ctl_exit input_json(struct ctl *ctl, const char *what, const struct text *bytes,
			 struct json_doc **doc_out);

/* The flaws of a definition, on `err`: nothing was changed. CTL_REFUSED. */
enum ctl_exit input_flaws(struct ctl *ctl, const char *what, const struct flaws *flaws);

/* --limit and --before, which all lists have. */
struct input_page {
	uint32_t limit;
	bool has_before;
	struct id before;
};
enum ctl_exit input_page(struct ctl *ctl, const struct args *args, struct input_page *page_out);

#endif
