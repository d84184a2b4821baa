/* outbox_take.h: messages are handed out owner by owner, so that an endpoint that is slow, or dead,
 * or has a large backlog keeps nobody else's waiting. */
#ifndef STORE_OUTBOX_TAKE_H
#define STORE_OUTBOX_TAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rc.h"
#include "store/db.h"
#include "store/outbox.h"

#define OUTBOX_MAX 64
#define OUTBOX_BATCH 500 /* of what is moved out of the way at a turn; the statements' LIMIT */

struct outbox_owner {
	char bytes[OWNER_MAX];
	size_t len;
	size_t in_hand;
};

/* Where the turns stand, and how many of each owner's messages are in this poller's hands; kept by
 * the caller, zeroed at first. */
struct outbox_turns {
	struct outbox_owner after; /* the last one served */
	struct outbox_owner busy[OUTBOX_MAX];
	size_t busy_len;
};

struct outbox_list {
	struct outbox_message *list;
	size_t len;
	bool more; /* there is more to be moved out of the way: look again at once */
};
void outbox_list_free(struct outbox_list *messages);

/* Up to `max` messages that are due, no more than two of an owner in hand; max and what is in hand
 * together are OUTBOX_MAX at most. No other poller gets them until the hold is over; tell
 * outbox_returned() when they are back. Those whose endpoint is gone are dropped, those whose
 * endpoint is disabled wait for it to be enabled, those whose endpoint didn't answer lately are put
 * off together; those whose endpoint's row another session holds are left as they are. Free the
 * list even where it is empty. */
MUST_CHECK enum rc outbox_take(struct db *db, size_t max, struct outbox_turns *turns,
			       struct outbox_list *messages_out);
void outbox_returned(struct outbox_turns *turns, const struct outbox_message *message);

#endif
