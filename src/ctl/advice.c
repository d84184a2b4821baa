/* advice.c: see advice.h. */
#include "ctl/advice.h"

#include <string.h>

void advice_settle(struct ctl *ctl, const char *indent, const struct attempt *attempt)
{
	char id[ID_TEXT_LEN + 1];

	id_format(&attempt->id, id);
	if (!attempt_in_play(attempt->state))
		return;
	if (attempt->state == ATTEMPT_STARTING) {
		ctl_line(ctl,
			 "%s# its poller holds it; only a result can be said now, the rest once "
			 "its lease has run out",
			 indent);
		ctl_line(ctl, "%sonejob attempt settle %s succeeded --result FILE", indent, id);
		return;
	}
	ctl_line(ctl, "%sonejob attempt settle %s succeeded --result FILE   # it had its effect",
		 indent, id);
	ctl_line(
		ctl,
		"%sonejob attempt settle %s failed --error TEXT       # it had none and never will",
		indent, id);
	ctl_line(ctl, "%sonejob attempt settle %s cancelled                 # it was stopped",
		 indent, id);
	if (attempt->state != ATTEMPT_RELEASED)
		ctl_line(ctl,
			 "%sonejob attempt settle %s released                  # not known; let "
			 "another one race it",
			 indent, id);
}

static void settle_each(struct ctl *ctl, const struct job *job, enum attempt_state state)
{
	for (size_t i = 0; i < job->attempts_len; i++) {
		if (job->attempts[i].state == state)
			advice_settle(ctl, "  ", &job->attempts[i]);
	}
}

static bool has_attempt(const struct job *job, enum attempt_state state)
{
	for (size_t i = 0; i < job->attempts_len; i++) {
		if (job->attempts[i].state == state)
			return true;
	}
	return false;
}

static void advise_open(struct ctl *ctl, const struct job *job, const char *id)
{
	if (job->state == JOB_QUEUED)
		ctl_line(ctl, "next: wait; a poller takes it when it is due, if one is alive: "
			      "onejob doctor");
	else if (job->state == JOB_RUNNING)
		ctl_line(ctl, "next: wait; an attempt is under way.");
	else
		ctl_line(ctl, "next: find out at the provider what became of the unknown attempt, "
			      "then say it:");
	settle_each(ctl, job, ATTEMPT_UNKNOWN);
	ctl_line(ctl, "or give the job up: onejob job cancel %s", id);
}

static void advise_ended(struct ctl *ctl, const struct job *job, const char *id)
{
	const char *advice = job_advice(job);

	if (strcmp(advice, "new_attempt") == 0)
		ctl_line(ctl,
			 "next: it may be tried again under the same id: POST /v1/jobs/%s/attempts",
			 id);
	else if (strcmp(advice, "ask_operator") == 0)
		ctl_line(ctl,
			 "next: the provider did something that can't be used. Undo it there, or "
			 "try again all "
			 "the same: POST /v1/jobs/%s/attempts",
			 id);
	else
		ctl_line(ctl, "next: nothing; the job is done.");
	if (has_attempt(job, ATTEMPT_UNKNOWN)) {
		ctl_line(ctl, "an attempt is still in doubt; when you know what became of it:");
		settle_each(ctl, job, ATTEMPT_UNKNOWN);
	}
}

void advice_job(struct ctl *ctl, const struct job *job)
{
	char id[ID_TEXT_LEN + 1];

	id_format(&job->id, id);
	if (job_open(job->state))
		advise_open(ctl, job, id);
	else
		advise_ended(ctl, job, id);
	if (has_attempt(job, ATTEMPT_RELEASED)) {
		ctl_line(ctl, "an attempt was released and may still bring a result; when you know "
			      "what became of it:");
		settle_each(ctl, job, ATTEMPT_RELEASED);
	}
}

static enum ctl_exit refuse_lost(struct ctl *ctl, const char *id, const struct job *job)
{
	char winner[ID_TEXT_LEN + 1];

	ctl_say(ctl,
		"attempt %s: too late. The job is %s%s%s, so this result was thrown away; that it "
		"happened is in "
		"`onejob race list`",
		id, job_state_name(job->state), job->has_completed_by ? " by attempt " : "",
		job->has_completed_by ? id_format(&job->completed_by, winner) : "");
	return CTL_REFUSED;
}

static enum ctl_exit refuse_provider(struct ctl *ctl, enum changed changed, const char *named,
				     const struct refusal *refusal)
{
	if (changed == CHANGED_NO_SUCH_PROVIDER)
		ctl_say(ctl,
			"there is no provider '%s'; nothing was done (see `onejob provider list`)",
			named);
	else if (changed == CHANGED_PROVIDER_DISABLED)
		ctl_say(ctl, "the provider %s is disabled; nothing was done", named);
	else
		ctl_say(ctl,
			"the provider %s may not serve this job's contract now: %s; nothing was "
			"done (see `onejob contract certificates`)",
			named, standing_name(refusal->why));
	return CTL_REFUSED;
}

enum ctl_exit advice_changed(struct ctl *ctl, enum changed changed, const char *what,
			     const char *id, const char *provider, const struct job *job,
			     const struct refusal *refusal)
{
	const char *named = provider ? provider : "";
	char job_id[ID_TEXT_LEN + 1];

	switch (changed) {
	case CHANGED_DONE:
	case CHANGED_TOMBSTONE: return CTL_DONE;
	case CHANGED_NO_SUCH_JOB: ctl_say(ctl, "there is no %s %s", what, id); return CTL_REFUSED;
	case CHANGED_STALE:
		ctl_say(ctl, "%s %s has changed meanwhile; nothing was done", what, id);
		return CTL_REFUSED;
	case CHANGED_JOB_SETTLED:
		ctl_say(ctl, "%s %s: the job is %s, and stays so; nothing was done", what, id,
			job_state_name(job->state));
		return CTL_REFUSED;
	case CHANGED_DEADLINE_PASSED:
		ctl_say(ctl,
			"%s %s: the job's deadline has passed, so no other attempt may start and "
			"a release would only fail the job; nothing was done. It may be settled as "
			"succeeded, failed or cancelled",
			what, id);
		return CTL_REFUSED;
	case CHANGED_IN_DOUBT:
		ctl_say(ctl,
			"%s %s: a poller holds it, its request may be going out right now; nothing "
			"was done. Try again "
			"when it has ended or its poller's lease has run out",
			what, id);
		return CTL_REFUSED;
	case CHANGED_EFFECT_DONE:
		ctl_say(ctl,
			"%s %s: the provider has had an effect that can't be used; nothing was "
			"done",
			what, id);
		return CTL_REFUSED;
	case CHANGED_NO_SUCH_PROVIDER:
	case CHANGED_PROVIDER_DISABLED:
	case CHANGED_NOT_CERTIFIED: return refuse_provider(ctl, changed, named, refusal);
	case CHANGED_CONTRACT_VIOLATION:
		ctl_say(ctl, "%s; nothing was done", refusal->words);
		return CTL_REFUSED;
	case CHANGED_ATTEMPT_SETTLED:
		ctl_say(ctl, "%s %s has ended already, and stays as it is: onejob job show %s",
			what, id, id_format(&job->id, job_id));
		return CTL_REFUSED;
	case CHANGED_ATTEMPT_LOST: return refuse_lost(ctl, id, job);
	case CHANGED_TOO_LARGE:
		ctl_say(ctl, "the result is larger than the database takes (max_allowed_packet)");
		return CTL_REFUSED;
	case CHANGED_NOT_STORED:
	case CHANGED__MAX: break;
	}
	ctl_say(ctl, "%s %s: the database couldn't store it; the same may be said again (%s)", what,
		id, db_error(ctl->db));
	return CTL_UNREACHED;
}
