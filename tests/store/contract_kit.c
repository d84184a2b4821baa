#include "contract_kit.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/provider_store.h"

enum rc contract_put(struct db *db, const char *name, const char *json, bool *new_out,
		     size_t *unknown_out, struct definition_row *row_out)
{
	struct contract *contract;
	struct flaws flaws;

	flaws_init(&flaws);
	enum rc rc = contract_read(json, strlen(json), &contract, &flaws);

	flaws_release(&flaws);
	if (rc != RC_OK)
		return rc;
	rc = contract_store_put(db, name, contract, new_out, unknown_out, row_out);
	contract_free(contract);
	return rc;
}

const char *contract_over(const char *providers, const char *more)
{
	static char texts[4][2048];
	static unsigned int at;
	char routes[512] = "", names[256], *rest = names;
	char *text = texts[at++ % 4];

	snprintf(names, sizeof names, "%s", providers);
	for (char *name; (name = strtok_r(rest, " ", &rest));) {
		size_t len = strlen(routes);

		snprintf(routes + len, sizeof routes - len, "%s{\"provider\": \"%s\"}",
			 len ? ", " : "", name);
	}
	snprintf(text, sizeof texts[0],
		 "{\"side_effects\": false, \"routes\": [%s], \"fixtures\": [{\"name\": \"one\", "
		 "\"input\": {}, \"checks\": [{\"pointer\": \"\", \"equals\": 1}]}]%s}",
		 routes, more);
	return text;
}

uint32_t contract_new(const char *name, const char *providers, const char *more)
{
	struct definition_row row;
	bool is_new;
	size_t unknown;

	assert_int_equal(contract_put(here.db, name, contract_over(providers, more), &is_new,
				      &unknown, &row),
			 RC_OK);
	uint32_t version = row.version;

	definition_row_release(&row);
	return version;
}

enum rc provider_put(struct db *db, const char *name, const char *json)
{
	struct definition_row row;
	struct provider_def def;
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	bool is_new;

	if (json_parse(json, strlen(json), 16, &doc, &error) != RC_OK)
		return RC_INVALID;
	flaws_init(&flaws);
	enum rc rc = provider_def_read(json_root(doc), &def, &flaws);

	if (rc == RC_OK) {
		rc = provider_store_put(db, name, &def, &is_new, &row);
		definition_row_release(&row);
		provider_def_release(&def);
	}
	flaws_release(&flaws);
	json_free(doc);
	return rc;
}

struct id certify(const char *contract, const char *provider, bool passed)
{
	struct id poller = poller_new(), id;
	const struct certify_order order = { contract, &provider, 1, true };
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	struct certify_task *tasks;
	uint32_t version;
	size_t len, unknown;

	assert_int_equal(certify_store_ask(here.db, &order, &version, providers, &len, &unknown),
			 CERTIFY_ASKED);
	assert_int_equal(certify_store_take(here.db, &poller, 1, &tasks, &len), RC_OK);
	assert_int_equal(len, 1);
	assert_string_equal(tasks[0].route->provider, provider);
	assert_int_equal(certify_store_end(here.db, &poller, &tasks[0], passed, "[]", 2), RC_OK);
	certify_task_release(&tasks[0]);
	free(tasks);
	const char *hex = raw_text("SELECT HEX(id) FROM certificates WHERE contract = '%s' AND "
				   "contract_version = %u AND provider = '%s' AND newest = 1",
				   contract, version, provider);

	for (int i = 0; i < ID_BYTES; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &id.bytes[i]), 1);
	return id;
}

struct intent contract_intent(const char *contract, const char *input)
{
	struct intent intent = intent_of(contract, input);

	intent.provider[0] = '\0';
	snprintf(intent.contract, sizeof intent.contract, "%s", contract);
	return intent;
}

struct id contract_job(const char *contract)
{
	struct caller ann = caller_with("ann-token");
	struct intent intent = contract_intent(contract, "{}");
	struct id fresh = clock_id();
	struct job job;

	assert_int_equal(create(here.db, &ann, x(&fresh), &intent, &job), CREATED_NEW);
	fresh = job.id;
	job_release(&job);
	return fresh;
}

const char *start_one(struct id *attempt_out)
{
	static struct taken taken;
	struct id poller = poller_new();
	struct claim_cursor cursor = { 0 };

	take(here.db, &poller, 1, &cursor, &taken);
	assert_int_equal(taken.rc, RC_OK);
	if (taken.len == 0)
		return "";
	if (attempt_out)
		*attempt_out = taken.claims[0].attempt_id;
	return taken.claims[0].provider;
}

void fail_it(const struct id *attempt, enum reason reason, bool retryable)
{
	struct word word = word_of(attempt, ON_FAILURE);

	word.reason = reason;
	word.retryable = retryable;
	assert_int_equal(say(word), SETTLED_MADE);
}

void stands(const struct id *job, const char *want)
{
	assert_string_equal(raw_text("SELECT CONCAT_WS(' ', state, IF(state = 'queued', "
				     "next_provider, NULL), error_reason) FROM jobs WHERE id = %s",
				     x(job)),
			    want);
}
