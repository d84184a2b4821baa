/* migrate.h: the schema, as forward-only numbered migrations compiled into the program from sql/.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "store/db.h"

enum schema_age {
	SCHEMA_CURRENT,
	SCHEMA_OLDER,	/* `onejob migrate` has work to do; a fresh database too */
	SCHEMA_NEWER,	/* made by a newer program */
	SCHEMA_CHANGED, /* a migration that was applied isn't the one this program carries */
	SCHEMA__MAX
};

struct schema_state {
	enum schema_age verdict;
	uint32_t at;	    /* the highest number applied */
	uint32_t wants;	    /* the highest number this program carries */
	uint32_t changed;   /* SCHEMA_CHANGED: the first such number */
	const char *failed; /* by migrate_run(): the name of the migration that did, or NULL */
};
MUST_CHECK enum rc migrate_check(struct db *db, struct schema_state *state_out);

/* Apply what is missing, each once; two at once take turns (a named lock), however long the other
 * one takes. `applied` is called after each. RC_CONFLICT: the schema is newer or changed; nothing
 * was done. Else `failed` wasn't done, and those before it stay; RC_UNCERTAIN: the server may have
 * done it or be at it, and the next run finds out. For a table that others hold each waits
 * MIGRATE_WAIT_S at most, as everybody who comes later waits behind it: RC_RETRY,
 * db_was_locked_out(). */
#define MIGRATE_WAIT_S 10
MUST_CHECK enum rc migrate_run(struct db *db,
			       void (*applied)(uint32_t number, const char *name, void *arg),
			       void *arg, struct schema_state *state_out);

#endif
