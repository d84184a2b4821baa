#include "store/lock.h"

#include <string.h>

enum rc lock_job(struct db *db, const struct id *id, struct locked_job *locked_out)
{
	struct stmt *st = db_stmt(db, SQL_JOB_LOCK);
	struct locked_job *l = locked_out;
	char name[64];

	bind_id(st, id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
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
	stmt_done(st);
	return known ? RC_OK : RC_FAULT; /* a state of a newer program: it isn't ours to move */
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

bool lock_visible(const struct locked_job *locked, const struct identity *who)
{
	return who->role == ROLE_OPERATOR ||
	       (locked->owner_len == who->owner_len &&
		memcmp(locked->owner, who->owner, who->owner_len) == 0);
}

bool lock_matches(const struct locked_job *locked, const struct if_match *if_match)
{
	if (!if_match || !if_match->present || if_match->any)
		return true;
	for (size_t i = 0; i < if_match->len; i++)
		if (if_match->list[i].version == locked->version &&
		    if_match->list[i].revision == locked->revision)
			return true;
	return false;
}
