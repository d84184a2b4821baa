/* desk_own.h: what the files of the desk's thread share. Nobody else includes it: desk.h is the
 * desk's face. */
#ifndef POLLER_DESK_OWN_H
#define POLLER_DESK_OWN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "poller/desk.h"
#include "poller/errand.h"
#include "store/ask_turns.h"
#include "store/claim.h"
#include "store/db.h"
#include "store/outbox_take.h"
#include "store/settle.h"

#define SETTLE_MAX 256
/* Fewer free slots than this, and than half of all, wait for more or for the next look. */
#define CLAIM_ROOM_MIN 32
#define ASK_MS 500 /* between two looks for questions, and for messages */

struct desk {
	struct desk_orders orders;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	/* under the lock */
	struct errand_list claimed;
	struct errand_list finished;
	size_t in_hand; /* claimed and not yet back */
	size_t in_hand_of[ERRAND_KIND__MAX];
	bool claiming;
	bool closing; /* time is short: try what is left a few times, then leave */
	int tries_left;
	bool done;
	bool all_settled;
	/* the thread's own */
	struct db *db;
	struct id id;
	bool ready;	  /* the database was there once, with a schema that fits */
	bool told_schema; /* that it doesn't fit */
	bool registered;
	struct claim_cursor cursor;
	struct errand_list unsettled;
	struct errand_list kept; /* answers that keep the doubt */
	struct errand_list told; /* messages to owners, and what became of them */
	struct outbox_turns outbox;
	struct ask_turns asking;
	struct certifying *runs; /* certifications that are this poller's */
	size_t runs_len;
	struct word words[SETTLE_MAX]; /* of the batch being settled */
	size_t batch_max;	       /* words in the next one; follows what the last one took */
	int64_t renew_at_ms, reap_at_ms, look_at_ms, ask_at_ms, tell_at_ms, certify_at_ms,
		reroute_at_ms;
	int64_t trouble_until_ms;
	unsigned int losses; /* of the batch that is being settled */
	unsigned int walks;  /* claims in a row that took nothing, since the last look */
	bool more; /* the last claim was full, or room was made since: look again without waiting */
};

/* The database refused: leave it alone for a moment. */
void desk_say_trouble(struct desk *d);
bool desk_in_trouble(const struct desk *d);

/* A new id is taken, and the old lease runs out: whoever finds it calls what is left under it
 * unknown. What is on its way under the old id still settles when it comes back. */
void desk_give_up_id(struct desk *d, const char *why);

/* Renews the lease where a third of it has passed. Between any two pieces of work, each of which
 * takes no more than a sixth. */
void desk_keep_lease(struct desk *d);

/* Monotonic: until then a piece of work that begins now may go on. */
int64_t desk_piece_end_ms(const struct desk *d);

bool desk_is_claiming(struct desk *d);

/* A quarter of the slots, and one at least, for messages (hooks) or for questions: neither dead
 * providers nor slow endpoints shall take those of attempts. */
size_t desk_room_for(struct desk *d, size_t share_max, bool hooks);

/* To the wire; the errands are its own from then on. */
void desk_hand_out(struct desk *d, struct errand_list list);

/* Nothing that came back is still to be written down. */
bool desk_all_noted(const struct desk *d);

/* Under the lock: something came back, or a batch has left a rest, and the database may be asked:
 * no reason to wait. */
bool desk_has_work(const struct desk *d);

/* Under the lock: there is room, and a look is due or the last claim has left some that are. */
bool desk_claim_is_due(const struct desk *d);

#endif
