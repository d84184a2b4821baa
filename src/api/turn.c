/* turn.c: see turn.h. Of those who wait one is on duty: it looks whether the holder is stuck, as
 * long as that is busy, and sleeps otherwise. */
#include "api/turn.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The turn is open while the score is above OPEN: one in five requests can share no statement, or
 * more. */
#define SCORE_OF_OTHERS 4
#define SCORE_OPEN 32
#define SCORE_MAX 64

struct turn {
	atomic_int score; /* a count that is missed now and then does no harm */
	atomic_bool open;
	pthread_mutex_t lock;  /* of all below */
	pthread_cond_t next;   /* the turn is free, or nobody is on duty */
	pthread_cond_t duty;   /* the turn is free, or the holder is busy */
	turn_ticket holder;    /* 0: free */
	turn_ticket given;     /* so far */
	int64_t busy_since_ms; /* 0: the holder waits for work */
	bool on_duty;	       /* somebody is */
	bool asleep;	       /* and looks at nothing until it is called */
	unsigned int waiting;  /* beside */
	bool stopped;
	int patience_ms;
};

/* By the clock that a condition can wait by. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct turn *turn_new(int patience_ms)
{
	struct turn *turn = calloc(1, sizeof *turn);
	pthread_condattr_t monotonic;

	if (!turn)
		return NULL;
	turn->patience_ms = patience_ms;
	pthread_mutex_init(&turn->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&turn->next, &monotonic);
	pthread_cond_init(&turn->duty, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return turn;
}

void turn_free(struct turn *turn)
{
	if (!turn)
		return;
	pthread_cond_destroy(&turn->duty);
	pthread_cond_destroy(&turn->next);
	pthread_mutex_destroy(&turn->lock);
	free(turn);
}

/* --- with the lock held */

static void call_one(struct turn *turn)
{
	if (turn->waiting > 0)
		pthread_cond_signal(&turn->next);
	else if (turn->on_duty)
		pthread_cond_signal(&turn->duty);
}

static void give_up(struct turn *turn)
{
	turn->holder = 0;
	call_one(turn);
}

static void call_all(struct turn *turn)
{
	pthread_cond_broadcast(&turn->next);
	pthread_cond_broadcast(&turn->duty);
}

/* False: the time is over. */
static bool wait_until(struct turn *turn, pthread_cond_t *cond, int64_t until_ms)
{
	const struct timespec until = { .tv_sec = until_ms / 1000,
					.tv_nsec = until_ms % 1000 * 1000000 };

	return pthread_cond_timedwait(cond, &turn->lock, &until) != ETIMEDOUT;
}

static bool is_stuck(const struct turn *turn)
{
	return turn->holder != 0 && turn->busy_since_ms != 0 &&
	       now_ms() - turn->busy_since_ms >= turn->patience_ms;
}

static bool waits(struct turn *turn)
{
	return turn->holder != 0 && !turn->stopped && !atomic_load(&turn->open);
}

/* Until the turn is free, or was taken from its holder, or idle_ms have passed: false. */
static bool on_duty(struct turn *turn, int idle_ms)
{
	bool in_time = true;

	turn->on_duty = true;
	while (in_time && waits(turn)) {
		turn->asleep = turn->busy_since_ms == 0;
		if (turn->asleep)
			in_time = wait_until(turn, &turn->duty, now_ms() + idle_ms);
		else if (!wait_until(turn, &turn->duty, now_ms() + turn->patience_ms) &&
			 is_stuck(turn))
			turn->holder = 0;
	}
	turn->on_duty = turn->asleep = false;
	if (turn->waiting > 0)
		pthread_cond_signal(&turn->next);
	return in_time;
}

static bool off_duty(struct turn *turn, int idle_ms)
{
	const int64_t until_ms = now_ms() + idle_ms;
	bool in_time = true;

	turn->waiting++;
	while (in_time && turn->on_duty && waits(turn))
		in_time = wait_until(turn, &turn->next, until_ms);
	turn->waiting--;
	return in_time;
}

/* --- without it */

enum turns turn_wait(struct turn *turn, turn_ticket *ticket, int idle_ms)
{
	enum turns turns = TURN_MINE;
	bool in_time = true;

	pthread_mutex_lock(&turn->lock);
	while (in_time && waits(turn) && turn->holder != *ticket)
		in_time = turn->on_duty ? off_duty(turn, idle_ms) : on_duty(turn, idle_ms);
	if (turn->stopped) {
		turns = TURN_STOPPED;
	} else if (turn->holder == 0) {
		turn->holder = *ticket = ++turn->given;
	} else if (turn->holder != *ticket && !atomic_load(&turn->open)) {
		turns = TURN_NOT_YET;
	}
	if (turn->holder == *ticket)
		turn->busy_since_ms = 0;
	pthread_mutex_unlock(&turn->lock);
	return turns;
}

bool turn_is_mine(struct turn *turn, turn_ticket ticket)
{
	bool mine;

	if (atomic_load(&turn->open))
		return true;
	pthread_mutex_lock(&turn->lock);
	mine = turn->holder == ticket;
	pthread_mutex_unlock(&turn->lock);
	return mine;
}

void turn_busy(struct turn *turn, turn_ticket ticket)
{
	if (atomic_load(&turn->open))
		return;
	pthread_mutex_lock(&turn->lock);
	if (turn->holder == ticket) {
		turn->busy_since_ms = now_ms();
		if (turn->asleep)
			pthread_cond_signal(&turn->duty);
		turn->asleep = false;
	}
	pthread_mutex_unlock(&turn->lock);
}

void turn_took(struct turn *turn, unsigned int shared, unsigned int others)
{
	int score = atomic_load(&turn->score) + SCORE_OF_OTHERS * (int)others - (int)shared;
	bool open;

	score = score < 0 ? 0 : score > SCORE_MAX ? SCORE_MAX : score;
	open = score > SCORE_OPEN;
	atomic_store(&turn->score, score);
	if (open == atomic_load(&turn->open))
		return;
	pthread_mutex_lock(&turn->lock);
	atomic_store(&turn->open, open);
	if (open)
		call_all(turn);
	else /* its holder may be at something that takes long, and nobody has looked */
		give_up(turn);
	pthread_mutex_unlock(&turn->lock);
}

void turn_pass(struct turn *turn, turn_ticket ticket)
{
	pthread_mutex_lock(&turn->lock);
	if (turn->holder == ticket)
		give_up(turn);
	pthread_mutex_unlock(&turn->lock);
}

void turn_stop(struct turn *turn)
{
	pthread_mutex_lock(&turn->lock);
	turn->stopped = true;
	call_all(turn);
	pthread_mutex_unlock(&turn->lock);
}
