#include <string.h>

#include "base/clock.h"
#include "store/job_store.h"
#include "store/stmt.h"

#define BATCH 100

/* Walks the primary key from `after`, which is older than everything at first: ids sort by their
 * time of creation, and no job is settled before it is created, so nothing younger than the limit
 * need be looked at. */
struct purge {
	enum sql find;
	const enum sql *writes; /* the last one is of jobs, and its count is the answer */
	size_t writes_len;
	uint64_t older_than_s;
	struct id after;
	struct id upto; /* the end of the window that is looked through now */
	struct id below;
	struct id ids[BATCH];
	size_t len;
	uint64_t purged;
};

static enum rc find(struct db *db, void *arg)
{
	struct purge *p = arg;
	struct stmt *st = db_stmt(db, p->find);

	p->len = 0;
	bind_id(st, &p->after);
	bind_id(st, &p->upto);
	bind_u64(st, p->older_than_s);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && p->len < BATCH) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &p->ids[p->len++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* Locks what is still settled, and keeps only that: a job may have been asked for another attempt
 * meanwhile. */
static enum rc lock_batch(struct db *db, const struct purge *p, struct id *ids, size_t *len_out)
{
	*len_out = 0;
	for (size_t at = 0; at < p->len;) {
		size_t n = stmt_group(p->len - at);
		struct stmt *st = db_stmt_n(db, SQL_PURGE_LOCK, n);

		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &p->ids[at]);
		bind_u64(st, p->older_than_s);
		enum rc rc = stmt_run(st);

		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
			(void)col_id(st, &ids[(*len_out)++]);
		if (rc != RC_NOT_FOUND)
			return rc;
	}
	return RC_OK;
}

static enum rc write_batch(struct db *db, void *arg)
{
	struct purge *p = arg;
	struct id ids[BATCH];
	size_t len;
	uint64_t changed = 0;
	enum rc locked = lock_batch(db, p, ids, &len);

	if (locked != RC_OK)
		return locked;
	for (size_t w = 0; w < p->writes_len; w++) {
		changed = 0;
		for (size_t at = 0; at < len;) {
			size_t n = stmt_group(len - at);
			struct stmt *st = db_stmt_n(db, p->writes[w], n);

			for (size_t i = 0; i < n; i++, at++)
				bind_id(st, &ids[at]);
			enum rc rc = stmt_run(st);

			if (rc != RC_OK)
				return rc;
			changed += stmt_changed(st);
		}
	}
	p->purged = changed;
	return RC_OK;
}

/* So that no statement looks through more than a few thousand rows, however many were purged
 * before. */
static enum rc next_window(struct db *db, void *arg)
{
	struct purge *p = arg;
	struct stmt *st = db_stmt(db, SQL_PURGE_WINDOW);

	bind_id(st, &p->after);
	bind_id(st, &p->below);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc == RC_NOT_FOUND)
		p->upto = p->below;
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	(void)col_id(st, &p->upto);
	stmt_done(st);
	return RC_OK;
}

static enum rc run_window(struct db *db, struct purge *p, uint64_t *purged_out)
{
	enum rc rc;

	do {
		rc = db_read(db, find, p);
		if (rc != RC_OK || p->len == 0)
			break;
		p->after = p->ids[p->len - 1];
		rc = db_transact(db, write_batch, p);
		*purged_out += rc == RC_OK ? p->purged : 0;
	} while (rc == RC_OK && p->len == BATCH);
	p->after = p->upto;
	return rc;
}

static enum rc run(struct db *db, struct purge *p, uint64_t *purged_out)
{
	static const unsigned char zeros[ID_RANDOM_BYTES];
	int64_t limit_us = clock_real_us() - (int64_t)p->older_than_s * 1000000;
	enum rc rc = RC_OK;

	*purged_out = 0;
	if (limit_us <= 0)
		return RC_OK;
	/* A day of slack for clocks that differ; the database's own clock decides on updated_at. */
	p->below = id_make(limit_us + INT64_C(86400000000), zeros);
	do {
		rc = db_read(db, next_window, p);
		if (rc == RC_OK)
			rc = run_window(db, p, purged_out);
	} while (rc == RC_OK && id_compare(&p->upto, &p->below) < 0);
	return rc;
}

enum rc job_store_purge_payloads(struct db *db, uint64_t older_than_s, uint64_t *purged_out)
{
	static const enum sql writes[] = { SQL_PURGE_ATTEMPT_TEXTS, SQL_PURGE_PAYLOADS };
	struct purge p = { .find = SQL_PURGE_FIND_PAYLOADS,
			   .writes = writes,
			   .writes_len = 2,
			   .older_than_s = older_than_s };

	return run(db, &p, purged_out);
}

enum rc job_store_purge_rows(struct db *db, uint64_t older_than_s, uint64_t *purged_out)
{
	static const enum sql writes[] = { SQL_PURGE_RACES, SQL_PURGE_OUTBOX, SQL_PURGE_ATTEMPTS,
					   SQL_PURGE_ROWS };
	struct purge p = { .find = SQL_PURGE_FIND_ROWS,
			   .writes = writes,
			   .writes_len = 4,
			   .older_than_s = older_than_s };

	return run(db, &p, purged_out);
}
