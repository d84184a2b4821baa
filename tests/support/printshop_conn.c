/* printshop_conn.c: see the header. */
#ifndef _GNU_SOURCE
#endif
#include "printshop_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 << 10,
	IN_CAP_BYTES = HTTP_HEAD_BYTES_MAX + HTTP_BODY_BYTES_MAX + 2 * READ_BYTES,
	LINGER_MS = 2000,
};

static struct {
	int epoll_fd;
	uint64_t last_id;
	struct conn *first;
	struct conn *buried;
	size_t watching;
	struct conn **heap; /* timers, the earliest at 1 */
	size_t heap_len;
	size_t heap_size;
	char scratch[READ_BYTES];
} shop;

void conn_set_up(int epoll_fd)
{
	shop.epoll_fd = epoll_fd;
}

uint64_t conn_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct conn *conn_first(void)
{
	return shop.first;
}

size_t conn_watching(void)
{
	return shop.watching;
}

static void heap_put(size_t at, struct conn *conn)
{
	shop.heap[at] = conn;
	conn->timer_at = at;
}

static void heap_settle(size_t at)
{
	struct conn *conn = shop.heap[at];

	for (; at > 1 && shop.heap[at / 2]->due_ms > conn->due_ms; at /= 2)
		heap_put(at, shop.heap[at / 2]);
	for (;;) {
		size_t child = at * 2;

		if (child < shop.heap_len &&
		    shop.heap[child + 1]->due_ms < shop.heap[child]->due_ms)
			child++;
		if (child > shop.heap_len || shop.heap[child]->due_ms >= conn->due_ms)
			break;
		heap_put(at, shop.heap[child]);
		at = child;
	}
	heap_put(at, conn);
}

static void timer_stop(struct conn *conn)
{
	size_t at = conn->timer_at;

	if (at == 0)
		return;
	conn->timer_at = 0;
	struct conn *last = shop.heap[shop.heap_len--];
	if (last != conn) {
		heap_put(at, last);
		heap_settle(at);
	}
}

static void timer_start(struct conn *conn, uint64_t ms)
{
	timer_stop(conn);
	if (shop.heap_len + 2 > shop.heap_size) {
		size_t size = shop.heap_size ? shop.heap_size * 2 : 64;
		struct conn **heap = realloc(shop.heap, size * sizeof(struct conn *));

		if (!heap) {
			conn_drop(conn, false);
			return;
		}
		shop.heap = heap;
		shop.heap_size = size;
	}
	conn->due_ms = conn_now_ms() + ms;
	heap_put(++shop.heap_len, conn);
	heap_settle(shop.heap_len);
}

int conn_timeout_ms(void)
{
	if (shop.heap_len == 0)
		return -1;
	uint64_t now = conn_now_ms(), due = shop.heap[1]->due_ms;
	return due > now ? (int)(due - now) : 0;
}

static void run_timer(struct conn *conn)
{
	switch (conn->phase) {
	case PHASE_DELAYED: work_resume(conn); break;
	case PHASE_WATCHING: control_timed_out(conn); break;
	case PHASE_LINGERING: conn_drop(conn, false); break;
	case PHASE_READING:
	case PHASE_HELD:
	case PHASE_WRITING:
	case PHASE_SILENT:
	case PHASE_CLOSED: break;
	}
	conn_advance(conn);
}

/* Only what was due at the start: a timer that a timer has started waits for the next round. */
void conn_run_timers(void)
{
	uint64_t now = conn_now_ms();

	for (size_t left = shop.heap_len;
	     left > 0 && shop.heap_len > 0 && shop.heap[1]->due_ms <= now; left--) {
		struct conn *conn = shop.heap[1];

		timer_stop(conn);
		run_timer(conn);
	}
}

static void set_phase(struct conn *conn, enum phase phase)
{
	uint32_t interest = EPOLLRDHUP;

	if (phase == PHASE_READING || phase == PHASE_LINGERING)
		interest = EPOLLIN;
	else if (phase == PHASE_WRITING)
		interest = EPOLLOUT;
	shop.watching += (phase == PHASE_WATCHING) - (conn->phase == PHASE_WATCHING);
	conn->phase = phase;
	if (interest == conn->interest)
		return;
	conn->interest = interest;
	struct epoll_event event = { .events = interest, .data.ptr = conn };
	epoll_ctl(shop.epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
}

enum accepted conn_accept(int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		bool full =
			errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;

		return full ? ACCEPT_FULL : ACCEPT_NONE;
	}
	struct conn *conn = calloc(1, sizeof *conn);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
	if (!conn || epoll_ctl(shop.epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(conn);
		close(fd);
		return ACCEPT_FULL;
	}
	conn->fd = fd;
	conn->id = ++shop.last_id;
	conn->interest = EPOLLIN;
	conn->in.cap = IN_CAP_BYTES;
	conn->next = shop.first;
	if (shop.first)
		shop.first->prev = conn;
	shop.first = conn;
	return ACCEPT_ONE;
}

/* The work request at hand has come to its end, one way or the other. */
static void finish_work(struct conn *conn, bool hung_up)
{
	if (!conn->printer)
		return;
	if (conn->reading)
		book_read(conn->printer, conn->number, conn->in.bytes + conn->req.head_len,
			  conn->req.body_len, false);
	book_close(conn->printer, hung_up);
	conn->printer = NULL;
	conn->reading = false;
	conn->replayed = false;
	modes_release(&conn->modes);
	buf_clear(&conn->body);
}

void conn_drop(struct conn *conn, bool hung_up)
{
	if (conn->phase == PHASE_CLOSED)
		return;
	finish_work(conn, hung_up);
	timer_stop(conn);
	close(conn->fd);
	shop.watching -= conn->phase == PHASE_WATCHING;
	conn->phase = PHASE_CLOSED;
	if (conn->next)
		conn->next->prev = conn->prev;
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		shop.first = conn->next;
	conn->next = shop.buried;
	shop.buried = conn;
}

bool conn_bury(void)
{
	bool any = shop.buried;

	while (shop.buried) {
		struct conn *conn = shop.buried;

		shop.buried = conn->next;
		buf_release(&conn->in);
		buf_release(&conn->out);
		buf_release(&conn->body);
		free(conn);
	}
	return any;
}

void conn_tear_down(void)
{
	while (shop.first)
		conn_drop(shop.first, false);
	conn_bury();
	free(shop.heap);
}

/* Everything of the answer that goes out is out. */
static void end_sent(struct conn *conn)
{
	buf_clear(&conn->out);
	conn->out_sent = 0;
	switch (conn->after) {
	case AFTER_KEEP:
		finish_work(conn, false);
		buf_consume(&conn->in, conn->req.head_len + conn->req.body_len);
		conn->req = (struct request){ 0 };
		set_phase(conn, PHASE_READING);
		return;
	case AFTER_SILENCE: set_phase(conn, PHASE_SILENT); return;
	case AFTER_LINGER:
		finish_work(conn, false);
		shutdown(conn->fd, SHUT_WR);
		buf_clear(&conn->in);
		set_phase(conn, PHASE_LINGERING);
		timer_start(conn, LINGER_MS);
		return;
	case AFTER_RESET:
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
			   sizeof(struct linger));
		conn_drop(conn, false);
		return;
	case AFTER_CLOSE: conn_drop(conn, false); return;
	}
}

static void flush(struct conn *conn)
{
	while (conn->out_sent < conn->out.len) {
		ssize_t sent = send(conn->fd, conn->out.bytes + conn->out_sent,
				    conn->out.len - conn->out_sent, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN) {
			set_phase(conn, PHASE_WRITING);
			return;
		}
		if (sent < 0) {
			conn_drop(conn, true);
			return;
		}
		conn->out_sent += (size_t)sent;
	}
	end_sent(conn);
}

void conn_end(struct conn *conn, enum after after)
{
	timer_stop(conn);
	conn->after = after;
	if (conn->out.failed)
		conn_drop(conn, false);
	else
		flush(conn);
}

void conn_hold(struct conn *conn, enum phase phase)
{
	set_phase(conn, phase);
}

void conn_hold_ms(struct conn *conn, enum phase phase, uint64_t ms)
{
	set_phase(conn, phase);
	timer_start(conn, ms);
}

void conn_continue(struct conn *conn)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	bool waits = conn->req.expects_continue &&
		     (conn->req.chunked || conn->req.content_length > 0) &&
		     conn->in.len == conn->req.head_len;

	/* Nothing else is on its way out, so these few bytes go at once, or it is broken. */
	if (waits && send(conn->fd, line, sizeof line - 1, MSG_NOSIGNAL) != sizeof line - 1)
		conn_drop(conn, true);
}

const char *conn_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} rows[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 303, "See Other" },
		{ 307, "Temporary Redirect" },
		{ 308, "Permanent Redirect" },
		{ 400, "Bad Request" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 413, "Content Too Large" },
		{ 417, "Expectation Failed" },
		{ 425, "Too Early" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 507, "Insufficient Storage" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].status == status)
			return rows[i].reason;
	}
	return "Status";
}

void conn_refuse(struct conn *conn, int status, const char *detail, size_t len)
{
	struct buf body = { 0 };

	buf_addf(&body, "{\"status\":%d,\"error\":", status);
	buf_add_json(&body, detail, len);
	buf_add(&body, "}\n", 2);
	buf_addf(&conn->out,
		 "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		 "Connection: close\r\n\r\n",
		 status, conn_reason(status), body.len);
	buf_add(&conn->out, body.bytes, body.len);
	buf_release(&body);
	conn_end(conn, AFTER_LINGER);
}

static void refuse_broken(struct conn *conn, int status)
{
	static const char detail[] = "not a request that this shop can read";

	conn_refuse(conn, status, detail, sizeof detail - 1);
}

static void take_head(struct conn *conn)
{
	if (control_is(conn))
		conn_continue(conn);
	else
		work_head(conn);
}

void conn_advance(struct conn *conn)
{
	while (conn->phase == PHASE_READING && conn->in.len > 0) {
		int step;

		if (conn->req.head_len == 0) {
			step = http_parse_head(&conn->req, &conn->in);
			if (step == HTTP_WHOLE)
				take_head(conn);
		} else {
			step = http_parse_body(&conn->req, &conn->in);
			if (step == HTTP_WHOLE && conn->printer)
				work_whole(conn);
			else if (step == HTTP_WHOLE)
				control_whole(conn);
		}
		if (step == HTTP_MORE)
			return;
		if (step != HTTP_WHOLE)
			refuse_broken(conn, step);
	}
}

static void read_some(struct conn *conn)
{
	ssize_t got = recv(conn->fd, shop.scratch, sizeof shop.scratch, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		conn_drop(conn, true);
		return;
	}
	if (conn->phase == PHASE_LINGERING)
		return;
	buf_add(&conn->in, shop.scratch, (size_t)got);
	if (conn->in.failed)
		conn_drop(conn, false);
	else
		conn_advance(conn);
}

void conn_event(struct conn *conn, uint32_t events)
{
	switch (conn->phase) {
	case PHASE_CLOSED: return;
	case PHASE_READING:
	case PHASE_LINGERING: read_some(conn); return;
	case PHASE_WRITING:
		flush(conn);
		conn_advance(conn);
		return;
	case PHASE_HELD:
	case PHASE_DELAYED:
	case PHASE_WATCHING:
	case PHASE_SILENT:
		if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			conn_drop(conn, true);
		return;
	}
}
