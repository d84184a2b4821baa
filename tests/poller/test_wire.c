/* test_wire.c: errands on their way, with libcurl and a loop but no database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/contract.h"
#include "poller/wire.h"

#define HOLE_FDS 4

/* A listener whose queue is full: the system drops what asks to connect. */
struct hole {
	int listener;
	int fds[HOLE_FDS];
	char url[64];
};

static void hole_open(struct hole *hole)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;

	hole->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(hole->listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(hole->listener, 0), 0);
	assert_int_equal(getsockname(hole->listener, (struct sockaddr *)&address, &len), 0);
	for (int i = 0; i < HOLE_FDS; i++) {
		hole->fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		int rc = connect(hole->fds[i], (struct sockaddr *)&address, sizeof address);

		assert_true(rc == 0 || errno == EINPROGRESS);
	}
	snprintf(hole->url, sizeof hole->url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
}

static void hole_close(struct hole *hole)
{
	for (int i = 0; i < HOLE_FDS; i++)
		close(hole->fds[i]);
	close(hole->listener);
}

static void finished(struct errand *errand, void *arg)
{
	*(struct errand **)arg = errand;
}

/* Sends it and waits until it is back. */
static void send_and_wait(struct errand *errand, uint32_t lease_s)
{
	const struct keyring no_keys = { 0 };
	struct errand *back = NULL;
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct wire_orders orders = { .loop = &loop,
				      .in_flight_max = 4,
				      .lease_s = lease_s,
				      .keyring = &no_keys,
				      .finished = finished,
				      .arg = &back };
	struct wire *wire = wire_open(&orders);

	assert_non_null(wire);
	wire_send(wire, errand);
	while (!back)
		uv_run(&loop, UV_RUN_ONCE);
	assert_ptr_equal(back, errand);
	wire_close(wire);
	uv_run(&loop, UV_RUN_DEFAULT);
	wire_free(wire);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static struct provider_def a_patient_def(const char *url)
{
	return (struct provider_def){ .url = (char *)(uintptr_t)url,
				      .method = (char *)(uintptr_t) "POST",
				      .connect_timeout_ms = 600000,
				      .timeout_ms = 600000,
				      .max_result_bytes = 1000,
				      .key_header = (char *)(uintptr_t) "Idempotency-Key",
				      .key_honoured = true,
				      .retry_base_ms = 1000,
				      .retry_max_ms = 1000,
				      .result_pointer = (char *)(uintptr_t) "" };
}

/* The row allows ten minutes for the connection; after the lease another poller may have called the
 * attempt lost, and an operator have freed the job. */
static void f02_what_has_no_connection_is_not_sent_once_its_lease_may_be_over(void **state)
{
	static const enum errand_kind kinds[] = { ERRAND_SEND, ERRAND_RESEND };
	struct hole hole;

	(void)state;
	hole_open(&hole);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct provider_def def = a_patient_def(hole.url);
		struct blob input = { strdup("1"), 1 };
		struct errand errand = { .kind = kinds[i],
					 .tries = 1,
					 .provider = "hole",
					 .def = &def,
					 .input = &input,
					 .traceparent = "",
					 .budget_ms = -1,
					 .claimed_ms = clock_monotonic_ms() };

		send_and_wait(&errand, 2);
		assert_in_range(clock_monotonic_ms() - errand.claimed_ms, 0, 300000);
		if (kinds[i] == ERRAND_SEND) {
			assert_int_equal(errand.word.event, ON_FAILURE);
			assert_int_equal(errand.word.reason, REASON_NEVER_SENT);
			assert_true(errand.word.retryable);
		}
		assert_int_equal(errand.keeps, kinds[i] == ERRAND_RESEND);
		outcome_release(&errand.outcome);
		free(input.bytes);
	}
	hole_close(&hole);
}

/* 200 times 400 kB: the same answer however often it is tried, so it is no lack of memory to wait
 * for the end of. */
static void an_attempt_whose_request_can_never_fit_is_a_fault_of_its_template(void **state)
{
	struct provider_def def = a_patient_def("http://127.0.0.1:9/");
	struct text text, made;
	struct flaws flaws;
	struct contract *contract;

	(void)state;
	text_init(&text, CONTRACT_MAX_BYTES);
	text_init(&made, 1 << 20);
	flaws_init(&flaws);
	text_add_str(&text, "{\"routes\": [{\"provider\": \"p\", \"request\": [1");
	for (int i = 0; i < 200; i++)
		text_add_str(&text, ", \"{{input}}\"");
	text_add_str(&text, "]}]}");
	text_add_str(&made, "\"");
	for (int i = 0; i < 400000; i++)
		text_add_str(&made, "x");
	text_add_str(&made, "\"");
	assert_int_equal(contract_read(text.bytes, text.len, &contract, &flaws), RC_OK);
	struct blob input = { made.bytes, made.len };
	struct errand errand = { .kind = ERRAND_SEND,
				 .tries = 1,
				 .provider = "p",
				 .def = &def,
				 .input = &input,
				 .has_contract = true,
				 .contract = contract,
				 .route = &contract->routes[0],
				 .traceparent = "",
				 .budget_ms = -1,
				 .claimed_ms = clock_monotonic_ms() };

	send_and_wait(&errand, 600);
	assert_int_equal(errand.word.event, ON_FAILURE);
	assert_int_equal(errand.word.reason, REASON_TEMPLATE);
	assert_int_equal(errand.word.phase, PHASE_NOT_SENT);
	assert_false(errand.word.retryable);
	assert_non_null(strstr(errand.word.detail, "would be longer than 67108864 bytes"));
	json_free(errand.tree);
	outcome_release(&errand.outcome);
	contract_free(contract);
	flaws_release(&flaws);
	text_release(&text);
	text_release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f02_what_has_no_connection_is_not_sent_once_its_lease_may_be_over),
		cmocka_unit_test(an_attempt_whose_request_can_never_fit_is_a_fault_of_its_template),
	};

	curl_global_init(CURL_GLOBAL_DEFAULT);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	curl_global_cleanup();
	return failed;
}
