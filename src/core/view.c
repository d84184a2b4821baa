/* view.c: jobs, attempts and certificates as JSON. Each is written straight into a text; json-c
 * only carries it where it is a part of something else. */
#include "core/view.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"

/* An object being written: `{` is there, `}` is not. A member's name is its opening: quotes, colon
 * and, but for the first, a comma. */
#define FIRST(name) "\"" name "\":"
#define NEXT(name) ",\"" name "\":"

static void put_null(struct text *to, const char *opening)
{
	text_add_str(to, opening);
	text_add(to, "null", 4);
}

static void put_raw(struct text *to, const char *opening, const struct blob *blob)
{
	if (!blob->bytes) {
		put_null(to, opening);
		return;
	}
	text_add_str(to, opening);
	text_add(to, blob->bytes, blob->len);
}

static void put_string(struct text *to, const char *opening, const char *bytes, size_t len)
{
	if (!bytes) {
		put_null(to, opening);
		return;
	}
	text_add_str(to, opening);
	text_add_json_string(to, bytes, len);
}

static void put_bytes(struct text *to, const char *opening, const struct blob *blob)
{
	put_string(to, opening, blob->bytes, blob->len);
}

static void put_name(struct text *to, const char *opening, const char *value)
{
	put_string(to, opening, value && *value ? value : NULL, value ? strlen(value) : 0);
}

/* What is kept as "a, b" is shown as [a, b]. */
static void put_list(struct text *to, const char *opening, const struct blob *items)
{
	text_add_str(to, opening);
	text_add(to, "[", 1);
	text_add(to, items->bytes ? items->bytes : "", items->len);
	text_add(to, "]", 1);
}

/* No metadata is an empty object, so that a client may always look inside; purged_at tells what is
 * gone. */
static void put_metadata(struct text *to, const char *opening, const struct blob *metadata)
{
	const struct blob none = { .bytes = (char[]){ "{}" }, .len = 2 };

	put_raw(to, opening, metadata->bytes ? metadata : &none);
}

static void put_number(struct text *to, const char *opening, uint64_t number)
{
	char digits[20], *at = digits + sizeof digits;

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	text_add_str(to, opening);
	text_add(to, at, (size_t)(digits + sizeof digits - at));
}

static void put_number_or_null(struct text *to, const char *opening, uint64_t number)
{
	if (number)
		put_number(to, opening, number);
	else
		put_null(to, opening);
}

static void put_bool(struct text *to, const char *opening, bool value)
{
	text_add_str(to, opening);
	text_add_str(to, value ? "true" : "false");
}

static void put_time(struct text *to, const char *opening, int64_t us)
{
	char text[TIMESTAMP_TEXT_LEN + 1];

	put_string(to, opening, us ? timestamp_format(us, text) : NULL, TIMESTAMP_TEXT_LEN);
}

static void put_id(struct text *to, const char *opening, const struct id *id)
{
	char text[ID_TEXT_LEN + 1];

	put_string(to, opening, id ? id_format(id, text) : NULL, ID_TEXT_LEN);
}

static void put_error(struct text *to, const char *opening, const struct job *job)
{
	if (job->error_reason == REASON_NONE) {
		put_null(to, opening);
		return;
	}
	text_add_str(to, opening);
	put_name(to, "{" FIRST("reason"), reason_name(job->error_reason));
	put_bytes(to, NEXT("detail"), &job->error_detail);
	put_id(to, NEXT("attempt_id"), job->has_error_attempt ? &job->error_attempt_id : NULL);
	text_add(to, "}", 1);
}

static void put_attempt(struct text *to, const struct attempt *attempt)
{
	put_id(to, "{" FIRST("id"), &attempt->id);
	put_number(to, NEXT("number"), attempt->number);
	put_name(to, NEXT("provider"), attempt->provider);
	put_name(to, NEXT("state"), attempt_state_name(attempt->state));
	put_name(to, NEXT("phase"), phase_name(attempt->phase));
	put_name(to, NEXT("reason"), reason_name(attempt->reason));
	put_number_or_null(to, NEXT("http_status"), attempt->http_status);
	put_bytes(to, NEXT("note"), &attempt->note);
	put_bytes(to, NEXT("settled_by"), &attempt->settled_by);
	put_time(to, NEXT("settled_at"), attempt->settled_us);
	put_id(to, NEXT("certificate_id"),
	       attempt->has_certificate ? &attempt->certificate_id : NULL);
	put_time(to, NEXT("started_at"), attempt->started_us);
	put_time(to, NEXT("finished_at"), attempt->finished_us);
}

static void put_attempts(struct text *to, const char *opening, const struct job *job)
{
	text_add_str(to, opening);
	text_add(to, "[", 1);
	for (size_t i = 0; i < job->attempts_len; i++) {
		if (i > 0)
			text_add(to, ",", 1);
		put_attempt(to, &job->attempts[i]);
		text_add(to, "}", 1);
	}
	text_add(to, "]", 1);
}

/* What the job is and how far it has come, up to the winner's name. */
static void put_head(struct text *to, const struct job *job, bool whole)
{
	put_id(to, "{" FIRST("id"), &job->id);
	put_name(to, NEXT("state"), job_state_name(job->state));
	put_number(to, NEXT("version"), job->version);
	put_bytes(to, NEXT("owner"), &job->owner);
	put_bytes(to, NEXT("idempotency_key"), &job->key);
	put_name(to, NEXT("contract"), job->contract);
	put_number_or_null(to, NEXT("contract_version"), job->contract_version);
	put_name(to, NEXT("provider"), job->provider);
	if (whole)
		put_raw(to, NEXT("input"), &job->input);
	put_metadata(to, NEXT("metadata"), &job->metadata);
	put_number(to, NEXT("max_attempts"), job->max_attempts);
	put_number(to, NEXT("attempt_count"), job->attempt_count);
	put_id(to, NEXT("completed_by"), job->has_completed_by ? &job->completed_by : NULL);
}

static void put_job(struct text *to, const struct job *job, bool whole)
{
	put_head(to, job, whole);
	if (whole)
		put_raw(to, NEXT("result"), &job->result);
	put_error(to, NEXT("error"), job);
	put_name(to, NEXT("advice"), job_advice(job));
	put_bool(to, NEXT("in_doubt"), job->in_doubt);
	put_time(to, NEXT("not_before"), job->not_before_us);
	put_time(to, NEXT("expires_at"), job->expires_us);
	put_time(to, NEXT("deadline_at"), job->deadline_us);
	put_time(to, NEXT("created_at"), job->created_us);
	put_time(to, NEXT("updated_at"), job->updated_us);
	put_time(to, NEXT("purged_at"), job->purged_us);
	put_list(to, NEXT("passed_over"), &job->passed_over);
	if (whole)
		put_attempts(to, NEXT("attempts"), job);
	text_add(to, "}", 1);
}

void view_write_job(struct text *to, const struct job *job)
{
	put_job(to, job, true);
}

static int raw_write(struct json_object *object, struct printbuf *to, int level, int flags)
{
	const struct blob *raw = json_object_get_userdata(object);

	(void)level;
	(void)flags;
	return printbuf_memappend(to, raw->bytes, (int)raw->len);
}

static void raw_free(struct json_object *object, void *userdata)
{
	struct blob *raw = userdata;

	(void)object;
	free(raw->bytes);
	free(raw);
}

/* What the text holds, as a part for json-c; the text is empty after. */
static struct json_object *raw_of(struct text *text)
{
	struct blob *raw = text_ok(text) ? malloc(sizeof *raw) : NULL;
	struct json_object *object = NULL;

	if (raw) /* any kind does: the serializer decides what is written */
		object = json_object_new_boolean(0);
	if (!object) {
		free(raw);
		text_release(text);
		return NULL;
	}
	raw->len = text->len;
	raw->bytes = text_take(text);
	json_object_set_serializer(object, raw_write, raw, raw_free);
	return object;
}

struct json_object *view_raw(const char *json, size_t len)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	text_add(&text, json, len);
	return raw_of(&text);
}

struct json_object *view_string(const char *bytes, size_t len)
{
	struct text quoted;

	text_init(&quoted, VIEW_MAX_BYTES);
	text_add_json_string(&quoted, bytes, len);
	return raw_of(&quoted);
}

struct json_object *view_id(const struct id *id)
{
	char text[ID_TEXT_LEN + 1];

	return json_object_new_string_len(id_format(id, text), ID_TEXT_LEN);
}

struct json_object *view_time(int64_t us)
{
	char text[TIMESTAMP_TEXT_LEN + 1];

	return json_object_new_string_len(timestamp_format(us, text), TIMESTAMP_TEXT_LEN);
}

const char *view_text(struct json_object *value, size_t *len_out)
{
	return json_object_to_json_string_length(
		value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, len_out);
}

struct json_object *view_job(const struct job *job)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	put_job(&text, job, true);
	return raw_of(&text);
}

struct json_object *view_job_row(const struct job *job)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	put_job(&text, job, false);
	return raw_of(&text);
}

struct json_object *view_attempt(const struct attempt *attempt)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	put_attempt(&text, attempt);
	text_add(&text, "}", 1);
	return raw_of(&text);
}

struct json_object *view_attempt_row(const struct attempt *attempt)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	put_attempt(&text, attempt);
	put_id(&text, NEXT("job_id"), &attempt->job_id);
	put_bytes(&text, NEXT("detail"), &attempt->detail);
	put_bytes(&text, NEXT("reference"), &attempt->reference);
	put_number(&text, NEXT("asked"), attempt->asked);
	put_bytes(&text, NEXT("last_answer"), &attempt->last_answer);
	put_time(&text, NEXT("next_ask_at"), attempt->next_ask_us);
	text_add(&text, "}", 1);
	return raw_of(&text);
}

struct json_object *view_certificate(const struct certificate *certificate)
{
	struct text text;

	text_init(&text, VIEW_MAX_BYTES);
	put_id(&text, "{" FIRST("id"), &certificate->id);
	put_name(&text, NEXT("contract"), certificate->contract);
	put_number(&text, NEXT("contract_version"), certificate->contract_version);
	put_name(&text, NEXT("provider"), certificate->provider);
	put_bool(&text, NEXT("passed"), certificate->passed);
	put_bool(&text, NEXT("valid"), certificate->now == STANDING_VALID);
	put_name(&text, NEXT("why"), standing_name(certificate->now));
	put_number(&text, NEXT("rounds"), certificate->rounds);
	put_time(&text, NEXT("issued_at"), certificate->issued_us);
	put_time(&text, NEXT("expires_at"), certificate->expires_us);
	put_raw(&text, NEXT("report"), &certificate->report);
	text_add(&text, "}", 1);
	return raw_of(&text);
}

void view_etag(const struct job *job, char etag_out[ETAG_MAX])
{
	snprintf(etag_out, ETAG_MAX, "\"%" PRIu64 "-%" PRIu64 "\"", job->version, job->revision);
}
