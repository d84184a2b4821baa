#include "poller/errand.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/backoff.h"
#include "core/status_read.h"
#include "poller/certifying.h"

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
	json_free(errand->tree);
	if (errand->batch && --errand->batch->open == 0) {
		claim_list_free(&errand->batch->claims);
		free(errand->batch);
	}
	if (errand->ask)
		ask_release(errand->ask);
	free(errand->ask);
	if (errand->message)
		outbox_message_release(errand->message);
	free(errand->message);
	free(errand);
}

/* Without memory the process ends: these attempts are on disk, and their lease makes them unknown.
 */
static void *room(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

/* The database told its time somewhere within the claim. Taken for its end, the provider's
 * Retry-After date is never met too early. */
struct errand_list errands_of_claims(struct claim_list *claims, int64_t claimed_ms,
				     int64_t claim_took_ms)
{
	struct errand_batch *batch = room(sizeof *batch);
	struct errand_list list = { 0 };

	batch->claims = *claims;
	batch->open = claims->len;
	for (size_t i = 0; i < claims->len; i++) {
		struct errand *errand = room(sizeof *errand);
		struct claim *claim = &batch->claims.list[i];

		*errand = (struct errand){
			.kind = ERRAND_SEND,
			.batch = batch,
			.job_id = claim->job_id,
			.attempt_id = claim->attempt_id,
			.number = claim->number,
			.generation = claim->generation,
			.tries = claim->tries_here,
			.provider = claim->provider,
			.def = claim->def,
			.input = &claim->input,
			.has_contract = claim->contract_name[0] != '\0',
			.contract = claim->contract,
			.route = claim->route,
			.traceparent = claim->traceparent,
			.budget_ms = claim->budget_ms,
			.claimed_us = claim->now_us - (claim_took_ms + 1) * 1000,
			.claimed_ms = claimed_ms,
		};
		errand_push(&list, errand);
	}
	return list;
}

struct errand_list errands_of_asks(struct ask_list *asks)
{
	static const enum errand_kind kinds[ASK_KIND__MAX] = {
		[ASK_STATUS] = ERRAND_STATUS,
		[ASK_RESEND] = ERRAND_RESEND,
		[ASK_CANCEL] = ERRAND_CANCEL,
	};
	struct errand_list list = { 0 };

	for (size_t i = 0; i < asks->len; i++) {
		struct errand *errand = room(sizeof *errand);
		struct ask *ask = room(sizeof *ask);

		*ask = asks->list[i];
		*errand = (struct errand){
			.kind = kinds[ask->kind],
			.ask = ask,
			.job_id = ask->job_id,
			.attempt_id = ask->attempt_id,
			.number = ask->number,
			.generation = ask->generation,
			.tries = ask->tries,
			.sending = ask->sending,
			.provider = ask->provider,
			.def = &ask->def,
			.input = &ask->terms.input,
			.has_contract = ask->terms.has_contract,
			.contract = ask->terms.contract,
			.route = ask->terms.route,
			.traceparent = ask->traceparent,
			.reference = ask->reference.bytes,
			.budget_ms = ask->budget_ms,
			.claimed_us = ask->taken_us,
			.claimed_ms = ask->taken_ms,
		};
		errand_push(&list, errand);
	}
	asks->len = 0;
	ask_list_free(asks);
	return list;
}

struct errand_list errands_of_messages(struct outbox_list *messages)
{
	struct errand_list list = { 0 };

	for (size_t i = 0; i < messages->len; i++) {
		struct errand *errand = room(sizeof *errand);

		errand->kind = ERRAND_HOOK;
		errand->told_end = HOOK_END__MAX;
		errand->message = room(sizeof *errand->message);
		*errand->message = messages->list[i];
		errand->claimed_ms = errand->message->taken_ms;
		errand->claimed_us = errand->message->taken_us;
		errand_push(&list, errand);
	}
	messages->len = 0;
	outbox_list_free(messages);
	return list;
}

static struct word word_about(const struct errand *errand, enum attempt_event event)
{
	return (struct word){
		.attempt_id = errand->attempt_id,
		.job_id = errand->job_id,
		.event = event,
		.by = BY_POLLER,
		.of_sending = errand->kind == ERRAND_SEND || errand->kind == ERRAND_RESEND,
		.sending = errand->sending,
		.retry_after_ms = -1,
		.ask_after_ms = -1,
	};
}

static int64_t delay(const struct errand *errand, uint32_t random, int64_t retry_after_ms)
{
	return backoff_ms(errand->tries, errand->def->retry_base_ms, errand->def->retry_max_ms,
			  random, retry_after_ms);
}

/* Where the reference comes later, the word that brings it has it asked about. */
static bool can_ask(const struct errand *errand)
{
	return provider_def_can_ask(errand->def, errand->ask && errand->ask->reference.bytes);
}

/* How long accepted work may take: until the provider's deadline, and no longer than until the
 * job's own. */
static uint32_t overdue_after_ms(const struct errand *errand)
{
	int64_t most_ms = errand->def->accepted_deadline_ms, left_ms;

	if (errand->budget_ms < 0)
		return (uint32_t)most_ms;
	left_ms = errand->budget_ms - (clock_monotonic_ms() - errand->claimed_ms);
	if (left_ms < 0)
		left_ms = 0;
	return (uint32_t)(left_ms < most_ms ? left_ms : most_ms);
}

/* told_ms: the Retry-After of the answer, whatever that means; -1: none. */
static void speak(struct errand *errand, uint32_t random, int64_t told_ms)
{
	const struct outcome *o = &errand->outcome;
	struct word *word = &errand->word;

	*word = word_about(errand, ON_TRACK_LOST);
	switch (o->kind) {
	case OUTCOME_RESULT:
		word->event = ON_RESULT;
		word->result = o->result.bytes;
		word->result_len = o->result.len;
		break;
	case OUTCOME_ACCEPTED:
		word->event = ON_ACKNOWLEDGED;
		word->reference = o->reference[0] ? o->reference : NULL;
		word->overdue_ms = overdue_after_ms(errand);
		word->ask_after_ms =
			errand->def->has_status ? delay(errand, random, o->retry_after_ms) : -1;
		break;
	case OUTCOME_RETRY:
		word->retryable = true;
		word->delay_ms = delay(errand, random, o->retry_after_ms);
		word->retry_after_ms = o->retry_after_ms;
		word->event = ON_FAILURE;
		break;
	case OUTCOME_FAILED: /* a contract may have it tried again all the same */
		word->event = ON_FAILURE;
		word->delay_ms = delay(errand, random, -1);
		break;
	case OUTCOME_CANCELLED: word->event = ON_CANCEL; break;
	case OUTCOME_UNKNOWN:
	case OUTCOME__MAX:
		word->ask_after_ms = can_ask(errand) ? delay(errand, random, told_ms) : -1;
		break;
	}
	word->reason = o->reason;
	word->phase = o->phase;
	word->http_status = o->http_status;
	word->effect_done = o->effect_done;
	word->detail = o->detail.len ? o->detail.bytes : NULL;
	word->public_len = o->public_len;
}

/* The provider has heard of the cancel: done, or nothing there to cancel any more. */
static bool heard(uint32_t status)
{
	return (status >= 200 && status <= 299) || status == 404 || status == 409 || status == 410;
}

static void keep_doubt(struct errand *errand, uint32_t random, int64_t told_ms)
{
	errand->keeps = true;
	errand->kept.next_ms = delay(errand, random, told_ms);
	if (errand->kind == ERRAND_RESEND && errand->tries >= ASK_RESENDS_MAX)
		errand->kept.next_ms = -1;
	errand->kept.told = errand->kind == ERRAND_CANCEL && (heard(errand->outcome.http_status) ||
							      errand->tries >= ASK_CANCELS_MAX);
}

const struct terms *errand_terms(const struct errand *errand, struct terms *terms)
{
	if (!errand->contract || !errand->route)
		return NULL;
	*terms = (struct terms){ .contract = errand->contract,
				 .route = errand->route,
				 .input = errand->tree ? json_root(errand->tree) : NULL };
	return terms;
}

/* Work that was asked for by another row may well answer in another form: that nothing is where
 * this row looks for it is no failure of the work. */
static bool may_judge(const struct errand *errand)
{
	return errand->ask->same_row || errand->outcome.reason != REASON_CONTRACT_VIOLATION;
}

static enum rc judge(struct errand *errand, const struct seen *seen, bool *settles_out)
{
	struct terms room;
	const struct terms *terms = errand_terms(errand, &room);
	struct outcome *o = &errand->outcome;
	enum rc rc;

	switch (errand->kind) {
	case ERRAND_STATUS:
		rc = status_of(seen, errand->def, terms, o);
		*settles_out = rc == RC_OK && o->kind != OUTCOME_UNKNOWN && may_judge(errand);
		return rc;
	case ERRAND_RESEND:
		rc = outcome_of(seen, errand->def, terms, o);
		*settles_out = rc == RC_OK && outcome_settles_resend(o);
		return rc;
	case ERRAND_CANCEL:
		rc = cancel_of(seen, errand->def, o);
		*settles_out = rc == RC_OK && o->kind == OUTCOME_CANCELLED && errand->ask->in_play;
		return rc;
	case ERRAND_SEND:
	case ERRAND_HOOK: /* these two have ends of their own */
	case ERRAND_CERTIFY:
	case ERRAND_KIND__MAX: break;
	}
	*settles_out = true;
	return outcome_of(seen, errand->def, terms, o);
}

void errand_conclude(struct errand *errand, const struct seen *seen, uint32_t random)
{
	int64_t told_ms = seen->end == SEEN_WHOLE ? seen->retry_after_ms : -1;
	bool settles;

	if (errand->kind == ERRAND_CERTIFY)
		certifying_conclude(errand, seen);
	else if (judge(errand, seen, &settles) != RC_OK) {
		errand->outcome = (struct outcome){ 0 };
		if (errand->kind == ERRAND_SEND)
			errand_doubt(errand);
		else
			keep_doubt(errand, random, told_ms);
	} else if (settles) {
		speak(errand, random, told_ms);
	} else {
		keep_doubt(errand, random, told_ms);
	}
}

/* A question that was never asked leaves all as it was, and is asked later. */
void errand_never_sent(struct errand *errand, const char *detail, uint32_t random)
{
	if (errand->kind != ERRAND_SEND) {
		errand->keeps = true;
		errand->kept.next_ms = delay(errand, random, -1);
		errand->kept.unsent = true;
		return;
	}
	errand->word = word_about(errand, ON_FAILURE);
	errand->word.reason = REASON_NEVER_SENT;
	errand->word.phase = PHASE_NOT_SENT;
	errand->word.detail = detail;
	errand->word.retryable = true;
	errand->word.delay_ms = delay(errand, random, -1);
}

struct errand_list errands_take_resends(struct errand_list *list, uint32_t random)
{
	struct errand_list resends = { 0 }, others = { 0 };

	for (struct errand *e; (e = errand_pop(list));) {
		if (e->kind == ERRAND_RESEND)
			errand_never_sent(e, "the lease was over", random);
		errand_push(e->kind == ERRAND_RESEND ? &resends : &others, e);
	}
	*list = others;
	return resends;
}

void errand_too_large(struct errand *errand)
{
	struct word before = errand->word;

	errand->word = word_about(errand, ON_FAILURE);
	errand->word.reason = REASON_TOO_LARGE;
	errand->word.phase = before.phase;
	errand->word.http_status = before.http_status;
	errand->word.effect_done =
		errand->contract ? errand->contract->side_effects : errand->def->side_effects;
	errand->word.detail = "the result is larger than the database takes (max_allowed_packet)";
}

void errand_doubt(struct errand *errand)
{
	errand->word = word_about(errand, ON_TRACK_LOST);
	errand->word.reason = REASON_POLLER_LOST;
	errand->word.ask_after_ms = can_ask(errand) ? 0 : -1;
	errand->word.detail =
		"what came back could not be written down; the log of the poller says why";
}
