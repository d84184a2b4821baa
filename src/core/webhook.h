/* webhook.h: a message to an owner's endpoint: its body, its signature, and when it is tried again.
 * Standard Webhooks 1.0.
 *
 * A message has one id at every try, and a body that doesn't change; the signature covers the time
 * of the try besides. */
#ifndef CORE_WEBHOOK_H
#define CORE_WEBHOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"
#include "core/job.h"

#define WEBHOOK_SECRET_PREFIX "whsec_"
#define WEBHOOK_SECRET_MIN_BYTES 24
#define WEBHOOK_SECRET_MAX_BYTES 64
#define WEBHOOK_TYPE_MAX_LEN 32
#define WEBHOOK_BODY_MAX_BYTES 4096

/* What happened to a job, as it was then. */
struct webhook_event {
	struct id id;			     /* the message's */
	char type[WEBHOOK_TYPE_MAX_LEN + 1]; /* "job.succeeded" */
	int64_t at_us;			     /* when it happened */
	struct id job_id;
	char key[KEY_MAX];
	size_t key_len;
	enum job_state state;
	uint64_t version;
};

/* {"type","timestamp","data":{"id","idempotency_key","state","version"}}: the same bytes for the
 * same event. */
void webhook_body(const struct webhook_event *event, struct text *out);

struct webhook_key {
	unsigned char bytes[WEBHOOK_SECRET_MAX_BYTES];
	size_t len;
};

/* whsec_<base64 of 24 to 64 bytes>. False: it is none, *key_out is zeroed. */
bool webhook_secret_parse(const char *text, size_t len, struct webhook_key *key_out);

/* Adds "v1,<base64 of HMAC-SHA-256>" over "<id>.<timestamp_s>.<body>", one for each key, with a
 * blank between. */
void webhook_sign(const struct webhook_key *keys, size_t keys_len, const char *id,
		  int64_t timestamp_s, const char *body, size_t body_len, struct text *out);

/* How long to wait after so many tries (1 or more), picked by `random` within an eighth around the
 * schedule's time; -1: give up, about a day after the first. Raised, never lowered, to
 * retry_after_ms (-1: none). */
int64_t webhook_retry_ms(uint32_t tries, uint32_t random, int64_t retry_after_ms);

#endif
