/* printshop_http.h: one HTTP/1.1 request out of a buffer that grows, RFC 9112, strict: lines end in
 * CRLF, no folded headers, one Content-Length or one Transfer-Encoding: chunked. Every byte is
 * hostile. */
#ifndef PRINTSHOP_HTTP_H
#define PRINTSHOP_HTTP_H

#include "printshop_buf.h"

enum {
	HTTP_HEAD_BYTES_MAX = 64 << 10,
	HTTP_BODY_BYTES_MAX = 8 << 20,
	HTTP_HEADERS_MAX = 128,
	/* what the steps return besides a status to refuse with */
	HTTP_MORE = 0,
	HTTP_WHOLE = 1,
};

enum chunk_state { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER };

struct span {
	size_t at; /* offset in the buffer, so that the buffer may move */
	size_t len;
};

struct request {
	size_t scanned;
	size_t head_len; /* 0 until the empty line was seen; the body begins here */
	struct span method;
	struct span target;
	struct span names[HTTP_HEADERS_MAX];
	struct span values[HTTP_HEADERS_MAX];
	size_t header_count;
	bool http10;
	bool keep_alive;
	bool expects_continue;
	bool chunked;
	size_t content_length;
	size_t body_len; /* decoded so far */
	enum chunk_state chunk_state;
	size_t chunk_left;
	size_t trailer_len;
};

/* HTTP_MORE, HTTP_WHOLE (head_len is set), or the status to refuse with: 400, 413, 431. */
int http_parse_head(struct request *req, const struct buf *in);

/* The same for the body. When it is whole it lies unchunked at head_len, body_len long; what
 * follows it in the buffer is the next request. */
int http_parse_body(struct request *req, struct buf *in);

/* A header's value, equal names joined with ", "; false where there is none. `name` is in lower
 * case. */
bool http_header(const struct request *req, const char *bytes, const char *name,
		 struct buf *value_out);

/* {"name": "value", ...}: names in lower case, equal names joined with ", ". */
void http_write_headers(const struct request *req, const char *bytes, struct buf *out);

#endif
