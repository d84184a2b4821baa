/* test_hook.c: a message to an owner's endpoint, over real sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shop.h"

#include "provider/hook.h"

#define SECRET_A "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define SECRET_B "whsec_QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJC"
#define NOW_US INT64_C(1796164850999999)
#define NOW_S INT64_C(1796164850)
#define ID "01939f00-0000-7000-8000-000000000001"

/* One message and what came of it. */
struct mail {
	const char *url;
	const char *secrets[WEBHOOK_SECRETS_MAX]; /* default ${env:HOOK_A} */
	bool only_public;
	long timeout_ms; /* 0: as it is built */
	enum rc built;
	CURLcode code;
	enum hook_end end;
	int64_t retry_after_ms;
	char why[1024];
};

static struct webhook_event an_event(void)
{
	struct webhook_event event = { .type = "job.succeeded",
				       .at_us = INT64_C(1796164847000000),
				       .key = "k-1",
				       .key_len = 3,
				       .state = JOB_SUCCEEDED,
				       .version = 1 };

	assert_true(id_parse(ID, strlen(ID), &event.id));
	assert_true(id_parse(ID, strlen(ID), &event.job_id));
	return event;
}

static void post(struct mail *mail)
{
	struct webhook_event event = an_event();
	struct webhook_def def = { .url = (char *)(uintptr_t)mail->url };
	struct hook *hook;
	const char *why;

	if (!mail->secrets[0])
		mail->secrets[0] = "${env:HOOK_A}";
	for (size_t i = 0; i < WEBHOOK_SECRETS_MAX && mail->secrets[i]; i++)
		def.secrets[def.secrets_len++] = (char *)(uintptr_t)mail->secrets[i];
	struct hook_order order = {
		.event = &event, .def = &def, .now_us = NOW_US, .allow_private = !mail->only_public
	};

	mail->built = hook_build(&order, &hook);
	assert_int_not_equal(mail->built, RC_FAULT);
	if (mail->timeout_ms)
		curl_easy_setopt(hook->easy, CURLOPT_TIMEOUT_MS, mail->timeout_ms);
	mail->code = mail->built == RC_OK ? curl_easy_perform(hook->easy) : CURLE_OK;
	mail->end = hook_end(hook, mail->code, &why);
	mail->retry_after_ms = hook_retry_after_ms(hook, NOW_US);
	snprintf(mail->why, sizeof mail->why, "%s", why);
	hook_free(hook);
}

static int begin(void **state)
{
	(void)state;
	shop_open();
	setenv("HOOK_A", SECRET_A, 1);
	setenv("HOOK_B", SECRET_B, 1);
	setenv("HOOK_BAD", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	shop_close();
	return 0;
}

static void each_answer_means_one_thing(void **state)
{
	static const struct {
		const char *mode;
		enum hook_end want;
		const char *why;
	} rows[] = {
		{ "here", HOOK_DELIVERED, "it answered 200" },
		{ "204", HOOK_DELIVERED, "it answered 204" },
		{ "status=299", HOOK_DELIVERED, "it answered 299" },
		{ "nobody", HOOK_DELIVERED, "it answered 200" },
		{ "big=4000000", HOOK_DELIVERED, "it answered 200" }, /* not read to its end */
		{ "status=410", HOOK_GONE, "it answered 410" },
		{ "status=404", HOOK_FAILED, "it answered 404" },
		{ "status=429", HOOK_FAILED, "it answered 429" },
		{ "status=503", HOOK_FAILED, "it answered 503" },
		{ "redirect=301", HOOK_FAILED, "it answered 301; redirects are not followed" },
		{ "redirect=307", HOOK_FAILED, "it answered 307; redirects are not followed" },
		{ "cut", HOOK_FAILED, NULL },
		{ "reset", HOOK_FAILED, NULL },
		{ "empty", HOOK_FAILED, NULL },
		{ "garbage", HOOK_FAILED, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char url[128], printer[32];

		snprintf(printer, sizeof printer, "hook-%zu", i);
		snprintf(url, sizeof url, "%s/%s/%s", shop_url(), printer, rows[i].mode);
		struct mail mail = { .url = url };
		post(&mail);
		if (mail.end != rows[i].want || mail.why[0] == '\0' ||
		    (rows[i].why && strcmp(mail.why, rows[i].why) != 0))
			fail_msg("%s: %d, %s (%d)", rows[i].mode, mail.end, mail.why, mail.code);
		if (shop_requests(printer) != 1)
			fail_msg("%s: %d requests", rows[i].mode, shop_requests(printer));
	}
}

static void an_endpoint_that_does_not_answer_is_told_from_one_that_fails(void **state)
{
	char url[64];
	int port, fd = silent_listener(&port);

	(void)state;
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	struct mail mail = { .url = url, .timeout_ms = 100 };

	post(&mail);
	assert_int_equal(mail.end, HOOK_TIMED_OUT);
	assert_int_equal(mail.retry_after_ms, -1);
	close(fd);
	struct mail refused = { .url = url };

	post(&refused);
	assert_int_equal(refused.end, HOOK_FAILED);
}

static void c07_the_wait_that_an_endpoint_asks_for_is_told(void **state)
{
#define HEAD "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n"
	static const struct {
		const char *what, *reply;
		int64_t want_ms;
	} rows[] = {
		{ "seconds", HEAD "Retry-After: 120\r\n\r\n", 120000 },
		{ "a date", /* a minute after NOW_S, which has a fraction */
		  HEAD "Retry-After: Tue, 01 Dec 2026 22:41:50 GMT\r\n\r\n", 59001 },
		{ "a date beside its own",
		  HEAD "Date: Wed, 02 Dec 2026 11:08:00 GMT\r\n"
		       "Retry-After: Wed, 02 Dec 2026 11:08:10 GMT\r\n\r\n",
		  10000 },
		{ "none", HEAD "\r\n", -1 },
		{ "twice", HEAD "Retry-After: 1\r\nRetry-After: 2\r\n\r\n", -1 },
		{ "beside a body that was cut",
		  "HTTP/1.1 503 Busy\r\nRetry-After: 120\r\n"
		  "Content-Length: 9\r\n\r\n",
		  -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct peer peer = { .reply = rows[i].reply,
				     .reply_len = strlen(rows[i].reply),
				     .want = 1 };
		char url[64];

		peer_start(&peer);
		snprintf(url, sizeof url, "http://127.0.0.1:%d/", peer.port);
		struct mail mail = { .url = url };
		post(&mail);
		peer_end(&peer);
		assert_int_equal(mail.end, HOOK_FAILED);
		if (mail.retry_after_ms != rows[i].want_ms)
			fail_msg("%s: %lld ms", rows[i].what, (long long)mail.retry_after_ms);
	}
}

static void check_signature(const char *got, const char *secret, const char *body)
{
	struct webhook_key key;
	struct text want;

	text_init(&want, 256);
	assert_true(webhook_secret_parse(secret, strlen(secret), &key));
	webhook_sign(&key, 1, ID, NOW_S, body, strlen(body), &want);
	if (!strstr(got, want.bytes))
		fail_msg("no %s in %s", want.bytes, got);
	text_release(&want);
}

static void the_request_is_what_the_standard_says(void **state)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	static const char *const lines[] = {
		"POST /hooks?a=b HTTP/1.1\r\n", "\r\nContent-Type: application/json\r\n",
		"\r\nwebhook-id: " ID "\r\n",	"\r\nwebhook-timestamp: 1796164850\r\n",
		"\r\nwebhook-signature: v1,",	"\r\nUser-Agent: onejob/",
	};
	struct webhook_event event = an_event();
	struct text body;
	char url[64];

	(void)state;
	text_init(&body, WEBHOOK_BODY_MAX_BYTES);
	webhook_body(&event, &body);
	struct peer peer = { .reply = answer, .reply_len = sizeof answer - 1, .want = body.len };
	peer_start(&peer);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/hooks?a=b", peer.port);
	struct mail mail = { .url = url, .secrets = { "${env:HOOK_A}", "${env:HOOK_B}" } };
	post(&mail);
	peer_end(&peer);
	assert_int_equal(mail.end, HOOK_DELIVERED);
	peer.got[peer.got_len] = '\0';
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(peer.got, lines[i]))
			fail_msg("no %s in %s", lines[i], peer.got);
	assert_string_equal(strstr(peer.got, "\r\n\r\n") + 4, body.bytes);
	check_signature(peer.got, SECRET_A, body.bytes);
	check_signature(peer.got, SECRET_B, body.bytes);
	assert_null(strstr(peer.got, "whsec_"));
	assert_null(strstr(peer.got, "Expect"));
	text_release(&body);
}

/* Names and other spellings lead to addresses too: what counts is where the connection would go. */
static void private_addresses_are_refused_unless_allowed(void **state)
{
	static const char *const hosts[] = { "127.0.0.1",	   "localhost", "[::1]",
					     "[::ffff:127.0.0.1]", "0",		"127.1",
					     "2130706433",	   "0x7f.1" };
	int port, fd = silent_listener(&port);

	(void)state;
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		char url[128];

		snprintf(url, sizeof url, "http://%s:%d/", hosts[i], port);
		struct mail mail = { .url = url, .only_public = true };
		post(&mail);
		if (mail.end != HOOK_FAILED || !strstr(mail.why, "is not a public one"))
			fail_msg("%s: %d, %s", url, mail.end, mail.why);
	}
	struct timeval soon = { .tv_usec = 1 };

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
	assert_int_equal(accept(fd, NULL, NULL), -1); /* nobody came */
	close(fd);
}

/* A proxy would make the check one of the proxy's address. */
static void no_proxy_is_used_where_addresses_are_judged(void **state)
{
	char proxy[64];
	struct mail mail = { .url = "http://192.0.2.1/", .only_public = true };

	(void)state;
	snprintf(proxy, sizeof proxy, "%s/proxy", shop_url());
	setenv("http_proxy", proxy, 1);
	post(&mail);
	unsetenv("http_proxy");
	assert_int_equal(mail.end, HOOK_FAILED);
	assert_non_null(strstr(mail.why, "192.0.2.1 is not a public one"));
}

static void what_cannot_be_signed_is_not_sent(void **state)
{
	static const struct {
		const char *secrets[2], *why;
	} rows[] = {
		{ { "${env:HOOK_NONE}" },
		  "secret 1 can't be used: the environment variable HOOK_NONE isn't set" },
		{ { "${env:HOOK_A}", "${file:/nowhere/whsec}" },
		  "secret 2 can't be used: the file /nowhere/whsec" },
		{ { "${env:HOOK_A}", "${env:HOOK_BAD}" },
		  "secret 2 can't be used: what ${env:HOOK_BAD} holds is not whsec_ and base64 of "
		  "24 "
		  "to 64 bytes" },
	};
	char url[128];

	(void)state;
	snprintf(url, sizeof url, "%s/unsigned/here", shop_url());
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct mail mail = { .url = url,
				     .secrets = { rows[i].secrets[0], rows[i].secrets[1] } };

		post(&mail);
		if (mail.built != RC_INVALID || mail.end != HOOK_FAILED ||
		    strncmp(mail.why, rows[i].why, strlen(rows[i].why)) != 0)
			fail_msg("row %zu: %d, %s", i, mail.built, mail.why);
		assert_null(strstr(mail.why, "MfKQ"));
	}
	assert_int_equal(shop_requests("unsigned"), 0);
}

static void an_endless_header_is_cut_off(void **state)
{
	size_t len = 200000;
	char *reply = malloc(len), url[64];

	(void)state;
	assert_non_null(reply);
	size_t at = (size_t)sprintf(reply, "HTTP/1.1 200 OK\r\n");

	while (at + 1100 < len) {
		at += (size_t)sprintf(reply + at, "X: ");
		memset(reply + at, 'x', 1000);
		at += 1000;
		at += (size_t)sprintf(reply + at, "\r\n");
	}
	struct peer peer = { .reply = reply, .reply_len = at, .want = 1 };
	peer_start(&peer);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", peer.port);
	struct mail mail = { .url = url };
	post(&mail);
	peer_end(&peer);
	free(reply);
	assert_int_equal(mail.end, HOOK_FAILED);
	assert_string_equal(mail.why, "its answer's header is longer than 65536 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_means_one_thing),
		cmocka_unit_test(an_endpoint_that_does_not_answer_is_told_from_one_that_fails),
		cmocka_unit_test(c07_the_wait_that_an_endpoint_asks_for_is_told),
		cmocka_unit_test(the_request_is_what_the_standard_says),
		cmocka_unit_test(private_addresses_are_refused_unless_allowed),
		cmocka_unit_test(no_proxy_is_used_where_addresses_are_judged),
		cmocka_unit_test(what_cannot_be_signed_is_not_sent),
		cmocka_unit_test(an_endless_header_is_cut_off),
	};

	curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, begin, end);
}
