#include "core/webhook_def.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/provider_rules.h"
#include "core/secret_ref.h"
#include "core/utf8.h"

#define DEPTH_MAX 8

static bool keep(char **place, const char *bytes, size_t len)
{
	*place = strndup(bytes, len);
	return *place != NULL;
}

static const char *secret_flaw(const char *text, size_t len)
{
	struct secret_ref ref = secret_ref_next(text, len);

	if ((ref.kind != SECRET_ENV && ref.kind != SECRET_FILE) || ref.plain_len > 0 ||
	    ref.len != len)
		return "must be ${file:/path} or ${env:NAME}, never the secret itself";
	return utf8_valid(text, len) ? NULL : "must be UTF-8";
}

/* False: no memory. What is wrong is added to `flaws`, and nothing is kept then. */
static bool add_url(struct webhook_def *def, const char *url, size_t len, struct flaws *flaws)
{
	const char *flaw =
		memchr(url, '\0', len) ? "must not hold U+0000" : provider_url_flaw(url, len);

	if (!flaw)
		return keep(&def->url, url, len);
	flaws_add(flaws, "", "url", strlen("url"), "%s", flaw);
	return true;
}

static bool add_secret(struct webhook_def *def, size_t place, const char *text, size_t len,
		       struct flaws *flaws)
{
	const char *flaw = secret_flaw(text, len);
	char pointer[32];

	if (!flaw && place > 0 && def->secrets_len > 0 && strlen(def->secrets[0]) == len &&
	    memcmp(def->secrets[0], text, len) == 0)
		flaw = "is the same as the first";
	if (!flaw && keep(&def->secrets[def->secrets_len], text, len)) {
		def->secrets_len++;
		return true;
	}
	if (!flaw)
		return false;
	snprintf(pointer, sizeof pointer, "/secrets/%zu", place);
	flaws_add(flaws, pointer, NULL, 0, "%s", flaw);
	return true;
}

static bool count_fits(size_t count, struct flaws *flaws)
{
	if (count >= 1 && count <= WEBHOOK_SECRETS_MAX)
		return true;
	flaws_add(flaws, "", "secrets", strlen("secrets"),
		  "must be one secret, or two while they change");
	return false;
}

static enum rc finish(struct webhook_def *def, bool memory, const struct flaws *flaws,
		      size_t flaws_before)
{
	if (memory && flaws->count == flaws_before)
		return RC_OK;
	webhook_def_release(def);
	return memory ? RC_INVALID : RC_FAULT;
}

enum rc webhook_def_make(const char *url, const char *const *secrets, size_t secrets_len,
			 struct webhook_def *def_out, struct flaws *flaws)
{
	size_t before = flaws->count;

	*def_out = (struct webhook_def){ 0 };
	bool memory = add_url(def_out, url, strlen(url), flaws);

	if (count_fits(secrets_len, flaws))
		for (size_t i = 0; i < secrets_len; i++)
			memory = memory &&
				 add_secret(def_out, i, secrets[i], strlen(secrets[i]), flaws);
	return finish(def_out, memory, flaws, before);
}

static bool read_secrets(struct webhook_def *def, const struct json_value *value,
			 struct flaws *flaws)
{
	size_t place = 0;
	bool memory = true;

	if (!value || value->type != JSON_ARRAY) {
		flaws_add(flaws, "", "secrets", strlen("secrets"), "must be an array of strings");
		return true;
	}
	if (!count_fits(value->count, flaws))
		return true;
	for (const struct json_value *one = value->child; memory && one; one = one->next, place++)
		memory = one->type == JSON_STRING
				 ? add_secret(def, place, one->string, one->string_len, flaws)
				 : add_secret(def, place, "", 0, flaws);
	return memory;
}

enum rc webhook_def_stored(const char *url, const char *secrets, size_t secrets_len,
			   struct webhook_def *def_out)
{
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	enum rc rc = json_parse(secrets, secrets_len, DEPTH_MAX, &doc, &error);

	*def_out = (struct webhook_def){ 0 };
	if (rc != RC_OK)
		return rc;
	flaws_init(&flaws);
	bool memory = add_url(def_out, url, strlen(url), &flaws) &&
		      read_secrets(def_out, json_root(doc), &flaws);

	rc = finish(def_out, memory, &flaws, 0);
	flaws_release(&flaws);
	json_free(doc);
	return rc;
}

void webhook_secrets_write(const struct webhook_def *def, struct text *out)
{
	for (size_t i = 0; i < def->secrets_len; i++) {
		text_add_str(out, i == 0 ? "[" : ",");
		text_add_json_string(out, def->secrets[i], strlen(def->secrets[i]));
	}
	text_add_str(out, "]");
}

void webhook_def_release(struct webhook_def *def)
{
	free(def->url);
	for (size_t i = 0; i < def->secrets_len; i++)
		free(def->secrets[i]);
	*def = (struct webhook_def){ 0 };
}
