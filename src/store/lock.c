#include "store/lock.h"

#include <string.h>

/* False: a state of a newer program. */
static bool read_locked(struct stmt *st, struct locked_job *l)
{
	char name[64];

	*l = (struct locked_job){ 0 };
	(void)col_id(st, &l->id);
	l->owner_len = col_bytes(st, l->owner, sizeof l->owner);
	l->tombstone = col_bytes(st, name, SHA256_BYTES) != SHA256_BYTES;
	bool known = job_state_parse(name, col_bytes(st, name, sizeof name), &l->state);

	l->version = col_u64(st);
	l->revision = col_u64(st);
	l->has_completed_by = col_id(st, &l->completed_by);
	l->attempt_count = (uint32_t)col_u64(st);
	l->attempts_allowed = (uint32_t)col_u64(st);
	col_name(st, l->provider, sizeof l->provider);
	col_name(st, l->next_provider, sizeof l->next_provider);
	(void)reason_parse(name, col_bytes(st, name, sizeof name), &l->error_reason);
	l->effect_done = col_u64(st) != 0;
	l->deadline_left_us = col_i64(st, INT64_MAX);
	l->has_result = col_bytes(st, l->result_sha256, SHA256_BYTES) == SHA256_BYTES;
	l->purged = col_u64(st) != 0;
	col_name(st, l->contract, sizeof l->contract);
	l->contract_version = (uint32_t)col_u64(st);
	return known;
}

enum rc lock_jobs(struct db *db, const struct id *ids, size_t len, struct locked_job *locked_out,
		  size_t *len_out)
{
	enum rc rc = RC_OK;

	*len_out = 0;
	for (size_t at = 0; rc == RC_OK && at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_JOB_LOCK, n);

		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &ids[at]);
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
			if (!read_locked(st, &locked_out[(*len_out)++]))
				rc = RC_FAULT; /* it isn't ours to move */
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc;
}

enum rc lock_job(struct db *db, const struct id *id, struct locked_job *locked_out)
{
	size_t len;
	enum rc rc = lock_jobs(db, id, 1, locked_out, &len);

	return rc == RC_OK && len == 0 ? RC_NOT_FOUND : rc;
}

enum rc lock_free_jobs(struct db *db, struct id *ids, size_t *len)
{
	size_t free_len = 0;
	enum rc rc = RC_OK;

	for (size_t at = 0; rc == RC_OK && at < *len;) {
		size_t n = stmt_group(*len - at);
		struct stmt *st = db_stmt_n(db, SQL_JOB_LOCK_FREE, n);

		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &ids[at]);
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
			(void)col_id(st, &ids[free_len++]);
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	*len = free_len;
	return rc;
}

enum rc lock_provider(struct db *db, const char *name, bool *enabled_out,
		      struct blob *definition_out)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_LOCK);

	bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*enabled_out = col_u64(st) != 0;
	if (definition_out && !col_blob(st, definition_out))
		rc = RC_FAULT;
	stmt_done(st);
	return rc;
}

static enum rc hold(struct db *db, enum sql how, const char *name)
{
	struct stmt *st;

	if (!db_in_cluster(db))
		return RC_OK;
	st = db_stmt(db, how);
	bind_str(st, name);
	return stmt_run(st);
}

enum rc lock_hold_provider(struct db *db, const char *name)
{
	return hold(db, SQL_PROVIDER_HOLD, name);
}

enum rc lock_hold_routes(struct db *db, const char *contract)
{
	return hold(db, SQL_ROUTES_HOLD, contract);
}

bool lock_visible(const struct locked_job *locked, const struct identity *who)
{
	return who->role == ROLE_OPERATOR ||
	       (locked->owner_len == who->owner_len &&
		memcmp(locked->owner, who->owner, who->owner_len) == 0);
}

bool if_match_has(const struct if_match *if_match, uint64_t version, uint64_t revision)
{
	for (size_t i = 0; i < if_match->len; i++)
		if (if_match->list[i].version == version && if_match->list[i].revision == revision)
			return true;
	return if_match->any;
}

bool lock_matches(const struct locked_job *locked, const struct if_match *if_match)
{
	return !if_match || !if_match->present ||
	       if_match_has(if_match, locked->version, locked->revision);
}
