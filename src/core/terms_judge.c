#include "core/terms_judge.h"

#include <string.h>

#include "core/result_read.h"

/* What comes before it in outcome->detail, and it, fit the 1,000 bytes there. */
#define WHY_MAX_BYTES (SCHEMA_WHY_MAX + 60)

struct judging {
	const struct provider_def *def;
	const struct terms *terms;
	struct outcome *outcome;
	struct text why;
};

static const char *words(const struct judging *j)
{
	return j->why.bytes ? j->why.bytes : "";
}

void terms_unusable(const struct provider_def *def, const struct terms *terms, enum reason reason,
		    const char *said, struct outcome *outcome)
{
	text_clear(&outcome->result);
	outcome->kind = OUTCOME_FAILED;
	outcome->reason = reason;
	outcome->effect_done = terms ? terms->contract->side_effects : def->side_effects;
	text_addf(&outcome->detail, ", but %s", said);
}

static void violation(struct judging *j)
{
	terms_unusable(j->def, j->terms, REASON_CONTRACT_VIOLATION, words(j), j->outcome);
}

static void open_end(struct judging *j, enum reason reason)
{
	j->outcome->kind = OUTCOME_UNKNOWN;
	j->outcome->reason = reason;
	text_addf(&j->outcome->detail, ", but %s", words(j));
}

/* Not FOUND: it decides. */
static bool decide(struct judging *j, enum result_verdict verdict)
{
	switch (verdict) {
	case RESULT_FOUND: return false;
	case RESULT_UNENDED: open_end(j, REASON_TRUNCATED); return true;
	case RESULT_BROKEN:
	case RESULT_VERDICT__MAX: break;
	}
	violation(j);
	return true;
}

/* True: the route's checks of the body decide. A doubt comes first: where the provider's own words
 * leave the outcome open, nothing is known to have failed. */
static bool route_decides(struct judging *j, const struct json_value *root)
{
	const struct route *route = j->terms->route;
	const struct check *doubt = check_list_any(&route->doubt, root, j->terms->input);

	if (doubt) {
		text_add_str(&j->why, "the route doubts it: ");
		check_add_name(doubt, &j->why);
		open_end(j, REASON_GATEWAY);
		return true;
	}
	text_add_str(&j->why, "by the route's require ");
	if (check_list_judge(&route->require, root, j->terms->input, &j->why) == CHECK_HOLDS) {
		text_clear(&j->why);
		return false;
	}
	violation(j);
	return true;
}

static enum rc judge_result(struct judging *j)
{
	enum contract_verdict verdict = CONTRACT_MET;

	j->outcome->kind = OUTCOME_RESULT;
	j->outcome->reason = REASON_NONE;
	if (!j->terms)
		return RC_OK;
	enum rc rc = contract_judge(j->terms->contract, j->outcome->result.bytes,
				    j->outcome->result.len, j->terms->input, &verdict, &j->why);

	if (rc == RC_INVALID) {
		text_add_str(&j->why, "the result isn't JSON");
		verdict = CONTRACT_BROKEN;
	} else if (rc != RC_OK) {
		return rc;
	}
	if (verdict != CONTRACT_MET)
		violation(j);
	return RC_OK;
}

static enum rc judge_tree(struct judging *j, const struct result_place *place,
			  const struct json_value *root)
{
	enum result_verdict verdict;
	enum rc rc;

	if (j->terms && route_decides(j, root))
		return RC_OK;
	rc = result_take(place, root, &verdict, &j->outcome->result, &j->why);
	if (rc != RC_OK || decide(j, verdict))
		return rc;
	return judge_result(j);
}

/* Means to be JSON, whether it is any or not. A byte order mark may come first, and is refused. */
static bool means_json(const char *body, size_t len)
{
	size_t i = len >= 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < len && (body[i] == ' ' || body[i] == '\t' || body[i] == '\n' || body[i] == '\r'))
		i++;
	return i < len && (body[i] == '{' || body[i] == '[');
}

/* True: it decides that no JSON can be read in the text; `why` has the scanner's words. What can't
 * be judged counts as a doubt: where the route has one, what was done is open. (Where JSON is due,
 * what isn't any is a violation, whatever it may hold.) */
static bool unread_decides(struct judging *j, const char *body, size_t len)
{
	const struct route *route = j->terms->route;

	if (route->doubt.len > 0 && means_json(body, len)) {
		text_add_str(&j->why, ", so the route's doubt can't be judged");
		open_end(j, REASON_GATEWAY);
		return true;
	}
	if (route->require.len > 0)
		violation(j);
	return route->require.len > 0;
}

static bool route_looks(const struct terms *terms)
{
	return terms && (terms->route->doubt.len > 0 || terms->route->require.len > 0);
}

/* The body is the text. It is looked into as JSON only where the route has checks for it. */
static enum rc judge_text(struct judging *j, const char *body, size_t len, bool ends_proven)
{
	enum result_verdict verdict;
	struct json_doc *doc = NULL;
	enum rc rc = RC_OK;

	if (ends_proven && route_looks(j->terms)) {
		rc = result_parse(body, len, true, &doc, &verdict, &j->why);
		if (rc != RC_OK)
			return rc;
		if (doc ? route_decides(j, json_root(doc)) : unread_decides(j, body, len))
			goto done;
		text_clear(&j->why);
	}
	rc = result_take_body(body, len, ends_proven, &verdict, &j->outcome->result, &j->why);
	if (rc == RC_OK && !decide(j, verdict))
		rc = judge_result(j);
done:
	json_free(doc);
	return rc;
}

enum rc terms_judge_body(const struct provider_def *def, const struct terms *terms,
			 const char *body, size_t len, bool ends_proven, struct outcome *outcome)
{
	const struct result_place place = {
		terms ? terms->route->result_pointer : def->result_pointer,
		terms ? terms->route->result_as : def->result_as,
	};
	struct judging j = { .def = def, .terms = terms, .outcome = outcome };
	enum result_verdict verdict;
	struct json_doc *doc = NULL;
	enum rc rc;

	text_init(&j.why, WHY_MAX_BYTES);
	if (result_is_body(&place)) {
		rc = judge_text(&j, body, len, ends_proven);
	} else {
		rc = result_parse(body, len, ends_proven, &doc, &verdict, &j.why);
		if (rc == RC_OK && !decide(&j, verdict))
			rc = judge_tree(&j, &place, json_root(doc));
	}
	json_free(doc);
	text_release(&j.why);
	return rc == RC_OK ? RC_OK : RC_FAULT;
}

enum rc terms_judge_result(const struct provider_def *def, const struct terms *terms,
			   struct outcome *outcome)
{
	struct judging j = { .def = def, .terms = terms, .outcome = outcome };

	text_init(&j.why, WHY_MAX_BYTES);
	enum rc rc = judge_result(&j);

	text_release(&j.why);
	return rc;
}
