/* operators.c: lists of attempts and races, and the providers. */
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/rows.h"
#include "core/flaws.h"
#include "core/provider_def.h"
#include "store/attempt_store.h"
#include "store/provider_store.h"

static const char *const by_state_member[] = { "state" };

void attempts_list(const struct api *api, struct call *call, struct reply *reply)
{
	enum attempt_state state = ATTEMPT_STATE__MAX;
	char cursor[CURSOR_MAX + 1];
	struct attempt *attempts = NULL;
	const struct query_member *by_state;
	struct id before;
	struct page page;
	size_t len = 0;
	bool more = false;

	if (!page_read(call, by_state_member, 1, &page, reply) ||
	    !page_before(&page, &before, reply))
		return;
	by_state = &page.query[PAGE_OWN];
	if (by_state->given && !attempt_state_parse(by_state->value, by_state->len, &state)) {
		reply_problem(reply, PROBLEM_INVALID_QUERY,
			      "Query: state must be " ATTEMPT_STATE_NAMES ".");
		return;
	}
	if (attempt_store_list(api->db, by_state->given, state,
			       page.query[PAGE_CURSOR].given ? &before : NULL, page.limit,
			       &attempts, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	more = more && len > 0;
	if (more)
		cursor_of_id(&attempts[len - 1].id, cursor);
	reply_json(reply, 200, rows_attempts(attempts, len, more ? cursor : NULL));
	attempt_list_free(attempts, len);
}

void races_list(const struct api *api, struct call *call, struct reply *reply)
{
	char cursor[CURSOR_MAX + 1];
	struct race *races = NULL;
	struct id before;
	struct page page;
	size_t len = 0;
	bool more = false;

	if (!page_read(call, NULL, 0, &page, reply) || !page_before(&page, &before, reply))
		return;
	if (race_store_list(api->db, page.query[PAGE_CURSOR].given ? &before : NULL, page.limit,
			    &races, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	more = more && len > 0;
	if (more)
		cursor_of_id(&races[len - 1].id, cursor);
	reply_json(reply, 200, rows_races(races, len, more ? cursor : NULL));
	free(races);
}

void providers_list(const struct api *api, struct call *call, struct reply *reply)
{
	char after[NAME_MAX_LEN + 1];
	char cursor[CURSOR_MAX + 1];
	struct definition_row *rows = NULL;
	struct json_object *array;
	struct page page;
	size_t len = 0;
	bool more = false;

	if (!page_read(call, NULL, 0, &page, reply) || !page_after(&page, after, reply))
		return;
	if (provider_store_list(api->db, page.query[PAGE_CURSOR].given ? after : NULL, page.limit,
				&rows, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	array = rows_begin();
	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, rows_definition(&rows[i]));
	more = more && len > 0;
	if (more)
		cursor_of_name(rows[len - 1].name, cursor);
	reply_json(reply, 200, rows_end("providers", array, more ? cursor : NULL));
	definition_list_free(rows, len);
}

static void refuse_missing(struct reply *reply)
{
	reply_problem(reply, PROBLEM_NOT_FOUND, "There is no provider of this name.");
}

void providers_get(const struct api *api, struct call *call, struct reply *reply)
{
	struct definition_row row = { .version = 0 };
	char name[NAME_MAX_LEN + 1];
	enum rc rc = RC_NOT_FOUND;

	if (path_name(call, name))
		rc = provider_store_get(api->db, name, &row);
	if (rc == RC_OK)
		reply_json(reply, 200, rows_definition(&row));
	else if (rc == RC_NOT_FOUND)
		refuse_missing(reply);
	else
		answer_unavailable(reply);
	definition_row_release(&row);
}

static void put(const struct api *api, const char *name, const struct provider_def *def,
		struct reply *reply)
{
	struct definition_row row = { .version = 0 };
	bool is_new = false;

	if (provider_store_put(api->db, name, def, &is_new, &row) == RC_OK)
		reply_json(reply, is_new ? 201 : 200, rows_definition(&row));
	else
		answer_unavailable(reply);
	definition_row_release(&row);
}

static void refuse_provider(struct reply *reply, const struct flaws *flaws)
{
	reply_problem(reply, PROBLEM_INVALID_PROVIDER, "The definition has %zu flaw%s.",
		      flaws->count, flaws->count == 1 ? "" : "s");
	reply_add_flaws(reply, flaws);
}

void providers_put(const struct api *api, struct call *call, struct reply *reply)
{
	struct provider_def def;
	struct flaws flaws;
	char name[NAME_MAX_LEN + 1];
	enum rc rc;

	flaws_init(&flaws);
	if (call->request->body_len > PROVIDER_MAX_BYTES)
		flaws_add(&flaws, "", NULL, 0, "is larger than %d bytes", PROVIDER_MAX_BYTES);
	if (!path_name(call, name))
		flaws_add(&flaws, "", NULL, 0,
			  "the name in the path is none: 1 to 64 of a-z, 0-9, '-', '_' and '.'");
	if (flaws.count > 0) {
		refuse_provider(reply, &flaws);
		flaws_release(&flaws);
		return;
	}
	rc = provider_def_read(call->body, &def, &flaws);
	if (rc == RC_OK) {
		put(api, name, &def, reply);
		provider_def_release(&def);
	} else if (rc == RC_INVALID) {
		refuse_provider(reply, &flaws);
	} else {
		answer_unavailable(reply);
	}
	flaws_release(&flaws);
}

void providers_delete(const struct api *api, struct call *call, struct reply *reply)
{
	char name[NAME_MAX_LEN + 1];
	enum rc rc = RC_NOT_FOUND;

	if (path_name(call, name))
		rc = provider_store_delete(api->db, name);
	if (rc == RC_OK)
		reply_empty(reply, 204);
	else if (rc == RC_NOT_FOUND)
		refuse_missing(reply);
	else if (rc == RC_CONFLICT)
		reply_problem(reply, PROBLEM_PROVIDER_IN_USE,
			      "A queued job, an open attempt or a contract's route names %s.",
			      name);
	else
		answer_unavailable(reply);
}
