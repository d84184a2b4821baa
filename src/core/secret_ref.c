#include "core/secret_ref.h"

#include <stdbool.h>
#include <string.h>

#define OPEN "${"
#define ENV_OPEN "${env:"
#define FILE_OPEN "${file:"

static bool starts_with(const char *text, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

static bool name_byte(char byte, bool first)
{
	return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_' ||
	       (!first && byte >= '0' && byte <= '9');
}

static bool env_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!name_byte(name[i], i == 0))
			return false;
	return len > 0 && len <= SECRET_NAME_MAX;
}

static bool absolute_path(const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
			return false;
	return len > 1 && len <= SECRET_NAME_MAX && path[0] == '/';
}

static const char *find_open(const char *value, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (starts_with(value + i, len - i, OPEN))
			return value + i;
	return NULL;
}

struct secret_ref secret_ref_next(const char *value, size_t len)
{
	const char *start = find_open(value, len);
	struct secret_ref ref = { .plain_len = len, .kind = SECRET_NONE, .len = len };

	if (!start)
		return ref;
	ref.plain_len = (size_t)(start - value);
	ref.kind = SECRET_BROKEN;

	size_t left = len - ref.plain_len;
	const char *close = memchr(start, '}', left);
	if (!close)
		return ref;

	bool env = starts_with(start, left, ENV_OPEN), file = starts_with(start, left, FILE_OPEN);
	if (!env && !file)
		return ref;
	ref.name = start + strlen(env ? ENV_OPEN : FILE_OPEN);
	ref.name_len = (size_t)(close - ref.name);
	if (env ? !env_name(ref.name, ref.name_len) : !absolute_path(ref.name, ref.name_len))
		return ref;
	ref.kind = env ? SECRET_ENV : SECRET_FILE;
	ref.len = (size_t)(close - value) + 1;
	return ref;
}
