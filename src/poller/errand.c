#include "poller/errand.h"

#include <stdlib.h>

#include "core/backoff.h"

void errand_push(struct errand_list *list, struct errand *errand)
{
	errand->next = NULL;
	if (list->last)
		list->last->next = errand;
	else
		list->first = errand;
	list->last = errand;
	list->len++;
}

void errand_append(struct errand_list *list, struct errand_list *tail)
{
	if (!tail->first)
		return;
	if (list->last)
		list->last->next = tail->first;
	else
		list->first = tail->first;
	list->last = tail->last;
	list->len += tail->len;
	*tail = (struct errand_list){ 0 };
}

struct errand *errand_pop(struct errand_list *list)
{
	struct errand *errand = list->first;

	if (!errand)
		return NULL;
	list->first = errand->next;
	if (!list->first)
		list->last = NULL;
	list->len--;
	errand->next = NULL;
	return errand;
}

void errand_free(struct errand *errand)
{
	if (!errand)
		return;
	outcome_release(&errand->outcome);
	if (--errand->batch->open == 0) {
		claim_list_free(&errand->batch->claims);
		free(errand->batch);
	}
	free(errand);
}

static struct word word_about(const struct errand *errand, enum attempt_event event)
{
	return (struct word){
		.attempt_id = errand->claim->attempt_id,
		.job_id = errand->claim->job_id,
		.event = event,
		.by = BY_POLLER,
		.retry_after_ms = -1,
	};
}

static int64_t delay(const struct errand *errand, uint32_t random, int64_t retry_after_ms)
{
	const struct provider_def *def = errand->claim->def;

	return backoff_ms(errand->claim->tries_here, def->retry_base_ms, def->retry_max_ms, random, retry_after_ms);
}

void errand_conclude(struct errand *errand, const struct seen *seen, uint32_t random)
{
	struct outcome *o = &errand->outcome;
	struct word *word = &errand->word;

	if (outcome_of(seen, errand->claim->def, o) != RC_OK) {
		*o = (struct outcome){ 0 };
		errand_doubt(errand);
		return;
	}
	*word = word_about(errand, ON_TRACK_LOST);
	switch (o->kind) {
	case OUTCOME_RESULT:
		word->event = ON_RESULT;
		word->result = o->result.bytes;
		word->result_len = o->result.len;
		break;
	case OUTCOME_RETRY:
		word->retryable = true;
		word->delay_ms = delay(errand, random, o->retry_after_ms);
		word->retry_after_ms = o->retry_after_ms;
		word->event = ON_FAILURE;
		break;
	case OUTCOME_FAILED:
		word->event = ON_FAILURE;
		break;
	case OUTCOME_UNKNOWN:
	case OUTCOME__MAX:
		break;
	}
	word->reason = o->reason;
	word->phase = o->phase;
	word->http_status = o->http_status;
	word->effect_done = o->effect_done;
	word->detail = o->detail.len ? o->detail.bytes : NULL;
}

void errand_never_sent(struct errand *errand, const char *detail, uint32_t random)
{
	errand->word = word_about(errand, ON_FAILURE);
	errand->word.reason = REASON_NEVER_SENT;
	errand->word.phase = PHASE_NOT_SENT;
	errand->word.detail = detail;
	errand->word.retryable = true;
	errand->word.delay_ms = delay(errand, random, -1);
}

void errand_doubt(struct errand *errand)
{
	struct word before = errand->word;

	errand->word = word_about(errand, ON_TRACK_LOST);
	errand->word.reason = REASON_POLLER_LOST;
	errand->word.phase = before.phase;
	errand->word.http_status = before.http_status;
	errand->word.detail = "what came back could not be written down; the log of the poller says why";
}
