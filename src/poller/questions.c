#include "poller/questions.h"

#include "base/clock.h"
#include "poller/desk_own.h"
#include "store/ask.h"

/* Nobody renews it any more: what was to go out under it would soon be somebody else's to free. */
static void lose_lease(struct desk *d, struct errand_list *errands)
{
	uint32_t random;

	clock_random(&random, sizeof random);
	desk_give_up_id(d, "it had run out, or the answer to a question's begin was lost");
	struct errand_list resends = errands_take_resends(errands, random);

	for (const struct errand *e = resends.first; e; e = e->next)
		questions_returned(d, e);
	errand_append(&d->kept, &resends);
}

void questions_returned(struct desk *d, const struct errand *errand)
{
	ask_turns_returned(&d->asking, errand->provider);
	d->ask_at_ms = 0; /* there is room for the provider's next */
}

/* Before the queue, which would fill all slots. After as many as there was room for, it looks
 * again at once. */
void questions_ask(struct desk *d)
{
	struct ask_list asks;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->ask_at_ms || !d->registered || desk_in_trouble(d) || !desk_is_claiming(d))
		return;
	d->ask_at_ms = now_ms + ASK_MS;
	size_t room = desk_room_for(d, SIZE_MAX, false);

	if (room == 0)
		return;
	room = room < ASK_MAX ? room : ASK_MAX;
	enum rc rc = ask_take(d->db, &d->id, d->orders.lease_s, room, &d->asking, &asks);

	if (rc != RC_OK)
		desk_say_trouble(d);
	else if (asks.more)
		d->ask_at_ms = now_ms;
	bool lease_lost = asks.lease_lost;
	struct errand_list errands = errands_of_asks(&asks);

	if (lease_lost)
		lose_lease(d, &errands);
	desk_hand_out(d, errands);
}

bool questions_note(struct desk *d)
{
	int64_t end_ms = desk_piece_end_ms(d);

	for (struct errand *e; (e = d->kept.first) && clock_monotonic_ms() < end_ms;) {
		const struct text *words = &e->outcome.detail;

		e->kept.words = words->len ? words->bytes : NULL;
		e->kept.reference = e->outcome.reference[0] ? e->outcome.reference : NULL;
		enum rc rc = ask_note(d->db, e->ask, &e->kept);

		if (rc == RC_RETRY || rc == RC_UNCERTAIN)
			return false;
		if (rc != RC_OK && e->kind == ERRAND_RESEND)
			desk_give_up_id(d, "the end of a resend can't be written down");
		errand_free(errand_pop(&d->kept));
	}
	return true;
}
