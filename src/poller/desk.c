#include "poller/desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/trace.h"
#include "store/ask.h"
#include "store/claim.h"
#include "store/db.h"
#include "store/outbox.h"
#include "store/settle.h"

#define CLAIM_ROOM_MIN 32 /* fewer free slots than this wait for more, or for the next look */
#define SETTLE_MAX 256
#define REAP_MS 2000
#define ASK_MS 500
#define HOOKS_MAX 16
#define FEW_SLOTS 4    /* up to as many, attempts and all else take turns */
#define TROUBLE_MS 500 /* after the database refused */
#define CLOSING_TRIES 20
#define LOSSES_UNTIL_ALONE 3 /* of a batch; then its words are said one by one */
#define CLOSING_TRIES_AT_ONCE 2

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
	bool registered;
	struct claim_cursor cursor;
	struct errand_list unsettled;
	struct errand_list kept;       /* answers that keep the doubt */
	struct errand_list told;       /* messages to owners, and what became of them */
	struct word words[SETTLE_MAX]; /* of the batch being settled */
	int64_t renew_at_ms, reap_at_ms, look_at_ms, ask_at_ms, tell_at_ms, trouble_until_ms;
	unsigned int losses; /* of the batch that is being settled */
	bool more; /* the last claim was full, or room was made since: look again without waiting */
};

static void say_trouble(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	d->tries_left -= d->closing;
	pthread_mutex_unlock(&d->lock);
	d->trouble_until_ms = clock_monotonic_ms() + TROUBLE_MS;
}

static bool in_trouble(const struct desk *d)
{
	return clock_monotonic_ms() < d->trouble_until_ms;
}

/* --- lease */

static void register_anew(struct desk *d)
{
	char host[256] = "";

	(void)gethostname(host, sizeof host - 1);
	d->id = clock_id();
	if (poller_register(d->db, &d->id, host, (uint32_t)getpid(), d->orders.lease_s) != RC_OK) {
		say_trouble(d);
		return;
	}
	d->registered = true;
	d->renew_at_ms = clock_monotonic_ms() + d->orders.lease_s * 1000 / 3;
}

/* A new id is taken, and the old lease runs out: whoever finds it calls what is left under it
 * unknown. What is on its way under the old id still settles when it comes back. */
static void give_up_id(struct desk *d, const char *why)
{
	log_warning("poller.lease", "%s; a new id is taken", why);
	d->registered = false;
}

static void keep_lease(struct desk *d)
{
	int64_t now_ms = clock_monotonic_ms();

	if (!d->registered) {
		register_anew(d);
		return;
	}
	if (now_ms < d->renew_at_ms)
		return;
	switch (poller_renew(d->db, &d->id, d->orders.lease_s)) {
	case RC_OK: d->renew_at_ms = now_ms + d->orders.lease_s * 1000 / 3; break;
	case RC_NOT_FOUND: give_up_id(d, "it had run out"); break;
	case RC_CONFLICT:
	case RC_RETRY:
	case RC_UNCERTAIN:
	case RC_FAULT:
	case RC_INVALID:
	case RC__MAX: say_trouble(d); break;
	}
}

/* --- claiming */

static bool all_noted(const struct desk *d)
{
	return d->unsettled.len == 0 && d->kept.len == 0 && d->told.len == 0;
}

static void hand_out(struct desk *d, struct errand_list list)
{
	if (list.len == 0)
		return;
	pthread_mutex_lock(&d->lock);
	d->in_hand += list.len;
	for (const struct errand *e = list.first; e; e = e->next)
		d->in_hand_of[e->kind]++;
	errand_append(&d->claimed, &list);
	pthread_mutex_unlock(&d->lock);
	d->orders.ring(d->orders.arg);
}

/* An empty claim may also mean that a provider is full, or that another poller is at it. */
static void leave_when_idle(struct desk *d)
{
	bool due;

	if (claim_any_due(d->db, &due) != RC_OK)
		say_trouble(d);
	else if (!due)
		desk_stop_claiming(d);
}

static void claim(struct desk *d, size_t room)
{
	struct id ids[CLAIM_MAX];
	struct claim_list claims;
	size_t max = room < CLAIM_MAX ? room : CLAIM_MAX;
	int64_t before_ms = clock_monotonic_ms();

	for (size_t i = 0; i < max; i++)
		ids[i] = clock_id();
	enum rc rc = claim_jobs(d->db, &d->id, d->orders.lease_s, ids, max, &d->cursor, &claims);

	d->look_at_ms = before_ms + d->orders.poll_ms;
	d->more = rc == RC_OK && claims.len == max;
	if (rc == RC_NOT_FOUND)
		give_up_id(d, "it had run out");
	else if (rc == RC_UNCERTAIN) /* there may be attempts that nobody sends: only a lease that
					ends frees them */
		give_up_id(d, "the answer to a claim was lost");
	if (rc != RC_OK && rc != RC_NOT_FOUND)
		say_trouble(d);
	else if (claims.len > 0)
		hand_out(d,
			 errands_of_claims(&claims, before_ms, clock_monotonic_ms() - before_ms));
	/* What is on its way may hold the place of what is due. */
	if (rc == RC_OK && claims.len == 0 && d->orders.once && room == d->orders.in_flight_max &&
	    all_noted(d))
		leave_when_idle(d);
}

static size_t room_left(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	size_t room =
		d->orders.in_flight_max > d->in_hand ? d->orders.in_flight_max - d->in_hand : 0;

	pthread_mutex_unlock(&d->lock);
	return room;
}

static bool is_claiming(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	bool claiming = d->claiming;

	pthread_mutex_unlock(&d->lock);
	return claiming;
}

static bool may_claim(struct desk *d, size_t *room_out)
{
	size_t room = room_left(d);

	pthread_mutex_lock(&d->lock);
	bool claiming = d->claiming, idle = d->in_hand == 0;

	pthread_mutex_unlock(&d->lock);
	*room_out = room;
	if (!claiming || !d->registered || room == 0 || in_trouble(d))
		return false;
	return clock_monotonic_ms() >= d->look_at_ms ||
	       (d->more && (idle || room >= CLAIM_ROOM_MIN || room == d->orders.in_flight_max));
}

/* A quarter of the slots, and one at least: neither dead providers nor slow endpoints shall take
 * those of attempts. */
static size_t room_for(struct desk *d, size_t share_max, bool hooks)
{
	size_t quarter = d->orders.in_flight_max / 4 > 0 ? d->orders.in_flight_max / 4 : 1;
	size_t share = quarter < share_max ? quarter : share_max, room = room_left(d);

	pthread_mutex_lock(&d->lock);
	size_t taken = hooks ? d->in_hand_of[ERRAND_HOOK]
			     : d->in_hand_of[ERRAND_STATUS] + d->in_hand_of[ERRAND_RESEND] +
				       d->in_hand_of[ERRAND_CANCEL];

	pthread_mutex_unlock(&d->lock);
	share = share > taken ? share - taken : 0;
	return room < share ? room : share;
}

/* Before the queue, which would fill all slots. After as many as there was room for, it looks
 * again at once. */
static void ask(struct desk *d)
{
	struct ask_list asks;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->ask_at_ms || !d->registered || in_trouble(d) || !is_claiming(d))
		return;
	d->ask_at_ms = now_ms + ASK_MS;
	size_t room = room_for(d, SIZE_MAX, false);

	if (room == 0)
		return;
	room = room < ASK_MAX ? room : ASK_MAX;
	enum rc rc = ask_take(d->db, &d->id, d->orders.lease_s, room, &asks);

	if (asks.lease_lost)
		give_up_id(d, "it had run out, or the answer to a question's begin was lost");
	if (rc != RC_OK)
		say_trouble(d);
	else if (asks.moved == room)
		d->ask_at_ms = now_ms;
	hand_out(d, errands_of_asks(&asks));
}

static void tell(struct desk *d)
{
	struct outbox_list messages;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->tell_at_ms || in_trouble(d) || !is_claiming(d))
		return;
	d->tell_at_ms = now_ms + ASK_MS;
	size_t room = room_for(d, HOOKS_MAX, true);

	if (room == 0)
		return;
	enum rc rc = outbox_take(d->db, room, &messages);

	if (rc != RC_OK) {
		say_trouble(d);
		return;
	}
	if (messages.len == room)
		d->tell_at_ms = now_ms;
	if (messages.len > 0)
		hand_out(d, errands_of_messages(&messages));
}

static enum rc note_message(struct desk *d, const struct errand *e)
{
	uint32_t random;

	switch (e->told_end) {
	case HOOK_DELIVERED: return outbox_delivered(d->db, &e->message->event.id);
	case HOOK_GONE: return outbox_gone(d->db, e->message, e->told_why);
	case HOOK_FAILED:
		clock_random(&random, sizeof random);
		return outbox_failed(d->db, e->message, e->told_why,
				     webhook_retry_ms(e->message->tries, random));
	case HOOK_END__MAX: break;
	}
	return RC_OK;
}

/* What can't be written at all is left: the hold runs out, and the message is sent again under its
 * id. */
static bool note_told(struct desk *d)
{
	for (struct errand *e; (e = d->told.first);) {
		enum rc rc = note_message(d, e);

		if (rc == RC_RETRY || rc == RC_UNCERTAIN)
			return false;
		errand_free(errand_pop(&d->told));
	}
	return true;
}

/* --- settling */

static void log_settled(const struct errand *errand, enum settled verdict)
{
	static const char *const verdicts[SETTLED__MAX] = {
		[SETTLED_MADE] = "settled",    [SETTLED_REPEATED] = "repeated",
		[SETTLED_LOST] = "discarded",  [SETTLED_LATE] = "late",
		[SETTLED_REFUSED] = "refused", [SETTLED_NO_SUCH_ATTEMPT] = "purged",
	};
	static const char *const events[ATTEMPT_EVENT__MAX] = {
		[ON_ACKNOWLEDGED] = "running", [ON_RESULT] = "result",	  [ON_FAILURE] = "failed",
		[ON_TRACK_LOST] = "unknown",   [ON_RELEASE] = "released", [ON_CANCEL] = "cancelled",
	};
	const struct word *word = &errand->word;
	const char *reason = reason_name(word->reason);
	char job[ID_TEXT_LEN + 1], attempt[ID_TEXT_LEN + 1], trace[TRACE_ID_LEN + 1];

	trace_id(trace, errand->traceparent, &word->job_id);
	log_info("attempt",
		 "job=%s attempt=%s number=%u provider=%s outcome=%s verdict=%s reason=%s "
		 "http_status=%u trace=%s",
		 id_format(&word->job_id, job), id_format(&word->attempt_id, attempt),
		 errand->number, errand->provider, events[word->event], verdicts[verdict],
		 reason ? reason : "-", word->http_status, trace);
}

static bool is_refused(enum rc rc)
{
	return rc == RC_FAULT || rc == RC_INVALID || rc == RC_CONFLICT;
}

/* A batch that the database refuses as such is said word by word, so that one that can't be written
 * holds up no other: then without its explanation, and at last as a doubt. */
static bool settle_alone(struct desk *d, struct errand *errand)
{
	enum settled verdict;
	enum rc rc = settle_words(d->db, &errand->word, 1, &verdict);

	for (int less = 0; is_refused(rc) && less < 2; less++) {
		log_error("attempt.unsettled",
			  "provider=%s bytes=%zu: what came back can't be written down",
			  errand->provider, errand->word.result_len);
		if (rc == RC_INVALID && errand->word.event == ON_RESULT && db_was_too_large(d->db))
			errand_too_large(errand);
		else if (less == 0)
			errand->word.detail = NULL;
		else
			errand_doubt(errand);
		rc = settle_words(d->db, &errand->word, 1, &verdict);
	}
	if (is_refused(rc)) {
		give_up_id(d, "an attempt can't be settled at all");
		return true; /* left to the lease that ends */
	}
	if (rc == RC_OK)
		log_settled(errand, verdict);
	return rc == RC_OK;
}

static bool settle_each(struct desk *d)
{
	for (size_t n = d->unsettled.len < SETTLE_MAX ? d->unsettled.len : SETTLE_MAX; n > 0; n--) {
		if (!settle_alone(d, d->unsettled.first))
			return false;
		errand_free(errand_pop(&d->unsettled));
	}
	return true;
}

static bool settle_some(struct desk *d)
{
	enum settled verdicts[SETTLE_MAX];
	size_t len = 0;

	for (struct errand *e = d->unsettled.first; e && len < SETTLE_MAX; e = e->next)
		d->words[len++] = e->word;
	switch (settle_words(d->db, d->words, len, verdicts)) {
	case RC_OK:
		d->losses = 0;
		for (size_t i = 0; i < len; i++) {
			log_settled(d->unsettled.first, verdicts[i]);
			errand_free(errand_pop(&d->unsettled));
		}
		return true;
	case RC_RETRY:
	case RC_UNCERTAIN: /* saying the same again is safe; a word that never gets through shall
			      hold up no other */
		if (++d->losses % LOSSES_UNTIL_ALONE != 0)
			return false;
		break;
	case RC_CONFLICT:
	case RC_FAULT:
	case RC_INVALID:
	case RC_NOT_FOUND:
	case RC__MAX: break;
	}
	return settle_each(d);
}

static bool note_kept(struct desk *d)
{
	for (struct errand *e; (e = d->kept.first);) {
		const struct text *words = &e->outcome.detail;

		e->kept.words = words->len ? words->bytes : NULL;
		e->kept.reference = e->outcome.reference[0] ? e->outcome.reference : NULL;
		enum rc rc = ask_note(d->db, e->ask, &e->kept);

		if (rc == RC_RETRY || rc == RC_UNCERTAIN)
			return false;
		if (rc != RC_OK && e->kind == ERRAND_RESEND)
			give_up_id(d, "the end of a resend can't be written down");
		errand_free(errand_pop(&d->kept));
	}
	return true;
}

static void sort_out(struct desk *d, struct errand_list *finished_list)
{
	for (struct errand *e; (e = errand_pop(finished_list));)
		errand_push(e->kind == ERRAND_HOOK ? &d->told
			    : e->keeps		   ? &d->kept
						   : &d->unsettled,
			    e);
}

/* Words first: an answer's note may wait, what an attempt came to may not. */
static void settle(struct desk *d)
{
	struct errand_list back = { 0 };

	pthread_mutex_lock(&d->lock);
	errand_append(&back, &d->finished);
	pthread_mutex_unlock(&d->lock);
	sort_out(d, &back);
	if (all_noted(d) || in_trouble(d))
		return;
	if ((d->unsettled.len == 0 || settle_some(d)) && note_kept(d) && note_told(d))
		d->more = true;
	else
		say_trouble(d);
}

/* --- upkeep */

static void reap(struct desk *d)
{
	size_t reaped = 0, expired = 0, overdue = 0, stranded = 0;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->reap_at_ms || in_trouble(d))
		return;
	d->reap_at_ms = now_ms + REAP_MS;
	if (claim_reap(d->db, &reaped) != RC_OK || claim_expire(d->db, &expired) != RC_OK ||
	    ask_overdue(d->db, &overdue) != RC_OK || claim_fail_stranded(d->db, &stranded) != RC_OK)
		say_trouble(d);
	if (reaped > 0)
		log_warning("poller.reaped",
			    "attempts=%zu: their poller's lease ran out; they are unknown now",
			    reaped);
	if (expired > 0)
		log_info("poller.expired", "jobs=%zu", expired);
	if (stranded > 0)
		log_warning(
			"poller.stranded",
			"jobs=%zu: their provider isn't there any more; they failed as never sent",
			stranded);
	if (overdue > 0)
		log_warning(
			"poller.overdue",
			"attempts=%zu: acknowledged, not answered by their deadline; unknown now",
			overdue);
}

/* --- the thread */

/* When to look again without news. The next look of a full queue comes with the answers that free
 * its slots. */
static int64_t next_due_ms(struct desk *d)
{
	int64_t due = d->reap_at_ms < d->renew_at_ms ? d->reap_at_ms : d->renew_at_ms;

	if (d->claiming && (d->ask_at_ms < due || d->tell_at_ms < due) &&
	    d->in_hand < d->orders.in_flight_max)
		due = d->ask_at_ms < d->tell_at_ms ? d->ask_at_ms : d->tell_at_ms;
	if (d->claiming && d->look_at_ms < due && d->in_hand < d->orders.in_flight_max)
		due = d->look_at_ms;
	return due < d->trouble_until_ms ? d->trouble_until_ms : due;
}

static bool finished(struct desk *d)
{
	if (d->claiming || d->in_hand > 0 || d->finished.len > 0)
		return d->closing && d->tries_left <= 0;
	return all_noted(d) || (d->closing && d->tries_left <= 0);
}

/* Returns false when the desk is done. */
static bool wait_for_news(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	while (!finished(d) && !(d->finished.len > 0 && !in_trouble(d))) {
		int64_t left_ms = next_due_ms(d) - clock_monotonic_ms();
		struct timespec until;

		if (left_ms <= 0)
			break;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += left_ms / 1000;
		until.tv_nsec += left_ms % 1000 * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		bool was_claiming = d->claiming;

		if (pthread_cond_timedwait(&d->news, &d->lock, &until) == ETIMEDOUT ||
		    was_claiming != d->claiming)
			break;
	}
	bool go_on = !finished(d);

	pthread_mutex_unlock(&d->lock);
	return go_on;
}

static void leave(struct desk *d)
{
	struct errand_list back = { 0 };

	pthread_mutex_lock(&d->lock);
	errand_append(&back, &d->finished);
	pthread_mutex_unlock(&d->lock);
	sort_out(d, &back);
	d->all_settled = d->unsettled.len == 0;
	if (d->unsettled.len > 0)
		log_error("poller.unsettled",
			  "attempts=%zu: the database is away; their lease makes them unknown",
			  d->unsettled.len);
	else if (d->registered && poller_leave(d->db, &d->id) != RC_OK)
		log_warning("poller.leave", "the row stays until its lease is over");
	errand_append(&d->unsettled, &d->kept);
	errand_append(&d->unsettled, &d->told);
	for (struct errand *e; (e = errand_pop(&d->unsettled));)
		errand_free(e);
	/* Rung under the lock: once the loop sees that all is done, it closes the bell. */
	pthread_mutex_lock(&d->lock);
	d->done = true;
	d->orders.ring(d->orders.arg);
	pthread_mutex_unlock(&d->lock);
}

static void *work(void *arg)
{
	struct desk *d = arg;
	size_t room, turns = 0;

	do {
		keep_lease(d);
		settle(d);
		reap(d);
		bool attempts_first = d->orders.in_flight_max <= FEW_SLOTS && turns++ % 2 == 0;

		if (attempts_first && may_claim(d, &room))
			claim(d, room);
		ask(d);
		tell(d);
		if (!attempts_first && may_claim(d, &room))
			claim(d, room);
	} while (wait_for_news(d));
	leave(d);
	return NULL;
}

struct desk *desk_open(const struct desk_orders *orders)
{
	struct desk *d = calloc(1, sizeof *d);
	pthread_condattr_t monotonic;

	if (!d)
		return NULL;
	d->orders = *orders;
	d->claiming = true;
	d->tries_left = CLOSING_TRIES;
	d->db = db_new(orders->defaults_file);
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&d->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (d->db && pthread_create(&d->thread, NULL, work, d) == 0)
		return d;
	log_error("poller.desk", "no thread or no memory");
	db_free(d->db);
	free(d);
	return NULL;
}

void desk_stop_claiming(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	d->claiming = false;
	pthread_cond_signal(&d->news);
	pthread_mutex_unlock(&d->lock);
}

void desk_take(struct desk *d, struct errand_list *claimed_out)
{
	pthread_mutex_lock(&d->lock);
	*claimed_out = d->claimed;
	d->claimed = (struct errand_list){ 0 };
	pthread_mutex_unlock(&d->lock);
}

void desk_return(struct desk *d, struct errand_list *finished_list)
{
	pthread_mutex_lock(&d->lock);
	d->in_hand -= finished_list->len;
	for (const struct errand *e = finished_list->first; e; e = e->next)
		d->in_hand_of[e->kind]--;
	errand_append(&d->finished, finished_list);
	pthread_cond_signal(&d->news);
	pthread_mutex_unlock(&d->lock);
}

bool desk_done(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	bool done = d->done;

	pthread_mutex_unlock(&d->lock);
	return done;
}

void desk_hurry(struct desk *d, bool at_once)
{
	pthread_mutex_lock(&d->lock);
	d->claiming = false;
	d->closing = true;
	if (at_once && d->tries_left > CLOSING_TRIES_AT_ONCE)
		d->tries_left = CLOSING_TRIES_AT_ONCE;
	pthread_cond_signal(&d->news);
	pthread_mutex_unlock(&d->lock);
}

bool desk_close(struct desk *d)
{
	desk_hurry(d, false);
	pthread_join(d->thread, NULL);
	bool all_settled = d->all_settled;

	pthread_cond_destroy(&d->news);
	pthread_mutex_destroy(&d->lock);
	db_free(d->db);
	free(d);
	return all_settled;
}
