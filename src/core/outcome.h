/* outcome.h: what was seen of a request -> what it means. The design's table; a provider's own row
 * may override a status. */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job.h"
#include "core/provider_def.h"

/* How an exchange ended, before any HTTP status is looked at: a status beside a failed transfer
 * decides nothing. */
enum seen_end {
	SEEN_WHOLE, /* a complete answer, as far as HTTP can tell */
	SEEN_NOT_RESOLVED,
	SEEN_NOT_CONNECTED,
	SEEN_CONNECT_TIMEOUT,
	SEEN_TLS_FAILED,
	SEEN_PROXY_FAILED,
	SEEN_TIMEOUT,
	SEEN_RESET,
	SEEN_EMPTY_REPLY,
	SEEN_TRUNCATED,
	SEEN_MALFORMED,
	SEEN_BAD_ENCODING,
	SEEN_SHUTDOWN,	   /* this side gave up: the poller is going down */
	SEEN_NOT_EQUIPPED, /* the request could not be made here: a secret or a setting is missing;
			      another host may have it */
	SEEN_NOT_BUILT,	   /* the request could not be made: a template pointer isn't there, or
			      it would be too long */
	SEEN__MAX
};

struct seen {
	enum seen_end end;
	enum phase phase;
	uint32_t http_status; /* 0: none */
	bool two_lengths;     /* two different Content-Length lines */
	bool close_delimited; /* only the close says where the body ends */
	bool encoded;	/* it had a Content-Encoding; libcurl doesn't notice one that ends too early
			 */
	bool too_large; /* more than max_result_bytes came; it was broken off there */
	bool repeated;	/* libcurl sent it again by itself, when a kept connection turned out dead:
			   what was seen is of the second sending */
	bool deadline;	/* the time-out was the job's deadline, not the provider's */
	int64_t retry_after_ms; /* -1: absent or unreadable; see retry_after.h */
	const char *body;	/* decoded; up to max_result_bytes */
	size_t body_len;
	bool detail_public; /* the job's owner may read it */
	const char *detail; /* one line for people: libcurl's own words; may be "" */
};

enum outcome_kind {
	OUTCOME_RESULT,
	OUTCOME_ACCEPTED, /* 202 where the row has `accepted`: the provider works on it and answers
			     later */
	OUTCOME_FAILED,
	OUTCOME_RETRY,	   /* failed for certain, and may be tried again on the same provider */
	OUTCOME_CANCELLED, /* a cancel, whose answer proves that there is no effect and never will
			      be */
	OUTCOME_UNKNOWN,
	OUTCOME__MAX
};

struct terms; /* see contract.h */

#define REFERENCE_MAX_BYTES 512

struct outcome {
	enum outcome_kind kind;
	enum reason reason; /* NONE for a result */
	enum phase phase;
	uint32_t http_status;
	bool effect_done;	/* failed, but the provider, by its row or by the contract, has
				   done something that can't be used */
	int64_t retry_after_ms; /* OUTCOME_RETRY, OUTCOME_ACCEPTED: what it said; -1: none */
	char reference[REFERENCE_MAX_BYTES +
		       1]; /* OUTCOME_ACCEPTED: the provider's name for the work; "": none told */
	bool by_row;	   /* the provider's own row says what the status means */
	struct text
		result; /* OUTCOME_RESULT: one JSON text, byte for byte as the provider said it */
	size_t public_len;  /* so much of `detail` is for everybody; the rest, libcurl's words, may
			       name inner hosts */
	struct text detail; /* a sentence for people, never a secret or a payload; at most 1,000
			       bytes */
};

/* terms: what a success is judged by beside the row (see terms_judge.h); whatever is no success
 * means what it means without them. NULL: no contract. RC_OK: outcome_release() it. RC_FAULT: no
 * memory; treat the attempt as unknown. */
MUST_CHECK enum rc outcome_of(const struct seen *seen, const struct provider_def *def,
			      const struct terms *terms, struct outcome *outcome_out);
void outcome_release(struct outcome *outcome);

/* ": " and libcurl's words, as far as there is room. They may quote what the provider sent: nothing
 * goes on that could break a line or isn't UTF-8. No words: nothing is added. */
void outcome_add_words(struct text *detail, const char *words);

/* The same request was sent again under the same key, and this came back. True: it settles the
 * attempt. A refusal, a 409, a 429 or a 5xx says nothing about the first request, which may have
 * done the work; only a result, a contract violation, or a status that the row names does. */
bool outcome_settles_resend(const struct outcome *outcome);

#endif
