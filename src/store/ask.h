/* ask.h: what a poller asks providers about: attempts in doubt, or released, whose turn it is. All
 * times are the database's. */
#ifndef STORE_ASK_H
#define STORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/rc.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "store/ask_turns.h"
#include "store/db.h"
#include "store/terms_store.h"

#define ASK_MAX 64
#define ASK_RESENDS_MAX 20	/* the same request under the same key; then it stops */
#define ASK_CANCELS_MAX 20	/* a cancel that doesn't get through */
#define ASK_HOLD_BESIDE_MS 5000 /* over the time for an answer: until another poller may ask */

enum ask_kind {
	ASK_STATUS, /* the row's status query */
	ASK_RESEND, /* the same request again, for a provider that honours keys */
	ASK_CANCEL, /* tell it that the attempt is cancelled */
	ASK_KIND__MAX
};

/* One question. It is the caller's until its hold is over; then another poller may ask. */
struct ask {
	enum ask_kind kind;
	struct id job_id;
	struct id attempt_id;
	uint32_t number;
	uint32_t generation;
	uint32_t asked;	  /* this one included; an answer is noted only while it is the last */
	uint32_t tries;	  /* of this kind, this one included; for the back-off */
	uint32_t sending; /* ASK_RESEND: which time the request goes out again, from 1 */
	bool in_play;	  /* the attempt may still win */
	char provider[NAME_MAX_LEN + 1];
	struct provider_def
		def;   /* ASK_RESEND: that the request was built from; else the row as it is */
	bool same_row; /* these two are one */
	struct blob reference;	/* the provider's own name for the work */
	struct job_terms terms; /* not for ASK_CANCEL; its input goes out again with ASK_RESEND */
	char traceparent[TRACEPARENT_LEN + 1];
	int64_t taken_ms;  /* monotonic, before it was taken */
	int64_t taken_us;  /* the same by the database's clock, rather too early */
	int64_t budget_ms; /* until the job's deadline; -1: none */
};

struct ask_list {
	struct ask *list;
	size_t len;
	size_t moved;	 /* these, and those that are asked about no more */
	bool more;	 /* all that were found moved, and there are more: look again at once */
	bool lease_lost; /* the poller's lease has run out, or it may hold what nobody sends: a new
			    id is needed */
};
void ask_release(struct ask *ask);
void ask_list_free(struct ask_list *asks);

/* Up to `max` (at most ASK_MAX) questions that are due, each taken in a transaction of its own. An
 * attempt that nobody can ask about (its provider is gone or can't be asked; the job's deadline has
 * passed) is asked about no more. The same request goes out again only while the attempt is unknown
 * and holds its job, by the row it was built from, as long as the present one honours keys too;
 * meanwhile it is under the lease of `poller_id`, which is renewed for lease_s. Providers take
 * turns; tell ask_turns_returned() when a question is back. Free the list even where it is empty.
 */
MUST_CHECK enum rc ask_take(struct db *db, const struct id *poller_id, uint32_t lease_s, size_t max,
			    struct ask_turns *turns, struct ask_list *asks_out);

/* An answer that settles nothing. */
struct ask_answer {
	const char *words;     /* at most 1,000 bytes, or NULL */
	const char *reference; /* NULL: as it was */
	int64_t next_ms;       /* until the next question; -1: there is none */
	bool unsent;	       /* it never went out, and counts for no limit */
	bool told;	       /* ASK_CANCEL: it got through, or never will */
};

/* Notes it, unless another question has been asked since. A cancel that came due meanwhile is next
 * at once. */
MUST_CHECK enum rc ask_note(struct db *db, const struct ask *ask, const struct ask_answer *answer);

/* Acknowledged work whose deadline has passed becomes unknown. */
MUST_CHECK enum rc ask_overdue(struct db *db, size_t *overdue_out);

#endif
