#include "core/result_read.h"

#include <string.h>

#include "core/utf8.h"

bool result_is_body(const struct result_place *place)
{
	return place->as == RESULT_AS_TEXT && place->pointer[0] == '\0';
}

/* Nothing in a text could show that a part is missing. */
enum rc result_take_body(const char *body, size_t len, bool ends_proven,
			 enum result_verdict *verdict_out, struct text *result, struct text *why)
{
	if (!ends_proven) {
		text_add_str(why, "nothing proves that the text is whole");
		*verdict_out = RESULT_UNENDED;
		return RC_OK;
	}
	if (!utf8_valid(body, len)) {
		text_add_str(why, "the answer isn't UTF-8");
		*verdict_out = RESULT_BROKEN;
		return RC_OK;
	}
	text_add_json_string(result, body, len);
	*verdict_out = RESULT_FOUND;
	return text_ok(result) ? RC_OK : RC_FAULT;
}

/* The string at the pointer holds JSON of its own, which is taken out of it. */
static enum rc read_embedded(const struct json_value *at, enum result_verdict *verdict_out,
			     struct text *result, struct text *why)
{
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(at->string, at->string_len, RESULT_DEPTH_MAX, &doc, &error);

	if (rc == RC_INVALID) {
		text_addf(why,
			  "the string at the result's pointer isn't JSON: %s, at byte %zu of it",
			  error.detail, error.offset);
		return RC_OK;
	}
	if (rc != RC_OK)
		return rc;

	text_add(result, json_root(doc)->raw, json_root(doc)->raw_len);
	*verdict_out = RESULT_FOUND;
	json_free(doc);
	return RC_OK;
}

enum rc result_take(const struct result_place *place, const struct json_value *root,
		    enum result_verdict *verdict_out, struct text *result, struct text *why)
{
	const struct json_value *at = json_at(root, place->pointer, strlen(place->pointer));

	*verdict_out = RESULT_BROKEN;
	if (!at) {
		text_add_str(why, "the answer has nothing at the result's pointer");
		return RC_OK;
	}
	if (place->as != RESULT_AS_VALUE && at->type != JSON_STRING) {
		text_add_str(why, "what stands at the result's pointer isn't a string");
		return RC_OK;
	}
	if (place->as == RESULT_AS_JSON) {
		enum rc rc = read_embedded(at, verdict_out, result, why);

		return rc == RC_OK && !text_ok(result) ? RC_FAULT : rc;
	}
	text_add(result, at->raw, at->raw_len);
	*verdict_out = RESULT_FOUND;
	return text_ok(result) ? RC_OK : RC_FAULT;
}

/* A number that nothing follows may have lost digits. */
static bool may_go_on(const struct json_value *root, const char *body, size_t len)
{
	return root->type == JSON_NUMBER && root->raw + root->raw_len == body + len;
}

enum rc result_parse(const char *body, size_t len, bool ends_proven, struct json_doc **doc_out,
		     enum result_verdict *verdict_out, struct text *why)
{
	struct json_error error;
	enum rc rc = json_parse(body, len, RESULT_DEPTH_MAX, doc_out, &error);

	*verdict_out = RESULT_FOUND;
	if (rc == RC_INVALID) {
		text_addf(why, "the answer isn't JSON: %s, at byte %zu", error.detail,
			  error.offset);
		*verdict_out = ends_proven ? RESULT_BROKEN : RESULT_UNENDED;
		return RC_OK;
	}
	if (rc != RC_OK || ends_proven || !may_go_on(json_root(*doc_out), body, len))
		return rc;
	text_add_str(why, "nothing proves that the number is whole");
	*verdict_out = RESULT_UNENDED;
	json_free(*doc_out);
	*doc_out = NULL;
	return RC_OK;
}
