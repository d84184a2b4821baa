/* ctl.h: what every verb of the command is handed, how it reaches the database, and how it ends. */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/conf.h"
#include "base/id.h"
#include "base/rc.h"
#include "store/db.h"

struct json_object;

/* The process's exit status: what scripts may rely on. */
enum ctl_exit {
	CTL_DONE = 0,
	CTL_REFUSED = 1,  /* refused, or not found */
	CTL_USAGE = 2,	  /* the command line can't be meant */
	CTL_UNREACHED = 3 /* the database can't be reached, or failed */
};

struct ctl {
	struct conf conf;
	bool conf_ok;  /* false: a setting can't be used, `conf` holds nothing; only the doctor
			  goes on */
	struct db *db; /* made by ctl_connect() */
	bool patient;  /* it waits for answers as long as it takes */
	FILE *out;
	FILE *err;
	bool json;     /* --json */
	bool terminal; /* `out` is one: colours, and long texts are shortened */
};

void ctl_init(struct ctl *ctl);
void ctl_release(struct ctl *ctl);

/* How the schema is brought up to date, and by whom: the programs' account usually may not. */
#define CTL_HOW_TO_MIGRATE                                                                         \
	"`onejob migrate`, by an account that may CREATE and ALTER: "                              \
	"ONEJOB_DEFAULTS_FILE=" SYSCONFDIR                                                         \
	"/onejob/migrate.cnf onejob migrate, where there is that file"

/* Connect. Anything but CTL_DONE has been said on `err`. */
enum ctl_exit ctl_connect(struct ctl *ctl);

/* Connect, and refuse a schema that isn't this program's. */
enum ctl_exit ctl_ready(struct ctl *ctl);

/* "onejob: ..." on `err`, whatever came from outside escaped. */
void ctl_say(struct ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Say that the command line can't be meant; always CTL_USAGE. How it could be is told by main(). */
enum ctl_exit ctl_usage(struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say what became of `what` ("the token"), by the code that isn't RC_OK, and how the process ends.
 */
enum ctl_exit ctl_failed(struct ctl *ctl, enum rc rc, const char *what);

/* A line on `out`, whatever came from outside escaped. */
void ctl_line(struct ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print the object and let go of it. NULL stands for "no memory". */
enum ctl_exit ctl_print_json(struct ctl *ctl, struct json_object *object);

/* An id from the command line; `what` ("job") is for the message. */
enum ctl_exit ctl_read_id(struct ctl *ctl, const char *what, const char *text, struct id *id_out);

#endif
