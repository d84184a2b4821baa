/* cmd_migrate.c: onejob migrate. */
#include "ctl/cmd.h"

#include <inttypes.h>

#include "store/migrate.h"

static void say_applied(uint32_t number, const char *name, void *arg)
{
	ctl_line(arg, "applied %04" PRIu32 " %s", number, name);
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
	enum rc rc = migrate_run(ctl->db, say_applied, ctl, &schema);
	if (rc == RC_OK) {
		ctl_line(ctl, "the schema is at %" PRIu32, schema.at);
		return CTL_DONE;
	}
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
		return ctl_failed(ctl, rc, "a migration (those before it stay)");
	return CTL_REFUSED;
}
