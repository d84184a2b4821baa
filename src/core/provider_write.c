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
	text_addf(out, ", \"as\": \"%s\"}, \"enabled\": %s}", result_as_name(def->result_as),
		  truth(def->enabled));
}
