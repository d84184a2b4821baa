/* certificate.h: the verdict on a route: whether it was proven, and whether that stands now. */
#ifndef CORE_CERTIFICATE_H
#define CORE_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "core/job.h"
#include "core/standing.h"

struct certificate {
	struct id id;
	char contract[NAME_MAX_LEN + 1];
	uint32_t contract_version;
	char provider[NAME_MAX_LEN + 1];
	bool passed;	   /* the verdict then */
	enum standing now; /* VALID or why not */
	uint32_t rounds;
	int64_t issued_us;
	int64_t expires_us;
	struct blob report; /* JSON: [{"round", "fixture", "passed", "why"}] */
};
void certificate_release(struct certificate *certificate); /* frees what is inside */

#endif
