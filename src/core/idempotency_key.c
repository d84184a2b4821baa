/* idempotency_key.c: both forms of the header's value. */
#include "core/idempotency_key.h"

#include <stdbool.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *key_add(struct idempotency_key *key, char c)
{
	if (key->len == KEY_MAX)
		return "the key is longer than 255 bytes";
	key->bytes[key->len++] = c;
	return NULL;
}

/* An sf-string of RFC 8941, 3.3.3. `at` stands after the opening quote. */
static const char *read_quoted(const char *at, const char *end, struct idempotency_key *key)
{
	const char *flaw = NULL;

	while (!flaw && at < end && *at != '"') {
		if (*at == '\\') {
			at++;
			if (at == end || (*at != '"' && *at != '\\'))
				return "a backslash in a quoted key stands before a quote or a "
				       "backslash only";
		}
		if (*at < 0x20 || *at > 0x7e)
			return "a quoted key holds printable ASCII only";
		flaw = key_add(key, *at++);
	}
	if (flaw)
		return flaw;
	if (at == end)
		return "the closing quote is missing";
	if (at + 1 != end)
		return "something follows the closing quote";
	return NULL;
}

static const char *read_bare(const char *at, const char *end, struct idempotency_key *key)
{
	const char *flaw = NULL;

	for (; !flaw && at < end; at++) {
		if (*at == '"' || *at == ',')
			return "a key without quotes holds no quote and no comma";
		if (*at < 0x21 || *at > 0x7e)
			return "a key without quotes holds visible ASCII only";
		flaw = key_add(key, *at);
	}
	return flaw;
}

const char *idempotency_key_parse(const char *value, size_t len, struct idempotency_key *key_out)
{
	struct idempotency_key key = { .len = 0 };
	const char *end = value + len;
	const char *flaw;

	while (value < end && is_blank(*value))
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	if (value < end && *value == '"')
		flaw = read_quoted(value + 1, end, &key);
	else
		flaw = read_bare(value, end, &key);
	if (flaw)
		return flaw;
	if (key.len == 0)
		return "the key is empty";
	*key_out = key;
	return NULL;
}
