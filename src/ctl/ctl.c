/* ctl.c: see ctl.h. */
#include "ctl/ctl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/build.h"
#include "ctl/print.h"
#include "store/migrate.h"

void ctl_init(struct ctl *ctl)
{
	*ctl = (struct ctl){ .out = stdout, .err = stderr, .terminal = isatty(STDOUT_FILENO) == 1 };
}

void ctl_release(struct ctl *ctl)
{
	db_free(ctl->db);
	ctl->db = NULL;
}

void ctl_say(struct ctl *ctl, const char *format, ...)
{
	va_list args;

	fputs("onejob: ", ctl->err);
	va_start(args, format);
	print_vline(ctl->err, format, args);
	va_end(args);
}

enum ctl_exit ctl_usage(struct ctl *ctl, const char *format, ...)
{
	va_list args;

	fputs("onejob: ", ctl->err);
	va_start(args, format);
	print_vline(ctl->err, format, args);
	va_end(args);
	return CTL_USAGE;
}

void ctl_line(struct ctl *ctl, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_vline(ctl->out, format, args);
	va_end(args);
}

enum ctl_exit ctl_print_json(struct ctl *ctl, struct json_object *object)
{
	if (!object) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	bool whole = print_json(ctl->out, object, ctl->terminal);
	build_drop(object);
	if (!whole) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	return CTL_DONE;
}

/* The doctor would only say the same. */
static void say_rights(struct ctl *ctl)
{
	if (db_lacks_right(ctl->db))
		ctl_say(ctl,
			"the account in %s lacks a right. The programs want SELECT, INSERT, UPDATE "
			"and DELETE on the database; the schema is made with " CTL_HOW_TO_MIGRATE
			" (onejob.env(5))",
			ctl->conf.defaults_file ? ctl->conf.defaults_file
						: "the usual MySQL option files");
}

enum ctl_exit ctl_failed(struct ctl *ctl, enum rc rc, const char *what)
{
	switch (rc) {
	case RC_OK: return CTL_DONE;
	case RC_CONFLICT: ctl_say(ctl, "%s: refused; nothing was done", what); return CTL_REFUSED;
	case RC_NOT_FOUND: ctl_say(ctl, "%s: not found", what); return CTL_REFUSED;
	case RC_INVALID: ctl_say(ctl, "%s: not valid; nothing was done", what); return CTL_REFUSED;
	case RC_UNCERTAIN:
		ctl_say(ctl,
			"%s: the database's answer was lost, so this may have been done; look "
			"before you do it "
			"again (%s)",
			what, db_error(ctl->db));
		return CTL_UNREACHED;
	case RC_RETRY:
	case RC_FAULT:
	case RC__MAX: break;
	}
	ctl_say(ctl, "%s: the database failed; nothing was done (%s)", what, db_error(ctl->db));
	say_rights(ctl);
	return CTL_UNREACHED;
}

enum ctl_exit ctl_connect(struct ctl *ctl)
{
	if (!ctl->conf_ok) {
		ctl_say(ctl, "a setting can't be used (see above)");
		return CTL_REFUSED;
	}
	ctl->db = db_new(ctl->conf.defaults_file);
	if (!ctl->db) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	if (ctl->patient)
		db_be_patient(ctl->db);
	if (db_ready(ctl->db) == RC_OK)
		return CTL_DONE;
	ctl_say(ctl, "the database can't be reached: %s", db_error(ctl->db));
	say_rights(ctl);
	ctl_say(ctl, "its address comes from the group [onejob] of %s; `onejob doctor` tells more",
		ctl->conf.defaults_file ? ctl->conf.defaults_file : "the usual MySQL option files");
	return CTL_UNREACHED;
}

static enum ctl_exit schema_refused(struct ctl *ctl, const struct schema_state *schema)
{
	switch (schema->verdict) {
	case SCHEMA_CURRENT: return CTL_DONE;
	case SCHEMA_OLDER:
		ctl_say(ctl,
			"the schema is at %" PRIu32 " and this program wants %" PRIu32
			": run `onejob migrate`",
			schema->at, schema->wants);
		break;
	case SCHEMA_NEWER: /* migrations only add: it works, for the time of a deployment */
		ctl_say(ctl,
			"note: the schema is at %" PRIu32 " and this program knows %" PRIu32
			" only; use the newer program soon",
			schema->at, schema->wants);
		return CTL_DONE;
	case SCHEMA_CHANGED:
		ctl_say(ctl,
			"migration %" PRIu32
			" isn't the one that was applied: this program belongs to another "
			"schema",
			schema->changed);
		break;
	case SCHEMA__MAX: break;
	}
	return CTL_REFUSED;
}

enum ctl_exit ctl_ready(struct ctl *ctl)
{
	struct schema_state schema;
	enum ctl_exit end = ctl_connect(ctl);

	if (end != CTL_DONE)
		return end;
	enum rc rc = migrate_check(ctl->db, &schema);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the schema");
	return schema_refused(ctl, &schema);
}

enum ctl_exit ctl_read_id(struct ctl *ctl, const char *what, const char *text, struct id *id_out)
{
	if (id_parse(text, strlen(text), id_out))
		return CTL_DONE;
	return ctl_usage(ctl, "'%s' isn't the id of %s: 36 characters, as the lists show them",
			 text, what);
}
