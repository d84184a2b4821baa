#include "core/provider_rules.h"

#include <string.h>
#include <strings.h>

#include "core/fill.h"
#include "core/secret_ref.h"

#define URL_MAX_BYTES 4096

static bool digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool one_of(char byte, const char *set)
{
	return byte != '\0' && strchr(set, byte) != NULL;
}

static bool hex_digit(char byte)
{
	return digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* The characters of RFC 3986, section 2, with whole percent-encodings. */
static bool url_characters(const char *url, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (url[i] == '%') {
			if (len - i < 3 || !hex_digit(url[i + 1]) || !hex_digit(url[i + 2]))
				return false;
			i += 2;
		} else if (!letter(url[i]) && !digit(url[i]) &&
			   !one_of(url[i], "-._~:/?#[]@!$&'()*+,;=")) {
			return false;
		}
	}
	return true;
}

static bool port_valid(const char *port, size_t len)
{
	unsigned int number = 0;

	for (size_t i = 0; i < len; i++) {
		if (!digit(port[i]) || i >= 5)
			return false;
		number = number * 10 + (unsigned int)(port[i] - '0');
	}
	return number >= 1 && number <= 65535;
}

static bool host_valid(const char *host, size_t len)
{
	bool address = len > 2 && host[0] == '[' && host[len - 1] == ']';

	for (size_t i = address; i < len - address; i++) {
		if (address ? !hex_digit(host[i]) && !one_of(host[i], ":.")
			    : !letter(host[i]) && !digit(host[i]) && !one_of(host[i], "-._"))
			return false;
	}
	return len > 0;
}

/* host, host:port or [address]:port */
static const char *authority_flaw(const char *authority, size_t len)
{
	size_t host_len = len;

	if (memchr(authority, '@', len))
		return "must not hold a user name or password";
	for (size_t i = len; i > 0 && authority[i - 1] != ']'; i--)
		if (authority[i - 1] == ':')
			host_len = i - 1;
	if (!host_valid(authority, host_len))
		return "has no valid host";
	if (host_len < len && !port_valid(authority + host_len + 1, len - host_len - 1))
		return "has a port that is not 1 to 65535";
	return NULL;
}

const char *provider_url_flaw(const char *url, size_t len)
{
	size_t scheme_len = 0, end;

	if (len > URL_MAX_BYTES)
		return "is longer than 4,096 bytes";
	for (size_t i = 0; i + 1 < len; i++)
		if (url[i] == '$' && url[i + 1] == '{')
			return "must not name secrets; a header value may";
	if (len > 7 && strncasecmp(url, "http://", 7) == 0)
		scheme_len = 7;
	else if (len > 8 && strncasecmp(url, "https://", 8) == 0)
		scheme_len = 8;
	if (scheme_len == 0)
		return "must be an absolute http or https URL";
	if (!url_characters(url, len))
		return "holds a character that a URL must percent-encode";
	if (memchr(url, '#', len))
		return "must not have a fragment";
	for (end = scheme_len; end < len && url[end] != '/' && url[end] != '?'; end++)
		;
	return authority_flaw(url + scheme_len, end - scheme_len);
}

/* Judged with a letter in the place of each placeholder; the host must be the row's own. */
const char *provider_filled_url_flaw(const char *url, size_t len)
{
	static const struct fill_values letters = { { "x", "x", "x", "x", "x" } };
	const char *host = memmem(url, len, "://", 3), *slash, *missing;
	bool broken;

	if (len > URL_MAX_BYTES)
		return "is longer than 4,096 bytes";
	(void)fill_names(url, len, &broken);
	if (broken)
		return "has a {{ that is no placeholder known here";
	slash = host ? memchr(host + 3, '/', len - (size_t)(host + 3 - url)) : NULL;
	if (memmem(url, slash ? (size_t)(slash - url) : len, "{{", 2))
		return "must not have a placeholder before its path";

	struct text filled;

	text_init(&filled, URL_MAX_BYTES);
	enum rc rc = fill_text(url, len, &letters, true, &filled, &missing);
	const char *flaw =
		rc == RC_OK ? provider_url_flaw(filled.bytes, filled.len) : "can't be filled";

	text_release(&filled);
	return flaw;
}

static bool in_list(const char *text, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == len && strncasecmp(*list, text, len) == 0)
			return true;
	return false;
}

const char *provider_method_flaw(const char *method, size_t len)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE", "GET" };

	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		if (strlen(methods[i]) == len && memcmp(methods[i], method, len) == 0)
			return NULL;
	return "must be POST, PUT, PATCH, DELETE or GET";
}

const char *provider_header_name_flaw(const char *name, size_t len)
{
	/* What frames a message, what belongs to one connection, and what names the attempt. */
	static const char *const taken[] = { "Host",
					     "Content-Length",
					     "Transfer-Encoding",
					     "Connection",
					     "Proxy-Connection",
					     "Keep-Alive",
					     "Expect",
					     "TE",
					     "Trailer",
					     "Upgrade",
					     "Accept-Encoding",
					     "User-Agent",
					     "traceparent",
					     NULL };

	if (len == 0 || len > PROVIDER_HEADER_NAME_MAX)
		return "must be 1 to 256 bytes long";
	for (size_t i = 0; i < len; i++)
		if (!letter(name[i]) && !digit(name[i]) && !one_of(name[i], "!#$%&'*+-.^_`|~"))
			return "is not a header name";
	return in_list(name, len, taken) ? "is set by onejob itself" : NULL;
}

static bool blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

const char *provider_header_value_flaw(const char *value, size_t len)
{
	struct secret_ref ref;
	bool broken;

	if (len > 0 && (blank(value[0]) || blank(value[len - 1])))
		return "must not begin or end with a blank";
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)value[i] < 0x20 && value[i] != '\t') || value[i] == 0x7f)
			return "must not hold control bytes";
	for (size_t i = 0; i < len; i += ref.len) {
		ref = secret_ref_next(value + i, len - i);
		if (ref.kind == SECRET_BROKEN)
			return "has a ${ that is neither ${env:NAME} nor ${file:/path}";
	}
	unsigned int names = fill_names(value, len, &broken);

	if (broken)
		return "has a {{ that is no placeholder known here";
	return names & 1u << FILL_REFERENCE ? "can't name {{reference}}: it is told by the answer"
					    : NULL;
}

static const char *const override_names[OVERRIDE__MAX] = { "succeeded", "failed", "retry",
							   "unknown" };
static const char *const means_names[STATUS_MEANS__MAX] = { "succeeded", "failed", "working" };
static const char *const as_names[RESULT_AS__MAX] = { "value", "json", "text" };

static bool name_parse(const char *const *names, int count, const char *text, size_t len,
		       int *place_out)
{
	for (int i = 0; i < count; i++) {
		if (strlen(names[i]) != len || memcmp(names[i], text, len) != 0)
			continue;
		*place_out = i;
		return true;
	}
	return false;
}

const char *override_name(enum override means)
{
	return override_names[means];
}

bool override_parse(const char *text, size_t len, enum override *means_out)
{
	int place;

	if (!name_parse(override_names, OVERRIDE__MAX, text, len, &place))
		return false;
	*means_out = (enum override)place;
	return true;
}

const char *status_means_name(enum status_means means)
{
	return means_names[means];
}

bool status_means_parse(const char *text, size_t len, enum status_means *means_out)
{
	int place;

	if (!name_parse(means_names, STATUS_MEANS__MAX, text, len, &place))
		return false;
	*means_out = (enum status_means)place;
	return true;
}

const char *result_as_name(enum result_as as)
{
	return as_names[as];
}

bool result_as_parse(const char *text, size_t len, enum result_as *as_out)
{
	int place;

	if (!name_parse(as_names, RESULT_AS__MAX, text, len, &place))
		return false;
	*as_out = (enum result_as)place;
	return true;
}
