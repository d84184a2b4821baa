#include "poller/desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "poller/certifying.h"
#include "poller/desk_own.h"
#include "poller/messages.h"
#include "poller/questions.h"
#include "poller/ready.h"
#include "poller/settling.h"
#include "poller/upkeep.h"
#include "store/claim.h"
#include "store/db.h"

#define BATCH_FIRST 32
#define ASKING_SHARE                                                                               \
	16 /* questions have a quarter of the slots, one provider's a quarter of it                \
	    */
#define CLAIM_WALKS_MAX                                                                            \
	16	       /* over owners with nothing due, one after the other between two looks      \
			*/
#define FEW_SLOTS 4    /* up to as many, attempts and all else take turns */
#define PIECES 6       /* of the lease */
#define TROUBLE_MS 500 /* after the database refused */
#define CLOSING_TRIES 20
#define CLOSING_TRIES_AT_ONCE 2

void desk_say_trouble(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	d->tries_left -= d->closing;
	pthread_mutex_unlock(&d->lock);
	d->trouble_until_ms = clock_monotonic_ms() + TROUBLE_MS;
}

bool desk_in_trouble(const struct desk *d)
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
		desk_say_trouble(d);
		return;
	}
	d->registered = true;
	d->renew_at_ms = clock_monotonic_ms() + d->orders.lease_s * 1000 / 3;
}

void desk_give_up_id(struct desk *d, const char *why)
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
	case RC_NOT_FOUND: desk_give_up_id(d, "it had run out"); break;
	case RC_CONFLICT:
	case RC_RETRY:
	case RC_UNCERTAIN:
	case RC_FAULT:
	case RC_INVALID:
	case RC__MAX: desk_say_trouble(d); break;
	}
}

/* While the database refuses, the head of the loop alone goes on trying. */
void desk_keep_lease(struct desk *d)
{
	if (d->registered && !desk_in_trouble(d))
		keep_lease(d);
}

int64_t desk_piece_end_ms(const struct desk *d)
{
	return clock_monotonic_ms() + (int64_t)d->orders.lease_s * 1000 / PIECES;
}

/* --- claiming */

bool desk_all_noted(const struct desk *d)
{
	return d->unsettled.len == 0 && d->kept.len == 0 && d->told.len == 0;
}

void desk_hand_out(struct desk *d, struct errand_list list)
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
		desk_say_trouble(d);
	else if (!due && certifying_idle(d))
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

	d->walks = claims.len > 0 || before_ms >= d->look_at_ms ? 0 : d->walks + 1;
	d->look_at_ms = before_ms + d->orders.poll_ms;
	d->more = rc == RC_OK && (claims.len == max || claims.cut ||
				  (claims.unwalked && d->walks < CLAIM_WALKS_MAX));
	if (rc == RC_NOT_FOUND)
		desk_give_up_id(d, "it had run out");
	else if (rc == RC_UNCERTAIN) /* there may be attempts that nobody sends: only a lease that
					ends frees them */
		desk_give_up_id(d, "the answer to a claim was lost");
	if (rc != RC_OK && rc != RC_NOT_FOUND)
		desk_say_trouble(d);
	else if (claims.len > 0)
		desk_hand_out(
			d, errands_of_claims(&claims, before_ms, clock_monotonic_ms() - before_ms));
	/* What is on its way may hold the place of what is due. */
	if (rc == RC_OK && claims.len == 0 && d->orders.once && room == d->orders.in_flight_max &&
	    desk_all_noted(d))
		leave_when_idle(d);
}

/* Under the lock. */
static size_t room_of(const struct desk *d)
{
	return d->orders.in_flight_max > d->in_hand ? d->orders.in_flight_max - d->in_hand : 0;
}

static size_t room_left(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	size_t room = room_of(d);

	pthread_mutex_unlock(&d->lock);
	return room;
}

bool desk_is_claiming(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	bool claiming = d->claiming;

	pthread_mutex_unlock(&d->lock);
	return claiming;
}

bool desk_claim_is_due(const struct desk *d)
{
	size_t room = room_of(d);

	if (!d->claiming || !d->registered || room == 0 || desk_in_trouble(d))
		return false;
	return clock_monotonic_ms() >= d->look_at_ms ||
	       (d->more && (room >= d->in_hand || room >= CLAIM_ROOM_MIN));
}

static bool may_claim(struct desk *d, size_t *room_out)
{
	pthread_mutex_lock(&d->lock);
	bool due = desk_claim_is_due(d);

	*room_out = room_of(d);
	pthread_mutex_unlock(&d->lock);
	return due;
}

size_t desk_room_for(struct desk *d, size_t share_max, bool hooks)
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

/* --- the thread */

/* When to look again without news. The next look of a full queue comes with the answers that free
 * its slots. */
static int64_t next_due_ms(struct desk *d)
{
	int64_t due = d->reap_at_ms < d->renew_at_ms ? d->reap_at_ms : d->renew_at_ms;

	if (d->claiming && (d->ask_at_ms < due || d->tell_at_ms < due) &&
	    d->in_hand < d->orders.in_flight_max)
		due = d->ask_at_ms < d->tell_at_ms ? d->ask_at_ms : d->tell_at_ms;
	if (d->claiming && d->certify_at_ms < due)
		due = d->certify_at_ms;
	if (d->claiming && d->look_at_ms < due && d->in_hand < d->orders.in_flight_max)
		due = d->look_at_ms;
	return due < d->trouble_until_ms ? d->trouble_until_ms : due;
}

static bool finished(struct desk *d)
{
	if (d->claiming || d->in_hand > 0 || d->finished.len > 0)
		return d->closing && d->tries_left <= 0;
	return desk_all_noted(d) || (d->closing && d->tries_left <= 0);
}

bool desk_has_work(const struct desk *d)
{
	return (d->finished.len > 0 || !desk_all_noted(d)) && !desk_in_trouble(d);
}

/* Returns false when the desk is done. */
static bool wait_for_news(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	while (!finished(d) && !desk_has_work(d) && !desk_claim_is_due(d)) {
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
	settling_collect(d);
	certifying_drop(d);
	d->all_settled = d->unsettled.len == 0 && (d->ready || !d->orders.once);
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
		if (!ready_look(d))
			continue; /* to the wait */
		keep_lease(d);
		settling_run(d);
		desk_keep_lease(d);
		upkeep_run(d);
		bool attempts_first = d->orders.in_flight_max <= FEW_SLOTS && turns++ % 2 == 0;

		if (attempts_first && may_claim(d, &room))
			claim(d, room);
		questions_ask(d);
		desk_keep_lease(d);
		messages_tell(d);
		desk_keep_lease(d);
		certifying_run(d);
		desk_keep_lease(d);
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
	d->batch_max = BATCH_FIRST;
	d->asking.share =
		orders->in_flight_max / ASKING_SHARE > 0 ? orders->in_flight_max / ASKING_SHARE : 1;
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
