#include "provider/hook.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/address.h"
#include "provider/secrets.h"

#define TIMEOUT_MS 15000
#define CONNECT_TIMEOUT_MS 5000
#define BODY_MAX_BYTES 65536 /* of the answer's */
#define HEADER_MAX_BYTES 1024
#define WHY_MAX_BYTES 700

/* --- what comes back: of the body nothing is kept */

static size_t on_header(char *bytes, size_t size, size_t items, void *arg)
{
	struct hook *hook = arg;
	size_t len = size * items;

	return answer_line(&hook->answer, bytes, len) ? len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t items, void *arg)
{
	struct hook *hook = arg;
	size_t len = size * items;

	(void)bytes;
	hook->body_bytes += len;
	return hook->body_bytes <= BODY_MAX_BYTES ? len : 0;
}

/* --- where it may go */

static bool is_public(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return address_public_v4(
			(const void *)&((const struct sockaddr_in *)(const void *)address)
				->sin_addr);
	if (address->sa_family == AF_INET6)
		return address_public_v6(
			(const void *)&((const struct sockaddr_in6 *)(const void *)address)
				->sin6_addr);
	return false;
}

static void say_refused(struct hook *hook, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "an address of another family";

	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
			  text, sizeof text);
	else if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6,
			  &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text,
			  sizeof text);
	snprintf(hook->detail, sizeof hook->detail,
		 "its address %s is not a public one, which is not allowed here", text);
	hook->refused = true;
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct hook *hook = arg;

	(void)purpose;
	if (!hook->allow_private && !is_public(&address->addr)) {
		say_refused(hook, &address->addr);
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- the header */

static bool add_header(struct hook *hook, const char *line)
{
	struct curl_slist *grown = curl_slist_append(hook->headers, line);

	if (!grown)
		return false;
	hook->headers = grown;
	return true;
}

static enum rc refuse(struct hook *hook, size_t place, const char *why)
{
	snprintf(hook->detail, sizeof hook->detail, "secret %zu can't be used: %s", place + 1, why);
	return RC_INVALID;
}

static enum rc read_key(struct hook *hook, const struct webhook_def *def, size_t place,
			struct webhook_key *key_out)
{
	struct text value, why;

	text_init(&value, SECRET_MAX_BYTES);
	text_init(&why, WHY_MAX_BYTES);
	enum rc rc = secrets_expand(def->secrets[place], &value, &why);

	if (rc == RC_INVALID || rc == RC_NOT_FOUND)
		rc = refuse(hook, place, why.bytes ? why.bytes : "it can't be read");
	else if (rc == RC_OK &&
		 !webhook_secret_parse(value.bytes ? value.bytes : "", value.len, key_out)) {
		text_addf(&why, "what %s holds is not whsec_ and base64 of 24 to 64 bytes",
			  def->secrets[place]);
		rc = refuse(hook, place, why.bytes ? why.bytes : "it is malformed");
	}
	if (value.bytes)
		explicit_bzero(value.bytes, value.size);
	text_release(&value);
	text_release(&why);
	return rc;
}

static enum rc read_keys(struct hook *hook, const struct webhook_def *def,
			 struct webhook_key keys_out[WEBHOOK_SECRETS_MAX])
{
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < def->secrets_len; i++)
		rc = read_key(hook, def, i, &keys_out[i]);
	return rc;
}

static enum rc make_headers(struct hook *hook, const struct hook_order *order,
			    const struct text *body)
{
	struct webhook_key keys[WEBHOOK_SECRETS_MAX];
	char id[ID_TEXT_LEN + 1], line[128];
	int64_t now_s = order->now_us / 1000000;
	struct text signature;
	enum rc rc = read_keys(hook, order->def, keys);

	text_init(&signature, HEADER_MAX_BYTES);
	if (rc == RC_OK) {
		id_format(&order->event->id, id);
		text_add_str(&signature, "webhook-signature: ");
		webhook_sign(keys, order->def->secrets_len, id, now_s, body->bytes, body->len,
			     &signature);
		snprintf(line, sizeof line, "webhook-id: %s", id);
		bool added = text_ok(&signature) && add_header(hook, signature.bytes) &&
			     add_header(hook, line);

		snprintf(line, sizeof line, "webhook-timestamp: %" PRId64, now_s);
		added = added && add_header(hook, line) &&
			add_header(hook, "Content-Type: application/json") &&
			add_header(hook, "Expect:");
		rc = added ? RC_OK : RC_FAULT;
	}
	explicit_bzero(keys, sizeof keys);
	text_release(&signature);
	return rc;
}

/* --- the request */

static bool set_long(CURL *easy, CURLoption option, long value)
{
	return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_text(CURL *easy, CURLoption option, const char *value)
{
	return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_conduct(CURL *easy, bool allow_private)
{
	return set_long(easy, CURLOPT_NOSIGNAL, 1) &&
	       set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
	       set_long(easy, CURLOPT_FOLLOWLOCATION, 0) &&
	       set_long(easy, CURLOPT_FRESH_CONNECT, 1) &&
	       set_long(easy, CURLOPT_FORBID_REUSE, 1) &&
	       set_long(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED) &&
	       set_long(easy, CURLOPT_SSL_VERIFYPEER, 1) &&
	       set_long(easy, CURLOPT_SSL_VERIFYHOST, 2) &&
	       set_long(easy, CURLOPT_HTTP09_ALLOWED, 0) &&
	       set_long(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1) &&
	       set_long(easy, CURLOPT_PATH_AS_IS, 1) &&
	       set_long(easy, CURLOPT_TIMEOUT_MS, TIMEOUT_MS) &&
	       set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS) &&
	       (allow_private || set_text(easy, CURLOPT_PROXY, ""));
}

static bool set_request(struct hook *hook, const char *url, const struct text *body)
{
	CURL *easy = hook->easy;

	return set_text(easy, CURLOPT_URL, url) &&
	       curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len) ==
		       CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, body->bytes) == CURLE_OK &&
	       set_text(easy, CURLOPT_USERAGENT, "onejob/" PACKAGE_VERSION) &&
	       curl_easy_setopt(easy, CURLOPT_HTTPHEADER, hook->headers) == CURLE_OK;
}

static bool set_callbacks(struct hook *hook)
{
	CURL *easy = hook->easy;

	return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, hook->error) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERDATA, hook) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEDATA, hook) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, hook) == CURLE_OK;
}

static enum rc make_handle(struct hook *hook, const struct hook_order *order,
			   const struct text *body)
{
	hook->easy = curl_easy_init();
	if (hook->easy && set_conduct(hook->easy, order->allow_private) &&
	    set_request(hook, order->def->url, body) && set_callbacks(hook))
		return RC_OK;
	return RC_FAULT;
}

enum rc hook_build(const struct hook_order *order, struct hook **hook_out)
{
	struct hook *hook = calloc(1, sizeof *hook);
	struct text body;

	if (!hook)
		return RC_FAULT;
	hook->allow_private = order->allow_private;
	answer_init(&hook->answer, 0);
	text_init(&body, WEBHOOK_BODY_MAX_BYTES);
	webhook_body(order->event, &body);
	enum rc rc = text_ok(&body) ? make_headers(hook, order, &body) : RC_FAULT;

	if (rc == RC_OK)
		rc = make_handle(hook, order, &body);
	text_release(&body);
	if (rc == RC_FAULT) {
		hook_free(hook);
		return RC_FAULT;
	}
	*hook_out = hook;
	return rc;
}

void hook_free(struct hook *hook)
{
	if (!hook)
		return;
	curl_easy_cleanup(hook->easy);
	curl_slist_free_all(hook->headers);
	answer_release(&hook->answer);
	free(hook);
}

/* --- the end */

static enum hook_end end_of_status(struct hook *hook)
{
	long status = 0;

	curl_easy_getinfo(hook->easy, CURLINFO_RESPONSE_CODE, &status);
	snprintf(hook->detail, sizeof hook->detail, "it answered %ld%s", status,
		 status >= 300 && status < 400 ? "; redirects are not followed" : "");
	if (status == 410)
		return HOOK_GONE;
	return status >= 200 && status < 300 ? HOOK_DELIVERED : HOOK_FAILED;
}

enum hook_end hook_end(struct hook *hook, CURLcode code, const char **why_out)
{
	*why_out = hook->detail;
	if (!hook->easy)
		return HOOK_FAILED;
	/* The status counts, whatever its body would go on to say. */
	hook->answered = code == CURLE_OK ||
			 (code == CURLE_WRITE_ERROR && hook->body_bytes > BODY_MAX_BYTES);
	if (hook->answered)
		return end_of_status(hook);
	if (hook->refused && code == CURLE_COULDNT_CONNECT)
		return HOOK_FAILED;
	if (hook->answer.overflow)
		snprintf(hook->detail, sizeof hook->detail,
			 "its answer's header is longer than %d bytes", ANSWER_HEADER_MAX_BYTES);
	else
		snprintf(hook->detail, sizeof hook->detail, "%s",
			 hook->error[0] ? hook->error : curl_easy_strerror(code));
	return code == CURLE_OPERATION_TIMEDOUT ? HOOK_TIMED_OUT : HOOK_FAILED;
}

int64_t hook_retry_after_ms(const struct hook *hook, int64_t now_us)
{
	return hook->answered ? answer_retry_after_ms(&hook->answer, now_us) : -1;
}
