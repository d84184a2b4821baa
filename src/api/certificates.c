/* certificates.c: the newest verdicts on the routes of the contracts that count now. */
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/rows.h"
#include "store/certificate_store.h"

enum { BY_CONTRACT = PAGE_OWN, BY_PROVIDER, BY_VALID };

static bool read_name(const struct query_member *member, const char **name_out)
{
	*name_out = member->given ? member->value : NULL;
	return !member->given || name_valid(member->value, member->len);
}

static bool read_valid(const struct query_member *member, struct certificate_filter *filter)
{
	filter->has_valid = member->given;
	filter->valid = member->given && strcmp(member->value, "true") == 0;
	return !member->given || filter->valid || strcmp(member->value, "false") == 0;
}

/* False: refused. */
static bool read_filter(const struct page *page, struct certificate_filter *filter,
			struct reply *reply)
{
	const struct query_member *query = page->query;

	*filter = (struct certificate_filter){ .limit = page->limit,
					       .has_before = query[PAGE_CURSOR].given };
	if (!page_before(page, &filter->before, reply))
		return false;
	if (!read_name(&query[BY_CONTRACT], &filter->contract))
		reply_problem(reply, PROBLEM_INVALID_QUERY,
			      "Query: contract is no name that one can have.");
	else if (!read_name(&query[BY_PROVIDER], &filter->provider))
		reply_problem(reply, PROBLEM_INVALID_QUERY,
			      "Query: provider is no name that one can have.");
	else if (!read_valid(&query[BY_VALID], filter))
		reply_problem(reply, PROBLEM_INVALID_QUERY, "Query: valid must be true or false.");
	else
		return true;
	return false;
}

void certificates_list(const struct api *api, struct call *call, struct reply *reply)
{
	static const char *const members[] = { "contract", "provider", "valid" };
	struct certificate_filter filter;
	struct certificate *list = NULL;
	char cursor[CURSOR_MAX + 1];
	struct page page;
	size_t len = 0;
	bool more = false;

	if (!page_read(call, members, sizeof members / sizeof members[0], &page, reply) ||
	    !read_filter(&page, &filter, reply))
		return;
	if (certificate_store_list(api->db, &filter, &list, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	more = more && len > 0;
	if (more)
		cursor_of_id(&list[len - 1].id, cursor);
	reply_json(reply, 200, rows_certificates(list, len, more ? cursor : NULL));
	certificate_list_free(list, len);
}
