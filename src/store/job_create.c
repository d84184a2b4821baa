#include <string.h>

#include "base/clock.h"
#include "base/timestamp.h"
#include "store/db_private.h"
#include "store/create_private.h"
#include "store/rows.h"
#include "store/stmt.h"

#define ROUNDS                                                                                     \
	8 /* fifty equal inserts at once may deadlock several times before one of them is first */

#define TRYING_MS 20000 /* with an answer that is waited for as long again: nginx waits 60 s */

void create_bind_key(struct stmt *st, const struct create *c)
{
	bind_bytes(st, c->key->bytes, c->key->len);
	bind_bytes(st, c->intent->fingerprint, SHA256_BYTES);
}

void create_bind_rest(struct stmt *st, const struct create *c)
{
	bind_bytes(st, c->intent->input, c->intent->input_len);
	if (c->intent->metadata_len > 2)
		bind_bytes(st, c->intent->metadata, c->intent->metadata_len);
	else
		bind_null(st);
	bind_u64(st, c->intent->max_attempts);
	bind_u64(st, c->intent->max_attempts);
	bind_time(st, c->intent->not_before_us);
	bind_time(st, c->intent->not_before_us);
	bind_time(st, c->intent->expires_us);
	bind_time(st, c->intent->deadline_us);
	bind_str(st, c->traceparent);
	bind_time(st, c->now_us);
	bind_time(st, c->now_us);
}

static bool copy(struct blob *blob, const void *bytes, size_t len)
{
	struct text text;

	text_init(&text, len);
	text_add(&text, bytes, len);
	blob->len = len;
	blob->bytes = text_take(&text);
	return blob->bytes != NULL;
}

enum rc create_fill(struct job *job, const struct create *c, const void *owner, size_t owner_len,
		    uint64_t contract_version)
{
	bool ok = copy(&job->owner, owner, owner_len);

	job->id = c->id;
	job->state = JOB_QUEUED;
	memcpy(job->provider, c->intent->provider, sizeof job->provider);
	memcpy(job->contract, c->intent->contract, sizeof job->contract);
	job->contract_version = (uint32_t)contract_version;
	job->max_attempts = c->intent->max_attempts;
	job->not_before_us = c->intent->not_before_us;
	job->expires_us = c->intent->expires_us;
	job->deadline_us = c->intent->deadline_us;
	job->run_after_us =
		c->intent->not_before_us > c->now_us ? c->intent->not_before_us : c->now_us;
	job->created_us = c->now_us;
	job->updated_us = c->now_us;
	ok = ok && copy(&job->key, c->key->bytes, c->key->len) &&
	     copy(&job->input, c->intent->input, c->intent->input_len) &&
	     (c->intent->metadata_len <= 2 ||
	      copy(&job->metadata, c->intent->metadata, c->intent->metadata_len));
	if (ok)
		return RC_OK;
	job_release(job);
	return RC_UNCERTAIN;
}

static const struct known_owner *known_owner(struct db *db, const struct caller *caller)
{
	const unsigned char *hash = caller->token_sha256;
	struct known_owner *known = &db->known[hash[0] % KNOWN_OWNERS];
	struct identity who;

	if (known->owner_len > 0 && memcmp(known->token_sha256, hash, SHA256_BYTES) == 0)
		return known;
	if (job_store_identify(db, caller, &who) != RC_OK)
		return NULL;
	memcpy(known->token_sha256, hash, SHA256_BYTES);
	memcpy(known->owner, who.owner, who.owner_len);
	known->owner_len = who.owner_len;
	return known;
}

/* Where this fails the job is written all the same: the next round's insert meets it, and the
 * look-up tells the rest. */
static enum rc new_job(struct db *db, struct create *c, uint64_t contract_version)
{
	const struct caller *caller = c->caller;

	if (!caller->has_token)
		return create_fill(&c->job, c, caller->owner, caller->owner_len, contract_version);
	const struct known_owner *known = known_owner(db, caller);

	return known ? create_fill(&c->job, c, known->owner, known->owner_len, contract_version)
		     : RC_UNCERTAIN;
}

static enum sql insert_of(bool by_token, bool by_contract, bool once)
{
	static const enum sql inserts[2][2][2] = {
		{ { SQL_JOB_CREATE_BY_OWNER, SQL_JOB_CREATE_BY_OWNER_ONCE },
		  { SQL_CONTRACT_JOB_CREATE_BY_OWNER, SQL_CONTRACT_JOB_CREATE_BY_OWNER_ONCE } },
		{ { SQL_JOB_CREATE_BY_TOKEN, SQL_JOB_CREATE_BY_TOKEN_ONCE },
		  { SQL_CONTRACT_JOB_CREATE_BY_TOKEN, SQL_CONTRACT_JOB_CREATE_BY_TOKEN_ONCE } },
	};

	return inserts[by_token][by_contract][once];
}

/* RC_OK: written, and the answer is in c->job. RC_NOT_FOUND: no row: the token, the provider or the
 * contract isn't there; or, with `once`, the key is. */
static enum rc insert(struct db *db, struct create *c, bool once)
{
	bool by_token = c->caller->has_token, by_contract = c->intent->contract[0] != '\0';
	struct stmt *st = db_stmt(db, insert_of(by_token, by_contract, once));

	bind_id(st, &c->id);
	if (!by_token)
		bind_bytes(st, c->caller->owner, c->caller->owner_len);
	create_bind_key(st, c);
	create_bind_rest(st, c);
	if (by_token)
		bind_bytes(st, c->caller->token_sha256, SHA256_BYTES);
	bind_str(st, by_contract ? c->intent->contract : c->intent->provider);
	if (once)
		bind_bytes(st, c->key->bytes, c->key->len);
	if (once && !by_token)
		bind_bytes(st, c->caller->owner, c->caller->owner_len);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK)
		return rc;
	if (stmt_changed(st) != 1)
		return RC_NOT_FOUND;
	return new_job(db, c, by_contract ? stmt_insert_id(st) : 0);
}

/* RC_OK: the key's job. RC_CONFLICT: the caller is fine and has no such job. RC_NOT_FOUND: no such
 * caller. */
static enum rc look_up(struct db *db, const struct create *c, bool locked, struct job_row *row_out)
{
	bool by_token = c->caller->has_token;
	struct stmt *st;

	if (by_token)
		st = db_stmt(db, locked ? SQL_JOB_BY_KEY_TOKEN_LOCKED : SQL_JOB_BY_KEY_TOKEN);
	else
		st = db_stmt(db, locked ? SQL_JOB_BY_KEY_OWNER_LOCKED : SQL_JOB_BY_KEY_OWNER);
	if (!by_token)
		bind_bytes(st, c->caller->owner, c->caller->owner_len);
	bind_bytes(st, c->key->bytes, c->key->len);
	if (by_token)
		bind_bytes(st, c->caller->token_sha256, SHA256_BYTES);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = rows_job(st, row_out);
	return rc == RC_NOT_FOUND && !by_token ? RC_CONFLICT : rc;
}

enum created create_compare(struct create *c, struct job_row *row)
{
	bool ours = id_equal(&row->job.id, &c->id); /* our own insert, whose answer was lost */
	bool same = row->has_fingerprint &&
		    memcmp(row->fingerprint, c->intent->fingerprint, SHA256_BYTES) == 0;

	if (ours || same) {
		c->job = row->job;
		row->job = (struct job){ 0 };
		return ours ? CREATED_NEW : CREATED_REPLAYED;
	}
	c->job.id = row->job.id;
	job_release(&row->job);
	return row->has_fingerprint ? CREATED_KEY_REUSED : CREATED_INTENT_CANCELLED;
}

/* In a cluster the other nodes may have what isn't found here, or what the insert lost against.
 * Once for each create: a node that lags is waited for for seconds. False: there is nobody to ask.
 */
static bool ask_others(struct db *db, struct create *c, bool *again_out)
{
	if (c->caught_up || !db_in_cluster(db))
		return false;
	c->caught_up = true;
	*again_out = db_catch_up(db) == RC_OK;
	return true;
}

/* No new row, and no error but perhaps a duplicate. Then the row is there, even where a first look
 * doesn't see it yet, and a locking read does. */
static enum created create_met(struct db *db, struct create *c, bool duplicate, bool once,
			       bool *again_out)
{
	bool contract = c->intent->contract[0] != '\0';
	struct job_row row = { 0 };
	enum rc rc = look_up(db, c, false, &row);

	if (rc == RC_CONFLICT && duplicate)
		rc = look_up(db, c, true, &row);
	if (rc == RC_OK) {
		db->repeats = REPEATS_REMEMBERED;
		return create_compare(c, &row);
	}
	bool missing = rc == RC_NOT_FOUND || (rc == RC_CONFLICT && !duplicate && !once);

	if (missing && ask_others(db, c, again_out))
		return CREATED_NOT_STORED;
	if (rc == RC_NOT_FOUND)
		return CREATED_NO_SUCH_CALLER;
	if (missing)
		return contract ? CREATED_NO_SUCH_CONTRACT : CREATED_NO_SUCH_PROVIDER;
	/* What was there a moment ago may have gone; without `once` it is plain what is missing. */
	db->repeats = 0;
	*again_out = rc == RC_RETRY || rc == RC_CONFLICT;
	return CREATED_NOT_STORED;
}

/* Its key was there a moment ago. False: not any more, or nobody can tell. */
static bool look_at(struct db *db, struct create *c)
{
	struct job_row row = { 0 };

	c->met = false;
	if (look_up(db, c, false, &row) != RC_OK)
		return false;
	db->repeats = REPEATS_REMEMBERED;
	c->created = create_compare(c, &row);
	return true;
}

/* One round; *again_out: nothing is decided, another may. */
static enum created create_round(struct db *db, struct create *c, bool *again_out)
{
	bool once = db->repeats > 0;
	enum rc rc;

	if (c->met && look_at(db, c))
		return c->created;
	rc = insert(db, c, once);

	if (rc == RC_OK) {
		db->repeats -= once;
		return CREATED_NEW;
	}
	*again_out = rc == RC_RETRY || rc == RC_UNCERTAIN;
	if (rc == RC_INVALID && db_was_too_large(db))
		return CREATED_TOO_LARGE;
	if (rc == RC_RETRY)
		(void)ask_others(db, c, again_out);
	if (rc != RC_CONFLICT && rc != RC_NOT_FOUND)
		return CREATED_NOT_STORED;
	return create_met(db, c, rc == RC_CONFLICT, once, again_out);
}

/* With a token and an owner the token decides, and must be that owner's. */
static bool is_who_it_says(struct db *db, struct create *c)
{
	struct identity who;
	enum rc rc;

	if (c->rounds > 0 || !c->caller->has_token || !c->caller->owner)
		return true;
	rc = job_store_identify(db, c->caller, &who);
	c->created = rc == RC_NOT_FOUND ? CREATED_NO_SUCH_CALLER : CREATED_NOT_STORED;
	return rc == RC_OK;
}

/* A lost answer leaves open whether the row is there: the next insert of the same id and key finds
 * out. */
bool create_alone(struct db *db, struct create *c)
{
	bool again = false;

	if (!is_who_it_says(db, c))
		return true;
	if (c->rounds > 0)
		db_pause((int)c->rounds);
	else
		c->until_ms = clock_monotonic_ms() + TRYING_MS;
	c->created = create_round(db, c, &again);
	return !again || ++c->rounds == ROUNDS || clock_monotonic_ms() >= c->until_ms;
}
