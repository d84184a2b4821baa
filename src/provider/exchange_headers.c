#include "provider/exchange_headers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/fill.h"
#include "core/trace.h"
#include "provider/secrets.h"

#define LINE_MAX_BYTES (4 * SECRET_MAX_BYTES)
#define LINES_MAX_BYTES (512 * 1024) /* libcurl has 1 MiB for all of a request's header */

static bool line_bytes(const char *bytes)
{
	for (; *bytes; bytes++)
		if (((unsigned char)*bytes < 0x20 && *bytes != '\t') || *bytes == 0x7f)
			return false;
	return true;
}

/* To HTTP a value of blanks is an empty one (RFC 9110, section 5.5). */
static bool empty(const char *value)
{
	return value[strspn(value, " \t")] == '\0';
}

/* The one way into the list. libcurl reads "Name;" as a header without a value; one with nothing
 * but blanks behind its colon it leaves out. */
static enum rc add_line(struct curl_slist **list, const char *name, const char *value,
			struct text *why)
{
	struct text line;

	if (!line_bytes(name) || !line_bytes(value) || name[0] == '\0' || strpbrk(name, ":; \t")) {
		text_add_str(why, "a header holds a byte that a header can't carry");
		return RC_INVALID;
	}
	text_init(&line, LINE_MAX_BYTES);
	text_add_str(&line, name);
	text_add_str(&line, empty(value) ? ";" : ": ");
	text_add_str(&line, empty(value) ? "" : value);

	struct curl_slist *grown = text_ok(&line) ? curl_slist_append(*list, line.bytes) : NULL;
	if (line.bytes)
		explicit_bzero(line.bytes, line.len);
	text_release(&line);
	if (!grown)
		return RC_FAULT;
	*list = grown;
	return RC_OK;
}

/* Placeholders first: what is filled in holds no "${", and what a secret holds is never read for
 * placeholders. */
static enum rc fill_value(const struct exchange_order *order, const char *value, struct text *out,
			  struct text *why)
{
	char job_id[ID_TEXT_LEN + 1], attempt_id[ID_TEXT_LEN + 1];
	const char *missing = NULL;
	const struct fill_values values = { {
		[FILL_KEY] = order->provider_key,
		[FILL_JOB_ID] = id_format(&order->job_id, job_id),
		[FILL_ATTEMPT_ID] = id_format(&order->attempt_id, attempt_id),
		[FILL_CALLBACK_URL] = order->callback_url,
	} };
	enum rc rc = fill_text(value, strlen(value), &values, false, out, &missing);

	if (rc != RC_INVALID)
		return rc;
	if (!missing) {
		text_addf(why, "a header value would be longer than %zu bytes", out->cap);
		return RC_INVALID;
	}
	text_addf(why, "a header names {{%s}}, which isn't set up here", missing);
	return RC_NOT_FOUND;
}

static enum rc add_row(struct curl_slist **list, const struct exchange_order *order,
		       const struct provider_header *header, struct text *why)
{
	struct text filled, value;

	text_init(&filled, LINE_MAX_BYTES / 2);
	text_init(&value, LINE_MAX_BYTES / 2);
	enum rc rc = fill_value(order, header->value, &filled, why);
	if (rc == RC_OK)
		rc = secrets_expand(filled.bytes ? filled.bytes : "", &value, why);
	text_release(&filled);
	if (rc == RC_OK)
		rc = add_line(list, header->name, value.bytes ? value.bytes : "", why);
	if (value.bytes)
		explicit_bzero(value.bytes, value.len);
	text_release(&value);
	return rc;
}

/* A header of the route. What comes from the input is checked and never read again. */
static enum rc add_route_line(struct curl_slist **list, const struct exchange_order *order,
			      const struct json_value *header, struct text *why)
{
	struct text value;
	char name[PROVIDER_HEADER_NAME_MAX + 1];

	snprintf(name, sizeof name, "%.*s", (int)header->name_len, header->name);
	if (strcasecmp(name, order->def->key_header) == 0) {
		text_addf(why, "the route sets %s, which is the provider's key header", name);
		return RC_INVALID;
	}
	text_init(&value, LINE_MAX_BYTES / 2);
	enum rc rc = template_render_header(header->string, header->string_len, order->values,
					    secrets_expand, &value, why);
	if (rc == RC_OK)
		rc = add_line(list, name, value.bytes ? value.bytes : "", why);
	if (value.bytes)
		explicit_bzero(value.bytes, value.len);
	text_release(&value);
	return rc;
}

static enum rc add_route(struct curl_slist **list, const struct exchange_order *order,
			 struct text *why)
{
	const struct json_value *headers = order->route ? order->route->headers : NULL;
	enum rc rc = RC_OK;

	for (const struct json_value *header = headers ? headers->child : NULL;
	     rc == RC_OK && header; header = header->next)
		rc = add_route_line(list, order, header, why);
	return rc;
}

static bool row_names(const struct provider_def *def, const char *name)
{
	for (size_t i = 0; i < def->headers_len; i++)
		if (strcasecmp(def->headers[i].name, name) == 0)
			return true;
	return false;
}

static bool route_names(const struct exchange_order *order, const char *name)
{
	return order->route && contract_route_header(order->route, name);
}

static enum rc add_own(struct curl_slist **list, const struct exchange_order *order,
		       struct text *why)
{
	char traceparent[TRACEPARENT_LEN + 1];
	const struct {
		const char *name, *value;
	} own[] = {
		{ "traceparent", traceparent_child(traceparent, order->traceparent, &order->job_id,
						   &order->attempt_id) },
		{ "User-Agent", "onejob/" PACKAGE_VERSION },
	};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		enum rc rc = add_line(list, own[i].name, own[i].value, why);
		if (rc != RC_OK)
			return rc;
	}
	enum rc rc = RC_OK;

	if (order->certify)
		rc = add_line(list, "X-Onejob-Certify", order->certify, why);
	if (rc == RC_OK && order->kind == EXCHANGE_WORK)
		rc = add_line(list, order->def->key_header, order->provider_key, why);
	if (rc != RC_OK || order->kind == EXCHANGE_STATUS || order->kind == EXCHANGE_CANCEL)
		return rc; /* a question has no body, and is no attempt */
	if (row_names(order->def, "Content-Type") || route_names(order, "Content-Type"))
		return rc;
	return add_line(list, "Content-Type", "application/json", why);
}

/* A line that libcurl reads as "don't send this one". */
static enum rc suppress(struct curl_slist **list, const char *line)
{
	struct curl_slist *grown = curl_slist_append(*list, line);

	if (!grown)
		return RC_FAULT;
	*list = grown;
	return RC_OK;
}

/* What libcurl has no room for it would find out too late to be sure that nothing was sent. */
static enum rc measure(const struct curl_slist *list, struct text *why)
{
	size_t bytes = 0;

	for (; list; list = list->next)
		bytes += strlen(list->data) + 2;
	if (bytes <= LINES_MAX_BYTES)
		return RC_OK;
	text_addf(why, "its headers would be longer than %d bytes", LINES_MAX_BYTES);
	return RC_INVALID;
}

enum rc exchange_headers(const struct exchange_order *order, struct curl_slist **headers_out,
			 struct text *why)
{
	struct curl_slist *list = NULL;
	enum rc rc = suppress(&list, "Expect:");

	if (rc == RC_OK)
		rc = add_own(&list, order, why);
	for (size_t i = 0; rc == RC_OK && i < order->def->headers_len; i++)
		if (!route_names(order, order->def->headers[i].name))
			rc = add_row(&list, order, &order->def->headers[i], why);
	if (rc == RC_OK)
		rc = add_route(&list, order, why);
	if (rc == RC_OK)
		rc = measure(list, why);
	if (rc != RC_OK) {
		curl_slist_free_all(list);
		return rc;
	}
	*headers_out = list;
	return RC_OK;
}
