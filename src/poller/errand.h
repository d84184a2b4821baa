/* errand.h: one claimed attempt in this process: from the desk (database) to the wire (libcurl) and back as a word. */
#ifndef POLLER_ERRAND_H
#define POLLER_ERRAND_H

#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "store/claim.h"
#include "store/settle.h"

/* The claims of one batch share its providers; the last errand frees it. Only the desk's thread counts. */
struct errand_batch {
	struct claim_list claims;
	size_t open;
};

struct errand {
	struct errand *next;
	struct errand *prev;		/* on the wire's list */
	void *exchange;			/* the wire's, while it is on its way */
	struct errand_batch *batch;
	struct claim *claim;
	int64_t claimed_ms;		/* monotonic, before the claim was asked for */
	struct outcome outcome;		/* owns what the word points to */
	struct word word;
};

/* A chain of errands, first in first out. */
struct errand_list {
	struct errand *first;
	struct errand *last;
	size_t len;
};

void errand_push(struct errand_list *list, struct errand *errand);
void errand_append(struct errand_list *list, struct errand_list *tail);	/* empties tail */
struct errand *errand_pop(struct errand_list *list);			/* NULL when empty */
void errand_free(struct errand *errand);				/* the batch too, when it is the last */

/* What was seen becomes the word for the database. `random` picks the place in the back-off. */
void errand_conclude(struct errand *errand, const struct seen *seen, uint32_t random);

/* It was never handed to libcurl: certain, and free to be tried again. */
void errand_never_sent(struct errand *errand, const char *detail, uint32_t random);

/* What the word says can't be written down (too big for the server, say): the doubt is all that is left. */
void errand_doubt(struct errand *errand);

#endif
