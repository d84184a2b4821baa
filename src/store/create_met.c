/* create_met.c: of several creates those whose keys are there already, with one statement. */
#include <string.h>

#include "store/create_private.h"
#include "store/db_private.h"

/* A job that has one of the keys. */
struct meeting {
	struct id id;
	struct job_row row;
	bool broken; /* it can't be read; that is for whoever goes alone to find out */
};

struct meetings {
	struct meeting list[CREATES_MAX];
	size_t len;
};

static struct meeting *meeting_of(struct meetings *all, const struct id *id)
{
	size_t at = 0;

	while (at < all->len && !id_equal(&all->list[at].id, id))
		at++;
	if (at == CREATES_MAX)
		return NULL;
	if (at == all->len)
		all->list[all->len++].id = *id;
	return &all->list[at];
}

/* Rows of one job need not come one after the other. */
static enum rc read_rows(struct stmt *st, struct meetings *all)
{
	struct id id;
	enum rc rc;

	while ((rc = rows_next(st, &id)) == RC_OK) {
		struct meeting *m = meeting_of(all, &id);

		if (!m)
			return RC_FAULT;
		rc = rows_merge(st, &id, &m->row);
		if (rc == RC_FAULT)
			m->broken = true;
		else if (rc != RC_OK)
			return rc;
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* Statements are prepared for a few sizes only: the last key is asked for again. */
static enum rc read_jobs(struct db *db, const struct ticket *tickets, size_t n,
			 struct meetings *all)
{
	struct stmt *st = db_stmt_n(db, SQL_JOBS_BY_KEYS, stmt_group_above(n));

	for (size_t i = 0; i < stmt_group_above(n); i++) {
		const struct ticket *t = &tickets[i < n ? i : n - 1];

		bind_bytes(st, t->owner, t->owner_len);
		bind_bytes(st, t->create->key->bytes, t->create->key->len);
	}
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? read_rows(st, all) : rc;
}

static bool same_bytes(const struct blob *blob, const void *bytes, size_t len)
{
	return blob->len == len && memcmp(blob->bytes, bytes, len) == 0;
}

static struct ticket *ticket_of(struct ticket *tickets, size_t n, const struct job *job)
{
	for (size_t i = 0; i < n; i++) {
		const struct ticket *t = &tickets[i];

		if (same_bytes(&job->owner, t->owner, t->owner_len) &&
		    same_bytes(&job->key, t->create->key->bytes, t->create->key->len))
			return &tickets[i];
	}
	return NULL;
}

static void meet(struct ticket *t, struct job_row *row)
{
	t->create->met = true;
	if (row->large)
		return;
	rows_whole(row);
	t->create->created = create_compare(t->create, row);
	t->answered = true;
}

enum rc create_meet(struct db *db, struct ticket *tickets, size_t n)
{
	struct meetings all = { .len = 0 };
	enum rc rc = read_jobs(db, tickets, n, &all);

	if (rc == RC_OK && all.len > 0)
		db->repeats = REPEATS_REMEMBERED;
	for (size_t i = 0; i < all.len; i++) {
		struct meeting *m = &all.list[i];
		struct ticket *t =
			rc == RC_OK && !m->broken ? ticket_of(tickets, n, &m->row.job) : NULL;

		if (t)
			meet(t, &m->row);
		job_release(&m->row.job);
	}
	return rc;
}
