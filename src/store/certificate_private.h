/* certificate_private.h: how certificates come and die, each inside the transaction of what they
 * come or die of. Private to store. */
#ifndef STORE_CERTIFICATE_PRIVATE_H
#define STORE_CERTIFICATE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/intent.h"
#include "core/contract.h"
#include "core/provider_def.h"
#include "store/db.h"

/* One row to be written. */
struct certificate_issue {
	const char *contract;
	uint32_t contract_version;
	const char *provider;
	uint32_t provider_version;
	unsigned char subject[SHA256_BYTES];
	bool passed;
	uint32_t rounds;
	const char *report;
	size_t report_len;
	int64_t issued_us; /* 0: now */
	uint32_t age_s;
	bool dead;
};
MUST_CHECK enum rc certificate_add(struct db *db, const struct certificate_issue *issue);

/* The contract has a new version after `before`, or (`now` NULL) is deleted. Every certificate of
 * the name dies; what proves the new version as well is issued again for it, with the old dates
 * (but never valid for longer than the new version's max_age_s). */
MUST_CHECK enum rc certificates_move_on(struct db *db, const char *contract, uint32_t before,
					const struct contract *now);

/* The provider's row went from version `from` to `to`. proven_changed: what certificates prove of
 * it is another. */
MUST_CHECK enum rc certificates_follow_provider(struct db *db, const char *provider, uint32_t from,
						uint32_t to, bool proven_changed);
MUST_CHECK enum rc certificates_die_by_provider(struct db *db, const char *provider);

#endif
