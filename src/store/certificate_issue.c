/* certificate_issue.c: how certificates come and go: written, dead by a change of what was proven,
 * carried over to a new version that changes nothing of it. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/certificate_private.h"
#include "store/definition.h"
#include "store/stmt.h"

enum rc certificate_add(struct db *db, const struct certificate_issue *issue)
{
	struct id id = clock_id();
	struct stmt *st = db_stmt(db, SQL_CERTIFICATE_ADD);

	bind_id(st, &id);
	bind_str(st, issue->contract);
	bind_u64(st, issue->contract_version);
	bind_str(st, issue->provider);
	bind_u64(st, issue->provider_version);
	bind_u64(st, CONTRACT_RULE_VERSION);
	bind_bytes(st, issue->subject, SHA256_BYTES);
	bind_u64(st, issue->passed);
	bind_u64(st, issue->rounds);
	bind_bytes(st, issue->report, issue->report_len);
	bind_time(st, issue->issued_us);
	bind_time(st, issue->issued_us);
	bind_u64(st, issue->age_s);
	bind_u64(st, issue->dead);
	return stmt_run(st);
}

static enum rc die(struct db *db, enum sql how, const char *name)
{
	struct stmt *st = db_stmt(db, how);

	bind_str(st, name);
	return stmt_run(st);
}

enum rc certificates_die_by_provider(struct db *db, const char *provider)
{
	return die(db, SQL_CERTIFICATES_DIE_BY_PROVIDER, provider);
}

enum rc certificates_follow_provider(struct db *db, const char *provider, uint32_t from,
				     uint32_t to, bool proven_changed)
{
	struct stmt *st;

	if (proven_changed)
		return certificates_die_by_provider(db, provider);
	st = db_stmt(db, SQL_CERTIFICATES_FOLLOW);
	bind_u64(st, to);
	bind_str(st, provider);
	bind_u64(st, from);
	return stmt_run(st);
}

/* A living certificate of the version before, and the provider's row that it proves. */
struct living {
	struct certificate_issue issue;
	char provider[NAME_MAX_LEN + 1];
	uint32_t rule_version;
	unsigned char subject[SHA256_BYTES];
	struct blob report;
	int64_t expires_us;
	struct blob definition;
};

static enum rc read_living(struct stmt *st, struct living *l)
{
	*l = (struct living){ 0 };
	col_name(st, l->provider, sizeof l->provider);
	l->issue.provider_version = (uint32_t)col_u64(st);
	l->rule_version = (uint32_t)col_u64(st);
	(void)col_bytes(st, l->subject, SHA256_BYTES);
	l->issue.passed = col_u64(st) != 0;
	l->issue.rounds = (uint32_t)col_u64(st);
	bool ok = col_blob(st, &l->report);

	l->issue.issued_us = col_time(st);
	l->expires_us = col_time(st);
	return ok && col_blob(st, &l->definition) ? RC_OK : RC_FAULT;
}

static void living_free(struct living *list, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		free(list[i].report.bytes);
		free(list[i].definition.bytes);
	}
	free(list);
}

/* Their providers' rows are locked with them: a claim that has read one of these certificates holds
 * its provider's row until it is committed, and so comes before this change. */
static enum rc find_living(struct db *db, const char *contract, uint32_t version,
			   struct living *list, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFICATES_OF_CONTRACT);

	*len_out = 0;
	bind_str(st, contract);
	bind_u64(st, version);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && *len_out < CONTRACT_ROUTES_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			rc = read_living(st, &list[(*len_out)++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static uint32_t age_of(const struct living *l, uint32_t max_age_s)
{
	int64_t left_s = (l->expires_us - l->issue.issued_us) / 1000000;

	return left_s < (int64_t)max_age_s ? (uint32_t)left_s : max_age_s;
}

static enum rc carry_over(struct db *db, const char *contract, uint32_t version,
			  const struct contract *now, struct living *l)
{
	const struct route *route = contract_route(now, l->provider);
	struct provider_def def;

	if (!route || l->rule_version != CONTRACT_RULE_VERSION)
		return RC_OK;
	enum rc rc = definition_read(&l->definition, &def);

	if (rc != RC_OK)
		return rc == RC_INVALID ? RC_OK : rc;
	rc = contract_subject(now, route, &def, l->issue.subject);
	provider_def_release(&def);
	if (rc != RC_OK || memcmp(l->issue.subject, l->subject, SHA256_BYTES) != 0)
		return rc;
	l->issue.contract = contract;
	l->issue.contract_version = version;
	l->issue.provider = l->provider;
	l->issue.report = l->report.bytes;
	l->issue.report_len = l->report.len;
	l->issue.age_s = age_of(l, now->max_age_s);
	return certificate_add(db, &l->issue);
}

enum rc certificates_move_on(struct db *db, const char *contract, uint32_t before,
			     const struct contract *now)
{
	struct living *list = calloc(CONTRACT_ROUTES_MAX, sizeof *list);
	size_t len = 0;
	enum rc rc = RC_FAULT;

	if (list)
		rc = find_living(db, contract, before, list, &len);
	if (rc == RC_OK)
		rc = die(db, SQL_CERTIFICATES_DIE_BY_CONTRACT, contract);
	for (size_t i = 0; rc == RC_OK && now && i < len; i++)
		rc = carry_over(db, contract, before + 1, now, &list[i]);
	living_free(list, len);
	return rc;
}
