#include "store/certificate_store.h"

#include <stdlib.h>
#include <string.h>

#include "store/page_fit.h"
#include "store/stmt.h"

static enum rc read_row(struct stmt *st, struct certificate *c)
{
	char why[32];

	*c = (struct certificate){ 0 };
	(void)col_id(st, &c->id);
	col_name(st, c->contract, sizeof c->contract);
	c->contract_version = (uint32_t)col_u64(st);
	col_name(st, c->provider, sizeof c->provider);
	c->passed = col_u64(st) != 0;
	(void)standing_parse(why, col_bytes(st, why, sizeof why), &c->now); /* NULL: valid */
	c->rounds = (uint32_t)col_u64(st);
	c->issued_us = col_time(st);
	c->expires_us = col_time(st);
	return col_blob(st, &c->report) ? RC_OK : RC_FAULT;
}

struct page {
	const struct certificate_filter *filter;
	struct certificate *list;
	size_t len;
	uint32_t limit; /* the filter's, or what fits */
};

static const struct id *last_id(const struct certificate_filter *filter)
{
	static const struct id none = { { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
					  255, 255, 255, 255, 255 } };

	return filter->has_before ? &filter->before : &none;
}

static void bind_filter(struct stmt *st, const struct certificate_filter *filter, uint32_t limit)
{
	bind_id(st, last_id(filter));
	for (int i = 0; i < 2; i++)
		bind_str(st, filter->contract);
	for (int i = 0; i < 2; i++)
		bind_str(st, filter->provider);
	if (filter->has_valid)
		bind_u64(st, 1);
	else
		bind_null(st);
	bind_u64(st, CONTRACT_RULE_VERSION);
	bind_u64(st, filter->valid);
	bind_u64(st, limit);
}

static enum rc list(struct db *db, void *arg)
{
	struct page *page = arg;
	struct stmt *st = db_stmt(db, SQL_CERTIFICATE_SIZES);

	for (size_t i = 0; i < page->len; i++)
		certificate_release(&page->list[i]);
	page->len = 0;
	page->limit = page->filter->limit;
	bind_filter(st, page->filter, page->limit);
	enum rc rc = page_fit(st, &page->limit);

	if (rc != RC_OK)
		return rc;
	st = db_stmt(db, SQL_CERTIFICATE_LIST);
	bind_u64(st, CONTRACT_RULE_VERSION);
	bind_filter(st, page->filter, page->limit + 1);
	rc = stmt_run(st);
	while (rc == RC_OK && page->len <= page->limit) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			rc = read_row(st, &page->list[page->len]);
		if (rc == RC_OK)
			page->len++;
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc certificate_store_list(struct db *db, const struct certificate_filter *filter,
			       struct certificate **list_out, size_t *len_out, bool *more_out)
{
	struct page page = { filter, calloc(filter->limit + 1u, sizeof(struct certificate)), 0, 0 };

	if (!page.list)
		return RC_FAULT;
	enum rc rc = db_read(db, list, &page);

	if (rc != RC_OK) {
		certificate_list_free(page.list, page.len);
		return rc;
	}
	*more_out = page.len > page.limit;
	if (*more_out)
		certificate_release(&page.list[--page.len]);
	*list_out = page.list;
	*len_out = page.len;
	return RC_OK;
}

void certificate_list_free(struct certificate *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		certificate_release(&rows[i]);
	free(rows);
}

struct expiry {
	uint32_t within_s;
	const char *contract;
	struct expiring *list;
	size_t len;
};

static enum rc find_expiring(struct db *db, void *arg)
{
	struct expiry *expiry = arg;
	struct stmt *st = db_stmt(db, SQL_CERTIFICATES_EXPIRING);

	expiry->len = 0;
	bind_u64(st, expiry->within_s);
	bind_str(st, expiry->contract);
	bind_str(st, expiry->contract);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && expiry->len < CERTIFICATES_EXPIRING_MAX) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		struct expiring *row = &expiry->list[expiry->len++];

		col_name(st, row->contract, sizeof row->contract);
		col_name(st, row->provider, sizeof row->provider);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc certificate_store_expiring(struct db *db, uint32_t within_s, const char *contract,
				   struct expiring *list_out, size_t *len_out)
{
	struct expiry expiry = { within_s, contract, list_out, 0 };
	enum rc rc = db_read(db, find_expiring, &expiry);

	*len_out = rc == RC_OK ? expiry.len : 0;
	return rc;
}

struct survey {
	const char *contract;
	uint32_t within_s;
	struct route_standing *list;
	size_t max;
	size_t len;
	bool more;
};

static void read_standing(struct stmt *st, struct route_standing *r)
{
	char why[32];

	*r = (struct route_standing){ .now = STANDING_VALID };
	col_name(st, r->contract, sizeof r->contract);
	r->place = (uint32_t)col_u64(st);
	col_name(st, r->provider, sizeof r->provider);
	bool has_verdict = col_u64(st) != 0;

	(void)standing_parse(why, col_bytes(st, why, sizeof why), &r->now); /* NULL: valid */
	if (!has_verdict)
		r->now = STANDING_NOT_CERTIFIED;
	r->expires_us = col_time(st);
	r->expiring = col_u64(st) != 0;
}

static enum rc survey_routes(struct db *db, void *arg)
{
	struct survey *survey = arg;
	struct stmt *st = db_stmt(db, SQL_ROUTE_STANDINGS);

	survey->len = 0;
	bind_u64(st, CONTRACT_RULE_VERSION);
	bind_u64(st, survey->within_s);
	bind_str(st, "");
	bind_str(st, survey->contract);
	bind_str(st, survey->contract);
	bind_u64(st, survey->max + 1);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && survey->len < survey->max) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			read_standing(st, &survey->list[survey->len++]);
	}
	survey->more = rc == RC_OK && stmt_fetch(st) == RC_OK;
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

enum rc certificate_store_standings(struct db *db, const char *contract, uint32_t within_s,
				    struct route_standing *list_out, size_t max, size_t *len_out,
				    bool *more_out)
{
	struct survey survey = { contract, within_s, list_out, max, 0, false };
	enum rc rc = db_read(db, survey_routes, &survey);

	*len_out = rc == RC_OK ? survey.len : 0;
	*more_out = rc == RC_OK && survey.more;
	return rc;
}
