/* moves.h: every permitted move of attempts and jobs, as rows. No writer decides otherwise, and
 * each SQL statement that writes a state repeats the guard in its WHERE, so that a stale reader
 * can't slip past. */
#ifndef CORE_MOVES_H
#define CORE_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"

enum attempt_event {
	ON_ACKNOWLEDGED, /* the provider has taken the work and will answer later */
	ON_RESULT,
	ON_FAILURE,    /* certain: no effect, or a known unusable one */
	ON_TRACK_LOST, /* nobody here can say */
	ON_RELEASE,    /* an operator lets another attempt race it */
	ON_CANCEL,     /* an operator declares it dead */
	ATTEMPT_EVENT__MAX
};

/* Who brings the word. `starting` is its poller's: an operator may only bring a result to it. */
enum mover { BY_POLLER, BY_OPERATOR, MOVER__MAX };

/* What stands in the job's row, locked, when a move is decided. */
struct job_facts {
	enum job_state state;
	uint64_t version;
	bool completed;	     /* completed_by is set */
	bool other_in_doubt; /* an attempt besides the one that moves is in doubt */
	bool may_retry;	     /* the event leaves a retry open, and tries and time are left */
	bool sent_since; /* the same request has gone out again, and this word isn't its answer */
};

enum verdict {
	MOVE_MADE,     /* the attempt moves, and the job as told */
	MOVE_NOTED,    /* nothing moves; what the word brings for later questions is kept */
	MOVE_REPEATED, /* it is as it was asked to be; nothing moves */
	MOVE_LATE,     /* the attempt has ended; nothing moves; a late result is a race */
	MOVE_REFUSED,  /* `starting` and not the mover's, or sent again since; nothing moves */
	VERDICT__MAX
};

struct move {
	enum verdict verdict;
	enum attempt_state attempt_to;
	bool job_moves;
	enum job_state job_to; /* when job_moves */
	bool version_up;       /* a decision: the job's version goes up by one */
	enum race_why why;     /* a result that is thrown away, now or earlier; else RACE_NONE */
};

/* True while the attempt holds its job. */
bool moves_holds(const struct job_facts *job, uint64_t version_read);

/* What an attempt's row says of its sendings, and what a word knows of them. A word that isn't the
 * answer to one sending is of the attempt as a whole: it waits while a sending is under way. An
 * answer counts for the last sending only: what an earlier one was told says nothing about the work
 * that a later one may have done. */
struct sendings {
	uint32_t resent;   /* how often the same request has gone out again */
	bool under_way;	   /* the last of these is, under a lease that runs */
	bool of_one;	   /* the word is the answer to one sending ... */
	uint32_t answered; /* ... to this one; 0 is the first */
};
bool moves_sent_since(const struct sendings *sendings);

struct move moves_decide(const struct job_facts *job, enum attempt_state from,
			 uint64_t version_read, enum attempt_event event, enum mover by);

/* The set of states, as bits (1 << state), from which `event` may move an attempt at all. For the
 * test that compares this table with the SQL. */
unsigned int moves_attempt_from(enum attempt_event event);

/* Cancelling a job: MOVE_MADE (version up), MOVE_REPEATED, or MOVE_LATE after success. It changes
 * no attempt. */
enum verdict moves_cancel_job(enum job_state from);

#endif
