#include "store/ask_turns.h"

#include <stdlib.h>
#include <string.h>

#include "store/stmt.h"

#define WALK_MAX 64 /* providers read at once */

static struct ask_provider *find_provider(struct ask_turns *turns, const char *name)
{
	for (size_t i = 0; i < turns->busy_len; i++)
		if (strcmp(turns->busy[i].name, name) == 0)
			return &turns->busy[i];
	return NULL;
}

void ask_turns_taken(struct ask_turns *turns, const char *provider)
{
	struct ask_provider *found = find_provider(turns, provider);

	if (!found) {
		found = &turns->busy[turns->busy_len++];
		*found = (struct ask_provider){ .in_hand = 0 };
		strcpy(found->name, provider); /* both NAME_MAX_LEN + 1 */
	}
	found->in_hand++;
}

void ask_turns_returned(struct ask_turns *turns, const char *provider)
{
	struct ask_provider *found = find_provider(turns, provider);

	if (found && --found->in_hand == 0)
		*found = turns->busy[--turns->busy_len];
}

/* One that isn't in the list has room there only where one more can be noted; `fresh` have been
 * found just now and aren't yet in it. */
static size_t room_of(struct ask_turns *turns, const char *provider, size_t fresh)
{
	const struct ask_provider *found = find_provider(turns, provider);

	if (found)
		return turns->share > found->in_hand ? turns->share - found->in_hand : 0;
	return turns->busy_len + fresh < ASK_PROVIDERS_MAX ? turns->share : 0;
}

/* Names in their order, and how many of them are there at all. */
struct page {
	char names[WALK_MAX][NAME_MAX_LEN + 1];
	size_t len;
};

static enum rc read_page(struct stmt *st, struct page *page_out)
{
	enum rc rc = stmt_run(st);

	page_out->len = 0;
	while (rc == RC_OK && page_out->len < WALK_MAX) {
		rc = stmt_fetch(st);
		if (rc == RC_OK)
			col_name(st, page_out->names[page_out->len++], NAME_MAX_LEN + 1);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

static enum rc read_providers(struct db *db, const char *after, struct page *page_out)
{
	struct stmt *st = db_stmt(db, SQL_PROVIDER_NAMES);

	bind_str(st, after);
	bind_u64(st, WALK_MAX);
	return read_page(st, page_out);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Those of a page that are to be asked. No provider has the name "", which fills the group up. */
static enum rc read_asked(struct db *db, const struct page *page, struct page *asked_out)
{
	struct stmt *st;

	asked_out->len = 0;
	if (page->len == 0)
		return RC_OK;
	st = db_stmt_n(db, SQL_ASK_PROVIDERS, stmt_group_above(page->len));
	for (size_t i = 0; i < stmt_group_above(page->len); i++)
		bind_str(st, i < page->len ? page->names[i] : "");
	enum rc rc = read_page(st, asked_out);

	qsort(asked_out->names, asked_out->len, sizeof asked_out->names[0], by_name);
	return rc;
}

static enum rc read_due(struct db *db, const char *provider, size_t max, struct turn *list,
			size_t *len_out)
{
	struct stmt *st = db_stmt(db, SQL_ASK_FIND);

	*len_out = 0;
	bind_str(st, provider);
	bind_u64(st, max);
	enum rc rc = stmt_run(st);

	while (rc == RC_OK && *len_out < max) {
		rc = stmt_fetch(st);
		if (rc != RC_OK)
			break;
		(void)col_id(st, &list[*len_out].attempt_id);
		(void)col_id(st, &list[(*len_out)++].job_id);
	}
	if (rc == RC_OK)
		stmt_done(st);
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

struct walking {
	struct ask_turns *turns;
	size_t max;
	struct turn *list;
	size_t len;
	size_t fresh;
	bool more;
};

/* False: `last` has been passed. */
static bool walk_page(struct db *db, struct walking *w, const struct page *asked, const char *last,
		      enum rc *rc_out)
{
	for (size_t i = 0; *rc_out == RC_OK && i < asked->len && w->len < w->max; i++) {
		const char *name = asked->names[i];
		size_t room = room_of(w->turns, name, w->fresh), got = 0;

		if (last && strcmp(name, last) > 0)
			return false;
		if (room > w->max - w->len)
			room = w->max - w->len;
		if (room > 0)
			*rc_out = read_due(db, name, room, &w->list[w->len], &got);
		strcpy(w->turns->after, name);
		w->len += got;
		w->fresh += got > 0;
		w->more |= room > 0 && got == room;
	}
	return true;
}

/* Those after the last one served, up to and with `last` (NULL: to the end). */
static enum rc walk(struct db *db, struct walking *w, const char *last)
{
	struct page page, asked;
	bool more;
	enum rc rc;

	do {
		rc = read_providers(db, w->turns->after, &page);
		if (rc == RC_OK)
			rc = read_asked(db, &page, &asked);
		if (rc != RC_OK || !walk_page(db, w, &asked, last, &rc))
			return rc;
		more = rc == RC_OK && page.len == WALK_MAX && w->len < w->max;
		if (more)
			strcpy(w->turns->after, page.names[WALK_MAX - 1]);
	} while (more);
	return rc;
}

enum rc ask_turns_find(struct db *db, struct ask_turns *turns, size_t max, struct turn *list,
		       size_t *len_out, bool *more_out)
{
	struct walking w = { .turns = turns, .max = max, .list = list };
	char last[NAME_MAX_LEN + 1];

	strcpy(last, turns->after);
	enum rc rc = walk(db, &w, NULL);

	if (rc == RC_OK && w.len < max && last[0] != '\0') {
		turns->after[0] = '\0';
		rc = walk(db, &w, last);
	}
	*len_out = w.len;
	*more_out = w.more;
	return rc;
}
