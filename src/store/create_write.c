/* create_write.c: several new jobs in one statement, all or none. Tokens, providers and contracts
 * are asked for in statements of their own just before, for all of them at once: the insert of a
 * single job, which asks by itself, sees them no later than from its own beginning on either. */
#include <string.h>

#include "store/create_private.h"
#include "store/db_private.h"

#define ROUNDS_MAX 3 /* of those who meet keys that weren't there a moment ago */

/* Whose the tokens are that count at this moment. */
static enum rc know_tokens(struct db *db, struct ticket *tickets, size_t n)
{
	struct stmt *st = db_stmt_n(db, SQL_OWNERS_OF_TOKENS, n);
	unsigned char token[SHA256_BYTES], owner[OWNER_MAX];
	enum rc rc;

	for (size_t i = 0; i < n; i++)
		bind_bytes(st, tickets[i].create->caller->token_sha256, SHA256_BYTES);
	rc = stmt_run(st);
	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
		(void)col_bytes(st, token, sizeof token);
		size_t len = col_bytes(st, owner, sizeof owner);

		for (size_t i = 0; i < n; i++) {
			const struct caller *caller = tickets[i].create->caller;

			if (!caller->has_token ||
			    memcmp(caller->token_sha256, token, sizeof token) != 0)
				continue;
			memcpy(tickets[i].owner, owner, len);
			tickets[i].owner_len = len;
		}
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc know_owners(struct db *db, struct ticket *tickets, size_t n)
{
	bool by_token = false;

	for (size_t i = 0; i < n; i++) {
		const struct caller *caller = tickets[i].create->caller;

		by_token |= caller->has_token;
		tickets[i].owner_len = caller->has_token ? 0 : caller->owner_len;
		memcpy(tickets[i].owner, caller->owner ? caller->owner : "", tickets[i].owner_len);
	}
	return by_token ? know_tokens(db, tickets, n) : RC_OK;
}

/* Which of the providers, or of the contracts, are there. Where a create names the other kind its
 * name here is "", which nothing has. */
static enum rc know_targets(struct db *db, struct ticket *tickets, size_t n, bool contracts)
{
	struct stmt *st = db_stmt_n(db, contracts ? SQL_CONTRACTS_NAMED : SQL_PROVIDERS_NAMED, n);
	char name[NAME_MAX_LEN + 1], next[NAME_MAX_LEN + 1];
	uint64_t version = 0;
	enum rc rc;

	for (size_t i = 0; i < n; i++) {
		const struct intent *intent = tickets[i].create->intent;

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
			const struct intent *intent = tickets[i].create->intent;

			if (strcmp(contracts ? intent->contract : intent->provider, name) != 0)
				continue;
			tickets[i].has_target = true;
			tickets[i].contract_version = version;
			strcpy(tickets[i].next_provider, contracts ? next : name);
		}
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc know_all_targets(struct db *db, struct ticket *tickets, size_t n)
{
	bool named[2] = { false, false };
	enum rc rc = RC_OK;

	for (size_t i = 0; i < n; i++)
		named[tickets[i].create->intent->contract[0] != '\0'] = true;
	for (int contracts = 0; contracts < 2 && rc == RC_OK; contracts++)
		if (named[contracts])
			rc = know_targets(db, tickets, n, contracts != 0);
	return rc;
}

static enum rc insert(struct db *db, struct ticket *tickets, size_t n)
{
	struct stmt *st = db_stmt_n(db, SQL_JOBS_CREATE, n);
	enum rc rc;

	for (size_t i = 0; i < n; i++) {
		const struct ticket *t = &tickets[i];
		bool contract = t->create->intent->contract[0] != '\0';

		bind_id(st, &t->create->id);
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

static bool same_key(const struct ticket *a, const struct ticket *b)
{
	const struct idempotency_key *left = a->create->key, *right = b->create->key;

	return left->len == right->len && memcmp(left->bytes, right->bytes, left->len) == 0 &&
	       a->owner_len == b->owner_len && memcmp(a->owner, b->owner, a->owner_len) == 0;
}

/* An owner may have come with two tokens at once. */
static bool is_among(const struct ticket *tickets, size_t n, const struct ticket *ticket)
{
	size_t at = 0;

	while (at < n && !same_key(&tickets[at], ticket))
		at++;
	return at < n;
}

/* Those that no insert of several can write go to the end. Returns how many are before them. */
static size_t sort_out(struct ticket *tickets, size_t n)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		struct ticket ticket = tickets[i];

		if (ticket.owner_len == 0 || !ticket.has_target || ticket.create->met ||
		    is_among(tickets, good, &ticket))
			continue;
		tickets[i] = tickets[good];
		tickets[good++] = ticket;
	}
	return good;
}

/* Until one is refused: what that one waited for the next would wait for, too. */
static enum rc insert_all(struct db *db, struct ticket *tickets, size_t n)
{
	enum rc rc = RC_OK;

	for (size_t done = 0, part; rc == RC_OK && n - done > 1; done += part) {
		part = stmt_group(n - done);
		rc = insert(db, tickets + done, part);
		for (size_t i = 0; i < part; i++)
			tickets[done + i].written = rc == RC_OK;
	}
	return rc;
}

/* Writes those that are new. A key that is met, or fought for, is there the next time. */
static enum rc write_new(struct db *db, struct ticket *tickets, size_t n)
{
	enum rc rc = RC_CONFLICT;

	for (int round = 0; round < ROUNDS_MAX && rc == RC_CONFLICT; round++) {
		size_t good = sort_out(tickets, n), done = 0;

		if (round > 0 && good > 1) {
			rc = create_meet(db, tickets, good);
			if (rc != RC_OK)
				return rc;
			good = sort_out(tickets, good);
		}
		rc = insert_all(db, tickets, good);
		while (done < good && tickets[done].written)
			done++;
		tickets += done;
		n -= done;
		if (rc == RC_RETRY && !db_was_locked_out(db))
			rc = RC_CONFLICT;
	}
	return rc;
}

/* Where there were repeats lately, more are likely: they need neither provider nor insert. */
static enum rc meet_some(struct db *db, struct ticket *tickets, size_t n, bool *all_met_out)
{
	enum rc rc = RC_OK;

	*all_met_out = false;
	if (db->repeats == 0)
		return RC_OK;
	db->repeats--;
	rc = create_meet(db, tickets, n);
	for (size_t i = 0; i < n; i++)
		if (!tickets[i].create->met)
			return rc;
	*all_met_out = rc == RC_OK;
	return rc;
}

enum rc create_write(struct db *db, struct ticket *tickets, size_t n)
{
	bool all_met;
	enum rc rc = know_owners(db, tickets, n);

	if (rc == RC_OK)
		rc = meet_some(db, tickets, n, &all_met);
	if (rc != RC_OK || all_met)
		return rc;
	rc = know_all_targets(db, tickets, n);
	return rc == RC_OK ? write_new(db, tickets, n) : rc;
}
