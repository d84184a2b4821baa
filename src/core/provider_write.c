#include "core/provider_def.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/provider_rules.h"

void provider_def_release(struct provider_def *def)
{
	free(def->url);
	free(def->method);
	free(def->key_header);
	free(def->result_pointer);
	free(def->accepted_reference);
	free(def->status_url);
	free(def->status_state);
	free(def->status_result);
	free(def->cancel_url);
	free(def->cancel_method);
	for (size_t i = 0; i < PROVIDER_STATUS_WORDS_MAX; i++)
		free(def->status_words[i].word);
	for (size_t i = 0; i < PROVIDER_HEADERS_MAX; i++) {
		free(def->headers[i].name);
		free(def->headers[i].value);
	}
	memset(def, 0, sizeof *def);
}

static void add_string(struct text *out, const char *str)
{
	text_add_json_string(out, str, strlen(str));
}

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

static void add_headers(const struct provider_def *def, struct text *out)
{
	text_add_str(out, ", \"headers\": {");
	for (size_t i = 0; i < def->headers_len; i++) {
		if (i > 0)
			text_add_str(out, ", ");
		add_string(out, def->headers[i].name);
		text_add_str(out, ": ");
		add_string(out, def->headers[i].value);
	}
	text_add_str(out, "}");
}

static void add_outcomes(const struct provider_def *def, struct text *out)
{
	text_add_str(out, ", \"outcomes\": {");
	for (size_t i = 0; i < def->outcomes_len; i++) {
		const struct provider_outcome *outcome = &def->outcomes[i];

		if (i > 0)
			text_add_str(out, ", ");
		if (outcome->status == 0)
			text_add_str(out, "\"empty\": ");
		else
			text_addf(out, "\"%" PRIu32 "\": ", outcome->status);
		add_string(out, override_name(outcome->means));
	}
	text_add_str(out, "}");
}

static void add_accepted(const struct provider_def *def, struct text *out)
{
	text_add_str(out, ", \"accepted\": {");
	if (def->accepted_reference) {
		text_add_str(out, "\"reference\": ");
		add_string(out, def->accepted_reference);
		text_add_str(out, ", ");
	}
	text_addf(out, "\"deadline_ms\": %" PRIu32 "}", def->accepted_deadline_ms);
}

static void add_status(const struct provider_def *def, struct text *out)
{
	text_add_str(out, ", \"status\": {\"url\": ");
	add_string(out, def->status_url);
	text_add_str(out, ", \"state\": ");
	add_string(out, def->status_state);
	text_add_str(out, ", \"map\": {");
	for (size_t i = 0; i < def->status_words_len; i++) {
		if (i > 0)
			text_add_str(out, ", ");
		add_string(out, def->status_words[i].word);
		text_addf(out, ": \"%s\"", status_means_name(def->status_words[i].means));
	}
	text_add_str(out, "}, \"result\": ");
	add_string(out, def->status_result);
	text_add_str(out, "}");
}

static void add_cancel(const struct provider_def *def, struct text *out)
{
	text_add_str(out, ", \"cancel\": {\"url\": ");
	add_string(out, def->cancel_url);
	text_add_str(out, ", \"method\": ");
	add_string(out, def->cancel_method);
	text_addf(out, ", \"proves\": %s}", truth(def->cancel_proves));
}

void provider_def_write(const struct provider_def *def, struct text *out)
{
	text_add_str(out, "{\"url\": ");
	add_string(out, def->url);
	text_add_str(out, ", \"method\": ");
	add_string(out, def->method);
	add_headers(def, out);
	text_addf(out, ", \"connect_timeout_ms\": %" PRIu32 ", \"timeout_ms\": %" PRIu32,
		  def->connect_timeout_ms, def->timeout_ms);
	text_addf(out, ", \"max_in_flight\": %" PRIu32 ", \"max_result_bytes\": %" PRIu32,
		  def->max_in_flight, def->max_result_bytes);
	text_add_str(out, ", \"idempotency\": {\"header\": ");
	add_string(out, def->key_header);
	text_addf(out, ", \"honoured\": %s}, \"side_effects\": %s", truth(def->key_honoured),
		  truth(def->side_effects));
	add_outcomes(def, out);
	text_addf(out, ", \"retry\": {\"base_ms\": %" PRIu32 ", \"max_ms\": %" PRIu32 "}",
		  def->retry_base_ms, def->retry_max_ms);
	text_add_str(out, ", \"result\": {\"pointer\": ");
	add_string(out, def->result_pointer);
	text_addf(out, ", \"as\": \"%s\"}", result_as_name(def->result_as));
	if (def->has_accepted)
		add_accepted(def, out);
	if (def->has_status)
		add_status(def, out);
	if (def->has_cancel)
		add_cancel(def, out);
	text_addf(out, ", \"enabled\": %s}", truth(def->enabled));
}
