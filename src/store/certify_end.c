/* certify_end.c: a certification under way: whether it may go on, and how it ends. */
#include <stdlib.h>
#include <string.h>

#include "store/certificate_private.h"
#include "store/certificate_store.h"
#include "store/definition.h"
#include "store/lock.h"
#include "store/stmt.h"

/* What the run is to prove, as it stands now. */
struct standing_now {
	bool there; /* the contract's version and the provider */
	bool same;  /* nothing of it differs from what the run goes by */
	bool enabled;
	uint32_t provider_version;
};

static enum rc fetch_provider(struct db *db, const struct certify_task *task, uint32_t *version_out,
			      struct blob *definition_out)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFY_SUBJECT);

	bind_str(st, task->route->provider);
	bind_str(st, task->contract_name);
	bind_u64(st, task->contract_version);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	col_skip(st);
	*version_out = (uint32_t)col_u64(st);
	rc = col_blob(st, definition_out) ? RC_OK : RC_FAULT;
	stmt_done(st);
	return rc;
}

static enum rc compare(const struct certify_task *task, const struct provider_def *def,
		       bool *same_out)
{
	unsigned char before[SHA256_BYTES], now[SHA256_BYTES];
	enum rc rc = contract_subject(task->contract, task->route, &task->def, before);

	if (rc == RC_OK)
		rc = contract_subject(task->contract, task->route, def, now);
	*same_out = rc == RC_OK && memcmp(before, now, SHA256_BYTES) == 0;
	return rc;
}

/* The contract and the provider's row are locked until the commit. */
static enum rc look(struct db *db, const struct certify_task *task, struct standing_now *now)
{
	struct blob definition = { 0 };
	struct provider_def def;

	*now = (struct standing_now){ 0 };
	enum rc rc = fetch_provider(db, task, &now->provider_version, &definition);

	if (rc == RC_NOT_FOUND)
		return RC_OK;
	if (rc == RC_OK)
		rc = definition_read(&definition, &def);
	free(definition.bytes);
	if (rc != RC_OK)
		return rc == RC_INVALID ? RC_OK : rc;
	now->there = true;
	now->enabled = def.enabled;
	rc = compare(task, &def, &now->same);
	provider_def_release(&def);
	return rc;
}

static struct stmt *of_holder(struct db *db, enum sql how, const struct id *poller,
			      const struct certify_task *task)
{
	struct stmt *st = db_stmt(db, how);

	bind_id(st, &task->id);
	bind_id(st, poller);
	return st;
}

/* Of one row, or RC_NOT_FOUND. */
static enum rc change_one(struct stmt *st)
{
	enum rc rc = stmt_run(st);

	return rc == RC_OK && stmt_changed(st) != 1 ? RC_NOT_FOUND : rc;
}

/* RC_NOT_FOUND: not the poller's, or not as `version` of the provider's row and the contract say.
 */
static enum rc note(struct db *db, const struct id *poller, const struct certify_task *task,
		    uint32_t version, uint32_t done)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFY_PROGRESS);

	bind_u64(st, done);
	bind_id(st, &task->id);
	bind_id(st, poller);
	bind_str(st, task->contract_name);
	bind_u64(st, task->contract_version);
	bind_str(st, task->route->provider);
	bind_u64(st, version);
	return change_one(st);
}

struct following {
	const struct id *poller;
	const struct certify_task *task;
	uint32_t done;
	bool goes_on;
	uint32_t version;
};

static enum rc leave(struct db *db, enum sql how, const struct certify_task *task)
{
	struct stmt *st = db_stmt(db, how);

	bind_id(st, &task->id);
	return stmt_run(st);
}

static enum rc follow(struct db *db, void *arg)
{
	struct following *f = arg;
	struct standing_now now;
	struct stmt *st = of_holder(db, SQL_CERTIFY_HOLD, f->poller, f->task);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	stmt_done(st);
	rc = look(db, f->task, &now);
	if (rc != RC_OK)
		return rc;
	bool stopped = !now.there || (f->task->def.enabled && !now.enabled);

	f->goes_on = !stopped && now.same;
	f->version = now.provider_version;
	if (f->goes_on)
		return note(db, f->poller, f->task, f->version, f->done);
	return leave(db, stopped ? SQL_CERTIFY_DROP : SQL_CERTIFY_LEAVE, f->task);
}

enum rc certify_store_progress(struct db *db, const struct id *poller, struct certify_task *task,
			       uint32_t done)
{
	struct following f = { .poller = poller, .task = task, .done = done };
	enum rc rc = note(db, poller, task, task->provider_version, done);

	if (rc != RC_NOT_FOUND)
		return rc;
	rc = db_transact(db, follow, &f);
	if (rc != RC_OK)
		return rc;
	if (!f.goes_on)
		return RC_NOT_FOUND;
	task->provider_version = f.version;
	return RC_OK;
}

struct ending {
	const struct id *poller;
	const struct certify_task *task;
	struct certificate_issue issue;
};

static enum rc supersede(struct db *db, const struct certificate_issue *issue)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFICATE_SUPERSEDE);

	bind_str(st, issue->contract);
	bind_u64(st, issue->contract_version);
	bind_str(st, issue->provider);
	return stmt_run(st);
}

static enum rc end(struct db *db, void *arg)
{
	struct ending *e = arg;
	struct standing_now now;
	enum rc rc = lock_hold_provider(db, e->issue.provider);

	if (rc == RC_OK)
		rc = change_one(of_holder(db, SQL_CERTIFY_END, e->poller, e->task));
	if (rc == RC_OK)
		rc = look(db, e->task, &now);
	if (rc != RC_OK)
		return rc;
	e->issue.dead = !now.same;
	e->issue.provider_version = now.there ? now.provider_version : e->task->provider_version;
	rc = supersede(db, &e->issue);
	return rc == RC_OK ? certificate_add(db, &e->issue) : rc;
}

enum rc certify_store_end(struct db *db, const struct id *poller, const struct certify_task *task,
			  bool passed, const char *report, size_t report_len)
{
	struct ending e = { poller,
			    task,
			    { .contract = task->contract_name,
			      .contract_version = task->contract_version,
			      .provider = task->route->provider,
			      .passed = passed,
			      .rounds = task->contract->rounds,
			      .report = report,
			      .report_len = report_len,
			      .age_s = task->contract->max_age_s } };
	enum rc rc = contract_subject(task->contract, task->route, &task->def, e.issue.subject);

	return rc == RC_OK ? db_transact(db, end, &e) : rc;
}

enum rc certify_store_drop(struct db *db, const struct id *poller, const struct certify_task *task)
{
	return change_one(of_holder(db, SQL_CERTIFY_END, poller, task));
}
