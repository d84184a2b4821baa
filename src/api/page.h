/* page.h: what every list of an operator takes: `limit`, `cursor`, and members of its own. */
#ifndef API_PAGE_H
#define API_PAGE_H

#include "api/handlers.h"
#include "api/query.h"

enum { PAGE_LIMIT, PAGE_CURSOR, PAGE_OWN }; /* the list's own members come from PAGE_OWN on */
#define PAGE_QUERY_MAX 5

struct page {
	struct query_member query[PAGE_QUERY_MAX];
	uint32_t limit;
};

/* `own`: the names of `len` members more. False: refused. */
bool page_read(const struct call *call, const char *const *own, size_t len, struct page *page,
	       struct reply *reply);

/* The cursor, where one is given, as an id or a name. False: refused. */
bool page_before(const struct page *page, struct id *before_out, struct reply *reply);
bool page_after(const struct page *page, char after_out[NAME_MAX_LEN + 1], struct reply *reply);

#endif
