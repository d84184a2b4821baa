/* What a request looks like on the wire, what of it can't be sent, and answers of a make that the
 * print shop doesn't give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shop.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define BODY_LEN 12 /* of trade_make()'s own input */

static void make_with_peer(struct peer *peer, struct trade *trade)
{
	static char url[64];

	peer_start(peer);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/path", peer->port);
	trade->url = url;
	trade_make(trade);
	peer_end(peer);
	peer->got[peer->got_len < sizeof peer->got ? peer->got_len : sizeof peer->got - 1] = '\0';
}

static int times(const char *text, const char *part)
{
	int count = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

static void a_request_holds_these_lines_and_no_others(void **state)
{
	static const char want[] =
		"POST /path HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\nAccept-Encoding: "
		"gzip\r\n"
		"traceparent: 00-01020300000000000000000000000000-0c0d000000000000-01\r\n"
		"User-Agent: onejob/%s\r\n"
		"Idempotency-Key: 01939f00-0000-7000-8000-000000000001-0\r\nContent-Type: "
		"application/json\r\nX-Empty:\r\nX-One: a "
		"b\r\n"
		"Content-Length: 12\r\n\r\n{\"copies\":1}";
	struct peer *peer = calloc(1, sizeof *peer);
	struct trade trade = { .row = ", \"headers\": {\"X-Empty\": \"\", \"X-One\": \"a b\"}" };
	char expected[1024];

	(void)state;
	*peer = (struct peer){ .reply = OK_HEAD "Content-Length: 2\r\n\r\n{}", .want = BODY_LEN };
	peer->reply_len = strlen(peer->reply);
	make_with_peer(peer, &trade);
	snprintf(expected, sizeof expected, want, peer->port, PACKAGE_VERSION);
	assert_string_equal(peer->got, expected);
	assert_int_equal(trade.outcome.kind, OUTCOME_RESULT);
	trade_release(&trade);
	free(peer);
}

static void the_input_goes_out_byte_for_byte_by_every_method(void **state)
{
	static const char input[] = " {\"n\": 1.10e+02,\t\"s\":\"\\u00e9\xc3\xa9\"}\n";
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE", "GET" };

	(void)state;
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		struct peer *peer = calloc(1, sizeof *peer);
		char row[64];

		snprintf(row, sizeof row, ", \"method\": \"%s\"", methods[i]);
		struct trade trade = { .row = row, .input = input };
		peer->reply = OK_HEAD "Content-Length: 2\r\n\r\n{}";
		peer->reply_len = strlen(peer->reply);
		peer->want = sizeof input - 1;
		make_with_peer(peer, &trade);
		assert_memory_equal(peer->got, methods[i], strlen(methods[i]));
		assert_string_equal(strstr(peer->got, "\r\n\r\n") + 4, input);
		trade_release(&trade);
		free(peer);
	}
}

static void the_row_names_key_header_and_content_type(void **state)
{
	struct peer *peer = calloc(1, sizeof *peer);
	struct trade trade = {
		.row = ", \"headers\": {\"content-type\": \"application/vnd.x+json\"},"
		       " \"idempotency\": {\"header\": \"X-Request-Key\"}",
		.key = "k-7",
		.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
	};

	(void)state;
	peer->reply = OK_HEAD "Content-Length: 2\r\n\r\n{}";
	peer->reply_len = strlen(peer->reply);
	peer->want = BODY_LEN;
	make_with_peer(peer, &trade);
	assert_non_null(strstr(peer->got, "\r\nX-Request-Key: k-7\r\n"));
	assert_null(strstr(peer->got, "Idempotency-Key"));
	assert_non_null(strstr(peer->got, "\r\ncontent-type: application/vnd.x+json\r\n"));
	assert_null(strstr(peer->got, "application/json"));
	assert_non_null(
		strstr(peer->got,
		       "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-0c0d000000000000-00\r\n"));
	trade_release(&trade);
	free(peer);
}

/* A route's headers, and the input that they are made of. */
struct routed {
	struct json_doc *headers, *input;
	struct route route;
	struct template_values values;
};

static void routed_open(struct routed *routed, const char *headers, const char *input)
{
	struct json_error error;

	*routed = (struct routed){ .route.result_pointer = (char[]){ "" } };
	assert_int_equal(json_parse(headers, strlen(headers), 8, &routed->headers, &error), RC_OK);
	assert_int_equal(json_parse(input, strlen(input), 8, &routed->input, &error), RC_OK);
	routed->route.headers = json_root(routed->headers);
	routed->values.input = json_root(routed->input);
}

static void routed_close(struct routed *routed)
{
	json_free(routed->headers);
	json_free(routed->input);
}

/* " " of the input, " \t " of a secret: what the provider is to be told goes out empty, where
 * libcurl alone would leave the header out. */
static void a_headers_value_of_blanks_alone_is_not_left_out(void **state)
{
	struct peer *peer = calloc(1, sizeof *peer);
	struct routed routed;
	struct trade trade = { .row = ", \"headers\": {\"X-Blank\": \"${env:ONEJOB_TEST_SECRET}\"}",
			       .route = &routed.route,
			       .values = &routed.values };

	(void)state;
	routed_open(&routed, "{\"X-Account\": \"{{/account}}\", \"X-Tab\": \"{{/tab}}\"}",
		    "{\"account\": \" \", \"tab\": \"\\t \"}");
	setenv("ONEJOB_TEST_SECRET", " \t ", 1);
	*peer = (struct peer){ .reply = OK_HEAD "Content-Length: 2\r\n\r\n{}", .want = BODY_LEN };
	peer->reply_len = strlen(peer->reply);
	make_with_peer(peer, &trade);
	assert_int_equal(times(peer->got, "\r\nX-Account:\r\n"), 1);
	assert_int_equal(times(peer->got, "\r\nX-Tab:\r\n"), 1);
	assert_int_equal(times(peer->got, "\r\nX-Blank:\r\n"), 1);
	trade_release(&trade);
	routed_close(&routed);
	free(peer);
	unsetenv("ONEJOB_TEST_SECRET");
}

static void expect_no_room(struct trade *trade, const char *why)
{
	trade_make(trade);
	assert_int_equal(trade->built, RC_INVALID);
	assert_int_equal(trade->seen.end, SEEN_NOT_BUILT);
	assert_int_equal(trade->outcome.kind, OUTCOME_FAILED);
	assert_int_equal(trade->outcome.reason, REASON_TEMPLATE);
	assert_int_equal(trade->outcome.phase, PHASE_NOT_SENT);
	if (!strstr(trade->outcome.detail.bytes, why))
		fail_msg("%s, not: %s", trade->outcome.detail.bytes, why);
	trade_release(trade);
}

/* Too much for the line, or for all that libcurl has room for: never sent, and never to be, so it
 * is no lack of memory that another try might find gone. */
static void headers_that_can_never_fit_are_the_templates_fault(void **state)
{
	static const struct {
		const char *headers;
		size_t bytes; /* of each placeholder */
		const char *why;
	} rows[] = {
		{ "{\"X\": \"{{/v}}\"}", 140000, "a header's value would be longer than" },
		{ "{\"X\": \"{{/v}}${env:ONEJOB_TEST_SECRET}\"}", 131072,
		  "a header value would be longer than" },
		{ "{\"A\": \"{{/v}}\", \"B\": \"{{/v}}\", \"C\": \"{{/v}}\", \"D\": \"{{/v}}\", "
		  "\"E\": \"{{/v}}\"}",
		  120000, "its headers would be longer than" },
	};

	(void)state;
	setenv("ONEJOB_TEST_SECRET", "t", 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct routed routed;
		struct trade trade = { .path = "/no-room",
				       .route = &routed.route,
				       .values = &routed.values };
		char *input = calloc(1, rows[i].bytes + 16);

		memset(input, 'x', rows[i].bytes + 8);
		memcpy(input, "{\"v\": \"", 7);
		memcpy(input + 7 + rows[i].bytes, "\"}", 3);
		routed_open(&routed, rows[i].headers, input);
		expect_no_room(&trade, rows[i].why);
		routed_close(&routed);
		free(input);
	}
	assert_int_equal(shop_requests("no-room"), 0);
	unsetenv("ONEJOB_TEST_SECRET");
}

static void a_url_that_can_never_fit_is_the_rows_fault(void **state)
{
	char reference[512 + 1], row[1024] = ", \"status\": {\"url\": \"http://127.0.0.1:9/";

	(void)state;
	memset(reference, '/', sizeof reference - 1); /* each is three bytes in a URL */
	reference[sizeof reference - 1] = '\0';
	for (int i = 0; i < 43; i++)
		strcat(row, "{{reference}}");
	strcat(row,
	       "\", \"state\": \"/s\", \"map\": {\"done\": \"succeeded\"}, \"result\": \"/r\"}, "
	       "\"accepted\": {\"reference\": \"/id\"}");
	struct trade trade = {
		.path = "/", .row = row, .kind = EXCHANGE_STATUS, .reference = reference
	};

	expect_no_room(&trade, "its URL would be longer than 65536 bytes");
}

static void a_secret_goes_out_and_shows_nowhere_else(void **state)
{
	struct peer *peer = calloc(1, sizeof *peer);
	struct trade trade = {
		.row = ", \"headers\": {\"Authorization\": \"Bearer ${env:ONEJOB_TEST_SECRET}\"}"
	};

	(void)state;
	setenv("ONEJOB_TEST_SECRET", "tiger-7", 1);
	peer->reply = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
	peer->reply_len = strlen(peer->reply);
	peer->want = BODY_LEN;
	make_with_peer(peer, &trade);
	assert_int_equal(times(peer->got, "\r\nAuthorization: Bearer tiger-7\r\n"), 1);
	assert_null(strstr(trade.seen.detail, "tiger"));
	assert_null(strstr(trade.outcome.detail.bytes, "tiger"));
	trade_release(&trade);
	free(peer);
	unsetenv("ONEJOB_TEST_SECRET");
}

/* Another host may have it: one that lacks it must not fail a whole queue for good. */
static void a_missing_secret_sends_nothing_and_is_named(void **state)
{
	struct trade trade = { .path = "/no-secret",
			       .row = ", \"headers\": {\"X\": \"${env:ONEJOB_NOT_SET}\"}" };

	(void)state;
	trade_make(&trade);
	assert_int_equal(trade.built, RC_INVALID);
	assert_int_equal(trade.seen.end, SEEN_NOT_EQUIPPED);
	assert_int_equal(trade.outcome.kind, OUTCOME_RETRY);
	assert_int_equal(trade.outcome.reason, REASON_NEVER_SENT);
	assert_int_equal(trade.outcome.phase, PHASE_NOT_SENT);
	assert_non_null(strstr(trade.outcome.detail.bytes, "ONEJOB_NOT_SET"));
	trade_release(&trade);
	assert_int_equal(shop_requests("no-secret"), 0);
}

static void a_callback_that_is_not_set_up_here_sends_nothing(void **state)
{
	struct trade trade = { .path = "/no-callback",
			       .row = ", \"headers\": {\"X\": \"{{callback_url}}\"}" };

	(void)state;
	trade_make(&trade);
	assert_int_equal(trade.seen.end, SEEN_NOT_EQUIPPED);
	assert_int_equal(trade.outcome.reason, REASON_NEVER_SENT);
	trade_release(&trade);
	assert_int_equal(shop_requests("no-callback"), 0);
}

static void no_value_can_add_a_header_line(void **state)
{
	static const char *const secrets[] = { "a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX", "a\x01",
					       "a\x7f" };
	static const char *const keys[] = { "k\r\nX-Evil: 1", "k\nX", "k\x1f" };

	(void)state;
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
		struct trade trade = {
			.path = "/evil",
			.row = ", \"headers\": {\"X\": \"${env:ONEJOB_TEST_SECRET}\"}"
		};

		setenv("ONEJOB_TEST_SECRET", secrets[i], 1);
		trade_make(&trade);
		assert_int_equal(trade.seen.end, SEEN_NOT_EQUIPPED);
		assert_null(strstr(trade.outcome.detail.bytes, "Evil"));
		trade_release(&trade);
	}
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		struct trade trade = { .path = "/evil", .key = keys[i] };

		trade_make(&trade);
		assert_int_equal(trade.seen.end, SEEN_NOT_BUILT);
		trade_release(&trade);
	}
	assert_int_equal(shop_requests("evil"), 0);
	unsetenv("ONEJOB_TEST_SECRET");
}

struct odd {
	const char *what;
	const char *reply;
	enum seen_end end;
	enum outcome_kind kind;
	enum reason reason;
};

static void check_odd(const struct odd *row, size_t reply_len, const char *members)
{
	struct peer *peer = calloc(1, sizeof *peer);
	struct trade trade = { .row = members };

	peer->reply = row->reply;
	peer->reply_len = reply_len;
	peer->want = BODY_LEN;
	make_with_peer(peer, &trade);
	if (trade.seen.end != row->end || trade.outcome.kind != row->kind ||
	    trade.outcome.reason != row->reason)
		fail_msg("%s: code %d end %d phase %d kind %d reason %d: %s", row->what,
			 (int)trade.code, (int)trade.seen.end, (int)trade.seen.phase,
			 (int)trade.outcome.kind, (int)trade.outcome.reason,
			 trade.outcome.detail.bytes);
	trade_release(&trade);
	free(peer);
}

#define RESULT_OK SEEN_WHOLE, OUTCOME_RESULT, REASON_NONE
#define VIOLATION SEEN_WHOLE, OUTCOME_FAILED, REASON_CONTRACT_VIOLATION
#define CUT SEEN_WHOLE, OUTCOME_UNKNOWN, REASON_TRUNCATED

static void an_odd_answer_is_read_for_what_it_proves(void **state)
{
	static const struct odd rows[] = {
		{ "half a status line", "HTTP/1.1 20", SEEN_EMPTY_REPLY, OUTCOME_UNKNOWN,
		  REASON_EMPTY },
		{ "a header without an end", OK_HEAD "Content-Le", SEEN_TRUNCATED, OUTCOME_UNKNOWN,
		  REASON_TRUNCATED },
		{ "a 204 without its end", "HTTP/1.1 204 No\r\n", SEEN_TRUNCATED, OUTCOME_UNKNOWN,
		  REASON_TRUNCATED },
		{ "a line without a name", OK_HEAD "what\r\nContent-Length: 2\r\n\r\n{}",
		  SEEN_MALFORMED, OUTCOME_UNKNOWN, REASON_MALFORMED },
		{ "a length that is no number", OK_HEAD "Content-Length: x\r\n\r\n{}",
		  SEEN_MALFORMED, OUTCOME_UNKNOWN, REASON_MALFORMED },
		{ "a chunk size that is no number",
		  OK_HEAD "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", SEEN_MALFORMED,
		  OUTCOME_UNKNOWN, REASON_MALFORMED },
		{ "an encoding nobody knows",
		  OK_HEAD "Content-Encoding: rot13\r\nContent-Length: 2\r\n\r\n{}",
		  SEEN_BAD_ENCODING, OUTCOME_UNKNOWN, REASON_MALFORMED },
		{ "only interim answers", "HTTP/1.1 103 Wait\r\n\r\n", SEEN_EMPTY_REPLY,
		  OUTCOME_UNKNOWN, REASON_EMPTY },
		{ "two equal lengths", OK_HEAD "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		  RESULT_OK },
		{ "two lengths in an interim answer",
		  "HTTP/1.1 103 Wait\r\nContent-Length: 1\r\nContent-Length: 3\r\n\r\n" OK_HEAD
		  "Content-Length: 2\r\n\r\n{}",
		  RESULT_OK },
		{ "two lengths on one line", OK_HEAD "Content-Length: 2, 3\r\n\r\n{}", VIOLATION },
		{ "a length in a trailer",
		  OK_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
			  "Content-Length: 9\r\nContent-Length: 8\r\nRetry-After: 1\r\n\r\n",
		  RESULT_OK },
		{ "a number that a close ends", OK_HEAD "\r\n12", CUT },
		{ "a number and a newline that a close ends", OK_HEAD "\r\n12\n", RESULT_OK },
		{ "nothing that a close ends", OK_HEAD "\r\n", CUT },
		{ "HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n{}", RESULT_OK },
		{ "503 whose Retry-After came in a trailer",
		  "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "0\r\nRetry-After: 1\r\n\r\n",
		  SEEN_WHOLE, OUTCOME_UNKNOWN, REASON_GATEWAY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_odd(&rows[i], strlen(rows[i].reply),
			  strstr(rows[i].what, "204") ? ", \"outcomes\": {\"empty\": \"succeeded\"}"
						      : NULL);
}

static void a_header_without_measure_is_malformed(void **state)
{
	static char reply[200000] = OK_HEAD;
	const struct odd row = { "200 kB of header", reply, SEEN_MALFORMED, OUTCOME_UNKNOWN,
				 REASON_MALFORMED };
	size_t len = strlen(reply);

	(void)state;
	while (len < sizeof reply - 100)
		len += (size_t)snprintf(reply + len, sizeof reply - len, "X-%zu: %s\r\n", len,
					"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
	len += (size_t)snprintf(reply + len, sizeof reply - len, "\r\n");
	check_odd(&row, len, NULL);
}

/* gzip of [1,2,3], whole and cut; both with a Content-Length that fits, so that HTTP shows nothing.
 */
static void a_gzip_that_ends_too_early_is_not_taken_for_whole(void **state)
{
	static const unsigned char gzip[] = {
		0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x8b, 0x36, 0xd4, 0x31,
		0xd2, 0x31, 0x8e, 0x05, 0x00, 0xe9, 0xb3, 0x6d, 0xfd, 0x07, 0x00, 0x00, 0x00
	};
	static const struct {
		const char *what;
		size_t len;
		enum outcome_kind kind;
		enum reason reason;
	} rows[] = {
		{ "whole", sizeof gzip, OUTCOME_RESULT, REASON_NONE },
		{ "without its trailer and end", sizeof gzip - 11, OUTCOME_UNKNOWN,
		  REASON_TRUNCATED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char reply[256];
		int head = snprintf(reply, sizeof reply,
				    OK_HEAD "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
				    rows[i].len);
		const struct odd row = { rows[i].what, reply, SEEN_WHOLE, rows[i].kind,
					 rows[i].reason };

		memcpy(reply + head, gzip, rows[i].len);
		check_odd(&row, (size_t)head + rows[i].len, NULL);
	}
}

static void a_failed_handshake_was_never_sent(void **state)
{
	char url[128];
	struct peer *proxy = calloc(1, sizeof *proxy);
	struct trade tls = { .url = url }, tunnel = { .url = "https://provider.invalid/" };

	(void)state;
	snprintf(url, sizeof url, "https%s/tls", shop_url() + strlen("http"));
	trade_make(&tls);
	assert_int_equal(tls.seen.end, SEEN_TLS_FAILED);
	assert_int_equal(tls.outcome.reason, REASON_NEVER_SENT);
	trade_release(&tls);

	proxy->reply = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n";
	proxy->reply_len = strlen(proxy->reply);
	peer_start(proxy);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", proxy->port);
	setenv("https_proxy", url, 1);
	trade_make(&tunnel);
	unsetenv("https_proxy");
	peer_end(proxy);
	assert_int_equal(tunnel.seen.end, SEEN_PROXY_FAILED);
	assert_int_equal(tunnel.seen.phase, PHASE_NOT_SENT);
	assert_int_equal(tunnel.seen.http_status, 0);
	assert_int_equal(tunnel.outcome.reason, REASON_NEVER_SENT);
	trade_release(&tunnel);
	free(proxy);
}

static void an_exchange_given_up_tells_how_far_it_got(void **state)
{
	struct seen seen;
	struct trade trade = { .path = "/given-up/stall", .row = ", \"timeout_ms\": 200" };

	(void)state;
	trade_make(&trade);
	exchange_abandoned(trade.exchange, 0, &seen);
	assert_int_equal(seen.end, SEEN_SHUTDOWN);
	assert_int_equal(seen.phase, PHASE_SENT);
	trade_release(&trade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_holds_these_lines_and_no_others),
		cmocka_unit_test(the_input_goes_out_byte_for_byte_by_every_method),
		cmocka_unit_test(the_row_names_key_header_and_content_type),
		cmocka_unit_test(a_headers_value_of_blanks_alone_is_not_left_out),
		cmocka_unit_test(headers_that_can_never_fit_are_the_templates_fault),
		cmocka_unit_test(a_url_that_can_never_fit_is_the_rows_fault),
		cmocka_unit_test(a_secret_goes_out_and_shows_nowhere_else),
		cmocka_unit_test(a_missing_secret_sends_nothing_and_is_named),
		cmocka_unit_test(a_callback_that_is_not_set_up_here_sends_nothing),
		cmocka_unit_test(no_value_can_add_a_header_line),
		cmocka_unit_test(an_odd_answer_is_read_for_what_it_proves),
		cmocka_unit_test(a_header_without_measure_is_malformed),
		cmocka_unit_test(a_gzip_that_ends_too_early_is_not_taken_for_whole),
		cmocka_unit_test(a_failed_handshake_was_never_sent),
		cmocka_unit_test(an_exchange_given_up_tells_how_far_it_got),
	};

	curl_global_init(CURL_GLOBAL_DEFAULT);
	shop_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	shop_close();
	curl_global_cleanup();
	return failed;
}
