#include "provider/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/secret_ref.h"

static bool field_bytes(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)bytes[i] < 0x20 && bytes[i] != '\t') || bytes[i] == 0x7f)
			return false;
	return true;
}

static enum rc add_secret(const char *name, const char *bytes, size_t len, struct text *out,
			  struct text *why)
{
	if (len > SECRET_MAX_BYTES) {
		text_addf(why, "%s is longer than %d bytes", name, SECRET_MAX_BYTES);
		return RC_NOT_FOUND;
	}
	if (!field_bytes(bytes, len)) {
		text_addf(why, "%s holds a byte that a header can't carry", name);
		return RC_NOT_FOUND;
	}
	text_add(out, bytes, len);
	return RC_OK;
}

static enum rc expand_env(const char *name, struct text *out, struct text *why)
{
	const char *value = getenv(name);

	if (!value) {
		text_addf(why, "the environment variable %s isn't set", name);
		return RC_NOT_FOUND;
	}
	return add_secret(name, value, strlen(value), out, why);
}

/* A regular file only, and never waited for: a pipe or a device would stop the whole poller. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Up to size bytes; -1 on an error. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t got = read(fd, buffer + len, size - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

static size_t without_newline(const char *bytes, size_t len)
{
	if (len > 0 && bytes[len - 1] == '\n')
		len--;
	else
		return len;
	return len > 0 && bytes[len - 1] == '\r' ? len - 1 : len;
}

static enum rc expand_file(const char *path, struct text *out, struct text *why)
{
	const size_t size = SECRET_MAX_BYTES + 3; /* one too many, and CRLF */
	enum rc rc = RC_FAULT;
	ssize_t len = -1;

	char *buffer = malloc(size);
	if (!buffer)
		return RC_FAULT;
	int fd = open_regular(path);
	if (fd >= 0)
		len = read_all(fd, buffer, size);
	if (len < 0) {
		text_addf(why, "the file %s can't be read: %s", path,
			  errno == EINVAL ? "it isn't a regular file" : strerror(errno));
		rc = RC_NOT_FOUND;
	} else {
		rc = add_secret(path, buffer, without_newline(buffer, (size_t)len), out, why);
	}
	if (fd >= 0)
		close(fd);
	explicit_bzero(buffer, size);
	free(buffer);
	return rc;
}

static enum rc expand_ref(const struct secret_ref *ref, struct text *out, struct text *why)
{
	char name[SECRET_NAME_MAX + 1];

	if (ref->kind == SECRET_BROKEN) {
		text_add_str(
			why,
			"a header value has a ${ that is neither ${env:NAME} nor ${file:/path}");
		return RC_INVALID;
	}
	memcpy(name, ref->name, ref->name_len);
	name[ref->name_len] = '\0';
	return ref->kind == SECRET_ENV ? expand_env(name, out, why) : expand_file(name, out, why);
}

enum rc secrets_expand(const char *value, struct text *out, struct text *why)
{
	size_t len = strlen(value);
	struct secret_ref ref;

	for (size_t i = 0; i < len; i += ref.len) {
		ref = secret_ref_next(value + i, len - i);
		if (!field_bytes(value + i, ref.plain_len)) {
			text_add_str(why, "a header value holds a byte that a header can't carry");
			return RC_INVALID;
		}
		text_add(out, value + i, ref.plain_len);
		enum rc rc = ref.kind == SECRET_NONE ? RC_OK : expand_ref(&ref, out, why);
		if (rc != RC_OK)
			return rc;
	}
	enum rc rc = text_rc(out);

	if (rc == RC_INVALID)
		text_addf(why, "a header value would be longer than %zu bytes", out->cap);
	return rc;
}
