/* fcgi.c: the only file that knows libfcgi. Its workers are threads, which share nothing but the
 * listening socket and what `struct api` says.
 *
 * Connections are accepted here and handed to libfcgi as it finds a kept connection: open, with its
 * descriptor in the request. So each passes the gate first (see gate.h), and libfcgi never waits in
 * an accept of its own.
 *
 * The wait is one epoll a worker: the listening socket with EPOLLEXCLUSIVE, so that a connection
 * wakes one worker and not all, and a signalfd. Signals stay blocked, so none can slip in between a
 * check and the wait, and none interrupts a request. */
#include "api/fcgi.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "api/gate.h"
#include "api/request.h"
#include "api/route.h"
#include "base/log.h"

#define IDLE_MS 10000	   /* an idle worker looks after its database connection this often */
#define TRANSFER_WAIT_S 30 /* between two bytes of a body or an answer */
#define HEAD_WAIT_MS 5000  /* how long a connection may take to bring its parameters */
#define ACCEPT_WAIT_MS 500 /* where it isn't ours to say that it shall not wait */
#define PAUSE_MS 1000	   /* out of descriptors or memory */
#define BODY_FIRST_BYTES 16384
#define BODY_KEPT_BYTES (64u << 10) /* what a larger one needed is given back after the request */
#define DRAIN_MAX_BYTES                                                                            \
	(8u << 20) /* past the limit: read and dropped, so that the answer reaches the client */

struct worker {
	const struct api *api;
	FCGX_Request fcgi;
	struct reply reply;
	unsigned char *head; /* GATE_MAX_BYTES */
	char *body;
	size_t body_size;
	int listen_fd;
	int signal_fd;
	int epoll_fd;
	bool unix_socket;
	bool reachable; /* the database, when it was last looked after */
	pthread_t thread;
	int code; /* of exit */
};

static bool watch(struct worker *w, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool is_unix_socket(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof address;

	return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	       address.ss_family == AF_UNIX;
}

static void stop_signals(sigset_t *set_out)
{
	sigemptyset(set_out);
	sigaddset(set_out, SIGTERM);
	sigaddset(set_out, SIGINT);
	sigaddset(set_out, SIGUSR1);
}

static bool open_worker(struct worker *w, const struct api *api, int listen_fd)
{
	sigset_t set;

	*w = (struct worker){ .api = api, .listen_fd = listen_fd, .reachable = true };
	stop_signals(&set);
	reply_init(&w->reply);
	w->head = malloc(GATE_MAX_BYTES);
	w->unix_socket = is_unix_socket(listen_fd);
	w->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return w->head && w->signal_fd >= 0 && w->epoll_fd >= 0 &&
	       watch(w, w->signal_fd, EPOLLIN) && watch(w, listen_fd, EPOLLIN | EPOLLEXCLUSIVE) &&
	       FCGX_InitRequest(&w->fcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR) == 0;
}

static void close_worker(struct worker *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->signal_fd >= 0)
		close(w->signal_fd);
	reply_release(&w->reply);
	free(w->head);
	free(w->body);
}

/* Room for `size` bytes; what was read stays. False: no memory. */
static bool body_room(struct worker *w, size_t size)
{
	char *grown;

	if (size <= w->body_size)
		return true;
	grown = realloc(w->body, size);
	if (!grown)
		return false;
	w->body = grown;
	w->body_size = size;
	return true;
}

/* True: the stream ended within the bound, so nothing is left unread. */
static bool drain(FCGX_Stream *in)
{
	char scratch[8192];

	for (size_t dropped = 0; dropped <= DRAIN_MAX_BYTES; dropped += sizeof scratch)
		if (FCGX_GetStr(scratch, sizeof scratch, in) < (int)sizeof scratch)
			return true;
	return false;
}

/* Reads to the end of the stream, at most one byte past the limit; *len_out: how many bytes came.
 * False: no memory. */
static bool fill(struct worker *w, size_t first, size_t limit, size_t *len_out)
{
	size_t len = 0;

	for (size_t size = first;; size = size > limit / 2 ? limit + 1 : 2 * size) {
		if (!body_room(w, size))
			return false;
		len += (size_t)FCGX_GetStr(w->body + len, (int)(size - len), w->fcgi.in);
		if (len < size || size > limit)
			break;
	}
	*len_out = len;
	return true;
}

/* Throws away what is left. */
static bool refuse_body(struct worker *w, struct request *request, size_t len,
			enum body_state state)
{
	request_take_body(request, "", len, state);
	return drain(w->fcgi.in);
}

/* Reads the body to its end: one byte more than announced is asked for, because only the end of the
 * stream says that the socket holds nothing more. Returns whether it was read to its end. */
static bool read_body(struct worker *w, struct request *request)
{
	const size_t limit = w->api->max_body_bytes;
	size_t announced = request_announced(request, SIZE_MAX);
	bool known = announced != SIZE_MAX;
	size_t len;

	/* The web server's own limit may be lower than ours: it has kept the body to itself. */
	if ((known && announced > limit) || FCGX_GetParam("ONEJOB_BODY_REFUSED", w->fcgi.envp))
		return refuse_body(w, request, 0, BODY_TOO_LARGE);
	if (!fill(w, known ? announced + 1 : BODY_FIRST_BYTES, limit, &len))
		return refuse_body(w, request, 0, BODY_NO_ROOM);
	if (len > limit)
		return refuse_body(w, request, 0, BODY_TOO_LARGE);
	if (FCGX_GetError(w->fcgi.in) != 0 || (known && len != announced))
		return refuse_body(w, request, len, BODY_CUT);
	request_take_body(request, w->body, len, BODY_WHOLE);
	return true;
}

/* A web server that stops reading or sending in the middle shall not hold a worker for ever. */
static void limit_wait(int fd, int direction)
{
	const struct timeval wait = { .tv_sec = TRANSFER_WAIT_S };

	setsockopt(fd, SOL_SOCKET, direction, &wait, sizeof wait);
}

static void send_reply(struct worker *w)
{
	const struct reply *reply = &w->reply;

	limit_wait(w->fcgi.ipcFd, SO_SNDTIMEO);
	FCGX_PutStr(reply->head.bytes, (int)reply->head.len, w->fcgi.out);
	if (reply->body_len > 0)
		FCGX_PutStr(reply->body, (int)reply->body_len, w->fcgi.out);
}

/* A worker that has once met a large body or sent a large answer shall not keep that memory for
 * ever: there are many of them. */
static void give_back(struct worker *w)
{
	bool large = w->body_size > BODY_KEPT_BYTES || w->reply.body_len > BODY_KEPT_BYTES ||
		     w->reply.job.size > BODY_KEPT_BYTES; /* for a HEAD, too */

	if (!large)
		return;
	free(w->body);
	w->body = NULL;
	w->body_size = 0;
	reply_release(&w->reply);
	reply_init(&w->reply);
	malloc_trim(0);
}

static void serve_one(struct worker *w)
{
	struct request request;
	bool whole;

	request_read(&request, w->fcgi.envp);
	whole = read_body(w, &request);
	route_answer(w->api, &request, &w->reply);
	send_reply(w);
	/* Without this libfcgi waits until the web server has closed. A close with bytes unread
	 * would reset the connection and swallow the answer, so it is for requests that were read
	 * to the end. */
	if (whole && w->unix_socket)
		FCGX_Detach(&w->fcgi);
	FCGX_Finish_r(&w->fcgi);
	/* A connection that the web server wants to keep is closed: while this worker sat on it,
	 * others would wait. */
	if (w->fcgi.ipcFd >= 0)
		FCGX_Free(&w->fcgi, 1);
	give_back(w);
}

/* Takes the connection over, whatever comes of it. */
static void take_connection(struct worker *w, int fd)
{
	enum gate gate = gate_wait(fd, w->head, HEAD_WAIT_MS);

	if (gate == GATE_BAD) {
		close(fd);
		return;
	}
	if (gate != GATE_WHOLE)
		limit_wait(fd, SO_RCVTIMEO);
	w->fcgi.ipcFd = fd;
	w->fcgi.keepConnection =
		1; /* so that libfcgi goes on with it; what the request says comes after */
	if (FCGX_Accept_r(&w->fcgi) == 0)
		serve_one(w);
}

/* False: the listening socket is of no more use. */
static bool accept_one(struct worker *w)
{
	struct pollfd p = { .fd = w->signal_fd, .events = POLLIN };
	int fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0) {
		take_connection(w, fd);
		return true;
	}
	switch (errno) {
	case EAGAIN: /* another worker took it, or its client has gone */
	case EINTR:
	case ECONNABORTED: return true;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		log_error("api.accept", "error=\"%m\" pause_ms=%d", PAUSE_MS);
		poll(&p, 1, PAUSE_MS);
		return true;
	default: log_error("api.accept", "error=\"%m\""); return false;
	}
}

/* A worker that can't go on ends them all: then somebody starts the process anew. */
static void give_up(struct worker *w)
{
	w->code = EXIT_FAILURE;
	kill(getpid(), SIGTERM);
}

/* Waits for a connection or a signal. 1: a connection; 0: nothing came; -1: stop. */
static int wait_for_work(struct worker *w)
{
	struct epoll_event events[2];
	int count = epoll_wait(w->epoll_fd, events, 2, IDLE_MS);

	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == w->signal_fd)
			return -1;
		/* An accept would say EAGAIN of a unix socket that was shut down, for ever. */
		if (events[i].events & (EPOLLHUP | EPOLLERR)) {
			log_error("api.wait", "error=\"the listening socket was shut down\"");
			give_up(w);
			return -1;
		}
	}
	if (count < 0 && errno != EINTR) {
		log_error("api.wait", "error=\"%m\"");
		give_up(w);
		return -1;
	}
	return count > 0;
}

/* Connects before somebody has to wait for it. Without a database it goes on: requests are answered
 * 503 meanwhile. */
static void look_after_database(struct worker *w)
{
	bool reachable = db_ready(w->api->db) == RC_OK;

	if (reachable != w->reachable)
		log_warning("api.database", "reachable=%s", reachable ? "yes" : "no");
	w->reachable = reachable;
}

/* A stop signal stays pending, so that each thread sees it. */
static void *work(void *arg)
{
	struct worker *w = arg;
	int came;

	look_after_database(w);
	while ((came = wait_for_work(w)) >= 0) {
		if (came == 0) {
			look_after_database(w);
		} else if (!accept_one(w)) {
			give_up(w);
			break;
		}
	}
	return NULL;
}

/* The first worker is this thread itself. */
static int run_workers(struct worker *workers, size_t n)
{
	int code = EXIT_SUCCESS;
	size_t started = 1;

	while (started < n &&
	       pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
		started++;
	if (started < n) {
		log_error("api.start", "threads=%zu error=\"no more threads\"", started);
		code = EXIT_FAILURE;
		kill(getpid(), SIGTERM);
	}
	work(&workers[0]);
	for (size_t i = 0; i < started; i++) {
		if (i > 0)
			pthread_join(workers[i].thread, NULL);
		if (workers[i].code != EXIT_SUCCESS)
			code = EXIT_FAILURE;
	}
	return code;
}

/* For the whole process: a peer that is gone is an error of write, not the end. O_NONBLOCK belongs
 * to the socket's open description, and whoever starts another process on it may take it away again
 * (systemd does, for an instance with StandardInput=socket): an accept that then waits in vain,
 * because another worker was faster, ends all the same. */
static bool prepare_process(int listen_fd)
{
	const struct timeval wait = { .tv_usec = ACCEPT_WAIT_MS * 1000 };
	int flags = fcntl(listen_fd, F_GETFL);
	sigset_t set;

	stop_signals(&set);
	signal(SIGPIPE, SIG_IGN);
	return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && flags >= 0 &&
	       fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	       setsockopt(listen_fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
	       FCGX_Init() == 0;
}

int fcgi_serve(const struct api *apis, size_t n, int listen_fd)
{
	struct worker *workers = calloc(n, sizeof *workers);
	bool ok = workers && prepare_process(listen_fd);
	int code = EXIT_FAILURE;
	size_t opened = 0;

	for (; ok && opened < n; opened++)
		ok = open_worker(&workers[opened], &apis[opened], listen_fd);
	if (ok)
		code = run_workers(workers, n);
	else
		log_error("api.start", "fd=%d error=\"%m\"", listen_fd);
	for (size_t i = 0; i < opened; i++)
		close_worker(&workers[i]);
	free(workers);
	return code;
}
