/* auth.c: see auth.h. */
#include "api/auth.h"

#include <string.h>
#include <strings.h>

#include "base/digest.h"

static bool is_token_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-._~+/", c) != NULL);
}

/* b64token of RFC 6750: at least one character, then any number of '='. */
static bool token_valid(const char *token, size_t len)
{
	size_t i = 0;

	while (i < len && is_token_char(token[i]))
		i++;
	if (i == 0)
		return false;
	while (i < len && token[i] == '=')
		i++;
	return i == len;
}

static const char *read_bearer(const char *token, struct caller *caller)
{
	size_t len;

	token += strspn(token, " ");
	len = strlen(token);
	while (len > 0 && (token[len - 1] == ' ' || token[len - 1] == '\t'))
		len--;
	if (len > AUTH_TOKEN_MAX || !token_valid(token, len))
		return "The bearer token can't be one: 1 to 512 characters of A-Z, a-z, 0-9 and "
		       "-._~+/, then any =.";
	caller->has_token = true;
	digest_sha256(token, len, caller->token_sha256);
	return NULL;
}

static const char *read_owner(const struct request *request, struct caller *caller)
{
	const char *owner = request_param(request, PARAM_OWNER);

	if (!owner || (*owner == '\0' && !request_doubled(request, PARAM_OWNER)))
		return NULL;
	if (request_doubled(request, PARAM_OWNER))
		return "The web server names the owner twice.";
	caller->owner = owner;
	caller->owner_len = strlen(owner);
	if (caller->owner_len > OWNER_MAX)
		return "The user's name is longer than 255 bytes.";
	for (const char *c = owner; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return "The user's name holds a control byte.";
	return NULL;
}

const char *auth_read(const struct request *request, bool trust_owner, struct caller *caller_out,
		      bool *token_tried_out)
{
	static const char scheme[] = "Bearer";
	const char *value = request_param(request, PARAM_AUTHORIZATION);
	const char *why = NULL;
	bool bearer;

	*caller_out = (struct caller){ .has_token = false };
	*token_tried_out = false;
	if (request_doubled(request, PARAM_AUTHORIZATION))
		return "Authorization was sent twice.";
	if (trust_owner)
		why = read_owner(request, caller_out);
	if (why)
		return why;
	value = value ? value + strspn(value, " \t") : "";
	bearer = strncasecmp(value, scheme, sizeof scheme - 1) == 0 &&
		 (value[sizeof scheme - 1] == ' ' || value[sizeof scheme - 1] == '\0');
	*token_tried_out = bearer;
	if (bearer)
		return read_bearer(value + sizeof scheme - 1, caller_out);
	if (caller_out->owner)
		return NULL;
	return "A bearer token is required: Authorization: Bearer TOKEN.";
}
