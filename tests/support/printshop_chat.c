/* printshop_chat.c: see the header. */
#include "printshop_chat.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, STREAM_CUT_EVENTS = 5, MODEL_LEN = 4096, SHORT_BYTES = 64 };

/* --- JSON, as far as a request needs it: a value is the bytes it stands in */

struct value {
	const char *at; /* NULL: there is none */
	size_t len;
};

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

/* Behind the closing quote; NULL: it isn't closed. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : NULL;
}

/* Behind a value; brackets are matched, and nothing is judged. */
static const char *skip_value(const char *at, const char *end)
{
	unsigned int depth = 0;

	for (at = skip_blanks(at, end); at && at < end;) {
		if (*at == '"') {
			at = skip_string(at, end);
		} else if (*at == '{' || *at == '[') {
			at = ++depth > DEPTH_MAX ? NULL : at + 1;
		} else if (*at == '}' || *at == ']') {
			if (depth == 0)
				return at;
			depth--;
			at++;
		} else if (depth == 0 && (*at == ',' || *at == ':')) {
			return at;
		} else {
			at++;
			continue;
		}
		if (depth == 0)
			return at;
	}
	return at && depth == 0 ? at : NULL;
}

/* The next item of an object or an array, from *at on; names are left as they are written. */
static bool next_item(const char **at, const char *end, struct value *name_out,
		      struct value *value_out)
{
	const char *item = skip_blanks(*at, end);
	bool named = name_out != NULL;

	for (int part = named ? 0 : 1; part < 2; part++) {
		const char *past = item < end ? skip_value(item, end) : NULL;
		struct value found = { item, past ? (size_t)(past - item) : 0 };

		if (!past || past == item)
			return false;
		*(part == 0 ? name_out : value_out) = found;
		item = skip_blanks(past, end);
		if (part == 0 && (item == end || *item != ':'))
			return false;
		item = part == 0 ? skip_blanks(item + 1, end) : item;
	}
	*at = item < end && *item == ',' ? item + 1 : item;
	return true;
}

static bool is(struct value value, const char *text)
{
	return value.at && value.len == strlen(text) && memcmp(value.at, text, value.len) == 0;
}

/* `name` with its quotes */
static struct value member(struct value object, const char *name)
{
	const char *at = object.at + 1, *end = object.at + object.len;
	struct value key, value, found = { NULL, 0 };

	if (!object.at || object.len < 2 || *object.at != '{')
		return found;
	while (next_item(&at, end, &key, &value))
		found = is(key, name) ? value : found;
	return found;
}

static bool is_string(struct value value)
{
	return value.at && value.len >= 2 && *value.at == '"';
}

static void add_utf8(uint32_t code, struct buf *out)
{
	char bytes[4];
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char heads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

	for (size_t i = len; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3F));
	bytes[0] = (char)(heads[len] | code);
	buf_add(out, bytes, len);
}

static uint32_t hex4(const char *at)
{
	char digits[5] = { at[0], at[1], at[2], at[3], '\0' };

	return (uint32_t)strtoul(digits, NULL, 16);
}

static size_t add_escape(const char *at, size_t left, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *known = left > 1 && at[1] ? strchr(from, at[1]) : NULL;

	if (left < 6 || at[1] != 'u') {
		buf_add(out, known ? &to[known - from] : &at[1], left > 1);
		return 2;
	}
	uint32_t code = hex4(at + 2);
	if (code < 0xD800 || code > 0xDBFF || left < 12) {
		add_utf8(code, out);
		return 6;
	}
	add_utf8(0x10000 + ((code - 0xD800) << 10) + (hex4(at + 8) & 0x3FF), out);
	return 12;
}

static void add_unescaped(struct value string, struct buf *out)
{
	const char *end = string.at + string.len - 1;

	if (!is_string(string))
		return;
	for (const char *at = string.at + 1; at < end;) {
		if (*at == '\\') {
			at += add_escape(at, (size_t)(end - at), out);
		} else {
			buf_add(out, at, 1);
			at++;
		}
	}
}

static bool mentions(struct value text, const char *word)
{
	return text.at && memmem(text.at, text.len, word, strlen(word));
}

/* --- what is asked for, and what is made of it */

struct chat {
	struct value model;
	struct value system;
	struct value format; /* response_format */
	struct buf text;     /* the user's, unescaped */
};

static bool read_chat(const char *body, size_t len, struct chat *chat_out)
{
	struct value root = { body, len }, message, content, user = { NULL, 0 };
	struct value messages = member(root, "\"messages\"");
	const char *at = messages.at + 1, *end = messages.at + messages.len;

	chat_out->model = member(root, "\"model\"");
	chat_out->format = member(root, "\"response_format\"");
	if (!is_string(chat_out->model) || !messages.at || *messages.at != '[')
		return false;
	while (next_item(&at, end, NULL, &message)) {
		content = member(message, "\"content\"");
		if (is(member(message, "\"role\""), "\"system\""))
			chat_out->system = content;
		else if (is(member(message, "\"role\""), "\"user\""))
			user = content;
	}
	add_unescaped(user, &chat_out->text);
	return is_string(user);
}

static void add_text(const struct chat *chat, struct buf *out)
{
	size_t start = out->len;

	buf_add_json(out, chat->text.bytes ? chat->text.bytes : "", chat->text.len);
	for (size_t i = start; mentions(chat->system, "capital") && i < out->len; i++) {
		if (out->bytes[i] == '\\')
			i++;
		else if (out->bytes[i] >= 'a' && out->bytes[i] <= 'z')
			out->bytes[i] -= 'a' - 'A';
	}
}

static void add_words(const struct chat *chat, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < chat->text.len; i++)
		count += chat->text.bytes[i] > ' ' && (i == 0 || chat->text.bytes[i - 1] == ' ');
	buf_addf(out, "%zu", count);
}

static void add_amount(const struct chat *chat, struct buf *out)
{
	const char *bytes = chat->text.bytes;
	size_t from = 0, to;

	while (from < chat->text.len && (bytes[from] < '0' || bytes[from] > '9'))
		from++;
	for (to = from; to < chat->text.len && strchr("0123456789.", bytes[to]) && bytes[to];)
		to++;
	while (to > from && bytes[to - 1] == '.')
		to--;
	if (to > from)
		buf_add(out, bytes + from, to - from);
	else
		buf_add_str(out, "null");
}

static void add_model(const struct chat *chat, struct buf *out)
{
	buf_add(out, chat->model.at, chat->model.len);
}

static const struct made {
	const char *name;
	void (*add)(const struct chat *chat, struct buf *out);
} makes[] = {
	{ "text", add_text },
	{ "words", add_words },
	{ "amount", add_amount },
	{ "model", add_model },
};

/* False: nothing was asked for. */
static bool add_object(const struct chat *chat, struct buf *out)
{
	struct value asked = mentions(chat->system, "JSON") ? chat->system : chat->format;
	const char *before = "{";

	for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++) {
		if (!mentions(asked, makes[i].name))
			continue;
		buf_addf(out, "%s\"%s\": ", before, makes[i].name);
		makes[i].add(chat, out);
		before = ", ";
	}
	buf_add_str(out, *before == ',' ? "}" : "");
	return *before == ',';
}

/* --- the content in each way */

enum part { AS_ASKED, IN_PROSE, NO_CONTENT, EMPTY_CONTENT, CUT, FENCED, SCHEMA, EXTRA, WRAPPED };
enum form {
	COMPLETION,
	INNER_ERROR,
	STREAM,
	STREAM_CUT,
	SYSTEM_REFUSED,
	TOKENS,
	TEXT_AGAIN,
	LOSSY
};

static const struct way {
	const char *name;
	enum form form;
	enum part part;
	const char *finish;
	const char *before; /* the content */
	const char *behind;
	const char *more; /* members of the message */
	const char *model;
	bool deaf;     /* to the system message */
	size_t window; /* how much of the text it reads; 0: all */
	int code;      /* of an inner error */
} ways[] = {
	{ .name = "answer" },
	{ .name = "error-429", .form = INNER_ERROR, .code = 429 },
	{ .name = "error-503", .form = INNER_ERROR, .code = 503 },
	{ .name = "choice-error", .part = EMPTY_CONTENT, .finish = "error" },
	{ .name = "fence", .part = FENCED },
	{ .name = "prose-fence", .part = FENCED, .before = "Here is the JSON:\n\n" },
	{ .name = "prose", .before = "Sure! ", .behind = "\nIs there anything else?" },
	{ .name = "length-cut", .part = CUT, .finish = "length" },
	{ .name = "length-whole", .finish = "length" },
	{ .name = "length-null", .part = NO_CONTENT, .finish = "length" },
	{ .name = "refusal", .part = NO_CONTENT, .more = ", \"refusal\": \"I can't do that.\"" },
	{ .name = "refusal-empty",
	  .part = EMPTY_CONTENT,
	  .more = ", \"refusal\": \"I can't do that.\"" },
	{ .name = "filter", .part = EMPTY_CONTENT, .finish = "content_filter" },
	{ .name = "tool-call",
	  .part = NO_CONTENT,
	  .finish = "tool_calls",
	  .more = ", \"tool_calls\": [{\"id\": \"call_1\", \"type\": \"function\", \"function\": "
		  "{\"name\": \"print\", \"arguments\": \"{}\"}}]" },
	{ .name = "other-model", .model = "\"substitute\"" },
	{ .name = "no-schema", .part = IN_PROSE },
	{ .name = "no-system", .deaf = true },
	{ .name = "system-refused", .form = SYSTEM_REFUSED },
	{ .name = "schema-echo", .part = SCHEMA },
	{ .name = "extra-key", .part = EXTRA },
	{ .name = "wrapper", .part = WRAPPED },
	{ .name = "stream", .form = STREAM },
	{ .name = "stream-cut", .form = STREAM_CUT },
	{ .name = "short", .window = SHORT_BYTES },
	{ .name = "tokenize", .form = TOKENS },
	{ .name = "detokenize", .form = TEXT_AGAIN },
	{ .name = "detokenize-lossy", .form = LOSSY },
};

int chat_way(const char *name, size_t len)
{
	if (!name)
		return 1;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		if (strlen(ways[i].name) == len && memcmp(ways[i].name, name, len) == 0)
			return (int)i + 1;
	}
	return CHAT_NONE;
}

static void add_prose(const struct chat *chat, struct buf *out)
{
	buf_add_str(out, "You said: ");
	buf_add(out, chat->text.bytes ? chat->text.bytes : "", chat->text.len);
}

static void add_content(const struct way *way, const struct chat *chat, struct buf *out)
{
	size_t start;

	buf_add_str(out, way->part == FENCED	? "```json\n"
			 : way->part == WRAPPED ? "{\"result\": "
						: "");
	start = out->len;
	if (way->part == IN_PROSE || !add_object(chat, out)) {
		add_prose(chat, out);
		return;
	}
	if (way->part == CUT)
		out->len -= (out->len - start) / 2;
	if (way->part == EXTRA)
		out->len--;
	buf_add_str(out, way->part == FENCED	? "\n```"
			 : way->part == EXTRA	? ", \"confidence\": 0.9}"
			 : way->part == WRAPPED ? "}"
						: "");
}

/* The whole content, or false for null. */
static bool write_content(const struct way *way, const struct chat *chat, struct buf *out)
{
	struct value spec = member(chat->format, "\"json_schema\"");

	buf_add_str(out, way->before ? way->before : "");
	if (way->part == SCHEMA && spec.at) {
		struct value schema = member(spec, "\"schema\"");

		buf_add(out, schema.at ? schema.at : "{}", schema.at ? schema.len : 2);
	} else if (way->part != EMPTY_CONTENT && way->part != NO_CONTENT) {
		add_content(way, chat, out);
	}
	buf_add_str(out, way->behind ? way->behind : "");
	return way->part != NO_CONTENT;
}

static void add_head(const struct way *way, const struct chat *chat, const char *object,
		     struct buf *out)
{
	buf_addf(
		out,
		"{\"id\": \"chatcmpl-1\", \"object\": \"%s\", \"created\": 1700000000, \"model\": ",
		object);
	if (way->model)
		buf_add_str(out, way->model);
	else
		buf_add(out, chat->model.at, chat->model.len);
}

static void add_completion(const struct way *way, const struct chat *chat,
			   const struct buf *content, bool has_content, struct buf *out)
{
	add_head(way, chat, "chat.completion", out);
	buf_add_str(out, ", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", "
			 "\"content\": ");
	if (has_content)
		buf_add_json(out, content->bytes ? content->bytes : "", content->len);
	else
		buf_add_str(out, "null");
	buf_addf(out, "%s}, \"logprobs\": null, \"finish_reason\": \"%s\"}]",
		 way->more ? way->more : "", way->finish ? way->finish : "stop");
	buf_addf(out,
		 ", \"usage\": {\"prompt_tokens\": %zu, \"completion_tokens\": %zu, "
		 "\"total_tokens\": "
		 "%zu}}",
		 chat->text.len, content->len, chat->text.len + content->len);
}

static void add_event(const struct way *way, const struct chat *chat, const char *bytes, size_t len,
		      struct buf *out)
{
	buf_add_str(out, "data: ");
	add_head(way, chat, "chat.completion.chunk", out);
	buf_add_str(out, ", \"choices\": [{\"index\": 0, \"delta\": {\"content\": ");
	buf_add_json(out, bytes, len);
	buf_addf(out, "}, \"finish_reason\": %s}]}\n\n", len > 0 ? "null" : "\"stop\"");
}

static void add_stream(const struct way *way, const struct chat *chat, const struct buf *content,
		       struct buf *out)
{
	int events = 0;

	for (size_t at = 0, len; at < content->len; at += len) {
		if (way->form == STREAM_CUT && events++ == STREAM_CUT_EVENTS)
			return;
		for (len = 1; at + len < content->len && content->bytes[at + len] != ' ';)
			len++;
		add_event(way, chat, content->bytes + at, len, out);
	}
	add_event(way, chat, "", 0, out);
	buf_add_str(out, "data: [DONE]\n\n");
}

static int say_error(int status, int code, const char *message, struct buf *out)
{
	buf_addf(out, "{\"error\": {\"message\": \"%s\", \"type\": \"error\", \"code\": %d}}",
		 message, code);
	return status;
}

/* --- the tokenizer */

static int add_tokens(const char *body, size_t len, struct buf *out)
{
	struct value root = { body, len }, prompt = member(root, "\"prompt\"");
	struct value content = prompt.at ? prompt : member(root, "\"content\"");
	struct buf text = { 0 };

	if (!is_string(content))
		return say_error(400, 400, "no content", out);
	add_unescaped(content, &text);
	buf_add_str(out, "{");
	if (prompt.at)
		buf_addf(out, "\"count\": %zu, \"max_model_len\": %d, ", text.len, MODEL_LEN);
	buf_add_str(out, "\"tokens\": [");
	for (size_t i = 0; i < text.len; i++)
		buf_addf(out, "%s%d", i > 0 ? "," : "", (unsigned char)text.bytes[i]);
	buf_add_str(out, "]}");
	buf_release(&text);
	return 200;
}

static void lose(struct buf *text)
{
	size_t to = 0;

	for (size_t i = 0; i < text->len; i++) {
		if (text->bytes[i] == ' ' && to > 0 && text->bytes[to - 1] == ' ')
			continue;
		text->bytes[to++] = text->bytes[i] & 0x80 ? '?' : text->bytes[i];
	}
	text->len = to;
}

static int add_text_again(enum form form, const char *body, size_t len, struct buf *out)
{
	struct value root = { body, len }, token, tokens = member(root, "\"tokens\"");
	const char *at = tokens.at + 1, *end = tokens.at + tokens.len;
	struct buf text = { 0 };

	if (!tokens.at || *tokens.at != '[')
		return say_error(400, 400, "no tokens", out);
	while (next_item(&at, end, NULL, &token))
		buf_add(&text, &(unsigned char){ (unsigned char)strtoul(token.at, NULL, 10) }, 1);
	if (form == LOSSY)
		lose(&text);
	buf_addf(out, "{\"%s\": ", member(root, "\"model\"").at ? "prompt" : "content");
	buf_add_json(out, text.bytes ? text.bytes : "", text.len);
	buf_add_str(out, "}");
	buf_release(&text);
	return 200;
}

/* --- all together */

static int answer_chat(const struct way *way, struct chat *chat, struct buf *out)
{
	struct buf content = { 0 };

	if (way->form == SYSTEM_REFUSED && chat->system.at)
		return say_error(400, 400, "System role not supported", out);
	if (way->form == INNER_ERROR)
		return say_error(200, way->code, "the model is not to be had", out);
	if (way->deaf)
		chat->system = (struct value){ NULL, 0 };
	if (way->window > 0 && chat->text.len > way->window)
		chat->text.len = way->window;
	bool has_content = write_content(way, chat, &content);
	if (way->form == STREAM || way->form == STREAM_CUT)
		add_stream(way, chat, &content, out);
	else
		add_completion(way, chat, &content, has_content, out);
	buf_release(&content);
	return 200;
}

int chat_answer(int number, const char *body, size_t len, struct buf *out, const char **type_out)
{
	const struct way *way = &ways[number - 1];
	struct chat chat = { .text = { 0 } };
	int status;

	*type_out = way->form == STREAM || way->form == STREAM_CUT ? "text/event-stream"
								   : "application/json";
	while (len > 0 && (*body == ' ' || *body == '\n' || *body == '\r' || *body == '\t')) {
		body++;
		len--;
	}
	if (way->form == TOKENS)
		return add_tokens(body, len, out);
	if (way->form == TEXT_AGAIN || way->form == LOSSY)
		return add_text_again(way->form, body, len, out);
	if (read_chat(body, len, &chat))
		status = answer_chat(way, &chat, out);
	else
		status = say_error(400, 400, "no chat", out);
	buf_release(&chat.text);
	return status;
}
