/* ask.h: one request through the API's routes, without FastCGI and without a database (see
 * fake_store.h). */
#ifndef SUPPORT_ASK_H
#define SUPPORT_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "api/request.h"
#include "base/keyring.h"

#define ASK_MORE_MAX 4

/* Members that are left out stand for the usual: GET, a good token, application/json where there is
 * a body. */
struct ask {
	const char *method;
	const char *uri;
	const char *authorization; /* "": none */
	const char *key;	   /* the Idempotency-Key's value; NULL: none */
	const char *type;	   /* "": none */
	const char *body;
	enum body_state body_state;
	bool trust_owner;
	const char *more[ASK_MORE_MAX]; /* further parameters: "HTTP_IF_MATCH=*" */
};

/* Returns the status. What was answered stays until the next call. */
int ask(const struct ask *what);

const char *answer_body(void); /* "" for none */
const char *answer_head(void); /* the whole head */
const char *
answer_header(const char *name);   /* NULL: not there; fails the test when it is there twice */
bool answer_has(const char *text); /* the body holds it */
void ask_end(void);		   /* gives the memory back */

/* Verifies callbacks; empty at first. */
extern struct keyring ask_keyring;

#endif
