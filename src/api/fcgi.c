/* fcgi.c: the only file that knows libfcgi. Its workers are threads, which share nothing but the
 * listening socket, whose turn it is (turn.h) and what `struct api` says.
 *
 * Connections are accepted here and handed to libfcgi as it finds a kept connection: open, with its
 * descriptor in the request. So each passes the gate first (see gate.h), and libfcgi never waits in
 * an accept of its own.
 *
 * The wait is one epoll a worker: the listening socket with EPOLLEXCLUSIVE, so that a connection
 * wakes one worker and not all, and a signalfd. Signals stay blocked, so none can slip in between a
 * check and the wait, and none interrupts a request.
 *
 * A worker takes the connections that are there at that moment, each in a seat of its own. Creates
 * that are whole and well-formed, and reads of a job by its id, wait in their seats until no more
 * are there, and are written or looked for together, with no delay for one alone: nobody waits for
 * company. What is neither, or hasn't arrived whole, comes after those that wait. Which worker
 * takes them is turn.c's to say. */
#include "api/fcgi.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
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
#include "api/turn.h"
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

#define SEATS 16 /* creates and reads that one worker takes together */
_Static_assert(SEATS <= CREATES_MAX && SEATS <= LOOKS_MAX, "they go out as one statement");
#define JOINS_MAX 8
#define LIKELY_SENT_BYTES 8192 /* fit any socket's buffer: sending them can't wait */

/* A connection, from its acceptance to its answer. */
struct seat {
	FCGX_Request fcgi;
	struct request request;
	struct call call;
	struct reply reply;
	char *body;
	size_t body_size;
	bool ready; /* fcgi and reply are set up */
	bool whole; /* the body was read to its end */
};

struct worker {
	const struct api *api;
	struct seat *seats; /* SEATS */
	struct seat *free[SEATS], *waiting[SEATS], *late[SEATS], *looking[SEATS];
	size_t free_len;
	size_t waiting_len; /* creates that want to be written, in their order */
	size_t late_len;    /* written; their large answers go out when none waits */
	size_t looking_len; /* reads */
	struct turn *turn;
	turn_ticket ticket;
	unsigned char *head; /* GATE_MAX_BYTES */
	int listen_fd;
	int listen_flags;
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

static bool open_worker(struct worker *w, const struct api *api, struct turn *turn, int listen_fd)
{
	sigset_t set;

	*w = (struct worker){ .api = api, .turn = turn, .listen_fd = listen_fd, .reachable = true };
	stop_signals(&set);
	w->head = malloc(GATE_MAX_BYTES);
	w->seats = calloc(SEATS, sizeof *w->seats);
	while (w->seats && w->free_len < SEATS) {
		w->free[w->free_len] = &w->seats[SEATS - 1 - w->free_len];
		w->free_len++;
	}
	w->unix_socket = is_unix_socket(listen_fd);
	w->listen_flags = fcntl(listen_fd, F_GETFL) | O_NONBLOCK;
	w->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return w->head && w->seats && w->signal_fd >= 0 && w->epoll_fd >= 0 &&
	       watch(w, w->signal_fd, EPOLLIN) && watch(w, listen_fd, EPOLLIN | EPOLLEXCLUSIVE);
}

static void close_worker(struct worker *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->signal_fd >= 0)
		close(w->signal_fd);
	for (size_t i = 0; w->seats && i < SEATS && w->seats[i].ready; i++) {
		reply_release(&w->seats[i].reply);
		free(w->seats[i].body);
	}
	free(w->seats);
	free(w->head);
}

/* Room for `size` bytes; what was read stays. False: no memory. */
static bool body_room(struct seat *seat, size_t size)
{
	char *grown;

	if (size <= seat->body_size)
		return true;
	grown = realloc(seat->body, size);
	if (!grown)
		return false;
	seat->body = grown;
	seat->body_size = size;
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
static bool fill(struct seat *seat, size_t first, size_t limit, size_t *len_out)
{
	size_t len = 0;

	for (size_t size = first;; size = size > limit / 2 ? limit + 1 : 2 * size) {
		if (!body_room(seat, size))
			return false;
		len += (size_t)FCGX_GetStr(seat->body + len, (int)(size - len), seat->fcgi.in);
		if (len < size || size > limit)
			break;
	}
	*len_out = len;
	return true;
}

/* Throws away what is left. */
static bool refuse_body(struct seat *seat, size_t len, enum body_state state)
{
	request_take_body(&seat->request, "", len, state);
	return drain(seat->fcgi.in);
}

/* Reads the body to its end: one byte more than announced is asked for, because only the end of the
 * stream says that the socket holds nothing more. Returns whether it was read to its end. */
static bool read_body(const struct worker *w, struct seat *seat)
{
	struct request *request = &seat->request;
	const size_t limit = w->api->max_body_bytes;
	size_t announced = request_announced(request, SIZE_MAX);
	bool known = announced != SIZE_MAX;
	size_t len;

	/* The web server's own limit may be lower than ours: it has kept the body to itself. */
	if ((known && announced > limit) || FCGX_GetParam("ONEJOB_BODY_REFUSED", seat->fcgi.envp))
		return refuse_body(seat, 0, BODY_TOO_LARGE);
	if (!fill(seat, known ? announced + 1 : BODY_FIRST_BYTES, limit, &len))
		return refuse_body(seat, 0, BODY_NO_ROOM);
	if (len > limit)
		return refuse_body(seat, 0, BODY_TOO_LARGE);
	if (FCGX_GetError(seat->fcgi.in) != 0 || (known && len != announced))
		return refuse_body(seat, len, BODY_CUT);
	request_take_body(request, seat->body, len, BODY_WHOLE);
	return true;
}

/* A web server that stops reading or sending in the middle shall not hold a worker for ever. */
static void limit_wait(int fd, int direction)
{
	const struct timeval wait = { .tv_sec = TRANSFER_WAIT_S };

	setsockopt(fd, SOL_SOCKET, direction, &wait, sizeof wait);
}

static bool is_large(const struct reply *reply)
{
	return reply->head.len + reply->body_len > LIKELY_SENT_BYTES;
}

static void send_reply(struct seat *seat)
{
	const struct reply *reply = &seat->reply;

	if (is_large(reply))
		limit_wait(seat->fcgi.ipcFd, SO_SNDTIMEO);
	FCGX_PutStr(reply->head.bytes, (int)reply->head.len, seat->fcgi.out);
	if (reply->body_len > 0)
		FCGX_PutStr(reply->body, (int)reply->body_len, seat->fcgi.out);
}

/* A worker that has once met a large body or sent a large answer shall not keep that memory for
 * ever: there are many of them. */
static void give_back(struct seat *seat)
{
	bool large = seat->body_size > BODY_KEPT_BYTES || seat->reply.body_len > BODY_KEPT_BYTES ||
		     seat->reply.job.size > BODY_KEPT_BYTES; /* for a HEAD, too */

	if (!large)
		return;
	free(seat->body);
	seat->body = NULL;
	seat->body_size = 0;
	reply_release(&seat->reply);
	reply_init(&seat->reply);
	malloc_trim(0);
}

static void leave(struct worker *w, struct seat *seat)
{
	send_reply(seat);
	/* Without this libfcgi waits until the web server has closed. A close with bytes unread
	 * would reset the connection and swallow the answer, so it is for requests that were read
	 * to the end. */
	if (seat->whole && w->unix_socket)
		FCGX_Detach(&seat->fcgi);
	FCGX_Finish_r(&seat->fcgi);
	/* A connection that the web server wants to keep is closed: while this worker sat on it,
	 * others would wait. */
	if (seat->fcgi.ipcFd >= 0)
		FCGX_Free(&seat->fcgi, 1);
	give_back(seat);
	w->free[w->free_len++] = seat;
}

static struct seat *seat_of(struct create *create)
{
	return (struct seat *)((char *)create - offsetof(struct seat, call.create));
}

static struct seat *seat_that_looks(struct look *look)
{
	return (struct seat *)((char *)look - offsetof(struct seat, call.look));
}

/* Some may share a statement, or be read fast. The others are of large jobs. */
static bool look_is_fast(const struct worker *w)
{
	for (size_t i = 0; i < w->looking_len; i++)
		if (!w->looking[i]->call.look.alone)
			return true;
	return false;
}

/* Large answers go out when none waits. */
static void look_some(struct worker *w)
{
	struct look *looks[SEATS];
	size_t decided;
	bool only = w->looking_len == 1 && look_is_fast(w);

	for (size_t i = 0; i < w->looking_len; i++)
		looks[i] = &w->looking[i]->call.look;
	decided = job_store_look(w->api->db, looks, w->looking_len);
	if (decided > 0)
		turn_took(w->turn, decided > 1 || only ? (unsigned int)decided : 0,
			  decided == 1 && !only);
	for (size_t i = 0; i < decided; i++) {
		struct seat *seat = seat_that_looks(looks[i]);

		route_end(&seat->call, &seat->reply);
		if ((decided > 1 || w->waiting_len > 0) && is_large(&seat->reply))
			w->late[w->late_len++] = seat;
		else
			leave(w, seat);
	}
	w->looking_len -= decided;
	for (size_t i = 0; i < w->looking_len; i++)
		w->looking[i] = seat_that_looks(looks[decided + i]);
}

/* Returns how many are decided and, but for large answers, answered. */
static size_t write_some(struct worker *w)
{
	struct create *creates[SEATS];
	size_t decided;

	for (size_t i = 0; i < w->waiting_len; i++)
		creates[i] = &w->waiting[i]->call.create;
	decided = job_store_create(w->api->db, creates, w->waiting_len);
	for (size_t i = 0; i < decided; i++) {
		struct seat *seat = seat_of(creates[i]);

		route_end(&seat->call, &seat->reply);
		if (is_large(&seat->reply))
			w->late[w->late_len++] = seat;
		else
			leave(w, seat);
	}
	turn_took(w->turn, (unsigned int)decided, 0);
	w->waiting_len -= decided;
	for (size_t i = 0; i < w->waiting_len; i++)
		w->waiting[i] = seat_of(creates[decided + i]);
	return decided;
}

/* Reads that share a statement are fast. Those that don't may be of large jobs, and come last. */
static void answer_all(struct worker *w)
{
	if (look_is_fast(w))
		look_some(w);
	while (w->waiting_len > 0)
		(void)write_some(w);
	while (w->late_len > 0)
		leave(w, w->late[--w->late_len]);
	while (w->looking_len > 0)
		look_some(w);
	while (w->late_len > 0)
		leave(w, w->late[--w->late_len]);
}

static struct seat *take_seat(struct worker *w)
{
	struct seat *seat = w->free[--w->free_len];

	if (!seat->ready) {
		FCGX_InitRequest(&seat->fcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR);
		reply_init(&seat->reply);
		seat->ready = true;
	}
	return seat;
}

/* What shares no statement: those that wait to be answered shall not wait for it, too. */
static void serve_other(struct worker *w, struct seat *seat)
{
	answer_all(w);
	seat->whole = read_body(w, seat);
	route_answer(w->api, &seat->request, &seat->reply);
	leave(w, seat);
	turn_took(w->turn, 0, 1);
}

/* Takes the connection over, whatever comes of it. */
static void take_connection(struct worker *w, int fd)
{
	struct seat *seat;
	enum gate gate = gate_look(fd, w->head);

	if (gate == GATE_MORE || gate == GATE_GOOD) {
		answer_all(w);
		gate = gate_wait(fd, w->head, HEAD_WAIT_MS);
	}
	if (gate == GATE_BAD) {
		close(fd);
		return;
	}
	if (gate != GATE_WHOLE)
		limit_wait(fd, SO_RCVTIMEO);
	seat = take_seat(w);
	seat->fcgi.ipcFd = fd;
	seat->fcgi.keepConnection =
		1; /* so that libfcgi goes on with it; what the request says comes after */
	if (FCGX_Accept_r(&seat->fcgi) != 0) {
		w->free[w->free_len++] = seat;
		return;
	}
	request_read(&seat->request, seat->fcgi.envp);
	if (!route_may_wait(&seat->request)) {
		serve_other(w, seat);
		return;
	}
	seat->whole = read_body(w, seat);
	switch (route_begin(w->api, &seat->request, &seat->call, &seat->reply)) {
	case WAITS_CREATE: w->waiting[w->waiting_len++] = seat; break;
	case WAITS_LOOK: w->looking[w->looking_len++] = seat; break;
	case WAITS_NOT:
	case WAITS__MAX: leave(w, seat);
	}
}

enum taken {
	TAKEN,
	TAKEN_NONE, /* there is none at this moment */
	TAKEN_NEVER /* the listening socket is of no more use */
};

static enum taken take_one(struct worker *w)
{
	struct pollfd p = { .fd = w->signal_fd, .events = POLLIN };
	int fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0) {
		take_connection(w, fd);
		return TAKEN;
	}
	switch (errno) {
	case EAGAIN: /* another worker took it, or its client has gone */
	case EINTR:
	case ECONNABORTED: return TAKEN_NONE;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		log_error("api.accept", "error=\"%m\" pause_ms=%d", PAUSE_MS);
		answer_all(w);
		poll(&p, 1, PAUSE_MS);
		return TAKEN_NONE;
	default: log_error("api.accept", "error=\"%m\""); return TAKEN_NEVER;
	}
}

/* Those that are there at this moment: creates and reads gather, all else is answered. No more than
 * there are seats, for what is refused gives its own back, and others wait. */
static enum taken take_all(struct worker *w)
{
	enum taken taken = TAKEN;

	for (size_t n = 0; taken == TAKEN && w->free_len > 0 && n < SEATS; n++) {
		taken = take_one(w);
		if (w->waiting_len + w->looking_len == 0) /* it was something else, and is done */
			break;
	}
	return taken;
}

/* A statement takes so many creates; those who have come meanwhile join the rest, for a while. But
 * where creates have to go one by one, those who wait do so for no more. False: as TAKEN_NEVER. */
static bool serve(struct worker *w)
{
	enum taken taken;

	(void)fcntl(w->listen_fd, F_SETFL, w->listen_flags); /* see prepare_process() */
	taken = take_all(w);
	for (int round = 0; taken != TAKEN_NEVER && w->waiting_len > 0; round++) {
		if (look_is_fast(w))
			look_some(w);
		if (round == JOINS_MAX || write_some(w) <= 1)
			break;
		if (w->waiting_len > 0 && turn_is_mine(w->turn, w->ticket))
			taken = take_all(w);
	}
	answer_all(w);
	return taken != TAKEN_NEVER;
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
	if (db_rest(w->api->db))
		malloc_trim(0);
	bool reachable = db_ready(w->api->db) == RC_OK;

	if (reachable != w->reachable)
		log_warning("api.database", "reachable=%s", reachable ? "yes" : "no");
	w->reachable = reachable;
}

/* False: it's over. */
static bool work_once(struct worker *w)
{
	enum turns turns = turn_wait(w->turn, &w->ticket, IDLE_MS);
	int came = turns == TURN_MINE ? wait_for_work(w) : turns == TURN_NOT_YET ? 0 : -1;

	if (came == 0) {
		turn_pass(w->turn, w->ticket);
		look_after_database(w);
	} else if (came > 0) {
		turn_busy(w->turn, w->ticket);
		if (!serve(w)) {
			give_up(w);
			came = -1;
		}
	}
	return came >= 0;
}

/* A stop signal stays pending, so that each process sees it. */
static void *work(void *arg)
{
	struct worker *w = arg;

	look_after_database(w);
	while (work_once(w))
		continue;
	turn_stop(w->turn);
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
 * because another worker was faster, ends all the same, and before each batch it is set again. */
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
	struct turn *turn = turn_new(TURN_PATIENCE_MS);
	bool ok = workers && turn && prepare_process(listen_fd);
	int code = EXIT_FAILURE;
	size_t opened = 0;

	for (; ok && opened < n; opened++)
		ok = open_worker(&workers[opened], &apis[opened], turn, listen_fd);
	if (ok)
		code = run_workers(workers, n);
	else
		log_error("api.start",
			  "fd=%d error=\"%m\" hint=\"a socket that listens is wanted there: "
			  "onejob-api(8)\"",
			  listen_fd);
	for (size_t i = 0; i < opened; i++)
		close_worker(&workers[i]);
	free(workers);
	turn_free(turn);
	return code;
}
