#include "poller/messages.h"

#include "base/clock.h"
#include "core/webhook.h"
#include "poller/desk_own.h"
#include "store/outbox_take.h"

#define HOOKS_MAX 16

void messages_tell(struct desk *d)
{
	struct outbox_list messages;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->tell_at_ms || desk_in_trouble(d) || !desk_is_claiming(d))
		return;
	d->tell_at_ms = now_ms + ASK_MS;
	size_t room = desk_room_for(d, HOOKS_MAX, true);

	if (room == 0)
		return;
	enum rc rc = outbox_take(d->db, room, &d->outbox, &messages);

	if (rc != RC_OK)
		desk_say_trouble(d);
	else if (messages.len == room || messages.more)
		d->tell_at_ms = now_ms;
	desk_hand_out(d, errands_of_messages(&messages));
}

static enum rc note_message(struct desk *d, const struct errand *e)
{
	const struct outbox_message *message = e->message;
	uint32_t random;

	clock_random(&random, sizeof random);
	int64_t next_ms = webhook_retry_ms(message->tries, random, e->told_retry_after_ms);

	switch (e->told_end) {
	case HOOK_DELIVERED: return outbox_delivered(d->db, message);
	case HOOK_GONE: return outbox_gone(d->db, message, e->told_why);
	case HOOK_TIMED_OUT: return outbox_timed_out(d->db, message, e->told_why, next_ms);
	case HOOK_FAILED: return outbox_failed(d->db, message, e->told_why, next_ms);
	case HOOK_END__MAX: break;
	}
	return RC_OK;
}

/* What can't be written at all is left: the hold runs out, and the message is sent again under its
 * id. So is what another session's lock keeps from being written: the desk has waited for it once,
 * and has others to serve. */
bool messages_note(struct desk *d)
{
	int64_t end_ms = desk_piece_end_ms(d);

	for (struct errand *e; (e = d->told.first) && clock_monotonic_ms() < end_ms;) {
		enum rc rc = note_message(d, e);

		if ((rc == RC_RETRY && !db_was_locked_out(d->db)) || rc == RC_UNCERTAIN)
			return false;
		outbox_returned(&d->outbox, e->message);
		d->tell_at_ms = 0; /* there is room for its owner's next */
		errand_free(errand_pop(&d->told));
	}
	return true;
}
