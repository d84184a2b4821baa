/* cmd_migrate.c: onejob migrate. */
#include "ctl/cmd.h"

#include <inttypes.h>

#include "ctl/build.h"
#include "store/migrate.h"

struct telling {
	struct ctl *ctl;
	struct json_object *applied; /* with --json: what was, in order */
};

static void say_applied(uint32_t number, const char *name, void *arg)
{
	struct telling *telling = arg;

	if (!telling->ctl->json) {
		ctl_line(telling->ctl, "applied %04" PRIu32 " %s", number, name);
		return;
	}
	struct json_object *row = build_object();

	build_add(&row, "number", build_number(number));
	build_add(&row, "name", build_string(name));
	build_push(&telling->applied, row);
}

static enum ctl_exit say_end(struct telling *telling, uint32_t at)
{
	if (!telling->ctl->json) {
		ctl_line(telling->ctl, "the schema is at %" PRIu32, at);
		return CTL_DONE;
	}
	struct json_object *end = build_object();

	build_add(&end, "schema", build_number(at));
	build_add(&end, "applied", telling->applied);
	return ctl_print_json(telling->ctl, end);
}

static enum ctl_exit say_failed(struct ctl *ctl, enum rc rc, const char *name)
{
	const char *error = db_error(ctl->db);

	if (!name)
		return ctl_failed(ctl, rc, "the schema");
	if (rc == RC_UNCERTAIN)
		ctl_say(ctl,
			"%s: the database's answer was lost (%s). Run `onejob migrate` again: it "
			"waits for what the server still does, and goes on",
			name, error);
	else if (rc == RC_RETRY && db_was_locked_out(ctl->db))
		ctl_say(ctl,
			"%s: nothing was done: a transaction that is open has kept its table for "
			"%d seconds (%s). Look for it in SHOW PROCESSLIST; when it has ended, run "
			"`onejob migrate` again",
			name, MIGRATE_WAIT_S, error);
	else if (rc == RC_RETRY && db_lacks_room(ctl->db))
		ctl_say(ctl,
			"%s: nothing was done: the server has no room (%s). To copy a table takes "
			"as much of its disk again; then run `onejob migrate` again",
			name, error);
	else if (rc == RC_FAULT && db_was_there(ctl->db))
		ctl_say(ctl,
			"%s: nothing was done: what it makes is there already, by another hand "
			"(%s)",
			name, error);
	else
		return ctl_failed(ctl, rc, name);
	return CTL_UNREACHED;
}

enum ctl_exit cmd_migrate(struct ctl *ctl, const struct args *args)
{
	struct schema_state schema = { .verdict = SCHEMA__MAX };
	enum ctl_exit end;

	(void)args;
	ctl->patient = true;
	end = ctl_connect(ctl);
	if (end != CTL_DONE)
		return end;
	struct telling telling = { ctl, ctl->json ? build_array() : NULL };
	enum rc rc = migrate_run(ctl->db, say_applied, &telling, &schema);
	if (rc == RC_OK)
		return say_end(&telling, schema.at);
	build_drop(telling.applied);
	if (rc == RC_CONFLICT && schema.verdict == SCHEMA_NEWER)
		ctl_say(ctl,
			"the schema is at %" PRIu32 " and this program carries %" PRIu32
			" only: nothing was done; "
			"use the newer program",
			schema.at, schema.wants);
	else if (rc == RC_CONFLICT)
		ctl_say(ctl,
			"migration %" PRIu32
			" isn't the one that was applied: nothing was done; this program belongs "
			"to another schema",
			schema.changed);
	else
		return say_failed(ctl, rc, schema.failed);
	return CTL_REFUSED;
}
