/* conf.h: the settings, all of them: environment variables ONEJOB_*, one row each in conf.c with
 * bounds and default. The database's address isn't here: it comes from the MySQL option files
 * (group [onejob], see store/db.h). */
#ifndef BASE_CONF_H
#define BASE_CONF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/rc.h"
#include "base/text.h"

struct conf {
	uint32_t max_body_bytes;  /* ONEJOB_MAX_BODY */
	uint32_t threads;	  /* ONEJOB_THREADS: of one process of the API */
	uint32_t trust_owner;	  /* ONEJOB_TRUST_OWNER: 1: ONEJOB_OWNER is authenticated */
	uint32_t in_flight_max;	  /* ONEJOB_IN_FLIGHT: requests on the wire in one poller; the
				   * default leaves room below 1024 descriptors */
	uint32_t lease_s;	  /* ONEJOB_LEASE_SECONDS */
	uint32_t poll_ms;	  /* ONEJOB_POLL_MS: an idle poller's wait between looks */
	uint32_t grace_s;	  /* ONEJOB_GRACE_SECONDS: SIGTERM's wait for answers */
	uint32_t webhook_private; /* ONEJOB_WEBHOOK_PRIVATE: 1: webhooks may go to private addresses
				   */
	const char *defaults_file; /* ONEJOB_DEFAULTS_FILE: or NULL for the usual ones */
	const char *callback_keys; /* ONEJOB_CALLBACK_KEYS: see keyring.h; or NULL: no callbacks */
	const char
		*callback_base; /* ONEJOB_CALLBACK_URL: this site as providers reach it; or NULL */
	const char *api_socket; /* ONEJOB_API_SOCKET: for the doctor; or NULL */
	const char *url;	/* ONEJOB_URL: for the doctor, as it was given; or NULL */
};

/* RC_OK, or RC_INVALID with a line logged for each flaw that names the setting, its value and its
 * bounds; *conf_out is untouched then. Nothing is clamped. The strings are the environment's. */
MUST_CHECK enum rc conf_load(struct conf *conf_out);

/* The variables ONEJOB_* of the environment that nothing here reads, by their names with ", "
 * between: a setting whose name is misspelt does nothing. Empty: there is none. */
void conf_strangers(struct text *names);

/* A line a setting: name, value, bounds, what it means. For `onejob doctor` and the manual. */
void conf_print(const struct conf *conf, FILE *to);

#endif
