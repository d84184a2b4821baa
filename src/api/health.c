/* health.c: is this process up, can it work; and the pages of the problem types. No token: the web
 * server bounds them. */
#include "api/handlers.h"
#include "store/migrate.h"

void health_live(const struct api *api, struct call *call, struct reply *reply)
{
	(void)api;
	(void)call;
	text_add_str(reply_plain(reply, 200), "up\n");
}

static const char *schema_flaw(enum schema_age verdict)
{
	switch (verdict) {
	case SCHEMA_CURRENT:
	case SCHEMA_NEWER:
		return NULL; /* migrations only add: old hosts serve while a deployment
				rolls */
	case SCHEMA_OLDER: return "The schema is older than this program: run `onejob migrate`.";
	case SCHEMA_CHANGED:
		return "A migration that was applied isn't the one that this program carries.";
	case SCHEMA__MAX: break;
	}
	return "The schema can't be told.";
}

void health_ready(const struct api *api, struct call *call, struct reply *reply)
{
	struct schema_state state;
	const char *flaw;

	(void)call;
	if (db_ready(api->db) != RC_OK || migrate_check(api->db, &state) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	flaw = schema_flaw(state.verdict);
	if (flaw)
		reply_problem(reply, PROBLEM_UNAVAILABLE, "%s", flaw);
	else
		text_add_str(reply_plain(reply, 200), "ready\n");
}

void problems_index(const struct api *api, struct call *call, struct reply *reply)
{
	(void)api;
	(void)call;
	problem_index(reply_plain(reply, 200));
}

void problems_page(const struct api *api, struct call *call, struct reply *reply)
{
	const struct problem_row *row = problem_find(call->name, call->name_len);

	(void)api;
	if (row)
		problem_page(row, reply_plain(reply, 200));
	else
		reply_problem(reply, PROBLEM_NOT_FOUND,
			      "There is no such problem type; /problems lists them.");
}
