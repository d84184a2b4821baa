#include "store/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/contract_store.h"
#include "store/definition.h"
#include "store/lock.h"
#include "store/routes.h"
#include "store/stmt.h"

#define OWNERS_MAX 64
#define OWNER_ROWS 64
#define IDLE_PAGES_MAX 4 /* of a claim, at one provider */

struct owner {
	unsigned char bytes[OWNER_MAX];
	size_t len;
};

struct claiming {
	const struct id *poller;
	uint32_t lease_s;
	const struct id *ids;
	size_t max;
	struct claim_cursor *cursor;
	struct claim_list *claims;
	char (*lanes)[NAME_MAX_LEN + 1]; /* providers with jobs that are due */
	size_t lanes_len;
	uint64_t bytes; /* of the inputs of all candidates so far */
};

static void claim_release(struct claim *claim)
{
	free(claim->input.bytes);
	*claim = (struct claim){ 0 };
}

void claim_list_free(struct claim_list *claims)
{
	for (size_t i = 0; i < claims->len; i++)
		claim_release(&claims->list[i]);
	for (size_t i = 0; i < claims->defs_len; i++)
		provider_def_release(&claims->defs[i]);
	for (size_t i = 0; i < claims->contracts_len; i++)
		contract_free(claims->contracts[i].contract);
	free(claims->list);
	free(claims->defs);
	free(claims->contracts);
	*claims = (struct claim_list){ 0 };
}

/* From the provider after the last one served; then, in a second call, those up to it. */
static enum rc read_lanes(struct db *db, struct claiming *c, const char *after)
{
	struct stmt *st = db_stmt(db, SQL_QUEUE_PROVIDERS);
	const char *begun = c->lanes_len > 0 ? c->lanes[0] : NULL;

	bind_str(st, after);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && c->lanes_len < CLAIM_PROVIDERS_MAX) {
		char *lane = c->lanes[c->lanes_len];

		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		col_name(st, lane, NAME_MAX_LEN + 1);
		if (begun && strcmp(lane, begun) >= 0)
			break; /* once around */
		c->lanes_len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc read_all_lanes(struct db *db, struct claiming *c)
{
	enum rc rc = RC_OK;

	c->lanes_len = 0;
	if (c->cursor->provider[0] != '\0')
		rc = read_lanes(db, c, c->cursor->provider);
	if (rc == RC_OK && c->lanes_len < CLAIM_PROVIDERS_MAX)
		rc = read_lanes(db, c, "");
	return rc;
}

/* A provider that may take work now, its row locked: no other poller claims for it at the same
 * time, and the request is built from exactly this version. RC_NOT_FOUND: disabled, gone, or
 * another poller is at it. */
static enum rc lock_lane(struct db *db, const char *name, struct provider_def *def_out,
			 uint32_t *version_out, size_t *room_out)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_CLAIM);
	struct blob definition = { 0 };

	bind_str(st, name);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	col_skip(st);
	*version_out = (uint32_t)col_u64(st);
	bool read = col_blob(st, &definition);
	uint64_t most = col_u64(st), busy = col_u64(st);

	*room_out = busy < most ? most - busy : 0;
	stmt_done(st);
	rc = read ? definition_read(&definition, def_out) : RC_FAULT;
	if (rc == RC_INVALID) { /* written by hand, or by a newer program: its jobs wait, the others
				   go on */
		log_error("provider.unreadable", "provider=%s version=%u", name, *version_out);
		rc = RC_NOT_FOUND;
	}
	free(definition.bytes);
	return rc;
}

/* As the server orders them. */
static int owner_compare(const struct owner *a, const struct owner *b)
{
	int order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);

	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

/* Over the owners with queued jobs at one provider: those that have something due. */
struct walk {
	const char *lane;
	struct owner at; /* the last one looked at */
	size_t max;
	struct owner *owners;
	size_t len;
	size_t idle; /* pages without one that has something due */
};

/* Those behind `at`, which moves along, up to and with `last` (NULL: to the end). A page of rows;
 * it may be full of one owner's, and the next begins behind that one. RC_NOT_FOUND: that was the
 * last.
 */
static enum rc read_owner_page(struct db *db, struct walk *w, const struct owner *last)
{
	struct stmt *st = db_stmt(db, SQL_QUEUE_OWNERS);
	size_t rows = 0, before = w->len;
	bool ended = false;

	bind_str(st, w->lane);
	bind_bytes(st, w->at.bytes, w->at.len);
	bind_u64(st, OWNER_ROWS);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && w->len < w->max && !ended && (rc = stmt_fetch(st)) == RC_OK) {
		struct owner owner;

		owner.len = col_bytes(st, owner.bytes, OWNER_MAX);
		rows++;
		ended = last && owner_compare(&owner, last) >= 0;
		if (owner_compare(&owner, &w->at) == 0 ||
		    (ended && owner_compare(&owner, last) > 0))
			continue;
		w->at = owner;
		if (col_u64(st) == 1)
			w->owners[w->len++] = owner;
	}
	if (rc == RC_OK)
		stmt_done(st);
	w->idle += w->len == before;
	if (rc == RC_NOT_FOUND && rows == OWNER_ROWS)
		rc = RC_OK;
	return rc == RC_OK && ended ? RC_NOT_FOUND : rc;
}

/* RC_NOT_FOUND: there are no more up to `last`. */
static enum rc read_owners(struct db *db, struct walk *w, const struct owner *last)
{
	enum rc rc = RC_OK;

	while (rc == RC_OK && w->len < w->max && w->idle < IDLE_PAGES_MAX)
		rc = read_owner_page(db, w, last);
	return rc;
}

/* Where the turn over this provider's owners stands. When there is no room for one more provider,
 * one in the list gives way and its owners start over. */
static struct claim_turn *find_turn(struct claim_cursor *cursor, const char *lane)
{
	size_t at = 0;

	while (at < cursor->turns_len && strcmp(cursor->turns[at].provider, lane) != 0)
		at++;
	if (at == CLAIM_PROVIDERS_MAX)
		at = (unsigned char)lane[0] % CLAIM_PROVIDERS_MAX;
	else if (at < cursor->turns_len)
		return &cursor->turns[at];
	else
		cursor->turns_len++;
	cursor->turns[at].owner_len = 0;
	cursor->turns[at].walking = false;
	strcpy(cursor->turns[at].provider, lane); /* both NAME_MAX_LEN + 1 */
	return &cursor->turns[at];
}

static struct owner owner_of(const unsigned char *bytes, size_t len)
{
	struct owner owner = { .len = len };

	memcpy(owner.bytes, bytes, len);
	return owner;
}

static void remember_turn(struct claim_turn *turn, const struct owner *last)
{
	memcpy(turn->owner, last->bytes, last->len);
	turn->owner_len = last->len;
}

/* The owners whose turn it is: those after the last one served, then from the start up to there.
 * While the provider's row is locked no more is looked through than some pages of owners with
 * nothing due; the next claim goes on from there, until it is once around. RC_NOT_FOUND: it is. */
static enum rc walk_owners(struct db *db, struct claim_turn *turn, struct walk *w)
{
	struct owner begun;
	enum rc rc = RC_NOT_FOUND;

	w->at = owner_of(turn->owner, turn->owner_len);
	if (!turn->walking) {
		memcpy(turn->begun, turn->owner, turn->owner_len);
		turn->begun_len = turn->owner_len;
	}
	begun = owner_of(turn->begun, turn->begun_len);
	bool ahead = owner_compare(&w->at, &begun) >= 0;

	if (ahead)
		rc = read_owners(db, w, NULL);
	if (rc != RC_NOT_FOUND || begun.len == 0)
		return rc;
	if (ahead)
		w->at.len = 0;
	return read_owners(db, w, &begun);
}

/* Where the turn stands after the walk. served: something was claimed, so that what was begun is
 * over and the next round begins here. Where the claim was cut, those behind the first may have got
 * nothing. */
static void end_turn(struct claim_turn *turn, const struct walk *w, bool unwalked, bool cut,
		     bool served)
{
	if (cut)
		remember_turn(turn, &w->owners[0]);
	else if (unwalked)
		remember_turn(turn, &w->at);
	else if (w->len > 0)
		remember_turn(turn, &w->owners[w->len - 1]);
	turn->walking = unwalked && !cut && !served;
}

/* False: with it the inputs would be more than one claim may bring into memory. The first comes
 * along however large it is. */
static bool has_bytes_left(struct claiming *c, uint64_t bytes)
{
	c->claims->cut = c->claims->cut || (c->bytes > 0 && c->bytes + bytes > CLAIM_BYTES_MAX);
	if (!c->claims->cut)
		c->bytes += bytes;
	return !c->claims->cut;
}

/* Up to `room` queued jobs: an equal share for each owner, and one more for the first of the turn
 * where it doesn't come out even. Read without locks: the claim's own locking read decides. */
static enum rc read_candidates(struct db *db, struct claiming *c, const char *lane,
			       const struct owner *owners, size_t owners_len, size_t room,
			       struct id *ids, size_t *len_out)
{
	size_t share = room / owners_len,
	       over = room % owners_len; /* no more owners than there is room */
	enum rc rc = RC_OK;

	*len_out = 0;
	for (size_t at = 0; rc == RC_OK && at < owners_len;) {
		size_t n = stmt_group(owners_len - at);
		struct stmt *st = db_stmt_n(db, SQL_QUEUE_CANDIDATES, n);

		for (size_t i = 0; i < n; i++, at++) {
			bind_str(st, lane);
			bind_bytes(st, owners[at].bytes, owners[at].len);
			bind_u64(st, share + (at < over));
		}
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
			(void)col_id(st, &ids[*len_out < room ? *len_out : room - 1]);
			*len_out += *len_out < room && has_bytes_left(c, col_u64(st));
		}
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc;
}

/* *later_out: the route isn't the contract's first. */
static enum rc read_claim(struct stmt *st, struct claim *claim, bool *later_out)
{
	*claim = (struct claim){ 0 };
	(void)col_id(st, &claim->job_id);
	claim->version_read = col_u64(st);
	claim->number = (uint32_t)col_u64(st) + 1;
	col_name(st, claim->provider, sizeof claim->provider);
	bool ok = col_blob(st, &claim->input);

	col_name(st, claim->traceparent, sizeof claim->traceparent);
	int64_t left_us = col_i64(st, -1);

	claim->budget_ms = left_us < 0 ? -1 : left_us / 1000;
	claim->generation = (uint32_t)col_u64(st);
	claim->tries_here = (uint32_t)col_u64(st) + 1;
	claim->now_us = col_time(st);
	col_name(st, claim->contract_name, sizeof claim->contract_name);
	claim->contract_version = (uint32_t)col_u64(st);
	*later_out = claim->contract_name[0] && col_i64(st, 1) != 0;
	if (!claim->contract_name[0])
		col_skip(st);
	claim->has_certificate = col_id(st, &claim->certificate_id);
	return ok ? RC_OK : RC_FAULT;
}

/* One that was locked: it is claimed, or its later route has no valid certificate at this moment
 * and it must go elsewhere. */
static enum rc take_locked(struct stmt *st, struct claim *out, size_t *len_out,
			   struct id *elsewhere, size_t *elsewhere_len)
{
	struct claim *claim = &out[*len_out];
	bool later;
	enum rc rc = read_claim(st, claim, &later);

	if (rc == RC_OK && later && !claim->has_certificate) {
		elsewhere[(*elsewhere_len)++] = claim->job_id;
		claim_release(claim);
		return RC_OK;
	}
	claim->has_certificate = claim->has_certificate && later;
	(*len_out)++;
	return rc;
}

static enum rc send_elsewhere(struct db *db, const struct id *ids, size_t len)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < len; i++)
		rc = routes_again(db, &ids[i]);
	return rc;
}

static enum rc lock_candidates(struct db *db, const char *lane, const struct id *ids, size_t len,
			       struct claim *out, size_t *len_out)
{
	struct id elsewhere[CLAIM_MAX];
	size_t elsewhere_len = 0;
	enum rc rc = RC_OK;

	*len_out = 0;
	for (size_t at = 0; rc == RC_OK && at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_CLAIM_LOCK, n);

		bind_u64(st, CONTRACT_RULE_VERSION);
		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &ids[at]);
		bind_str(st, lane);
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK)
			rc = take_locked(st, out, len_out, elsewhere, &elsewhere_len);
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc == RC_OK ? send_elsewhere(db, elsewhere, elsewhere_len) : rc;
}

static enum rc write_attempts(struct db *db, const struct claiming *c, const struct claim *claims,
			      size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_CLAIM_ATTEMPTS, n);

		for (size_t i = 0; i < n; i++, at++) {
			bind_id(st, &claims[at].attempt_id);
			bind_id(st, &claims[at].job_id);
			bind_u64(st, claims[at].number);
			bind_str(st, claims[at].provider);
			bind_u64(st, claims[at].provider_version);
			bind_u64(st, claims[at].generation);
			bind_u64(st, claims[at].version_read);
			bind_id(st, c->poller);
			bind_id(st, claims[at].has_certificate ? &claims[at].certificate_id : NULL);
		}
		enum rc rc = stmt_run(st);

		if (rc != RC_OK)
			return rc == RC_CONFLICT ? RC_FAULT : rc;
	}
	return RC_OK;
}

static enum rc write_jobs(struct db *db, const struct claim *claims, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_CLAIM_JOBS, n);

		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &claims[at].job_id);
		enum rc rc = stmt_run(st);

		if (rc != RC_OK)
			return rc;
		if (stmt_changed(st) != n)
			return RC_RETRY;
	}
	return RC_OK;
}

static enum rc pick(struct db *db, struct claiming *c, const char *lane, size_t room,
		    struct claim *out, size_t *len_out)
{
	struct owner owners[OWNERS_MAX];
	struct id ids[CLAIM_MAX];
	size_t ids_len = 0;
	struct walk w = { .lane = lane,
			  .max = room < OWNERS_MAX ? room : OWNERS_MAX,
			  .owners = owners };
	struct claim_turn *turn = find_turn(c->cursor, lane);
	enum rc rc = walk_owners(db, turn, &w);
	bool unwalked = rc == RC_OK && w.len < w.max;

	*len_out = 0;
	if (rc == RC_NOT_FOUND)
		rc = RC_OK;
	if (rc == RC_OK && w.len > 0)
		rc = read_candidates(db, c, lane, owners, w.len, room, ids, &ids_len);
	if (rc == RC_OK && ids_len > 0)
		rc = lock_candidates(db, lane, ids, ids_len, out, len_out);
	if (rc != RC_OK)
		return rc;
	c->claims->unwalked = c->claims->unwalked || unwalked;
	end_turn(turn, &w, unwalked, c->claims->cut, *len_out > 0);
	return RC_OK;
}

/* Versions never change, so one reading serves all of a batch. A definition that this program can't
 * read ends the attempt before anything is sent. */
static enum rc find_contract(struct db *db, struct claim_list *claims, struct claim *claim)
{
	struct claim_contract *known = claims->contracts;
	size_t at = 0;

	while (at < claims->contracts_len && (known[at].version != claim->contract_version ||
					      strcmp(known[at].name, claim->contract_name) != 0))
		at++;
	if (at == claims->contracts_len) {
		memcpy(known[at].name, claim->contract_name, sizeof known[at].name);
		known[at].version = claim->contract_version;
		claims->contracts_len++;
		enum rc rc = contract_store_version(db, known[at].name, known[at].version,
						    &known[at].contract);
		if (rc != RC_OK && rc != RC_INVALID && rc != RC_NOT_FOUND)
			return rc;
	}
	claim->contract = known[at].contract;
	if (claim->contract)
		claim->route = contract_route(claim->contract, claim->provider);
	return RC_OK;
}

static enum rc find_contracts(struct db *db, struct claim_list *claims, struct claim *first,
			      size_t len)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < len; i++)
		if (first[i].contract_name[0])
			rc = find_contract(db, claims, &first[i]);
	return rc;
}

static enum rc claim_lane(struct db *db, struct claiming *c, const char *lane)
{
	struct claim_list *claims = c->claims;
	struct provider_def *def = &claims->defs[claims->defs_len];
	struct claim *first = &claims->list[claims->len];
	size_t room, len;
	uint32_t version;
	enum rc rc = lock_lane(db, lane, def, &version, &room);

	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	claims->defs_len++;
	if (room > c->max - claims->len)
		room = c->max - claims->len;
	if (room == 0)
		return RC_OK;
	rc = pick(db, c, lane, room, first, &len);
	for (size_t i = 0; i < len; i++) {
		first[i].attempt_id = c->ids[claims->len + i];
		first[i].provider_version = version;
		first[i].def = def;
	}
	claims->len += len;
	if (rc == RC_OK)
		rc = find_contracts(db, claims, first, len);
	if (rc == RC_OK && len > 0)
		rc = lock_hold_provider(db, lane);
	if (rc == RC_OK)
		rc = write_attempts(db, c, first, len);
	return rc == RC_OK ? write_jobs(db, first, len) : rc;
}

static void start_over(struct claim_list *claims)
{
	for (size_t i = 0; i < claims->len; i++)
		claim_release(&claims->list[i]);
	for (size_t i = 0; i < claims->defs_len; i++)
		provider_def_release(&claims->defs[i]);
	for (size_t i = 0; i < claims->contracts_len; i++)
		contract_free(claims->contracts[i].contract);
	claims->len = 0;
	claims->defs_len = 0;
	claims->contracts_len = 0;
	claims->cut = false;
	claims->unwalked = false;
}

static enum rc claim_work(struct db *db, void *arg)
{
	struct claiming *c = arg;
	enum rc rc = poller_renew(db, c->poller, c->lease_s);

	start_over(c->claims);
	c->bytes = 0;
	for (size_t i = 0;
	     rc == RC_OK && i < c->lanes_len && c->claims->len < c->max && !c->claims->cut; i++) {
		rc = claim_lane(db, c, c->lanes[i]);
		memcpy(c->cursor->provider, c->lanes[i],
		       sizeof c->cursor->provider); /* served or not, its turn is over */
	}
	return rc;
}

enum rc claim_jobs(struct db *db, const struct id *poller, uint32_t lease_s, const struct id *ids,
		   size_t max, struct claim_cursor *cursor, struct claim_list *claims_out)
{
	struct claiming c = { poller, lease_s, ids, max, cursor, claims_out, NULL, 0, 0 };
	enum rc rc = RC_FAULT;

	*claims_out = (struct claim_list){ 0 };
	c.lanes = calloc(CLAIM_PROVIDERS_MAX, sizeof *c.lanes);
	claims_out->list = calloc(CLAIM_MAX, sizeof *claims_out->list);
	claims_out->defs = calloc(CLAIM_PROVIDERS_MAX, sizeof *claims_out->defs);
	claims_out->contracts = calloc(CLAIM_MAX, sizeof *claims_out->contracts);
	if (c.lanes && claims_out->list && claims_out->defs && claims_out->contracts)
		rc = read_all_lanes(db, &c);
	if (rc == RC_OK && c.lanes_len > 0)
		rc = db_transact(db, claim_work, &c);
	free(c.lanes);
	bool unwalked = rc == RC_OK && claims_out->unwalked;

	if (rc != RC_OK || claims_out->len == 0)
		claim_list_free(claims_out);
	claims_out->unwalked = unwalked;
	return rc;
}
