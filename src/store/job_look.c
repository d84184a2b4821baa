/* job_look.c: reads that came at the same moment, with statements for all of them: whose the tokens
 * are, which jobs are still what the client has, and the others. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/db_private.h"
#include "store/job_store.h"
#include "store/lock.h"
#include "store/rows.h"

/* One of several. */
struct seeker {
	struct look *look;
	struct identity who; /* owner_len 0: no such caller */
	bool found;
	bool broken; /* it can't be read; that is for itself to find out */
	struct job_row row;
};

struct seekers {
	struct seeker list[LOOKS_MAX];
	size_t len;
};

/* Statements are prepared for a few sizes only: the last id is asked for again. */
static void bind_ids(struct stmt *st, const struct id *const *ids, size_t n)
{
	for (size_t i = 0; i < stmt_group_above(n); i++)
		bind_id(st, ids[i < n ? i : n - 1]);
}

static struct seeker *seeker_of(struct seekers *all, const struct id *id)
{
	for (size_t i = 0; i < all->len; i++)
		if (id_equal(&all->list[i].look->id, id))
			return &all->list[i];
	return NULL;
}

static void keep_token(struct seekers *all, const unsigned char *token, const struct identity *who)
{
	for (size_t i = 0; i < all->len; i++) {
		struct seeker *s = &all->list[i];
		const struct caller *caller = s->look->caller;

		if (caller->has_token && memcmp(caller->token_sha256, token, SHA256_BYTES) == 0)
			s->who = *who;
	}
}

static enum rc know_tokens(struct db *db, struct seekers *all)
{
	struct stmt *st = db_stmt_n(db, SQL_OWNERS_OF_TOKENS, stmt_group_above(all->len));
	unsigned char token[SHA256_BYTES];
	char role[16];
	enum rc rc;

	for (size_t i = 0; i < stmt_group_above(all->len); i++)
		bind_bytes(st, all->list[i < all->len ? i : 0].look->caller->token_sha256,
			   SHA256_BYTES);
	rc = stmt_run(st);
	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
		struct identity who;

		(void)col_bytes(st, token, sizeof token);
		who.owner_len = col_bytes(st, who.owner, OWNER_MAX);
		if (role_parse(role, col_bytes(st, role, sizeof role), &who.role))
			keep_token(all, token, &who);
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc know_callers(struct db *db, struct seekers *all)
{
	bool by_token = false;

	for (size_t i = 0; i < all->len; i++) {
		struct seeker *s = &all->list[i];
		const struct caller *caller = s->look->caller;

		s->who = (struct identity){ .role = ROLE_USER };
		by_token |= caller->has_token;
		assert(caller->has_token || caller->owner);
		if (caller->has_token)
			continue;
		s->who.owner_len = caller->owner_len;
		memcpy(s->who.owner, caller->owner, caller->owner_len);
	}
	return by_token ? know_tokens(db, all) : RC_OK;
}

static bool may_see(const struct seeker *s, const void *owner, size_t owner_len)
{
	return s->who.role == ROLE_OPERATOR ||
	       (s->who.owner_len == owner_len && memcmp(s->who.owner, owner, owner_len) == 0);
}

/* The row of a job whose pair the client may have. */
static void compare_pair(struct stmt *st, struct seekers *all)
{
	unsigned char owner[OWNER_MAX];
	char state[32];
	struct job job = { 0 };
	struct seeker *s;

	(void)col_id(st, &job.id);
	size_t owner_len = col_bytes(st, owner, sizeof owner);
	bool known = job_state_parse(state, col_bytes(st, state, sizeof state), &job.state);

	job.version = col_u64(st);
	job.revision = col_u64(st);
	job.run_after_us = col_time(st);
	s = seeker_of(all, &job.id);
	if (!known || !s || !may_see(s, owner, owner_len) ||
	    !if_match_has(s->look->unless, job.version, job.revision))
		return;
	s->found = s->look->unchanged = true;
	s->row.job = job;
}

static enum rc compare_pairs(struct db *db, struct seekers *all)
{
	const struct id *ids[LOOKS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < all->len; i++)
		if (all->list[i].look->unless && all->list[i].who.owner_len > 0)
			ids[n++] = &all->list[i].look->id;
	if (n == 0)
		return RC_OK;

	struct stmt *st = db_stmt_n(db, SQL_JOB_PAIRS, stmt_group_above(n));

	bind_ids(st, ids, n);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
		compare_pair(st, all);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* Rows of one job need not come one after the other. */
static enum rc read_rows(struct stmt *st, struct seekers *all)
{
	struct id id;
	enum rc rc;

	while ((rc = rows_next(st, &id)) == RC_OK) {
		struct seeker *s = seeker_of(all, &id);

		if (!s)
			return RC_FAULT;
		s->found = true;
		rc = rows_merge(st, &id, &s->row);
		if (rc == RC_FAULT)
			s->broken = true;
		else if (rc != RC_OK)
			return rc;
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc read_jobs(struct db *db, struct seekers *all)
{
	const struct id *ids[LOOKS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < all->len; i++)
		if (!all->list[i].found && all->list[i].who.owner_len > 0)
			ids[n++] = &all->list[i].look->id;
	if (n == 0)
		return RC_OK;

	struct stmt *st = db_stmt_n(db, SQL_JOBS_LOOK, stmt_group_above(n));

	bind_ids(st, ids, n);
	enum rc rc = stmt_run(st);

	return rc == RC_OK ? read_rows(st, all) : rc;
}

static void forget(struct seeker *s)
{
	job_release(&s->row.job);
	s->row = (struct job_row){ 0 };
}

static enum rc seek(struct db *db, void *arg)
{
	struct seekers *all = arg;

	for (size_t i = 0; i < all->len; i++) {
		forget(&all->list[i]); /* of a first try */
		all->list[i].found = all->list[i].broken = all->list[i].look->unchanged = false;
	}
	enum rc rc = know_callers(db, all);

	if (rc == RC_OK)
		rc = compare_pairs(db, all);
	if (rc == RC_OK)
		rc = read_jobs(db, all);
	return rc;
}

static enum rc what_was_found(const struct seeker *s)
{
	const struct blob *owner = &s->row.job.owner;

	if (s->who.owner_len == 0)
		return RC_INVALID;
	return s->found && (s->look->unchanged || may_see(s, owner->bytes, owner->len))
		       ? RC_OK
		       : RC_NOT_FOUND;
}

/* False: it has to go alone: it is large, or broken; or isn't there, which in a cluster isn't said
 * before the others have been heard. */
static bool decide(struct db *db, struct seeker *s, enum rc rc)
{
	struct look *look = s->look;

	look->rc = rc == RC_OK ? what_was_found(s) : rc;
	look->alone = rc == RC_OK &&
		      (s->row.large || s->broken || (look->rc != RC_OK && db_in_cluster(db)));
	if (look->rc == RC_OK && !look->alone) {
		rows_whole(&s->row);
		look->job = s->row.job;
		s->row.job = (struct job){ 0 };
	}
	return !look->alone;
}

/* Returns how many are decided; they come first then. */
static size_t look_together(struct db *db, struct look **looks, size_t n)
{
	struct seekers all = { .len = n };
	struct look *left[LOOKS_MAX];
	size_t decided = 0, left_len = 0;
	enum rc rc;

	for (size_t i = 0; i < n; i++)
		all.list[i].look = looks[i];
	rc = db_read(db, seek, &all);
	for (size_t i = 0; i < n; i++) {
		struct seeker *s = &all.list[i];

		if (decide(db, s, rc))
			looks[decided++] = s->look;
		else
			left[left_len++] = s->look;
		forget(s);
	}
	memcpy(looks + decided, left, left_len * sizeof(struct look *));
	return decided;
}

static void move_up(struct look **looks, size_t from, size_t to)
{
	struct look *look = looks[from];

	memmove(looks + to + 1, looks + to, (from - to) * sizeof(struct look *));
	looks[to] = look;
}

static bool asked_for(struct look *const *looks, size_t n, const struct id *id)
{
	for (size_t i = 0; i < n; i++)
		if (id_equal(&looks[i]->id, id))
			return true;
	return false;
}

/* Those that can go together come first then; of several for one job the first. */
static size_t gather(struct look **looks, size_t n)
{
	size_t taken = 0;

	for (size_t i = 0; i < n && taken < LOOKS_MAX; i++) {
		looks[i]->alone |= looks[i]->caller->has_token && looks[i]->caller->owner;
		if (!looks[i]->alone && !asked_for(looks, taken, &looks[i]->id))
			move_up(looks, i, taken++);
	}
	return taken;
}

size_t job_store_look(struct db *db, struct look **looks, size_t n)
{
	size_t group = gather(looks, n);

	if (group > 1)
		return look_together(db, looks, group);
	looks[0]->rc = job_store_get(db, looks[0]->caller, &looks[0]->id, &looks[0]->job);
	if (looks[0]->rc != RC_RETRY && looks[0]->rc != RC_UNCERTAIN)
		return 1;
	for (size_t i = 1; i < n; i++)
		looks[i]->rc = looks[0]->rc; /* they would wait as long, one after the other */
	return n;
}
