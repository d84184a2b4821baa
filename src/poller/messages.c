#include "poller/messages.h"

#include "base/clock.h"
#include "core/webhook.h"
#include "poller/desk_own.h"
#include "store/outbox.h"

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
	enum rc rc = outbox_take(d->db, room, &messages);

	if (rc != RC_OK) {
		desk_say_trouble(d);
		return;
	}
	if (messages.len == room)
		d->tell_at_ms = now_ms;
	if (messages.len > 0)
		desk_hand_out(d, errands_of_messages(&messages));
}

static enum rc note_message(struct desk *d, const struct errand *e)
{
	uint32_t random;

	switch (e->told_end) {
	case HOOK_DELIVERED: return outbox_delivered(d->db, &e->message->event.id);
	case HOOK_GONE: return outbox_gone(d->db, e->message, e->told_why);
	case HOOK_FAILED:
		clock_random(&random, sizeof random);
		return outbox_failed(
			d->db, e->message, e->told_why,
			webhook_retry_ms(e->message->tries, random, e->told_retry_after_ms));
	case HOOK_END__MAX: break;
	}
	return RC_OK;
}

/* What can't be written at all is left: the hold runs out, and the message is sent again under its
 * id. */
bool messages_note(struct desk *d)
{
	int64_t end_ms = desk_piece_end_ms(d);

	for (struct errand *e; (e = d->told.first) && clock_monotonic_ms() < end_ms;) {
		enum rc rc = note_message(d, e);

		if (rc == RC_RETRY || rc == RC_UNCERTAIN)
			return false;
		errand_free(errand_pop(&d->told));
	}
	return true;
}
