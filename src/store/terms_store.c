#include "store/terms_store.h"

#include <stdlib.h>

#include "store/contract_store.h"
#include "store/stmt.h"

void job_terms_release(struct job_terms *terms)
{
	contract_free(terms->contract);
	free(terms->input.bytes);
	*terms = (struct job_terms){ 0 };
}

enum rc terms_store_read(struct db *db, const struct id *job_id, const char *provider,
			 struct job_terms *terms_out)
{
	struct stmt *st = db_stmt(db, SQL_JOB_TERMS);
	char name[NAME_MAX_LEN + 1];

	*terms_out = (struct job_terms){ 0 };
	bind_id(st, job_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	col_name(st, name, sizeof name);
	uint32_t version = (uint32_t)col_u64(st);
	bool ok = col_blob(st, &terms_out->input);

	stmt_done(st);
	terms_out->has_contract = name[0] != '\0';
	if (ok && terms_out->has_contract)
		rc = contract_store_version(db, name, version, &terms_out->contract);
	if (!ok || (rc != RC_OK && rc != RC_INVALID && rc != RC_NOT_FOUND)) {
		job_terms_release(terms_out);
		return ok ? rc : RC_FAULT;
	}
	if (terms_out->contract)
		terms_out->route = contract_route(terms_out->contract, provider);
	return RC_OK;
}
