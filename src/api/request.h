/* request.h: one request as the web server passed it on: parameters, the raw path, the body. */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* The parameters that are read; all others, REMOTE_USER above all, are not looked at. */
enum param {
	PARAM_METHOD,
	PARAM_URI,
	PARAM_CONTENT_LENGTH,
	PARAM_CONTENT_TYPE,
	PARAM_AUTHORIZATION,
	PARAM_KEY,
	PARAM_IF_MATCH,
	PARAM_IF_NONE_MATCH,
	PARAM_TRACEPARENT,
	PARAM_OWNER,
	PARAM_REQUEST_ID,
	PARAM__MAX
};

enum body_state {
	BODY_WHOLE,
	BODY_TOO_LARGE, /* past the limit; its bytes were thrown away */
	BODY_CUT,	/* not what Content-Length announced */
	BODY_NO_ROOM,	/* no memory for it here; its bytes were thrown away */
	BODY_STATE__MAX
};

#define REQUEST_ID_MAX 64

/* Everything points into what request_read() was given. */
struct request {
	char *const *envp;
	struct {
		const char *value; /* the first one's; NULL: not sent */
		unsigned int count;
	} params[PARAM__MAX];
	const char *path; /* as the client sent it, never percent-decoded */
	size_t path_len;
	const char *query; /* after the '?'; NULL: there is none */
	size_t query_len;
	const char *body;
	size_t body_len;
	enum body_state body_state;
	char id[REQUEST_ID_MAX + 1]; /* the web server's, or one made here */
};

/* envp: strings NAME=value, ended by NULL; a name may come twice. The body is empty until
 * request_take_body(). */
void request_read(struct request *request, char *const *envp);
void request_take_body(struct request *request, const char *body, size_t len,
		       enum body_state state);

/* What Content-Length announces; `fallback` where it is absent, doubled or no number. */
size_t request_announced(const struct request *request, size_t fallback);

const char *request_param(const struct request *request, enum param param); /* NULL: not sent */
bool request_doubled(const struct request *request, enum param param);

/* The value that comes `index`th under a parameter's name (from 0), or NULL: for headers that are
 * lists. */
const char *request_nth(const struct request *request, enum param param, unsigned int index);

/* No percent sign and no two slashes in a row: the only paths that can name anything. */
bool request_path_plain(const struct request *request);

/* Content-Type is application/json, alone or with charset=utf-8, and was sent once. */
bool request_is_json(const struct request *request);

#endif
