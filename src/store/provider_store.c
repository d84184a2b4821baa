#include "store/provider_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/contract.h"
#include "store/certificate_private.h"
#include "store/definition_rows.h"
#include "store/stmt.h"

enum rc provider_store_get(struct db *db, const char *name, struct definition_row *row_out)
{
	return definition_rows_read(db, SQL_PROVIDER_GET, name, row_out);
}

struct put {
	const char *name;
	const struct provider_def *def;
	const struct text *definition;
	bool *new_out;
	struct definition_row *row;
	bool changed; /* by this round */
};

static enum rc update(struct db *db, struct put *put)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_UPDATE);

	bind_bytes(st, put->definition->bytes, put->definition->len);
	bind_u64(st, put->def->enabled);
	bind_u64(st, put->def->max_in_flight);
	bind_str(st, put->name);
	bind_bytes(st, put->definition->bytes, put->definition->len);
	enum rc rc = stmt_run(st);

	put->changed = rc == RC_OK && stmt_changed(st) == 1;
	return rc;
}

static enum rc proves_other(const struct blob *before, const struct provider_def *now,
			    bool *other_out)
{
	unsigned char old_subject[SHA256_BYTES], new_subject[SHA256_BYTES];
	struct provider_def old;
	enum rc rc = definition_read(before, &old);

	*other_out = true;
	if (rc != RC_OK)
		return rc == RC_INVALID ? RC_OK : rc;
	rc = contract_provider_subject(&old, old_subject);
	if (rc == RC_OK)
		rc = contract_provider_subject(now, new_subject);
	provider_def_release(&old);
	if (rc == RC_OK)
		*other_out = memcmp(old_subject, new_subject, SHA256_BYTES) != 0;
	return rc;
}

/* For what comes back about attempts whose requests were built from it. */
static enum rc keep(struct db *db, const struct definition_row *row)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_KEEP);

	bind_str(st, row->name);
	bind_u64(st, row->version);
	bind_bytes(st, row->definition.bytes, row->definition.len);
	return stmt_run(st);
}

/* What proved the row before dies, or follows it, in the same transaction. The refused insert has
 * locked the row. */
static enum rc change(struct db *db, struct put *put)
{
	struct definition_row before = { 0 };
	bool other = true;
	enum rc rc = definition_rows_get(db, SQL_PROVIDER_GET, put->name, &before);

	if (rc != RC_OK)
		return rc;
	rc = update(db, put);
	if (rc == RC_OK && put->changed) /* a program that keeps none may have put it there */
		rc = keep(db, &before);
	if (rc == RC_OK && put->changed) {
		rc = proves_other(&before.definition, put->def, &other);
		if (rc == RC_OK)
			rc = certificates_follow_provider(db, put->name, before.version,
							  before.version + 1, other);
	}
	definition_row_release(&before);
	return rc;
}

/* The insert decides whether it is new. A refused key doesn't end the transaction. */
static enum rc put_row(struct db *db, void *arg)
{
	struct put *put = arg;
	struct stmt *st = db_stmt(db, SQL_PROVIDER_INSERT);

	bind_str(st, put->name);
	bind_bytes(st, put->definition->bytes, put->definition->len);
	bind_u64(st, put->def->enabled);
	bind_u64(st, put->def->max_in_flight);
	enum rc rc = stmt_run(st);

	*put->new_out = rc == RC_OK;
	if (rc == RC_CONFLICT)
		rc = change(db, put);
	else if (rc == RC_OK) /* versions begin anew: what proved an earlier row of the name, which
				 an old program deleted, proves nothing of this one */
		rc = certificates_die_by_provider(db, put->name);
	if (rc == RC_OK)
		rc = definition_rows_get(db, SQL_PROVIDER_GET, put->name, put->row);
	return rc == RC_OK ? keep(db, put->row) : rc;
}

#define REARM_MAX 256 /* of SQL_ASK_REARM */

struct rearming {
	const char *name;
	uint64_t changed;
};

static enum rc rearm(struct db *db, void *arg)
{
	struct rearming *rearming = arg;
	struct stmt *st = db_stmt(db, SQL_ASK_REARM);

	bind_str(st, rearming->name);
	enum rc rc = stmt_run(st);

	rearming->changed = rc == RC_OK ? stmt_changed(st) : 0;
	return rc;
}

/* By the row as it is now there may be a question where there was none. In transactions of their
 * own, a few at a time, for these rows are everybody's; a put that is said again goes on with it.
 */
static enum rc rearm_all(struct db *db, const char *name)
{
	struct rearming rearming = { .name = name, .changed = REARM_MAX };
	enum rc rc = RC_OK;

	while (rc == RC_OK && rearming.changed == REARM_MAX)
		rc = db_transact(db, rearm, &rearming);
	return rc;
}

enum rc provider_store_put(struct db *db, const char *name, const struct provider_def *def,
			   bool *new_out, struct definition_row *row_out)
{
	struct text definition;
	struct put put = { name, def, &definition, new_out, row_out, false };
	enum rc rc = RC_FAULT;

	*row_out = (struct definition_row){ 0 };
	text_init(&definition, PROVIDER_MAX_BYTES * 2);
	provider_def_write(def, &definition);
	if (text_ok(&definition))
		rc = db_transact(db, put_row, &put);
	if (rc == RC_OK)
		rc = rearm_all(db, name);
	text_release(&definition);
	if (rc != RC_OK)
		definition_row_release(row_out);
	return rc;
}

enum rc provider_store_list(struct db *db, const char *after, uint32_t limit,
			    struct definition_row **rows_out, size_t *len_out, bool *more_out)
{
	return definition_rows_list(db, SQL_PROVIDER_LIST, SQL__MAX, after, limit, rows_out,
				    len_out, more_out);
}

static enum rc in_use(struct db *db, const char *name, bool *used_out)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_IN_USE);

	for (int i = 0; i < 3; i++)
		bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*used_out = col_u64(st) != 0;
	stmt_done(st);
	return RC_OK;
}

static enum rc forget(struct db *db, const char *name)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_FORGET);

	bind_str(st, name);
	return stmt_run(st);
}

/* A create reads the row without a lock, so one may cross this and be queued for a provider that
 * has gone. The pollers' upkeep fails such a job as never sent (claim_fail_stranded). */
static enum rc delete_unused(struct db *db, void *arg)
{
	const char *name = arg;
	bool used = false;
	struct stmt *st = db_stmt(db, SQL_PROVIDER_DELETE);

	bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	if (stmt_changed(st) == 0)
		return RC_NOT_FOUND;
	rc = in_use(db, name, &used);
	if (rc == RC_OK && used)
		return RC_CONFLICT;
	if (rc == RC_OK)
		rc = forget(db, name);
	return rc == RC_OK ? certificates_die_by_provider(db, name) : rc;
}

enum rc provider_store_delete(struct db *db, const char *name)
{
	return db_transact_sure(db, delete_unused, (void *)(uintptr_t)name);
}
