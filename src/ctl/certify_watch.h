/* certify_watch.h: certifications that were asked for, waited for until each has its verdict, and
 * then told. */
#ifndef CTL_CERTIFY_WATCH_H
#define CTL_CERTIFY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/certificate.h"
#include "ctl/ctl.h"
#include "store/certificate_store.h"

#define WATCHED_MAX CERTIFICATES_EXPIRING_MAX

/* One route's run. */
struct watched {
	char contract[NAME_MAX_LEN + 1];
	uint32_t version;
	char provider[NAME_MAX_LEN + 1];
	bool had_verdict; /* before it was asked for */
	struct id before;
	uint32_t done, total; /* fixtures, over all rounds; 0: not seen yet */
	bool taken;	      /* a living poller is at it */
	bool ended;
	bool has_verdict;
	struct certificate verdict; /* owned */
};

struct watch {
	struct watched list[WATCHED_MAX];
	size_t len;
};

struct watch *watch_new(void); /* NULL without memory */
void watch_free(struct watch *watch);

/* Ask, and watch what was asked for. Anything but CERTIFY_ASKED was said on `err`. */
enum certify_asked watch_ask(struct ctl *ctl, struct watch *watch,
			     const struct certify_order *order);

/* Until every run has ended, with a line of progress where `err` is a terminal, and then for the
 * verdicts. Anything but CTL_DONE was said: no poller is alive, or the database failed; what was
 * asked for stays asked for. */
enum ctl_exit watch_wait(struct ctl *ctl, struct watch *watch);

/* What was asked for, for people or for scripts. */
enum ctl_exit watch_print_asked(struct ctl *ctl, const struct watch *watch);

/* The verdicts. CTL_REFUSED where a route has failed, has no verdict, or one that is worth nothing
 * any more. */
enum ctl_exit watch_print_verdicts(struct ctl *ctl, const struct watch *watch);

#endif
