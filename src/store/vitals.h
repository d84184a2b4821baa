/* vitals.h: what a doctor asks the database. */
#ifndef STORE_VITALS_H
#define STORE_VITALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rc.h"
#include "core/job.h"
#include "store/db.h"

struct vitals {
	int64_t database_now_us; /* by the database's clock, UTC */
	uint64_t pollers_alive;
	int64_t first_lease_us; /* the first of theirs to run out; 0: there is none */
	uint64_t pollers_dead;	/* lease run out, not yet reaped */
	bool has_oldest_due;	/* a queued job that could start: its run_after has passed */
	struct id oldest_due;
	int64_t oldest_due_us; /* its run_after */
	bool has_oldest_unknown;
	struct id oldest_unknown;  /* a job */
	int64_t oldest_unknown_us; /* since when: its attempt's end of hearing */
	uint64_t unknown_attempts;
	uint64_t races_total; /* rows of races ever written since sql/0023: those purged, too */
	uint64_t stranded;    /* queued jobs whose next provider isn't there or is disabled; at most
				 1,000 counted */
	uint64_t endpoints_disabled; /* of owners, for webhooks */
	uint64_t messages_given_up;  /* those of disabled endpoints included */
	uint64_t messages_failing;   /* failed, and to be tried again; at most 1,000 counted */
	char failing_answer[256];    /* to one of those, in words */
	bool strict;		     /* the session's sql_mode is strict */
	bool durable;		     /* innodb_flush_log_at_trx_commit is 1 */
	uint64_t packet_max_bytes;   /* the server's max_allowed_packet */
};
MUST_CHECK enum rc vitals_read(struct db *db, struct vitals *vitals_out);

/* Of a node of a Galera cluster (db_in_cluster()), also of one that refuses all else. What a node
 * that goes down doesn't tell is "" or 0. */
struct node_vitals {
	char status[32]; /* of the part of the cluster that it sees: "Primary" */
	char state[64];	 /* "Synced" */
	uint64_t size;	 /* nodes that it sees */
	bool sound;	 /* binlog_format and innodb_autoinc_lock_mode are what Galera asks for */
};
MUST_CHECK enum rc vitals_read_node(struct db *db, struct node_vitals *node_out);

/* Writes, changes and removes a row that nobody sees, and rolls it back. RC_OK: the account may do
 * that; else see db_error(). */
MUST_CHECK enum rc vitals_try_writing(struct db *db);

#endif
