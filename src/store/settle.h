/* settle.h: the one function through which every word about an attempt goes: the poller's, a
 * reaper's, an operator's.
 *
 * A result is written by compare-and-swap alone: the job's version is the one that the attempt
 * read, its slot is empty, and the attempt is alive, all in the statement's own WHERE. The loser's
 * payload is thrown away; a row in `races` and a line in the log are all that stays. Lock order:
 * the job's row, then its attempts. */
#ifndef STORE_SETTLE_H
#define STORE_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/job.h"
#include "core/moves.h"
#include "store/db.h"
#include "store/job_store.h"

/* One word about one attempt. Strings aren't owned. */
struct word {
	struct id attempt_id;
	struct id job_id; /* all zero: looked up by the attempt */
	enum attempt_event event;
	enum mover by;
	const char *result; /* ON_RESULT: one JSON text, at most 64 MiB */
	size_t result_len;
	enum reason reason; /* ON_FAILURE, ON_TRACK_LOST */
	enum phase phase;
	uint32_t http_status; /* 0: none */
	const char *detail;   /* NULL or NUL-terminated UTF-8, at most 1,000 bytes */
	size_t public_len; /* so much of `detail` goes to the job, where its owner sees it; 0: all
			      of it */
	const char *note;  /* an operator's; NULL or at most 4,000 bytes */
	const char *who;   /* an operator's name, kept and shown; at most 255 bytes, or NULL */
	const char *provider; /* failed, cancelled, released: the next one's; or NULL */
	bool lease_lost;  /* ON_TRACK_LOST by whoever found the lease over: only while it is still
			     starting */
	bool retryable;	  /* ON_FAILURE: may be tried again on the same provider */
	bool effect_done; /* ON_FAILURE: done, but unusable */
	int64_t delay_ms; /* ON_FAILURE, ON_CANCEL with a retry: back-off; see backoff.h */
	int64_t retry_after_ms; /* ON_FAILURE: what the provider said, kept for its next attempt; -1
				   none */
	bool of_sending;  /* the word is the answer to one sending of the request, or says that it
			     never  went out: a failure then counts only for the last ... */
	uint32_t sending; /* ... and this is which; 0 is the first */
	const char *reference; /* ON_ACKNOWLEDGED: the provider's name for the work, or NULL */
	uint32_t overdue_ms;   /* ON_ACKNOWLEDGED: unknown from then on */
	int64_t ask_after_ms; /* ON_ACKNOWLEDGED, ON_TRACK_LOST: when to ask the provider; -1: as it
				 was */
};

enum settled {
	SETTLED_MADE,	  /* the word moved the attempt; for a result: it won */
	SETTLED_NOTED,	  /* it moves nothing; the reference it brought is kept */
	SETTLED_REPEATED, /* said before */
	SETTLED_LOST,	  /* a result that lost the swap; the race is logged */
	SETTLED_LATE,	  /* the attempt had ended; a late result is logged as a race */
	SETTLED_REFUSED, /* `starting`, and another's; or its request has been sent again since, and
			    may have done the work: the doubt stays */
	SETTLED_NO_SUCH_ATTEMPT,
	SETTLED__MAX
};

/* A batch in one transaction with one commit; verdicts_out[i] belongs to words[i]. Words about the
 * same job are taken in order. RC_OK: committed. RC_RETRY, RC_FAULT: nothing is written.
 * RC_UNCERTAIN: it may be; saying the same words again is safe. */
MUST_CHECK enum rc settle_words(struct db *db, const struct word *words, size_t len,
				enum settled *verdicts_out);

/* The same, where the batch is refused as such, for each word alone: one that can't be written
 * holds up no other, and is left with a line in the log. Those whose job another session holds are
 * left for the next time; the list loses them. *settled_out: how many were written. RC_OK even
 * where some were left. */
MUST_CHECK enum rc settle_what_can(struct db *db, struct word *words, size_t len,
				   size_t *settled_out);

/* An operator's word, with If-Match, and the job afterwards. A `starting` attempt whose lease has
 * run out counts as unknown. The word's provider must exist and be enabled, and for a job with a
 * contract be its first route or one with a valid certificate; a result must meet the contract. */
MUST_CHECK enum changed settle_by_operator(struct db *db, const struct word *word,
					   const struct if_match *if_match, struct job *job_out,
					   struct refusal *refusal_out);

#endif
