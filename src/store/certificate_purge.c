/* certificate_purge.c: the reports of verdicts that don't count any more. The rows stay: attempts
 * name them. */
#include "store/certificate_store.h"
#include "store/rows.h"
#include "store/stmt.h"

#define BATCH 20

struct purge {
	uint64_t older_than_s;
	struct id after;
	struct id upto; /* the end of the window that is looked through now */
	uint64_t emptied;
};

/* So that no statement looks through more than a few thousand rows. */
static enum rc next_window(struct db *db, void *arg)
{
	struct purge *p = arg;
	struct stmt *st = db_stmt(db, SQL_PURGE_CERTIFICATE_WINDOW);

	p->upto = ID_ABOVE_ALL;
	bind_id(st, &p->after);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	(void)col_id(st, &p->upto);
	stmt_done(st);
	return RC_OK;
}

static enum rc empty_batch(struct db *db, void *arg)
{
	struct purge *p = arg;
	struct stmt *st = db_stmt(db, SQL_PURGE_REPORTS);

	bind_id(st, &p->after);
	bind_id(st, &p->upto);
	bind_u64(st, p->older_than_s);
	bind_u64(st, BATCH);
	enum rc rc = stmt_run(st);

	p->emptied = rc == RC_OK ? stmt_changed(st) : 0;
	return rc;
}

enum rc certificate_store_purge_reports(struct db *db, uint64_t older_than_s, uint64_t *emptied_out)
{
	struct purge p = { .older_than_s = older_than_s };
	enum rc rc;

	*emptied_out = 0;
	do {
		rc = db_read(db, next_window, &p);
		for (p.emptied = BATCH; rc == RC_OK && p.emptied == BATCH;) {
			rc = db_transact(db, empty_batch, &p);
			*emptied_out += rc == RC_OK ? p.emptied : 0;
		}
		p.after = p.upto;
	} while (rc == RC_OK && id_compare(&p.upto, &ID_ABOVE_ALL) < 0);
	return rc;
}
