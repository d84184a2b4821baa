#include "store/sql.h"

#include <stddef.h>

/* A job and, left-joined, its attempts: the payloads come with the first row only, however many
 * attempts there are. */
#define JOB_HEAD                                                                                   \
	"j.id, j.owner, j.idempotency_key, j.fingerprint, j.contract, j.contract_version, "        \
	"j.provider, j.state, "                                                                    \
	"j.version, j.revision, j.completed_by, "
#define JOB_PAYLOADS                                                                               \
	"IF(a.number > 1, NULL, j.input), IF(a.number > 1, NULL, j.metadata), IF(a.number > 1, "   \
	"NULL, j.result), "
#define JOB_TAIL                                                                                   \
	"j.max_attempts, j.attempt_count, j.not_before, j.expires_at, j.deadline_at, "             \
	"j.run_after, j.purged_at, "                                                               \
	"j.created_at, j.updated_at, j.error_reason, j.error_detail, j.error_attempt_id, "         \
	"j.effect_done, j.passed_over, j.deadline_at <= NOW(6), "
#define ATTEMPT_COLUMNS                                                                            \
	"a.id, a.job_id, a.number, a.provider, a.state, a.phase, a.reason, a.http_status, "        \
	"a.version_read, a.detail, "                                                               \
	"a.note, a.started_at, a.finished_at, a.reference, a.asked, a.next_ask_at, "               \
	"a.last_answer, "                                                                          \
	"a.settled_by, a.settled_at, a.certificate_id"
/* Many large ones at once would take much memory: of such a job the payloads are left out. Attempts
 * have texts, too. */
#define LARGE                                                                                      \
	"(COALESCE(OCTET_LENGTH(j.input), 0) + COALESCE(OCTET_LENGTH(j.metadata), 0) + "           \
	"COALESCE(OCTET_LENGTH(j.result), 0) > 16384 OR j.attempt_count > 20)"
#define SMALL_PAYLOADS                                                                             \
	"IF(a.number > 1 OR " LARGE ", NULL, j.input), IF(a.number > 1 OR " LARGE                  \
	", NULL, j.metadata), IF(a.number > 1 OR " LARGE ", NULL, j.result), "
#define JOB_AND_ATTEMPTS JOB_HEAD JOB_PAYLOADS JOB_TAIL "0, " ATTEMPT_COLUMNS
#define JOB_LIST_ROW                                                                               \
	JOB_HEAD "NULL, j.metadata, NULL, " JOB_TAIL                                               \
		 "(SELECT IF(d.next_ask_at IS NULL, 1, 2) FROM attempts d WHERE d.job_id = j.id "  \
		 "AND d.in_doubt = 1)"
#define JOB_LIST_FILTER                                                                            \
	"(? IS NULL OR j.contract = ?) AND (? IS NULL OR j.provider = ?) AND (? IS NULL OR "       \
	"j.state = ?) "                                                                            \
	"ORDER BY j.id DESC LIMIT ?"
#define TOKEN_VALID "t.sha256 = ? AND (t.expires_at IS NULL OR t.expires_at > NOW(6))"

#define CREATE_COLUMNS                                                                             \
	"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, next_provider, "     \
	"input, metadata, state, "                                                                 \
	"max_attempts, attempts_allowed, run_after, not_before, expires_at, deadline_at, "         \
	"traceparent, created_at, "                                                                \
	"updated_at, contract, contract_version) "
#define CREATE_KEY "?, ?, "
#define CREATE_REST                                                                                \
	"?, ?, 'queued', ?, ?, GREATEST(NOW(6), COALESCE(?, NOW(6))), ?, ?, ?, ?, ?, ?, "
#define CREATE_AT_PROVIDER "p.name, p.name, " CREATE_REST "NULL, NULL "

/* The answer tells the version too, without another statement: it is the insert's id. */
#define CREATE_AT_CONTRACT                                                                         \
	"NULL, k.first_provider, " CREATE_REST "k.name, LAST_INSERT_ID(k.version) "

#define JOB_BY_TOKEN                                                                               \
	CREATE_COLUMNS "SELECT ?, t.owner, " CREATE_KEY CREATE_AT_PROVIDER                         \
		       "FROM tokens t JOIN providers p WHERE " TOKEN_VALID " AND p.name = ?"
#define JOB_BY_OWNER                                                                               \
	CREATE_COLUMNS "SELECT ?, ?, " CREATE_KEY CREATE_AT_PROVIDER                               \
		       "FROM providers p WHERE p.name = ?"
#define CONTRACT_JOB_BY_TOKEN                                                                      \
	CREATE_COLUMNS "SELECT ?, t.owner, " CREATE_KEY CREATE_AT_CONTRACT                         \
		       "FROM tokens t JOIN contracts k WHERE " TOKEN_VALID                         \
		       " AND k.name = ? AND k.live = 1"
#define CONTRACT_JOB_BY_OWNER                                                                      \
	CREATE_COLUMNS "SELECT ?, ?, " CREATE_KEY CREATE_AT_CONTRACT                               \
		       "FROM contracts k WHERE k.name = ? AND k.live = 1"

/* A key that is there costs the server a row that it writes and takes back again. Where repeats are
 * seen it is asked first, in the same statement; who was first is the unique key's to say all the
 * same. */
#define UNLESS_THERE(owner)                                                                        \
	" AND NOT EXISTS (SELECT 1 FROM jobs e WHERE e.idempotency_key = ? AND e.owner = " owner ")"

/* A row that is named by its id is looked for by its id: where few rows are in a state, the
 * optimizer would rather go through that state's index, and lock and wait for the rows of others.
 */
#define BY_ID "FORCE INDEX (PRIMARY) "

/* A job's attempts are few, and looked for by their job. Where the optimizer takes the table to be
 * nearly empty, as it was when its statistics were made, it would rather read all of it. A count,
 * because NOT EXISTS lets it read all that are in doubt, once for a statement. */
#define OF_JOB "FORCE INDEX (job_number) "
#define IN_DOUBT_OF "FORCE INDEX (one_in_doubt) WHERE d.in_doubt = 1 AND d.job_id = "

/* An attempt holds its job: see core/moves.h. The caller's attempt is left out of the search for
 * another one in doubt. */
#define HELD_BY_VERSION "id = ? AND version = ? AND completed_by IS NULL"
#define COMPLETED(result, digest, attempt)                                                         \
	"jobs.state = 'succeeded', jobs.result = " result ", result_sha256 = " digest              \
	", completed_by = " attempt ", jobs.version = jobs.version + 1, revision = revision + 1, " \
	"error_reason = NULL, error_detail = NULL, "                                               \
	"error_attempt_id = NULL, updated_at = NOW(6)"
/* Of a list of values that of the job, by its place in a list of jobs. A join would do, but goes
 * through a temporary table, which is a file where the values are results. */
#define ITS_OWN "ELT(FIELD(jobs.id, {, |?}), {, |?})"
#define OPEN_FOR(attempt)                                                                          \
	"jobs.state IN ('queued','running','unknown') AND (SELECT COUNT(*) FROM attempts l " BY_ID \
	"WHERE l.id = " attempt                                                                    \
	" AND l.job_id = jobs.id AND l.version_read = jobs.version AND l.state IN "                \
	"('starting','running','unknown','released')) > 0"
#define NONE_ELSE_IN_DOUBT                                                                         \
	"(SELECT COUNT(*) FROM attempts d " IN_DOUBT_OF "jobs.id AND d.id <> ?) = 0"

/* The same request isn't on its way again, under a lease that runs. */
#define NOT_SENT_AGAIN                                                                             \
	"(state <> 'unknown' OR NOT EXISTS (SELECT 1 FROM pollers p WHERE p.id = claimed_by AND "  \
	"p.lease_until > NOW(6)))"

#define ATTEMPT_WRITE                                                                              \
	"UPDATE attempts " BY_ID                                                                   \
	"SET phase = COALESCE(?, phase), reason = ?, http_status = COALESCE(?, http_status), "     \
	"detail = COALESCE(?, detail), note = COALESCE(?, note), "                                 \
	"retry_at = IF(? IS NULL, retry_at, NOW(6) + INTERVAL ? MICROSECOND), finished_at = "      \
	"NOW(6), "                                                                                 \
	"next_ask_at = NULL, overdue_at = NULL, "

/* Its row had no question when the request was built; whether it has one now shows when it is the
 * attempt's turn. NULL: the row is the same. */
#define SINCE_THEN                                                                                 \
	"(SELECT NOW(6) FROM providers p WHERE p.name = attempts.provider AND p.version <> "       \
	"attempts.provider_version)"

/* The row that the request was built from: NULL where it is neither the present one nor kept. */
#define KEPT_ROW                                                                                   \
	"(SELECT v.definition FROM provider_versions v WHERE v.name = a.provider AND v.version = " \
	"a.provider_version AND v.created_at >= p.created_at)"
#define BUILT_FROM "IF(p.version = a.provider_version, p.definition, " KEPT_ROW ")"

/* Requests on their way to a provider, the same request sent again included. */
#define IN_FLIGHT(provider)                                                                        \
	"(SELECT COUNT(*) FROM attempts s FORCE INDEX (state_provider) WHERE s.state = "           \
	"'starting' AND s.provider = " provider ") + (SELECT COUNT(*) FROM attempts u FORCE "      \
	"INDEX (state_provider) WHERE u.state = 'unknown' AND u.provider = " provider " AND "      \
	"u.claimed_by IS NOT NULL AND u.next_ask_at > NOW(6))"

/* A count, because NOT EXISTS lets the optimizer go through all the attempts there are, for each
 * batch; this is asked job by job. */
#define NOTHING_OUT(job_id)                                                                        \
	"(SELECT COUNT(*) FROM attempts o FORCE INDEX (job_number) WHERE o.job_id = " job_id       \
	" AND o.state IN ('starting','running','unknown','released')) = 0 "

/* The providers that queued jobs are for: a step for each, and not for each job, which it is only
 * where the columns before it are grouped by too. */
#define QUEUED_PROVIDERS                                                                           \
	"(SELECT next_provider AS name FROM jobs WHERE state = 'queued' GROUP BY state, "          \
	"next_provider) q "
#define QUEUED_FOR(provider)                                                                       \
	"jobs j FORCE INDEX (queue) ON j.state = 'queued' AND j.next_provider = " provider " "

/* Of all that is queued for a provider, what may start first: a look, however many owners' jobs
 * wait for a later time. */
#define DUE_SINCE(provider)                                                                        \
	"(SELECT f.run_after FROM jobs f FORCE INDEX (due) WHERE f.queued_for = " provider         \
	" ORDER BY f.run_after LIMIT 1)"

/* Settled, and nothing of it is still out. */
#define PURGEABLE                                                                                  \
	"j.id > ? AND j.id <= ? AND j.state IN ('succeeded','failed','cancelled') "                \
	"AND j.updated_at < NOW(6) - INTERVAL ? SECOND AND " NOTHING_OUT("j.id")

#define WEBHOOK_ROW                                                                                \
	"w.owner, w.url, w.secrets, w.enabled, w.disabled_why, w.created_at, w.updated_at, "       \
	"(SELECT COUNT(*) FROM "                                                                   \
	"outbox o WHERE o.owner = w.owner AND o.next_at IS NOT NULL), (SELECT COUNT(*) FROM "      \
	"outbox g WHERE "                                                                          \
	"g.owner = w.owner AND g.next_at IS NULL), (SELECT l.last_answer FROM outbox l FORCE "     \
	"INDEX (owner_next) WHERE l.owner = w.owner AND "                                          \
	"l.last_answer IS NOT NULL ORDER BY l.id DESC LIMIT 1)"

/* The newest verdict on a route of the contract's version, if that is the one that counts now; and
 * why it isn't valid at this moment, NULL where it is. Its ? is the program's rule version. */
#define CERTIFICATE_OF(contract, version, provider)                                                \
	"certificates c JOIN contracts k ON k.name = c.contract AND k.version = "                  \
	"c.contract_version AND k.live = 1 JOIN providers p ON p.name = c.provider AND "           \
	"c.contract = " contract " AND c.contract_version = " version                              \
	" AND c.provider = " provider " AND c.newest = 1"
#define CERTIFICATE_WHY                                                                            \
	"CASE WHEN c.passed = 0 THEN 'failed' WHEN c.died_at IS NOT NULL OR c.provider_version "   \
	"<> p.version OR c.rule_version <> ? THEN 'subject_changed' WHEN c.expires_at <= NOW(6) "  \
	"THEN 'expired' WHEN p.enabled = 0 THEN 'disabled' END"
#define CERTIFICATE_ROW                                                                            \
	"c.id, c.contract, c.contract_version, c.provider, c.passed, " CERTIFICATE_WHY             \
	", c.rounds, c.issued_at, c.expires_at, c.report"

#define CERTIFICATES_LISTED                                                                        \
	"certificates c JOIN contracts k ON k.name = c.contract AND k.version = "                  \
	"c.contract_version AND k.live = 1 LEFT JOIN providers p ON p.name = c.provider WHERE "    \
	"c.newest = 1 AND c.id < ? AND (? IS NULL OR c.contract = ?) AND (? IS NULL OR "           \
	"c.provider = ?) AND (? IS NULL OR (" CERTIFICATE_WHY                                      \
	" IS NULL) = ?) ORDER BY c.id DESC LIMIT ?"

#define NODE_STATUS(name)                                                                          \
	"(SELECT variable_value FROM information_schema.global_status WHERE variable_name = "      \
	"'wsrep_" name "')"

#define ROW(id, text) [id] = { #id, text }

static const struct {
	const char *name;
	const char *text;
} statements[SQL__MAX] = {
	ROW(SQL_IDENTIFY, "SELECT t.owner, t.role FROM tokens t WHERE " TOKEN_VALID),

	ROW(SQL_JOB_CREATE_BY_TOKEN, JOB_BY_TOKEN),
	ROW(SQL_JOB_CREATE_BY_OWNER, JOB_BY_OWNER),
	ROW(SQL_CONTRACT_JOB_CREATE_BY_TOKEN, CONTRACT_JOB_BY_TOKEN),
	ROW(SQL_CONTRACT_JOB_CREATE_BY_OWNER, CONTRACT_JOB_BY_OWNER),
	ROW(SQL_JOB_CREATE_BY_TOKEN_ONCE, JOB_BY_TOKEN UNLESS_THERE("t.owner")),
	ROW(SQL_JOB_CREATE_BY_OWNER_ONCE, JOB_BY_OWNER UNLESS_THERE("?")),
	ROW(SQL_CONTRACT_JOB_CREATE_BY_TOKEN_ONCE, CONTRACT_JOB_BY_TOKEN UNLESS_THERE("t.owner")),
	ROW(SQL_CONTRACT_JOB_CREATE_BY_OWNER_ONCE, CONTRACT_JOB_BY_OWNER UNLESS_THERE("?")),
	ROW(SQL_JOBS_CREATE,
	    CREATE_COLUMNS "VALUES {, |(?, ?, " CREATE_KEY "?, ?, " CREATE_REST "?, ?)}"),
	ROW(SQL_OWNERS_OF_TOKENS, "SELECT t.sha256, t.owner, t.role FROM tokens t WHERE t.sha256 "
				  "IN ({, |?}) AND (t.expires_at "
				  "IS NULL OR t.expires_at > NOW(6))"),
	ROW(SQL_PROVIDERS_NAMED, "SELECT p.name FROM providers p WHERE p.name IN ({, |?})"),
	ROW(SQL_CONTRACTS_NAMED, "SELECT k.name, k.first_provider, k.version FROM contracts k "
				 "WHERE k.name IN ({, |?}) AND k.live = 1"),
	ROW(SQL_JOBS_BY_KEYS, "SELECT " JOB_HEAD SMALL_PAYLOADS JOB_TAIL LARGE ", " ATTEMPT_COLUMNS
			      " FROM jobs j FORCE INDEX (owner_key) LEFT JOIN attempts a " OF_JOB
			      "ON a.job_id = j.id WHERE { OR |(j.owner = ? AND "
			      "j.idempotency_key = ?)}"),
	ROW(SQL_JOB_BY_KEY_TOKEN,
	    "SELECT " JOB_AND_ATTEMPTS
	    " FROM tokens t LEFT JOIN jobs j ON j.owner = t.owner AND j.idempotency_key = ? "
	    "LEFT JOIN attempts a ON a.job_id = j.id WHERE " TOKEN_VALID),
	ROW(SQL_JOB_BY_KEY_TOKEN_LOCKED,
	    "SELECT " JOB_AND_ATTEMPTS
	    " FROM tokens t LEFT JOIN jobs j ON j.owner = t.owner AND j.idempotency_key = ? "
	    "LEFT JOIN attempts a ON a.job_id = j.id WHERE " TOKEN_VALID " LOCK IN SHARE MODE"),
	ROW(SQL_JOB_BY_KEY_OWNER,
	    "SELECT " JOB_AND_ATTEMPTS " FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id "
	    "WHERE j.owner = ? AND j.idempotency_key = ?"),
	ROW(SQL_JOB_BY_KEY_OWNER_LOCKED,
	    "SELECT " JOB_AND_ATTEMPTS " FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id "
	    "WHERE j.owner = ? AND j.idempotency_key = ? LOCK IN SHARE MODE"),
	ROW(SQL_JOB_GET_BY_TOKEN,
	    "SELECT " JOB_AND_ATTEMPTS " FROM tokens t LEFT JOIN jobs j ON j.id = ? AND "
	    "(j.owner = t.owner OR t.role = 'operator') LEFT JOIN attempts a ON a.job_id = j.id "
	    "WHERE " TOKEN_VALID),
	ROW(SQL_JOB_GET_BY_OWNER,
	    "SELECT " JOB_AND_ATTEMPTS " FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id "
	    "WHERE j.id = ? AND j.owner = ?"),
	ROW(SQL_JOB_GET, "SELECT " JOB_AND_ATTEMPTS
			 " FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id WHERE j.id = ?"),
	ROW(SQL_JOB_PAIRS, "SELECT j.id, j.owner, j.state, j.version, j.revision, j.run_after FROM "
			   "jobs j " BY_ID "WHERE j.id IN ({, |?})"),
	ROW(SQL_JOBS_LOOK, "SELECT " JOB_HEAD SMALL_PAYLOADS JOB_TAIL LARGE ", " ATTEMPT_COLUMNS
			   " FROM jobs j " BY_ID "LEFT JOIN attempts a FORCE INDEX (job_number) "
			   "ON a.job_id = j.id WHERE j.id IN ({, |?})"),
	ROW(SQL_JOB_LIST,
	    "SELECT " JOB_LIST_ROW " FROM jobs j WHERE j.id < ? AND " JOB_LIST_FILTER),
	ROW(SQL_JOB_LIST_OWNER, "SELECT " JOB_LIST_ROW
				" FROM jobs j WHERE j.owner = ? AND j.id < ? AND " JOB_LIST_FILTER),
	ROW(SQL_JOB_LIST_LISTED,
	    "SELECT " JOB_LIST_ROW " FROM jobs j FORCE INDEX (listed) WHERE j.listed = ? AND j.id "
	    "< ? AND " JOB_LIST_FILTER),
	/* Queued and running: found by the queue's index and sorted. */
	ROW(SQL_JOB_LIST_STATE,
	    "SELECT " JOB_LIST_ROW
	    " FROM jobs j FORCE INDEX (queue) WHERE j.state = ? AND j.id < ? AND " JOB_LIST_FILTER),

	ROW(SQL_JOB_LOCK,
	    "SELECT id, owner, fingerprint, state, version, revision, completed_by, attempt_count, "
	    "attempts_allowed, provider, next_provider, error_reason, effect_done, "
	    "TIMESTAMPDIFF(MICROSECOND, NOW(6), deadline_at), result_sha256, "
	    "purged_at IS NOT NULL, contract, contract_version FROM jobs " BY_ID
	    "WHERE id IN ({, |?}) ORDER BY id FOR UPDATE"),
	/* Those that nobody else holds. */
	ROW(SQL_JOB_LOCK_FREE,
	    "SELECT id FROM jobs " BY_ID "WHERE id IN ({, |?}) ORDER BY id FOR UPDATE SKIP LOCKED"),
	ROW(SQL_JOB_LOCK_KEY,
	    "SELECT id FROM jobs WHERE owner = ? AND idempotency_key = ? FOR UPDATE"),
	ROW(SQL_JOB_CANCEL, "UPDATE jobs " BY_ID "SET state = 'cancelled', version = version + 1, "
			    "revision = revision + 1, error_reason = NULL, "
			    "error_detail = NULL, error_attempt_id = NULL, updated_at = NOW(6) "
			    "WHERE id = ? AND version = ? AND state IN "
			    "('queued','running','unknown','failed') AND completed_by IS NULL"),
	ROW(SQL_JOB_TOMBSTONE,
	    "INSERT INTO jobs (id, owner, idempotency_key, state, version, max_attempts, "
	    "attempts_allowed, run_after, "
	    "created_at, updated_at) VALUES (?, ?, ?, 'cancelled', 1, ?, 0, NOW(6), ?, ?)"),
	/* A request for an attempt: on a failed job, or on a queued one that gets another provider.
	 */
	ROW(SQL_JOB_REQUEST,
	    "UPDATE jobs " BY_ID "SET state = 'queued', next_provider = ?, attempts_allowed = "
	    "GREATEST(attempts_allowed, "
	    "attempt_count + 1), run_after = GREATEST(NOW(6), COALESCE(not_before, NOW(6)), "
	    "COALESCE((SELECT "
	    "MAX(r.retry_at) FROM attempts r WHERE r.job_id = jobs.id AND r.provider = ?), "
	    "NOW(6))), error_reason = NULL, "
	    "error_detail = NULL, error_attempt_id = NULL, effect_done = 0, revision = revision + "
	    "1, updated_at = NOW(6) "
	    "WHERE id = ? AND version = ? AND completed_by IS NULL AND state IN "
	    "('queued','failed') AND NOT EXISTS "
	    "(SELECT 1 FROM attempts d WHERE d.job_id = jobs.id AND d.in_doubt = 1)"),

	ROW(SQL_JOB_COMPLETE,
	    "UPDATE jobs " BY_ID "SET " COMPLETED("?", "?", "?") " WHERE " HELD_BY_VERSION
								 " AND " OPEN_FOR("?")),
	ROW(SQL_JOBS_COMPLETE,
	    "UPDATE jobs " BY_ID "SET " COMPLETED(
		    ITS_OWN, ITS_OWN, ITS_OWN) " WHERE jobs.id IN ({, |?}) "
					       "AND completed_by IS NULL AND " OPEN_FOR(ITS_OWN)),
	ROW(SQL_JOB_REQUEUE,
	    "UPDATE jobs " BY_ID
	    "SET state = 'queued', next_provider = COALESCE(?, next_provider), attempts_allowed = "
	    "GREATEST(attempts_allowed, attempt_count + ?), run_after = GREATEST(NOW(6) + INTERVAL "
	    "? MICROSECOND, "
	    "COALESCE(not_before, NOW(6)), COALESCE((SELECT MAX(r.retry_at) FROM attempts r " OF_JOB
	    "WHERE "
	    "r.job_id = jobs.id "
	    "AND r.provider = next_provider), NOW(6))), revision = revision + 1, updated_at = "
	    "NOW(6) "
	    "WHERE " HELD_BY_VERSION " AND state IN ('running','unknown') AND " NONE_ELSE_IN_DOUBT),
	ROW(SQL_JOB_FAIL,
	    "UPDATE jobs " BY_ID "SET state = 'failed', version = version + 1, revision = revision "
	    "+ 1, error_reason = ?, "
	    "error_detail = ?, error_attempt_id = ?, effect_done = ?, updated_at = NOW(6) "
	    "WHERE " HELD_BY_VERSION " AND state IN ('running','unknown') AND " NONE_ELSE_IN_DOUBT),
	ROW(SQL_JOB_LOSE_TRACK,
	    "UPDATE jobs " BY_ID
	    "SET state = 'unknown', revision = revision + 1, updated_at = NOW(6) "
	    "WHERE " HELD_BY_VERSION " AND state = 'running'"),
	/* An attempt moved alone. A settled job's ETag stays as it is. */
	ROW(SQL_JOB_TOUCH,
	    "UPDATE jobs " BY_ID "SET revision = revision + 1, updated_at = NOW(6) WHERE id = ? "
	    "AND state IN ('queued','running','unknown')"),
	ROW(SQL_JOB_EXPIRE_FIND,
	    "SELECT id FROM jobs WHERE gives_up_at <= NOW(6) ORDER BY gives_up_at LIMIT 256"),
	ROW(SQL_JOB_EXPIRE, "UPDATE jobs " BY_ID "SET error_reason = IF(attempt_count = 0 AND "
			    "expires_at <= NOW(6), 'expired', 'deadline'), "
			    "error_detail = NULL, error_attempt_id = NULL, state = 'failed', "
			    "version = version + 1, "
			    "revision = revision + 1, updated_at = NOW(6) WHERE id = ? AND state = "
			    "'queued' AND gives_up_at <= NOW(6)"),

	ROW(SQL_PURGE_WINDOW,
	    "SELECT id FROM jobs WHERE id > ? AND id < ? ORDER BY id LIMIT 5000, 1"),
	ROW(SQL_PURGE_FIND_PAYLOADS, "SELECT j.id FROM jobs j WHERE " PURGEABLE
				     "AND j.purged_at IS NULL ORDER BY j.id LIMIT 100"),
	ROW(SQL_PURGE_FIND_ROWS,
	    "SELECT j.id FROM jobs j WHERE " PURGEABLE "ORDER BY j.id LIMIT 100"),
	ROW(SQL_PURGE_LOCK, "SELECT id FROM jobs " BY_ID "WHERE id IN ({, |?}) AND state IN "
			    "('succeeded','failed','cancelled') AND updated_at < NOW(6) - INTERVAL "
			    "? SECOND AND " NOTHING_OUT("jobs.id") "ORDER BY id FOR UPDATE"),
	ROW(SQL_PURGE_PAYLOADS,
	    "UPDATE jobs " BY_ID "SET input = NULL, result = NULL, metadata = NULL, error_detail = "
	    "NULL, purged_at = NOW(6), revision = revision + 1 "
	    "WHERE id IN ({, |?}) AND state IN ('succeeded','failed','cancelled') AND purged_at IS "
	    "NULL"),
	ROW(SQL_PURGE_ATTEMPT_TEXTS,
	    "UPDATE attempts " OF_JOB
	    "SET detail = NULL, note = NULL, last_answer = NULL, reference = NULL "
	    "WHERE job_id IN ({, |?})"),
	ROW(SQL_PURGE_RACES, "DELETE FROM races WHERE job_id IN ({, |?})"),
	ROW(SQL_PURGE_ATTEMPTS, "DELETE FROM attempts WHERE job_id IN ({, |?})"),
	ROW(SQL_PURGE_ROWS, "DELETE j FROM jobs j " BY_ID "WHERE j.id IN ({, |?}) AND j.state IN "
			    "('succeeded','failed','cancelled')"),

	ROW(SQL_ATTEMPT_OF_JOB, "SELECT job_id FROM attempts WHERE id = ?"),
	/* Locked, as a list's swap looks at them with a lock of its own, which others might wait
	   between. Where one is in doubt no other of its job is: one_in_doubt is a unique key. */
	ROW(SQL_ATTEMPTS_FOR_SETTLE,
	    "SELECT a.id, a.job_id, a.state, a.version_read, a.provider, IF(a.in_doubt = 1, 0, "
	    "(SELECT COUNT(*) FROM attempts d " IN_DOUBT_OF "a.job_id AND d.id <> a.id) > 0), "
	    "EXISTS (SELECT 1 FROM pollers p WHERE p.id = a.claimed_by AND p.lease_until > "
	    "NOW(6)), a.resent FROM attempts a " BY_ID "WHERE a.id IN ({, |?}) FOR UPDATE"),
	ROW(SQL_ATTEMPTS_TRIED,
	    "SELECT COUNT(*) FROM attempts " OF_JOB "WHERE job_id = ? AND provider = ?"),
	ROW(SQL_ATTEMPT_IN_DOUBT, "SELECT id FROM attempts WHERE job_id = ? AND in_doubt = 1"),
	ROW(SQL_ATTEMPT_ACKNOWLEDGE,
	    "UPDATE attempts " BY_ID "SET state = 'running', phase = ?, http_status = ?, reference "
	    "= ?, overdue_at = NOW(6) + INTERVAL ? MICROSECOND, next_ask_at = IF(cancel_due > 0, "
	    "NOW(6), COALESCE(NOW(6) + INTERVAL ? MICROSECOND, " SINCE_THEN
	    ")), claimed_by = NULL WHERE id = ? "
	    "AND state = 'starting'"),
	ROW(SQL_ATTEMPT_SUCCEED,
	    ATTEMPT_WRITE "state = 'succeeded' WHERE id = ? "
			  "AND state IN ('starting','running','unknown','released')"),
	ROW(SQL_ATTEMPTS_SUCCEED,
	    "UPDATE attempts " BY_ID "SET phase = ?, http_status = COALESCE(?, http_status), "
	    "detail = ?, reason = NULL, finished_at = "
	    "NOW(6), next_ask_at = NULL, overdue_at = NULL, state = 'succeeded' WHERE id IN ({, "
	    "|?}) "
	    "AND state IN ('starting','running','unknown','released')"),
	ROW(SQL_ATTEMPT_DISCARD,
	    ATTEMPT_WRITE "state = 'discarded' WHERE id = ? "
			  "AND state IN ('starting','running','unknown','released')"),
	ROW(SQL_ATTEMPT_FAIL,
	    ATTEMPT_WRITE "state = 'failed' WHERE id = ? "
			  "AND state IN ('starting','running','unknown','released') AND IF(? > 0, "
			  "resent = ?, resent = COALESCE(?, resent) AND " NOT_SENT_AGAIN ")"),
	/* The end of hearing is not the end of the attempt: finished_at stays empty. */
	ROW(SQL_ATTEMPT_LOSE_TRACK,
	    "UPDATE attempts " BY_ID
	    "SET state = 'unknown', phase = ?, reason = ?, http_status = COALESCE(?, http_status), "
	    "detail = ?, next_ask_at = IF(cancel_due > 0, NOW(6), COALESCE(NOW(6) + INTERVAL ? "
	    "MICROSECOND, next_ask_at, " SINCE_THEN ")), "
	    "overdue_at = NULL, "
	    "claimed_by = NULL WHERE id = ? AND state IN ('starting','running')"),
	/* A question that is due, or under way, keeps its time: nothing else asks meanwhile. */
	ROW(SQL_ATTEMPT_NOTE,
	    "UPDATE attempts " BY_ID "SET reference = COALESCE(reference, ?), next_ask_at = "
	    "COALESCE(next_ask_at, NOW(6) + INTERVAL ? MICROSECOND) WHERE id = ? "
	    "AND state IN ('unknown','released')"),
	ROW(SQL_ATTEMPT_RELEASE,
	    "UPDATE attempts " BY_ID
	    "SET state = 'released', note = COALESCE(?, note), overdue_at = NULL WHERE id = ? "
	    "AND state IN ('running','unknown') AND " NOT_SENT_AGAIN),
	ROW(SQL_ATTEMPT_CANCEL,
	    "UPDATE attempts " BY_ID "SET state = 'cancelled', note = COALESCE(?, note), "
	    "finished_at = NOW(6), overdue_at = NULL, "
	    "cancel_due = ?, next_ask_at = IF(?, NOW(6), NULL) WHERE id = ? "
	    "AND state IN ('running','unknown','released') AND " NOT_SENT_AGAIN),
	ROW(SQL_ATTEMPT_SPOKEN,
	    "UPDATE attempts " BY_ID "SET settled_by = ?, settled_at = NOW(6) WHERE id = ?"),
	ROW(SQL_ATTEMPT_LIST,
	    "SELECT " ATTEMPT_COLUMNS " FROM attempts a WHERE a.id < ? ORDER BY a.id DESC LIMIT ?"),
	ROW(SQL_ATTEMPT_LIST_STATE,
	    "SELECT " ATTEMPT_COLUMNS
	    " FROM attempts a WHERE a.id < ? AND a.state = ? ORDER BY a.id DESC LIMIT ?"),
	ROW(SQL_ATTEMPT_LOST_LEASES,
	    "SELECT a.id, a.job_id, a.reference IS NOT NULL, p.definition FROM attempts a LEFT "
	    "JOIN pollers l ON l.id = a.claimed_by LEFT JOIN providers p ON p.name = a.provider "
	    "WHERE a.state = 'starting' AND (l.id IS NULL OR l.lease_until < NOW(6)) LIMIT 256"),

	ROW(SQL_ATTEMPT_GET,
	    "SELECT " ATTEMPT_COLUMNS ", " BUILT_FROM " FROM attempts a LEFT JOIN providers p "
	    "ON p.name = a.provider WHERE a.id = ?"),

	ROW(SQL_OVERDUE_FIND,
	    "SELECT a.id, a.job_id, a.reference IS NOT NULL, p.definition FROM attempts a LEFT "
	    "JOIN providers p ON p.name = a.provider WHERE a.overdue_at <= NOW(6) ORDER BY "
	    "a.overdue_at LIMIT 256"),
	ROW(SQL_PROVIDER_NAMES,
	    "SELECT p.name FROM providers p WHERE p.name > ? ORDER BY p.name LIMIT ?"),
	/* A range for each: grouped by its provider the table would be walked along whole, with all
	   that was ever settled. */
	ROW(SQL_ASK_PROVIDERS,
	    "{ UNION ALL |(SELECT a.provider FROM attempts a FORCE INDEX (provider_ask) WHERE "
	    "a.provider = ? AND a.next_ask_at <= NOW(6) LIMIT 1)}"),
	ROW(SQL_ASK_FIND,
	    "SELECT id, job_id FROM attempts FORCE INDEX (provider_ask) WHERE provider "
	    "= ? AND next_ask_at <= NOW(6) ORDER BY next_ask_at LIMIT ?"),
	/* Both at once, or neither: what waits for nobody can't be part of a deadlock. */
	ROW(SQL_ASK_LOCK, "SELECT a.id FROM attempts a " BY_ID "JOIN jobs j " BY_ID
			  "ON j.id = a.job_id WHERE a.id = ? AND a.next_ask_at <= NOW(6) "
			  "FOR UPDATE SKIP LOCKED"),
	ROW(SQL_ASK_PUT_OFF,
	    "UPDATE attempts " BY_ID "SET next_ask_at = NOW(6) + INTERVAL ? MICROSECOND "
	    "WHERE id = ? AND next_ask_at <= NOW(6)"),
	ROW(SQL_ASK_READ,
	    "SELECT NOW(6), a.state, a.cancel_due, a.version_read, a.number, a.provider, "
	    "a.provider_version, a.generation, a.reference, a.asked, a.resent, "
	    "a.unsent, "
	    "IF(a.reason = 'poller_lost', TIMESTAMPDIFF(MICROSECOND, a.started_at, NOW(6)), NULL), "
	    "j.traceparent, p.version, p.definition, IF(p.version = a.provider_version, "
	    "NULL, " KEPT_ROW ") FROM attempts a " BY_ID "JOIN jobs j ON j.id = a.job_id LEFT JOIN "
	    "providers p ON p.name = a.provider WHERE a.id = ? AND a.next_ask_at <= NOW(6)"),
	ROW(SQL_JOB_TERMS, "SELECT contract, contract_version, input FROM jobs WHERE id = ?"),
	ROW(SQL_ASK_BEGIN,
	    "UPDATE attempts " BY_ID
	    "SET asked = asked + 1, resent = resent + ?, cancel_due = ?, claimed_by = ?, "
	    "next_ask_at = NOW(6) + INTERVAL ? MICROSECOND WHERE id = ? AND next_ask_at <= NOW(6)"),
	/* What couldn't be asked about may be, by the provider's row as it has become. */
	ROW(SQL_ASK_REARM,
	    "UPDATE attempts FORCE INDEX (state_provider) SET next_ask_at = NOW(6) WHERE state IN "
	    "('running','unknown','released') AND provider = ? AND next_ask_at IS NULL LIMIT 256"),
	ROW(SQL_ASK_STOP,
	    "UPDATE attempts " BY_ID "SET next_ask_at = NULL, cancel_due = 0, claimed_by = NULL "
	    "WHERE id = ? AND next_ask_at <= NOW(6)"),
	/* The cancel is told, or can't be: what is still in doubt is asked about again. */
	ROW(SQL_ASK_CANCEL_TOLD,
	    "UPDATE attempts " BY_ID "SET cancel_due = 0, last_answer = ?, next_ask_at = IF(state "
	    "IN ('running','unknown','released'), "
	    "NOW(6) + INTERVAL ? MICROSECOND, NULL) WHERE id = ? AND asked = ?"),
	/* A cancelled job changes no attempt; their providers are told. One that is being sent is
	   told when it is known to be out. */
	ROW(SQL_ASK_CANCEL_JOB, "UPDATE attempts FORCE INDEX (job_number) SET cancel_due = 1, "
				"next_ask_at = IF(state = 'starting' OR EXISTS (SELECT 1 FROM "
				"pollers p WHERE p.id = claimed_by AND p.lease_until > NOW(6)), "
				"next_ask_at, NOW(6)) WHERE job_id = ? "
				"AND state IN ('starting','running','unknown','released')"),
	/* A cancel that came due meanwhile waits for no other question. */
	ROW(SQL_ASK_KEEP, "UPDATE attempts " BY_ID
			  "SET last_answer = COALESCE(?, last_answer), reference = COALESCE(?, "
			  "reference), unsent = unsent + IF(? AND claimed_by IS NOT NULL, 1, 0), "
			  "cancel_due = IF(? AND cancel_due > 1, cancel_due - 1, cancel_due), "
			  "claimed_by = NULL, next_ask_at = IF(cancel_due > 0 AND NOT "
			  "?, NOW(6), NOW(6) + INTERVAL ? MICROSECOND) WHERE id = ? AND asked = ? "
			  "AND (cancel_due > 0 OR state IN ('running','unknown','released'))"),

	ROW(SQL_ATTEMPT_LIST_LISTED,
	    "SELECT " ATTEMPT_COLUMNS " FROM attempts a FORCE INDEX (listed) WHERE a.id < ? "
	    "AND a.listed = ? ORDER BY a.id DESC LIMIT ?"),
	ROW(SQL_RACE_ADD,
	    "INSERT INTO races (id, job_id, attempt_id, winner, why, sha256, bytes, created_at) "
	    "VALUES (?, ?, ?, ?, ?, ?, ?, NOW(6))"),
	ROW(SQL_RACE_COUNT, "SELECT COUNT(*) FROM races WHERE attempt_id = ?"),
	ROW(SQL_RACES_COUNTED,
	    "INSERT INTO counters (name, total) VALUES ('races', ?) ON DUPLICATE "
	    "KEY UPDATE total = total + ?"),
	ROW(SQL_RACE_LIST,
	    "SELECT id, job_id, attempt_id, winner, why, sha256, bytes, created_at FROM races "
	    "WHERE id < ? ORDER BY id DESC LIMIT ?"),

	ROW(SQL_QUEUE_PROVIDERS,
	    "SELECT p.name FROM providers p WHERE p.enabled = 1 AND p.name > ? AND " DUE_SINCE(
		    "p.name") " <= NOW(6) ORDER BY p.name LIMIT 256"),
	/* The first row of each owner is the one that has been due longest. */
	ROW(SQL_QUEUE_OWNERS,
	    "SELECT owner, run_after <= NOW(6) FROM jobs FORCE INDEX (queue) WHERE state = "
	    "'queued' AND next_provider = ? AND owner > ? ORDER BY owner, run_after LIMIT ?"),
	ROW(SQL_QUEUE_CANDIDATES,
	    "{ UNION ALL |(SELECT id, LENGTH(input) FROM jobs FORCE INDEX (queue) WHERE state = "
	    "'queued' AND "
	    "next_provider = ? AND owner = ? "
	    "AND run_after <= NOW(6) AND (gives_up_at IS NULL OR gives_up_at "
	    "> NOW(6)) ORDER BY run_after LIMIT ?)}"),
	ROW(SQL_CLAIM_LOCK,
	    "SELECT j.id, j.version, IF(j.attempt_count = 0, NULL, (SELECT MAX(m.number) FROM "
	    "attempts m " OF_JOB "WHERE m.job_id = j.id)), "
	    "j.next_provider, j.input, j.traceparent, "
	    "TIMESTAMPDIFF(MICROSECOND, NOW(6), j.deadline_at), IF(j.attempt_count = 0, 0, (SELECT "
	    "COUNT(*) FROM attempts g " OF_JOB
	    "WHERE g.job_id = j.id AND g.provider = j.next_provider AND g.state = 'failed' AND "
	    "g.reason NOT IN ('never_sent','template','operator'))), IF(j.attempt_count = 0, 0, "
	    "(SELECT COUNT(*) FROM "
	    "attempts n " OF_JOB "WHERE "
	    "n.job_id = j.id AND n.provider = j.next_provider)), NOW(6), j.contract, "
	    "j.contract_version, IF(j.contract IS NULL, NULL, (SELECT r.place FROM contract_routes "
	    "r WHERE r.name = j.contract "
	    "AND r.version = j.contract_version AND r.provider = j.next_provider)), IF(j.contract "
	    "IS NULL, NULL, (SELECT c.id "
	    "FROM " CERTIFICATE_OF(
		    "j.contract", "j.contract_version",
		    "j.next_provider") " WHERE " CERTIFICATE_WHY " IS NULL)) FROM jobs j " BY_ID
				       "WHERE "
				       "j.id IN ({, |?}) AND j.state = 'queued' "
				       "AND j.next_provider = ? AND j.run_after <= "
				       "NOW(6) AND (j.gives_up_at IS NULL OR "
				       "j.gives_up_at > NOW(6)) "
				       "AND j.input IS NOT NULL AND (j.attempt_count = 0 "
				       "OR (SELECT COUNT(*) FROM attempts d " IN_DOUBT_OF
				       "j.id) = 0) "
				       "FOR UPDATE SKIP LOCKED"),
	ROW(SQL_CLAIM_ATTEMPTS,
	    "INSERT INTO attempts (id, job_id, number, provider, provider_version, generation, "
	    "state, version_read, "
	    "claimed_by, certificate_id, started_at) VALUES {, |(?, ?, ?, ?, ?, ?, 'starting', ?, "
	    "?, ?, NOW(6))}"),
	ROW(SQL_CLAIM_JOBS,
	    "UPDATE jobs " BY_ID "SET state = 'running', attempt_count = attempt_count + 1, "
	    "revision = revision + 1, updated_at = NOW(6) WHERE id IN ({, |?}) AND state = "
	    "'queued'"),

	ROW(SQL_STRANDED_FIND,
	    "SELECT q.name FROM " QUEUED_PROVIDERS
	    "LEFT JOIN providers p ON p.name = q.name WHERE p.name IS NULL LIMIT 16"),
	ROW(SQL_STRANDED_JOBS,
	    "SELECT id FROM jobs WHERE state = 'queued' AND next_provider = ? LIMIT 64"),
	ROW(SQL_STRANDED_FAIL,
	    "UPDATE jobs " BY_ID
	    "SET state = 'failed', version = version + 1, revision = revision + 1, error_reason = "
	    "'never_sent', error_detail = 'there is no such provider any more', error_attempt_id = "
	    "NULL, updated_at = NOW(6) "
	    "WHERE id = ? AND state = 'queued' AND NOT EXISTS (SELECT 1 FROM providers p WHERE "
	    "p.name = jobs.next_provider)"),
	/* Jobs, questions and messages. About an attempt whose provider is gone nobody is asked. */
	ROW(SQL_QUEUE_DUE,
	    "SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1 FROM providers p STRAIGHT_JOIN " QUEUED_FOR(
		    "p.name") "WHERE p.enabled = 1 AND j.run_after <= NOW(6) AND (j.gives_up_at "
			      "IS NULL OR j.gives_up_at > NOW(6)) AND " DUE_SINCE(
				      "p.name") " <= NOW(6)) OR EXISTS (SELECT 1 FROM attempts a "
						"FORCE INDEX (next_ask) STRAIGHT_JOIN providers p "
						"ON p.name = a.provider WHERE a.next_ask_at <= "
						"NOW(6)) OR EXISTS (SELECT 1 FROM outbox o WHERE "
						"o.next_at <= NOW(6))"),

	ROW(SQL_POLLER_REGISTER, "INSERT INTO pollers (id, host, pid, started_at, lease_until) "
				 "VALUES (?, ?, ?, NOW(6), NOW(6) + INTERVAL ? SECOND)"),
	ROW(SQL_POLLER_RENEW,
	    "UPDATE pollers " BY_ID "SET lease_until = NOW(6) + INTERVAL ? SECOND "
	    "WHERE id = ? AND lease_until > NOW(6)"),
	ROW(SQL_POLLER_LEAVE, "DELETE FROM pollers WHERE id = ?"),
	ROW(SQL_POLLER_BURY, "DELETE FROM pollers WHERE lease_until < NOW(6) AND NOT EXISTS "
			     "(SELECT 1 FROM attempts a "
			     "WHERE a.state = 'starting' AND a.claimed_by = pollers.id)"),

	ROW(SQL_PROVIDER_INSERT,
	    "INSERT INTO providers (name, version, definition, enabled, max_in_flight, created_at, "
	    "updated_at) VALUES (?, 1, ?, ?, ?, NOW(6), NOW(6))"),
	ROW(SQL_PROVIDER_UPDATE,
	    "UPDATE providers SET version = version + 1, definition = ?, enabled = ?, "
	    "max_in_flight = ?, updated_at = NOW(6) WHERE name = ? AND definition <> ?"),
	ROW(SQL_PROVIDER_GET, "SELECT name, version, definition, created_at, updated_at FROM "
			      "providers WHERE name = ?"),
	ROW(SQL_PROVIDER_LOCK,
	    "SELECT enabled, definition FROM providers WHERE name = ? LOCK IN SHARE MODE"),
	ROW(SQL_PROVIDER_CLAIM,
	    "SELECT name, version, definition, max_in_flight, " IN_FLIGHT(
		    "providers.name") " FROM providers WHERE "
				      "name = ? AND enabled = 1 FOR UPDATE SKIP LOCKED"),
	ROW(SQL_PROVIDER_ROOM,
	    "SELECT max_in_flight, " IN_FLIGHT(
		    "providers.name") " FROM providers WHERE name = ? FOR UPDATE SKIP LOCKED"),
	ROW(SQL_PROVIDER_STILL, "SELECT 1 FROM providers WHERE name = ? AND version = ? FOR UPDATE "
				"SKIP LOCKED"),
	ROW(SQL_PROVIDER_HOLD, "UPDATE providers SET holds = holds + 1 WHERE name = ?"),
	/* Of the contract as it stands: what a verdict is about to be written about, too. */
	ROW(SQL_ROUTES_HOLD,
	    "UPDATE contracts k STRAIGHT_JOIN contract_routes r ON r.name = k.name AND r.version = "
	    "k.version STRAIGHT_JOIN providers p ON p.name = r.provider SET "
	    "p.holds = p.holds + 1 WHERE k.name = ? AND k.live = 1"),
	ROW(SQL_PROVIDER_LIST,
	    "SELECT name, version, definition, created_at, updated_at FROM providers "
	    "WHERE name > ? ORDER BY name LIMIT ?"),
	ROW(SQL_PROVIDER_IN_USE, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND "
				 "next_provider = ?) OR EXISTS (SELECT 1 FROM "
				 "attempts WHERE state IN "
				 "('starting','running','unknown','released') AND provider = ?) OR "
				 "EXISTS (SELECT 1 FROM contract_routes r JOIN contracts k ON "
				 "k.name = r.name AND k.version = r.version AND k.live = 1 WHERE "
				 "r.provider = ?)"),
	ROW(SQL_PROVIDER_DELETE, "DELETE FROM providers WHERE name = ?"),
	/* The provider's row is locked, so what it is now is the truth about its version. */
	ROW(SQL_PROVIDER_KEEP,
	    "INSERT INTO provider_versions (name, version, definition, created_at) VALUES (?, ?, "
	    "?, NOW(6)) ON DUPLICATE KEY UPDATE definition = VALUES(definition), created_at = "
	    "VALUES(created_at)"),
	ROW(SQL_PROVIDER_FORGET, "DELETE FROM provider_versions WHERE name = ?"),

	ROW(SQL_CONTRACT_LOCK, "SELECT version, live FROM contracts WHERE name = ? FOR UPDATE"),
	ROW(SQL_CONTRACT_INSERT,
	    "INSERT INTO contracts (name, version, live, first_provider, created_at, updated_at) "
	    "VALUES (?, 1, 1, ?, NOW(6), NOW(6))"),
	ROW(SQL_CONTRACT_RENEW,
	    "UPDATE contracts SET version = version + 1, created_at = IF(live = 1, created_at, "
	    "NOW(6)), live = 1, first_provider = ?, updated_at = NOW(6) WHERE name = ?"),
	ROW(SQL_CONTRACT_VERSION_ADD,
	    "INSERT INTO contract_versions (name, version, definition, on_never_sent, on_refused, "
	    "on_retry_later, on_contract_violation, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, "
	    "NOW(6))"),
	ROW(SQL_CONTRACT_ROUTE_ADD,
	    "INSERT INTO contract_routes (name, version, place, provider) VALUES (?, ?, ?, ?)"),
	ROW(SQL_CONTRACT_GET,
	    "SELECT k.name, k.version, v.definition, k.created_at, k.updated_at FROM contracts k "
	    "JOIN contract_versions v ON v.name = k.name AND v.version = k.version WHERE k.name = "
	    "? AND k.live = 1"),
	ROW(SQL_CONTRACT_LIST,
	    "SELECT k.name, k.version, v.definition, k.created_at, k.updated_at FROM contracts k "
	    "JOIN contract_versions v ON v.name = k.name AND v.version = k.version WHERE k.name > "
	    "? AND k.live = 1 ORDER BY k.name LIMIT ?"),
	ROW(SQL_CONTRACT_SIZES,
	    "SELECT LENGTH(v.definition) FROM contracts k JOIN contract_versions v ON v.name = "
	    "k.name AND v.version = k.version WHERE k.name > ? AND k.live = 1 ORDER BY k.name "
	    "LIMIT ?"),
	ROW(SQL_CONTRACT_VERSION_GET,
	    "SELECT definition FROM contract_versions WHERE name = ? AND version = ?"),
	ROW(SQL_CONTRACT_DELETE,
	    "UPDATE contracts SET live = 0, updated_at = NOW(6) WHERE name = ? AND live = 1"),
	/* Of one route: its place, the provider's row, the verdict on it, and whether this job has
	   spent it: an attempt there ended for certain and must not be repeated. */
	ROW(SQL_ROUTES,
	    "SELECT r.provider, p.name IS NOT NULL, p.enabled, p.max_in_flight <= " IN_FLIGHT(
		    "r.provider") ", "
				  "EXISTS (SELECT 1 FROM attempts s WHERE s.job_id = ? AND "
				  "s.provider = r.provider AND "
				  "s.state = 'failed' AND s.reason NOT IN "
				  "('never_sent','retry_later')), c.id IS NOT "
				  "NULL AND k.name IS NOT NULL, " CERTIFICATE_WHY
				  ", v.on_never_sent, v.on_refused, "
				  "v.on_retry_later, v.on_contract_violation FROM contract_routes "
				  "r JOIN "
				  "contract_versions v ON v.name = r.name AND v.version = "
				  "r.version LEFT JOIN providers "
				  "p ON p.name = r.provider LEFT JOIN contracts k ON k.name = "
				  "r.name AND k.version = "
				  "r.version AND k.live = 1 LEFT JOIN certificates c ON c.contract "
				  "= r.name AND "
				  "c.contract_version = r.version AND c.provider = r.provider AND "
				  "c.newest = 1 WHERE "
				  "r.name = ? AND r.version = ? ORDER BY r.place"),
	ROW(SQL_JOB_PASSED_OVER,
	    "UPDATE jobs " BY_ID "SET passed_over = IF(COALESCE(LENGTH(passed_over), 0) > 16000, "
	    "passed_over, CONCAT_WS(', ', passed_over, ?)) WHERE id = ?"),
	ROW(SQL_JOB_REROUTE,
	    "UPDATE jobs " BY_ID "SET next_provider = ?, run_after = GREATEST(NOW(6), "
	    "COALESCE(not_before, NOW(6)), COALESCE((SELECT MAX(r.retry_at) FROM attempts r " OF_JOB
	    "WHERE "
	    "r.job_id = "
	    "jobs.id AND r.provider = jobs.next_provider), NOW(6))), revision = revision + 1, "
	    "updated_at = NOW(6) WHERE id = ? AND state = 'queued'"),
	/* No route is left: it fails for what its last attempt failed for. */
	ROW(SQL_JOB_OUT_OF_ROUTES,
	    "UPDATE jobs j " BY_ID "LEFT JOIN attempts a ON a.job_id = j.id AND a.number = (SELECT "
	    "MAX(m.number) FROM attempts m WHERE m.job_id = j.id) SET j.state = 'failed', "
	    "j.version = j.version + 1, j.revision = j.revision + 1, j.error_reason = "
	    "COALESCE(IF(a.state = 'cancelled', 'attempt_cancelled', a.reason), 'never_sent'), "
	    "j.error_detail = 'no route with a valid certificate "
	    "is left', j.error_attempt_id = a.id, j.updated_at = NOW(6) WHERE j.id = ? AND j.state "
	    "= 'queued'"),
	/* Queued along a route that nobody sends to now. */
	/* Jobs of all kinds that are queued for a disabled provider are gone through where it is a
	 * later route of some contract. */
	ROW(SQL_ASTRAY_FIND,
	    "SELECT j.id FROM (SELECT DISTINCT r.provider AS name FROM contract_routes r JOIN "
	    "providers p ON p.name = r.provider AND p.enabled = 0 WHERE r.place > 0) q "
	    "STRAIGHT_JOIN " QUEUED_FOR(
		    "q.name") "JOIN contract_routes r ON r.name = j.contract AND r.version = "
			      "j.contract_version AND "
			      "r.provider = j.next_provider AND r.place > 0 LIMIT 64"),

	ROW(SQL_CERTIFICATES_FOLLOW,
	    "UPDATE certificates SET provider_version = ? WHERE provider = ? AND newest = 1 AND "
	    "died_at IS NULL AND provider_version = ?"),
	ROW(SQL_CERTIFICATES_DIE_BY_PROVIDER,
	    "UPDATE certificates SET died_at = NOW(6) WHERE provider = ? AND newest = 1 AND "
	    "died_at IS NULL"),
	ROW(SQL_CERTIFICATES_OF_CONTRACT,
	    "SELECT c.provider, c.provider_version, c.rule_version, c.subject, c.passed, "
	    "c.rounds, c.report, c.issued_at, c.expires_at, p.definition FROM certificates c "
	    "STRAIGHT_JOIN providers p " BY_ID
	    "ON p.name = c.provider AND p.version = c.provider_version WHERE "
	    "c.contract = ? AND c.contract_version = ? AND c.newest = 1 AND c.died_at IS NULL FOR "
	    "UPDATE"),
	ROW(SQL_CERTIFICATES_DIE_BY_CONTRACT,
	    "UPDATE certificates SET died_at = NOW(6) WHERE contract = ? AND newest = 1 AND "
	    "died_at IS NULL"),
	ROW(SQL_CERTIFICATE_SUPERSEDE,
	    "UPDATE certificates SET superseded_at = NOW(6) WHERE contract = ? AND "
	    "contract_version = ? AND provider = ? AND newest = 1"),
	ROW(SQL_CERTIFICATE_ADD,
	    "INSERT INTO certificates (id, contract, contract_version, provider, "
	    "provider_version, rule_version, subject, passed, rounds, report, issued_at, "
	    "expires_at, died_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(?, NOW(6)), "
	    "COALESCE(?, NOW(6)) + INTERVAL ? SECOND, IF(?, NOW(6), NULL))"),
	ROW(SQL_CERTIFICATE_LIST, "SELECT " CERTIFICATE_ROW " FROM " CERTIFICATES_LISTED),
	/* No report is looked at before its row is known to be one of the page's. */
	ROW(SQL_CERTIFICATE_SIZES,
	    "SELECT LENGTH(c.report) FROM (SELECT c.id FROM " CERTIFICATES_LISTED
	    ") q STRAIGHT_JOIN certificates c " BY_ID "ON c.id = q.id ORDER BY q.id DESC"),
	ROW(SQL_PURGE_CERTIFICATE_WINDOW,
	    "SELECT id FROM certificates WHERE id > ? ORDER BY id LIMIT 1000, 1"),
	ROW(SQL_PURGE_REPORTS,
	    "UPDATE certificates " BY_ID "SET report = '[]' WHERE id > ? AND id <= ? AND "
	    "COALESCE(died_at, superseded_at) < NOW(6) - INTERVAL ? SECOND AND LENGTH(report) > 2 "
	    "ORDER BY id LIMIT ?"),
	ROW(SQL_CERTIFICATES_EXPIRING,
	    "SELECT c.contract, c.provider FROM certificates c JOIN contracts k ON k.name = "
	    "c.contract AND k.version = c.contract_version AND k.live = 1 WHERE c.newest = 1 AND "
	    "c.passed = 1 AND c.expires_at < NOW(6) + INTERVAL ? SECOND AND (? IS NULL OR "
	    "c.contract = ?) ORDER BY c.expires_at LIMIT 256"),
	ROW(SQL_ROUTE_STANDINGS,
	    "SELECT k.name, r.place, r.provider, c.id IS NOT NULL, " CERTIFICATE_WHY
	    ", c.expires_at, COALESCE(c.expires_at <= NOW(6) + INTERVAL ? SECOND, 0) FROM "
	    "contracts k JOIN contract_routes r ON r.name = k.name AND r.version = k.version LEFT "
	    "JOIN certificates c ON c.contract = r.name AND c.contract_version = r.version AND "
	    "c.provider = r.provider AND c.newest = 1 LEFT JOIN providers p ON p.name = "
	    "r.provider WHERE k.name > ? AND k.live = 1 AND (? IS NULL OR k.name = ?) ORDER BY "
	    "k.name, r.place LIMIT ?"),

	ROW(SQL_CERTIFY_ASK,
	    "INSERT INTO certify_runs (id, contract, contract_version, provider, total, "
	    "created_at) VALUES (?, ?, ?, ?, ?, NOW(6))"),
	ROW(SQL_CERTIFY_FIND,
	    "SELECT r.id FROM certify_runs r WHERE r.claimed_by IS NULL OR NOT EXISTS (SELECT 1 "
	    "FROM pollers p WHERE p.id = r.claimed_by AND p.lease_until > NOW(6)) ORDER BY r.id "
	    "LIMIT 16"),
	ROW(SQL_CERTIFY_LOCK, "SELECT r.contract, r.contract_version, r.provider, r.claimed_by IS "
			      "NULL OR NOT EXISTS (SELECT 1 FROM pollers p WHERE p.id = "
			      "r.claimed_by AND p.lease_until > NOW(6)) FROM certify_runs r WHERE "
			      "r.id = ? FOR UPDATE SKIP LOCKED"),
	ROW(SQL_CERTIFY_TAKE, "UPDATE certify_runs SET claimed_by = ?, done = 0 WHERE id = ?"),
	ROW(SQL_CERTIFY_SUBJECT,
	    "SELECT v.definition, p.version, p.definition FROM contracts k JOIN contract_versions "
	    "v ON v.name = k.name AND v.version = k.version JOIN providers p ON p.name = ? WHERE "
	    "k.name = ? AND k.version = ? AND k.live = 1 LOCK IN SHARE MODE"),
	ROW(SQL_CERTIFY_PROGRESS,
	    "UPDATE certify_runs SET done = ? WHERE id = ? AND claimed_by = ? AND EXISTS (SELECT 1 "
	    "FROM contracts k WHERE k.name = ? AND k.version = ? AND k.live = 1) AND EXISTS "
	    "(SELECT 1 FROM providers p WHERE p.name = ? AND p.version = ?)"),
	ROW(SQL_CERTIFY_HOLD,
	    "SELECT r.id FROM certify_runs r WHERE r.id = ? AND r.claimed_by = ? FOR UPDATE"),
	ROW(SQL_CERTIFY_LEAVE, "UPDATE certify_runs SET claimed_by = NULL, done = 0 WHERE id = ?"),
	ROW(SQL_CERTIFY_END, "DELETE FROM certify_runs WHERE id = ? AND claimed_by = ?"),
	ROW(SQL_CERTIFY_DROP, "DELETE FROM certify_runs WHERE id = ?"),
	ROW(SQL_CERTIFY_RUNS,
	    "SELECT id, contract_version, provider, done, total, claimed_by IS NOT NULL "
	    "AND EXISTS (SELECT 1 FROM pollers p WHERE p.id = claimed_by AND p.lease_until > "
	    "NOW(6)) FROM certify_runs WHERE contract = ? ORDER BY id"),

	ROW(SQL_TOKEN_ADD, "INSERT INTO tokens (sha256, owner, role, created_at, expires_at) "
			   "VALUES (?, ?, ?, NOW(6), NOW(6) + INTERVAL ? SECOND)"),
	ROW(SQL_TOKEN_LIST, "SELECT sha256, owner, role, created_at, expires_at FROM tokens ORDER "
			    "BY sha256 LIMIT 10000"),
	ROW(SQL_TOKEN_FIND, "SELECT sha256 FROM tokens WHERE sha256 >= ? AND sha256 <= ? LIMIT 2"),
	ROW(SQL_TOKEN_REVOKE, "DELETE FROM tokens WHERE sha256 = ?"),

	ROW(SQL_MIGRATION_TABLE,
	    "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
	    "AND table_name = 'schema_migrations'"),
	ROW(SQL_MIGRATION_LIST,
	    "SELECT number, sha256, applied_at FROM schema_migrations WHERE name <> '' "
	    "ORDER BY number"),
	ROW(SQL_MIGRATION_BEGIN,
	    "INSERT INTO schema_migrations (number, name, sha256) VALUES (?, ?, ?) "
	    "ON DUPLICATE KEY UPDATE name = VALUES(name), sha256 = VALUES(sha256)"),
	/* Without DELETE, which the account needn't have. */
	ROW(SQL_MIGRATION_REFUSED, "UPDATE schema_migrations SET name = '' WHERE number = ?"),
	ROW(SQL_MIGRATION_END, "UPDATE schema_migrations SET applied_at = NOW(6) WHERE number = ?"),
	ROW(SQL_LOCK_NAMED,
	    "SELECT GET_LOCK(CONCAT('onejob.', LEFT(SHA2(DATABASE(), 256), 40)), 10), "
	    "IS_USED_LOCK(CONCAT('onejob.', LEFT(SHA2(DATABASE(), 256), 40)))"),
	ROW(SQL_UNLOCK_NAMED,
	    "SELECT RELEASE_LOCK(CONCAT('onejob.', LEFT(SHA2(DATABASE(), 256), 40))), 0"),

	ROW(SQL_VITALS,
	    "SELECT NOW(6), (SELECT COUNT(*) FROM pollers WHERE lease_until > NOW(6)), (SELECT "
	    "MIN(lease_until) FROM pollers WHERE lease_until > NOW(6)), (SELECT COUNT(*) FROM "
	    "pollers WHERE lease_until <= NOW(6)), (SELECT COUNT(*) FROM attempts WHERE state = "
	    "'unknown'), "
	    "@@SESSION.sql_mode LIKE '%STRICT%', @@GLOBAL.innodb_flush_log_at_trx_commit, "
	    "(SELECT total FROM counters WHERE name = 'races')"),
	/* MariaDB's alone. */
	ROW(SQL_VITALS_NODE,
	    "SELECT " NODE_STATUS("cluster_status") ", " NODE_STATUS(
		    "local_state_comment") ", CAST(" NODE_STATUS("cluster_size") " AS UNSIGNED), "
										 "@@GLOBAL.binlog_"
										 "format = 'ROW' "
										 "AND "
										 "@@GLOBAL.innodb_"
										 "autoinc_lock_"
										 "mode = 2"),
	ROW(SQL_VITALS_DUE,
	    "SELECT j.id, j.run_after FROM (SELECT next_provider, owner, MIN(run_after) AS due "
	    "FROM jobs WHERE state = 'queued' GROUP BY state, next_provider, owner ORDER BY due "
	    "LIMIT 1) q STRAIGHT_JOIN " QUEUED_FOR(
		    "q.next_provider") "AND j.owner = q.owner AND j.run_after = q.due WHERE q.due "
				       "<= NOW(6) LIMIT 1"),
	ROW(SQL_VITALS_UNKNOWN,
	    "SELECT id, updated_at FROM jobs WHERE state = 'unknown' ORDER BY updated_at LIMIT 1"),
	ROW(SQL_VITALS_STRANDED,
	    "SELECT COUNT(*) FROM (SELECT j.id FROM " QUEUED_PROVIDERS
	    "LEFT JOIN providers p ON p.name = q.name STRAIGHT_JOIN " QUEUED_FOR(
		    "q.name") "WHERE p.name IS NULL OR p.enabled = 0 LIMIT 1000) s"),

	/* A message of what the job has just come to, for an owner that has an endpoint. Whether
	 * that is disabled is the poller's to see, with the endpoint's row locked: what waited here
	 * would be missed by an enabling that this statement doesn't see yet. */
	ROW(SQL_OUTBOX_ADD, "INSERT INTO outbox (id, job_id, owner, type, idempotency_key, state, "
			    "version, tries, next_at, created_at) "
			    "SELECT ?, j.id, j.owner, CONCAT('job.', j.state), j.idempotency_key, "
			    "j.state, j.version, 0, NOW(6), "
			    "j.updated_at FROM jobs j JOIN webhooks w ON w.owner = j.owner "
			    "WHERE j.id = ? "
			    "AND j.state IN ('succeeded','failed','cancelled','unknown')"),
	ROW(SQL_OUTBOX_WANTED, "SELECT owner FROM webhooks WHERE owner IN ({, |?})"),
	ROW(SQL_OUTBOX_DUE, "SELECT 1 FROM outbox WHERE next_at <= NOW(6) LIMIT 1"),
	ROW(SQL_OUTBOX_OWNERS, "SELECT owner FROM outbox WHERE owner > ? GROUP BY owner HAVING "
			       "MIN(next_at) <= NOW(6) ORDER BY owner LIMIT ?"),
	/* Not in share mode: MySQL skips nothing there. */
	ROW(SQL_WEBHOOK_TURN,
	    "SELECT enabled, COALESCE(rest_until > NOW(6), 0) FROM webhooks WHERE "
	    "owner = ? FOR UPDATE SKIP LOCKED"),
	ROW(SQL_OUTBOX_LOCK, "SELECT id FROM outbox FORCE INDEX (owner_next) WHERE owner = ? AND "
			     "next_at <= NOW(6) ORDER BY next_at LIMIT ? FOR UPDATE SKIP LOCKED"),
	ROW(SQL_OUTBOX_READ,
	    "SELECT NOW(6), o.job_id, o.owner, o.type, o.idempotency_key, o.state, "
	    "o.version, o.tries, o.created_at, "
	    "IF(w.owner IS NULL, NULL, 1), w.enabled, w.timeouts, w.url, w.secrets FROM "
	    "outbox o LEFT JOIN webhooks w "
	    "ON w.owner = o.owner WHERE o.id = ?"),
	ROW(SQL_OUTBOX_HOLD, "UPDATE outbox SET tries = tries + 1, next_at = NOW(6) + INTERVAL ? "
			     "MICROSECOND WHERE id = ?"),
	ROW(SQL_OUTBOX_DROP, "DELETE FROM outbox WHERE id = ?"),
	ROW(SQL_OUTBOX_FAILED, "UPDATE outbox SET last_answer = ?, next_at = NOW(6) + INTERVAL ? "
			       "MICROSECOND WHERE id = ? "
			       "AND tries = ?"),
	/* These go for an owner's backlog, a batch at a time: OUTBOX_BATCH. */
	ROW(SQL_OUTBOX_PARK, "UPDATE outbox SET next_at = NULL WHERE owner = ? AND next_at IS NOT "
			     "NULL ORDER BY next_at LIMIT 500"),
	ROW(SQL_OUTBOX_REST,
	    "UPDATE outbox SET next_at = COALESCE((SELECT w.rest_until FROM webhooks w WHERE "
	    "w.owner "
	    "= outbox.owner), NOW(6)) WHERE owner = ? AND next_at <= NOW(6) ORDER BY next_at LIMIT "
	    "500"),
	ROW(SQL_OUTBOX_PARK_ONE, "UPDATE outbox SET next_at = NULL WHERE id = ?"),
	ROW(SQL_OUTBOX_WAKE,
	    "UPDATE outbox SET next_at = NOW(6), tries = 0 WHERE owner = ? AND next_at IS NULL "
	    "LIMIT 500"),
	ROW(SQL_OUTBOX_FORGET, "DELETE FROM outbox WHERE owner = ? AND NOT EXISTS (SELECT 1 FROM "
			       "webhooks w WHERE w.owner = outbox.owner) LIMIT 500"),
	ROW(SQL_WEBHOOK_INSERT,
	    "INSERT INTO webhooks (owner, url, secrets, enabled, created_at, updated_at) "
	    "VALUES (?, ?, ?, 1, NOW(6), NOW(6))"),
	ROW(SQL_WEBHOOK_UPDATE,
	    "UPDATE webhooks SET url = ?, secrets = ?, enabled = 1, disabled_why = NULL, "
	    "timeouts = 0, rest_until = NULL, "
	    "updated_at = NOW(6) WHERE owner = ?"),
	ROW(SQL_WEBHOOK_LIST,
	    "SELECT " WEBHOOK_ROW " FROM webhooks w WHERE w.owner > ? ORDER BY w.owner LIMIT ?"),
	ROW(SQL_WEBHOOK_DISABLE, "UPDATE webhooks SET enabled = 0, disabled_why = ?, updated_at = "
				 "NOW(6) WHERE owner = ? "
				 "AND url = ?"),
	/* The column means nothing while it is disabled, and no more than now otherwise. */
	ROW(SQL_WEBHOOK_HOLD, "UPDATE webhooks SET rest_until = NOW(6) WHERE owner = ?"),
	ROW(SQL_WEBHOOK_ENABLE, "UPDATE webhooks SET enabled = 1, disabled_why = NULL, timeouts = "
				"0, rest_until = NULL, updated_at = NOW(6) WHERE owner = ?"),
	/* Those that were on their way together count once. */
	ROW(SQL_WEBHOOK_TIMED_OUT, "UPDATE webhooks SET rest_until = NOW(6) + INTERVAL LEAST(600, "
				   "5 << LEAST(timeouts, 7)) "
				   "SECOND, timeouts = LEAST(timeouts + 1, 100) WHERE owner = ? "
				   "AND url = ? AND (rest_until "
				   "IS NULL OR rest_until <= NOW(6))"),
	ROW(SQL_WEBHOOK_ANSWERED,
	    "UPDATE webhooks SET timeouts = 0, rest_until = NULL WHERE owner = ? AND timeouts > 0"),
	ROW(SQL_WEBHOOK_DELETE, "DELETE FROM webhooks WHERE owner = ?"),
	ROW(SQL_PURGE_OUTBOX, "DELETE FROM outbox WHERE job_id IN ({, |?})"),
	ROW(SQL_VITALS_OUTBOX, "SELECT (SELECT COUNT(*) FROM webhooks WHERE enabled = 0), (SELECT "
			       "COUNT(*) FROM outbox WHERE "
			       "next_at IS NULL)"),
	ROW(SQL_VITALS_FAILING, "SELECT COUNT(*), LEFT(MAX(f.last_answer), 60) FROM (SELECT "
				"last_answer FROM outbox WHERE next_at > NOW(6) AND last_answer IS "
				"NOT NULL LIMIT 1000) f"),
};

const char *sql_text(enum sql id)
{
	return statements[id].text;
}

const char *sql_name(enum sql id)
{
	return statements[id].name;
}
