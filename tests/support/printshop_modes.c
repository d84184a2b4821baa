/* printshop_modes.c: see the header. */
#include "printshop_modes.h"

#include <string.h>

#include "printshop_chat.h"

enum param { NO_VALUE, DELAY_MS, STATUS, REDIRECT, BIG_BYTES, BODY, TYPE, RETRY_AFTER, CHAT };

static const struct mode_row {
	const char *name;
	unsigned int flag;
	enum param param;
} rows[] = {
	{ "stall", MODE_STALL, NO_VALUE },
	{ "delay", 0, DELAY_MS },
	{ "status", 0, STATUS },
	{ "retry-after", 0, RETRY_AFTER },
	{ "refuse-body", MODE_REFUSE_BODY, NO_VALUE },
	{ "reset", MODE_RESET, NO_VALUE },
	{ "reset-early", MODE_RESET_EARLY, NO_VALUE },
	{ "empty", MODE_EMPTY, NO_VALUE },
	{ "cut", MODE_CUT, NO_VALUE },
	{ "cut-stall", MODE_CUT_STALL, NO_VALUE },
	{ "chunked", MODE_CHUNKED, NO_VALUE },
	{ "chunked-cut", MODE_CHUNKED_CUT, NO_VALUE },
	{ "garbage", MODE_GARBAGE, NO_VALUE },
	{ "nobody", MODE_NOBODY, NO_VALUE },
	{ "204", MODE_204, NO_VALUE },
	{ "two-lengths", MODE_TWO_LENGTHS, NO_VALUE },
	{ "bad-gzip", MODE_BAD_GZIP, NO_VALUE },
	{ "gzip", MODE_GZIP, NO_VALUE },
	{ "close-delimited", MODE_CLOSE_DELIMITED, NO_VALUE },
	{ "close-cut", MODE_CLOSE_CUT, NO_VALUE },
	{ "big", 0, BIG_BYTES },
	{ "body", 0, BODY },
	{ "type", 0, TYPE },
	{ "redirect", 0, REDIRECT },
	{ "early-hints", MODE_EARLY_HINTS, NO_VALUE },
	{ "100-ignore", MODE_100_IGNORE, NO_VALUE },
	{ "417", MODE_417, NO_VALUE },
	{ "keepalive-drop", MODE_KEEPALIVE_DROP, NO_VALUE },
	{ "nonjson", MODE_NONJSON, NO_VALUE },
	{ "dup-member", MODE_DUP_MEMBER, NO_VALUE },
	{ "nan", MODE_NAN, NO_VALUE },
	{ "fence", MODE_FENCE, NO_VALUE },
	{ "echo", MODE_ECHO, NO_VALUE },
	{ "in-progress", MODE_IN_PROGRESS, NO_VALUE },
	{ "honour", MODE_HONOUR, NO_VALUE },
	{ "chat", 0, CHAT },
	{ "here", 0, NO_VALUE },
};

static const struct mode_row *row_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	}
	return NULL;
}

static bool parse_number(const struct buf *value, uint32_t min, uint32_t max, uint32_t *number_out)
{
	uint64_t number = 0;

	for (size_t i = 0; i < value->len; i++) {
		if (value->bytes[i] < '0' || value->bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(value->bytes[i] - '0');
		if (number > max)
			return false;
	}
	*number_out = (uint32_t)number;
	return value->len > 0 && number >= min;
}

/* A header's value: nothing in it may end the line. */
static bool copy_line(const struct buf *value, char line_out[MODES_VALUE_BYTES])
{
	if (value->len >= MODES_VALUE_BYTES)
		return false;
	for (size_t i = 0; i < value->len; i++) {
		unsigned char c = (unsigned char)value->bytes[i];

		if (c < 0x20 || c == 0x7F)
			return false;
		line_out[i] = (char)c;
	}
	line_out[value->len] = '\0';
	return true;
}

static bool set_value(struct modes *modes, enum param param, const struct buf *value)
{
	uint32_t number = 0;
	bool fine = true;

	switch (param) {
	case NO_VALUE: return false;
	case DELAY_MS: return parse_number(value, 0, MODES_DELAY_MS_MAX, &modes->delay_ms);
	case STATUS:
		fine = parse_number(value, 200, 999, &number);
		modes->status = (int)number;
		return fine;
	case REDIRECT:
		fine = parse_number(value, 300, 399, &number);
		modes->redirect = (int)number;
		return fine;
	case BIG_BYTES:
		fine = parse_number(value, 2, MODES_BIG_BYTES_MAX, &number);
		modes->big_bytes = number;
		return fine;
	case BODY:
		modes->has_body = true;
		buf_clear(&modes->body);
		buf_add(&modes->body, value->bytes, value->len);
		return !modes->body.failed;
	case TYPE: return value->len > 0 && copy_line(value, modes->type);
	case RETRY_AFTER:
		return modes->retry_after_count < MODES_RETRY_AFTERS_MAX &&
		       copy_line(value, modes->retry_after[modes->retry_after_count++]);
	case CHAT:
		modes->chat = chat_way(value->bytes, value->len);
		return modes->chat != CHAT_NONE;
	}
	return false;
}

static bool add_one(struct modes *modes, const char *item, size_t len)
{
	const char *equals = memchr(item, '=', len);
	size_t name_len = equals ? (size_t)(equals - item) : len;
	const struct mode_row *row = row_of(item, name_len);
	struct buf value = { 0 };
	bool fine = false;

	if (!row || (!equals != (row->param == NO_VALUE) && row->param != CHAT))
		return false;
	modes->flags |= row->flag;
	if (!equals)
		return row->param == NO_VALUE || set_value(modes, row->param, &value);
	if (buf_add_urldecoded(&value, equals + 1, len - name_len - 1, false))
		fine = set_value(modes, row->param, &value);
	buf_release(&value);
	return fine;
}

bool modes_add(struct modes *modes, const char *list, size_t len, struct buf *flaw_out)
{
	for (size_t at = 0; at < len;) {
		size_t end = at;

		while (end < len && list[end] != '/' && list[end] != ',')
			end++;
		if (end > at && !add_one(modes, list + at, end - at)) {
			buf_add(flaw_out, list + at, end - at);
			return false;
		}
		at = end + 1;
	}
	return true;
}

void modes_release(struct modes *modes)
{
	buf_release(&modes->body);
	*modes = (struct modes){ 0 };
}
