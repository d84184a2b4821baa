#include "store/page_fit.h"

enum rc page_fit(struct stmt *sizes, uint32_t *limit_io)
{
	uint32_t fit = 0;
	uint64_t bytes = 0;
	enum rc rc = stmt_run(sizes);

	while (rc == RC_OK && fit < *limit_io && (rc = stmt_fetch(sizes)) == RC_OK) {
		bytes += col_u64(sizes);
		if (fit > 0 && bytes > PAGE_BYTES_MAX)
			break;
		fit++;
	}
	if (rc == RC_OK)
		stmt_done(sizes);
	if (rc == RC_OK)
		*limit_io = fit;
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}
