/* printshop_book.c: see the header. */
#include "printshop_book.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_KEY_SLOTS = 64 };

struct record {
	const struct printer *printer;
	uint64_t at_ms;
	uint64_t connection;
	char *head;
	size_t head_len;
	char *body;
	size_t body_len;
	bool whole;
};

static struct {
	struct printer *printers[BOOK_PRINTERS_MAX];
	size_t printer_count;
	size_t key_count;
	struct record records[BOOK_REQUESTS_MAX];
	uint64_t first; /* the oldest number that is still there */
	uint64_t next;	/* numbers never start again, so an old one can't name a new request */
	size_t record_bytes;
} book;

bool book_name_ok(const char *name, size_t len)
{
	if (len == 0 || len > BOOK_NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
			return false;
	}
	return true;
}

struct printer *book_find(const char *name, size_t len)
{
	for (size_t i = 0; i < book.printer_count; i++) {
		struct printer *printer = book.printers[i];

		if (strlen(printer->name) == len && memcmp(printer->name, name, len) == 0)
			return printer;
	}
	return NULL;
}

struct printer *book_printer(const char *name, size_t len)
{
	struct printer *printer = book_find(name, len);

	if (printer || book.printer_count == BOOK_PRINTERS_MAX)
		return printer;
	printer = calloc(1, sizeof *printer);
	if (!printer)
		return NULL;
	memcpy(printer->name, name, len);
	book.printers[book.printer_count++] = printer;
	return printer;
}

static struct record *record_of(uint64_t number)
{
	return &book.records[number % BOOK_REQUESTS_MAX];
}

static void drop_oldest(void)
{
	struct record *record = record_of(book.first++);

	book.record_bytes -= record->head_len + record->body_len;
	free(record->head);
	free(record->body);
	*record = (struct record){ 0 };
}

static void free_keys(struct printer *printer)
{
	for (size_t i = 0; i < printer->key_slots; i++) {
		while (printer->keys[i]) {
			struct key_row *row = printer->keys[i];

			printer->keys[i] = row->next;
			free(row->answer);
			free(row);
		}
	}
	free(printer->keys);
	free(printer->mode);
}

void book_reset(void)
{
	while (book.first < book.next)
		drop_oldest();
	for (size_t i = 0; i < book.printer_count; i++) {
		struct printer *printer = book.printers[i];
		struct printer blank = { 0 };

		free_keys(printer);
		memcpy(blank.name, printer->name, sizeof blank.name);
		*printer = blank;
	}
	book.key_count = 0;
}

void book_release(void)
{
	book_reset();
	for (size_t i = 0; i < book.printer_count; i++)
		free(book.printers[i]);
	book.printer_count = 0;
}

/* FNV-1a, 64 bits */
static uint64_t hash_of(const char *key, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool grow_keys(struct printer *printer)
{
	size_t slots = printer->key_slots ? printer->key_slots * 2 : FIRST_KEY_SLOTS;
	struct key_row **keys = calloc(slots, sizeof(struct key_row *));

	if (!keys)
		return false;
	for (size_t i = 0; i < printer->key_slots; i++) {
		while (printer->keys[i]) {
			struct key_row *row = printer->keys[i];

			printer->keys[i] = row->next;
			row->next = keys[row->hash % slots];
			keys[row->hash % slots] = row;
		}
	}
	free(printer->keys);
	printer->keys = keys;
	printer->key_slots = slots;
	return true;
}

struct key_row *book_key(struct printer *printer, const char *key, size_t len)
{
	uint64_t hash = hash_of(key, len);

	if (printer->distinct_keys >= printer->key_slots && !grow_keys(printer))
		return NULL;
	struct key_row **slot = &printer->keys[hash % printer->key_slots];
	for (struct key_row *row = *slot; row; row = row->next) {
		if (row->hash == hash && row->len == len && memcmp(row->key, key, len) == 0)
			return row;
	}
	if (book.key_count == BOOK_KEYS_MAX)
		return NULL;
	struct key_row *row = calloc(1, sizeof *row + len);
	if (!row)
		return NULL;
	row->hash = hash;
	row->len = len;
	memcpy(row->key, key, len);
	row->next = *slot;
	*slot = row;
	printer->distinct_keys++;
	book.key_count++;
	return row;
}

void book_keep_answer(struct key_row *row, const struct buf *answer, const char *type)
{
	char *copy = malloc(answer->len + 1);

	if (!copy)
		return;
	memcpy(copy, answer->bytes ? answer->bytes : "", answer->len);
	free(row->answer);
	row->answer = copy;
	row->answer_len = answer->len;
	memcpy(row->type, type, strlen(type) + 1); /* modes_add() has bounded it */
}

static char *copy_bytes(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

uint64_t book_open(struct printer *printer, uint64_t at_ms, uint64_t connection, const char *head,
		   size_t head_len)
{
	printer->requests++;
	printer->reading++;
	printer->open++;
	if (printer->open > printer->peak)
		printer->peak = printer->open;
	if (book.next - book.first == BOOK_REQUESTS_MAX)
		drop_oldest();
	struct record *record = record_of(book.next);
	*record = (struct record){ .printer = printer, .at_ms = at_ms, .connection = connection };
	record->head = copy_bytes(head, head_len);
	record->head_len = record->head ? head_len : 0;
	book.record_bytes += record->head_len;
	return book.next++;
}

void book_read(struct printer *printer, uint64_t number, const char *body, size_t len, bool whole)
{
	printer->reading--;
	if (number < book.first || number >= book.next)
		return;
	struct record *record = record_of(number);
	if (len > BOOK_BODY_BYTES_MAX)
		len = BOOK_BODY_BYTES_MAX;
	record->whole = whole;
	record->body = len > 0 ? copy_bytes(body, len) : NULL;
	record->body_len = record->body ? len : 0;
	book.record_bytes += record->body_len;
	while (book.record_bytes > BOOK_REQUEST_BYTES_MAX)
		drop_oldest();
}

void book_close(struct printer *printer, bool hung_up)
{
	printer->open--;
	printer->hung_up += hung_up ? 1 : 0;
}

void book_write_printer(const struct printer *printer, struct buf *out)
{
	buf_addf(out,
		 "{\"requests\":%" PRIu64 ",\"sheets\":%" PRIu64
		 ",\"distinct_keys\":%zu,\"open\":%" PRIu64 ",\"hung_up\":%" PRIu64
		 ",\"peak\":%" PRIu64 "}",
		 printer->requests, printer->sheets, printer->distinct_keys, printer->open,
		 printer->hung_up, printer->peak);
}

void book_write_counts(struct buf *out)
{
	buf_add(out, "{", 1);
	for (size_t i = 0; i < book.printer_count; i++) {
		buf_addf(out, "%s\"%s\":", i > 0 ? "," : "", book.printers[i]->name);
		book_write_printer(book.printers[i], out);
	}
	buf_add(out, "}", 1);
}

static void write_header(const struct request *req, const char *head, const char *member,
			 const char *name, struct buf *out)
{
	struct buf value = { 0 };

	buf_addf(out, ",\"%s\":", member);
	if (http_header(req, head, name, &value))
		buf_add_json(out, value.bytes, value.len);
	else
		buf_add_str(out, "null");
	buf_release(&value);
}

static void write_record(const struct record *record, struct buf *out)
{
	struct buf head = { .bytes = record->head, .len = record->head_len };
	struct request req = { 0 };

	(void)http_parse_head(&req, &head); /* it was parsed once: it can't be wrong now */
	buf_addf(out, "{\"printer\":\"%s\"", record->printer->name);
	buf_addf(out, ",\"at_ms\":%" PRIu64, record->at_ms);
	buf_add_str(out, ",\"method\":");
	buf_add_json(out, head.bytes + req.method.at, req.method.len);
	buf_add_str(out, ",\"path\":");
	buf_add_json(out, head.bytes + req.target.at, req.target.len);
	buf_addf(out, ",\"connection\":%" PRIu64 ",\"whole\":%s", record->connection,
		 record->whole ? "true" : "false");
	write_header(&req, head.bytes, "key", "idempotency-key", out);
	write_header(&req, head.bytes, "traceparent", "traceparent", out);
	write_header(&req, head.bytes, "user_agent", "user-agent", out);
	buf_add_str(out, ",\"headers\":");
	http_write_headers(&req, head.bytes, out);
	buf_add_str(out, ",\"body\":");
	buf_add_json(out, record->body ? record->body : "", record->body_len);
	buf_add(out, "}", 1);
}

void book_write_requests(const struct printer *only, struct buf *out)
{
	const char *comma = "";

	buf_add(out, "[", 1);
	for (uint64_t number = book.first; number < book.next; number++) {
		const struct record *record = record_of(number);

		if (!record->head || (only && record->printer != only))
			continue;
		buf_add_str(out, comma);
		write_record(record, out);
		comma = ",\n";
	}
	buf_add(out, "]", 1);
}
