/* Every way in which an exchange can end, over real sockets: what was seen, what it means, and how
 * often the provider heard of it. The letters and numbers are those of the list of faults that
 * others have met. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "shop.h"

#define SHORT_TIMES ", \"timeout_ms\": 250, \"connect_timeout_ms\": 150"

struct expected {
	const char *what; /* names the row */
	const char *mode; /* of the print shop */
	const char *row;
	enum seen_end end;
	enum phase phase;
	uint32_t status;
	enum outcome_kind kind;
	enum reason reason;
};

static void check(const struct expected *want, const struct trade *got)
{
	if (got->seen.end != want->end || got->seen.phase != want->phase ||
	    got->seen.http_status != want->status)
		fail_msg("%s: code %d end %d phase %d status %u, not %d %d %u", want->what,
			 (int)got->code, (int)got->seen.end, (int)got->seen.phase,
			 (unsigned int)got->seen.http_status, (int)want->end, (int)want->phase,
			 (unsigned int)want->status);
	if (got->outcome.kind != want->kind || got->outcome.reason != want->reason)
		fail_msg("%s: kind %d reason %d, not %d %d (%s)", want->what,
			 (int)got->outcome.kind, (int)got->outcome.reason, (int)want->kind,
			 (int)want->reason, got->outcome.detail.bytes);
	if (got->outcome.kind != OUTCOME_RESULT && got->outcome.result.len > 0)
		fail_msg("%s: a result although there is none: %s", want->what,
			 got->outcome.result.bytes);
}

/* Each row at a printer of its own, which must have counted exactly one request. */
static void check_rows(const char *fault, const struct expected *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char printer[64], path[512];

		snprintf(printer, sizeof printer, "%s-%zu", fault, i);
		snprintf(path, sizeof path, "/%s/%s", printer, rows[i].mode);
		struct trade trade = { .path = path, .row = rows[i].row };
		trade_make(&trade);
		check(&rows[i], &trade);
		trade_release(&trade);
		if (shop_requests(printer) != 1)
			fail_msg("%s: %d requests", rows[i].what, shop_requests(printer));
	}
}

#define CHECK_ROWS(fault, rows) check_rows(fault, rows, sizeof(rows) / sizeof(rows)[0])

static void check_url(const struct expected *want, const char *format, int port)
{
	char url[128];

	snprintf(url, sizeof url, format, port);
	struct trade trade = { .url = url, .row = want->row };
	trade_make(&trade);
	check(want, &trade);
	trade_release(&trade);
}

static void c01_a_refused_connection_or_look_up_was_never_sent(void **state)
{
	const struct expected closed = {
		.what = "closed port",
		.end = SEEN_NOT_CONNECTED,
		.phase = PHASE_NOT_SENT,
		.kind = OUTCOME_RETRY,
		.reason = REASON_NEVER_SENT,
	};
	const struct expected nameless = {
		.what = "no such name",
		.end = SEEN_NOT_RESOLVED,
		.phase = PHASE_NOT_SENT,
		.kind = OUTCOME_RETRY,
		.reason = REASON_NEVER_SENT,
	};
	int port;

	(void)state;
	close(silent_listener(&port));
	check_url(&closed, "http://127.0.0.1:%d/", port);
	check_url(&nameless, "http://no-such-name.invalid:%d/", 80);
}

static void c02_a_read_time_out_leaves_the_outcome_open(void **state)
{
	static const struct expected rows[] = {
		{ "never answers", "stall", SHORT_TIMES, SEEN_TIMEOUT, PHASE_SENT, 0,
		  OUTCOME_UNKNOWN, REASON_TIMEOUT },
		{ "answers too late", "delay=2000", SHORT_TIMES, SEEN_TIMEOUT, PHASE_SENT, 0,
		  OUTCOME_UNKNOWN, REASON_TIMEOUT },
	};

	(void)state;
	CHECK_ROWS("c02", rows);
}

static void c02_the_jobs_deadline_is_told_from_the_providers_time_out(void **state)
{
	static const struct {
		int64_t budget_ms;
		enum reason reason;
	} rows[] = {
		{ 100, REASON_DEADLINE },
		{ 60000, REASON_TIMEOUT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct trade trade = { .path = "/c02-deadline/stall",
				       .row = SHORT_TIMES,
				       .budget_ms = rows[i].budget_ms };

		trade_make(&trade);
		assert_int_equal(trade.seen.end, SEEN_TIMEOUT);
		assert_int_equal(trade.outcome.kind, OUTCOME_UNKNOWN);
		assert_int_equal(trade.outcome.reason, rows[i].reason);
		trade_release(&trade);
	}
	assert_int_equal(shop_requests("c02-deadline"), 2);
}

static void c02_a_deadline_that_has_passed_sends_nothing(void **state)
{
	struct trade trade = { .path = "/c02-late", .budget_ms = -5 };

	(void)state;
	trade_make(&trade);
	assert_int_equal(trade.built, RC_INVALID);
	assert_null(trade.exchange->easy);
	assert_int_equal(trade.seen.phase, PHASE_NOT_SENT);
	assert_int_equal(trade.outcome.kind, OUTCOME_RETRY);
	assert_int_equal(trade.outcome.reason, REASON_NEVER_SENT);
	trade_release(&trade);
	assert_int_equal(shop_requests("c02-late"), 0);
}

/* Connections nobody accepts fill the listener's queue; then the system drops what asks to connect.
 */
static void fill_queue(int port, int fds[4])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	for (int i = 0; i < 4; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		int rc = connect(fds[i], (struct sockaddr *)&address, sizeof address);
		assert_true(rc == 0 || errno == EINPROGRESS);
	}
}

static void c03_a_connect_time_out_was_never_sent(void **state)
{
	const struct expected want = { "black hole",   NULL, SHORT_TIMES,   SEEN_CONNECT_TIMEOUT,
				       PHASE_NOT_SENT, 0,    OUTCOME_RETRY, REASON_NEVER_SENT };
	int port, fds[4], listener = silent_listener(&port);

	(void)state;
	fill_queue(port, fds);
	check_url(&want, "http://127.0.0.1:%d/", port);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
}

/* The row may allow ten minutes for the connection: by then the attempt may be another poller's. */
static void f02_a_connection_has_no_longer_than_the_hold_on_the_attempt(void **state)
{
	const struct expected want = { .what = "black hole",
				       .end = SEEN_CONNECT_TIMEOUT,
				       .phase = PHASE_NOT_SENT,
				       .kind = OUTCOME_RETRY,
				       .reason = REASON_NEVER_SENT };
	int port, fds[4], listener = silent_listener(&port);
	char url[64];

	(void)state;
	fill_queue(port, fds);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	struct trade trade = { .url = url,
			       .row = ", \"timeout_ms\": 600000, \"connect_timeout_ms\": 600000",
			       .hold_ms = 300 };

	trade_make(&trade);
	check(&want, &trade);
	assert_in_range(trade.took_ms, 300, 599000);
	trade_release(&trade);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
}

/* The process was stopped between the claim and the connection. */
static void f02_nothing_goes_out_once_the_hold_is_over(void **state)
{
	const struct expected want = { .what = "over",
				       .end = SEEN_CONNECT_TIMEOUT,
				       .phase = PHASE_NOT_SENT,
				       .kind = OUTCOME_RETRY,
				       .reason = REASON_NEVER_SENT };
	struct trade meanwhile = { .path = "/f02-over", .hold_ms = 50, .wait_out = true };
	struct trade before = { .path = "/f02-over", .hold_ms = -1 };
	struct trade in_time = { .path = "/f02-in-time", .hold_ms = 600000 };

	(void)state;
	trade_make(&meanwhile);
	assert_int_equal(meanwhile.built, RC_OK);
	check(&want, &meanwhile);
	assert_non_null(strstr(meanwhile.outcome.detail.bytes, "hold on the attempt was over"));
	trade_release(&meanwhile);
	trade_make(&before);
	assert_int_equal(before.built, RC_INVALID);
	check(&want, &before);
	trade_release(&before);
	assert_int_equal(shop_requests("f02-over"), 0);
	trade_make(&in_time);
	assert_int_equal(in_time.outcome.kind, OUTCOME_RESULT);
	trade_release(&in_time);
	assert_int_equal(shop_requests("f02-in-time"), 1);
}

static void c03_a_time_out_after_connecting_is_open(void **state)
{
	const struct expected plain = {
		.what = "nobody accepts",
		.row = SHORT_TIMES,
		.end = SEEN_TIMEOUT,
		.phase = PHASE_SENT,
		.kind = OUTCOME_UNKNOWN,
		.reason = REASON_TIMEOUT,
	};
	int port, listener = silent_listener(&port);

	(void)state;
	check_url(&plain, "http://127.0.0.1:%d/", port);
	close(listener);
}

/* TCP stands, but libcurl proves that it never came to the request. */
static void c03_a_tls_handshake_that_hangs_sends_nothing(void **state)
{
	const struct expected tls = {
		.what = "handshake hangs",
		.row = SHORT_TIMES,
		.end = SEEN_CONNECT_TIMEOUT,
		.phase = PHASE_NOT_SENT,
		.kind = OUTCOME_RETRY,
		.reason = REASON_NEVER_SENT,
	};
	int port, listener = silent_listener(&port);

	(void)state;
	check_url(&tls, "https://127.0.0.1:%d/", port);
	close(listener);
}

static void c03_a_request_stuck_half_way_is_sent_in_part(void **state)
{
	size_t len = 12 << 20;
	char *input = malloc(len), url[64];
	int port, listener = silent_listener(&port);

	(void)state;
	memset(input, ' ', len);
	input[0] = '1';
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	struct trade trade = { .url = url, .row = SHORT_TIMES, .input = input, .input_len = len };
	trade_make(&trade);
	assert_int_equal(trade.seen.end, SEEN_TIMEOUT);
	assert_int_equal(trade.seen.phase, PHASE_SENT_IN_PART);
	assert_int_equal(trade.outcome.kind, OUTCOME_UNKNOWN);
	trade_release(&trade);
	close(listener);
	free(input);
}

static void c04_a_status_of_200_beside_a_time_out_is_no_success(void **state)
{
	static const struct expected rows[] = {
		{ "200, 5 of 100 bytes, silence", "cut-stall", SHORT_TIMES, SEEN_TIMEOUT,
		  PHASE_ANSWER_BEGUN, 200, OUTCOME_UNKNOWN, REASON_TIMEOUT },
		{ "even if 200 is named a success", "cut-stall",
		  SHORT_TIMES ", \"outcomes\": {\"200\": \"succeeded\"}", SEEN_TIMEOUT,
		  PHASE_ANSWER_BEGUN, 200, OUTCOME_UNKNOWN, REASON_TIMEOUT },
	};

	(void)state;
	CHECK_ROWS("c04", rows);
}

/* Two exchanges in one multi handle at a printer that drops a connection at its second request. */
static int requests_of_two(const char *printer, const char *row)
{
	CURLM *multi = curl_multi_init();
	char path[64];

	snprintf(path, sizeof path, "/%s/keepalive-drop", printer);
	for (int i = 0; i < 2; i++) {
		struct trade trade = { .path = path, .row = row, .multi = multi };

		trade_make(&trade);
		assert_int_equal(trade.outcome.kind, OUTCOME_RESULT);
		trade_release(&trade);
	}
	curl_multi_cleanup(multi);
	return shop_requests(printer);
}

static void c05_two_attempts_are_two_wire_requests(void **state)
{
	(void)state;
	assert_int_equal(requests_of_two("c05", NULL), 2);
}

/* Why only such a provider's connections are kept: the third request is libcurl's own, under the
 * same key. */
static void c05_a_kept_connection_repeats_only_where_the_key_is_honoured(void **state)
{
	(void)state;
	assert_int_equal(requests_of_two("c05-honoured", ", \"idempotency\": {\"honoured\": true}"),
			 3);
}

/* The second job's request is read and the connection closed; libcurl sends it again on a new one.
 */
static void c05_what_a_repeat_by_libcurl_is_refused_says_nothing_of_the_first_sending(void **state)
{
	static const struct {
		const char *modes, *row;
		enum outcome_kind kind;
	} rows[] = {
		{ "status=429", "", OUTCOME_UNKNOWN },
		{ "status=409", "", OUTCOME_UNKNOWN },
		{ "status=401", "", OUTCOME_UNKNOWN },
		{ "status=503,retry-after=1", "", OUTCOME_UNKNOWN },
		{ "status=422", ", \"outcomes\": {\"422\": \"failed\"}", OUTCOME_FAILED },
		{ "status=200", "", OUTCOME_RESULT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CURLM *multi = curl_multi_init();
		struct trade trades[2];
		char path[64], row[128];

		snprintf(path, sizeof path, "/c05-again-%zu/keepalive-drop,%s", i, rows[i].modes);
		snprintf(row, sizeof row, ", \"idempotency\": {\"honoured\": true}%s", rows[i].row);
		for (int n = 0; n < 2; n++) {
			trades[n] = (struct trade){ .path = path, .row = row, .multi = multi };
			trade_make(&trades[n]);
		}
		assert_true(trades[1].seen.repeated);
		if (trades[1].outcome.kind != rows[i].kind)
			fail_msg("%s: %d", rows[i].modes, (int)trades[1].outcome.kind);
		for (int n = 0; n < 2; n++)
			trade_release(&trades[n]);
		curl_multi_cleanup(multi);
	}
}

static void c05_a_connection_closed_without_a_byte_leaves_the_outcome_open(void **state)
{
	static const struct expected rows[] = {
		{ "closed", "empty", NULL, SEEN_EMPTY_REPLY, PHASE_SENT, 0, OUTCOME_UNKNOWN,
		  REASON_EMPTY },
		{ "reset", "reset", NULL, SEEN_RESET, PHASE_SENT, 0, OUTCOME_UNKNOWN,
		  REASON_CONNECTION_RESET },
		{ "reset early", "reset-early", NULL, SEEN_RESET, PHASE_SENT, 0, OUTCOME_UNKNOWN,
		  REASON_CONNECTION_RESET },
		{ "not HTTP", "garbage", NULL, SEEN_MALFORMED, PHASE_ANSWER_BEGUN, 0,
		  OUTCOME_UNKNOWN, REASON_MALFORMED },
	};

	(void)state;
	CHECK_ROWS("c05-closed", rows);
}

#define WHOLE SEEN_WHOLE, PHASE_ANSWER_BEGUN

static void c06_a_gateways_word_leaves_the_outcome_open(void **state)
{
	static const struct expected rows[] = {
		{ "500", "status=500", NULL, WHOLE, 500, OUTCOME_UNKNOWN, REASON_GATEWAY },
		{ "502", "status=502", NULL, WHOLE, 502, OUTCOME_UNKNOWN, REASON_GATEWAY },
		{ "503", "status=503", NULL, WHOLE, 503, OUTCOME_UNKNOWN, REASON_GATEWAY },
		{ "504", "status=504", NULL, WHOLE, 504, OUTCOME_UNKNOWN, REASON_GATEWAY },
		{ "503 with Retry-After", "status=503/retry-after=1", NULL, WHOLE, 503,
		  OUTCOME_RETRY, REASON_RETRY_LATER },
		{ "500 that the row calls failed", "status=500",
		  ", \"outcomes\": {\"500\": \"failed\"}", WHOLE, 500, OUTCOME_FAILED,
		  REASON_PROVIDER_FAILED },
	};

	(void)state;
	CHECK_ROWS("c06", rows);
}

static void c07_a_429_waits_as_long_as_told(void **state)
{
	const time_t now = 1796158189;
	char date[64];
	struct tm parts;
	time_t then = now + 2;

	(void)state;
	strftime(date, sizeof date, "retry-after=%a%%2C%%20%d%%20%b%%20%Y%%20%H:%M:%S%%20GMT",
		 gmtime_r(&then, &parts));
	const struct {
		const char *mode;
		int64_t wait_ms;
	} rows[] = {
		{ "retry-after=2", 2000 },   { date, 2000 },
		{ "type=text%2Fplain", -1 }, { "retry-after=2/retry-after=2", -1 },
		{ "retry-after=soon", -1 },  { "retry-after=999999999", 86400000 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char path[128];

		snprintf(path, sizeof path, "/c07/status=429/%s", rows[i].mode);
		struct trade trade = { .path = path, .now_us = (int64_t)now * 1000000 };
		trade_make(&trade);
		if (trade.outcome.kind != OUTCOME_RETRY ||
		    trade.outcome.retry_after_ms != rows[i].wait_ms)
			fail_msg("%s: kind %d, %lld ms", rows[i].mode, (int)trade.outcome.kind,
				 (long long)trade.outcome.retry_after_ms);
		trade_release(&trade);
	}
	assert_int_equal(shop_requests("c07"), 6);
}

static void c08_a_redirect_is_never_followed(void **state)
{
	static const struct expected rows[] = {
		{ "301", "redirect=301", NULL, WHOLE, 301, OUTCOME_UNKNOWN, REASON_REDIRECT },
		{ "302", "redirect=302", NULL, WHOLE, 302, OUTCOME_UNKNOWN, REASON_REDIRECT },
		{ "303", "redirect=303", NULL, WHOLE, 303, OUTCOME_UNKNOWN, REASON_REDIRECT },
		{ "307", "redirect=307", NULL, WHOLE, 307, OUTCOME_FAILED, REASON_REDIRECT },
		{ "308", "redirect=308", NULL, WHOLE, 308, OUTCOME_FAILED, REASON_REDIRECT },
	};
	static const char *const second[] = { "c08-0-elsewhere", "c08-1-elsewhere",
					      "c08-2-elsewhere", "c08-3-elsewhere",
					      "c08-4-elsewhere" };

	(void)state;
	CHECK_ROWS("c08", rows);
	for (size_t i = 0; i < sizeof second / sizeof second[0]; i++)
		assert_int_equal(shop_requests(second[i]), 0);
}

static void c09_a_cut_or_missing_body_is_no_success(void **state)
{
	static const struct expected rows[] = {
		{ "shorter than told", "cut", NULL, SEEN_TRUNCATED, PHASE_ANSWER_BEGUN, 200,
		  OUTCOME_UNKNOWN, REASON_TRUNCATED },
		{ "no last chunk", "chunked-cut", NULL, SEEN_TRUNCATED, PHASE_ANSWER_BEGUN, 200,
		  OUTCOME_UNKNOWN, REASON_TRUNCATED },
		{ "no last chunk after whole JSON", "chunked-cut/body=%7B%7D", NULL, SEEN_TRUNCATED,
		  PHASE_ANSWER_BEGUN, 200, OUTCOME_UNKNOWN, REASON_TRUNCATED },
		{ "200 without a body", "nobody", NULL, WHOLE, 200, OUTCOME_UNKNOWN, REASON_EMPTY },
		{ "204", "204", NULL, WHOLE, 204, OUTCOME_UNKNOWN, REASON_EMPTY },
		{ "204 where empty is a success", "204",
		  ", \"outcomes\": {\"empty\": \"succeeded\"}", WHOLE, 204, OUTCOME_RESULT,
		  REASON_NONE },
		{ "cut where only the close ends it", "close-cut", NULL, WHOLE, 200,
		  OUTCOME_UNKNOWN, REASON_TRUNCATED },
		{ "whole where only the close ends it", "close-delimited", NULL, WHOLE, 200,
		  OUTCOME_RESULT, REASON_NONE },
		{ "two lengths", "two-lengths", NULL, WHOLE, 200, OUTCOME_FAILED,
		  REASON_CONTRACT_VIOLATION },
		{ "gzip that is none", "bad-gzip", NULL, SEEN_BAD_ENCODING, PHASE_ANSWER_BEGUN, 200,
		  OUTCOME_UNKNOWN, REASON_MALFORMED },
		{ "gzip", "gzip", NULL, WHOLE, 200, OUTCOME_RESULT, REASON_NONE },
		{ "chunked", "chunked", NULL, WHOLE, 200, OUTCOME_RESULT, REASON_NONE },
		{ "too large", "big=100000", ", \"max_result_bytes\": 99999", WHOLE, 200,
		  OUTCOME_FAILED, REASON_TOO_LARGE },
		{ "just not too large", "big=100000", ", \"max_result_bytes\": 100000", WHOLE, 200,
		  OUTCOME_RESULT, REASON_NONE },
		{ "too large once decoded", "gzip/big=100000", ", \"max_result_bytes\": 99999",
		  WHOLE, 200, OUTCOME_FAILED, REASON_TOO_LARGE },
		{ "not JSON", "nonjson", NULL, WHOLE, 200, OUTCOME_FAILED,
		  REASON_CONTRACT_VIOLATION },
		{ "a member twice", "dup-member", NULL, WHOLE, 200, OUTCOME_FAILED,
		  REASON_CONTRACT_VIOLATION },
		{ "NaN", "nan", NULL, WHOLE, 200, OUTCOME_FAILED, REASON_CONTRACT_VIOLATION },
		{ "a fence", "fence", NULL, WHOLE, 200, OUTCOME_FAILED, REASON_CONTRACT_VIOLATION },
	};

	(void)state;
	CHECK_ROWS("c09", rows);
}

static void c10_one_attempt_makes_one_request_however_it_ends(void **state)
{
	static const char *const modes[] = { "stall", "empty", "reset", "status=502",
					     "status=429/retry-after=0" };
	CURLM *multi = curl_multi_init();

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		char path[64];

		snprintf(path, sizeof path, "/c10/%s", modes[i]);
		struct trade trade = { .path = path, .row = SHORT_TIMES, .multi = multi };
		trade_make(&trade);
		trade_release(&trade);
		if (shop_requests("c10") != (int)i + 1)
			fail_msg("%s: %d requests after %zu attempts", modes[i],
				 shop_requests("c10"), i + 1);
	}
	curl_multi_cleanup(multi);
}

static void c11_a_large_body_waits_for_no_interim_answer(void **state)
{
	size_t len = 1100000;
	char *input = malloc(len);

	(void)state;
	memset(input, ' ', len);
	memcpy(input, "{}", 2);
	struct trade trade = { .path = "/c11/100-ignore", .input = input, .input_len = len };
	trade_make(&trade);
	assert_int_equal(trade.outcome.kind, OUTCOME_RESULT);
	assert_true(trade.took_ms < 900);
	trade_release(&trade);
	free(input);
	assert_int_equal(shop_requests("c11"), 1);
}

static void c11_a_417_is_asked_for_once_and_not_again(void **state)
{
	static const struct expected rows[] = {
		{ "417 to Expect: there is none", "417", NULL, WHOLE, 200, OUTCOME_RESULT,
		  REASON_NONE },
		{ "417 whatever was asked", "status=417", NULL, WHOLE, 417, OUTCOME_FAILED,
		  REASON_REFUSED },
		{ "an interim answer before the answer", "early-hints", NULL, WHOLE, 200,
		  OUTCOME_RESULT, REASON_NONE },
	};

	(void)state;
	CHECK_ROWS("c11-417", rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c01_a_refused_connection_or_look_up_was_never_sent),
		cmocka_unit_test(c02_a_read_time_out_leaves_the_outcome_open),
		cmocka_unit_test(c02_the_jobs_deadline_is_told_from_the_providers_time_out),
		cmocka_unit_test(c02_a_deadline_that_has_passed_sends_nothing),
		cmocka_unit_test(c03_a_connect_time_out_was_never_sent),
		cmocka_unit_test(f02_a_connection_has_no_longer_than_the_hold_on_the_attempt),
		cmocka_unit_test(f02_nothing_goes_out_once_the_hold_is_over),
		cmocka_unit_test(c03_a_time_out_after_connecting_is_open),
		cmocka_unit_test(c03_a_tls_handshake_that_hangs_sends_nothing),
		cmocka_unit_test(c03_a_request_stuck_half_way_is_sent_in_part),
		cmocka_unit_test(c04_a_status_of_200_beside_a_time_out_is_no_success),
		cmocka_unit_test(c05_two_attempts_are_two_wire_requests),
		cmocka_unit_test(c05_a_kept_connection_repeats_only_where_the_key_is_honoured),
		cmocka_unit_test(
			c05_what_a_repeat_by_libcurl_is_refused_says_nothing_of_the_first_sending),
		cmocka_unit_test(c05_a_connection_closed_without_a_byte_leaves_the_outcome_open),
		cmocka_unit_test(c06_a_gateways_word_leaves_the_outcome_open),
		cmocka_unit_test(c07_a_429_waits_as_long_as_told),
		cmocka_unit_test(c08_a_redirect_is_never_followed),
		cmocka_unit_test(c09_a_cut_or_missing_body_is_no_success),
		cmocka_unit_test(c10_one_attempt_makes_one_request_however_it_ends),
		cmocka_unit_test(c11_a_large_body_waits_for_no_interim_answer),
		cmocka_unit_test(c11_a_417_is_asked_for_once_and_not_again),
	};

	curl_global_init(CURL_GLOBAL_DEFAULT);
	shop_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	shop_close();
	curl_global_cleanup();
	return failed;
}
