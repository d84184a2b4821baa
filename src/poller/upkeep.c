#include "poller/upkeep.h"

#include "base/clock.h"
#include "base/log.h"
#include "poller/desk_own.h"
#include "store/ask.h"

#define REAP_MS 2000

void upkeep_run(struct desk *d)
{
	size_t reaped = 0, expired = 0, overdue = 0, stranded = 0;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->reap_at_ms || desk_in_trouble(d))
		return;
	d->reap_at_ms = now_ms + REAP_MS;
	if (claim_reap(d->db, &reaped) != RC_OK || claim_expire(d->db, &expired) != RC_OK ||
	    ask_overdue(d->db, &overdue) != RC_OK || claim_fail_stranded(d->db, &stranded) != RC_OK)
		desk_say_trouble(d);
	if (reaped > 0)
		log_warning("poller.reaped",
			    "attempts=%zu: their poller's lease ran out; they are unknown now",
			    reaped);
	if (expired > 0)
		log_info("poller.expired", "jobs=%zu", expired);
	if (stranded > 0)
		log_warning(
			"poller.stranded",
			"jobs=%zu: their provider isn't there any more; they failed as never sent",
			stranded);
	if (overdue > 0)
		log_warning(
			"poller.overdue",
			"attempts=%zu: acknowledged, not answered by their deadline; unknown now",
			overdue);
}
