#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/claim.h"
#include "store/definition.h"
#include "store/lock.h"
#include "store/outbox.h"
#include "store/settle.h"
#include "store/stmt.h"

#define REAP_MAX 256
#define FAIL_MAX 256
#define REAPED_ASK_MS 1000

enum rc poller_register(struct db *db, const struct id *id, const char *host, uint32_t pid,
			uint32_t lease_s)
{
	struct stmt *st = db_stmt(db, SQL_POLLER_REGISTER);

	bind_id(st, id);
	bind_str(st, host);
	bind_u64(st, pid);
	bind_u64(st, lease_s);
	return stmt_run(st);
}

enum rc poller_renew(struct db *db, const struct id *id, uint32_t lease_s)
{
	struct stmt *st = db_stmt(db, SQL_POLLER_RENEW);

	bind_u64(st, lease_s);
	bind_id(st, id);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	return stmt_changed(st) == 1 ? RC_OK : RC_NOT_FOUND;
}

enum rc poller_leave(struct db *db, const struct id *id)
{
	struct stmt *st = db_stmt(db, SQL_POLLER_LEAVE);

	bind_id(st, id);
	return stmt_run(st);
}

struct lost {
	struct word words[REAP_MAX];
	size_t len;
};

/* A lease that has run out can't be renewed, so what is found here stays true. */
static enum rc find_lost(struct db *db, void *arg)
{
	struct lost *lost = arg;
	struct stmt *st = db_stmt(db, SQL_ATTEMPT_LOST_LEASES);
	enum rc rc = stmt_run(st);

	lost->len = 0;
	while (rc == RC_OK && lost->len < REAP_MAX) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		struct word *word = &lost->words[lost->len++];
		struct blob definition = { 0 };

		*word = (struct word){ .event = ON_TRACK_LOST,
				       .by = BY_POLLER,
				       .reason = REASON_POLLER_LOST,
				       .ask_after_ms = -1,
				       .lease_lost = true };
		(void)col_id(st, &word->attempt_id);
		(void)col_id(st, &word->job_id);
		bool named = col_u64(st) != 0;

		if (!col_blob(st, &definition) || definition_can_ask(&definition, named))
			word->ask_after_ms = REAPED_ASK_MS;
		free(definition.bytes);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc claim_reap(struct db *db, size_t *reaped_out)
{
	struct lost lost;
	enum rc rc = db_read(db, find_lost, &lost);

	*reaped_out = 0;
	if (rc == RC_OK && lost.len > 0)
		rc = settle_what_can(db, lost.words, lost.len, reaped_out);
	if (rc != RC_OK)
		return rc;
	return stmt_run(db_stmt(db, SQL_POLLER_BURY));
}

/* Queued jobs that fail for good without an attempt, each told to its owner in the same
 * transaction. */
struct failing {
	enum sql write;
	struct id ids[FAIL_MAX];
	size_t len;
	size_t failed;
};

/* In the order of their ids, as all who lock more than one want them. */
static enum rc find_jobs(struct stmt *st, struct failing *f)
{
	enum rc rc = stmt_run(st);

	f->len = 0;
	while (rc == RC_OK && f->len < FAIL_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &f->ids[f->len++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	qsort(f->ids, f->len, sizeof f->ids[0], id_order);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc fail_jobs(struct db *db, void *arg)
{
	struct failing *f = arg;
	struct id ids[FAIL_MAX];
	size_t len = f->len;

	memcpy(ids, f->ids, len * sizeof ids[0]);
	f->failed = 0;
	enum rc rc = lock_free_jobs(db, ids, &len);

	for (size_t i = 0; rc == RC_OK && i < len; i++) {
		struct stmt *st = db_stmt(db, f->write);

		bind_id(st, &ids[i]);
		rc = stmt_run(st);
		if (rc != RC_OK || stmt_changed(st) == 0)
			continue;
		f->failed++;
		rc = outbox_add(db, &ids[i]);
	}
	return rc;
}

/* As settle_what_can(): one that can't be written holds up no other. */
static enum rc fail_what_can(struct db *db, struct failing *f, size_t *failed)
{
	struct failing one = { .write = f->write, .len = 1 };
	enum rc rc = f->len > 0 ? db_transact(db, fail_jobs, f) : RC_OK;

	*failed += rc == RC_OK && f->len > 0 ? f->failed : 0;
	if (!db_refused(rc))
		return rc;
	rc = RC_OK;
	for (size_t i = 0; (rc == RC_OK || db_refused(rc)) && i < f->len; i++) {
		char job[ID_TEXT_LEN + 1];

		one.ids[0] = f->ids[i];
		rc = db_transact(db, fail_jobs, &one);
		*failed += rc == RC_OK ? one.failed : 0;
		if (db_refused(rc))
			log_error("job.unsettled", "job=%s: its end can't be written down",
				  id_format(&f->ids[i], job));
	}
	return db_refused(rc) ? RC_OK : rc;
}

enum rc claim_expire(struct db *db, size_t *expired_out)
{
	struct failing f = { .write = SQL_JOB_EXPIRE };
	enum rc rc = find_jobs(db_stmt(db, SQL_JOB_EXPIRE_FIND), &f);

	*expired_out = 0;
	return rc == RC_OK ? fail_what_can(db, &f, expired_out) : rc;
}

enum rc claim_any_due(struct db *db, bool *due_out)
{
	struct stmt *st = db_stmt(db, SQL_QUEUE_DUE);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	*due_out = rc == RC_OK;
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc fail_stranded_at(struct db *db, const char *provider, size_t *failed)
{
	struct failing f = { .write = SQL_STRANDED_FAIL };
	struct stmt *st = db_stmt(db, SQL_STRANDED_JOBS);

	bind_str(st, provider);
	enum rc rc = find_jobs(st, &f);

	return rc == RC_OK ? fail_what_can(db, &f, failed) : rc;
}

enum rc claim_fail_stranded(struct db *db, size_t *failed_out)
{
	char names[16][NAME_MAX_LEN + 1];
	size_t len = 0;
	struct stmt *st = db_stmt(db, SQL_STRANDED_FIND);
	enum rc rc = stmt_run(st);

	*failed_out = 0;
	while (rc == RC_OK && len < sizeof names / sizeof names[0]) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			col_name(st, names[len++], sizeof names[0]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	else if (rc != RC_NOT_FOUND)
		return rc;
	rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < len; i++)
		rc = fail_stranded_at(db, names[i], failed_out);
	return rc;
}
