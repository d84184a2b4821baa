/* errand.h: one claimed attempt in this process: from the desk (database) to the wire (libcurl) and
 * back as a word. */
#ifndef POLLER_ERRAND_H
#define POLLER_ERRAND_H

#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "provider/hook.h"
#include "store/ask.h"
#include "store/claim.h"
#include "store/outbox_take.h"
#include "store/settle.h"

/* The claims of one batch share its providers; the last errand frees it. Only the desk's thread
 * counts. */
struct errand_batch {
	struct claim_list claims;
	size_t open;
};

enum errand_kind {
	ERRAND_SEND,	/* a claimed attempt goes out for the first time */
	ERRAND_STATUS,	/* what became of it? */
	ERRAND_RESEND,	/* the same request again, under the same key */
	ERRAND_CANCEL,	/* the provider is told that it is cancelled */
	ERRAND_HOOK,	/* a message to an owner's endpoint */
	ERRAND_CERTIFY, /* one step of a certification */
	ERRAND_KIND__MAX
};

struct certifying; /* see certifying.h */

struct errand {
	struct errand *next;
	struct errand *prev; /* on the wire's list */
	void *exchange; /* the wire's, while it is on its way: a struct exchange, or a struct hook
			 */
	enum errand_kind kind;
	struct errand_batch *batch;	/* ERRAND_SEND: what the pointers below point into */
	struct ask *ask;		/* the questions: the same, owned */
	struct outbox_message *message; /* ERRAND_HOOK: what is told, owned */
	enum hook_end
		told_end; /* ERRAND_HOOK: HOOK_END__MAX: nothing is known, the hold runs out */
	char told_why[1001];
	int64_t told_retry_after_ms; /* ERRAND_HOOK: what its answer said; -1: nothing */
	struct id job_id;
	struct id attempt_id;
	uint32_t number;
	uint32_t generation;
	uint32_t tries;	  /* for the back-off: attempts here, or questions asked */
	uint32_t sending; /* ERRAND_SEND: 0; ERRAND_RESEND: which time it goes out again */
	const char *provider;
	const struct provider_def *def;
	struct blob *input;
	bool has_contract;
	const struct contract *contract; /* with the route: by what the answer is judged */
	const struct route *route;
	struct json_doc *tree;	 /* the input's, with a contract; owned */
	struct certifying *run;	 /* ERRAND_CERTIFY: this errand's alone while it is out */
	const char *traceparent; /* the client's, or "" */
	const char *reference;	 /* the provider's name for the work, or NULL */
	int64_t budget_ms;	 /* until the job's deadline, from claimed_ms on; -1: none */
	int64_t claimed_us;	 /* the latter by the database's clock, rather too early */
	int64_t claimed_ms;	 /* monotonic, before it was claimed or taken */
	struct outcome outcome;	 /* owns what the word points to */
	bool keeps;		 /* the answer settles nothing: no word, but a note of it */
	struct ask_answer kept;	 /* its words and reference are set when it is noted */
	struct word word;
};

/* A chain of errands, first in first out. */
struct errand_list {
	struct errand *first;
	struct errand *last;
	size_t len;
};

void errand_push(struct errand_list *list, struct errand *errand);
void errand_append(struct errand_list *list, struct errand_list *tail); /* empties tail */
struct errand *errand_pop(struct errand_list *list);			/* NULL when empty */
void errand_free(struct errand *errand); /* the batch too, when it is the last */

/* New errands for what was claimed or taken; each owns its part from here on. */
struct errand_list errands_of_claims(struct claim_list *claims, int64_t claimed_ms,
				     int64_t claim_took_ms);
struct errand_list errands_of_messages(struct outbox_list *messages);
struct errand_list errands_of_asks(struct ask_list *asks);

/* What was seen becomes the word for the database, or keeps the doubt. `random` picks the place in
 * the back-off. */
void errand_conclude(struct errand *errand, const struct seen *seen, uint32_t random);

/* By what its answer is judged beside the provider's row; NULL: no contract. */
const struct terms *errand_terms(const struct errand *errand, struct terms *terms);

/* It was never handed to libcurl: certain, and free to be tried again. */
void errand_never_sent(struct errand *errand, const char *detail, uint32_t random);

/* Those of the questions that send the same request again come out of `list` as never sent: the
 * lease that was to cover them isn't kept any more. */
struct errand_list errands_take_resends(struct errand_list *list, uint32_t random);

/* The result is larger than the database takes: the provider did the work, and it can't be used. */
void errand_too_large(struct errand *errand);

/* What the word says can't be written down: the doubt is all that is left. */
void errand_doubt(struct errand *errand);

#endif
