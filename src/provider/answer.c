#include "provider/answer.h"

#include <string.h>
#include <strings.h>

#include "core/retry_after.h"

void answer_init(struct answer *answer, size_t body_max_bytes)
{
	memset(answer, 0, sizeof *answer);
	text_init(&answer->body, body_max_bytes);
}

void answer_release(struct answer *answer)
{
	text_release(&answer->body);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* HTTP/1.1 200 OK */
static uint32_t status_of(const char *line, size_t len)
{
	const char *blank = memchr(line, ' ', len);

	if (!blank || line + len - blank < 4 || !is_digit(blank[1]) || !is_digit(blank[2]) ||
	    !is_digit(blank[3]))
		return 0;
	return (uint32_t)((blank[1] - '0') * 100 + (blank[2] - '0') * 10 + (blank[3] - '0'));
}

static void answer_restart(struct answer *answer, uint32_t status)
{
	answer->status = status;
	answer->header_done = false;
	answer->chunked = false;
	answer->encoded = false;
	answer->two_lengths = false;
	answer->has_length = false;
	answer->length = 0;
	memset(&answer->retry_after, 0, sizeof answer->retry_after);
	memset(&answer->date, 0, sizeof answer->date);
}

static void trim(const char **text, size_t *len)
{
	while (*len > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
		(*text)++;
		(*len)--;
	}
	while (*len > 0 && strchr(" \t\r\n", (*text)[*len - 1]))
		(*len)--;
}

static void value_note(struct header_value *value, const char *text, size_t len)
{
	value->sighting = value->sighting == SEEN_NEVER ? SEEN_ONCE : SEEN_TWICE;
	value->len = len < sizeof value->bytes ? len : 0;
	memcpy(value->bytes, text, value->len);
}

/* "5" or, as some proxies join two lines, "5, 5". Two lengths that differ, or one that is no
 * number, can't be relied on. */
static void lengths_note(struct answer *answer, const char *text, size_t len)
{
	for (size_t start = 0; start <= len;) {
		const char *comma = memchr(text + start, ',', len - start);
		size_t end = comma ? (size_t)(comma - text) : len;
		const char *part = text + start;
		size_t part_len = end - start;
		uint64_t length = 0;

		trim(&part, &part_len);
		bool number = part_len > 0 && part_len <= 18;
		for (size_t i = 0; number && i < part_len; i++) {
			number = is_digit(part[i]);
			length = length * 10 + (uint64_t)(part[i] - '0');
		}
		if (!number)
			answer->bad_line = true;
		else if (answer->has_length && answer->length != length)
			answer->two_lengths = true;
		answer->has_length = true;
		answer->length = length;
		start = end + 1;
	}
}

static bool named(const char *name, size_t len, const char *wanted)
{
	return strlen(wanted) == len && strncasecmp(name, wanted, len) == 0;
}

static void field_note(struct answer *answer, const char *name, size_t name_len, const char *value,
		       size_t len)
{
	if (named(name, name_len, "Content-Length"))
		lengths_note(answer, value, len);
	else if (named(name, name_len, "Transfer-Encoding"))
		answer->chunked = len >= 7 && strncasecmp(value + len - 7, "chunked", 7) == 0;
	else if (named(name, name_len, "Content-Encoding"))
		answer->encoded = answer->encoded || (len > 0 && !named(value, len, "identity"));
	else if (named(name, name_len, "Retry-After"))
		value_note(&answer->retry_after, value, len);
	else if (named(name, name_len, "Date"))
		value_note(&answer->date, value, len);
}

static bool interim(const struct answer *answer)
{
	return answer->status >= 100 && answer->status <= 199;
}

static void line_note(struct answer *answer, const char *line, size_t len)
{
	if (answer->header_done && !interim(answer))
		return; /* a trailer: too late to say anything about the answer */
	if (answer->status == 0 || answer->header_done) {
		answer_restart(answer, status_of(line, len));
		answer->bad_line = answer->bad_line || answer->status == 0;
		return;
	}
	if (line[0] == '\r' || line[0] == '\n') {
		answer->header_done = true;
		return;
	}
	if (line[0] == ' ' || line[0] == '\t')
		return; /* a folded line: it goes on with a value that nobody here needs in two
			   pieces */

	const char *colon = memchr(line, ':', len);
	if (!colon || colon == line) {
		answer->bad_line = true;
		return;
	}
	const char *value = colon + 1;
	size_t value_len = (size_t)(line + len - value);
	trim(&value, &value_len);
	field_note(answer, line, (size_t)(colon - line), value, value_len);
}

bool answer_line(struct answer *answer, const char *line, size_t len)
{
	answer->begun = true;
	if (len > ANSWER_HEADER_MAX_BYTES - answer->header_bytes) {
		answer->overflow = true;
		return false;
	}
	answer->header_bytes += len;
	if (len > 0)
		line_note(answer, line, len);
	return true;
}

bool answer_body(struct answer *answer, const char *bytes, size_t len)
{
	answer->begun = true;
	/* The transfer ends here: a few compressed bytes may stand for more than could ever be read
	 * to its end. */
	if (len > answer->body.cap - answer->body.len) {
		answer->too_large = true;
		return false;
	}
	text_add(&answer->body, bytes, len);
	answer->no_memory = !text_ok(&answer->body);
	return !answer->no_memory;
}

bool answer_close_delimited(const struct answer *answer)
{
	return answer->header_done && !answer->chunked && !answer->has_length;
}

int64_t answer_retry_after_ms(const struct answer *answer, int64_t now_us)
{
	const struct header_value *wait = &answer->retry_after;
	int64_t date_us = -1;

	if (wait->sighting != SEEN_ONCE)
		return -1;
	if (answer->date.sighting == SEEN_ONCE)
		date_us = http_date_parse(answer->date.bytes, answer->date.len, now_us);
	return retry_after_parse(wait->bytes, wait->len, date_us >= 0 ? date_us : now_us);
}
