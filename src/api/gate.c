/* gate.c: see gate.h. */
#include "api/gate.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/clock.h"

#define HEADER_BYTES 8
#define TYPE_BEGIN 1
#define TYPE_PARAMS 4
#define TYPE_STDIN 5
#define ROLE_RESPONDER 1

/* One name-value pair being read across records. */
struct pair {
	uint32_t lengths[2];	/* of name and value */
	unsigned int which;	/* the length being read; 2: both are known */
	unsigned int bytes_due; /* of a length in four bytes */
	size_t content_due;
};

/* False: the pair announces more than any request may have. */
static bool take_byte(struct pair *pair, unsigned char byte)
{
	if (pair->which == 2) {
		if (--pair->content_due == 0)
			*pair = (struct pair){ .which = 0 };
		return true;
	}
	if (pair->bytes_due > 0) {
		pair->lengths[pair->which] = pair->lengths[pair->which] << 8 | byte;
		pair->bytes_due--;
	} else if (byte & 0x80) {
		pair->lengths[pair->which] = byte & 0x7f;
		pair->bytes_due = 3;
	} else {
		pair->lengths[pair->which] = byte;
	}
	if (pair->bytes_due > 0)
		return true;
	if (pair->lengths[pair->which] > GATE_MAX_BYTES)
		return false;
	if (++pair->which == 2) {
		pair->content_due = (size_t)pair->lengths[0] + pair->lengths[1];
		if (pair->content_due == 0)
			*pair = (struct pair){ .which = 0 };
	}
	return true;
}

static bool is_begin(const unsigned char *record, size_t content)
{
	return record[0] == 1 && record[1] == TYPE_BEGIN && (record[2] || record[3]) &&
	       content == 8 && record[HEADER_BYTES] == 0 &&
	       record[HEADER_BYTES + 1] == ROLE_RESPONDER;
}

static bool is_of(const unsigned char *begin, const unsigned char *record, unsigned char type)
{
	return record[0] == 1 && record[1] == type && record[2] == begin[2] &&
	       record[3] == begin[3];
}

/* Whether the body ends in these bytes, whose parameters end at `at`. */
static bool has_body(const unsigned char *bytes, size_t at, size_t len)
{
	while (at + HEADER_BYTES <= len && is_of(bytes, bytes + at, TYPE_STDIN)) {
		size_t content = (size_t)bytes[at + 4] << 8 | bytes[at + 5];

		if (content == 0)
			return true;
		at += HEADER_BYTES + content + bytes[at + 6];
	}
	return false;
}

enum gate gate_check(const unsigned char *bytes, size_t len)
{
	struct pair pair = { .which = 0 };
	size_t at = HEADER_BYTES + 8;

	if (len < at)
		return GATE_MORE;
	if (!is_begin(bytes, (size_t)bytes[4] << 8 | bytes[5]))
		return GATE_BAD;
	at += bytes[6];
	while (at + HEADER_BYTES <= len) {
		const unsigned char *record = bytes + at;
		size_t content = (size_t)record[4] << 8 | record[5];
		size_t here = len - at - HEADER_BYTES < content ? len - at - HEADER_BYTES : content;

		if (!is_of(bytes, record, TYPE_PARAMS))
			return GATE_BAD;
		if (content == 0) { /* the end, which must not cut a pair */
			if (pair.which != 0 || pair.bytes_due != 0)
				return GATE_BAD;
			at += HEADER_BYTES + record[6];
			return has_body(bytes, at, len) ? GATE_WHOLE : GATE_GOOD;
		}
		for (size_t i = 0; i < here; i++)
			if (!take_byte(&pair, record[HEADER_BYTES + i]))
				return GATE_BAD;
		at += HEADER_BYTES + content + record[6];
	}
	return len < GATE_MAX_BYTES ? GATE_MORE : GATE_BAD;
}

static enum gate look(int fd, unsigned char *scratch, bool *any_out)
{
	ssize_t len = recv(fd, scratch, GATE_MAX_BYTES, MSG_PEEK | MSG_DONTWAIT);

	*any_out = len > 0;
	if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
		return GATE_BAD;
	return len > 0 ? gate_check(scratch, (size_t)len) : GATE_MORE;
}

enum gate gate_look(int fd, unsigned char *scratch)
{
	bool any;

	return look(fd, scratch, &any);
}

/* Bytes that are unread would end any wait for POLLIN at once, so a head that arrives in pieces is
 * looked at again every millisecond. It almost never does: web servers write it in one go. */
enum gate gate_wait(int fd, unsigned char *scratch, int wait_ms)
{
	const int64_t until = clock_monotonic_ms() + wait_ms;
	short awaited = POLLIN | POLLRDHUP;
	bool gone = false;

	for (;;) {
		bool any;
		enum gate gate = look(fd, scratch, &any);
		struct pollfd p = { .fd = fd };

		if (gate != GATE_MORE)
			return gate;
		if (gone || clock_monotonic_ms() >= until)
			return GATE_BAD;
		if (any)
			awaited = POLLRDHUP;
		p.events = awaited;
		if (poll(&p, 1, any ? 1 : wait_ms) > 0)
			gone = (p.revents & (POLLHUP | POLLRDHUP | POLLERR)) !=
			       0; /* all that comes is here */
	}
}
