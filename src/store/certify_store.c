/* certify_store.c: certifications that are asked for, looked at, and taken. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/flaws.h"
#include "store/certificate_store.h"
#include "store/contract_store.h"
#include "store/definition.h"
#include "store/stmt.h"

#define FOUND_MAX 16

struct asking {
	const struct contract *contract;
	const char *name;
	uint32_t version;
	const struct route *routes[CONTRACT_ROUTES_MAX];
	size_t routes_len;
};

static enum rc ask_for(struct db *db, void *arg)
{
	const struct asking *asking = arg;
	const struct contract *contract = asking->contract;
	uint64_t total = (uint64_t)contract->fixtures_len * contract->rounds;
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < asking->routes_len; i++) {
		struct id id = clock_id();
		struct stmt *st = db_stmt(db, SQL_CERTIFY_ASK);

		bind_id(st, &id);
		bind_str(st, asking->name);
		bind_u64(st, asking->version);
		bind_str(st, asking->routes[i]->provider);
		bind_u64(st, total);
		rc = stmt_run(st);
		if (rc == RC_CONFLICT)
			rc = RC_OK; /* under way already */
	}
	return rc;
}

static enum certify_asked choose_routes(const struct certify_order *order, struct asking *asking,
					size_t *unknown_out)
{
	const struct contract *contract = asking->contract;

	for (size_t i = 0; !order->routes && i < contract->routes_len; i++)
		asking->routes[asking->routes_len++] = &contract->routes[i];
	for (size_t i = 0; order->routes && i < order->routes_len; i++) {
		const struct route *route = contract_route(contract, order->routes[i]);

		*unknown_out = i;
		if (!route || asking->routes_len == CONTRACT_ROUTES_MAX)
			return CERTIFY_NO_SUCH_ROUTE;
		asking->routes[asking->routes_len++] = route;
	}
	if (!contract_can_certify(contract))
		return CERTIFY_NO_FIXTURES;
	return contract->side_effects && !order->side_effects ? CERTIFY_SIDE_EFFECTS
							      : CERTIFY_ASKED;
}

static enum rc read_current(struct db *db, const char *name, uint32_t *version_out,
			    struct contract **contract_out)
{
	struct definition_row row;
	struct flaws flaws;
	enum rc rc = contract_store_get(db, name, &row);

	if (rc != RC_OK)
		return rc;
	flaws_init(&flaws);
	rc = contract_read(row.definition.bytes, row.definition.len, contract_out, &flaws);
	flaws_release(&flaws);
	*version_out = row.version;
	definition_row_release(&row);
	return rc;
}

enum certify_asked certify_store_ask(struct db *db, const struct certify_order *order,
				     uint32_t *version_out, char (*providers_out)[NAME_MAX_LEN + 1],
				     size_t *len_out, size_t *unknown_out)
{
	struct contract *contract = NULL;
	struct asking asking = { .name = order->contract };
	enum rc rc = db_catch_up(db); /* with the contract, and with runs that have ended */
	enum certify_asked asked = CERTIFY_NOT_STORED;

	if (rc == RC_OK)
		rc = read_current(db, order->contract, &asking.version, &contract);
	if (rc == RC_NOT_FOUND)
		return CERTIFY_NO_SUCH_CONTRACT;
	if (rc != RC_OK)
		return CERTIFY_NOT_STORED;
	asking.contract = contract;
	asked = choose_routes(order, &asking, unknown_out);
	if (asked == CERTIFY_ASKED && db_transact(db, ask_for, &asking) != RC_OK)
		asked = CERTIFY_NOT_STORED;
	*version_out = asking.version;
	*len_out = asking.routes_len;
	for (size_t i = 0; i < asking.routes_len; i++)
		memcpy(providers_out[i], asking.routes[i]->provider, NAME_MAX_LEN + 1);
	contract_free(contract);
	return asked;
}

struct watching {
	const char *contract;
	struct certify_run *runs;
	size_t max;
	size_t len;
};

static enum rc read_runs(struct db *db, void *arg)
{
	struct watching *w = arg;
	struct stmt *st = db_stmt(db, SQL_CERTIFY_RUNS);

	w->len = 0;
	bind_str(st, w->contract);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && w->len < w->max) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		struct certify_run *run = &w->runs[w->len++];

		(void)col_id(st, &run->id);
		run->contract_version = (uint32_t)col_u64(st);
		col_name(st, run->provider, sizeof run->provider);
		run->done = (uint32_t)col_u64(st);
		run->total = (uint32_t)col_u64(st);
		run->taken = col_u64(st) != 0;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc certify_store_runs(struct db *db, const char *contract, struct certify_run *runs_out,
			   size_t max, size_t *len_out)
{
	struct watching w = { contract, runs_out, max, 0 };
	enum rc rc = db_read(db, read_runs, &w);

	*len_out = rc == RC_OK ? w.len : 0;
	return rc;
}

void certify_task_release(struct certify_task *task)
{
	contract_free(task->contract);
	provider_def_release(&task->def);
	*task = (struct certify_task){ 0 };
}

static enum rc find_runs(struct db *db, struct id *ids, size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFY_FIND);
	enum rc rc = stmt_run(st);

	*len_out = 0;
	while (rc == RC_OK && *len_out < FOUND_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &ids[(*len_out)++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc certify_store_any(struct db *db, bool *any_out)
{
	struct id ids[FOUND_MAX];
	size_t len;
	enum rc rc = find_runs(db, ids, &len);

	*any_out = rc == RC_OK && len > 0;
	return rc;
}

struct taking {
	const struct id *poller;
	const struct id *run;
	struct certify_task *task; /* route NULL: dropped */
};

/* RC_NOT_FOUND: somebody else is at it, or it has ended. */
static enum rc lock_run(struct db *db, const struct taking *taking, char *provider_out)
{
	struct certify_task *task = taking->task;
	struct stmt *st = db_stmt(db, SQL_CERTIFY_LOCK);

	bind_id(st, taking->run);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	task->id = *taking->run;
	col_name(st, task->contract_name, sizeof task->contract_name);
	task->contract_version = (uint32_t)col_u64(st);
	col_name(st, provider_out, NAME_MAX_LEN + 1);
	bool mine = col_u64(st) != 0;

	stmt_done(st);
	return mine ? RC_OK : RC_NOT_FOUND;
}

/* RC_NOT_FOUND, RC_INVALID: the contract has another version now, or one of the two is gone or
 * can't be read. */
static enum rc read_subject(struct db *db, struct certify_task *task, const char *provider)
{
	struct blob contract = { 0 }, definition = { 0 };
	struct flaws flaws;
	struct stmt *st = db_stmt(db, SQL_CERTIFY_SUBJECT);

	bind_str(st, provider);
	bind_str(st, task->contract_name);
	bind_u64(st, task->contract_version);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	bool ok = col_blob(st, &contract);

	task->provider_version = (uint32_t)col_u64(st);
	ok = ok && col_blob(st, &definition);
	stmt_done(st);
	flaws_init(&flaws);
	rc = ok ? contract_read(contract.bytes, contract.len, &task->contract, &flaws) : RC_FAULT;
	if (rc == RC_OK)
		rc = definition_read(&definition, &task->def);
	if (rc == RC_OK)
		task->route = contract_route(task->contract, provider);
	flaws_release(&flaws);
	free(contract.bytes);
	free(definition.bytes);
	return rc == RC_OK && !task->route ? RC_NOT_FOUND : rc;
}

static enum rc drop(struct db *db, const struct id *run)
{
	struct stmt *st = db_stmt(db, SQL_CERTIFY_DROP);

	bind_id(st, run);
	return stmt_run(st);
}

static enum rc take_one(struct db *db, void *arg)
{
	struct taking *taking = arg;
	struct certify_task *task = taking->task;
	char provider[NAME_MAX_LEN + 1];
	struct stmt *st;

	certify_task_release(task); /* of an earlier round */
	enum rc rc = lock_run(db, taking, provider);

	if (rc != RC_OK)
		return rc;
	rc = read_subject(db, task, provider);
	if (rc == RC_NOT_FOUND || rc == RC_INVALID) {
		certify_task_release(task);
		return drop(db, taking->run);
	}
	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_CERTIFY_TAKE);
	bind_id(st, taking->poller);
	bind_id(st, taking->run);
	return stmt_run(st);
}

enum rc certify_store_take(struct db *db, const struct id *poller, size_t max,
			   struct certify_task **tasks_out, size_t *len_out)
{
	struct id ids[FOUND_MAX];
	size_t found;
	enum rc rc = find_runs(db, ids, &found);

	*tasks_out = NULL;
	*len_out = 0;
	if (rc != RC_OK || found == 0 || max == 0)
		return rc;
	*tasks_out = calloc(found, sizeof **tasks_out);
	if (!*tasks_out)
		return RC_FAULT;
	for (size_t i = 0; rc == RC_OK && i < found && *len_out < max; i++) {
		struct taking taking = { poller, &ids[i], &(*tasks_out)[*len_out] };

		rc = db_transact(db, take_one, &taking);
		if (rc == RC_OK && taking.task->route)
			(*len_out)++;
		else
			certify_task_release(taking.task);
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	/* What was taken is ours; trouble comes again, but not this one: the run may be ours too.
	 */
	return *len_out > 0 && rc != RC_UNCERTAIN ? RC_OK : rc;
}
