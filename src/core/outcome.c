#include "core/outcome.h"

#include <inttypes.h>
#include <string.h>

#include "core/status_read.h"
#include "core/terms_judge.h"
#include "core/utf8.h"

#define DETAIL_MAX_BYTES 1000
#define DETAIL_BYTE_MIN 0x20

/* A whole answer is judged by its status; every other end of an exchange has its row. */
static const struct {
	enum outcome_kind kind;
	enum reason reason;
	const char *words;
} ends[SEEN__MAX] = {
	[SEEN_WHOLE] = { OUTCOME_RESULT, REASON_NONE, "" },
	[SEEN_NOT_RESOLVED] = { OUTCOME_RETRY, REASON_NEVER_SENT,
				"the host's name wasn't resolved" },
	[SEEN_NOT_CONNECTED] = { OUTCOME_RETRY, REASON_NEVER_SENT, "no connection was made" },
	[SEEN_CONNECT_TIMEOUT] = { OUTCOME_RETRY, REASON_NEVER_SENT,
				   "no connection was made in time" },
	[SEEN_TLS_FAILED] = { OUTCOME_RETRY, REASON_NEVER_SENT, "the TLS handshake failed" },
	[SEEN_PROXY_FAILED] = { OUTCOME_RETRY, REASON_NEVER_SENT, "the proxy made no connection" },
	[SEEN_TIMEOUT] = { OUTCOME_UNKNOWN, REASON_TIMEOUT, "no whole answer came in time" },
	[SEEN_RESET] = { OUTCOME_UNKNOWN, REASON_CONNECTION_RESET, "the connection broke" },
	[SEEN_EMPTY_REPLY] = { OUTCOME_UNKNOWN, REASON_EMPTY,
			       "the connection was closed without an answer" },
	[SEEN_TRUNCATED] = { OUTCOME_UNKNOWN, REASON_TRUNCATED, "the answer was cut" },
	[SEEN_MALFORMED] = { OUTCOME_UNKNOWN, REASON_MALFORMED, "the answer isn't HTTP" },
	[SEEN_BAD_ENCODING] = { OUTCOME_UNKNOWN, REASON_MALFORMED,
				"the body doesn't fit its Content-Encoding" },
	[SEEN_SHUTDOWN] = { OUTCOME_UNKNOWN, REASON_SHUTDOWN,
			    "the poller went down before an answer came" },
	[SEEN_NOT_EQUIPPED] = { OUTCOME_RETRY, REASON_NEVER_SENT,
				"this poller lacks a secret or a setting that the request needs" },
	[SEEN_NOT_BUILT] = { OUTCOME_FAILED, REASON_TEMPLATE, "the request couldn't be made" },
};

/* What a status means where no row of the provider says otherwise. The first row that holds it
 * counts; 2xx isn't here. */
static const struct {
	uint32_t first, last;
	enum outcome_kind kind;
	enum reason reason;
} statuses[] = {
	{ 301, 303, OUTCOME_UNKNOWN, REASON_REDIRECT }, /* the work may have been accepted */
	{ 300, 399, OUTCOME_FAILED, REASON_REDIRECT },
	{ 408, 408, OUTCOME_UNKNOWN, REASON_GATEWAY },
	{ 425, 425, OUTCOME_RETRY, REASON_RETRY_LATER },
	{ 429, 429, OUTCOME_RETRY, REASON_RETRY_LATER },
	{ 400, 499, OUTCOME_FAILED, REASON_REFUSED },
	{ 501, 501, OUTCOME_FAILED, REASON_REFUSED },
	{ 505, 505, OUTCOME_FAILED, REASON_REFUSED },
	{ 500, 599, OUTCOME_UNKNOWN, REASON_GATEWAY },
};

static const struct provider_outcome *row_of(const struct provider_def *def, uint32_t status)
{
	for (size_t i = 0; i < def->outcomes_len; i++)
		if (def->outcomes[i].status == status)
			return &def->outcomes[i];
	return NULL;
}

static void decide(struct outcome *outcome, enum outcome_kind kind, enum reason reason)
{
	outcome->kind = kind;
	outcome->reason = reason;
}

static bool before_sending(enum phase phase)
{
	return phase == PHASE_NONE || phase == PHASE_NOT_SENT;
}

/* Never sent is claimed only where the phase agrees, and a time-out that is proven to have come
 * before the first byte leaves nothing open. */
static void judge_end(const struct seen *seen, struct outcome *outcome)
{
	decide(outcome, ends[seen->end].kind, ends[seen->end].reason);
	if (outcome->reason == REASON_NEVER_SENT && !before_sending(seen->phase))
		decide(outcome, OUTCOME_UNKNOWN, REASON_CONNECTION_RESET);
	else if (seen->end == SEEN_TIMEOUT && seen->phase == PHASE_NOT_SENT)
		decide(outcome, OUTCOME_RETRY, REASON_NEVER_SENT);
	else if (seen->end == SEEN_TIMEOUT && seen->deadline)
		outcome->reason = REASON_DEADLINE;

	if (outcome->reason == REASON_NEVER_SENT || outcome->reason == REASON_TEMPLATE)
		outcome->phase = PHASE_NOT_SENT;
	text_add_str(&outcome->detail, ends[seen->end].words);
}

/* The status, or `empty`, has a row of its own that isn't `succeeded`. */
static void judge_override(enum override means, enum reason open_reason, struct outcome *outcome)
{
	switch (means) {
	case OVERRIDE_FAILED: decide(outcome, OUTCOME_FAILED, REASON_PROVIDER_FAILED); break;
	case OVERRIDE_RETRY: decide(outcome, OUTCOME_RETRY, REASON_RETRY_LATER); break;
	case OVERRIDE_UNKNOWN: decide(outcome, OUTCOME_UNKNOWN, open_reason); break;
	case OVERRIDE_SUCCEEDED:
	case OVERRIDE__MAX: break;
	}
}

static void judge_status(const struct seen *seen, struct outcome *outcome)
{
	decide(outcome, OUTCOME_UNKNOWN, REASON_MALFORMED); /* a status outside 200 to 599 */
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
		if (seen->http_status < statuses[i].first || seen->http_status > statuses[i].last)
			continue;
		decide(outcome, statuses[i].kind, statuses[i].reason);
		break;
	}
	if (seen->http_status == 503 && seen->retry_after_ms >= 0)
		decide(outcome, OUTCOME_RETRY, REASON_RETRY_LATER);
}

/* These two can't have a body, so their end is where the header ends. */
static bool bodiless_status(uint32_t status)
{
	return status == 204 || status == 205;
}

/* A success without a body. Where only a close ended it, the body may have been lost. */
static enum rc judge_empty(const struct seen *seen, const struct provider_def *def,
			   const struct terms *terms, struct outcome *outcome)
{
	const struct provider_outcome *row = row_of(def, 0);
	bool told = row_of(def, seen->http_status) != NULL; /* by name, to have succeeded */

	if (seen->close_delimited && !bodiless_status(seen->http_status)) {
		decide(outcome, OUTCOME_UNKNOWN, REASON_TRUNCATED);
		text_add_str(&outcome->detail,
			     ", with a body that only the close ended and nothing in it");
		return RC_OK;
	}
	text_add_str(&outcome->detail, ", without a body");
	if (row ? row->means == OVERRIDE_SUCCEEDED : told && bodiless_status(seen->http_status)) {
		if (terms && terms->route->require.len > 0) {
			terms_unusable(def, terms, REASON_CONTRACT_VIOLATION,
				       "the route requires something of it", outcome);
			return RC_OK;
		}
		text_add_str(&outcome->result, "null");
		return terms_judge_result(def, terms, outcome);
	}
	decide(outcome, OUTCOME_UNKNOWN, REASON_EMPTY);
	if (row)
		judge_override(row->means, REASON_EMPTY, outcome);
	return RC_OK;
}

static enum rc judge_success(const struct seen *seen, const struct provider_def *def,
			     const struct terms *terms, struct outcome *outcome)
{
	if (seen->body_len == 0 && !seen->two_lengths && !seen->too_large)
		return judge_empty(seen, def, terms, outcome);
	if (!seen->two_lengths && !seen->too_large)
		return terms_judge_body(def, terms, seen->body, seen->body_len,
					!seen->close_delimited && !seen->encoded, outcome);
	if (seen->two_lengths)
		terms_unusable(def, terms, REASON_CONTRACT_VIOLATION,
			       "it gives two lengths for one body", outcome);
	else
		terms_unusable(def, terms, REASON_TOO_LARGE,
			       "its body is larger than max_result_bytes", outcome);
	return RC_OK;
}

bool outcome_settles_resend(const struct outcome *outcome)
{
	switch (outcome->kind) {
	case OUTCOME_RESULT: return true;
	case OUTCOME_FAILED:
		return outcome->by_row || outcome->reason == REASON_CONTRACT_VIOLATION ||
		       outcome->reason == REASON_TOO_LARGE;
	case OUTCOME_RETRY: return outcome->by_row;
	case OUTCOME_ACCEPTED: /* still at work */
	case OUTCOME_CANCELLED:
	case OUTCOME_UNKNOWN:
	case OUTCOME__MAX: break;
	}
	return false;
}

static enum rc judge_answer(const struct seen *seen, const struct provider_def *def,
			    const struct terms *terms, struct outcome *outcome)
{
	const struct provider_outcome *row =
		seen->http_status ? row_of(def, seen->http_status) : NULL;
	bool success = seen->http_status >= 200 && seen->http_status <= 299;

	outcome->by_row = row != NULL;

	text_addf(&outcome->detail, "the provider answered %" PRIu32, seen->http_status);
	if (!row && seen->http_status == 202 && def->has_accepted) {
		decide(outcome, OUTCOME_ACCEPTED, REASON_NONE);
		return accepted_reference(def, seen->body, seen->body_len, outcome->reference);
	}
	if (row ? row->means == OVERRIDE_SUCCEEDED : success)
		return judge_success(seen, def, terms, outcome);
	if (row)
		judge_override(row->means, REASON_GATEWAY, outcome);
	else
		judge_status(seen, outcome);
	return RC_OK;
}

void outcome_add_words(struct text *detail, const char *words)
{
	size_t len = strlen(words);

	if (len == 0)
		return;
	text_add_str(detail, ": ");
	for (size_t i = 0; i < len;) {
		size_t step = utf8_char(words + i, len - i);
		bool plain =
			step > 0 && (unsigned char)words[i] >= DETAIL_BYTE_MIN && words[i] != 0x7f;

		if (detail->len + 4 > detail->cap)
			return;
		text_add(detail, plain ? words + i : "?", plain ? step : 1);
		i += step > 0 ? step : 1;
	}
}

/* A refusal of the second sending says nothing of the first, which may have done the work: as with
 * a resend of our own. */
static void reopen(struct outcome *outcome)
{
	bool ended = outcome->kind == OUTCOME_FAILED || outcome->kind == OUTCOME_RETRY;

	if (!ended || outcome_settles_resend(outcome))
		return;
	decide(outcome, OUTCOME_UNKNOWN, REASON_CONNECTION_RESET);
	text_add_str(&outcome->detail,
		     ", when libcurl had sent it again on a new connection; what the first sending "
		     "came to is open");
}

enum rc outcome_of(const struct seen *seen, const struct provider_def *def,
		   const struct terms *terms, struct outcome *outcome_out)
{
	struct outcome outcome = {
		.phase = seen->phase,
		.http_status = seen->http_status,
		.retry_after_ms = seen->retry_after_ms,
	};
	enum rc rc = RC_OK;

	/* A body taken as text grows by its escapes: six bytes for one at most. */
	text_init(&outcome.result, (size_t)def->max_result_bytes * 6 + 8);
	text_init(&outcome.detail, DETAIL_MAX_BYTES);
	if (seen->end == SEEN_WHOLE)
		rc = judge_answer(seen, def, terms, &outcome);
	else
		judge_end(seen, &outcome);
	if (rc != RC_OK)
		goto fail;
	if (seen->repeated)
		reopen(&outcome);

	outcome.public_len = outcome.detail.len;
	outcome_add_words(&outcome.detail, seen->detail ? seen->detail : "");
	if (seen->detail_public)
		outcome.public_len = outcome.detail.len;
	if (outcome.kind != OUTCOME_RETRY && outcome.kind != OUTCOME_ACCEPTED)
		outcome.retry_after_ms = -1;
	if (!text_ok(&outcome.detail) || !text_ok(&outcome.result)) {
		rc = RC_FAULT;
		goto fail;
	}
	*outcome_out = outcome;
	return RC_OK;
fail:
	outcome_release(&outcome);
	return rc;
}

void outcome_release(struct outcome *outcome)
{
	text_release(&outcome->result);
	text_release(&outcome->detail);
}
