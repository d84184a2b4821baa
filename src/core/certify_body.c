/* certify_body.c: what a certification sends. */
#include <string.h>

#include "core/certify_private.h"

#define WHY_MAX_BYTES 512

static enum rc parse(const struct text *text, struct json_doc **doc_out)
{
	struct json_error error;

	return json_parse(text->bytes, text->len, JSON_DEPTH_LIMIT, doc_out, &error);
}

static const char *words(const struct text *why)
{
	return why->bytes ? why->bytes : "it can't be rendered";
}

/* What has no room now never will. */
static enum rc room(struct certify *certify, const struct text *out)
{
	enum rc rc = text_rc(out);

	if (rc == RC_INVALID)
		certify_fail(certify, "the request would be longer than %zu bytes", out->cap);
	return rc;
}

static enum rc keep_prompt(struct certify *certify)
{
	const char *name = certify->route->tokenizer.prompt_name;
	struct json_doc *doc;
	enum rc rc = parse(&certify->request, &doc);

	if (rc != RC_OK)
		return RC_FAULT;
	const struct json_value *prompt = json_member(json_root(doc), name);

	text_clear(&certify->prompt);
	if (prompt && prompt->type == JSON_STRING) {
		text_add(&certify->prompt, prompt->string, prompt->string_len);
		rc = text_ok(&certify->prompt) ? RC_OK : RC_FAULT;
	} else {
		certify_fail(certify, "the tokenizer's request has no string \"%s\"", name);
		rc = RC_INVALID;
	}
	json_free(doc);
	return rc;
}

static enum rc tokenize_body(struct certify *certify, const struct template_values *values,
			     struct text *out)
{
	struct text why;

	text_init(&why, WHY_MAX_BYTES);
	text_clear(&certify->request);
	enum rc rc =
		template_render(certify->route->tokenizer.request, values, &certify->request, &why);
	if (rc == RC_OK)
		rc = keep_prompt(certify);
	else if (rc == RC_INVALID)
		certify_fail(certify, "the tokenizer's request: %s", words(&why));
	text_release(&why);
	if (rc != RC_OK)
		return rc;
	text_add(out, certify->request.bytes, certify->request.len);
	return room(certify, out);
}

static bool named(const struct json_value *member, const char *name)
{
	return strlen(name) == member->name_len &&
	       memcmp(name, member->name, member->name_len) == 0;
}

static enum rc detokenize_body(struct certify *certify, struct text *out)
{
	const char *prompt = certify->route->tokenizer.prompt_name;
	struct json_doc *doc;

	if (parse(&certify->request, &doc) != RC_OK)
		return RC_FAULT;
	text_add_str(out, "{\"tokens\": ");
	text_add(out, certify->tokens.bytes, certify->tokens.len);
	for (const struct json_value *member = json_root(doc)->child; member;
	     member = member->next) {
		if (named(member, prompt) || named(member, "tokens"))
			continue;
		text_add_str(out, ", ");
		text_add_json_string(out, member->name, member->name_len);
		text_add_str(out, ": ");
		text_add(out, member->raw, member->raw_len);
	}
	text_add_str(out, "}");
	json_free(doc);
	return room(certify, out);
}

/* RFC 7396 would put the overrides in the place of a request that is no object, and something else
 * than the work would be certified. */
static enum rc add_overridden(struct certify *certify, const struct text *request, struct text *out)
{
	const struct json_value *overrides = certify->contract->overrides;
	struct json_doc *doc;

	if (!overrides) {
		text_add(out, request->bytes, request->len);
		return room(certify, out);
	}
	if (parse(request, &doc) != RC_OK)
		return RC_FAULT;
	bool object = json_root(doc)->type == JSON_OBJECT;

	json_free(doc);
	if (!object) {
		certify_fail(certify,
			     "the request is no object that overrides could be merged into");
		return RC_INVALID;
	}
	enum rc rc = template_merge(request->bytes, request->len, overrides, out);

	return rc == RC_INVALID ? room(certify, out) : rc;
}

static enum rc work_body(struct certify *certify, const struct template_values *values,
			 struct text *out)
{
	const struct json_value *template = certify->route->request;
	struct text request, why;
	enum rc rc = RC_OK;

	text_init(&request, out->cap);
	text_init(&why, WHY_MAX_BYTES);
	if (template)
		rc = template_render(template, values, &request, &why);
	else
		text_add(&request, values->input->raw, values->input->raw_len);
	if (rc == RC_INVALID)
		certify_fail(certify, "the request: %s", words(&why));
	else if (rc == RC_OK)
		rc = room(certify, &request);
	if (rc == RC_OK)
		rc = add_overridden(certify, &request, out);
	text_release(&request);
	text_release(&why);
	return rc;
}

enum rc certify_body(struct certify *certify, const struct template_values *values,
		     struct text *out)
{
	struct template_values own = *values;
	enum rc rc = RC_INVALID;

	switch (certify->step) {
	case CERTIFY_TOKENIZE:
		own.input = certify_fixture(certify)->input;
		rc = tokenize_body(certify, &own, out);
		break;
	case CERTIFY_DETOKENIZE: rc = detokenize_body(certify, out); break;
	case CERTIFY_WORK:
		own.input = certify_fixture(certify)->input;
		rc = work_body(certify, &own, out);
		break;
	case CERTIFY_DONE:
	case CERTIFY_STEP__MAX: break;
	}
	return rc;
}
