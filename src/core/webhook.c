#include "core/webhook.h"

#include <inttypes.h>
#include <string.h>

#include "base/base64.h"
#include "base/digest.h"
#include "base/timestamp.h"

void webhook_body(const struct webhook_event *event, struct text *out)
{
	char id[ID_TEXT_LEN + 1], at[TIMESTAMP_TEXT_LEN + 1];

	text_add_str(out, "{\"type\":");
	text_add_json_string(out, event->type, strlen(event->type));
	text_addf(out, ",\"timestamp\":\"%s\",\"data\":{\"id\":\"%s\",\"idempotency_key\":",
		  timestamp_format(event->at_us, at), id_format(&event->job_id, id));
	text_add_json_string(out, event->key, event->key_len);
	text_addf(out, ",\"state\":\"%s\",\"version\":%" PRIu64 "}}", job_state_name(event->state),
		  event->version);
}

bool webhook_secret_parse(const char *text, size_t len, struct webhook_key *key_out)
{
	const size_t prefix = strlen(WEBHOOK_SECRET_PREFIX);

	*key_out = (struct webhook_key){ 0 };
	if (len > prefix && memcmp(text, WEBHOOK_SECRET_PREFIX, prefix) == 0 &&
	    base64_decode(text + prefix, len - prefix, key_out->bytes, sizeof key_out->bytes,
			  &key_out->len) &&
	    key_out->len >= WEBHOOK_SECRET_MIN_BYTES)
		return true;
	explicit_bzero(key_out, sizeof *key_out);
	return false;
}

void webhook_sign(const struct webhook_key *keys, size_t keys_len, const char *id,
		  int64_t timestamp_s, const char *body, size_t body_len, struct text *out)
{
	unsigned char mac[SHA256_BYTES];
	char encoded[BASE64_LEN(SHA256_BYTES) + 1];
	struct text content;

	text_init(&content, strlen(id) + body_len + 32);
	text_addf(&content, "%s.%" PRId64 ".", id, timestamp_s);
	text_add(&content, body, body_len);
	if (!text_ok(&content))
		out->failed = true;
	for (size_t i = 0; text_ok(&content) && i < keys_len; i++) {
		digest_hmac_sha256(keys[i].bytes, keys[i].len, content.bytes, content.len, mac);
		text_addf(out, "%sv1,%s", i > 0 ? " " : "",
			  base64_encode(mac, sizeof mac, encoded));
	}
	text_release(&content);
}

int64_t webhook_retry_ms(uint32_t tries, uint32_t random, int64_t retry_after_ms)
{
	static const uint32_t waits_s[] = {
		5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 28800
	};

	if (tries == 0)
		return 0;
	if (tries > sizeof waits_s / sizeof waits_s[0])
		return -1;
	uint64_t wait_ms = (uint64_t)waits_s[tries - 1] * 1000;

	wait_ms = wait_ms - wait_ms / 8 + ((uint64_t)random * (wait_ms / 4 + 1) >> 32);
	return (int64_t)wait_ms < retry_after_ms ? retry_after_ms : (int64_t)wait_ms;
}
