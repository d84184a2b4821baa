/* doctor.h: what is wrong with a deployment, as rows: how bad, what, what was found, how to mend
 * it. The judgments only: they look at nothing themselves, so that each can be tested. */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/certificate_store.h"
#include "store/db.h"
#include "store/migrate.h"
#include "store/vitals.h"

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_BAD, HEALTH__MAX };

const char *health_name(enum health health); /* "ok", "warn", "bad" */

#define FINDINGS_MAX 64
#define FINDING_MAX_BYTES 1024

struct finding {
	enum health health;
	const char *what; /* constant */
	char *found;
	char *fix; /* "" where all is well */
};

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t len;
	bool failed; /* no memory, or more rows than fit */
};

void findings_init(struct findings *findings);
void findings_release(struct findings *findings);
enum health findings_worst(const struct findings *findings);

/* `fix` "" for none. The found text is formatted. */
void findings_add(struct findings *findings, enum health health, const char *what, const char *fix,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* MariaDB 10.6 and later, MySQL 8.0.16 and later; `versions` begins with what the server says of
 * itself. */
bool doctor_supports(const char *versions);

void doctor_versions(struct findings *findings, const char *versions);

/* A node of a Galera cluster. */
void doctor_node(struct findings *findings, const struct node_vitals *node);

/* Warns of a library of another make, or another major version, than the program was compiled for:
 * the structs that both share differ. */
void doctor_client(struct findings *findings, const struct client_library *client);

void doctor_schema(struct findings *findings, const struct schema_state *schema);

/* The database's clock against ours, which stood between before_us and after_us while it was asked.
 */
void doctor_clock(struct findings *findings, int64_t database_us, int64_t before_us,
		  int64_t after_us);

/* What is set here for callbacks, and who wants them. */
struct callback_facts {
	const char *url;       /* NULL: not set */
	const char *keys_path; /* the same */
	bool hidden;	       /* this user may not read the keys */
	bool sound;	       /* they are none, hidden or good */
	const char *wanted_by; /* providers and contracts that name {{callback_url}}; "": none */
};

void doctor_callbacks(struct findings *findings, const struct callback_facts *facts);

/* Variables ONEJOB_* that nothing reads; "": there is none, and no row. */
void doctor_strangers(struct findings *findings, const char *names);

/* lease_s: ONEJOB_LEASE_SECONDS, as far as it is known here; 0: it isn't.
 *
 * Strict mode, durability, pollers, the oldest due and unknown jobs, stranded jobs, webhooks. */
void doctor_vitals(struct findings *findings, const struct vitals *vitals, uint32_t lease_s);

/* Later routes of the contracts that count now: what stops jobs from failing over to them, and what
 * soon will. The first of each needs no certificate; a disabled provider is what somebody wanted.
 * `expiring` of the rows means CERTIFICATES_SOON_S. */
#define CERTIFICATES_SOON_S 86400
void doctor_routes(struct findings *findings, const struct route_standing *list, size_t len);

#endif
