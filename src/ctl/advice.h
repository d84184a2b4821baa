/* advice.h: what an operator may type next, spelled out, so that it can be copied. */
#ifndef CTL_ADVICE_H
#define CTL_ADVICE_H

#include "core/job.h"
#include "ctl/ctl.h"
#include "store/job_store.h"

/* The commands that would settle this attempt, each after `indent`; nothing for one that has ended.
 */
void advice_settle(struct ctl *ctl, const char *indent, const struct attempt *attempt);

/* What can be done next about a job, in sentences and commands. */
void advice_job(struct ctl *ctl, const struct job *job);

/* A sentence on `err` for all but CHANGED_DONE, and how the process ends. `job`: as it is now,
 * where the answer fills it in. `what` ("job", "attempt") and its id are what was asked about. */
enum ctl_exit advice_changed(struct ctl *ctl, enum changed changed, const char *what,
			     const char *id, const char *provider, const struct job *job,
			     const struct refusal *refusal);

#endif
