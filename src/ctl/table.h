/* table.h: rows for people (libsmartcols) and the same rows for scripts (JSON), filled in once.
 *
 * On a terminal long texts give way where their column says so; elsewhere nothing is cut. Cells are
 * added from left to right after table_row(). Running out of memory is remembered and told by
 * table_finish(). */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

/* What a column does where a terminal is too narrow. */
enum table_fit { TABLE_WHOLE, TABLE_SHORTENS, TABLE_FIT__MAX };

struct table_column {
	const char *title;  /* for people: "OWNER" */
	const char *member; /* for scripts: "owner" */
	bool right;	    /* numbers */
	enum table_fit fit;
};

struct table;
struct json_object;

/* `columns` must outlive the table. NULL without memory; every function below takes that. */
struct table *table_new(const struct table_column *columns, size_t len, bool terminal);
void table_free(struct table *table);

void table_row(struct table *table);
void table_bytes(struct table *table, const char *bytes, size_t len); /* bytes NULL: none */
void table_str(struct table *table, const char *text);		      /* NULL: none */
void table_number(struct table *table, uint64_t number);
void table_bool(struct table *table, bool yes);		 /* "yes", "no" */
void table_id(struct table *table, const struct id *id); /* NULL: none */
void table_time(struct table *table, int64_t us,
		const char *none); /* 0: `none` for people, null for scripts */
void table_colour(struct table *table,
		  const char *colour); /* of the cell added last; on a terminal only */

/* The rows for scripts as an array that becomes the caller's; NULL without memory. */
struct json_object *table_rows(struct table *table);

/* How a list ends: {"<name>": [rows]} with --json, else the readable table; that there is no row is
 * told on ctl->err. */
enum ctl_exit table_finish(struct table *table, struct ctl *ctl, const char *name);

/* The same for a list by pages, with "next_before": `before` is the last id where older rows exist,
 * else NULL; it is told on ctl->err too. `rows`: what scripts see, which becomes this function's:
 * table_rows(), or a row's own JSON form. */
enum ctl_exit table_finish_page(struct table *table, struct ctl *ctl, const char *name,
				struct json_object *rows, const struct id *before);

#endif
