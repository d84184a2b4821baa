/* view.c: jobs and attempts as JSON. */
#include "core/view.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"

/* An object being filled: once something is missing it stays failed, and is asked once. */
struct build {
	struct json_object *object;
	bool failed;
};

static void build_begin(struct build *b)
{
	b->object = json_object_new_object();
	b->failed = !b->object;
}

/* NULL means no memory. */
static struct json_object *build_end(struct build *b)
{
	if (!b->failed)
		return b->object;
	json_object_put(b->object);
	return NULL;
}

static void put_or_null(struct build *b, const char *name, struct json_object *value)
{
	const unsigned int how = JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY;

	if (b->failed || json_object_object_add_ex(b->object, name, value, how) != 0) {
		json_object_put(value);
		b->failed = true;
	}
}

/* For json-c NULL is the value null, so a value that could not be made is told apart here. */
static void put(struct build *b, const char *name, struct json_object *value)
{
	if (!value)
		b->failed = true;
	else
		put_or_null(b, name, value);
}

static void put_name(struct build *b, const char *name, const char *value)
{
	if (value && *value)
		put(b, name, json_object_new_string(value));
	else
		put_or_null(b, name, NULL);
}

static void put_bytes(struct build *b, const char *name, const struct blob *blob)
{
	if (blob->bytes)
		put(b, name, view_string(blob->bytes, blob->len));
	else
		put_or_null(b, name, NULL);
}

static void put_raw(struct build *b, const char *name, const struct blob *blob)
{
	if (blob->bytes)
		put(b, name, view_raw(blob->bytes, blob->len));
	else
		put_or_null(b, name, NULL);
}

/* What is kept as "a, b" is shown as [a, b]. */
static void put_list(struct build *b, const char *name, const struct blob *items)
{
	struct text list;

	text_init(&list, items->len + 2);
	text_add_str(&list, "[");
	text_add(&list, items->bytes ? items->bytes : "", items->len);
	text_add_str(&list, "]");
	put(b, name, text_ok(&list) ? view_raw(list.bytes, list.len) : NULL);
	text_release(&list);
}

/* No metadata is an empty object, so that a client may always look inside; purged_at tells what is
 * gone. */
static void put_metadata(struct build *b, const struct blob *metadata)
{
	if (metadata->bytes)
		put_raw(b, "metadata", metadata);
	else
		put(b, "metadata", json_object_new_object());
}

static void put_number(struct build *b, const char *name, uint64_t number)
{
	put(b, name, json_object_new_uint64(number));
}

static void put_number_or_null(struct build *b, const char *name, uint64_t number)
{
	if (number)
		put_number(b, name, number);
	else
		put_or_null(b, name, NULL);
}

static void put_time(struct build *b, const char *name, int64_t us)
{
	if (us)
		put(b, name, view_time(us));
	else
		put_or_null(b, name, NULL);
}

static void put_id_if(struct build *b, const char *name, bool has, const struct id *id)
{
	if (has)
		put(b, name, view_id(id));
	else
		put_or_null(b, name, NULL);
}

static int raw_write(struct json_object *object, struct printbuf *to, int level, int flags)
{
	const struct blob *raw = json_object_get_userdata(object);

	(void)level;
	(void)flags;
	return printbuf_memappend(to, raw->bytes, (int)raw->len);
}

static void raw_free(struct json_object *object, void *raw)
{
	(void)object;
	free(raw);
}

struct json_object *view_raw(const char *json, size_t len)
{
	struct json_object *object = NULL;
	struct blob *raw;

	if (len > INT_MAX / 2)
		return NULL;
	raw = malloc(sizeof *raw + len);
	if (!raw)
		return NULL;
	object = json_object_new_boolean(
		0); /* any kind does: the serializer decides what is written */
	if (!object) {
		free(raw);
		return NULL;
	}
	raw->bytes = (char *)(raw + 1);
	raw->len = len;
	memcpy(raw->bytes, json, len);
	json_object_set_serializer(object, raw_write, raw, raw_free);
	return object;
}

struct json_object *view_string(const char *bytes, size_t len)
{
	struct json_object *object = NULL;
	struct text quoted;

	if (len > INT_MAX / 16)
		return NULL;
	if (text_json_plain(bytes, len) == len)
		return json_object_new_string_len(bytes, (int)len);
	text_init(&quoted, 6 * len + 2);
	text_add_json_string(&quoted, bytes, len);
	if (text_ok(&quoted))
		object = view_raw(quoted.bytes, quoted.len);
	text_release(&quoted);
	return object;
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

static struct json_object *view_error(const struct job *job)
{
	struct build b;

	build_begin(&b);
	put_name(&b, "reason", reason_name(job->error_reason));
	put_bytes(&b, "detail", &job->error_detail);
	put_id_if(&b, "attempt_id", job->has_error_attempt, &job->error_attempt_id);
	return build_end(&b);
}

static struct json_object *view_attempts(const struct job *job)
{
	struct json_object *array =
		json_object_new_array_ext((int)(job->attempts_len ? job->attempts_len : 1));

	for (size_t i = 0; array && i < job->attempts_len; i++) {
		struct json_object *attempt = view_attempt(&job->attempts[i]);

		if (!attempt || json_object_array_add(array, attempt) != 0) {
			json_object_put(attempt);
			json_object_put(array);
			return NULL;
		}
	}
	return array;
}

/* What the job is and how far it has come, up to the winner's name. */
static void put_head(struct build *b, const struct job *job, bool whole)
{
	put(b, "id", view_id(&job->id));
	put_name(b, "state", job_state_name(job->state));
	put_number(b, "version", job->version);
	put_bytes(b, "owner", &job->owner);
	put_bytes(b, "idempotency_key", &job->key);
	put_name(b, "contract", job->contract);
	put_number_or_null(b, "contract_version", job->contract_version);
	put_name(b, "provider", job->provider);
	if (whole)
		put_raw(b, "input", &job->input);
	put_metadata(b, &job->metadata);
	put_number(b, "max_attempts", job->max_attempts);
	put_number(b, "attempt_count", job->attempt_count);
	put_id_if(b, "completed_by", job->has_completed_by, &job->completed_by);
}

static struct json_object *job_object(const struct job *job, bool whole)
{
	struct build b;

	build_begin(&b);
	put_head(&b, job, whole);
	if (whole)
		put_raw(&b, "result", &job->result);
	if (job->error_reason == REASON_NONE)
		put_or_null(&b, "error", NULL);
	else
		put(&b, "error", view_error(job));
	put_name(&b, "advice", job_advice(job));
	put(&b, "in_doubt", json_object_new_boolean(job->in_doubt));
	put_time(&b, "not_before", job->not_before_us);
	put_time(&b, "expires_at", job->expires_us);
	put_time(&b, "deadline_at", job->deadline_us);
	put_time(&b, "created_at", job->created_us);
	put_time(&b, "updated_at", job->updated_us);
	put_time(&b, "purged_at", job->purged_us);
	put_list(&b, "passed_over", &job->passed_over);
	if (whole)
		put(&b, "attempts", view_attempts(job));
	return build_end(&b);
}

struct json_object *view_job(const struct job *job)
{
	return job_object(job, true);
}

struct json_object *view_job_row(const struct job *job)
{
	return job_object(job, false);
}

struct json_object *view_attempt(const struct attempt *attempt)
{
	struct build b;

	build_begin(&b);
	put(&b, "id", view_id(&attempt->id));
	put_number(&b, "number", attempt->number);
	put_name(&b, "provider", attempt->provider);
	put_name(&b, "state", attempt_state_name(attempt->state));
	put_name(&b, "phase", phase_name(attempt->phase));
	put_name(&b, "reason", reason_name(attempt->reason));
	put_number_or_null(&b, "http_status", attempt->http_status);
	put_bytes(&b, "note", &attempt->note);
	put_bytes(&b, "settled_by", &attempt->settled_by);
	put_time(&b, "settled_at", attempt->settled_us);
	put_id_if(&b, "certificate_id", attempt->has_certificate, &attempt->certificate_id);
	put_time(&b, "started_at", attempt->started_us);
	put_time(&b, "finished_at", attempt->finished_us);
	return build_end(&b);
}

struct json_object *view_attempt_row(const struct attempt *attempt)
{
	struct build b = { .object = view_attempt(attempt) };

	b.failed = !b.object;
	put(&b, "job_id", view_id(&attempt->job_id));
	put_bytes(&b, "detail", &attempt->detail);
	put_bytes(&b, "reference", &attempt->reference);
	put_number(&b, "asked", attempt->asked);
	put_bytes(&b, "last_answer", &attempt->last_answer);
	put_time(&b, "next_ask_at", attempt->next_ask_us);
	return build_end(&b);
}

struct json_object *view_certificate(const struct certificate *certificate)
{
	struct build b;

	build_begin(&b);
	put(&b, "id", view_id(&certificate->id));
	put_name(&b, "contract", certificate->contract);
	put_number(&b, "contract_version", certificate->contract_version);
	put_name(&b, "provider", certificate->provider);
	put(&b, "passed", json_object_new_boolean(certificate->passed));
	put(&b, "valid", json_object_new_boolean(certificate->now == STANDING_VALID));
	put_name(&b, "why", standing_name(certificate->now));
	put_number(&b, "rounds", certificate->rounds);
	put_time(&b, "issued_at", certificate->issued_us);
	put_time(&b, "expires_at", certificate->expires_us);
	put_raw(&b, "report", &certificate->report);
	return build_end(&b);
}

void view_etag(const struct job *job, char etag_out[ETAG_MAX])
{
	snprintf(etag_out, ETAG_MAX, "\"%" PRIu64 "-%" PRIu64 "\"", job->version, job->revision);
}
