#include "core/job.h"

#include <stdlib.h>
#include <string.h>

static const char *const job_states[JOB_STATE__MAX] = {
	[JOB_QUEUED] = "queued",       [JOB_RUNNING] = "running", [JOB_UNKNOWN] = "unknown",
	[JOB_SUCCEEDED] = "succeeded", [JOB_FAILED] = "failed",	  [JOB_CANCELLED] = "cancelled",
};

static const char *const attempt_states[ATTEMPT_STATE__MAX] = {
	[ATTEMPT_STARTING] = "starting",   [ATTEMPT_RUNNING] = "running",
	[ATTEMPT_UNKNOWN] = "unknown",	   [ATTEMPT_RELEASED] = "released",
	[ATTEMPT_SUCCEEDED] = "succeeded", [ATTEMPT_FAILED] = "failed",
	[ATTEMPT_CANCELLED] = "cancelled", [ATTEMPT_DISCARDED] = "discarded",
};

static const char *const reasons[REASON__MAX] = {
	[REASON_TIMEOUT] = "timeout",
	[REASON_CONNECTION_RESET] = "connection_reset",
	[REASON_EMPTY] = "empty",
	[REASON_TRUNCATED] = "truncated",
	[REASON_MALFORMED] = "malformed",
	[REASON_GATEWAY] = "gateway",
	[REASON_POLLER_LOST] = "poller_lost",
	[REASON_SHUTDOWN] = "shutdown",
	[REASON_DEADLINE] = "deadline",
	[REASON_NEVER_SENT] = "never_sent",
	[REASON_REFUSED] = "refused",
	[REASON_RETRY_LATER] = "retry_later",
	[REASON_REDIRECT] = "redirect",
	[REASON_CONTRACT_VIOLATION] = "contract_violation",
	[REASON_TOO_LARGE] = "too_large",
	[REASON_TEMPLATE] = "template",
	[REASON_PROVIDER_FAILED] = "provider_failed",
	[REASON_OPERATOR] = "operator",
	[REASON_EXPIRED] = "expired",
	[REASON_ATTEMPT_CANCELLED] = "attempt_cancelled",
};

static const char *const phases[PHASE__MAX] = {
	[PHASE_NOT_SENT] = "not_sent",
	[PHASE_SENT_IN_PART] = "sent_in_part",
	[PHASE_SENT] = "sent",
	[PHASE_ANSWER_BEGUN] = "answer_begun",
};

static const char *const race_whys[RACE__MAX] = {
	[RACE_LOST_SWAP] = "lost_swap",		  [RACE_JOB_CANCELLED] = "job_cancelled",
	[RACE_JOB_FAILED] = "job_failed",	  [RACE_ATTEMPT_CANCELLED] = "attempt_cancelled",
	[RACE_ATTEMPT_FAILED] = "attempt_failed", [RACE_ATTEMPT_DISCARDED] = "attempt_discarded",
	[RACE_CONTRADICTION] = "contradiction",
};

static const char *const roles[ROLE__MAX] = { [ROLE_USER] = "user", [ROLE_OPERATOR] = "operator" };

static int find(const char *const *names, int max, const char *text, size_t len)
{
	for (int i = 0; i < max; i++)
		if (names[i] && strlen(names[i]) == len && memcmp(names[i], text, len) == 0)
			return i;
	return -1;
}

#define NAMES(prefix, type, table, max)                                                            \
	const char *prefix##_name(type value)                                                      \
	{                                                                                          \
		return (unsigned int)value < (unsigned int)(max) ? table[value] : NULL;            \
	}                                                                                          \
	bool prefix##_parse(const char *text, size_t len, type *value_out)                         \
	{                                                                                          \
		int found = find(table, max, text, len);                                           \
		if (found < 0)                                                                     \
			return false;                                                              \
		*value_out = (type)found;                                                          \
		return true;                                                                       \
	}

NAMES(job_state, enum job_state, job_states, JOB_STATE__MAX)
NAMES(attempt_state, enum attempt_state, attempt_states, ATTEMPT_STATE__MAX)
NAMES(reason, enum reason, reasons, REASON__MAX)
NAMES(phase, enum phase, phases, PHASE__MAX)
NAMES(race_why, enum race_why, race_whys, RACE__MAX)
NAMES(role, enum role, roles, ROLE__MAX)

bool job_open(enum job_state state)
{
	return state == JOB_QUEUED || state == JOB_RUNNING || state == JOB_UNKNOWN;
}

bool attempt_in_doubt(enum attempt_state state)
{
	return state == ATTEMPT_STARTING || state == ATTEMPT_RUNNING || state == ATTEMPT_UNKNOWN;
}

bool attempt_in_play(enum attempt_state state)
{
	return attempt_in_doubt(state) || state == ATTEMPT_RELEASED;
}

bool name_valid(const char *text, size_t len)
{
	if (len < 1 || len > NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool first = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!first && (i == 0 || (c != '-' && c != '_' && c != '.')))
			return false;
	}
	return true;
}

static void blob_release(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}

void attempt_release(struct attempt *attempt)
{
	blob_release(&attempt->detail);
	blob_release(&attempt->note);
	blob_release(&attempt->reference);
	blob_release(&attempt->last_answer);
	blob_release(&attempt->settled_by);
	*attempt = (struct attempt){ 0 };
}

void job_release(struct job *job)
{
	blob_release(&job->owner);
	blob_release(&job->key);
	blob_release(&job->input);
	blob_release(&job->metadata);
	blob_release(&job->result);
	blob_release(&job->error_detail);
	blob_release(&job->passed_over);
	for (size_t i = 0; i < job->attempts_len; i++)
		attempt_release(&job->attempts[i]);
	free(job->attempts);
	*job = (struct job){ 0 };
}

/* An expired job, one past its deadline, and one whose input was purged start no attempt again. */
static const char *advice_failed(const struct job *job)
{
	if (job->purged_us != 0 || job->error_reason == REASON_EXPIRED ||
	    job->error_reason == REASON_DEADLINE || job->past_deadline)
		return "done";
	return job->effect_done ? "ask_operator" : "new_attempt";
}

const char *job_advice(const struct job *job)
{
	switch (job->state) {
	case JOB_QUEUED:
	case JOB_RUNNING: return "wait";
	case JOB_UNKNOWN: return job->asked_about ? "wait" : "ask_operator";
	case JOB_SUCCEEDED:
	case JOB_CANCELLED: return "done";
	case JOB_FAILED: return advice_failed(job);
	case JOB_STATE__MAX: break;
	}
	return "wait";
}

uint32_t job_retry_hint_s(const struct job *job, int64_t now_us)
{
	switch (job->state) {
	case JOB_QUEUED:
		if (job->run_after_us > now_us) {
			int64_t wait_s = (job->run_after_us - now_us + 999999) / 1000000;

			return wait_s > 3600 ? 3600 : (uint32_t)wait_s;
		}
		return 1;
	case JOB_RUNNING: return 1;
	case JOB_UNKNOWN: return 10; /* a person has to look, or a provider is asked now and then */
	case JOB_SUCCEEDED:
	case JOB_FAILED:
	case JOB_CANCELLED:
	case JOB_STATE__MAX: break;
	}
	return 0;
}
