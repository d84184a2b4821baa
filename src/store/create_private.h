/* create_private.h: one create, and the two ways it can be written: alone, or with others. */
#ifndef STORE_CREATE_PRIVATE_H
#define STORE_CREATE_PRIVATE_H

#include <stdbool.h>

#include "store/job_store.h"
#include "store/stmt.h"

struct create_group;

struct create {
	const struct caller *caller;
	const struct idempotency_key *key;
	const struct intent *intent;
	const struct id *id;
	int64_t now_us;
	const char *traceparent;
	struct job *job;
};

/* In rounds, until something is decided: the insert, and where it meets the key, a look at whose
 * that is. */
enum created create_alone(struct db *db, const struct create *c);

/* c->job as it was just written, with this owner, without reading it again. RC_UNCERTAIN: no
 * memory; it is written all the same. */
MUST_CHECK enum rc create_fill(const struct create *c, const void *owner, size_t owner_len,
			       uint64_t contract_version);

/* The columns of an insert that the request alone fills: key and fingerprint; and from input to
 * updated_at. */
void create_bind_key(struct stmt *st, const struct create *c);
void create_bind_rest(struct stmt *st, const struct create *c);

/* As one of the group that db has joined. */
enum created create_group_write(struct create_group *group, struct db *db, const struct create *c);

/* One of several creates for one statement, and what became of it. */
struct ticket {
	const struct create *create;
	bool written; /* all else is for this case */
	unsigned char owner[OWNER_MAX];
	size_t owner_len; /* 0: no such caller */
	bool has_target;  /* provider or contract are there */
	char next_provider[NAME_MAX_LEN + 1];
	uint64_t contract_version;
};

/* Writes those of `tickets` that it can with as few statements as it may, each all or none. What
 * isn't `written` has to go alone, and learns there why. Returns false when it wrote none. */
bool create_many(struct db *db, struct ticket *const *tickets, size_t n);

#endif
