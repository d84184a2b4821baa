/* reply.c: see reply.h. */
#include "api/reply.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"

#define HEAD_MAX_BYTES 4096
#define PLAIN_MAX_BYTES 65536
#define DETAIL_MAX_BYTES 512
#define RETRY_AFTER_UNAVAILABLE_S 1

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 409, "Conflict" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Content" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
};

static const char *reason_of(int status)
{
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}

void reply_init(struct reply *reply)
{
	*reply = (struct reply){ .status = 0 };
	text_init(&reply->head, HEAD_MAX_BYTES);
	text_init(&reply->plain, PLAIN_MAX_BYTES);
	text_init(&reply->job, VIEW_MAX_BYTES);
}

/* Back to an answer with nothing in it; the identity stays. */
static void reset(struct reply *reply, int status)
{
	json_object_put(reply->json);
	reply->json = NULL;
	text_clear(&reply->plain);
	text_clear(&reply->job);
	reply->status = status;
	reply->content_type = NULL;
	reply->etag[0] = '\0';
	reply->allow[0] = '\0';
	reply->located = false;
	reply->replayed = false;
	reply->challenge = false;
	reply->token_was_bad = false;
	reply->retry_after_s = 0;
}

void reply_release(struct reply *reply)
{
	reset(reply, 0);
	text_release(&reply->head);
	text_release(&reply->plain);
	text_release(&reply->job);
}

void reply_begin(struct reply *reply, const struct request *request)
{
	reset(reply, 0);
	text_clear(&reply->head);
	reply->body = NULL;
	reply->body_len = 0;
	reply->head_only = false;
	memcpy(reply->request_id, request->id, sizeof reply->request_id);
	reply->key_mark[0] = '\0';
	reply->trace_id[0] = '\0';
	reply->has_job = false;
}

void reply_name_key(struct reply *reply, const struct idempotency_key *key)
{
	unsigned char digest[SHA256_BYTES];

	digest_sha256(key->bytes, key->len, digest);
	for (size_t i = 0; i < KEY_MARK_LEN; i++)
		reply->key_mark[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
	reply->key_mark[KEY_MARK_LEN] = '\0';
}

void reply_name_trace(struct reply *reply, const char *traceparent)
{
	memcpy(reply->trace_id, traceparent + 3, 2 * ID_BYTES);
	reply->trace_id[2 * ID_BYTES] = '\0';
}

void reply_name_job(struct reply *reply, const struct id *job_id)
{
	reply->has_job = true;
	reply->job_id = *job_id;
}

void reply_json(struct reply *reply, int status, struct json_object *json)
{
	reset(reply, status);
	reply->json = json;
	reply->content_type = "application/json";
}

void reply_job(struct reply *reply, int status, const struct job *job)
{
	reply_json(reply, status, NULL);
	view_write_job(&reply->job, job);
	reply_name_job(reply, &job->id);
	view_etag(job, reply->etag);
}

void reply_empty(struct reply *reply, int status)
{
	reset(reply, status);
}

struct text *reply_plain(struct reply *reply, int status)
{
	reset(reply, status);
	reply->content_type = "text/plain; charset=utf-8";
	return &reply->plain;
}

/* Takes `value` over. A member that can't be added, for lack of memory, makes the whole answer
 * fail. */
static void add(struct reply *reply, const char *member, struct json_object *value)
{
	const unsigned int how = JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY;

	if (reply->json && value && json_object_object_add_ex(reply->json, member, value, how) == 0)
		return;
	json_object_put(value);
	json_object_put(reply->json);
	reply->json = NULL;
}

static void add_string(struct reply *reply, const char *member, const char *value)
{
	add(reply, member, view_string(value, strlen(value)));
}

void reply_problem(struct reply *reply, enum problem problem, const char *detail, ...)
{
	const struct problem_row *row = problem_row(problem);
	char text[DETAIL_MAX_BYTES];
	va_list args;

	reply_json(reply, row->status, json_object_new_object());
	reply->content_type = "application/problem+json";
	if (row->status == 503)
		reply->retry_after_s = RETRY_AFTER_UNAVAILABLE_S;
	snprintf(text, sizeof text, "/problems/%s", row->name);
	add_string(reply, "type", text);
	add_string(reply, "title", row->title);
	add(reply, "status", json_object_new_int(row->status));
	va_start(args, detail);
	vsnprintf(text, sizeof text, detail, args);
	va_end(args);
	add_string(reply, "detail", text);
}

void reply_add_number(struct reply *reply, const char *member, uint64_t number)
{
	add(reply, member, json_object_new_uint64(number));
}

void reply_add_job_id(struct reply *reply, const struct id *job_id)
{
	add(reply, "job_id", view_id(job_id));
}

void reply_add_why(struct reply *reply, const char *why)
{
	add(reply, "why", json_object_new_string(why));
}

void reply_add_attempt(struct reply *reply, const struct attempt *attempt)
{
	add(reply, "attempt", view_attempt(attempt));
}

static struct json_object *flaw_object(const struct flaw *flaw)
{
	struct json_object *object = json_object_new_object();
	struct json_object *pointer = view_string(flaw->pointer, strlen(flaw->pointer));
	struct json_object *detail = view_string(flaw->detail, strlen(flaw->detail));

	if (object && pointer && json_object_object_add(object, "pointer", pointer) == 0)
		pointer = NULL; /* the object's now */
	if (object && !pointer && detail && json_object_object_add(object, "detail", detail) == 0)
		return object;
	json_object_put(pointer);
	json_object_put(detail);
	json_object_put(object);
	return NULL;
}

void reply_add_flaws(struct reply *reply, const struct flaws *flaws)
{
	struct json_object *array = json_object_new_array_ext(FLAWS_MAX);

	for (size_t i = 0; array && i < flaws->len; i++) {
		struct json_object *object = flaw_object(&flaws->list[i]);

		if (!object || json_object_array_add(array, object) != 0) {
			json_object_put(object);
			json_object_put(array);
			array = NULL;
		}
	}
	add(reply, "errors", array);
	if (flaws->count > flaws->len)
		reply_add_number(reply, "errors_left_out", flaws->count - flaws->len);
}

/* What is said when there is no memory to say anything. */
static void write_failure(struct reply *reply)
{
	static const char body[] =
		"{\"type\":\"/problems/internal\",\"title\":\"Something is wrong here\","
		"\"status\":500,\"detail\":\"There is no memory for the answer.\"}";

	reset(reply, 500);
	reply->content_type = "application/problem+json";
	reply->body = body;
	reply->body_len = sizeof body - 1;
}

static void write_body(struct reply *reply)
{
	if (!reply->content_type)
		return;
	if (strncmp(reply->content_type, "text/", 5) == 0) {
		reply->body = text_ok(&reply->plain) ? reply->plain.bytes : NULL;
		reply->body_len = reply->plain.len;
	} else if (reply->job.len > 0 || reply->job.failed) {
		reply->body = text_ok(&reply->job) ? reply->job.bytes : NULL;
		reply->body_len = reply->job.len;
	} else if (reply->json) {
		reply->body = view_text(reply->json, &reply->body_len);
	}
	if (!reply->body)
		write_failure(reply);
}

static void write_identity(struct reply *reply)
{
	struct text *head = &reply->head;

	text_addf(head, "X-Request-Id: %s\r\n", reply->request_id);
	if (reply->key_mark[0])
		text_addf(head, "X-Onejob-Key: %s\r\n", reply->key_mark);
	if (reply->has_job) {
		char id[ID_TEXT_LEN + 1];

		text_addf(head, "X-Onejob-Job: %s\r\n", id_format(&reply->job_id, id));
	}
	if (reply->trace_id[0]) {
		text_addf(head, "X-Onejob-Trace: %s\r\n", reply->trace_id);
	} else if (reply->has_job) {
		text_add_str(head, "X-Onejob-Trace: ");
		text_add_hex(head, reply->job_id.bytes, sizeof reply->job_id.bytes);
		text_add_str(head, "\r\n");
	}
}

static void write_headers(struct reply *reply)
{
	struct text *head = &reply->head;

	if (reply->etag[0])
		text_addf(head, "ETag: %s\r\n", reply->etag);
	if (reply->located && reply->has_job) {
		char id[ID_TEXT_LEN + 1];

		text_addf(head, "Location: /v1/jobs/%s\r\n", id_format(&reply->job_id, id));
	}
	if (reply->replayed)
		text_add_str(head, "Idempotent-Replayed: true\r\n");
	if (reply->retry_after_s)
		text_addf(head, "Retry-After: %" PRIu32 "\r\n", reply->retry_after_s);
	if (reply->allow[0])
		text_addf(head, "Allow: %s\r\n", reply->allow);
	if (reply->challenge)
		text_addf(head, "WWW-Authenticate: Bearer realm=\"onejob\"%s\r\n",
			  reply->token_was_bad ? ", error=\"invalid_token\"" : "");
}

void reply_finish(struct reply *reply)
{
	struct text *head = &reply->head;

	write_body(reply);
	text_addf(head, "Status: %d %s\r\n", reply->status, reason_of(reply->status));
	if (reply->content_type)
		text_addf(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", reply->content_type,
			  reply->body_len);
	text_add_str(head, "Cache-Control: no-store\r\n");
	write_headers(reply);
	write_identity(reply);
	text_add_str(head, "\r\n");
	if (reply->head_only)
		reply->body_len = 0;
}
