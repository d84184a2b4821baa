#include "store/definition_rows.h"

#include <stdlib.h>

#include "store/page_fit.h"

void definition_row_release(struct definition_row *row)
{
	free(row->definition.bytes);
	*row = (struct definition_row){ 0 };
}

void definition_list_free(struct definition_row *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		definition_row_release(&rows[i]);
	free(rows);
}

static enum rc read_row(struct stmt *st, struct definition_row *row)
{
	*row = (struct definition_row){ 0 };
	col_name(st, row->name, sizeof row->name);
	row->version = (uint32_t)col_u64(st);
	bool ok = col_blob(st, &row->definition);

	row->created_us = col_time(st);
	row->updated_us = col_time(st);
	return ok ? RC_OK : RC_FAULT;
}

enum rc definition_rows_get(struct db *db, enum sql statement, const char *name,
			    struct definition_row *row)
{
	struct stmt *st = db_stmt(db, statement);

	definition_row_release(row);
	bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	rc = read_row(st, row);
	stmt_done(st);
	return rc;
}

struct one {
	enum sql statement;
	const char *name;
	struct definition_row *row;
};

static enum rc read_one(struct db *db, void *arg)
{
	const struct one *one = arg;

	return definition_rows_get(db, one->statement, one->name, one->row);
}

enum rc definition_rows_read(struct db *db, enum sql statement, const char *name,
			     struct definition_row *row_out)
{
	struct one one = { statement, name, row_out };

	*row_out = (struct definition_row){ 0 };
	return db_read(db, read_one, &one);
}

struct page {
	enum sql statement, sizes;
	const char *after;
	uint32_t most;
	uint32_t limit; /* `most`, or what fits */
	struct definition_row *rows;
	size_t len;
};

static struct stmt *page_statement(struct db *db, enum sql statement, const struct page *page,
				   uint32_t limit)
{
	struct stmt *st = db_stmt(db, statement);

	bind_str(st, page->after ? page->after : "");
	bind_u64(st, limit);
	return st;
}

static enum rc read_page(struct db *db, void *arg)
{
	struct page *page = arg;
	enum rc rc = RC_OK;

	while (page->len > 0) /* of an earlier round */
		definition_row_release(&page->rows[--page->len]);
	page->limit = page->most;
	if (page->sizes != SQL__MAX)
		rc = page_fit(page_statement(db, page->sizes, page, page->most), &page->limit);
	if (rc != RC_OK)
		return rc;
	struct stmt *st = page_statement(db, page->statement, page, page->limit + 1);

	rc = stmt_run(st);
	while (rc == RC_OK && page->len <= page->limit) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			rc = read_row(st, &page->rows[page->len]);
		if (rc == RC_OK)
			page->len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc definition_rows_list(struct db *db, enum sql statement, enum sql sizes, const char *after,
			     uint32_t limit, struct definition_row **rows_out, size_t *len_out,
			     bool *more_out)
{
	struct page page = { .statement = statement,
			     .sizes = sizes,
			     .after = after,
			     .most = limit,
			     .rows = calloc(limit + 1u, sizeof(struct definition_row)) };

	if (!page.rows)
		return RC_FAULT;
	enum rc rc = db_read(db, read_page, &page);

	if (rc != RC_OK) {
		definition_list_free(page.rows, page.len);
		return rc;
	}
	*more_out = page.len > page.limit;
	if (*more_out)
		definition_row_release(&page.rows[--page.len]);
	*rows_out = page.rows;
	*len_out = page.len;
	return RC_OK;
}
