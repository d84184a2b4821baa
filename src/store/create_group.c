/* create_group.c: who writes, and for whom. See create_group.h. */
#include "store/create_group.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "store/create_private.h"
#include "store/db_private.h"

#define GROUP_MAX 32
#define GROUP_BYTES_MAX (256u << 10) /* of inputs and metadata; a larger create goes alone */

/* Where a statement for several writes nothing (it met a key that is there, an unknown token or a
 * locked row) it was lost work, and the next one likely is: so many creates go alone before it is
 * tried again, twice as many each time. */
#define ALONE_MIN 16
#define ALONE_MAX 4096

enum turn {
	TURN_WAITS,
	TURN_LEADS,
	TURN_TAKEN,
	TURN_OVER,
	TURN__MAX
}; /* taken: another writes it now */

/* One create, in the queue while it waits, in the list of leaders while it leads; it lives on its
 * thread's stack. */
struct place {
	struct ticket ticket;
	struct place *next;
	enum turn turn;
	pthread_cond_t called;
	int64_t since_ms; /* leads */
	bool written_off; /* leads, but is stuck: counts no more */
};

struct create_group {
	pthread_mutex_t lock; /* of all below */
	struct place *first, **end;
	struct place *leading;
	size_t waiting;
	unsigned int writing;	 /* of those who lead, less those written off */
	unsigned int alone;	 /* so many more creates stay out of this */
	unsigned int alone_next; /* what lost work costs the next time */
	pthread_condattr_t monotonic;
	unsigned int leaders, patience_ms;
};

struct create_group *create_group_new(unsigned int leaders, unsigned int patience_ms)
{
	struct create_group *group = calloc(1, sizeof *group);

	if (!group)
		return NULL;
	group->leaders = leaders;
	group->patience_ms = patience_ms;
	group->end = &group->first;
	group->alone_next = ALONE_MIN;
	pthread_mutex_init(&group->lock, NULL);
	pthread_condattr_init(&group->monotonic);
	pthread_condattr_setclock(&group->monotonic, CLOCK_MONOTONIC);
	return group;
}

void create_group_free(struct create_group *group)
{
	if (!group)
		return;
	pthread_condattr_destroy(&group->monotonic);
	pthread_mutex_destroy(&group->lock);
	free(group);
}

void create_group_join(struct create_group *group, struct db *db)
{
	db->group = group;
}

void create_group_count(struct create_group *group, size_t *writing_out, size_t *waiting_out)
{
	pthread_mutex_lock(&group->lock);
	*writing_out = group->writing;
	*waiting_out = group->waiting;
	pthread_mutex_unlock(&group->lock);
}

static size_t bytes_of(const struct create *c)
{
	return c->intent->input_len + c->intent->metadata_len;
}

static struct place *place_of(struct ticket *ticket)
{
	return (struct place *)((char *)ticket - offsetof(struct place, ticket));
}

/* --- with the lock held */

static void append(struct create_group *group, struct place *place)
{
	*group->end = place;
	group->end = &place->next;
	group->waiting++;
}

static void leave(struct create_group *group, struct place *place)
{
	struct place **at = &group->first;

	while (*at != place)
		at = &(*at)->next;
	*at = place->next;
	if (group->end == &place->next)
		group->end = at;
	group->waiting--;
}

/* Whoever leads has left the queue, so that no other leader takes it or makes it one again. */
static void begin_to_lead(struct create_group *group, struct place *place)
{
	place->turn = TURN_LEADS;
	place->since_ms = clock_monotonic_ms();
	place->next = group->leading;
	group->leading = place;
	group->writing++;
}

static void end_to_lead(struct create_group *group, struct place *place)
{
	struct place **at = &group->leading;

	while (*at != place)
		at = &(*at)->next;
	*at = place->next;
	group->writing -= !place->written_off;
}

static void call_next(struct create_group *group)
{
	struct place *next = group->first;

	if (!next || group->writing >= group->leaders)
		return;
	leave(group, next);
	begin_to_lead(group, next);
	pthread_cond_signal(&next->called);
}

/* Leaders that a lock or a silent server holds up are no reason for the others to wait, now or
 * later: whoever took this long counts no more. */
static void write_off_the_stuck(struct create_group *group)
{
	const int64_t long_ago = clock_monotonic_ms() - group->patience_ms;

	for (struct place *at = group->leading; at; at = at->next) {
		if (at->written_off || at->since_ms > long_ago)
			continue;
		at->written_off = true;
		group->writing--;
	}
}

/* A double click is no reason to write nothing: the second of one key waits for the next turn. */
static bool repeats(struct ticket *const *tickets, size_t n, const struct create *c)
{
	for (size_t i = 0; i < n; i++) {
		const struct idempotency_key *key = tickets[i]->create->key;

		if (key->len == c->key->len && memcmp(key->bytes, c->key->bytes, key->len) == 0)
			return true;
	}
	return false;
}

/* The leader and, from the queue's head, as many as go into one statement with it: a number that a
 * statement is prepared for. */
static size_t take(struct create_group *group, struct place *leader, struct ticket **tickets)
{
	size_t n = 1, bytes = bytes_of(leader->ticket.create);

	tickets[0] = &leader->ticket;
	for (struct place *at = group->first; at && n < GROUP_MAX; at = at->next) {
		bytes += bytes_of(at->ticket.create);
		if (bytes > GROUP_BYTES_MAX || repeats(tickets, n, at->ticket.create))
			break;
		tickets[n++] = &at->ticket;
	}
	n = stmt_group(n);
	for (size_t i = 1; i < n; i++) {
		place_of(tickets[i])->turn = TURN_TAKEN;
		leave(group, group->first);
	}
	return n;
}

static void learn(struct create_group *group, bool lost)
{
	if (!lost) {
		group->alone_next = ALONE_MIN;
		return;
	}
	group->alone = group->alone_next;
	if (group->alone_next < ALONE_MAX)
		group->alone_next *= 2;
}

/* By the clock that a condition can wait by, which clock_monotonic_ms() isn't: that goes on while
 * the machine sleeps. */
static struct timespec end_of_patience(const struct create_group *group)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += group->patience_ms / 1000;
	until.tv_nsec += (long)(group->patience_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	return until;
}

/* True: it leads. False: it was taken along, and its turn is over. */
static bool wait_for_turn(struct create_group *group, struct place *place)
{
	const struct timespec until = end_of_patience(group);

	if (group->writing < group->leaders) {
		begin_to_lead(group, place);
		return true;
	}
	append(group, place);
	while (place->turn == TURN_WAITS) {
		int rc = pthread_cond_timedwait(&place->called, &group->lock, &until);

		if (rc == ETIMEDOUT && place->turn == TURN_WAITS) {
			write_off_the_stuck(group);
			leave(group, place);
			begin_to_lead(group, place);
		}
	}
	while (place->turn == TURN_TAKEN)
		pthread_cond_wait(&place->called, &group->lock);
	return place->turn == TURN_LEADS;
}

/* --- without it */

/* Called and left with the lock held. A group's own statement is written before the next one's
 * turn; so is a create alone, while which others gather. */
static enum created lead(struct create_group *group, struct db *db, struct place *leader)
{
	struct ticket *tickets[GROUP_MAX];
	enum created created = CREATED__MAX;
	size_t n = take(group, leader, tickets);
	bool wrote = true;

	pthread_mutex_unlock(&group->lock);
	if (n == 1)
		created = create_alone(db, leader->ticket.create);
	else
		wrote = create_many(db, tickets, n);
	pthread_mutex_lock(&group->lock);
	if (n > 1)
		learn(group, !wrote);
	for (size_t i = 1; i < n; i++) {
		place_of(tickets[i])->turn = TURN_OVER;
		pthread_cond_signal(&place_of(tickets[i])->called);
	}
	end_to_lead(group, leader);
	call_next(group);
	return created;
}

enum created create_group_write(struct create_group *group, struct db *db, const struct create *c)
{
	struct place place = { .ticket = { .create = c }, .turn = TURN_WAITS };
	enum created created = CREATED__MAX;
	bool joins;

	pthread_mutex_lock(&group->lock);
	joins = group->alone == 0 && bytes_of(c) <= GROUP_BYTES_MAX;
	if (group->alone > 0)
		group->alone--;
	if (joins) {
		pthread_cond_init(&place.called, &group->monotonic);
		if (wait_for_turn(group, &place))
			created = lead(group, db, &place);
		pthread_cond_destroy(&place.called);
	}
	pthread_mutex_unlock(&group->lock);
	if (created != CREATED__MAX)
		return created;
	if (place.ticket.written && create_fill(c, place.ticket.owner, place.ticket.owner_len,
						place.ticket.contract_version) == RC_OK)
		return CREATED_NEW;
	return create_alone(db, c);
}
