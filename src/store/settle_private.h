/* settle_private.h: what settle.c lends to settle_words.c and settle_operator.c. */
#ifndef STORE_SETTLE_PRIVATE_H
#define STORE_SETTLE_PRIVATE_H

#include "store/lock.h"
#include "store/settle.h"

/* An attempt beside its locked job. */
struct facing {
	struct id attempt_id;
	struct id job_id;
	enum attempt_state state;
	uint64_t version_read;
	char provider[NAME_MAX_LEN + 1];
	bool other_in_doubt;
	bool leased;	 /* its poller's lease runs */
	uint32_t resent; /* how often its request has gone out again */
};

/* Fills in the word's job id where it is all zero. RC_NOT_FOUND: no such attempt. */
MUST_CHECK enum rc settle_find_job(struct db *db, struct word *word);
MUST_CHECK enum rc settle_read_attempt(struct db *db, const struct word *word,
				       struct facing *facing_out);

/* The same for several. *len_out: how many there are, in no particular order. */
MUST_CHECK enum rc settle_read_attempts(struct db *db, const struct id *ids, size_t len,
					struct facing *facings_out, size_t *len_out);

/* What became of a word, to be logged when it has been committed. */
struct settling {
	enum settled verdict;
	struct id job_id;
	bool raced; /* a row in races was added */
	enum race_why why;
};

/* Where a word becomes rows, but for those that settle_wins(): settle_words.c writes these
 * together. The job's row is locked by the caller. */
MUST_CHECK enum rc settle_locked(struct db *db, const struct locked_job *job,
				 const struct word *word, const struct facing *facing,
				 struct settling *out);

/* True: the word is a result that takes its job, and settle_locked() would write that and nothing
 * else; *out is what it would say. */
bool settle_wins(const struct locked_job *job, const struct word *word, const struct facing *facing,
		 struct settling *out);

/* Each of the statements writes n rows. One less means that a guard in the statement didn't hold,
 * though the rows are locked: the table of moves and the statement differ, which is our own bug and
 * RC_FAULT. It is never taken for success. */
struct stmt;
MUST_CHECK enum rc settle_run(struct stmt *st, size_t n);

/* The compare-and-swap of one result. RC_FAULT: the row isn't as it was found under its lock. */
MUST_CHECK enum rc settle_complete(struct db *db, const struct word *word,
				   const struct facing *facing);
void settle_log(const struct settling *settling, const struct word *word);

#endif
