/* conf.c: the settings as rows. A row is all there is to a setting: reading, refusing and printing
 * go by it. */
#include "base/conf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define AT(member) offsetof(struct conf, member)

static const struct number_row {
	const char *name;
	size_t offset;
	uint32_t min;
	uint32_t max;
	uint32_t fallback;
	const char *meaning;
} numbers[] = {
	{ "ONEJOB_MAX_BODY", AT(max_body_bytes), 1024, 67108864, 1048576,
	  "largest body of a request in bytes; the web server has the same limit" },
	{ "ONEJOB_THREADS", AT(threads), 1, 64, 8,
	  "threads of one process of the API, with a database connection each" },
	{ "ONEJOB_TRUST_OWNER", AT(trust_owner), 0, 1, 0,
	  "1: the FastCGI parameter ONEJOB_OWNER is a user the web server has authenticated" },
	{ "ONEJOB_IN_FLIGHT", AT(in_flight_max), 1, 10000, 960,
	  "requests on the wire at once in one poller" },
	{ "ONEJOB_LEASE_SECONDS", AT(lease_s), 30, 3600, 30,
	  "how long a poller's silence lasts until its attempts count as unknown" },
	{ "ONEJOB_POLL_MS", AT(poll_ms), 10, 60000, 200,
	  "how long an idle poller waits before it looks again, in milliseconds" },
	{ "ONEJOB_GRACE_SECONDS", AT(grace_s), 0, 3600, 30,
	  "how long a poller told to stop waits for answers" },
	{ "ONEJOB_WEBHOOK_PRIVATE", AT(webhook_private), 0, 1, 0,
	  "1: webhooks may go to private addresses, and by way of a proxy; the poller's" },
};

static bool is_path(const char *text)
{
	return text[0] == '/';
}

/* http or https, a host, no blank, quote or brace, no slash at its end: what an address can be put
 * behind. */
static bool is_base_url(const char *text)
{
	size_t scheme = strncmp(text, "https://", 8) == 0  ? 8
			: strncmp(text, "http://", 7) == 0 ? 7
							   : 0;
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7f ||
		    strchr("\"'<>\\^`{|}?#$", text[i]))
			return false;
	return scheme > 0 && len > scheme && len <= 1024 && text[len - 1] != '/';
}

static const struct path_row {
	const char *name;
	size_t offset;
	bool (*valid)(const char *text); /* NULL: whoever uses it tells */
	const char *wanted;
	const char *meaning;
} paths[] = {
	{ "ONEJOB_DEFAULTS_FILE", AT(defaults_file), is_path, "an absolute path",
	  "a MySQL option file instead of the usual ones, by its absolute path" },
	{ "ONEJOB_CALLBACK_URL", AT(callback_base), is_base_url,
	  "an http or https URL without a slash at its end",
	  "this site as providers reach it, for {{callback_url}}; the poller's" },
	{ "ONEJOB_CALLBACK_KEYS", AT(callback_keys), is_path, "an absolute path",
	  "a file with the keys that sign callbacks, a line of hexadecimal digits each; the first "
	  "signs, all verify" },
	{ "ONEJOB_API_SOCKET", AT(api_socket), is_path, "an absolute path",
	  "the unix socket where the API listens, by its absolute path; the doctor tries it" },
	{ "ONEJOB_URL", AT(url), NULL, NULL, "the address of the site; the doctor tries it" },
};

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* Digits and nothing else: no sign, no blank, no unit. */
static bool parse_u32(const char *text, uint32_t *value_out)
{
	uint64_t value = 0;

	if (*text == '\0')
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*value_out = (uint32_t)value;
	return true;
}

static bool load_number(const struct number_row *row, struct conf *conf)
{
	const char *text = getenv(row->name);
	uint32_t value = row->fallback;

	if (text && (!parse_u32(text, &value) || value < row->min || value > row->max)) {
		log_error("conf.refused", "name=%s value=\"%s\" min=%" PRIu32 " max=%" PRIu32,
			  row->name, text, row->min, row->max);
		return false;
	}
	memcpy((char *)conf + row->offset, &value, sizeof value);
	return true;
}

static bool load_path(const struct path_row *row, struct conf *conf)
{
	const char *path = getenv(row->name);

	if (path && row->valid && !row->valid(path)) {
		log_error("conf.refused", "name=%s value=\"%s\" wanted=\"%s\"", row->name, path,
			  row->wanted);
		return false;
	}
	memcpy((char *)conf + row->offset, &path, sizeof path);
	return true;
}

enum rc conf_load(struct conf *conf_out)
{
	struct conf conf;
	bool sound = true;

	/* All of them, so that one start shows every mistake. */
	for (size_t i = 0; i < COUNT(numbers); i++)
		sound &= load_number(&numbers[i], &conf);
	for (size_t i = 0; i < COUNT(paths); i++)
		sound &= load_path(&paths[i], &conf);
	if (!sound)
		return RC_INVALID;
	*conf_out = conf;
	return RC_OK;
}

/* Read by ./run, or set by DIR/env for its user. */
static const char *const beside[] = { "ONEJOB_BUILD", "ONEJOB_BUILT", "ONEJOB_STACK",
				      "ONEJOB_OPERATOR_TOKEN", "ONEJOB_TOKEN" };

static bool is_known(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(numbers) + COUNT(paths) + COUNT(beside); i++) {
		const char *known = i < COUNT(numbers) ? numbers[i].name
				    : i < COUNT(numbers) + COUNT(paths)
					    ? paths[i - COUNT(numbers)].name
					    : beside[i - COUNT(numbers) - COUNT(paths)];

		if (strlen(known) == len && strncmp(known, name, len) == 0)
			return true;
	}
	return false;
}

void conf_strangers(struct text *names)
{
	for (char **at = environ; *at; at++) {
		size_t len = strcspn(*at, "=");

		if (strncmp(*at, "ONEJOB_", 7) == 0 && !is_known(*at, len))
			text_addf(names, "%s%.*s", names->len > 0 ? ", " : "", (int)len, *at);
	}
}

void conf_print(const struct conf *conf, FILE *to)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct number_row *row = &numbers[i];
		uint32_t value;

		memcpy(&value, (const char *)conf + row->offset, sizeof value);
		fprintf(to,
			"%s=%" PRIu32 " (%" PRIu32 " to %" PRIu32 ", default %" PRIu32 "): %s\n",
			row->name, value, row->min, row->max, row->fallback, row->meaning);
	}
	for (size_t i = 0; i < COUNT(paths); i++) {
		const char *path;

		memcpy(&path, (const char *)conf + paths[i].offset, sizeof path);
		fprintf(to, "%s=%s (default: not set): %s\n", paths[i].name, path ? path : "",
			paths[i].meaning);
	}
}
