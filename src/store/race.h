/* race.h: the record of a result that was thrown away. Private to store. */
#ifndef STORE_RACE_H
#define STORE_RACE_H

#include "core/job.h"
#include "store/lock.h"
#include "store/settle.h"

/* Inside the transaction that throws it away. The same payload of the same attempt again is no new race; nor is the winner's
 * own result again. *added_out: a row was added, to be logged when the transaction has been committed. */
MUST_CHECK enum rc race_add(struct db *db, const struct locked_job *job, const struct word *word, enum race_why why,
			    bool *added_out);

void race_log(const struct id *job_id, const struct word *word, enum race_why why);

#endif
