/* printshop_http.c: see the header. */
#include "printshop_http.h"

#include <string.h>
#include <strings.h>

enum {
	CHUNK_LINE_BYTES_MAX = 256,
	LENGTH_MAX = 1 << 30, /* beyond it a length isn't even looked at */
};

static bool is_token(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool span_is(const char *bytes, struct span span, const char *word)
{
	return span.len == strlen(word) && strncasecmp(bytes + span.at, word, span.len) == 0;
}

/* Decimal digits alone; false also past `max`. */
static bool parse_size(const char *bytes, struct span span, size_t max, size_t *size_out)
{
	size_t size = 0;

	for (size_t i = 0; i < span.len; i++) {
		char c = bytes[span.at + i];

		if (c < '0' || c > '9')
			return false;
		size = size * 10 + (size_t)(c - '0');
		if (size > max)
			return false;
	}
	*size_out = size;
	return span.len > 0;
}

static int find_head_end(struct request *req, const char *bytes, size_t len)
{
	while (req->scanned < len) {
		const char *line_end = memchr(bytes + req->scanned, '\n', len - req->scanned);

		if (!line_end) {
			req->scanned = len;
			break;
		}
		size_t at = (size_t)(line_end - bytes);
		req->scanned = at + 1;
		if (at < 2 || bytes[at - 1] != '\r')
			return 400;
		if (bytes[at - 2] == '\n') {
			req->head_len = at + 1;
			return at < HTTP_HEAD_BYTES_MAX ? HTTP_WHOLE : 431;
		}
	}
	return len > HTTP_HEAD_BYTES_MAX ? 431 : HTTP_MORE;
}

/* METHOD SP /target SP HTTP/1.x */
static bool parse_request_line(struct request *req, const char *bytes, size_t len)
{
	const char *first = memchr(bytes, ' ', len);
	const char *second =
		first ? memchr(first + 1, ' ', len - (size_t)(first + 1 - bytes)) : NULL;

	if (!second || bytes + len - (second + 1) != 8 || memcmp(second + 1, "HTTP/1.", 7) != 0)
		return false;
	req->method = (struct span){ 0, (size_t)(first - bytes) };
	req->target = (struct span){ req->method.len + 1, (size_t)(second - first) - 1 };
	for (size_t i = 0; i < req->method.len; i++) {
		if (!is_token((unsigned char)bytes[i]))
			return false;
	}
	for (const char *at = first + 1; at < second; at++) {
		if (*at < 0x21 || *at > 0x7E)
			return false;
	}
	req->http10 = second[8] == '0';
	req->keep_alive = !req->http10;
	return req->method.len > 0 && req->target.len > 0 && first[1] == '/' &&
	       (second[8] == '1' || second[8] == '0');
}

static bool parse_header_line(struct request *req, const char *bytes, size_t at, size_t end)
{
	const char *colon = memchr(bytes + at, ':', end - at);

	if (!colon || colon == bytes + at || req->header_count == HTTP_HEADERS_MAX)
		return false;
	size_t from = (size_t)(colon - bytes) + 1;
	struct span name = { at, from - 1 - at };
	for (size_t i = 0; i < name.len; i++) {
		if (!is_token((unsigned char)bytes[at + i]))
			return false;
	}
	for (size_t i = from; i < end; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < 0x20 && c != '\t') || c == 0x7F)
			return false;
	}
	while (from < end && (bytes[from] == ' ' || bytes[from] == '\t'))
		from++;
	while (end > from && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t'))
		end--;
	req->names[req->header_count] = name;
	req->values[req->header_count++] = (struct span){ from, end - from };
	return true;
}

/* What the headers say about the framing. */
static int read_framing(struct request *req, const char *bytes)
{
	bool has_length = false;

	for (size_t i = 0; i < req->header_count; i++) {
		struct span name = req->names[i], value = req->values[i];

		if (span_is(bytes, name, "content-length")) {
			if (has_length || req->chunked ||
			    !parse_size(bytes, value, LENGTH_MAX, &req->content_length))
				return 400;
			has_length = true;
		} else if (span_is(bytes, name, "transfer-encoding")) {
			if (has_length || req->chunked || req->http10 ||
			    !span_is(bytes, value, "chunked"))
				return 400;
			req->chunked = true;
		} else if (span_is(bytes, name, "connection")) {
			if (span_is(bytes, value, "close"))
				req->keep_alive = false;
			else if (span_is(bytes, value, "keep-alive"))
				req->keep_alive = true;
		} else if (span_is(bytes, name, "expect")) {
			req->expects_continue =
				!req->http10 && span_is(bytes, value, "100-continue");
		}
	}
	return req->content_length > HTTP_BODY_BYTES_MAX ? 413 : HTTP_WHOLE;
}

int http_parse_head(struct request *req, const struct buf *in)
{
	const char *bytes = in->bytes;

	if (in->len > 0 && !is_token((unsigned char)bytes[0]))
		return 400;
	int step = find_head_end(req, bytes, in->len);
	if (step != HTTP_WHOLE)
		return step;
	for (size_t at = 0; at + 2 < req->head_len;) {
		const char *line_end = memchr(bytes + at, '\r', req->head_len - at);
		size_t end = (size_t)(line_end - bytes);

		if (line_end[1] != '\n')
			return 400;
		bool fine = at == 0 ? parse_request_line(req, bytes, end)
				    : parse_header_line(req, bytes, at, end);
		if (!fine)
			return req->header_count == HTTP_HEADERS_MAX ? 431 : 400;
		at = end + 2;
	}
	return read_framing(req, bytes);
}

/* A chunk's size line at `at`: hexadecimal digits, extensions passed over. */
static int parse_chunk_size(struct request *req, const char *line, size_t len)
{
	size_t size = 0, digits = 0;

	for (; digits < len; digits++) {
		unsigned char c = (unsigned char)(line[digits] | 0x20);
		size_t digit;

		if (c >= '0' && c <= '9')
			digit = c - (size_t)'0';
		else if (c >= 'a' && c <= 'f')
			digit = c - (size_t)'a' + 10;
		else
			break;
		size = size * 16 + digit;
		if (size > HTTP_BODY_BYTES_MAX)
			return 413;
	}
	if (digits == 0 || (digits < len && line[digits] != ';' && line[digits] != ' '))
		return 400;
	if (size > HTTP_BODY_BYTES_MAX - req->body_len)
		return 413;
	req->chunk_left = size;
	req->chunk_state = size > 0 ? CHUNK_DATA : CHUNK_TRAILER;
	return HTTP_WHOLE;
}

/* One line of the chunked framing, which begins at `at`; `used_out` is its length with CRLF. */
static int parse_chunk_line(struct request *req, const char *line, size_t len, size_t *used_out)
{
	const char *line_end = memchr(line, '\n', len);

	if (!line_end)
		return len > CHUNK_LINE_BYTES_MAX ? 400 : HTTP_MORE;
	size_t used = (size_t)(line_end - line) + 1;
	if (used > CHUNK_LINE_BYTES_MAX || used < 2 || line[used - 2] != '\r')
		return 400;
	*used_out = used;
	switch (req->chunk_state) {
	case CHUNK_SIZE: return parse_chunk_size(req, line, used - 2);
	case CHUNK_END: req->chunk_state = CHUNK_SIZE; return used == 2 ? HTTP_WHOLE : 400;
	case CHUNK_TRAILER:
		req->trailer_len += used;
		return req->trailer_len > HTTP_HEAD_BYTES_MAX ? 431 : HTTP_WHOLE;
	case CHUNK_DATA: break;
	}
	return 400;
}

/* Data moves down to the end of what is decoded; what isn't decoded yet follows it without a gap at
 * the end. */
static int parse_chunks(struct request *req, struct buf *in)
{
	size_t at = req->head_len + req->body_len;
	int step = HTTP_MORE;
	bool last = false;

	while (at < in->len && !last) {
		size_t used = 0;

		if (req->chunk_state == CHUNK_DATA) {
			used = in->len - at < req->chunk_left ? in->len - at : req->chunk_left;
			memmove(in->bytes + req->head_len + req->body_len, in->bytes + at, used);
			req->body_len += used;
			req->chunk_left -= used;
			if (req->chunk_left == 0)
				req->chunk_state = CHUNK_END;
		} else {
			bool in_trailer = req->chunk_state == CHUNK_TRAILER;

			step = parse_chunk_line(req, in->bytes + at, in->len - at, &used);
			if (step != HTTP_WHOLE)
				break;
			last = in_trailer && used == 2;
		}
		at += used;
	}
	size_t end = req->head_len + req->body_len;
	memmove(in->bytes + end, in->bytes + at, in->len - at);
	in->len -= at - end;
	if (last)
		return HTTP_WHOLE;
	return step == HTTP_WHOLE ? HTTP_MORE : step;
}

int http_parse_body(struct request *req, struct buf *in)
{
	if (req->chunked)
		return parse_chunks(req, in);
	size_t have = in->len - req->head_len;
	req->body_len = have < req->content_length ? have : req->content_length;
	return req->body_len == req->content_length ? HTTP_WHOLE : HTTP_MORE;
}

static bool same_name(const struct request *req, const char *bytes, size_t one, size_t other)
{
	return req->names[one].len == req->names[other].len &&
	       strncasecmp(bytes + req->names[one].at, bytes + req->names[other].at,
			   req->names[one].len) == 0;
}

static void join_values(const struct request *req, const char *bytes, size_t first, struct buf *out)
{
	buf_add(out, bytes + req->values[first].at, req->values[first].len);
	for (size_t i = first + 1; i < req->header_count; i++) {
		if (!same_name(req, bytes, first, i))
			continue;
		buf_add(out, ", ", 2);
		buf_add(out, bytes + req->values[i].at, req->values[i].len);
	}
}

bool http_header(const struct request *req, const char *bytes, const char *name,
		 struct buf *value_out)
{
	for (size_t i = 0; i < req->header_count; i++) {
		if (span_is(bytes, req->names[i], name)) {
			join_values(req, bytes, i, value_out);
			return true;
		}
	}
	return false;
}

static bool seen_before(const struct request *req, const char *bytes, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (same_name(req, bytes, i, index))
			return true;
	}
	return false;
}

void http_write_headers(const struct request *req, const char *bytes, struct buf *out)
{
	const char *comma = "";
	struct buf value = { 0 };

	buf_add(out, "{", 1);
	for (size_t i = 0; i < req->header_count; i++) {
		if (seen_before(req, bytes, i))
			continue;
		buf_add_str(out, comma);
		buf_add(out, "\"", 1);
		for (size_t j = 0; j < req->names[i].len; j++) {
			char c = bytes[req->names[i].at + j];

			if (c >= 'A' && c <= 'Z')
				c = (char)(c | 0x20);
			buf_add(out, &c, 1);
		}
		buf_add(out, "\":", 2);
		buf_clear(&value);
		join_values(req, bytes, i, &value);
		buf_add_json(out, value.bytes, value.len);
		comma = ",";
	}
	buf_add(out, "}", 1);
	buf_release(&value);
}
