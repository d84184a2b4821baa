#include "poller/upkeep.h"

#include "base/clock.h"
#include "base/log.h"
#include "poller/desk_own.h"
#include "store/ask.h"
#include "store/claim.h"

#define REAP_MS 2000
#define REROUTE_REST 20

/* The search goes through the whole queue of a disabled provider, which may be long while nothing
 * of it can be sent on: it takes a twentieth of the time at most. */
static enum rc reroute(struct desk *d, size_t *moved_out)
{
	int64_t began_ms = clock_monotonic_ms();

	if (began_ms < d->reroute_at_ms)
		return RC_OK;
	enum rc rc = claim_reroute(d->db, moved_out);
	int64_t now_ms = clock_monotonic_ms();

	d->reroute_at_ms = now_ms + REROUTE_REST * (now_ms - began_ms);
	return rc;
}

static void log_reaped(size_t len)
{
	log_warning("poller.reaped",
		    "attempts=%zu: their poller's lease ran out; they are unknown now", len);
}

static void log_expired(size_t len)
{
	log_info("poller.expired", "jobs=%zu", len);
}

static void log_overdue(size_t len)
{
	log_warning("poller.overdue",
		    "attempts=%zu: acknowledged, not answered by their deadline; unknown now", len);
}

static void log_stranded(size_t len)
{
	log_warning("poller.stranded",
		    "jobs=%zu: their provider isn't there any more; they failed as never sent",
		    len);
}

static void log_rerouted(size_t len)
{
	log_warning(
		"poller.rerouted",
		"jobs=%zu: their route's provider is disabled; they went on to the next one, or "
		"failed",
		len);
}

static const struct {
	enum rc (*run)(struct db *db, size_t *len_out);
	void (*log)(size_t len);
} steps[] = {
	{ claim_reap, log_reaped },
	{ claim_expire, log_expired },
	{ ask_overdue, log_overdue },
	{ claim_fail_stranded, log_stranded },
};

/* Each step is its own: one that can't be done holds up no other. */
void upkeep_run(struct desk *d)
{
	int64_t now_ms = clock_monotonic_ms();
	size_t rerouted = 0;
	bool trouble = false;

	if (now_ms < d->reap_at_ms || desk_in_trouble(d))
		return;
	d->reap_at_ms = now_ms + REAP_MS;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		size_t len = 0;

		desk_keep_lease(d);
		trouble |= steps[i].run(d->db, &len) != RC_OK;
		if (len > 0)
			steps[i].log(len);
	}
	desk_keep_lease(d);
	trouble |= reroute(d, &rerouted) != RC_OK;
	if (rerouted > 0)
		log_rerouted(rerouted);
	if (trouble)
		desk_say_trouble(d);
}
