/* page_fit.h: pages of rows that may be large. A statement's answer comes into memory whole, so how
 * large its rows are is asked before. Private to store. */
#ifndef STORE_PAGE_FIT_H
#define STORE_PAGE_FIT_H

#include <stdint.h>

#include "base/rc.h"
#include "store/stmt.h"

#define PAGE_BYTES_MAX (UINT64_C(8) << 20) /* or one row */

/* `sizes`: bound, to be run; its rows are the sizes in bytes of the page's rows, in its order. Then
 * *limit_io is lowered to as many as the page may have. */
MUST_CHECK enum rc page_fit(struct stmt *sizes, uint32_t *limit_io);

#endif
