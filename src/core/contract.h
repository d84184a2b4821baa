/* contract.h: the operational contract that a result must meet, and the routes that serve it.
 *
 * A contract is read once and immutable after: it may be used by several threads. Numbers, strings
 * and schemas stay as their author wrote them. */
#ifndef CORE_CONTRACT_H
#define CORE_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/check.h"
#include "core/flaws.h"
#include "core/job.h"
#include "core/provider_def.h"
#include "core/schema.h"

#define CONTRACT_MAX_BYTES (1u << 20) /* of a definition */
#define CONTRACT_DEPTH_MAX 64
#define CONTRACT_ROUTES_MAX 16
#define CONTRACT_FIXTURES_MAX 64
#define CONTRACT_ROUNDS_MAX 100
#define CONTRACT_TOKENS_MAX 100000000
#define CONTRACT_FIXTURE_NAME_MAX 128
#define CONTRACT_AGE_MIN_S 60
#define CONTRACT_AGE_MAX_S (366 * 86400)

/* Goes up when what "proven" means changes in this program: certificates that were issued under
 * another one aren't valid and aren't carried over.
 *   1  every number by its value
 *   2  in what is sent, numbers by their digits */
#define CONTRACT_RULE_VERSION 2

/* What a definite failure leads to, by its reason. */
enum policy { POLICY_RETRY, POLICY_NEXT_ROUTE, POLICY_STOP, POLICY__MAX };
enum policy_on {
	POLICY_ON_NEVER_SENT,
	POLICY_ON_REFUSED,
	POLICY_ON_RETRY_LATER,
	POLICY_ON_VIOLATION,
	POLICY_ON__MAX
};
const char *policy_name(enum policy policy);
bool policy_parse(const char *text, size_t len, enum policy *policy_out);

/* Which of the four rows is asked for a reason: refused also for redirect, template,
 * provider_failed and operator; contract_violation also for too_large, and, as the strictest, for
 * whatever is no definite failure and so should never be asked about. */
enum policy_on policy_on_reason(enum reason reason);

struct tokenizer {
	const struct json_value *url;	  /* a string; see provider_url_flaw() */
	const struct json_value *request; /* a template for the body: an object */
	const char *prompt_name; /* its member that is the prompt: "content" (llama.cpp) or "prompt"
				    (vLLM); it has exactly one of the two */
	const struct json_value *tokens; /* pointer to the array of tokens in its answer */
	const struct json_value *detokenize_url;
	uint32_t limit; /* of tokens; 1 to CONTRACT_TOKENS_MAX */
};

struct route {
	char provider[NAME_MAX_LEN + 1];
	const struct json_value *json;	  /* the whole route, as written */
	const struct json_value *request; /* a template; NULL: the input as written */
	const struct json_value *headers; /* an object of templates (see template_render_header()),
					     or NULL; they come after the provider's, and replace
					     those of the same name */
	char *result_pointer;		  /* "" by default */
	enum result_as result_as;
	struct check_list doubt;   /* at the provider's body: one holds: unknown */
	struct check_list require; /* at the provider's body: one doesn't: a violation */
	bool has_tokenizer;
	struct tokenizer tokenizer;
};

struct fixture {
	const struct json_value *name; /* a string, unlike the others' */
	const struct json_value *input;
	struct check_list checks;
};

struct contract {
	struct json_doc *doc; /* of `text`, which is owned as well; all else points into it */
	char *text;
	const struct json_value *schema_json; /* NULL: any result will do */
	struct schema *schema;		      /* NULL with it */
	bool side_effects;
	struct check_list checks; /* at the result */
	struct route routes[CONTRACT_ROUTES_MAX];
	size_t routes_len; /* at least 1; no provider twice */
	enum policy on_failure[POLICY_ON__MAX];
	struct fixture *fixtures;
	size_t fixtures_len;
	uint32_t rounds;		    /* of certify; 1 to CONTRACT_ROUNDS_MAX; default 3 */
	uint32_t max_age_s;		    /* default 604,800 */
	const struct json_value *overrides; /* an object, or NULL */
};

/* Read a definition: up to CONTRACT_MAX_BYTES as written, and as contract_write() has it, so that
 * what is stored can always be read. `text` is copied. RC_OK: *contract_out is the caller's,
 * contract_free() it. RC_INVALID: flaws has them all, each with its pointer; unknown members are
 * named. RC_FAULT: no memory. `contract_violation` may be anything but `stop` only where
 * side_effects is false. */
MUST_CHECK enum rc contract_read(const char *text, size_t len, struct contract **contract_out,
				 struct flaws *flaws);
void contract_free(struct contract *contract); /* NULL is fine */

/* The whole definition as JSON, defaults filled in and nothing else changed: what is stored and
 * shown. Reading it back gives the same contract. */
void contract_write(const struct contract *contract, struct text *out);

/* NULL: no such route. */
const struct route *contract_route(const struct contract *contract, const char *provider);

/* The route's own value for a header, or NULL; case doesn't count. A route can't name what onejob
 * sets itself, nor Idempotency-Key; whether it names what its provider's row calls the key header
 * shows only beside that row: then the request can't be made. */
const struct json_value *contract_route_header(const struct route *route, const char *name);

/* A fixture with a check of its own: without one there is nothing to certify by. */
bool contract_can_certify(const struct contract *contract);

/* Digest of everything that a certificate proves: schema, checks, fixtures, side_effects, rounds,
 * overrides, that route, the provider's row but `enabled`, `max_in_flight` and `retry`, and the
 * rule version; over the canonical form, so that white space and the order of members don't count.
 * Numbers count by their value, but by their digits in what is sent: requests, overrides and the
 * fixtures' inputs. RC_FAULT: no memory. */
MUST_CHECK enum rc contract_subject(const struct contract *contract, const struct route *route,
				    const struct provider_def *def,
				    unsigned char subject_out[SHA256_BYTES]);

/* The provider's part of it alone: equal while no certificate of any contract dies by it. */
MUST_CHECK enum rc contract_provider_subject(const struct provider_def *def,
					     unsigned char subject_out[SHA256_BYTES]);

/* What an answer is judged by beside the provider's row. */
struct terms {
	const struct contract *contract;
	const struct route *route;
	const struct json_value *input; /* for equals_input */
};

enum contract_verdict {
	CONTRACT_MET,
	CONTRACT_BROKEN,
	CONTRACT_UNJUDGED, /* can't be said; never taken for met */
	CONTRACT_VERDICT__MAX
};

/* A result as such (an operator's, our own callback form, or what stood at the route's pointer):
 * schema, then checks. `why` holds no payload. RC_INVALID: it isn't JSON. */
MUST_CHECK enum rc contract_judge(const struct contract *contract, const char *result, size_t len,
				  const struct json_value *input,
				  enum contract_verdict *verdict_out, struct text *why);

#endif
