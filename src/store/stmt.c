#include "store/stmt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/timestamp.h"
#include "store/db_private.h"

#define COLUMNS_MAX 64
#define CELL_BYTES 256 /* longer values are fetched again at their full length */
#define SQL_TEXT_MAX 65536
#define PACKET_BESIDE 4096 /* what a packet holds beside its long values */

/* A value as bound: a number, bytes or a time. */
struct value {
	uint64_t number;
	unsigned long len;
	MYSQL_TIME time;
};

struct cell {
	unsigned long len;
	db_bool is_null;
	db_bool cut;
	uint64_t number;
	MYSQL_TIME time;
	char bytes[CELL_BYTES];
};

struct stmt {
	struct db *db;
	MYSQL_STMT *mysql_stmt; /* NULL: could not be prepared; rc says why */
	enum sql id;
	enum rc rc;
	bool writes;
	bool answered; /* holds a result that must be freed */
	unsigned int params, bound, columns, read;
	MYSQL_BIND *binds;
	struct value *values;
	MYSQL_BIND results[COLUMNS_MAX];
	struct cell *cells;
};

void stmt_free(struct stmt *st)
{
	if (!st)
		return;
	if (st->mysql_stmt)
		mysql_stmt_close(st->mysql_stmt);
	free(st->binds);
	free(st->values);
	free(st->cells);
	free(st);
}

/* The text with its groups, if any, each repeated n times. */
static void expand(struct text *out, const char *sql, size_t n)
{
	for (const char *open; (open = strchr(sql, '{')) != NULL;) {
		const char *bar = strchr(open, '|');
		const char *close = strchr(bar, '}');

		text_add(out, sql, (size_t)(open - sql));
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				text_add(out, open + 1, (size_t)(bar - open - 1));
			text_add(out, bar + 1, (size_t)(close - bar - 1));
		}
		sql = close + 1;
	}
	text_add_str(out, sql);
}

/* A statement that failed for good is prepared anew the next time: the server may have forgotten
 * it. */
static enum rc failed(struct stmt *st, bool sent)
{
	struct db *db = st->db;
	enum rc rc = db_failed(st->db, mysql_stmt_errno(st->mysql_stmt),
			       mysql_stmt_error(st->mysql_stmt), sql_name(st->id), sent);

	if (db->mysql && rc == RC_FAULT) /* else st has gone with its connection */
		st->rc = rc;
	return rc;
}

/* An error in the middle of a result (a lock waited for in vain, a statement killed): libmariadb
 * goes on to wait for the result's end, which never comes, at the next use of the statement. */
static enum rc broken_off(struct stmt *st, bool sent)
{
	struct db *db = st->db;
	enum rc rc = failed(st, sent);

	db_disconnect(db);
	return rc;
}

static bool is_number(enum enum_field_types type)
{
	switch ((int)type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_LONGLONG: return true;
	default: return false;
	}
}

static bool is_time(enum enum_field_types type)
{
	return type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

static enum rc bind_columns(struct stmt *st)
{
	MYSQL_RES *meta = mysql_stmt_result_metadata(st->mysql_stmt);

	if (!meta)
		return RC_OK; /* no result */
	MYSQL_FIELD *fields = mysql_fetch_fields(meta);

	st->columns = mysql_num_fields(meta);
	assert(st->columns <= COLUMNS_MAX);
	st->cells = calloc(st->columns, sizeof *st->cells);
	for (unsigned int i = 0; st->cells && i < st->columns; i++) {
		struct cell *cell = &st->cells[i];
		MYSQL_BIND *bind = &st->results[i];

		*bind = (MYSQL_BIND){ .length = &cell->len,
				      .is_null = &cell->is_null,
				      .error = &cell->cut };
		if (is_number(fields[i].type)) {
			bind->buffer_type = MYSQL_TYPE_LONGLONG;
			bind->buffer = &cell->number;
			bind->buffer_length = sizeof cell->number;
		} else if (is_time(fields[i].type)) {
			bind->buffer_type = MYSQL_TYPE_DATETIME;
			bind->buffer = &cell->time;
			bind->buffer_length = sizeof cell->time;
		} else {
			bind->buffer_type = MYSQL_TYPE_STRING;
			bind->buffer = cell->bytes;
			bind->buffer_length = sizeof cell->bytes;
		}
	}
	mysql_free_result(meta);
	if (!st->cells || mysql_stmt_bind_result(st->mysql_stmt, st->results) != 0)
		return RC_FAULT;
	return RC_OK;
}

static enum rc prepare(struct stmt *st, size_t n)
{
	struct text text;
	enum rc rc = db_ready(st->db);

	if (rc != RC_OK)
		return rc;
	text_init(&text, SQL_TEXT_MAX);
	expand(&text, sql_text(st->id), n);
	st->mysql_stmt = text_ok(&text) ? mysql_stmt_init(st->db->mysql) : NULL;
	if (!st->mysql_stmt) {
		text_release(&text);
		return RC_FAULT;
	}
	st->writes = strncmp(text.bytes, "SELECT", 6) != 0 && text.bytes[0] != '(';
	if (mysql_stmt_prepare(st->mysql_stmt, text.bytes, text.len) != 0) {
		text_release(&text);
		return failed(st, false);
	}
	text_release(&text);
	st->params = (unsigned int)mysql_stmt_param_count(st->mysql_stmt);
	st->binds = calloc(st->params + 1u, sizeof *st->binds);
	st->values = calloc(st->params + 1u, sizeof *st->values);
	if (!st->binds || !st->values)
		return RC_FAULT;
	return bind_columns(st);
}

size_t stmt_group(size_t left)
{
	size_t n = STMT_GROUP_MAX;

	while (n > left && n > 1)
		n /= 2;
	return n;
}

size_t stmt_group_above(size_t n)
{
	size_t group = 1;

	while (group < n)
		group *= 2;
	return group;
}

void stmt_done(struct stmt *st)
{
	if (st->answered)
		mysql_stmt_free_result(st->mysql_stmt);
	st->answered = false;
}

/* A statement that couldn't be prepared says so when it is run, and is tried again by the next
 * call. */
struct stmt *db_stmt_n(struct db *db, enum sql id, size_t n)
{
	unsigned int size = 0;

	while ((1u << size) < n)
		size++;
	assert(size < STMT_SIZES && (1u << size) == n);

	struct stmt *st = db->stmts[id][size];

	if (st && st->mysql_stmt && st->rc == RC_OK) {
		stmt_done(st);
		st->bound = 0;
		return st;
	}
	stmt_free(st);
	db->stmts[id][size] = NULL;
	st = calloc(1, sizeof *st);
	if (!st)
		abort(); /* a few hundred bytes: nothing can go on */
	st->db = db;
	st->id = id;
	st->rc = prepare(st, n);
	db->stmts[id][size] = st;
	return st;
}

struct stmt *db_stmt(struct db *db, enum sql id)
{
	return db_stmt_n(db, id, 1);
}

static MYSQL_BIND *next_bind(struct stmt *st, struct value **value_out)
{
	if (st->rc != RC_OK)
		return NULL;
	assert(st->bound < st->params);
	*value_out = &st->values[st->bound];
	MYSQL_BIND *bind = &st->binds[st->bound++];

	*bind = (MYSQL_BIND){ 0 };
	return bind;
}

void bind_u64(struct stmt *st, uint64_t number)
{
	struct value *value;
	MYSQL_BIND *bind = next_bind(st, &value);

	if (!bind)
		return;
	value->number = number;
	bind->buffer_type = MYSQL_TYPE_LONGLONG;
	bind->buffer = &value->number;
	bind->is_unsigned = 1;
}

void bind_null(struct stmt *st)
{
	struct value *value;
	MYSQL_BIND *bind = next_bind(st, &value);

	if (bind)
		bind->buffer_type = MYSQL_TYPE_NULL;
}

void bind_bytes(struct stmt *st, const void *bytes, size_t len)
{
	struct value *value;

	if (!bytes) {
		bind_null(st);
		return;
	}
	MYSQL_BIND *bind = next_bind(st, &value);

	if (!bind)
		return;
	value->len = len;
	bind->buffer_type = MYSQL_TYPE_STRING;
	bind->buffer = (void *)(uintptr_t)bytes; /* the client only reads it */
	bind->buffer_length = len;
	bind->length = &value->len;
}

void bind_str(struct stmt *st, const char *str)
{
	bind_bytes(st, str, str ? strlen(str) : 0);
}

void bind_id(struct stmt *st, const struct id *id)
{
	bind_bytes(st, id ? id->bytes : NULL, ID_BYTES);
}

void bind_time(struct stmt *st, int64_t us)
{
	struct value *value;

	if (us == 0) {
		bind_null(st);
		return;
	}
	MYSQL_BIND *bind = next_bind(st, &value);

	if (!bind)
		return;
	const struct timestamp_parts parts = timestamp_split(us);

	value->time = (MYSQL_TIME){ .year = (unsigned int)parts.year,
				    .month = (unsigned int)parts.month,
				    .day = (unsigned int)parts.day,
				    .hour = (unsigned int)parts.hour,
				    .minute = (unsigned int)parts.minute,
				    .second = (unsigned int)parts.second,
				    .second_part = (unsigned long)parts.us,
				    .time_type = MYSQL_TIMESTAMP_DATETIME };
	bind->buffer_type = MYSQL_TYPE_DATETIME;
	bind->buffer = &value->time;
	bind->buffer_length = sizeof value->time;
}

static uint64_t bound_bytes(const struct stmt *st)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < st->params; i++)
		sum += st->binds[i].buffer_length;
	return sum;
}

enum rc stmt_run(struct stmt *st)
{
	if (st->rc != RC_OK)
		return st->rc;
	assert(st->bound == st->params);

	bool sent = st->writes && !st->db->in_transaction;

	if (bound_bytes(st) + PACKET_BESIDE > st->db->packet_max)
		return db_too_large(st->db, sql_name(st->id));
	if (st->params > 0 && mysql_stmt_bind_param(st->mysql_stmt, st->binds) != 0)
		return failed(st, false);
	if (mysql_stmt_execute(st->mysql_stmt) != 0)
		return failed(st, sent);
	if (st->columns > 0) {
		st->answered = true;
		if (mysql_stmt_store_result(st->mysql_stmt) != 0)
			return broken_off(st, sent);
	}
	st->db->wrote |= st->writes && stmt_changed(st) > 0;
	return db_still_open(st->db, sql_name(st->id)) ? RC_OK : RC_RETRY;
}

uint64_t stmt_changed(const struct stmt *st)
{
	return mysql_stmt_affected_rows(st->mysql_stmt);
}

uint64_t stmt_insert_id(const struct stmt *st)
{
	return mysql_stmt_insert_id(st->mysql_stmt);
}

enum rc stmt_fetch(struct stmt *st)
{
	int end = mysql_stmt_fetch(st->mysql_stmt);

	st->read = 0;
	if (end == 0 || end == MYSQL_DATA_TRUNCATED)
		return RC_OK;
	if (end == MYSQL_NO_DATA) {
		stmt_done(st);
		return RC_NOT_FOUND;
	}
	return failed(st, false);
}

static struct cell *next_cell(struct stmt *st)
{
	assert(st->read < st->columns);
	return &st->cells[st->read++];
}

void col_skip(struct stmt *st)
{
	(void)next_cell(st);
}

uint64_t col_u64(struct stmt *st)
{
	return (uint64_t)col_i64(st, 0);
}

int64_t col_i64(struct stmt *st, int64_t if_null)
{
	struct cell *cell = next_cell(st);

	assert(st->results[st->read - 1].buffer_type == MYSQL_TYPE_LONGLONG);
	return cell->is_null ? if_null : (int64_t)cell->number;
}

size_t col_bytes(struct stmt *st, void *out, size_t size)
{
	struct cell *cell = next_cell(st);

	if (cell->is_null)
		return 0;
	size_t len = cell->len < sizeof cell->bytes ? cell->len : sizeof cell->bytes;

	if (len > size)
		len = size;
	memcpy(out, cell->bytes, len);
	return len;
}

bool col_id(struct stmt *st, struct id *id_out)
{
	*id_out = (struct id){ { 0 } };
	return col_bytes(st, id_out->bytes, ID_BYTES) == ID_BYTES;
}

void col_name(struct stmt *st, char *out, size_t size)
{
	out[col_bytes(st, out, size - 1)] = '\0';
}

int64_t col_time(struct stmt *st)
{
	const struct cell *cell = next_cell(st);
	const MYSQL_TIME *time = &cell->time;

	assert(st->results[st->read - 1].buffer_type == MYSQL_TYPE_DATETIME);
	if (cell->is_null || time->year < 1000) /* 0000-00-00, which only a lax mode lets in */
		return 0;
	return timestamp_join(&(struct timestamp_parts){ .year = (int)time->year,
							 .month = (int)time->month,
							 .day = (int)time->day,
							 .hour = (int)time->hour,
							 .minute = (int)time->minute,
							 .second = (int)time->second,
							 .us = (int)time->second_part });
}

bool col_blob(struct stmt *st, struct blob *blob_out)
{
	unsigned int column = st->read;
	struct cell *cell = next_cell(st);

	*blob_out = (struct blob){ 0 };
	if (cell->is_null)
		return true;
	blob_out->bytes = malloc(cell->len + 1);
	if (!blob_out->bytes)
		return false;
	blob_out->len = cell->len;
	if (cell->len <= sizeof cell->bytes) {
		memcpy(blob_out->bytes, cell->bytes, cell->len);
	} else {
		MYSQL_BIND whole = { .buffer_type = MYSQL_TYPE_STRING,
				     .buffer = blob_out->bytes,
				     .buffer_length = cell->len };
		unsigned long len;
		db_bool is_null, cut;

		whole.length = &len;
		whole.is_null = &is_null;
		whole.error = &cut;
		if (mysql_stmt_fetch_column(st->mysql_stmt, &whole, column, 0) != 0) {
			free(blob_out->bytes);
			*blob_out = (struct blob){ 0 };
			return false;
		}
	}
	blob_out->bytes[blob_out->len] = '\0';
	return true;
}
