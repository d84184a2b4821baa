/* standing.h: whether a route may be failed over to at this moment, and why not. */
#ifndef CORE_STANDING_H
#define CORE_STANDING_H

#include <stdbool.h>
#include <stddef.h>

/* A verdict in a list stands as VALID, FAILED, SUBJECT_CHANGED, EXPIRED or DISABLED. */
enum standing {
	STANDING_VALID, /* or the first route, which needs no certificate */
	STANDING_FAILED,
	STANDING_SUBJECT_CHANGED,
	STANDING_EXPIRED,
	STANDING_DISABLED,
	STANDING_NOT_CERTIFIED, /* no verdict at all on this version */
	STANDING_SATURATED,	/* certified, and its max_in_flight is reached */
	STANDING_NO_ROUTE,	/* the contract doesn't name it */
	STANDING__MAX
};

const char *standing_name(enum standing standing); /* NULL for VALID */
bool standing_parse(const char *text, size_t len, enum standing *standing_out);

#endif
