/* test_fcgi.c: one real worker on a unix socket, spoken to in FastCGI records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/fcgi.h"
#include "support/fake_store.h"

#define WAIT_MS 20000 /* for what must happen; only a failure waits that long */
#define LIMIT 1048576
#define JOB "/v1/jobs/" FAKE_JOB

enum record { BEGIN = 1, ABORT = 2, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static char path[] = "/tmp/onejob-fcgi-XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static pid_t worker;
static int shared = -1; /* the listening socket, where the test has it too, as systemd has */

static int listening; /* its number in the worker */

/* Of the store in the worker: how many creates it was given, a byte a call; and where it waits. */
static int told[2], go[2];

/* In the worker: what stands at that number is no socket any more, though the socket is there. */
static void lose_socket(int signum)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)signum;
	dup2(fd, listening);
	close(fd);
}

static void start(struct sockaddr_un *at, size_t threads)
{
	const struct api api = { .max_body_bytes = LIMIT }, apis[] = { api, api, api };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
	assert_int_equal(listen(fd, 100), 0);
	listening = fd;
	worker = fork();
	if (worker == 0 && signal(SIGUSR2, lose_socket) != SIG_ERR)
		_exit(fcgi_serve(apis, threads, fd));
	assert_true(worker > 0);
	shared = fd;
}

static void let_go(void)
{
	close(shared);
	shared = -1;
}

static int start_threads(size_t threads)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	if (!mkdtemp(path))
		return -1;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/api.sock", path);
	start(&address, threads);
	return 0;
}

static int setup_threads(size_t threads)
{
	fake_store_reset();
	return start_threads(threads);
}

static int setup_shared(void **state)
{
	(void)state;
	return setup_threads(1);
}

static int setup_told_threads(size_t threads, bool held)
{
	int rc;

	fake_store_reset();
	if (pipe(told) != 0 || pipe(go) != 0)
		return -1;
	fake.told_fd = told[1];
	fake.go_fd = held ? go[0] : 0;
	rc = start_threads(threads);
	let_go();
	return rc;
}

static int setup_told(void **state)
{
	(void)state;
	return setup_told_threads(1, false);
}

static int setup_held(void **state)
{
	(void)state;
	return setup_told_threads(1, true);
}

static int setup_three_held(void **state)
{
	(void)state;
	return setup_told_threads(3, true);
}

static int setup_three_shared(void **state)
{
	(void)state;
	return setup_threads(3);
}

static int setup(void **state)
{
	int rc = setup_shared(state);

	let_go();
	return rc;
}

static int setup_three(void **state)
{
	int rc = setup_three_shared(state);

	let_go();
	return rc;
}

/* The worker's exit code, or -1 when it hasn't left in time. */
static int leaves(void)
{
	struct pollfd p = { .fd = pidfd_open(worker, 0), .events = POLLIN };
	int status = -1;

	if (poll(&p, 1, WAIT_MS) == 1 && waitpid(worker, &status, 0) == worker)
		worker = 0;
	close(p.fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int teardown(void **state)
{
	(void)state;
	if (worker > 0 && waitpid(worker, NULL, WNOHANG) == 0) {
		kill(worker, SIGKILL);
		waitpid(worker, NULL, 0);
	}
	worker = 0;
	if (shared >= 0)
		let_go();
	unlink(address.sun_path);
	return rmdir(path);
}

static int told_teardown(void **state)
{
	close(told[0]);
	close(told[1]);
	close(go[0]);
	close(go[1]);
	return teardown(state);
}

static int dial(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

/* False: the peer has closed. */
static bool send_bytes(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);

		if (sent < 0)
			return false;
		at += sent;
		len -= (size_t)sent;
	}
	return true;
}

static bool send_record(int fd, enum record type, const void *content, size_t len)
{
	const unsigned char head[8] = {
		1, (unsigned char)type, 0, 1, (unsigned char)(len >> 8), (unsigned char)len, 0, 0
	};

	return send_bytes(fd, head, sizeof head) && send_bytes(fd, content, len);
}

static void send_begin(int fd, bool keep)
{
	const unsigned char body[8] = { 0, 1, keep, 0, 0, 0, 0, 0 };

	send_record(fd, BEGIN, body, sizeof body);
}

/* "NAME=value" strings as one record of parameters, and its end. */
static void send_params(int fd, const char *const *params)
{
	unsigned char content[4096];
	size_t len = 0;

	for (; *params; params++) {
		const char *value = strchr(*params, '=') + 1;
		size_t name_len = (size_t)(value - *params) - 1;

		content[len++] = (unsigned char)name_len;
		content[len++] = (unsigned char)strlen(value);
		memcpy(content + len, *params, name_len);
		memcpy(content + len + name_len, value, strlen(value));
		len += name_len + strlen(value);
	}
	send_record(fd, PARAMS, content, len);
	send_record(fd, PARAMS, "", 0);
}

/* All that comes until the peer closes: what the STDOUT records hold. False: reset, or nothing for
 * too long. */
static bool receive(int fd, struct text *out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buffer[65536];
	struct text raw;
	ssize_t got;

	text_init(&raw, 1 << 22);
	while ((got = poll(&p, 1, WAIT_MS) == 1 ? recv(fd, buffer, sizeof buffer, 0) : -1) > 0)
		text_add(&raw, buffer, (size_t)got);
	for (size_t at = 0; got == 0 && at + 8 <= raw.len;) {
		const unsigned char *head = (const unsigned char *)raw.bytes + at;
		size_t len = (size_t)head[4] << 8 | head[5];

		if (head[1] == STDOUT)
			text_add(out, raw.bytes + at + 8, len);
		at += 8 + len + head[6];
	}
	text_release(&raw);
	return got == 0;
}

static void check_answer(int fd, const char *begins, const char *holds)
{
	struct text out;

	text_init(&out, 1 << 22);
	if (!receive(fd, &out) || !out.bytes || strncmp(out.bytes, begins, strlen(begins)) != 0 ||
	    (holds && !strstr(out.bytes, holds)))
		fail_msg("want <%s>, got <%s>", begins, out.bytes ? out.bytes : "nothing");
	text_release(&out);
	close(fd);
}

static int ask_for(const char *uri)
{
	const char *const params[] = { "REQUEST_METHOD=GET", uri,
				       "CONTENT_LENGTH=", "HTTP_AUTHORIZATION=Bearer t", NULL };
	int fd = dial();

	send_begin(fd, false);
	send_params(fd, params);
	send_record(fd, STDIN, "", 0);
	return fd;
}

static int ask_job(void)
{
	return ask_for("REQUEST_URI=" JOB);
}

static void check_serves(void)
{
	check_answer(ask_job(), "Status: 200 OK\r\n", "\"id\":\"" FAKE_JOB "\"");
}

/* The head of a create whose body has `len` bytes. */
static int begin_create(size_t len, const char *authorization)
{
	char length[64];
	const char *const params[] = { "REQUEST_METHOD=POST",
				       "REQUEST_URI=/v1/jobs",
				       "CONTENT_TYPE=application/json",
				       length,
				       "HTTP_IDEMPOTENCY_KEY=k",
				       authorization,
				       NULL };
	int fd = dial();

	snprintf(length, sizeof length, "CONTENT_LENGTH=%zu", len);
	send_begin(fd, false);
	send_params(fd, params);
	return fd;
}

/* A create of exactly `len` bytes. */
static char *body_of(size_t len)
{
	static const char head[] = "{\"provider\":\"print\",\"input\":\"";
	char *body = malloc(len);

	memset(body, 'x', len);
	memcpy(body, head, sizeof head - 1);
	memcpy(body + len - 2, "\"}", 2);
	return body;
}

/* Sends up to `len` bytes of a body in records of `each`, without their end. */
static bool send_body(int fd, const char *body, size_t len, size_t each)
{
	for (size_t at = 0; at < len; at += each)
		if (!send_record(fd, STDIN, body + at, len - at < each ? len - at : each))
			return false;
	return true;
}

static void create(size_t len, size_t announced, size_t each, const char *begins, const char *holds)
{
	char *body = body_of(len);
	int fd = begin_create(announced, "HTTP_AUTHORIZATION=Bearer t");

	send_body(fd, body, len, each);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, begins, holds);
	free(body);
}

/* Until the worker has read all that was sent. */
static void wait_until_read(int fd)
{
	int unread = 1;

	for (int i = 0; unread > 0 && i < WAIT_MS; i++) {
		assert_int_equal(ioctl(fd, SIOCOUTQ, &unread), 0);
		if (unread > 0)
			poll(NULL, 0, 1);
	}
	assert_int_equal(unread, 0);
}

static void a_request_is_answered(void **state)
{
	(void)state;
	check_serves();
	check_serves();
}

/* With one worker: libfcgi alone would wait two seconds for the first peer to close. */
static void a_worker_is_free_as_soon_as_it_has_answered(void **state)
{
	struct text out;
	int fd = ask_job();
	int second;
	struct pollfd p;

	(void)state;
	text_init(&out, 1 << 20);
	assert_true(receive(fd, &out));
	text_release(&out);
	second = ask_job(); /* `fd` is still open */
	p = (struct pollfd){ .fd = second, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 1000), 1);
	check_answer(second, "Status: 200 OK\r\n", NULL);
	close(fd);
}

static void d08_a_body_in_many_reads_is_whole(void **state)
{
	(void)state;
	create(300000, 300000, 4096, "Status: 201 Created\r\n", NULL);
	create(300000, 300000, 65535, "Status: 201 Created\r\n", NULL);
	create(3000, 3000, 1, "Status: 201 Created\r\n", NULL);
	create(LIMIT, LIMIT, 65535, "Status: 201 Created\r\n", NULL);
}

static void a_body_of_another_length_is_refused(void **state)
{
	(void)state;
	create(3000, 3001, 4096, "Status: 400 Bad Request\r\n", "/problems/body-incomplete");
	create(3000, 2999, 4096, "Status: 400 Bad Request\r\n", "/problems/body-incomplete");
}

static void a_body_past_the_limit_is_413_and_the_answer_arrives(void **state)
{
	(void)state;
	create(LIMIT + 1, LIMIT + 1, 65535, "Status: 413 Content Too Large\r\n",
	       "\"limit_bytes\":1048576");
	create(4 * LIMIT, 4 * LIMIT, 65535, "Status: 413 Content Too Large\r\n", NULL);
	create(2 * LIMIT, 10, 65535, "Status: 413 Content Too Large\r\n", NULL);
	check_serves();
}

/* The web server's limit is lower than ours, so it kept the body; the announced length would do. */
static void a_body_that_the_web_server_kept_is_413_and_not_cut(void **state)
{
	static const char *const params[] = {
		"REQUEST_METHOD=POST",		 "REQUEST_URI=/v1/jobs",
		"CONTENT_TYPE=application/json", "CONTENT_LENGTH=5000",
		"ONEJOB_BODY_REFUSED=1",	 "HTTP_IDEMPOTENCY_KEY=k",
		"HTTP_AUTHORIZATION=Bearer t",	 NULL
	};
	int fd = dial();

	(void)state;
	send_begin(fd, false);
	send_params(fd, params);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, "Status: 413 ", "/problems/body-too-large");
}

static void an_early_refusal_is_not_lost_behind_a_large_body(void **state)
{
	char *body = body_of(900000);

	(void)state;
	for (int i = 0; i < 10; i++) {
		int fd = begin_create(900000, "HTTP_AUTHORIZATION=Basic x");

		send_body(fd, body, 900000, 65535);
		send_record(fd, STDIN, "", 0);
		check_answer(fd, "Status: 401 Unauthorized\r\n", NULL);
	}
	free(body);
}

static void d02_a_peer_that_is_gone_is_survived(void **state)
{
	char *body = body_of(LIMIT);

	(void)state;
	for (int i = 0; i < 5; i++) {
		int fd;

		close(ask_job());
		close(dial());
		fd = dial();
		send_begin(fd, false);
		close(fd);
		fd = begin_create(LIMIT, "HTTP_AUTHORIZATION=Bearer t");
		send_body(fd, body, LIMIT / 2, 65535);
		close(fd);
		fd = begin_create(LIMIT, "HTTP_AUTHORIZATION=Bearer t");
		send_record(fd, ABORT, "", 0);
		close(fd);
	}
	check_serves();
	free(body);
}

static void d05_lengths_near_two_to_the_31_end_that_connection_only(void **state)
{
	static const unsigned char lengths[][4] = {
		{ 0xff, 0xff, 0xff, 0xff }, { 0xff, 0xff, 0xff, 0xfe }, { 0xff, 0xff, 0xff, 0xfd },
		{ 0xc0, 0, 0, 0 },	    { 0xbf, 0xff, 0xff, 0xff }, { 0xa0, 0, 0, 0 },
		{ 0x80, 2, 0, 1 }
	};
	unsigned char content[4096];

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		struct text out;
		int fd = dial();

		memset(content, 'A', sizeof content);
		memcpy(content, lengths[i], 4);
		memcpy(content + 4, lengths[i], 4);
		send_begin(fd, false);
		send_record(fd, PARAMS, content, sizeof content);
		shutdown(fd, SHUT_WR);
		text_init(&out, 1 << 20);
		(void)receive(fd, &out);
		if (out.len > 0)
			fail_msg("row %zu: it was answered: %s", i, out.bytes);
		text_release(&out);
		close(fd);
		check_serves();
	}
}

static void parameters_that_come_byte_by_byte_are_read(void **state)
{
	static const char pair[] = "\016\003REQUEST_METHODGET\013\010REQUEST_URI/healthz";
	int fd = dial();

	(void)state;
	send_begin(fd, false);
	for (size_t i = 0; i < sizeof pair - 1; i++)
		send_record(fd, PARAMS, pair + i, 1);
	send_record(fd, PARAMS, "", 0);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, "Status: 200 OK\r\n", "up\n");
}

static void long_parameters_are_read(void **state)
{
	char params[60000];
	unsigned char head[] = { 7, 0x80, 0, 0xea, 0x60 - 12 };
	static const char rest[] = "\016\003REQUEST_METHODGET\013\010REQUEST_URI/healthz";
	int fd = dial();

	(void)state;
	send_begin(fd, false);
	memset(params, 'x', sizeof params);
	memcpy(params, head, sizeof head);
	send_record(fd, PARAMS, params, sizeof params);
	send_record(fd, PARAMS, rest, sizeof rest - 1);
	send_record(fd, PARAMS, "", 0);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, "Status: 200 OK\r\n", "up\n");
}

static void a_connection_that_should_be_kept_starves_nobody(void **state)
{
	static const char *const params[] = { "REQUEST_METHOD=GET", "REQUEST_URI=/healthz", NULL };
	int fd = dial();

	(void)state;
	send_begin(fd, true);
	send_params(fd, params);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, "Status: 200 OK\r\n", "up\n"); /* which ends with a close */
	check_serves();
}

static void d03_an_idle_worker_leaves_at_once(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGUSR1 };

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (i > 0)
			assert_int_equal(setup(state), 0);
		check_serves();
		kill(worker, signals[i]);
		if (leaves() != 0)
			fail_msg("signal %d", signals[i]);
		if (i < 2)
			assert_int_equal(teardown(state), 0);
	}
}

static void d03_a_busy_worker_answers_first(void **state)
{
	char *body = body_of(100000);
	int fd = begin_create(100000, "HTTP_AUTHORIZATION=Bearer t");

	(void)state;
	send_body(fd, body, 50000, 10000);
	wait_until_read(fd);
	kill(worker, SIGTERM);
	send_body(fd, body + 50000, 50000, 10000);
	send_record(fd, STDIN, "", 0);
	check_answer(fd, "Status: 201 Created\r\n", NULL);
	assert_int_equal(leaves(), 0);
	free(body);
}

/* One waits for the rest of its head, one for the rest of its body. */
static void threads_that_are_stuck_hold_none_of_the_others(void **state)
{
	int head = dial(), body;

	(void)state;
	send_begin(head, false);
	body = begin_create(1000, "HTTP_AUTHORIZATION=Bearer t");
	for (int i = 0; i < 5; i++)
		check_serves();
	close(head);
	close(body);
}

static bool socket_is_lost(void)
{
	char place[64], now[64] = "";

	snprintf(place, sizeof place, "/proc/%d/fd/%d", worker, listening);
	return readlink(place, now, sizeof now - 1) > 0 && strcmp(now, "/dev/null") == 0;
}

/* Whoever started the process is told to start it anew. */
static void a_thread_whose_accept_fails_ends_the_process_with_status_1(void **state)
{
	(void)state;
	check_serves();
	kill(worker, SIGUSR2);
	for (int i = 0; !socket_is_lost() && i < WAIT_MS; i++)
		poll(NULL, 0, 1);
	int client = dial();
	assert_int_equal(leaves(), EXIT_FAILURE);
	close(client);
}

static void a_socket_that_is_shut_down_ends_the_process_with_status_1(void **state)
{
	(void)state;
	check_serves();
	assert_int_equal(shutdown(shared, SHUT_RDWR), 0);
	assert_int_equal(leaves(), EXIT_FAILURE);
}

static void each_thread_stops_when_one_signal_comes(void **state)
{
	(void)state;
	check_serves();
	kill(worker, SIGTERM);
	assert_int_equal(leaves(), EXIT_SUCCESS);
}

/* So that what comes meanwhile is all there when the worker goes on. */
static void stop_worker(void)
{
	int status;

	kill(worker, SIGSTOP);
	assert_int_equal(waitpid(worker, &status, WUNTRACED), worker);
	assert_true(WIFSTOPPED(status));
}

static int ask_create(const char *authorization)
{
	static const char body[] = "{\"provider\":\"print\",\"input\":1}";
	int fd = begin_create(sizeof body - 1, authorization);

	send_record(fd, STDIN, body, sizeof body - 1);
	send_record(fd, STDIN, "", 0);
	return fd;
}

#define GOOD "HTTP_AUTHORIZATION=Bearer t"

/* How many creates the store was given by its next call; or reads, see FAKE_LOOKS. */
static int next_told(void)
{
	struct pollfd p = { .fd = told[0], .events = POLLIN };
	unsigned char given = 0;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(read(told[0], &given, 1), 1);
	return given;
}

static int next_given(void)
{
	int given;

	do
		given = next_told();
	while (given > FAKE_LOOKS);
	return given;
}

static void creates_that_wait_together_are_written_together(void **state)
{
	int fds[12];

	(void)state;
	stop_worker();
	for (size_t i = 0; i < 12; i++)
		fds[i] = ask_create(GOOD);
	kill(worker, SIGCONT);
	assert_int_equal(next_given(), 12);
	for (size_t i = 0; i < 12; i++)
		check_answer(fds[i], "Status: 201 Created\r\n", "\"id\":\"" FAKE_JOB "\"");
	check_answer(ask_create(GOOD), "Status: 201 Created\r\n", NULL); /* waits for no company */
	assert_int_equal(next_given(), 1);
}

static void reads_that_wait_together_are_looked_for_together(void **state)
{
	int reads[6], creates[4];

	(void)state;
	stop_worker();
	for (size_t i = 0; i < 6; i++) {
		reads[i] = ask_job();
		if (i < 4)
			creates[i] = ask_create(GOOD);
	}
	kill(worker, SIGCONT);
	assert_int_equal(next_told(), FAKE_LOOKS + 6); /* a commit takes longer */
	assert_int_equal(next_told(), 4);
	for (size_t i = 0; i < 6; i++)
		check_answer(reads[i], "Status: 200 OK\r\n", "\"id\":\"" FAKE_JOB "\"");
	for (size_t i = 0; i < 4; i++)
		check_answer(creates[i], "Status: 201 Created\r\n", NULL);
	check_answer(ask_job(), "Status: 200 OK\r\n", NULL); /* waits for no company */
	assert_int_equal(next_told(), FAKE_LOOKS + 1);
}

/* Refused before any is written; gone; something else, before which all are written. */
static void others_among_the_creates_of_a_batch_do_them_no_harm(void **state)
{
	int fds[6], refused, gone, live;

	(void)state;
	stop_worker();
	for (size_t i = 0; i < 3; i++)
		fds[i] = ask_create(GOOD);
	refused = ask_create("HTTP_AUTHORIZATION=Basic t");
	gone = ask_create(GOOD);
	close(gone);
	live = ask_for("REQUEST_URI=/healthz");
	for (size_t i = 3; i < 6; i++)
		fds[i] = ask_create(GOOD);
	kill(worker, SIGCONT);
	assert_int_equal(next_given(), 4); /* the one who has gone has asked for it all the same */
	assert_int_equal(next_given(), 3);
	check_answer(refused, "Status: 401 ", NULL);
	check_answer(live, "Status: 200 OK\r\n", NULL);
	for (size_t i = 0; i < 6; i++)
		check_answer(fds[i], "Status: 201 Created\r\n", NULL);
}

/* With one thread: those who came before it are answered while it is still on its way. */
static void a_slow_request_holds_up_no_create_before_it(void **state)
{
	int before, head, body;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		check_serves();
		stop_worker();
		before = ask_create(GOOD);
		head = dial();
		send_begin(head, false);
		body = i == 0 ? -1 : begin_create(1000, GOOD);
		if (i == 1)
			close(head);
		kill(worker, SIGCONT);
		check_answer(before, "Status: 201 Created\r\n", NULL);
		if (i == 0)
			close(head);
		else
			close(body);
	}
}

/* A statement that waits holds those of its batch; who comes later goes by another thread. */
static void a_statement_that_waits_holds_its_own_batch_only(void **state)
{
	int first[2], later, given = 0;

	(void)state;
	stop_worker();
	first[0] = ask_create(GOOD);
	first[1] = ask_create(GOOD);
	kill(worker, SIGCONT);
	while (given < 2) /* at once; or by two threads, where the first got no time for long */
		given += next_given();
	check_serves();
	later = ask_create(GOOD);
	assert_int_equal(next_given(), 1); /* while the first two still wait */
	assert_int_equal(write(go[1], "...", 3), 3);
	check_answer(later, "Status: 201 Created\r\n", NULL);
	check_answer(first[0], "Status: 201 Created\r\n", NULL);
	check_answer(first[1], "Status: 201 Created\r\n", NULL);
}

static void d03_what_was_taken_when_the_signal_comes_is_answered(void **state)
{
	int fds[5];

	(void)state;
	check_serves();
	stop_worker();
	for (size_t i = 0; i < 5; i++)
		fds[i] = ask_create(GOOD);
	kill(worker, SIGCONT);
	assert_int_equal(next_given(), 5);
	kill(worker, SIGTERM);
	assert_int_equal(write(go[1], ".", 1), 1);
	for (size_t i = 0; i < 5; i++)
		check_answer(fds[i], "Status: 201 Created\r\n", NULL);
	assert_int_equal(leaves(), EXIT_SUCCESS);
}

/* Each of them gives its seat back at once, so there is always room for the next. */
static void a_stream_of_refusals_holds_up_nobody_who_waits(void **state)
{
	int create, fds[60], answered = 0;
	char c;

	(void)state;
	stop_worker();
	create = ask_create(GOOD);
	for (size_t i = 0; i < 60; i++)
		fds[i] = ask_create("HTTP_AUTHORIZATION=Basic t");
	kill(worker, SIGCONT);
	assert_int_equal(next_given(), 1); /* and nothing else is done until it may go on */
	for (size_t i = 0; i < 60; i++)
		answered += recv(fds[i], &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
	assert_true(answered < 30);
	assert_int_equal(write(go[1], ".", 1), 1);
	check_answer(create, "Status: 201 Created\r\n", NULL);
	for (size_t i = 0; i < 60; i++)
		check_answer(fds[i], "Status: 401 ", NULL);
}

static void wake(int signum)
{
	(void)signum;
}

/* Whoever starts a second instance on the socket clears the flag of both. A worker that another one
 * was faster than may then wait in accept, as this test does, and must come back to its signals. */
static void an_accept_on_the_shared_socket_ends_also_where_it_may_block(void **state)
{
	const struct sigaction action = { .sa_handler = wake }; /* EINTR instead of for ever */

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	check_serves(); /* so it has prepared the socket */
	assert_int_equal(fcntl(shared, F_SETFL, fcntl(shared, F_GETFL) & ~O_NONBLOCK), 0);
	alarm(WAIT_MS / 1000);
	assert_int_equal(accept(shared, NULL, NULL), -1);
	alarm(0);
	assert_int_equal(errno, EAGAIN);
	check_serves();
	assert_int_equal(fcntl(shared, F_GETFL) & O_NONBLOCK, O_NONBLOCK); /* no create waits */
	kill(worker, SIGTERM);
	assert_int_equal(leaves(), EXIT_SUCCESS);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_request_is_answered),
		T(a_worker_is_free_as_soon_as_it_has_answered),
		T(d08_a_body_in_many_reads_is_whole),
		T(a_body_of_another_length_is_refused),
		T(a_body_past_the_limit_is_413_and_the_answer_arrives),
		T(a_body_that_the_web_server_kept_is_413_and_not_cut),
		T(an_early_refusal_is_not_lost_behind_a_large_body),
		T(d02_a_peer_that_is_gone_is_survived),
		T(d05_lengths_near_two_to_the_31_end_that_connection_only),
		T(parameters_that_come_byte_by_byte_are_read),
		T(long_parameters_are_read),
		T(a_connection_that_should_be_kept_starves_nobody),
		T(d03_an_idle_worker_leaves_at_once),
		T(d03_a_busy_worker_answers_first),
		cmocka_unit_test_setup_teardown(creates_that_wait_together_are_written_together,
						setup_told, told_teardown),
		cmocka_unit_test_setup_teardown(reads_that_wait_together_are_looked_for_together,
						setup_told, told_teardown),
		cmocka_unit_test_setup_teardown(others_among_the_creates_of_a_batch_do_them_no_harm,
						setup_told, told_teardown),
		T(a_slow_request_holds_up_no_create_before_it),
		cmocka_unit_test_setup_teardown(a_statement_that_waits_holds_its_own_batch_only,
						setup_three_held, told_teardown),
		cmocka_unit_test_setup_teardown(
			d03_what_was_taken_when_the_signal_comes_is_answered, setup_held,
			told_teardown),
		cmocka_unit_test_setup_teardown(a_stream_of_refusals_holds_up_nobody_who_waits,
						setup_held, told_teardown),
		cmocka_unit_test_setup_teardown(threads_that_are_stuck_hold_none_of_the_others,
						setup_three, teardown),
		cmocka_unit_test_setup_teardown(
			a_thread_whose_accept_fails_ends_the_process_with_status_1,
			setup_three_shared, teardown),
		cmocka_unit_test_setup_teardown(
			a_socket_that_is_shut_down_ends_the_process_with_status_1,
			setup_three_shared, teardown),
		cmocka_unit_test_setup_teardown(each_thread_stops_when_one_signal_comes,
						setup_three, teardown),
		cmocka_unit_test_setup_teardown(
			an_accept_on_the_shared_socket_ends_also_where_it_may_block, setup_shared,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
