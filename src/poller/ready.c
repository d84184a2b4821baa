#include "poller/ready.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "poller/desk_own.h"
#include "store/migrate.h"

#define WHY_MAX_BYTES 512

/* A newer schema is served: migrations only add, and old programs go on while a deployment rolls.
 */
static bool schema_fits(const struct schema_state *schema, char why_out[WHY_MAX_BYTES])
{
	switch (schema->verdict) {
	case SCHEMA_CURRENT:
	case SCHEMA_NEWER: return true;
	case SCHEMA_OLDER:
		snprintf(why_out, WHY_MAX_BYTES,
			 "the schema is at %" PRIu32 " and this program wants %" PRIu32
			 ": run `onejob migrate`",
			 schema->at, schema->wants);
		return false;
	case SCHEMA_CHANGED:
		snprintf(why_out, WHY_MAX_BYTES,
			 "migration %" PRIu32 " isn't the one that was applied: this program "
			 "belongs to another schema",
			 schema->changed);
		return false;
	case SCHEMA__MAX: break;
	}
	snprintf(why_out, WHY_MAX_BYTES, "the schema can't be told");
	return false;
}

static bool look(struct desk *d, bool *reached_out, char why_out[WHY_MAX_BYTES])
{
	struct schema_state schema;

	*reached_out = db_ready(d->db) == RC_OK && migrate_check(d->db, &schema) == RC_OK;
	if (*reached_out)
		return schema_fits(&schema, why_out);
	snprintf(why_out, WHY_MAX_BYTES,
		 "the database can't be reached: %.200s; its address comes from the group [onejob] "
		 "of %.150s, and `onejob doctor` tells more",
		 db_error(d->db),
		 d->orders.defaults_file ? d->orders.defaults_file
					 : "the usual MySQL option files");
	return false;
}

bool ready_look(struct desk *d)
{
	char why[WHY_MAX_BYTES];
	bool reached;

	if (d->ready)
		return true;
	d->ready = look(d, &reached, why);
	if (d->ready)
		return true;
	if (d->orders.once) {
		log_error("poller.start", "%s", why);
		desk_stop_claiming(d);
	} else if (reached && !d->told_schema) { /* a connection that fails tells of itself */
		log_error("poller.start", "%s", why);
		d->told_schema = true;
	}
	desk_say_trouble(d);
	return false;
}
