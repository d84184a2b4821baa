/* printshop_control.c: what a test or a demo asks of the shop itself, under /shop/.
 *
 * GET  /shop/counts
 *	{"inkjet": {"requests", "sheets", "distinct_keys", "open", "hung_up", "peak"}, ...}
 * GET  /shop/requests [?printer=]
 *	Every request received, in order: {"printer", "at_ms" (monotonic), "method", "path",
 *	"connection", "whole" (its body was read to the end), "key", "traceparent", "user_agent",
 *	"headers", "body" (4096 bytes at most)}; the last 20000, or 64 MiB of them.
 * PUT  /shop/mode ?printer=&mode=LIST
 *	See printshop_modes.h. It holds in addition to what a path says, from the next request on;
 *	an empty list is normal.
 * POST /shop/release ?printer=
 *	What is stalled is answered now: {"released": N}.
 * POST /shop/reset
 *	Hangs up on every open work request and zeroes everything.
 * GET  /shop/wait ?printer=&timeout_ms= (5000), and one or more of
 *	requests= sheets= hung_up= (at least so many), open= (exactly so many)
 *	200 as soon as all of them hold together, else 408; both with the printer's counts.
 *	requests= means those read to their end, so that what was received can be looked at. */
#include "printshop_conn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { WAIT_MS = 5000, WAIT_MS_MAX = 600000, MODE_LIST_BYTES_MAX = 64 << 10 };

enum param {
	PARAM_PRINTER,
	PARAM_MODE,
	PARAM_REQUESTS,
	PARAM_SHEETS,
	PARAM_HUNG_UP,
	PARAM_OPEN,
	PARAM_TIMEOUT_MS,
	PARAM__MAX
};

static const char *const param_names[PARAM__MAX] = {
	[PARAM_PRINTER] = "printer",	   [PARAM_MODE] = "mode",
	[PARAM_REQUESTS] = "requests",	   [PARAM_SHEETS] = "sheets",
	[PARAM_HUNG_UP] = "hung_up",	   [PARAM_OPEN] = "open",
	[PARAM_TIMEOUT_MS] = "timeout_ms",
};

struct query {
	unsigned int given; /* 1 << param */
	struct buf printer;
	struct buf mode;
	uint64_t numbers[PARAM__MAX];
};

enum {
	PRINTER = 1 << PARAM_PRINTER,
	MODE = 1 << PARAM_MODE,
	CONDITIONS = 1 << PARAM_REQUESTS | 1 << PARAM_SHEETS | 1 << PARAM_HUNG_UP | 1 << PARAM_OPEN,
	WAIT = CONDITIONS | 1 << PARAM_TIMEOUT_MS
};

static void answer(struct conn *conn, int status, const struct buf *body)
{
	buf_addf(
		&conn->out,
		"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
		status, conn_reason(status), body->len + 1,
		conn->req.keep_alive ? "" : "Connection: close\r\n");
	buf_add(&conn->out, body->bytes, body->len);
	buf_add(&conn->out, "\n", 1);
	if (body->failed)
		conn->out.failed = true;
	conn_end(conn, conn->req.keep_alive ? AFTER_KEEP : AFTER_CLOSE);
}

static void refuse(struct conn *conn, int status, const char *detail)
{
	conn_refuse(conn, status, detail, strlen(detail));
}

static void show_counts(struct conn *conn, struct query *query)
{
	struct buf body = { 0 };

	(void)query;
	book_write_counts(&body);
	answer(conn, 200, &body);
	buf_release(&body);
}

static void show_requests(struct conn *conn, struct query *query)
{
	struct buf body = { 0 };
	struct printer *only = NULL;

	if (query->given & PRINTER)
		only = book_find(query->printer.bytes, query->printer.len);
	if (query->given & PRINTER && !only)
		buf_add_str(&body, "[]");
	else
		book_write_requests(only, &body);
	answer(conn, 200, &body);
	buf_release(&body);
}

static void set_mode(struct conn *conn, struct query *query)
{
	struct printer *printer = book_printer(query->printer.bytes, query->printer.len);
	struct modes modes = { 0 };
	struct buf body = { 0 };

	buf_add_str(&body, "no such mode: ");
	bool fine = modes_add(&modes, query->mode.bytes, query->mode.len, &body);
	modes_release(&modes);
	char *mode =
		fine && query->mode.len > 0 ? strndup(query->mode.bytes, query->mode.len) : NULL;
	if (!fine) {
		conn_refuse(conn, 400, body.bytes, body.len);
	} else if (!printer || (query->mode.len > 0 && !mode)) {
		refuse(conn, 507, "the book is full");
	} else {
		free(printer->mode);
		printer->mode = mode;
		buf_clear(&body);
		buf_addf(&body, "{\"printer\":\"%s\",\"mode\":", printer->name);
		buf_add_json(&body, mode ? mode : "", query->mode.len);
		buf_add(&body, "}", 1);
		answer(conn, 200, &body);
	}
	buf_release(&body);
}

/* They go out with the timers of this same round: an answer sent from here could start the next
 * request of its connection in the middle of this walk. */
static void release_stalled(struct conn *conn, struct query *query)
{
	const struct printer *printer = book_find(query->printer.bytes, query->printer.len);
	struct buf body = { 0 };
	size_t released = 0;

	for (struct conn *at = conn_first(), *next; at; at = next) {
		next = at->next;
		if (at->phase != PHASE_HELD || at->printer != printer)
			continue;
		conn_hold_ms(at, PHASE_DELAYED, 0);
		released++;
	}
	buf_addf(&body, "{\"released\":%zu}", released);
	answer(conn, 200, &body);
	buf_release(&body);
}

static void reset(struct conn *conn, struct query *query)
{
	struct buf body = { 0 };

	(void)query;
	for (struct conn *at = conn_first(), *next; at; at = next) {
		next = at->next;
		if (at->printer)
			conn_drop(at, false);
	}
	book_reset();
	buf_add_str(&body, "{\"reset\":true}");
	answer(conn, 200, &body);
	buf_release(&body);
}

static bool watch_holds(const struct watch *watch)
{
	static const struct printer never_seen;
	const struct printer *printer = book_find(watch->printer, strlen(watch->printer));

	if (!printer)
		printer = &never_seen;
	return (!(watch->bits & WATCH_REQUESTS) ||
		printer->requests - printer->reading >= watch->requests) &&
	       (!(watch->bits & WATCH_SHEETS) || printer->sheets >= watch->sheets) &&
	       (!(watch->bits & WATCH_HUNG_UP) || printer->hung_up >= watch->hung_up) &&
	       (!(watch->bits & WATCH_OPEN) || printer->open == watch->open);
}

static void answer_watch(struct conn *conn, int status)
{
	const struct printer *printer = book_find(conn->watch.printer, strlen(conn->watch.printer));
	struct buf body = { 0 };

	if (printer)
		book_write_printer(printer, &body);
	else
		buf_add_str(&body, "null");
	answer(conn, status, &body);
	buf_release(&body);
}

static void wait(struct conn *conn, struct query *query)
{
	struct watch *watch = &conn->watch;
	uint64_t timeout_ms =
		query->given & 1 << PARAM_TIMEOUT_MS ? query->numbers[PARAM_TIMEOUT_MS] : WAIT_MS;

	if (!(query->given & CONDITIONS) || timeout_ms > WAIT_MS_MAX) {
		refuse(conn, 400, "wait for what, and for at most 600000 ms");
		return;
	}
	*watch = (struct watch){ .requests = query->numbers[PARAM_REQUESTS],
				 .sheets = query->numbers[PARAM_SHEETS],
				 .hung_up = query->numbers[PARAM_HUNG_UP],
				 .open = query->numbers[PARAM_OPEN] };
	memcpy(watch->printer, query->printer.bytes, query->printer.len);
	watch->bits |= query->given & 1 << PARAM_REQUESTS ? WATCH_REQUESTS : 0;
	watch->bits |= query->given & 1 << PARAM_SHEETS ? WATCH_SHEETS : 0;
	watch->bits |= query->given & 1 << PARAM_HUNG_UP ? WATCH_HUNG_UP : 0;
	watch->bits |= query->given & 1 << PARAM_OPEN ? WATCH_OPEN : 0;
	if (watch_holds(watch))
		answer_watch(conn, 200);
	else
		conn_hold_ms(conn, PHASE_WATCHING, timeout_ms);
}

void control_timed_out(struct conn *conn)
{
	answer_watch(conn, conn->watch.met ? 200 : 408);
}

/* As with a release, the answers go out with the timers. */
void control_check_watches(void)
{
	for (struct conn *at = conn_watching() > 0 ? conn_first() : NULL, *next; at; at = next) {
		next = at->next;
		if (at->phase != PHASE_WATCHING || at->watch.met || !watch_holds(&at->watch))
			continue;
		at->watch.met = true;
		conn_hold_ms(at, PHASE_WATCHING, 0);
	}
}

/* A parameter that the row doesn't take is refused, so that a slip of the pen can't pass unseen. */
static const struct control_row {
	const char *method;
	const char *path;
	unsigned int takes;
	unsigned int needs;
	void (*handle)(struct conn *conn, struct query *query);
} rows[] = {
	{ "GET", "/shop/counts", 0, 0, show_counts },
	{ "GET", "/shop/requests", PRINTER, 0, show_requests },
	{ "PUT", "/shop/mode", PRINTER | MODE, PRINTER | MODE, set_mode },
	{ "POST", "/shop/release", PRINTER, PRINTER, release_stalled },
	{ "POST", "/shop/reset", 0, 0, reset },
	{ "GET", "/shop/wait", PRINTER | WAIT, PRINTER, wait },
};

static bool parse_number(const char *text, size_t len, uint64_t *number_out)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || number > UINT64_MAX / 100)
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*number_out = number;
	return len > 0;
}

static bool parse_pair(struct query *query, unsigned int takes, const char *pair, size_t len)
{
	const char *equals = memchr(pair, '=', len);
	size_t name_len = equals ? (size_t)(equals - pair) : len, at = 0;

	while (at < PARAM__MAX && (strlen(param_names[at]) != name_len ||
				   memcmp(param_names[at], pair, name_len) != 0))
		at++;
	if (!equals || at == PARAM__MAX || !(takes & 1U << at) || query->given & 1U << at)
		return false;
	query->given |= 1U << at;
	const char *value = equals + 1;
	size_t value_len = len - name_len - 1;
	if (at == PARAM_PRINTER)
		return buf_add_urldecoded(&query->printer, value, value_len, true) &&
		       book_name_ok(query->printer.bytes, query->printer.len);
	if (at == PARAM_MODE)
		return buf_add_urldecoded(&query->mode, value, value_len, true) &&
		       (query->mode.len == 0 || !memchr(query->mode.bytes, '\0', query->mode.len));
	return parse_number(value, value_len, &query->numbers[at]);
}

static bool parse_query(struct query *query, unsigned int takes, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		const char *amp = memchr(text + at, '&', len - at);
		size_t end = amp ? (size_t)(amp - text) : len;

		if (!parse_pair(query, takes, text + at, end - at))
			return false;
		at = end + 1;
	}
	return true;
}

bool control_is(const struct conn *conn)
{
	return conn->req.target.len >= 6 &&
	       memcmp(conn->in.bytes + conn->req.target.at, "/shop/", 6) == 0;
}

static void handle(struct conn *conn, const struct control_row *row, const char *text, size_t len)
{
	struct query query = { .mode.cap = MODE_LIST_BYTES_MAX };

	if (!parse_query(&query, row->takes, text, len) || (query.given & row->needs) != row->needs)
		refuse(conn, 400, "a parameter is missing, unknown or not to be read");
	else
		row->handle(conn, &query);
	buf_release(&query.printer);
	buf_release(&query.mode);
}

void control_whole(struct conn *conn)
{
	const char *method = conn->in.bytes + conn->req.method.at;
	const char *target = conn->in.bytes + conn->req.target.at;
	const char *query = memchr(target, '?', conn->req.target.len);
	size_t path_len = query ? (size_t)(query - target) : conn->req.target.len;
	bool known = false;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct control_row *row = &rows[i];

		if (strlen(row->path) != path_len || memcmp(row->path, target, path_len) != 0)
			continue;
		known = true;
		if (strlen(row->method) == conn->req.method.len &&
		    memcmp(row->method, method, conn->req.method.len) == 0) {
			handle(conn, row, query ? query + 1 : "",
			       query ? conn->req.target.len - path_len - 1 : 0);
			return;
		}
	}
	refuse(conn, known ? 405 : 404,
	       known ? "not with this method" : "the shop has no such desk");
}
