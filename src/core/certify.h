/* certify.h: a certification of one route: every fixture, in every round, through the real
 * provider, and the report of it. Pure: who sends and keeps it is the poller's affair.
 *
 *   while ((step = certify_next(c)) != CERTIFY_DONE) {
 *       certify_body(c, &values, &out)  RC_INVALID: noted; ask certify_next() again
 *       send it; then certify_tokenizer_answer() or certify_work_answer()
 *   }
 *
 * Each step is answered exactly once. A fixture that fails at one step has no further ones in that
 * round; the run goes on with the next, so that the report is complete. It ends after rounds *
 * fixtures, three requests each at most. */
#ifndef CORE_CERTIFY_H
#define CORE_CERTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "base/text.h"
#include "core/contract.h"
#include "core/outcome.h"
#include "core/template.h"

#define CERTIFY_WHY_MAX 1024	      /* bytes, with the NUL */
#define CERTIFY_REPORT_MAX (1u << 20) /* bytes of a report that is kept; 6,400 passes fit */

/* What is to be asked next, for one fixture in one round. */
enum certify_step {
	CERTIFY_TOKENIZE,   /* the route's tokenizer: the rendered prompt -> tokens */
	CERTIFY_DETOKENIZE, /* the tokens -> the prompt again */
	CERTIFY_WORK,	    /* the request itself */
	CERTIFY_DONE,
	CERTIFY_STEP__MAX
};

struct certify; /* one run; no I/O */

/* contract and route must outlive it. RC_FAULT: no memory. */
MUST_CHECK enum rc certify_open(const struct contract *contract, const struct route *route,
				struct certify **certify_out);
void certify_free(struct certify *certify); /* NULL is fine */

enum certify_step certify_next(const struct certify *certify);
uint32_t certify_round(const struct certify *certify); /* from 1; the last one when DONE */
const struct fixture *certify_fixture(const struct certify *certify); /* NULL when DONE */
uint32_t
certify_done(const struct certify *certify); /* fixtures that have a verdict, of all rounds */
uint32_t certify_total(const struct certify *certify); /* rounds * fixtures */

/* The body of the next step; values->input is the fixture's, whatever is given. RC_INVALID: it
 * can't be made, or not within out's cap: that fixture has failed in this round, certify_next()
 * goes on. RC_FAULT: no memory; nothing has changed. TOKENIZE: the rendered request of the
 * tokenizer. DETOKENIZE: the same without its prompt and with "tokens" as the tokenizer wrote them.
 * WORK: the rendered request with `overrides` merged in; a request that is no object has no place
 * for them, and fails. */
MUST_CHECK enum rc certify_body(struct certify *certify, const struct template_values *values,
				struct text *out);

/* What the real provider said: RESULT is a pass (outcome_of() has judged it by the route and the
 * contract; the fixture's own checks are judged here); anything else, a 202 and an unknown too,
 * fails this fixture in this round, and so does having no memory to judge it. */
void certify_work_answer(struct certify *certify, const struct outcome *outcome);

/* A whole 2xx answer of the tokenizer; ok false: there is none, and `why` says why, without any
 * secret or payload. */
void certify_tokenizer_answer(struct certify *certify, bool ok, const char *body, size_t len,
			      const char *why);

/* DONE, everything passed, and there was something to pass: a fixture with a check of its own. */
bool certify_passed(const struct certify *certify);

/* [{"round", "fixture", "passed", "why"}], what has a verdict so far, in the order asked; why is
 * null for what passed. No payload in it. Entries past `max` bytes are left out, and a last one,
 * with the fixture "", says how many: under 200 bytes more. */
void certify_report(const struct certify *certify, size_t max, struct text *out);

#endif
