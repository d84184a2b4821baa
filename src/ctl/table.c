/* table.c: see table.h. */
#include "ctl/table.h"

#include <assert.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"
#include "ctl/build.h"
#include "ctl/print.h"

#define CELL_MAX_BYTES 65536

struct table {
	const struct table_column *columns;
	size_t columns_len;
	struct libscols_table *readable;
	struct libscols_line *line;
	struct json_object *rows;
	struct json_object *row;
	size_t at; /* the column of the next cell */
	bool terminal;
	bool failed;
};

static bool add_columns(struct table *table)
{
	static const int narrow_flags[TABLE_FIT__MAX] = { 0, SCOLS_FL_TRUNC };

	for (size_t i = 0; i < table->columns_len; i++) {
		const struct table_column *column = &table->columns[i];
		int flags = column->right ? SCOLS_FL_RIGHT : 0;

		if (table->terminal)
			flags |= narrow_flags[column->fit];
		if (!scols_table_new_column(table->readable, column->title, 0, flags))
			return false;
	}
	return true;
}

struct table *table_new(const struct table_column *columns, size_t len, bool terminal)
{
	struct table *table = calloc(1, sizeof *table);

	if (!table)
		return NULL;
	*table = (struct table){ .columns = columns, .columns_len = len, .terminal = terminal };
	table->readable = scols_new_table();
	table->rows = json_object_new_array();
	if (!table->readable || !table->rows || !add_columns(table))
		goto fail;
	scols_table_enable_noencoding(table->readable, 1); /* cells are escaped here already */
	scols_table_set_termforce(table->readable,
				  terminal ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER);
	scols_table_enable_colors(table->readable, terminal && !getenv("NO_COLOR"));
	return table;
fail:
	table_free(table);
	return NULL;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->readable);
	json_object_put(table->rows);
	free(table);
}

void table_row(struct table *table)
{
	if (!table || table->failed)
		return;
	table->at = 0;
	table->line = scols_table_new_line(table->readable, NULL);
	table->row = json_object_new_object();
	if (!table->line || !table->row || json_object_array_add(table->rows, table->row) != 0)
		table->failed = true;
}

/* `value` becomes the row's, whatever happens. */
static void add_cell(struct table *table, const char *bytes, size_t len, struct json_object *value)
{
	struct text shown;

	assert(table->at < table->columns_len);
	text_init(&shown, CELL_MAX_BYTES);
	print_escape(&shown, bytes, len);
	char *cell = text_take(&shown);
	if (!cell || scols_line_refer_data(table->line, table->at, cell) != 0) {
		free(cell);
		json_object_put(value);
		table->failed = true;
		return;
	}
	if (json_object_object_add(table->row, table->columns[table->at].member, value) != 0)
		table->failed = true;
	table->at++;
}

void table_bytes(struct table *table, const char *bytes, size_t len)
{
	if (!table || table->failed)
		return;
	if (!bytes) {
		add_cell(table, "-", 1, NULL);
		return;
	}
	struct json_object *value = json_object_new_string_len(bytes, (int)len);
	if (value)
		add_cell(table, bytes, len, value);
	else
		table->failed = true;
}

void table_str(struct table *table, const char *text)
{
	table_bytes(table, text, text ? strlen(text) : 0);
}

void table_number(struct table *table, uint64_t number)
{
	char digits[24];

	if (!table || table->failed)
		return;
	snprintf(digits, sizeof digits, "%" PRIu64, number);
	add_cell(table, digits, strlen(digits), json_object_new_uint64(number));
}

void table_bool(struct table *table, bool yes)
{
	if (!table || table->failed)
		return;
	add_cell(table, yes ? "yes" : "no", yes ? 3 : 2, json_object_new_boolean(yes));
}

void table_id(struct table *table, const struct id *id)
{
	char text[ID_TEXT_LEN + 1];

	table_str(table, id ? id_format(id, text) : NULL);
}

void table_time(struct table *table, int64_t us, const char *none)
{
	char shown[PRINT_TIME_MAX];
	char whole[TIMESTAMP_TEXT_LEN + 1];

	if (!table || table->failed)
		return;
	print_time(us, shown);
	if (shown[0])
		add_cell(table, shown, strlen(shown),
			 json_object_new_string(timestamp_format(us, whole)));
	else
		add_cell(table, none, strlen(none), NULL);
}

void table_colour(struct table *table, const char *colour)
{
	if (!table || table->failed || !table->terminal || table->at == 0)
		return;
	struct libscols_cell *cell = scols_line_get_cell(table->line, table->at - 1);
	if (cell)
		scols_cell_set_color(cell, colour);
}

static enum ctl_exit print_readable(struct table *table, struct ctl *ctl, const char *name,
				    const struct id *before)
{
	char text[ID_TEXT_LEN + 1];

	if (!table || table->failed) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	if (scols_table_is_empty(table->readable)) {
		ctl_say(ctl, "no %s", name);
		return CTL_DONE;
	}
	scols_table_set_stream(table->readable, ctl->out);
	if (scols_print_table(table->readable) != 0)
		return CTL_REFUSED;
	fflush(ctl->out);
	if (before)
		ctl_say(ctl, "there are older ones: --before %s", id_format(before, text));
	return CTL_DONE;
}

struct json_object *table_rows(struct table *table)
{
	return table && !table->failed ? json_object_get(table->rows) : NULL;
}

enum ctl_exit table_finish(struct table *table, struct ctl *ctl, const char *name)
{
	struct json_object *whole;

	if (!ctl->json)
		return print_readable(table, ctl, name, NULL);
	whole = build_object();
	build_add(&whole, name, table_rows(table));
	return ctl_print_json(ctl, whole);
}

enum ctl_exit table_finish_page(struct table *table, struct ctl *ctl, const char *name,
				struct json_object *rows, const struct id *before)
{
	char text[ID_TEXT_LEN + 1];
	struct json_object *whole;

	if (!ctl->json) {
		build_drop(rows);
		return print_readable(table, ctl, name, before);
	}
	whole = build_object();
	build_add(&whole, name, rows);
	build_add(&whole, "next_before",
		  before ? build_string(id_format(before, text)) : build_null());
	return ctl_print_json(ctl, whole);
}
