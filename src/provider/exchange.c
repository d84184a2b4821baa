#include "provider/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/fill.h"
#include "provider/exchange_headers.h"
#include "provider/seen.h"

#define WHY_MAX_BYTES 700
#define URL_MAX_BYTES 65536
#define HOLD_OVER "the poller's hold on the attempt was over"

static size_t on_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	size_t len = size * count;

	return answer_line(&exchange->answer, bytes, len) ? len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	size_t len = size * count;

	return answer_body(&exchange->answer, bytes, len) ? len : 0;
}

/* However long the connection took, and however long this process was stopped meanwhile: once
 * others may have taken the attempt for lost, it isn't begun any more. */
static bool is_hold_over(struct exchange *exchange)
{
	if (exchange->send_before_ms != EXCHANGE_AT_ANY_TIME &&
	    clock_monotonic_ms() >= exchange->send_before_ms)
		exchange->hold_over = true;
	return exchange->hold_over;
}

/* Called when the connection stands and nothing of the request has gone out: until then it's
 * certain to be not sent. */
static int on_may_send(void *arg, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	struct exchange *exchange = arg;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	(void)local_port;
	if (is_hold_over(exchange))
		return CURL_PREREQFUNC_ABORT;
	exchange->repeated = exchange->may_send;
	exchange->may_send = true;
	return CURL_PREREQFUNC_OK;
}

static bool set_long(CURL *easy, CURLoption option, long value)
{
	return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_text(CURL *easy, CURLoption option, const char *value)
{
	return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

/* One request, one connection, one answer: everything that libcurl would do besides is off. */
static bool set_conduct(CURL *easy, const struct provider_def *def)
{
	long fresh = !def->key_honoured;

	return set_long(easy, CURLOPT_NOSIGNAL, 1) &&
	       set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
	       set_long(easy, CURLOPT_FOLLOWLOCATION, 0) &&
	       set_long(easy, CURLOPT_FRESH_CONNECT, fresh) &&
	       set_long(easy, CURLOPT_FORBID_REUSE, fresh) &&
	       set_long(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED) &&
	       set_long(easy, CURLOPT_SSL_VERIFYPEER, 1) &&
	       set_long(easy, CURLOPT_SSL_VERIFYHOST, 2) &&
	       set_long(easy, CURLOPT_HTTP09_ALLOWED, 0) &&
	       set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) &&
	       set_long(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1) &&
	       set_long(easy, CURLOPT_PATH_AS_IS, 1);
}

/* A body that is wanted as text shows nothing when its encoding ends too early, so none is asked
 * for. */
static const char *encodings_wanted(const struct exchange_order *order)
{
	enum result_as as = order->route ? order->route->result_as : order->def->result_as;
	const char *pointer =
		order->route ? order->route->result_pointer : order->def->result_pointer;

	return as == RESULT_AS_TEXT && pointer[0] == '\0' ? "identity" : "gzip";
}

static bool set_body(CURL *easy, const struct exchange_order *order)
{
	bool tool = order->kind == EXCHANGE_TOOL;

	return set_text(easy, CURLOPT_URL, tool ? order->url : order->def->url) &&
	       curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)order->input_len) ==
		       CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, order->input) == CURLE_OK &&
	       set_text(easy, CURLOPT_CUSTOMREQUEST, tool ? "POST" : order->def->method);
}

static bool has_body(enum exchange_kind kind)
{
	return kind == EXCHANGE_WORK || kind == EXCHANGE_TOOL;
}

static bool set_question(CURL *easy, const struct exchange_order *order, const char *url)
{
	const char *method = order->kind == EXCHANGE_CANCEL ? order->def->cancel_method : "GET";

	/* Without a body that libcurl would announce; a POST says that it has none. */
	return set_text(easy, CURLOPT_URL, url) && set_long(easy, CURLOPT_POSTFIELDSIZE, 0) &&
	       (strcmp(method, "GET") == 0 ? set_long(easy, CURLOPT_HTTPGET, 1)
					   : set_text(easy, CURLOPT_POSTFIELDS, "") &&
						     set_text(easy, CURLOPT_CUSTOMREQUEST, method));
}

static bool set_request(CURL *easy, const struct exchange_order *order, const char *question_url,
			struct curl_slist *headers)
{
	bool set = has_body(order->kind) ? set_body(easy, order)
					 : set_question(easy, order, question_url);

	return set && set_text(easy, CURLOPT_ACCEPT_ENCODING, encodings_wanted(order)) &&
	       curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

static bool set_callbacks(CURL *easy, struct exchange *exchange)
{
	return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->detail) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_may_send) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange) == CURLE_OK;
}

/* For libcurl 0 ms is no limit at all. */
static int64_t hold_left_ms(const struct exchange *exchange)
{
	int64_t left_ms = exchange->send_before_ms - clock_monotonic_ms();

	if (exchange->send_before_ms == EXCHANGE_AT_ANY_TIME)
		return INT64_MAX;
	return left_ms > 0 ? left_ms : 1;
}

static bool set_times(struct exchange *exchange, const struct exchange_order *order)
{
	int64_t left_ms = hold_left_ms(exchange);
	bool question = order->kind == EXCHANGE_STATUS || order->kind == EXCHANGE_CANCEL;
	int64_t timeout_ms =
		question ? provider_def_question_ms(order->def) : order->def->timeout_ms;
	int64_t connect_ms = order->def->connect_timeout_ms;

	exchange->deadline_rules = order->budget_ms >= 0 && order->budget_ms < timeout_ms;
	if (exchange->deadline_rules)
		timeout_ms = order->budget_ms;
	if (connect_ms > timeout_ms)
		connect_ms = timeout_ms;
	if (connect_ms > left_ms)
		connect_ms = left_ms;
	return set_long(exchange->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms) &&
	       set_long(exchange->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
}

static enum rc refuse(struct exchange *exchange, const char *why)
{
	snprintf(exchange->detail, sizeof exchange->detail, "%s", why);
	return RC_INVALID;
}

static enum rc make_headers(struct exchange *exchange, const struct exchange_order *order)
{
	struct text why;

	text_init(&why, WHY_MAX_BYTES);
	enum rc rc = exchange_headers(order, &exchange->headers, &why);
	exchange->not_equipped = rc == RC_NOT_FOUND;
	if (rc == RC_INVALID || rc == RC_NOT_FOUND)
		rc = refuse(exchange, why.bytes ? why.bytes : "a header can't be made");
	text_release(&why);
	return rc;
}

/* RC_INVALID: a placeholder can't be filled, or there's too much in them. */
static enum rc make_question_url(struct exchange *exchange, const struct exchange_order *order,
				 struct text *url)
{
	const char *row =
		order->kind == EXCHANGE_CANCEL ? order->def->cancel_url : order->def->status_url;
	char job_id[ID_TEXT_LEN + 1], attempt_id[ID_TEXT_LEN + 1], why[128];
	const char *missing = NULL;
	const struct fill_values values = { {
		[FILL_REFERENCE] = order->reference,
		[FILL_KEY] = order->provider_key,
		[FILL_JOB_ID] = id_format(&order->job_id, job_id),
		[FILL_ATTEMPT_ID] = id_format(&order->attempt_id, attempt_id),
	} };
	enum rc rc = fill_text(row, strlen(row), &values, true, url, &missing);

	if (rc != RC_INVALID)
		return rc;
	if (missing)
		snprintf(why, sizeof why, "nothing is known for {{%s}}", missing);
	else
		snprintf(why, sizeof why, "its URL would be longer than %d bytes", URL_MAX_BYTES);
	return refuse(exchange, why);
}

static enum rc make_handle(struct exchange *exchange, const struct exchange_order *order)
{
	struct text url;
	enum rc rc = RC_OK;

	text_init(&url, URL_MAX_BYTES);
	if (!has_body(order->kind))
		rc = make_question_url(exchange, order, &url);
	if (rc == RC_OK)
		exchange->easy = curl_easy_init();
	if (rc == RC_OK && !(exchange->easy && set_conduct(exchange->easy, order->def) &&
			     set_request(exchange->easy, order, url.bytes, exchange->headers) &&
			     set_callbacks(exchange->easy, exchange) && set_times(exchange, order)))
		rc = RC_FAULT;
	text_release(&url);
	return rc;
}

enum rc exchange_build(const struct exchange_order *order, struct exchange **exchange_out)
{
	struct exchange *exchange = calloc(1, sizeof *exchange);
	enum rc rc;

	if (!exchange)
		return RC_FAULT;
	answer_init(&exchange->answer, order->def->max_result_bytes);
	exchange->input_len = has_body(order->kind) ? order->input_len : 0;
	exchange->too_late = order->budget_ms <= 0 && order->budget_ms != EXCHANGE_NO_BUDGET;
	exchange->send_before_ms = order->send_before_ms;
	if (exchange->too_late)
		rc = refuse(exchange, "the job's deadline had passed");
	else if (is_hold_over(exchange))
		rc = refuse(exchange, HOLD_OVER);
	else
		rc = make_headers(exchange, order);
	if (rc == RC_OK)
		rc = make_handle(exchange, order);
	if (rc == RC_FAULT) {
		exchange_free(exchange);
		return RC_FAULT;
	}
	*exchange_out = exchange;
	return rc;
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	curl_easy_cleanup(exchange->easy);
	curl_slist_free_all(exchange->headers);
	answer_release(&exchange->answer);
	free(exchange);
}

static void gather(const struct exchange *exchange, CURLcode code, struct seen_facts *facts_out)
{
	curl_off_t sent = 0;
	long broke = 0, proxy_status = 0;

	curl_easy_getinfo(exchange->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &broke);
	curl_easy_getinfo(exchange->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
	*facts_out = (struct seen_facts){
		.code = code,
		.may_send = exchange->may_send,
		.proxied = proxy_status != 0,
		.broke = broke != 0,
		.body_sent = (uint64_t)sent,
		.body_len = exchange->input_len,
	};
}

static void fill(struct exchange *exchange, const struct seen_facts *facts, int64_t now_us,
		 struct seen *seen_out)
{
	const struct answer *answer = &exchange->answer;

	*seen_out = (struct seen){
		.end = seen_end(facts, answer),
		.phase = seen_phase(facts, answer),
		.http_status = answer->status,
		.two_lengths = answer->two_lengths,
		.close_delimited = answer_close_delimited(answer),
		.encoded = answer->encoded,
		.too_large = answer->too_large,
		.repeated = exchange->repeated,
		.retry_after_ms = answer_retry_after_ms(answer, now_us),
		.body = answer->body.bytes ? answer->body.bytes : "",
		.body_len = answer->body.len,
		.detail = exchange->detail,
	};
	if (answer->status < 200 && seen_out->end != SEEN_WHOLE)
		seen_out->http_status = 0; /* an interim answer is none */
	seen_out->deadline = facts->code == CURLE_OPERATION_TIMEDOUT && exchange->deadline_rules;
}

static enum seen_end end_unbuilt(const struct exchange *exchange)
{
	if (exchange->too_late || exchange->hold_over)
		return SEEN_CONNECT_TIMEOUT;
	return exchange->not_equipped ? SEEN_NOT_EQUIPPED : SEEN_NOT_BUILT;
}

static void fill_unbuilt(const struct exchange *exchange, struct seen *seen_out)
{
	*seen_out = (struct seen){
		.end = end_unbuilt(exchange),
		.phase = PHASE_NOT_SENT,
		.deadline = exchange->too_late,
		.retry_after_ms = -1,
		.body = "",
		.detail = exchange->detail,
	};
}

void exchange_seen(struct exchange *exchange, CURLcode code, int64_t now_us, struct seen *seen_out)
{
	struct seen_facts facts;

	if (!exchange->easy) {
		fill_unbuilt(exchange, seen_out);
		return;
	}
	if (exchange->hold_over)
		snprintf(exchange->detail, sizeof exchange->detail, "%s", HOLD_OVER);
	else if (code != CURLE_OK && exchange->detail[0] == '\0')
		snprintf(exchange->detail, sizeof exchange->detail, "%s", curl_easy_strerror(code));
	gather(exchange, code, &facts);
	fill(exchange, &facts, now_us, seen_out);
}

void exchange_abandoned(struct exchange *exchange, int64_t now_us, struct seen *seen_out)
{
	exchange_seen(exchange, CURLE_OK, now_us, seen_out);
	if (exchange->easy)
		seen_out->end = SEEN_SHUTDOWN;
}
