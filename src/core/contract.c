/* contract.c: policies, look-up, the end of a contract, and whether a result meets it. */
#include "core/contract.h"

#include <stdlib.h>
#include <string.h>

#include "core/result_read.h"

static const char *const policy_names[POLICY__MAX] = { "retry", "next_route", "stop" };

const char *policy_name(enum policy policy)
{
	return (unsigned int)policy < POLICY__MAX ? policy_names[policy] : NULL;
}

bool policy_parse(const char *text, size_t len, enum policy *policy_out)
{
	for (int i = 0; i < POLICY__MAX; i++) {
		if (strlen(policy_names[i]) != len || memcmp(policy_names[i], text, len) != 0)
			continue;
		*policy_out = (enum policy)i;
		return true;
	}
	return false;
}

enum policy_on policy_on_reason(enum reason reason)
{
	switch (reason) {
	case REASON_NEVER_SENT: return POLICY_ON_NEVER_SENT;
	case REASON_RETRY_LATER: return POLICY_ON_RETRY_LATER;
	case REASON_REFUSED:
	case REASON_REDIRECT:
	case REASON_TEMPLATE:
	case REASON_PROVIDER_FAILED:
	case REASON_OPERATOR: return POLICY_ON_REFUSED;
	case REASON_CONTRACT_VIOLATION:
	case REASON_TOO_LARGE:
	case REASON_NONE:
	case REASON_TIMEOUT:
	case REASON_CONNECTION_RESET:
	case REASON_EMPTY:
	case REASON_TRUNCATED:
	case REASON_MALFORMED:
	case REASON_GATEWAY:
	case REASON_POLLER_LOST:
	case REASON_SHUTDOWN:
	case REASON_DEADLINE:
	case REASON_EXPIRED:
	case REASON_ATTEMPT_CANCELLED:
	case REASON__MAX: break;
	}
	return POLICY_ON_VIOLATION;
}

void contract_free(struct contract *contract)
{
	if (!contract)
		return;
	for (size_t i = 0; i < contract->routes_len; i++) {
		free(contract->routes[i].result_pointer);
		check_list_release(&contract->routes[i].doubt);
		check_list_release(&contract->routes[i].require);
	}
	for (size_t i = 0; i < contract->fixtures_len; i++)
		check_list_release(&contract->fixtures[i].checks);
	free(contract->fixtures);
	check_list_release(&contract->checks);
	schema_free(contract->schema);
	json_free(contract->doc);
	free(contract->text);
	free(contract);
}

const struct route *contract_route(const struct contract *contract, const char *provider)
{
	for (size_t i = 0; i < contract->routes_len; i++)
		if (strcmp(contract->routes[i].provider, provider) == 0)
			return &contract->routes[i];
	return NULL;
}

static enum rc judge_schema(const struct contract *contract, const struct json_value *result,
			    enum contract_verdict *verdict_out, struct text *why)
{
	enum schema_verdict verdict = SCHEMA_UNJUDGED;
	struct text words;

	if (!contract->schema)
		return RC_OK;
	text_init(&words, SCHEMA_WHY_MAX);
	enum rc rc = schema_judge(contract->schema, result, &verdict, &words);
	const char *said = words.bytes ? words.bytes : "";

	switch (verdict) {
	case SCHEMA_MET: break;
	case SCHEMA_BROKEN:
		*verdict_out = CONTRACT_BROKEN;
		text_addf(why, "the result breaks the contract's schema: %s", said);
		break;
	case SCHEMA_UNJUDGED:
	case SCHEMA_VERDICT__MAX:
		*verdict_out = CONTRACT_UNJUDGED;
		text_addf(why, "the result can't be judged by the contract's schema: %s", said);
		break;
	}
	text_release(&words);
	return rc;
}

static void judge_checks(const struct contract *contract, const struct json_value *result,
			 const struct json_value *input, enum contract_verdict *verdict_out,
			 struct text *why)
{
	switch (check_list_judge(&contract->checks, result, input, why)) {
	case CHECK_HOLDS: break;
	case CHECK_BROKEN: *verdict_out = CONTRACT_BROKEN; break;
	case CHECK_UNJUDGED:
	case CHECK_VERDICT__MAX: *verdict_out = CONTRACT_UNJUDGED; break;
	}
}

enum rc contract_judge(const struct contract *contract, const char *result, size_t len,
		       const struct json_value *input, enum contract_verdict *verdict_out,
		       struct text *why)
{
	struct json_doc *doc;
	struct json_error error;
	enum contract_verdict verdict = CONTRACT_MET;
	enum rc rc = json_parse(result, len, RESULT_DEPTH_MAX, &doc, &error);

	*verdict_out = CONTRACT_UNJUDGED;
	if (rc != RC_OK)
		return rc;
	rc = judge_schema(contract, json_root(doc), &verdict, why);
	if (rc == RC_OK && verdict == CONTRACT_MET)
		judge_checks(contract, json_root(doc), input, &verdict, why);
	json_free(doc);
	if (rc == RC_OK)
		*verdict_out = verdict;
	return rc;
}
