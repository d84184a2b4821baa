/* view.h: a row as the JSON that clients, operators and `onejob --json` see. */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "core/certificate.h"
#include "core/job.h"

struct json_object;

/* No view is longer, in bytes. */
#define VIEW_MAX_BYTES (INT32_MAX / 2)

/* Adds what view_job() holds to a text, whose cap should be VIEW_MAX_BYTES. */
void view_write_job(struct text *to, const struct job *job);

/* Each returns a new object (json_object_put() it), or NULL without memory. */
struct json_object *
view_job(const struct job *job); /* the whole job with input, result and attempts */
struct json_object *view_job_row(const struct job *job); /* a list's row: without those three */
struct json_object *view_attempt(const struct attempt *attempt);
/* For operators: besides, its job, what was seen, and what the provider was asked since. */
struct json_object *view_attempt_row(const struct attempt *attempt);
struct json_object *view_certificate(const struct certificate *certificate);

/* A JSON text put in as it is, byte for byte; it must be one valid JSON text. Its bytes are copied.
 */
struct json_object *view_raw(const char *json, size_t len);

/* A JSON string; a byte that is no UTF-8 comes out as U+FFFD. */
struct json_object *view_string(const char *bytes, size_t len);

struct json_object *view_id(const struct id *id);
struct json_object *view_time(int64_t us);

/* The text that is sent: no white space, slashes not escaped. It lives as long as `value`. NULL
 * without memory. */
const char *view_text(struct json_object *value, size_t *len_out);

/* The ETag, quotes included: "<version>-<revision>". */
#define ETAG_MAX 48
void view_etag(const struct job *job, char etag_out[ETAG_MAX]);

#endif
