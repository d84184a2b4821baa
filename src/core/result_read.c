#include "core/result_read.h"

#include <string.h>

#include "core/utf8.h"

/* The body itself is the text. Nothing in it could show that a part is missing. */
static enum result_verdict read_body_as_text(const char *body, size_t len, bool ends_proven,
					     struct text *result, struct text *why)
{
	if (!ends_proven) {
		text_add_str(why, "nothing proves that the text is whole");
		return RESULT_UNENDED;
	}
	if (!utf8_valid(body, len)) {
		text_add_str(why, "the answer isn't UTF-8");
		return RESULT_BROKEN;
	}
	text_add_json_string(result, body, len);
	return RESULT_FOUND;
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

static enum rc read_tree(const struct provider_def *def, const struct json_value *root,
			 enum result_verdict *verdict_out, struct text *result, struct text *why)
{
	const struct json_value *at =
		json_at(root, def->result_pointer, strlen(def->result_pointer));

	*verdict_out = RESULT_BROKEN;
	if (!at) {
		text_add_str(why, "the answer has nothing at the result's pointer");
		return RC_OK;
	}
	if (def->result_as != RESULT_AS_VALUE && at->type != JSON_STRING) {
		text_add_str(why, "what stands at the result's pointer isn't a string");
		return RC_OK;
	}
	if (def->result_as == RESULT_AS_JSON)
		return read_embedded(at, verdict_out, result, why);

	text_add(result, at->raw, at->raw_len);
	*verdict_out = RESULT_FOUND;
	return RC_OK;
}

/* A number that nothing follows may have lost digits. */
static bool may_go_on(const struct json_value *root, const char *body, size_t len)
{
	return root->type == JSON_NUMBER && root->raw + root->raw_len == body + len;
}

enum rc result_read(const struct provider_def *def, const char *body, size_t len, bool ends_proven,
		    enum result_verdict *verdict_out, struct text *result, struct text *why)
{
	struct json_doc *doc;
	struct json_error error;

	if (def->result_as == RESULT_AS_TEXT && def->result_pointer[0] == '\0') {
		*verdict_out = read_body_as_text(body, len, ends_proven, result, why);
		return text_ok(result) ? RC_OK : RC_FAULT;
	}

	enum rc rc = json_parse(body, len, RESULT_DEPTH_MAX, &doc, &error);
	if (rc == RC_INVALID) {
		text_addf(why, "the answer isn't JSON: %s, at byte %zu", error.detail,
			  error.offset);
		*verdict_out = ends_proven ? RESULT_BROKEN : RESULT_UNENDED;
		return RC_OK;
	}
	if (rc != RC_OK)
		return rc;

	if (!ends_proven && may_go_on(json_root(doc), body, len)) {
		text_add_str(why, "nothing proves that the number is whole");
		*verdict_out = RESULT_UNENDED;
	} else {
		rc = read_tree(def, json_root(doc), verdict_out, result, why);
	}
	json_free(doc);
	return rc == RC_OK && text_ok(result) ? RC_OK : RC_FAULT;
}
