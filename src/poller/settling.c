#include "poller/settling.h"

#include "base/clock.h"
#include "base/log.h"
#include "core/trace.h"
#include "poller/certifying.h"
#include "poller/desk_own.h"
#include "poller/messages.h"
#include "poller/questions.h"

#define BATCH_MIN 4
#define LOSSES_UNTIL_ALONE 3 /* of a batch; then its words are said one by one */

static void log_settled(const struct errand *errand, enum settled verdict)
{
	static const char *const verdicts[SETTLED__MAX] = {
		[SETTLED_MADE] = "settled",
		[SETTLED_REPEATED] = "repeated",
		[SETTLED_NOTED] = "noted",
		[SETTLED_LOST] = "discarded",
		[SETTLED_LATE] = "late",
		[SETTLED_REFUSED] = "refused",
		[SETTLED_NO_SUCH_ATTEMPT] = "purged",
	};
	static const char *const events[ATTEMPT_EVENT__MAX] = {
		[ON_ACKNOWLEDGED] = "running", [ON_RESULT] = "result",	  [ON_FAILURE] = "failed",
		[ON_TRACK_LOST] = "unknown",   [ON_RELEASE] = "released", [ON_CANCEL] = "cancelled",
	};
	const struct word *word = &errand->word;
	const char *reason = reason_name(word->reason);
	/* Our own words, and not what a provider said. */
	const char *cause = word->reason == REASON_NEVER_SENT ? word->detail : NULL;
	char job[ID_TEXT_LEN + 1], attempt[ID_TEXT_LEN + 1], trace[TRACE_ID_LEN + 1];

	trace_id(trace, errand->traceparent, &word->job_id);
	log_info("attempt",
		 "job=%s attempt=%s number=%u provider=%s outcome=%s verdict=%s reason=%s "
		 "http_status=%u trace=%s%s%s%s",
		 id_format(&word->job_id, job), id_format(&word->attempt_id, attempt),
		 errand->number, errand->provider, events[word->event], verdicts[verdict],
		 reason ? reason : "-", word->http_status, trace, cause ? " detail=\"" : "",
		 cause ? cause : "", cause ? "\"" : "");
}

/* A batch that the database refuses as such is said word by word, so that one that can't be written
 * holds up no other: then without its explanation, and at last as a doubt. */
static bool settle_alone(struct desk *d, struct errand *errand)
{
	enum settled verdict;
	enum rc rc = settle_words(d->db, &errand->word, 1, &verdict);

	for (int less = 0; db_refused(rc) && less < 2; less++) {
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
	if (db_refused(rc)) {
		desk_give_up_id(d, "an attempt can't be settled at all");
		return true; /* left to the lease that ends */
	}
	if (rc == RC_OK)
		log_settled(errand, verdict);
	return rc == RC_OK;
}

/* One whose rows another session holds goes behind the others; the database is well, so work goes
 * on. Only a poller that wants to end counts how often it has tried. */
static bool settle_each(struct desk *d)
{
	int64_t end_ms = desk_piece_end_ms(d);
	bool held = false;

	for (size_t left = d->unsettled.len; left > 0 && clock_monotonic_ms() < end_ms; left--) {
		desk_keep_lease(d);
		if (settle_alone(d, d->unsettled.first))
			errand_free(errand_pop(&d->unsettled));
		else if (!db_was_locked_out(d->db))
			return false;
		else {
			errand_push(&d->unsettled, errand_pop(&d->unsettled));
			if (!held) /* it took what the others need */
				end_ms = desk_piece_end_ms(d);
			held = true;
		}
	}
	return !held || desk_is_claiming(d);
}

size_t settling_next_max(size_t batch_max, size_t len, int64_t took_ms, int64_t piece_ms)
{
	if (took_ms > piece_ms)
		return len > 2 * BATCH_MIN ? len / 2 : BATCH_MIN;
	if (len < batch_max || took_ms > piece_ms / 4)
		return batch_max;
	return batch_max < SETTLE_MAX / 2 ? batch_max * 2 : SETTLE_MAX;
}

static bool settle_some(struct desk *d)
{
	enum settled verdicts[SETTLE_MAX];
	size_t len = 0;
	int64_t began_ms = clock_monotonic_ms(), piece_ms = desk_piece_end_ms(d) - began_ms;

	for (struct errand *e = d->unsettled.first; e && len < d->batch_max; e = e->next)
		d->words[len++] = e->word;
	enum rc rc = settle_words(d->db, d->words, len, verdicts);

	d->batch_max =
		settling_next_max(d->batch_max, len, clock_monotonic_ms() - began_ms, piece_ms);
	if (rc == RC_RETRY && db_was_locked_out(d->db))
		return len > 1 ? settle_each(d) : desk_is_claiming(d);
	switch (rc) {
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

static void sort_out(struct desk *d, struct errand_list *finished_list)
{
	for (struct errand *e; (e = errand_pop(finished_list));) {
		if (e->ask)
			questions_returned(d, e);
		if (e->kind == ERRAND_CERTIFY)
			certifying_back(e);
		else
			errand_push(e->kind == ERRAND_HOOK ? &d->told
				    : e->keeps		   ? &d->kept
							   : &d->unsettled,
				    e);
	}
}

void settling_collect(struct desk *d)
{
	struct errand_list back = { 0 };

	pthread_mutex_lock(&d->lock);
	errand_append(&back, &d->finished);
	pthread_mutex_unlock(&d->lock);
	sort_out(d, &back);
}

/* Words first: an answer's note may wait, what an attempt came to may not. */
void settling_run(struct desk *d)
{
	settling_collect(d);
	if (desk_all_noted(d) || desk_in_trouble(d))
		return;
	bool said = d->unsettled.len == 0 || settle_some(d);

	desk_keep_lease(d);
	if (said && questions_note(d) && messages_note(d))
		d->more = true;
	else
		desk_say_trouble(d);
}
