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
#include "store/db.h"

#define ASK_MAX 64
#define ASK_RESENDS_MAX 20 /* the same request under the same key; then it stops */
#define ASK_CANCELS_MAX 20 /* a cancel that doesn't get through */

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
	uint32_t asked; /* this one included */
	bool in_play;	/* the attempt may still win */
	char provider[NAME_MAX_LEN + 1];
	struct provider_def def;
	struct blob reference; /* the provider's own name for the work */
	struct blob input;     /* ASK_RESEND */
	char traceparent[TRACEPARENT_LEN + 1];
	int64_t budget_ms; /* until the job's deadline; -1: none */
};

struct ask_list {
	struct ask *list;
	size_t len;
};
void ask_release(struct ask *ask);
void ask_list_free(struct ask_list *asks);

/* Up to `max` (at most ASK_MAX) questions that are due. An attempt that nobody can ask about (its
 * provider is gone, can't be asked, or has another row than the request was built from; the job's
 * deadline has passed) is asked about no more. */
MUST_CHECK enum rc ask_take(struct db *db, size_t max, struct ask_list *asks_out);

/* The answer keeps the doubt. `answer` is at most 1,000 bytes; reference NULL: as it was. next_ms
 * -1: no more questions. */
MUST_CHECK enum rc ask_keep(struct db *db, const struct id *job_id, const struct id *attempt_id,
			    const char *answer, const char *reference, int64_t next_ms);

/* The provider was told of the cancel, or can't be told. What is still in doubt is asked about
 * again after next_ms. */
MUST_CHECK enum rc ask_cancel_told(struct db *db, const struct id *attempt_id, const char *answer,
				   int64_t next_ms);

/* Acknowledged work whose deadline has passed becomes unknown. */
MUST_CHECK enum rc ask_overdue(struct db *db, size_t *overdue_out);

#endif
