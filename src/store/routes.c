#include "store/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/claim.h"
#include "store/outbox.h"
#include "store/stmt.h"

#define PASSED_OVER_MAX_BYTES (CONTRACT_ROUTES_MAX * 160)
#define ASTRAY_MAX 64

struct leg {
	char provider[NAME_MAX_LEN + 1];
	bool there; /* the provider's row */
	bool enabled;
	bool saturated;
	bool spent; /* this job mustn't go there again */
	enum standing standing;
};

struct itinerary {
	struct leg legs[CONTRACT_ROUTES_MAX];
	size_t len;
	enum policy on[POLICY_ON__MAX];
};

static enum standing standing_of(const char *why, size_t len, bool judged)
{
	enum standing standing = STANDING_VALID;

	if (!judged)
		return STANDING_NOT_CERTIFIED;
	(void)standing_parse(why, len, &standing);
	return standing;
}

static enum rc read_leg(struct stmt *st, struct itinerary *it)
{
	struct leg *leg = &it->legs[it->len++];
	char text[32];
	bool ok = true;

	col_name(st, leg->provider, sizeof leg->provider);
	leg->there = col_u64(st) != 0;
	leg->enabled = col_u64(st) != 0;
	leg->saturated = col_u64(st) != 0;
	leg->spent = col_u64(st) != 0;
	bool judged = col_u64(st) != 0;

	leg->standing = standing_of(text, col_bytes(st, text, sizeof text), judged);
	for (int on = 0; on < POLICY_ON__MAX; on++)
		ok = policy_parse(text, col_bytes(st, text, sizeof text), &it->on[on]) && ok;
	return ok ? RC_OK : RC_FAULT;
}

/* RC_NOT_FOUND: the version isn't there. */
static enum rc read_itinerary(struct db *db, const struct locked_job *job, struct itinerary *it)
{
	struct stmt *st = db_stmt(db, SQL_ROUTES);

	*it = (struct itinerary){ .len = 0 };
	bind_id(st, &job->id);
	bind_u64(st, CONTRACT_RULE_VERSION);
	bind_str(st, job->contract);
	bind_u64(st, job->contract_version);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && it->len < CONTRACT_ROUTES_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			rc = read_leg(st, it);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND && it->len > 0 ? RC_OK : rc;
}

static size_t place_of(const struct itinerary *it, const char *provider)
{
	size_t at = 0;

	while (at < it->len && strcmp(it->legs[at].provider, provider) != 0)
		at++;
	return at;
}

static enum rc gate_plain(struct db *db, const char *provider, enum gate *gate_out)
{
	bool enabled;
	enum rc rc = lock_provider(db, provider, &enabled, NULL);

	if (rc == RC_OK)
		*gate_out = enabled ? GATE_OPEN : GATE_DISABLED;
	else if (rc == RC_NOT_FOUND)
		*gate_out = GATE_NO_SUCH_PROVIDER;
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc routes_gate(struct db *db, const struct locked_job *job, const char *provider,
		    enum gate *gate_out, enum standing *standing_out)
{
	struct itinerary it;
	enum rc rc = gate_plain(db, provider, gate_out);

	*standing_out = STANDING_VALID;
	if (rc != RC_OK || job->contract[0] == '\0' || *gate_out == GATE_NO_SUCH_PROVIDER)
		return rc;
	rc = read_itinerary(db, job, &it);
	if (rc != RC_OK && rc != RC_NOT_FOUND)
		return rc;
	size_t place = rc == RC_OK ? place_of(&it, provider) : it.len;

	if (rc == RC_OK && place == 0)
		return RC_OK; /* open, or disabled */
	*standing_out = place < it.len ? it.legs[place].standing : STANDING_NO_ROUTE;
	*gate_out = *standing_out == STANDING_VALID ? GATE_OPEN : GATE_NOT_CERTIFIED;
	return RC_OK;
}

enum rc routes_first(struct db *db, const struct locked_job *job, char *provider_out)
{
	struct itinerary it;
	enum rc rc = read_itinerary(db, job, &it);

	if (rc == RC_OK)
		memcpy(provider_out, it.legs[0].provider, NAME_MAX_LEN + 1);
	return rc;
}

/* Why this one isn't taken now. */
static enum standing obstacle(const struct itinerary *it, size_t place)
{
	const struct leg *leg = &it->legs[place];

	if (!leg->there || !leg->enabled)
		return STANDING_DISABLED;
	if (place > 0 && leg->standing != STANDING_VALID)
		return leg->standing;
	return leg->saturated ? STANDING_SATURATED : STANDING_VALID;
}

static void pass_over(struct text *list, const struct locked_job *job, const struct leg *leg,
		      enum standing why)
{
	text_addf(list, "%s{\"after\": %u, \"provider\": \"%s\", \"why\": \"%s\"}",
		  list->len ? ", " : "", job->attempt_count, leg->provider, standing_name(why));
}

static void take(const struct leg *leg, bool fresh, struct route_choice *choice)
{
	*choice = (struct route_choice){ .fresh = fresh };
	memcpy(choice->provider, leg->provider, sizeof choice->provider);
}

/* The routes after `from`, then those before it, each once. Where the open ones have no room, the
 * first of them is waited for. */
static void go_on(const struct itinerary *it, const struct locked_job *job, size_t from,
		  struct text *passed, struct route_choice *choice)
{
	const struct leg *full = NULL;

	for (size_t i = 1; i < it->len && choice->stop; i++) {
		size_t place = (from + i) % it->len;
		const struct leg *leg = &it->legs[place];
		enum standing why = obstacle(it, place);

		if (leg->spent)
			continue;
		if (why == STANDING_SATURATED && !full)
			full = leg;
		if (why != STANDING_VALID) {
			pass_over(passed, job, leg, why);
			continue;
		}
		take(leg, place > from, choice);
	}
	if (choice->stop && full)
		take(full, place_of(it, full->provider) > from, choice);
}

static enum rc keep_passed_over(struct db *db, const struct id *job_id, const struct text *passed)
{
	struct stmt *st;

	if (passed->len == 0)
		return RC_OK;
	if (!text_ok(passed))
		return RC_FAULT;
	st = db_stmt(db, SQL_JOB_PASSED_OVER);
	bind_bytes(st, passed->bytes, passed->len);
	bind_id(st, job_id);
	return stmt_run(st);
}

/* Where no other route is open, a failure that left nothing behind is tried again where it was. */
enum rc routes_choose(struct db *db, const struct locked_job *job, const char *from,
		      enum reason reason, bool retryable, struct route_choice *choice_out)
{
	struct itinerary it;
	struct text passed;
	enum rc rc = read_itinerary(db, job, &it);

	*choice_out = (struct route_choice){ .stop = true };
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? RC_OK : rc;
	size_t place = place_of(&it, from);

	text_init(&passed, PASSED_OVER_MAX_BYTES);
	switch (it.on[policy_on_reason(reason)]) {
	case POLICY_RETRY:
		if (place < it.len)
			take(&it.legs[place], false, choice_out);
		break;
	case POLICY_NEXT_ROUTE:
		go_on(&it, job, place < it.len ? place : it.len - 1, &passed, choice_out);
		if (choice_out->stop && retryable && place < it.len)
			take(&it.legs[place], false, choice_out);
		break;
	case POLICY_STOP:
	case POLICY__MAX: break;
	}
	rc = keep_passed_over(db, &job->id, &passed);
	text_release(&passed);
	return rc;
}

static enum rc send_to(struct db *db, const struct id *job_id, const char *provider)
{
	struct stmt *st = db_stmt(db, SQL_JOB_REROUTE);

	bind_str(st, provider);
	bind_id(st, job_id);
	return stmt_run(st);
}

static enum rc give_up(struct db *db, const struct id *job_id)
{
	struct stmt *st = db_stmt(db, SQL_JOB_OUT_OF_ROUTES);

	bind_id(st, job_id);
	enum rc rc = stmt_run(st);

	if (rc != RC_OK || stmt_changed(st) == 0)
		return rc;
	return outbox_add(db, job_id);
}

enum rc routes_again(struct db *db, const struct id *job_id)
{
	struct route_choice choice = { .stop = true };
	struct locked_job job;
	struct itinerary it;
	struct text passed;
	enum rc rc = lock_job(db, job_id, &job);

	if (rc != RC_OK || job.state != JOB_QUEUED || job.contract[0] == '\0')
		return rc;
	rc = read_itinerary(db, &job, &it);
	if (rc != RC_OK)
		return rc == RC_NOT_FOUND ? give_up(db, job_id) : rc;
	size_t place = place_of(&it, job.next_provider);
	enum standing why = place < it.len ? obstacle(&it, place) : STANDING_NO_ROUTE;

	if (place == 0 || why == STANDING_VALID || why == STANDING_SATURATED)
		return RC_OK; /* it may be taken after all */
	text_init(&passed, PASSED_OVER_MAX_BYTES);
	if (place < it.len)
		pass_over(&passed, &job, &it.legs[place], why);
	go_on(&it, &job, place < it.len ? place : it.len - 1, &passed, &choice);
	rc = keep_passed_over(db, job_id, &passed);
	text_release(&passed);
	if (rc != RC_OK)
		return rc;
	return choice.stop ? give_up(db, job_id) : send_to(db, job_id, choice.provider);
}

struct stray {
	struct id ids[ASTRAY_MAX];
	size_t len;
};

static enum rc move_strays(struct db *db, void *arg)
{
	struct stray *stray = arg;
	enum rc rc = lock_free_jobs(db, stray->ids, &stray->len);

	for (size_t i = 0; rc == RC_OK && i < stray->len; i++) {
		rc = routes_again(db, &stray->ids[i]);
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc;
}

enum rc claim_reroute(struct db *db, size_t *moved_out)
{
	struct stray stray = { .len = 0 };
	struct stmt *st = db_stmt(db, SQL_ASTRAY_FIND);
	enum rc rc = stmt_run(st);

	*moved_out = 0;
	while (rc == RC_OK && stray.len < ASTRAY_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			(void)col_id(st, &stray.ids[stray.len++]);
	}
	if (rc == RC_OK)
		stmt_done(st);
	if (rc != RC_OK && rc != RC_NOT_FOUND)
		return rc;
	qsort(stray.ids, stray.len, sizeof stray.ids[0],
	      id_order); /* jobs are locked in this order */
	rc = stray.len > 0 ? db_transact(db, move_strays, &stray) : RC_OK;
	*moved_out = rc == RC_OK ? stray.len : 0;
	return rc;
}
