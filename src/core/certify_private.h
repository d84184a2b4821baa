/* certify_private.h: a run, for certify.c and certify_body.c. */
#ifndef CORE_CERTIFY_PRIVATE_H
#define CORE_CERTIFY_PRIVATE_H

#include "core/certify.h"

struct certify_verdict {
	bool passed;
	char why[CERTIFY_WHY_MAX];
};

struct certify {
	const struct contract *contract;
	const struct route *route;
	enum certify_step step;
	uint32_t done, total; /* of all rounds; the fixture under way is number `done` */
	struct certify_verdict *verdicts; /* `total` of them */

	/* Of the fixture under way: the tokenizer's request as rendered, the prompt in it, and the
	 * array of tokens as the tokenizer wrote it. */
	struct text request, prompt, tokens;
};

/* The fixture under way has failed in this round; the next one is. Cut to what a verdict holds. */
void certify_fail(struct certify *certify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
