#include "core/moves.h"

#define S(state) (1u << ATTEMPT_##state)
#define IN_PLAY (S(STARTING) | S(RUNNING) | S(UNKNOWN) | S(RELEASED))

/* The attempt's side. `operator_from` is smaller where `starting` is its poller's: the request may
 * be about to go out. */
static const struct attempt_rule {
	unsigned int from;
	unsigned int operator_from;
	enum attempt_state to;
	unsigned int noted_from; /* it is too late to move it, but not to be told the reference */
	bool hears_all;		 /* not while an answer to the same request, sent again, may come */
} attempt_rules[ATTEMPT_EVENT__MAX] = {
	[ON_ACKNOWLEDGED] = { .from = S(STARTING),
			      .to = ATTEMPT_RUNNING,
			      .noted_from = S(UNKNOWN) | S(RELEASED) },
	[ON_RESULT] = { .from = IN_PLAY,
			.operator_from = IN_PLAY,
			.to = ATTEMPT_SUCCEEDED }, /* or discarded, where it doesn't hold its job */
	[ON_FAILURE] = { .from = IN_PLAY,
			 .operator_from = S(RUNNING) | S(UNKNOWN) | S(RELEASED),
			 .to = ATTEMPT_FAILED,
			 .hears_all = true },
	[ON_TRACK_LOST] = { .from = S(STARTING) | S(RUNNING), .to = ATTEMPT_UNKNOWN },
	[ON_RELEASE] = { .from = S(RUNNING) | S(UNKNOWN),
			 .operator_from = S(RUNNING) | S(UNKNOWN),
			 .to = ATTEMPT_RELEASED,
			 .hears_all = true },
	[ON_CANCEL] = { .from = S(RUNNING) | S(UNKNOWN) | S(RELEASED),
			.operator_from = S(RUNNING) | S(UNKNOWN) | S(RELEASED),
			.to = ATTEMPT_CANCELLED,
			.hears_all = true },
};

/* The job's side, for an attempt that holds it. `quiet_only`: the job moves only where no other
 * attempt is in doubt and it isn't queued already. */
#define J(state) (1u << JOB_##state)
static const struct job_rule {
	unsigned int from;
	bool quiet_only;
	enum job_state to;
	enum job_state to_without_retry;
} job_rules[ATTEMPT_EVENT__MAX] = {
	[ON_ACKNOWLEDGED] = { 0, false, JOB_RUNNING, JOB_RUNNING }, /* stays running */
	[ON_RESULT] = { J(QUEUED) | J(RUNNING) | J(UNKNOWN), false, JOB_SUCCEEDED, JOB_SUCCEEDED },
	[ON_FAILURE] = { J(RUNNING) | J(UNKNOWN), true, JOB_QUEUED, JOB_FAILED },
	[ON_TRACK_LOST] = { J(RUNNING), false, JOB_UNKNOWN, JOB_UNKNOWN },
	[ON_RELEASE] = { J(RUNNING) | J(UNKNOWN), true, JOB_QUEUED, JOB_QUEUED },
	[ON_CANCEL] = { J(RUNNING) | J(UNKNOWN), true, JOB_QUEUED, JOB_FAILED },
};

bool moves_holds(const struct job_facts *job, uint64_t version_read)
{
	return job_open(job->state) && !job->completed && job->version == version_read;
}

/* Why a result for an attempt in play is thrown away. An open job whose version went on was failed
 * for good in between. */
static enum race_why lost_to(const struct job_facts *job)
{
	if (job->completed)
		return RACE_LOST_SWAP;
	return job->state == JOB_CANCELLED ? RACE_JOB_CANCELLED : RACE_JOB_FAILED;
}

static struct move ended(enum attempt_state state, enum attempt_event event)
{
	struct move move = { .verdict = MOVE_LATE, .attempt_to = state };

	if (event == ON_RELEASE && state == ATTEMPT_RELEASED)
		move.verdict = MOVE_REPEATED;
	if (event != ON_RESULT)
		return move;
	switch (state) {
	case ATTEMPT_SUCCEEDED:
		move.why = RACE_CONTRADICTION;
		break; /* unless it is the same result again */
	case ATTEMPT_FAILED: move.why = RACE_ATTEMPT_FAILED; break;
	case ATTEMPT_CANCELLED: move.why = RACE_ATTEMPT_CANCELLED; break;
	case ATTEMPT_DISCARDED: move.why = RACE_ATTEMPT_DISCARDED; break;
	case ATTEMPT_STARTING:
	case ATTEMPT_RUNNING:
	case ATTEMPT_UNKNOWN:
	case ATTEMPT_RELEASED:
	case ATTEMPT_STATE__MAX: break;
	}
	return move;
}

bool moves_sent_since(const struct sendings *sendings)
{
	if (sendings->of_one && sendings->answered > 0)
		return sendings->answered < sendings->resent;
	return sendings->under_way || (sendings->of_one && sendings->resent > 0);
}

struct move moves_decide(const struct job_facts *job, enum attempt_state from,
			 uint64_t version_read, enum attempt_event event, enum mover by)
{
	const struct attempt_rule *rule = &attempt_rules[event];
	const struct job_rule *job_rule = &job_rules[event];
	unsigned int bit = 1u << from;
	struct move move = { .verdict = MOVE_MADE, .attempt_to = rule->to };

	if (!attempt_in_play(from) || (event == ON_RELEASE && from == ATTEMPT_RELEASED))
		return ended(from, event);
	if (rule->noted_from & bit && by == BY_POLLER)
		return (struct move){ .verdict = MOVE_NOTED, .attempt_to = from };
	if (!((by == BY_OPERATOR ? rule->operator_from : rule->from) & bit))
		return (struct move){ .verdict =
					      from == ATTEMPT_STARTING ? MOVE_REFUSED : MOVE_LATE,
				      .attempt_to = from };
	if (rule->hears_all && job->sent_since)
		return (struct move){ .verdict = MOVE_REFUSED, .attempt_to = from };
	if (!moves_holds(job, version_read)) {
		if (event == ON_RESULT) {
			move.attempt_to = ATTEMPT_DISCARDED;
			move.why = lost_to(job);
		}
		return move;
	}
	if (!(job_rule->from & (1u << job->state)) || (job_rule->quiet_only && job->other_in_doubt))
		return move;
	move.job_moves = true;
	move.job_to = job->may_retry ? job_rule->to : job_rule->to_without_retry;
	move.version_up = move.job_to == JOB_SUCCEEDED || move.job_to == JOB_FAILED;
	return move;
}

unsigned int moves_attempt_from(enum attempt_event event)
{
	return attempt_rules[event].from;
}

enum verdict moves_cancel_job(enum job_state from)
{
	if (from == JOB_SUCCEEDED)
		return MOVE_LATE;
	return from == JOB_CANCELLED ? MOVE_REPEATED : MOVE_MADE;
}
