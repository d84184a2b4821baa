/* create_many.c: several creates in one statement. Tokens, providers and contracts are asked for in
 * statements of their own just before, for all of them at once: the insert of a single job, which
 * asks by itself, sees them no later than from its own beginning on either. */
#include <string.h>

#include "store/create_private.h"
#include "store/db_private.h"

/* Whose the tokens are that count at this moment. */
static enum rc know_tokens(struct db *db, struct ticket *const *tickets, size_t n)
{
	struct stmt *st = db_stmt_n(db, SQL_OWNERS_OF_TOKENS, n);
	unsigned char token[SHA256_BYTES], owner[OWNER_MAX];
	enum rc rc;

	for (size_t i = 0; i < n; i++)
		bind_bytes(st, tickets[i]->create->caller->token_sha256, SHA256_BYTES);
	rc = stmt_run(st);
	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
		(void)col_bytes(st, token, sizeof token);
		size_t len = col_bytes(st, owner, sizeof owner);

		for (size_t i = 0; i < n; i++) {
			const struct caller *caller = tickets[i]->create->caller;

			if (!caller->has_token ||
			    memcmp(caller->token_sha256, token, sizeof token) != 0)
				continue;
			memcpy(tickets[i]->owner, owner, len);
			tickets[i]->owner_len = len;
		}
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc know_owners(struct db *db, struct ticket *const *tickets, size_t n)
{
	bool by_token = false;

	for (size_t i = 0; i < n; i++) {
		const struct caller *caller = tickets[i]->create->caller;

		by_token |= caller->has_token;
		tickets[i]->owner_len = caller->has_token ? 0 : caller->owner_len;
		memcpy(tickets[i]->owner, caller->owner ? caller->owner : "",
		       tickets[i]->owner_len);
	}
	return by_token ? know_tokens(db, tickets, n) : RC_OK;
}

/* Which of the providers, or of the contracts, are there. Where a create names the other kind its
 * name here is "", which nothing has. */
static enum rc know_targets(struct db *db, struct ticket *const *tickets, size_t n, bool contracts)
{
	struct stmt *st = db_stmt_n(db, contracts ? SQL_CONTRACTS_NAMED : SQL_PROVIDERS_NAMED, n);
	char name[NAME_MAX_LEN + 1], next[NAME_MAX_LEN + 1];
	uint64_t version = 0;
	enum rc rc;

	for (size_t i = 0; i < n; i++) {
		const struct intent *intent = tickets[i]->create->intent;

		bind_str(st, contracts ? intent->contract : intent->provider);
	}
	rc = stmt_run(st);
	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
		col_name(st, name, sizeof name);
		if (contracts) {
			col_name(st, next, sizeof next);
			version = col_u64(st);
		}
		for (size_t i = 0; i < n; i++) {
			const struct intent *intent = tickets[i]->create->intent;

			if (strcmp(contracts ? intent->contract : intent->provider, name) != 0)
				continue;
			tickets[i]->has_target = true;
			tickets[i]->contract_version = version;
			strcpy(tickets[i]->next_provider, contracts ? next : name);
		}
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc know_all_targets(struct db *db, struct ticket *const *tickets, size_t n)
{
	bool named[2] = { false, false };
	enum rc rc = RC_OK;

	for (size_t i = 0; i < n; i++)
		named[tickets[i]->create->intent->contract[0] != '\0'] = true;
	for (int contracts = 0; contracts < 2 && rc == RC_OK; contracts++)
		if (named[contracts])
			rc = know_targets(db, tickets, n, contracts != 0);
	return rc;
}

static enum rc insert(struct db *db, struct ticket *const *tickets, size_t n)
{
	struct stmt *st = db_stmt_n(db, SQL_JOBS_CREATE, n);
	enum rc rc;

	for (size_t i = 0; i < n; i++) {
		const struct ticket *t = tickets[i];
		bool contract = t->create->intent->contract[0] != '\0';

		bind_id(st, t->create->id);
		bind_bytes(st, t->owner, t->owner_len);
		create_bind_key(st, t->create);
		bind_str(st, contract ? NULL : t->create->intent->provider);
		bind_str(st, t->next_provider);
		create_bind_rest(st, t->create);
		bind_str(st, contract ? t->create->intent->contract : NULL);
		if (contract)
			bind_u64(st, t->contract_version);
		else
			bind_null(st);
	}
	rc = stmt_run(st);
	return rc == RC_OK && stmt_changed(st) != n ? RC_FAULT : rc;
}

/* Until one is refused: what that one waited for the next would wait for, too. */
static size_t insert_all(struct db *db, struct ticket *const *tickets, size_t n)
{
	size_t done = 0;

	while (n - done > 1) {
		size_t part = stmt_group(n - done);

		if (insert(db, tickets + done, part) != RC_OK)
			break;
		for (size_t i = 0; i < part; i++)
			tickets[done + i]->written = true;
		done += part;
	}
	return done;
}

bool create_many(struct db *db, struct ticket *const *tickets, size_t n)
{
	struct ticket *good[STMT_GROUP_MAX];
	size_t m = 0;

	if (know_owners(db, tickets, n) != RC_OK || know_all_targets(db, tickets, n) != RC_OK)
		return false;
	for (size_t i = 0; i < n; i++)
		if (tickets[i]->owner_len > 0 && tickets[i]->has_target)
			good[m++] = tickets[i];
	return insert_all(db, good, m) > 0;
}
