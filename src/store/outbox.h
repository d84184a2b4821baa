/* outbox.h: the messages that are still to reach owners' endpoints. At least once, with the same id
 * each time; no order is kept. All times are the database's. */
#ifndef STORE_OUTBOX_H
#define STORE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/webhook.h"
#include "core/webhook_def.h"
#include "store/db.h"

#define OUTBOX_HOLD_MS                                                                             \
	60000 /* a message that was taken and not spoken of again is due once more after this */

/* Inside the transaction that has just moved the job: a message of its state as it now stands, if
 * that is one to be told (succeeded, failed, cancelled, unknown) and its owner has an endpoint,
 * disabled or not. Else nothing is written, which is RC_OK. */
MUST_CHECK enum rc outbox_add(struct db *db, const struct id *job_id);

struct outbox_message {
	struct webhook_event event;
	char owner[OWNER_MAX];
	size_t owner_len;
	uint32_t tries;		/* this one included */
	struct webhook_def def; /* the endpoint as it stood when it was taken */
	bool rested;		/* its endpoint has been left alone, for it didn't answer */
	int64_t taken_ms;	/* monotonic, when it was taken */
	int64_t taken_us;	/* the same by the database's clock, rather too early */
};
void outbox_message_release(struct outbox_message *message);

/* What became of one that was taken. `answer` and `why`: words, at most 1,000 bytes. Where the
 * database refuses, leave it: the hold runs out and the message is sent again. next_ms -1: given
 * up. Once another poller has taken it, outbox_failed() changes nothing of it. */
MUST_CHECK enum rc outbox_delivered(struct db *db, const struct outbox_message *message);
MUST_CHECK enum rc outbox_failed(struct db *db, const struct outbox_message *message,
				 const char *answer, int64_t next_ms);

/* The same where no answer came in time: all its owner's messages are put off together, for 5 s,
 * and each time that it happens again for twice as long, up to ten minutes. Any answer ends that.
 */
MUST_CHECK enum rc outbox_timed_out(struct db *db, const struct outbox_message *message,
				    const char *answer, int64_t next_ms);

/* The endpoint wants no more (410): it is disabled, and its owner's messages wait (the first of
 * them from now on, the others when their turn comes). If it has another URL by now than the
 * message was sent to, nothing is disabled and the message is due again. */
MUST_CHECK enum rc outbox_gone(struct db *db, const struct outbox_message *message,
			       const char *why);

#endif
