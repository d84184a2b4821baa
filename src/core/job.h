/* job.h: the words of the design as values: states, reasons, phases, and the rows of jobs and
 * attempts as structs.
 *
 * A job is the durable record of one intent; attempts pile up under it. The version counts
 * decisions (completed, failed for good, cancelled); the revision counts changes that a reader can
 * see. An attempt holds its job while the job is open (queued, running, unknown), its slot is
 * empty, and its version is the one that the attempt read when it started. */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum job_state {
	JOB_QUEUED,
	JOB_RUNNING,
	JOB_UNKNOWN,
	JOB_SUCCEEDED,
	JOB_FAILED,
	JOB_CANCELLED,
	JOB_STATE__MAX
};

enum attempt_state {
	ATTEMPT_STARTING,
	ATTEMPT_RUNNING,
	ATTEMPT_UNKNOWN,
	ATTEMPT_RELEASED,
	ATTEMPT_SUCCEEDED,
	ATTEMPT_FAILED,
	ATTEMPT_CANCELLED,
	ATTEMPT_DISCARDED,
	ATTEMPT_STATE__MAX
};

/* Why an attempt, or a job, ended as it did or is in doubt. The last two are a job's only. */
enum reason {
	REASON_NONE,
	REASON_TIMEOUT,
	REASON_CONNECTION_RESET,
	REASON_EMPTY,
	REASON_TRUNCATED,
	REASON_MALFORMED,
	REASON_GATEWAY,
	REASON_POLLER_LOST,
	REASON_SHUTDOWN,
	REASON_DEADLINE,
	REASON_NEVER_SENT,
	REASON_REFUSED,
	REASON_RETRY_LATER,
	REASON_REDIRECT,
	REASON_CONTRACT_VIOLATION,
	REASON_TOO_LARGE,
	REASON_TEMPLATE,
	REASON_PROVIDER_FAILED,
	REASON_OPERATOR,
	REASON_EXPIRED,
	REASON_ATTEMPT_CANCELLED,
	REASON__MAX
};

/* How far a request got. PHASE_NONE: not known (still starting, or its poller is lost). */
enum phase {
	PHASE_NONE,
	PHASE_NOT_SENT,
	PHASE_SENT_IN_PART,
	PHASE_SENT,
	PHASE_ANSWER_BEGUN,
	PHASE__MAX
};

/* Why a result was thrown away. */
enum race_why {
	RACE_NONE,
	RACE_LOST_SWAP,
	RACE_JOB_CANCELLED,
	RACE_JOB_FAILED,
	RACE_ATTEMPT_CANCELLED,
	RACE_ATTEMPT_FAILED,
	RACE_ATTEMPT_DISCARDED,
	RACE_CONTRADICTION,
	RACE__MAX
};

enum role { ROLE_USER, ROLE_OPERATOR, ROLE__MAX };

/* What the states are called, for people who gave another. */
#define JOB_STATE_NAMES "queued, running, unknown, succeeded, failed or cancelled"
#define ATTEMPT_STATE_NAMES                                                                        \
	"starting, running, unknown, released, succeeded, failed, cancelled or discarded"

/* The names used in the database, the API and logs. NULL for *_NONE. The parse functions take
 * exactly those names; false leaves *_out untouched. */
const char *job_state_name(enum job_state state);
bool job_state_parse(const char *text, size_t len, enum job_state *state_out);
const char *attempt_state_name(enum attempt_state state);
bool attempt_state_parse(const char *text, size_t len, enum attempt_state *state_out);
const char *reason_name(enum reason reason);
bool reason_parse(const char *text, size_t len, enum reason *reason_out);
const char *phase_name(enum phase phase);
bool phase_parse(const char *text, size_t len, enum phase *phase_out);
const char *race_why_name(enum race_why why);
bool race_why_parse(const char *text, size_t len, enum race_why *why_out);
const char *role_name(enum role role);
bool role_parse(const char *text, size_t len, enum role *role_out);

bool job_open(enum job_state state);		 /* queued, running, unknown: no decision yet */
bool attempt_in_doubt(enum attempt_state state); /* starting, running, unknown */
bool attempt_in_play(enum attempt_state state);	 /* those and released: may still win */

#define OWNER_MAX 255
#define KEY_MAX 255
#define NAME_MAX_LEN 64 /* of a provider or contract */
#define TRACEPARENT_LEN 55

/* Names of providers and contracts: a-z, 0-9, then also '-', '_' and '.', 1 to 64 bytes. */
bool name_valid(const char *text, size_t len);

/* An optional byte string that its struct owns; bytes NULL means "none" (SQL NULL, JSON null).
 * NUL-terminated as well. */
struct blob {
	char *bytes;
	size_t len;
};

struct attempt {
	struct id id;
	struct id job_id;
	uint32_t number; /* from 1 */
	char provider[NAME_MAX_LEN + 1];
	enum attempt_state state;
	enum phase phase;
	enum reason reason;
	uint32_t http_status; /* 0: none was seen */
	uint64_t version_read;
	struct blob detail; /* what was seen, in words; at most 1,000 bytes */
	struct blob note;   /* an operator's */
	int64_t started_us;
	int64_t finished_us;	 /* 0: not yet */
	struct blob reference;	 /* the provider's own name for the work */
	uint32_t asked;		 /* how often the provider was asked what became of it */
	int64_t next_ask_us;	 /* 0: nobody asks */
	struct blob settled_by;	 /* the operator whose word it was */
	int64_t settled_us;	 /* when that was said; 0: by no operator */
	struct blob last_answer; /* in words */
	bool has_certificate;
	struct id certificate_id; /* what permitted the fail-over to this provider */
};

struct job {
	struct id id;
	struct blob owner;
	struct blob key;
	char contract[NAME_MAX_LEN + 1]; /* "": none */
	uint32_t contract_version;	 /* 0: none */
	char provider[NAME_MAX_LEN + 1]; /* the one that the intent names; "": none */
	enum job_state state;
	uint64_t version;
	uint64_t revision;
	bool has_completed_by;
	struct id completed_by;
	struct blob input;    /* as the client wrote it */
	struct blob metadata; /* a JSON object */
	struct blob result;   /* as the winner said it */
	uint32_t max_attempts;
	uint32_t attempt_count;
	int64_t not_before_us; /* these five: 0 for none */
	int64_t expires_us;
	int64_t deadline_us;
	int64_t run_after_us;
	int64_t purged_us;
	int64_t created_us;
	int64_t updated_us;
	enum reason error_reason;
	struct blob error_detail;
	bool has_error_attempt;
	struct id error_attempt_id;
	bool past_deadline;	  /* by the database's clock, when it was read */
	bool effect_done;	  /* failed after an effect that can't be used */
	struct blob passed_over;  /* JSON objects with commas between: routes that weren't taken */
	bool in_doubt;		  /* an attempt is still out, even if the job is settled */
	bool asked_about;	  /* the provider of that one is being asked what became of it */
	struct attempt *attempts; /* in order of number; NULL in lists */
	size_t attempts_len;
};

/* These free what is inside and zero the struct. */
void attempt_release(struct attempt *attempt);
void job_release(struct job *job);

/* What a client may do next about this job: "done", "wait", "new_attempt" or "ask_operator". */
const char *job_advice(const struct job *job);

/* `seconds` hint for Retry-After on a job that isn't settled; 0 when it is. now_us: the reader's
 * clock. */
uint32_t job_retry_hint_s(const struct job *job, int64_t now_us);

#endif
