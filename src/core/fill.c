#include "core/fill.h"

#include <string.h>

static const char *const names[FILL__MAX] = {
	[FILL_REFERENCE] = "reference",
	[FILL_KEY] = "key",
	[FILL_JOB_ID] = "job.id",
	[FILL_ATTEMPT_ID] = "attempt.id",
	[FILL_CALLBACK_URL] = "callback_url",
};

/* One step: plain text, then a placeholder or the end. */
struct step {
	size_t plain_len;
	size_t len;	/* plain text and placeholder together */
	enum fill fill; /* FILL__MAX: none, or a broken one */
	bool broken;
};

static struct step next_step(const char *text, size_t len)
{
	const char *open = memmem(text, len, "{{", 2);
	struct step step = { len, len, FILL__MAX, false };

	if (!open)
		return step;
	const char *name = open + 2;
	size_t left = len - (size_t)(name - text);
	const char *close = memmem(name, left, "}}", 2);

	step.plain_len = (size_t)(open - text);
	step.broken = true;
	for (int i = 0; close && i < FILL__MAX; i++) {
		if (strlen(names[i]) != (size_t)(close - name) ||
		    memcmp(names[i], name, strlen(names[i])) != 0)
			continue;
		step.fill = (enum fill)i;
		step.len = (size_t)(close + 2 - text);
		step.broken = false;
	}
	return step;
}

unsigned int fill_names(const char *text, size_t len, bool *broken_out)
{
	unsigned int found = 0;

	*broken_out = false;
	while (len > 0) {
		struct step step = next_step(text, len);

		*broken_out = *broken_out || step.broken;
		if (step.fill != FILL__MAX)
			found |= 1u << step.fill;
		text += step.len;
		len -= step.len;
	}
	return found;
}

static void add_encoded(struct text *out, const char *value)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

	for (; *value; value++) {
		if (strchr(plain, *value))
			text_add(out, value, 1);
		else
			text_addf(out, "%%%02X", (unsigned char)*value);
	}
}

enum rc fill_text(const char *text, size_t len, const struct fill_values *values, bool url,
		  struct text *out, const char **missing_out)
{
	while (len > 0) {
		struct step step = next_step(text, len);

		text_add(out, text, step.broken ? step.len : step.plain_len);
		if (step.fill != FILL__MAX) {
			const char *value = values->values[step.fill];

			if (!value) {
				*missing_out = names[step.fill];
				return RC_INVALID;
			}
			if (url)
				add_encoded(out, value);
			else
				text_add_str(out, value);
		}
		text += step.len;
		len -= step.len;
	}
	*missing_out = NULL;
	return text_rc(out);
}
