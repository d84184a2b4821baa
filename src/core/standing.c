#include "core/standing.h"

#include <string.h>

static const char *const names[STANDING__MAX] = {
	[STANDING_FAILED] = "failed",
	[STANDING_SUBJECT_CHANGED] = "subject_changed",
	[STANDING_EXPIRED] = "expired",
	[STANDING_DISABLED] = "disabled",
	[STANDING_NOT_CERTIFIED] = "not_certified",
	[STANDING_SATURATED] = "saturated",
	[STANDING_NO_ROUTE] = "no_route",
};

const char *standing_name(enum standing standing)
{
	return names[standing];
}

bool standing_parse(const char *text, size_t len, enum standing *standing_out)
{
	for (int i = 0; i < STANDING__MAX; i++) {
		if (!names[i] || strlen(names[i]) != len || memcmp(names[i], text, len) != 0)
			continue;
		*standing_out = (enum standing)i;
		return true;
	}
	return false;
}
