#include "shop.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"

#define KEY "01939f00-0000-7000-8000-000000000001-0"

static pid_t shop_pid;
static char base_url[64];

void shop_open(void)
{
	const char *program = getenv("PRINTSHOP");
	int ends[2];
	char line[128] = "";
	int port = 0;

	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	if (!program) {
		fputs("PRINTSHOP must name the print shop's program\n", stderr);
		exit(2);
	}
	assert_int_equal(pipe(ends), 0);
	shop_pid = fork();
	if (shop_pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, "--port", "0", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *from = fdopen(ends[0], "r");
	if (!fgets(line, sizeof line, from) ||
	    sscanf(line, "printshop listening on 127.0.0.1:%d", &port) != 1) {
		fprintf(stderr, "%s doesn't say where it listens\n", program);
		exit(2);
	}
	fclose(from);
	snprintf(base_url, sizeof base_url, "http://127.0.0.1:%d", port);
}

void shop_close(void)
{
	kill(shop_pid, SIGTERM);
	waitpid(shop_pid, NULL, 0);
}

const char *shop_url(void)
{
	return base_url;
}

static size_t keep(char *bytes, size_t size, size_t count, void *arg)
{
	text_add(arg, bytes, size * count);
	return size * count;
}

char *shop_ask(const char *method, const char *path)
{
	struct text body;
	char url[512];
	CURL *easy = curl_easy_init();

	text_init(&body, 1 << 24);
	snprintf(url, sizeof url, "%s%s", base_url, path);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
	assert_int_equal(curl_easy_perform(easy), CURLE_OK);
	curl_easy_cleanup(easy);
	return text_take(&body);
}

int shop_requests(const char *printer)
{
	char path[256];
	int requests = 0;

	snprintf(path, sizeof path, "/shop/wait?printer=%s&open=0", printer);
	char *counts = shop_ask("GET", path);
	const char *at = strstr(counts, "\"requests\":");
	if (at)
		requests = atoi(at + strlen("\"requests\":"));
	free(counts);
	return requests;
}

void shop_wait_requests(const char *printer, int requests)
{
	char path[256];

	snprintf(path, sizeof path, "/shop/wait?printer=%s&requests=%d", printer, requests);
	free(shop_ask("GET", path));
}

static void read_def(struct trade *trade)
{
	struct flaws flaws;
	struct json_doc *doc;
	struct json_error error;
	char row[8192];

	snprintf(row, sizeof row, "{\"url\": \"%s%s\"%s}", trade->url ? trade->url : base_url,
		 trade->url ? "" : trade->path, trade->row ? trade->row : "");
	flaws_init(&flaws);
	if (json_parse(row, strlen(row), 64, &doc, &error) != RC_OK)
		fail_msg("the row isn't JSON: %s", row);
	if (provider_def_read(json_root(doc), &trade->def, &flaws) != RC_OK)
		fail_msg("%s %s in %s", flaws.list[0].pointer, flaws.list[0].detail, row);
	flaws_release(&flaws);
	json_free(doc);
}

static CURLcode drive(CURLM *multi, CURL *easy)
{
	int running = 1, left;

	assert_int_equal(curl_multi_add_handle(multi, easy), CURLM_OK);
	while (running) {
		assert_int_equal(curl_multi_perform(multi, &running), CURLM_OK);
		if (running)
			assert_int_equal(curl_multi_poll(multi, NULL, 0, 1000, NULL), CURLM_OK);
	}
	CURLMsg *msg = curl_multi_info_read(multi, &left);
	assert_non_null(msg);
	assert_ptr_equal(msg->easy_handle, easy);
	CURLcode code = msg->data.result;
	curl_multi_remove_handle(multi, easy);
	return code;
}

void trade_make(struct trade *trade)
{
	struct exchange_order order = {
		.def = &trade->def,
		.input = trade->input ? trade->input : "{\"copies\":1}",
		.provider_key = trade->key ? trade->key : KEY,
		.traceparent = trade->traceparent,
		.kind = trade->kind,
		.reference = trade->reference,
		.route = trade->route,
		.values = trade->values,
		.budget_ms = trade->budget_ms ? trade->budget_ms : EXCHANGE_NO_BUDGET,
		.job_id = { { 1, 2, 3 } },
		.attempt_id = { { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } },
	};
	int64_t began_ms = clock_monotonic_ms();

	read_def(trade);
	order.input_len = trade->input_len ? trade->input_len : strlen(order.input);
	if (trade->hold_ms)
		order.send_before_ms = began_ms + trade->hold_ms;
	trade->built = exchange_build(&order, &trade->exchange);
	assert_int_not_equal(trade->built, RC_FAULT);
	if (trade->built == RC_OK) {
		while (trade->wait_out && clock_monotonic_ms() < order.send_before_ms)
			sched_yield();
		CURLM *multi = trade->multi ? trade->multi : curl_multi_init();

		trade->code = drive(multi, trade->exchange->easy);
		if (!trade->multi)
			curl_multi_cleanup(multi);
	}
	trade->took_ms = clock_monotonic_ms() - began_ms;
	exchange_seen(trade->exchange, trade->code, trade->now_us, &trade->seen);
	assert_int_equal(outcome_of(&trade->seen, &trade->def, NULL, &trade->outcome), RC_OK);
}

void trade_release(struct trade *trade)
{
	outcome_release(&trade->outcome);
	exchange_free(trade->exchange);
	provider_def_release(&trade->def);
}
