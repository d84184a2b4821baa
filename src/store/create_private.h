/* create_private.h: one create, and the two ways it can be written: alone, or with others. */
#ifndef STORE_CREATE_PRIVATE_H
#define STORE_CREATE_PRIVATE_H

#include <stdbool.h>

#include "store/job_store.h"
#include "store/rows.h"
#include "store/stmt.h"

/* After a repeat so many new jobs still ask for their key first. */
#define REPEATS_REMEMBERED 8

/* One round: the insert, and where it meets the key, a look at whose that is. False: nothing is
 * decided, another round may; but c->created stands if there is none. */
bool create_alone(struct db *db, struct create *c);

/* Whose job the key has: c->created and c->job, or its id alone. Takes what `row` owns. */
enum created create_compare(struct create *c, struct job_row *row);

/* One of several creates for one statement. */
struct ticket {
	struct create *create;
	bool written;
	bool answered; /* its key was there */
	unsigned char owner[OWNER_MAX];
	size_t owner_len; /* 0: no such caller */
	bool has_target;  /* provider or contract are there */
	char next_provider[NAME_MAX_LEN + 1];
	uint64_t contract_version;
};

/* Writes those of several creates that are new, and answers those whose keys are there: which these
 * are the tickets say, the order of which changes. What is neither learns alone why. Not RC_OK: the
 * work was lost on some. */
MUST_CHECK enum rc create_write(struct db *db, struct ticket *tickets, size_t n);

/* Of several creates, whose owners are known, those whose keys are there are `met`, and answered;
 * but for large jobs. No more than a hint for the others: who was first is the unique key's to say.
 */
MUST_CHECK enum rc create_meet(struct db *db, struct ticket *tickets, size_t n);

/* The job as `c` has just been written, with this owner, without reading it again. RC_UNCERTAIN: no
 * memory; it is written all the same. */
MUST_CHECK enum rc create_fill(struct job *job, const struct create *c, const void *owner,
			       size_t owner_len, uint64_t contract_version);

/* The columns of an insert that the request alone fills: key and fingerprint; and from input to
 * updated_at. */
void create_bind_key(struct stmt *st, const struct create *c);
void create_bind_rest(struct stmt *st, const struct create *c);

#endif
