/* race.h: the record of a result that was thrown away. Private to store. */
#ifndef STORE_RACE_H
#define STORE_RACE_H

#include "core/job.h"
#include "store/lock.h"
#include "store/settle.h"

enum race_added {
	RACE_ADDED, /* a row was added, to be logged when the transaction has been committed */
	RACE_KNOWN, /* the same payload of the same attempt was thrown away before, or 16 others */
	RACE_NONE_OWN, /* no race: the winner said the same once more */
};

/* Inside the transaction that throws it away. */
MUST_CHECK enum rc race_add(struct db *db, const struct locked_job *job, const struct word *word,
			    enum race_why why, enum race_added *added_out);

/* How many rows this transaction has added, for the total. Last in it: whoever waits for that one
 * row then holds nothing that this transaction still wants. */
MUST_CHECK enum rc race_count(struct db *db, size_t added);

void race_log(const struct id *job_id, const struct word *word, enum race_why why);

#endif
