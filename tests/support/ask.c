/* ask.c: see ask.h. */
#include "support/ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "api/route.h"

#define ENVP_MAX 16
#define TOKEN "Bearer token-1"

struct keyring ask_keyring;
static struct reply reply;
static char *body;
static char value[512];

struct envp {
	char *list[ENVP_MAX];
	size_t len;
};

static void add(struct envp *envp, const char *name, const char *text)
{
	size_t size = strlen(name) + strlen(text) + 2;

	assert_true(envp->len + 1 < ENVP_MAX);
	envp->list[envp->len] = malloc(size);
	snprintf(envp->list[envp->len++], size, "%s%s%s", name, *name ? "=" : "", text);
}

static void build(struct envp *envp, const struct ask *what)
{
	add(envp, "REQUEST_METHOD", what->method ? what->method : "GET");
	add(envp, "REQUEST_URI", what->uri);
	add(envp, "REMOTE_USER", "mallory");
	if (!what->authorization || *what->authorization)
		add(envp, "HTTP_AUTHORIZATION", what->authorization ? what->authorization : TOKEN);
	if (what->key)
		add(envp, "HTTP_IDEMPOTENCY_KEY", what->key);
	if (what->type ? *what->type != '\0' : what->body != NULL)
		add(envp, "CONTENT_TYPE", what->type ? what->type : "application/json");
	for (size_t i = 0; i < ASK_MORE_MAX && what->more[i]; i++)
		add(envp, "", what->more[i]);
}

int ask(const struct ask *what)
{
	const struct api api = { .max_body_bytes = 1048576,
				 .trust_owner = what->trust_owner,
				 .keyring = ask_keyring };
	struct envp envp = { .len = 0 };
	struct request request;

	if (!reply.head.cap)
		reply_init(&reply);
	build(&envp, what);
	request_read(&request, envp.list);
	if (what->body || what->body_state != BODY_WHOLE)
		request_take_body(&request, what->body ? what->body : "",
				  what->body ? strlen(what->body) : 0, what->body_state);
	route_answer(&api, &request, &reply);
	free(body);
	body = calloc(1, reply.body_len + 1);
	memcpy(body, reply.body_len ? reply.body : "", reply.body_len);
	for (size_t i = 0; i < envp.len; i++)
		free(envp.list[i]);
	return reply.status;
}

const char *answer_body(void)
{
	return body;
}

const char *answer_head(void)
{
	return reply.head.bytes;
}

const char *answer_header(const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (const char *line = reply.head.bytes; *line; line = strstr(line, "\r\n") + 2) {
		if (strncasecmp(line, name, len) != 0 || line[len] != ':')
			continue;
		if (found)
			fail_msg("%s comes twice", name);
		line += len + 2;
		snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\r"), line);
		found = value;
	}
	return found;
}

bool answer_has(const char *text)
{
	return strstr(body, text) != NULL;
}

void ask_end(void)
{
	free(body);
	body = NULL;
	reply_release(&reply);
	reply.head.cap = 0;
}
