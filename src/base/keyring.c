#include "base/keyring.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define LINE_MAX_BYTES 512

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns NULL, or what is wrong with the line. */
static const char *read_key(struct keyring *ring, const char *line, size_t len)
{
	if (ring->len == KEYRING_MAX)
		return "more than 4 keys";
	if (len % 2 != 0 || len < 2 * KEY_BYTES_MIN || len > 2 * KEY_BYTES_MAX)
		return "a key must have 64 to 256 hexadecimal digits, an even number";
	for (size_t i = 0; i < len; i += 2) {
		int upper = hex_digit(line[i]), lower = hex_digit(line[i + 1]);

		if (upper < 0 || lower < 0)
			return "a key must have hexadecimal digits only";
		ring->keys[ring->len].bytes[i / 2] = (unsigned char)(upper << 4 | lower);
	}
	ring->keys[ring->len++].len = len / 2;
	return NULL;
}

static const char *read_keys(struct keyring *ring, FILE *file)
{
	char line[LINE_MAX_BYTES + 2];
	const char *flaw = NULL;

	while (!flaw && fgets(line, sizeof line, file)) {
		size_t len = strcspn(line, "\r\n");

		if (len > LINE_MAX_BYTES)
			flaw = "a line is too long";
		else if (len > 0 && line[0] != '#')
			flaw = read_key(ring, line, len);
	}
	explicit_bzero(line, sizeof line);
	if (!flaw && ferror(file))
		flaw = "it can't be read";
	return !flaw && ring->len == 0 ? "it holds no key" : flaw;
}

enum rc keyring_load(const char *path, struct keyring *keyring_out)
{
	const char *flaw = "it can't be opened";
	FILE *file;

	*keyring_out = (struct keyring){ .len = 0 };
	if (!path)
		return RC_OK;
	file = fopen(path, "re");
	if (file) {
		flaw = read_keys(keyring_out, file);
		fclose(file);
	}
	if (!flaw)
		return RC_OK;
	log_error("keyring.refused", "file=\"%s\" flaw=\"%s\"", path, flaw);
	keyring_release(keyring_out);
	return RC_INVALID;
}

void keyring_release(struct keyring *keyring)
{
	explicit_bzero(keyring, sizeof *keyring);
}
