#include "store/contract_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/flaws.h"
#include "store/certificate_store.h"
#include "store/certificate_private.h"
#include "store/definition_rows.h"
#include "store/lock.h"
#include "store/stmt.h"

enum rc contract_store_get(struct db *db, const char *name, struct definition_row *row_out)
{
	return definition_rows_read(db, SQL_CONTRACT_GET, name, row_out);
}

enum rc contract_store_version(struct db *db, const char *name, uint32_t version,
			       struct contract **contract_out)
{
	struct stmt *st = db_stmt(db, SQL_CONTRACT_VERSION_GET);
	struct blob definition = { 0 };
	struct flaws flaws;

	*contract_out = NULL;
	bind_str(st, name);
	bind_u64(st, version);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	rc = col_blob(st, &definition) ? RC_OK : RC_FAULT;
	stmt_done(st);
	flaws_init(&flaws);
	if (rc == RC_OK)
		rc = contract_read(definition.bytes, definition.len, contract_out, &flaws);
	flaws_release(&flaws);
	free(definition.bytes);
	if (rc == RC_INVALID)
		log_error("contract.unreadable", "contract=%s version=%u", name, version);
	return rc;
}

struct put {
	const char *name;
	const struct contract *contract;
	const struct text *definition;
	bool *new_out;
	size_t *unknown_out;
	struct definition_row *row;
};

/* Their rows stay locked until the commit: none of them can be deleted meanwhile. */
static enum rc find_providers(struct db *db, const struct put *put)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < put->contract->routes_len; i++) {
		bool enabled;

		rc = lock_provider(db, put->contract->routes[i].provider, &enabled, NULL);
		if (rc == RC_NOT_FOUND)
			*put->unknown_out = i;
	}
	return rc;
}

static enum rc add_version(struct db *db, const struct put *put, uint32_t version)
{
	struct stmt *st = db_stmt(db, SQL_CONTRACT_VERSION_ADD);

	bind_str(st, put->name);
	bind_u64(st, version);
	bind_bytes(st, put->definition->bytes, put->definition->len);
	for (int on = 0; on < POLICY_ON__MAX; on++)
		bind_str(st, policy_name(put->contract->on_failure[on]));
	enum rc rc = stmt_run(st);

	for (size_t i = 0; rc == RC_OK && i < put->contract->routes_len; i++) {
		st = db_stmt(db, SQL_CONTRACT_ROUTE_ADD);
		bind_str(st, put->name);
		bind_u64(st, version);
		bind_u64(st, i);
		bind_str(st, put->contract->routes[i].provider);
		rc = stmt_run(st);
	}
	return rc == RC_CONFLICT ? RC_FAULT : rc;
}

static enum rc insert(struct db *db, const struct put *put)
{
	struct stmt *st = db_stmt(db, SQL_CONTRACT_INSERT);

	bind_str(st, put->name);
	bind_str(st, put->contract->routes[0].provider);
	return stmt_run(st);
}

/* The row is locked from here on. */
static enum rc lock_head(struct db *db, const char *name, uint32_t *version_out, bool *live_out)
{
	struct stmt *st = db_stmt(db, SQL_CONTRACT_LOCK);

	bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*version_out = (uint32_t)col_u64(st);
	*live_out = col_u64(st) != 0;
	stmt_done(st);
	return lock_hold_routes(db, name); /* it may have had others when they were held first */
}

static bool is_same(const struct definition_row *row, const struct text *definition)
{
	return row->definition.len == definition->len &&
	       memcmp(row->definition.bytes, definition->bytes, definition->len) == 0;
}

static enum rc renew(struct db *db, const struct put *put, uint32_t version)
{
	struct stmt *st = db_stmt(db, SQL_CONTRACT_RENEW);

	bind_str(st, put->contract->routes[0].provider);
	bind_str(st, put->name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = add_version(db, put, version + 1);
	return rc == RC_OK ? certificates_move_on(db, put->name, version, put->contract) : rc;
}

static enum rc put_again(struct db *db, const struct put *put)
{
	uint32_t version;
	bool live;
	enum rc rc = lock_head(db, put->name, &version, &live);

	if (rc == RC_OK && live)
		rc = definition_rows_get(db, SQL_CONTRACT_GET, put->name, put->row);
	if (rc != RC_OK || (live && is_same(put->row, put->definition)))
		return rc;
	*put->new_out = !live;
	rc = find_providers(db, put);
	return rc == RC_OK ? renew(db, put, version) : rc;
}

/* Of the contract as it was and as it will be. */
static enum rc hold_providers(struct db *db, const struct put *put)
{
	enum rc rc = lock_hold_routes(db, put->name);

	for (size_t i = 0; rc == RC_OK && i < put->contract->routes_len; i++)
		rc = lock_hold_provider(db, put->contract->routes[i].provider);
	return rc;
}

/* The insert decides whether it is new. */
static enum rc put_row(struct db *db, void *arg)
{
	struct put *put = arg;
	enum rc rc = hold_providers(db, put);

	if (rc == RC_OK)
		rc = insert(db, put);
	*put->new_out = rc == RC_OK;
	if (rc == RC_CONFLICT) {
		rc = put_again(db, put);
	} else if (rc == RC_OK) {
		rc = find_providers(db, put);
		if (rc == RC_OK)
			rc = add_version(db, put, 1);
	}
	return rc == RC_OK ? definition_rows_get(db, SQL_CONTRACT_GET, put->name, put->row) : rc;
}

enum rc contract_store_put(struct db *db, const char *name, const struct contract *contract,
			   bool *new_out, size_t *unknown_out, struct definition_row *row_out)
{
	struct text definition;
	struct put put = { name, contract, &definition, new_out, unknown_out, row_out };
	enum rc rc = RC_FAULT;

	*row_out = (struct definition_row){ 0 };
	text_init(&definition, (size_t)CONTRACT_MAX_BYTES * 2);
	contract_write(contract, &definition);
	if (text_ok(&definition))
		rc = db_transact(db, put_row, &put);
	text_release(&definition);
	if (rc != RC_OK)
		definition_row_release(row_out);
	return rc;
}

enum rc contract_store_list(struct db *db, const char *after, uint32_t limit,
			    struct definition_row **rows_out, size_t *len_out, bool *more_out)
{
	return definition_rows_list(db, SQL_CONTRACT_LIST, SQL_CONTRACT_SIZES, after, limit,
				    rows_out, len_out, more_out);
}

static enum rc delete_live(struct db *db, void *arg)
{
	const char *name = arg;
	struct stmt *st;
	uint32_t version;
	bool live;
	enum rc rc = lock_hold_routes(db, name);

	if (rc == RC_OK)
		rc = lock_head(db, name, &version, &live);
	if (rc != RC_OK || !live)
		return rc == RC_OK ? RC_NOT_FOUND : rc;
	st = db_stmt(db, SQL_CONTRACT_DELETE);
	bind_str(st, name);
	rc = stmt_run(st);
	return rc == RC_OK ? certificates_move_on(db, name, version, NULL) : rc;
}

enum rc contract_store_delete(struct db *db, const char *name)
{
	return db_transact(db, delete_live, (void *)(uintptr_t)name);
}
