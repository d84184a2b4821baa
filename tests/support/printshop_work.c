/* printshop_work.c: a request to a printer: what is printed, what is answered, and how the answer
 * is spoiled.
 *
 * Whatever leaves the caller in doubt has printed its sheet: a stall, a reset, a cut answer, a 502.
 * That is the worst case, and the one that a caller must survive. Nothing is printed where the
 * answer says so for certain. */
#include "printshop_conn.h"

#include <inttypes.h>
#include <string.h>

#include "printshop_chat.h"

enum {
	CLOSING_MODES = MODE_CUT | MODE_CHUNKED_CUT | MODE_TWO_LENGTHS | MODE_CLOSE_DELIMITED |
			MODE_CLOSE_CUT,
	CUT_LENGTH = 100, /* what a cut answer promises, */
	CUT_BYTES = 5,	  /* and what it brings */
	STORED_BLOCK_BYTES = 65535,
};

static bool has(const struct conn *conn, unsigned int flags)
{
	return conn->modes.flags & flags;
}

static int answer_status(const struct modes *modes)
{
	if (modes->redirect)
		return modes->redirect;
	if (modes->status)
		return modes->status;
	if (modes->flags & MODE_IN_PROGRESS)
		return 409;
	return modes->flags & MODE_204 ? 204 : 200;
}

/* What the statuses mean is the usual reading: these say for certain that nothing was done. */
static bool status_prints(const struct modes *modes, int status)
{
	switch (status) {
	case 501:
	case 505: return false;
	case 503: return modes->retry_after_count == 0;
	case 301:
	case 302:
	case 303:
	case 408: return true;
	}
	return status < 300 || status >= 500;
}

static void add_key(const struct conn *conn, struct buf *out)
{
	if (conn->key)
		buf_add_json(out, conn->key->key, conn->key->len);
	else
		buf_add_str(out, "null");
}

/* sheet 0: none was printed */
static void add_default(const struct conn *conn, uint64_t sheet, struct buf *out)
{
	buf_addf(out, "{\"printer\":\"%s\",\"copies\":%d,\"sheet\":", conn->printer->name,
		 sheet > 0);
	if (sheet > 0)
		buf_addf(out, "%" PRIu64, sheet);
	else
		buf_add_str(out, "null");
	buf_add_str(out, ",\"key\":");
	add_key(conn, out);
	buf_add(out, "}", 1);
}

static void add_echo(const struct conn *conn, struct buf *out)
{
	buf_add_str(out, "{\"received\":");
	if (conn->req.body_len > 0)
		buf_add(out, conn->in.bytes + conn->req.head_len, conn->req.body_len);
	else
		buf_add_str(out, "null");
	buf_add_str(out, ",\"headers\":");
	http_write_headers(&conn->req, conn->in.bytes, out);
	buf_add(out, "}", 1);
}

static void add_big(size_t len, struct buf *out)
{
	char *room = buf_room(out, len);

	if (!room)
		return;
	memset(room, 'x', len);
	room[0] = room[len - 1] = '"';
	out->len += len;
}

static void write_body(struct conn *conn, uint64_t sheet, struct buf *out)
{
	if (conn->modes.has_body) {
		buf_add(out, conn->modes.body.bytes, conn->modes.body.len);
	} else if (conn->modes.big_bytes > 0) {
		add_big(conn->modes.big_bytes, out);
	} else if (has(conn, MODE_IN_PROGRESS)) {
		buf_add_str(out, "{\"error\":\"in-progress\",\"key\":");
		add_key(conn, out);
		buf_add(out, "}", 1);
	} else if (has(conn, MODE_NONJSON)) {
		conn->type = "text/plain";
		buf_add_str(out, "printed");
	} else if (has(conn, MODE_DUP_MEMBER)) {
		buf_addf(out, "{\"copies\":1,\"sheet\":%" PRIu64 ",\"copies\":2}", sheet);
	} else if (has(conn, MODE_NAN)) {
		buf_addf(out, "{\"copies\":NaN,\"sheet\":%" PRIu64 "}", sheet);
	} else if (has(conn, MODE_FENCE)) {
		buf_add_str(out, "```json\n");
		add_default(conn, sheet, out);
		buf_add_str(out, "\n```\n");
	} else if (has(conn, MODE_ECHO)) {
		add_echo(conn, out);
	} else {
		add_default(conn, sheet, out);
	}
	if (conn->modes.type[0])
		conn->type = conn->modes.type;
}

/* What the modes say besides, a body or a status of their own, goes before. */
static void write_chat(struct conn *conn)
{
	const char *type;
	int status = chat_answer(conn->modes.chat, conn->in.bytes + conn->req.head_len,
				 conn->req.body_len, &conn->modes.body, &type);

	conn->modes.has_body = true;
	if (status != 200 && !conn->modes.status)
		conn->modes.status = status;
	if (!conn->modes.type[0])
		memcpy(conn->modes.type, type, strlen(type) + 1);
}

/* Prints, or finds what was printed under this key before. */
static void print(struct conn *conn, int status)
{
	struct key_row *key =
		has(conn, MODE_HONOUR) && !has(conn, MODE_IN_PROGRESS) ? conn->key : NULL;
	bool prints = status_prints(&conn->modes, status);

	conn->type = "application/json";
	if (key && key->answer) {
		buf_add(&conn->body, key->answer, key->answer_len);
		conn->type = key->type;
		conn->replayed = true;
		return;
	}
	write_body(conn, prints ? ++conn->printer->sheets : 0, &conn->body);
	if (key && prints)
		book_keep_answer(key, &conn->body, conn->type);
}

static void add_le(struct buf *out, uint32_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_add(out, &(unsigned char){ (unsigned char)(number >> (8 * i)) }, 1);
}

/* CRC-32 as in RFC 1952, section 8, one bit at a time. */
static uint32_t crc32_of(const struct buf *buf)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < buf->len; i++) {
		crc ^= (unsigned char)buf->bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
	}
	return ~crc;
}

/* Stored blocks (RFC 1951, 3.2.4): whole gzip, nothing compressed. */
static void gzip(struct buf *body)
{
	static const unsigned char head[10] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF };
	struct buf out = { 0 };
	size_t at = 0;

	buf_add(&out, head, sizeof head);
	do {
		size_t len =
			body->len - at < STORED_BLOCK_BYTES ? body->len - at : STORED_BLOCK_BYTES;

		add_le(&out, at + len == body->len, 1);
		add_le(&out, (uint32_t)len, 2);
		add_le(&out, ~(uint32_t)len, 2);
		if (len > 0)
			buf_add(&out, body->bytes + at, len);
		at += len;
	} while (at < body->len);
	add_le(&out, crc32_of(body), 4);
	add_le(&out, (uint32_t)body->len, 4);
	buf_release(body);
	*body = out;
}

static void add_chunk(struct buf *out, const char *bytes, size_t len)
{
	if (len == 0)
		return;
	buf_addf(out, "%zx\r\n", len);
	buf_add(out, bytes, len);
	buf_add(out, "\r\n", 2);
}

/* The end of the header, then the body, each in its own way wrong or right. */
static void add_framed(struct conn *conn, int status)
{
	struct buf *out = &conn->out, *body = &conn->body;
	size_t send =
		conn->req.method.len == 4 && memcmp(conn->in.bytes, "HEAD", 4) == 0 ? 0 : body->len;

	if (status == 204 || status == 304) {
		buf_add(out, "\r\n", 2);
		return;
	}
	if (has(conn, MODE_CUT | MODE_CUT_STALL)) {
		buf_addf(out, "Content-Length: %d\r\n\r\n", CUT_LENGTH);
		send = send < CUT_BYTES ? send : CUT_BYTES;
	} else if (has(conn, MODE_CHUNKED | MODE_CHUNKED_CUT)) {
		buf_add_str(out, "Transfer-Encoding: chunked\r\n\r\n");
		add_chunk(out, body->bytes, send / 2);
		add_chunk(out, body->bytes + send / 2, send - send / 2);
		if (!has(conn, MODE_CHUNKED_CUT))
			buf_add_str(out, "0\r\n\r\n");
		return;
	} else if (has(conn, MODE_CLOSE_DELIMITED | MODE_CLOSE_CUT)) {
		buf_add(out, "\r\n", 2);
		if (has(conn, MODE_CLOSE_CUT))
			send /= 2;
	} else {
		if (has(conn, MODE_TWO_LENGTHS))
			buf_addf(out, "Content-Length: %zu\r\n", body->len + 7);
		buf_addf(out, "Content-Length: %zu\r\n\r\n", body->len);
	}
	buf_add(out, body->bytes, send);
}

static void add_answer(struct conn *conn, int status, bool keep)
{
	struct buf *out = &conn->out;

	if (has(conn, MODE_EARLY_HINTS))
		buf_add_str(out, "HTTP/1.1 103 Early Hints\r\nLink: </paper>; rel=preload\r\n\r\n");
	buf_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, conn_reason(status),
		 conn->type);
	for (int i = 0; i < conn->modes.retry_after_count; i++)
		buf_addf(out, "Retry-After: %s\r\n", conn->modes.retry_after[i]);
	if (conn->modes.redirect)
		buf_addf(out, "Location: /%s-elsewhere/here\r\n", conn->printer->name);
	if (has(conn, MODE_GZIP | MODE_BAD_GZIP))
		buf_add_str(out, "Content-Encoding: gzip\r\n");
	if (conn->replayed)
		buf_add_str(out, "Idempotent-Replayed: true\r\n");
	if (!keep)
		buf_add_str(out, "Connection: close\r\n");
	else if (conn->req.http10)
		buf_add_str(out, "Connection: keep-alive\r\n");
	add_framed(conn, status);
}

static void send_answer(struct conn *conn)
{
	int status = answer_status(&conn->modes);
	bool keep = conn->req.keep_alive && !has(conn, CLOSING_MODES);

	if (has(conn, MODE_RESET)) {
		conn_end(conn, AFTER_RESET);
		return;
	}
	if (has(conn, MODE_EMPTY)) {
		conn_end(conn, AFTER_CLOSE);
		return;
	}
	if (has(conn, MODE_GARBAGE)) {
		buf_add(&conn->out, "\x01\xFE\0PC LOAD LETTER\x80\r\n\r\n", 22);
		conn_end(conn, AFTER_CLOSE);
		return;
	}
	if (has(conn, MODE_NOBODY))
		buf_clear(&conn->body);
	if (has(conn, MODE_GZIP))
		gzip(&conn->body);
	add_answer(conn, status, keep);
	if (conn->body.failed)
		conn_end(conn, AFTER_CLOSE);
	else if (has(conn, MODE_CUT_STALL))
		conn_end(conn, AFTER_SILENCE);
	else
		conn_end(conn, keep ? AFTER_KEEP : AFTER_CLOSE);
}

/* An answer before the body has been read: nothing is printed. */
static void refuse_early(struct conn *conn, int status, bool keep)
{
	conn->type = conn->modes.type[0] ? conn->modes.type : "application/json";
	if (conn->modes.has_body)
		buf_add(&conn->body, conn->modes.body.bytes, conn->modes.body.len);
	else
		add_default(conn, 0, &conn->body);
	conn->modes.flags = 0;
	add_answer(conn, status, keep);
	conn_end(conn, keep ? AFTER_KEEP : AFTER_LINGER);
}

static bool read_modes(struct conn *conn, const char *path, size_t len)
{
	static const char prefix[] = "no such mode: ";
	struct buf flaw = { 0 };
	const char *set = conn->printer->mode;

	buf_add_str(&flaw, prefix);
	bool fine = modes_add(&conn->modes, path, len, &flaw);
	if (fine && set)
		fine = modes_add(&conn->modes, set, strlen(set), &flaw);
	if (!fine)
		conn_refuse(conn, 400, flaw.bytes, flaw.len);
	buf_release(&flaw);
	return fine;
}

/* False: the book is full, and that is said rather than counted wrong. */
static bool enter(struct conn *conn)
{
	struct buf key = { 0 };
	bool fine = true;

	conn->number = book_open(conn->printer, conn_now_ms(), conn->id, conn->in.bytes,
				 conn->req.head_len);
	conn->reading = true;
	conn->work_count++;
	conn->key = NULL;
	if (http_header(&conn->req, conn->in.bytes, "idempotency-key", &key)) {
		conn->key = book_key(conn->printer, key.bytes ? key.bytes : "", key.len);
		fine = conn->key;
	}
	buf_release(&key);
	return fine;
}

void work_head(struct conn *conn)
{
	const char *path = conn->in.bytes + conn->req.target.at + 1;
	size_t len = conn->req.target.len - 1;
	const char *query = memchr(path, '?', len);

	if (query)
		len = (size_t)(query - path);
	const char *slash = memchr(path, '/', len);
	size_t name_len = slash ? (size_t)(slash - path) : len;
	if (!book_name_ok(path, name_len)) {
		conn_refuse(conn, 404, "no such printer", 15);
		return;
	}
	conn->printer = book_printer(path, name_len);
	if (!conn->printer || !enter(conn)) {
		conn_refuse(conn, 507, "the book is full", 16);
		return;
	}
	if (!read_modes(conn, path + name_len, len - name_len))
		return;
	if (has(conn, MODE_RESET_EARLY))
		conn_end(conn, AFTER_RESET);
	else if (has(conn, MODE_REFUSE_BODY))
		refuse_early(conn, conn->modes.status ? conn->modes.status : 413, false);
	else if (has(conn, MODE_417) && conn->req.expects_continue)
		refuse_early(conn, 417, conn->req.keep_alive && conn->in.len == conn->req.head_len);
	else if (!has(conn, MODE_100_IGNORE))
		conn_continue(conn);
}

void work_whole(struct conn *conn)
{
	conn->reading = false;
	book_read(conn->printer, conn->number, conn->in.bytes + conn->req.head_len,
		  conn->req.body_len, true);
	if (has(conn, MODE_KEEPALIVE_DROP) && conn->work_count > 1)
		conn->modes.flags |= MODE_EMPTY;
	if (conn->modes.chat != CHAT_NONE && !conn->modes.has_body)
		write_chat(conn);
	print(conn, answer_status(&conn->modes));
	if (has(conn, MODE_STALL))
		conn_hold(conn, PHASE_HELD);
	else if (conn->modes.delay_ms > 0)
		conn_hold_ms(conn, PHASE_DELAYED, conn->modes.delay_ms);
	else
		send_answer(conn);
}

void work_resume(struct conn *conn)
{
	send_answer(conn);
}
