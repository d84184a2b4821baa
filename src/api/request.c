/* request.c: finds the parameters in one walk, so that doubled ones are noticed. */
#include "api/request.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

static const struct name {
	const char *name;
	size_t len;
} names[PARAM__MAX] = {
#define NAME(text)                                                                                 \
	{                                                                                          \
		text, sizeof text - 1                                                              \
	}
	[PARAM_METHOD] = NAME("REQUEST_METHOD"),
	[PARAM_URI] = NAME("REQUEST_URI"),
	[PARAM_CONTENT_LENGTH] = NAME("CONTENT_LENGTH"),
	[PARAM_CONTENT_TYPE] = NAME("CONTENT_TYPE"),
	[PARAM_AUTHORIZATION] = NAME("HTTP_AUTHORIZATION"),
	[PARAM_KEY] = NAME("HTTP_IDEMPOTENCY_KEY"),
	[PARAM_IF_MATCH] = NAME("HTTP_IF_MATCH"),
	[PARAM_IF_NONE_MATCH] = NAME("HTTP_IF_NONE_MATCH"),
	[PARAM_TRACEPARENT] = NAME("HTTP_TRACEPARENT"),
	[PARAM_OWNER] = NAME("ONEJOB_OWNER"),
	[PARAM_REQUEST_ID] = NAME("ONEJOB_REQUEST_ID"),
#undef NAME
};

/* The value when `entry` is NAME=value of this name, else NULL. */
static const char *value_of(const char *entry, const struct name *name)
{
	return strncmp(entry, name->name, name->len) == 0 && entry[name->len] == '='
		       ? entry + name->len + 1
		       : NULL;
}

static void find_params(struct request *request)
{
	for (char *const *entry = request->envp; *entry; entry++) {
		for (enum param p = 0; p < PARAM__MAX; p++) {
			const char *value = value_of(*entry, &names[p]);

			if (!value)
				continue;
			if (request->params[p].count++ == 0)
				request->params[p].value = value;
			break;
		}
	}
}

static void split_uri(struct request *request)
{
	const char *uri = request_param(request, PARAM_URI);
	const char *mark;

	request->path = uri ? uri : "";
	mark = strchr(request->path, '?');
	request->path_len = mark ? (size_t)(mark - request->path) : strlen(request->path);
	request->query = mark ? mark + 1 : NULL;
	request->query_len = mark ? strlen(mark + 1) : 0;
}

static bool id_usable(const char *id)
{
	size_t len = strspn(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");

	return len >= 1 && len <= REQUEST_ID_MAX && id[len] == '\0';
}

static void name_request(struct request *request)
{
	const char *given = request_param(request, PARAM_REQUEST_ID);
	unsigned char random[16];

	if (given && !request_doubled(request, PARAM_REQUEST_ID) && id_usable(given)) {
		snprintf(request->id, sizeof request->id, "%s", given);
		return;
	}
	clock_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(request->id + 2 * i, 3, "%02x", random[i]);
}

void request_read(struct request *request, char *const *envp)
{
	*request = (struct request){ .envp = envp, .body = "", .body_state = BODY_WHOLE };
	find_params(request);
	split_uri(request);
	name_request(request);
}

void request_take_body(struct request *request, const char *body, size_t len, enum body_state state)
{
	request->body = body;
	request->body_len = len;
	request->body_state = state;
}

size_t request_announced(const struct request *request, size_t fallback)
{
	const char *text = request_param(request, PARAM_CONTENT_LENGTH);
	size_t number = 0;

	if (!text || *text == '\0' || request_doubled(request, PARAM_CONTENT_LENGTH))
		return fallback;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (number > (SIZE_MAX - 9) / 10)
			return SIZE_MAX;
		number = 10 * number + (size_t)(*text - '0');
	}
	return *text == '\0' ? number : fallback;
}

const char *request_param(const struct request *request, enum param param)
{
	return request->params[param].value;
}

bool request_doubled(const struct request *request, enum param param)
{
	return request->params[param].count > 1;
}

const char *request_nth(const struct request *request, enum param param, unsigned int index)
{
	if (index >= request->params[param].count)
		return NULL;
	for (char *const *entry = request->envp; *entry; entry++) {
		const char *value = value_of(*entry, &names[param]);

		if (value && index-- == 0)
			return value;
	}
	return NULL;
}

bool request_path_plain(const struct request *request)
{
	const char *path = request->path;

	if (memchr(path, '%', request->path_len))
		return false;
	for (size_t i = 0; i + 1 < request->path_len; i++)
		if (path[i] == '/' && path[i + 1] == '/')
			return false;
	return true;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* What may follow the media type: nothing, or one parameter charset=utf-8, quoted or not. */
static bool is_charset_utf8(const char *at)
{
	bool quoted;

	at = skip_blanks(at);
	if (*at == '\0')
		return true;
	if (*at != ';')
		return false;
	at = skip_blanks(at + 1);
	if (strncasecmp(at, "charset=", 8) != 0)
		return *at == '\0';
	at += 8;
	quoted = *at == '"';
	at += quoted;
	if (strncasecmp(at, "utf-8", 5) != 0)
		return false;
	at += 5;
	if (quoted && *at++ != '"')
		return false;
	return *skip_blanks(at) == '\0';
}

bool request_is_json(const struct request *request)
{
	static const char type[] = "application/json";
	const char *value = request_param(request, PARAM_CONTENT_TYPE);

	if (!value || request_doubled(request, PARAM_CONTENT_TYPE))
		return false;
	value = skip_blanks(value);
	return strncasecmp(value, type, sizeof type - 1) == 0 &&
	       is_charset_utf8(value + sizeof type - 1);
}
