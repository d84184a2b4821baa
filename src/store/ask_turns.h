/* ask_turns.h: whose turn it is to be asked about: provider by provider, so that one that is dead
 * and has many attempts in doubt keeps no other's waiting. */
#ifndef STORE_ASK_TURNS_H
#define STORE_ASK_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/job.h"
#include "store/db.h"

#define ASK_PROVIDERS_MAX 64 /* with questions in hand */

struct ask_provider {
	char name[NAME_MAX_LEN + 1];
	size_t in_hand;
};

/* Where the turns stand, and how many questions to each provider are in this poller's hands; kept
 * by the caller, zeroed at first but for `share`. */
struct ask_turns {
	size_t share; /* of one provider in hand, at most */
	char after[NAME_MAX_LEN + 1];
	struct ask_provider busy[ASK_PROVIDERS_MAX];
	size_t busy_len;
};

struct turn {
	struct id job_id;
	struct id attempt_id;
};

/* Up to `max` attempts whose turn it is, read without locks. *more_out: a provider that may have
 * more in hand has more that are due, or there was no room for all. */
MUST_CHECK enum rc ask_turns_find(struct db *db, struct ask_turns *turns, size_t max,
				  struct turn *list, size_t *len_out, bool *more_out);

/* A question to that provider is in hand, or isn't any more. */
void ask_turns_taken(struct ask_turns *turns, const char *provider);
void ask_turns_returned(struct ask_turns *turns, const char *provider);

#endif
