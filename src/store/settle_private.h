/* settle_private.h: what settle.c lends to settle_operator.c. */
#ifndef STORE_SETTLE_PRIVATE_H
#define STORE_SETTLE_PRIVATE_H

#include "store/lock.h"
#include "store/settle.h"

/* An attempt beside its locked job. */
struct facing {
	enum attempt_state state;
	uint64_t version_read;
	char provider[NAME_MAX_LEN + 1];
	bool other_in_doubt;
	bool leased;	     /* its poller's lease runs */
	uint32_t tries_here; /* attempts of the job at that provider */
	uint32_t resent;     /* how often its request has gone out again */
};

/* Fills in the word's job id where it is all zero. RC_NOT_FOUND: no such attempt. */
MUST_CHECK enum rc settle_find_job(struct db *db, struct word *word);
MUST_CHECK enum rc settle_read_attempt(struct db *db, const struct word *word,
				       struct facing *facing_out);

/* What became of a word, to be logged when it has been committed. */
struct settling {
	enum settled verdict;
	struct id job_id;
	bool raced; /* a row in races was added */
	enum race_why why;
};

/* The one place where a word becomes rows. The job's row is locked by the caller. */
MUST_CHECK enum rc settle_locked(struct db *db, const struct locked_job *job,
				 const struct word *word, const struct facing *facing,
				 struct settling *out);
void settle_log(const struct settling *settling, const struct word *word);

#endif
