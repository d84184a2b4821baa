/* page.c: see page.h. */
#include "api/page.h"

bool page_read(const struct call *call, const char *const *own, size_t len, struct page *page,
	       struct reply *reply)
{
	char detail[QUERY_DETAIL_MAX];

	*page = (struct page){ .query = { [PAGE_LIMIT] = { .name = "limit" },
					  [PAGE_CURSOR] = { .name = "cursor" } } };
	for (size_t i = 0; i < len; i++)
		page->query[PAGE_OWN + i].name = own[i];
	if (!query_read(call->request->query, call->request->query_len, page->query, PAGE_OWN + len,
			detail)) {
		reply_problem(reply, PROBLEM_INVALID_QUERY, "Query: %s.", detail);
		return false;
	}
	if (!query_limit(&page->query[PAGE_LIMIT], &page->limit)) {
		reply_problem(reply, PROBLEM_INVALID_QUERY, "Query: limit must be 1 to 200.");
		return false;
	}
	return true;
}

static bool refuse_cursor(struct reply *reply)
{
	reply_problem(reply, PROBLEM_INVALID_QUERY,
		      "Query: cursor is none that was given out here.");
	return false;
}

bool page_before(const struct page *page, struct id *before_out, struct reply *reply)
{
	const struct query_member *cursor = &page->query[PAGE_CURSOR];

	return !cursor->given || cursor_to_id(cursor, before_out) || refuse_cursor(reply);
}

bool page_after(const struct page *page, char after_out[NAME_MAX_LEN + 1], struct reply *reply)
{
	const struct query_member *cursor = &page->query[PAGE_CURSOR];

	return !cursor->given || cursor_to_name(cursor, after_out) || refuse_cursor(reply);
}
