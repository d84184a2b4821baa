#include "store/db.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/db_private.h"

#define CONNECT_TIMEOUT_S 5
#define ANSWER_TIMEOUT_S 20
#define BUFFER_KEPT_BYTES (256u << 10)
#define ROUNDS_MAX 4
/* What a cluster's node shows may be older by that, which is far less than a lease; and a node that
 * didn't catch up is not waited for again for so long. */
#define FRESH_MS 5000
#define BEHIND_MS 5000
#define STAY_AWAY_MS                                                                               \
	1000 /* after a connection that could not be made: a server that drops packets costs a     \
		wait each time */

static const char *const session[] = {
	"SET SESSION sql_mode = "
	"'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', "
	"time_zone = '+00:00', innodb_lock_wait_timeout = 2, autocommit = 1",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
};

/* The library is set up here, because its first use by several threads at once isn't safe. */
struct db *db_new(const char *defaults_file)
{
	struct db *db = mysql_library_init(0, NULL, NULL) == 0 ? calloc(1, sizeof *db) : NULL;

	if (db)
		db->defaults_file = defaults_file;
	return db;
}

static void forget_statements(struct db *db)
{
	for (int id = 0; id < SQL__MAX; id++) {
		for (int size = 0; size < STMT_SIZES; size++) {
			stmt_free(db->stmts[id][size]);
			db->stmts[id][size] = NULL;
		}
	}
}

/* The connection first: the client waits for what is left of a result before it closes its
 * statement. */
void db_disconnect(struct db *db)
{
	if (db->mysql)
		mysql_close(db->mysql);
	db->mysql = NULL;
	forget_statements(db);
	db->in_transaction = false;
	db->caught_up_ms = 0;
}

void db_free(struct db *db)
{
	if (!db)
		return;
	db_disconnect(db);
	free(db);
}

static bool lost(unsigned int error_no)
{
	switch (error_no) {
	case CR_SERVER_GONE_ERROR:
	case CR_SERVER_LOST:
	case CR_COMMANDS_OUT_OF_SYNC:
	case CR_MALFORMED_PACKET:
	case CR_UNKNOWN_ERROR:
	case CR_SSL_CONNECTION_ERROR: /* 2026: what a lost connection looks like under TLS */
	case 2020:		      /* CR_NET_PACKET_TOO_LARGE */
	case ER_SERVER_SHUTDOWN:
	case ER_NET_PACKET_TOO_LARGE: /* 1153: the server hangs up after it */
	case ER_NET_READ_ERROR:
	case ER_NET_READ_INTERRUPTED:
	case ER_NET_ERROR_ON_WRITE:
	case ER_NET_WRITE_INTERRUPTED:
	case 1927: /* ER_CONNECTION_KILLED, MariaDB's */
	case 2055: /* CR_SERVER_LOST_EXTENDED, MySQL's */ return true;
	default: return false;
	}
}

/* The server says that this statement, or its whole transaction, was not done; it may be said
 * again. */
static bool undone(unsigned int error_no)
{
	switch (error_no) {
	case ER_LOCK_DEADLOCK: /* 1213: all undone; Galera's certification too, also at COMMIT */
	case ER_LOCK_WAIT_TIMEOUT: /* 1205: the statement undone, the transaction still open */
	case ER_CHECKREAD: /* 1020: the row changed since it was read (innodb_snapshot_isolation) */
	case ER_NEED_REPREPARE:	   /* 1615 */
	case ER_TABLE_DEF_CHANGED: /* 1412 */
	case ER_QUERY_INTERRUPTED: /* 1317 */
	case ER_CON_COUNT_ERROR:   /* 1040 */
	case ER_TOO_MANY_USER_CONNECTIONS:
	case ER_OPTION_PREVENTS_STATEMENT: /* 1290: read-only */
	case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
	case 1836: /* ER_READ_ONLY_MODE */
	case 1969: /* ER_STATEMENT_TIMEOUT, MariaDB's */
	case 3024: /* ER_QUERY_TIMEOUT, MySQL's */
	case 3101: /* ER_TRANSACTION_ROLLBACK_DURING_COMMIT, MySQL's */
	case CR_CONNECTION_ERROR:
	case CR_CONN_HOST_ERROR:
	case CR_UNKNOWN_HOST: return true;
	default: return false;
	}
}

/* A Galera node isn't in the cluster's primary component, or has just left it: whether what was on
 * its way to the others is committed there, it doesn't know. */
static bool cut_off(unsigned int error_no)
{
	return error_no == ER_UNKNOWN_COM_ERROR || /* 1047 */
	       error_no == ER_ERROR_DURING_COMMIT; /* 1180 */
}

/* The server has no room for it now: on its disk, in its memory, or by one of its limits. It will
 * once somebody has made some, so nothing is thrown away for that. */
static bool no_room(unsigned int error_no)
{
	switch (error_no) {
	case ER_RECORD_FILE_FULL: /* 1114: the disk, of tables kept and temporary ones */
	case ER_DISK_FULL:	  /* 1021 */
	case ER_ERROR_ON_WRITE:	  /* 1026 */
	case ER_OUTOFMEMORY:
	case ER_OUT_OF_SORTMEMORY:
	case ER_OUT_OF_RESOURCES:
	case ER_LOCK_TABLE_FULL:
	case ER_TOO_MANY_CONCURRENT_TRXS:
	case ER_USER_LIMIT_REACHED: /* 1226: so many an hour; shared hosts have it */
	case ER_MAX_PREPARED_STMT_COUNT_REACHED: return true;
	default: return false;
	}
}

static bool bad_value(unsigned int error_no)
{
	switch (error_no) {
	case ER_DATA_TOO_LONG:
	case ER_BAD_NULL_ERROR:
	case ER_WARN_DATA_OUT_OF_RANGE:
	case ER_TRUNCATED_WRONG_VALUE:
	case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
	case WARN_DATA_TRUNCATED:
	case ER_INVALID_CHARACTER_STRING: return true;
	default: return false;
	}
}

/* The server's words about a bad value quote that value, which may be a payload: only their number
 * is logged. */
static void log_failure(const struct db *db, enum rc rc, const char *what)
{
	char words[sizeof db->error];

	snprintf(words, sizeof words, "%s", db->error);
	for (char *c = words; *c; c++)
		if (*c == '"' || *c == '\\')
			*c = '\'';
	if (rc == RC_INVALID)
		log_error("database.refused", "statement=%s errno=%u", what, db->error_no);
	else if (rc == RC_FAULT)
		log_error("database.refused", "statement=%s error=\"%s\"", what, words);
	else
		log_warning("database.trouble", "statement=%s error=\"%s\"", what, words);
}

enum rc db_failed(struct db *db, unsigned int error_no, const char *error, const char *what,
		  bool sent)
{
	enum rc rc = RC_FAULT;

	db->error_no = error_no;
	snprintf(db->error, sizeof db->error, "%u %s", error_no, error);
	if (error_no == ER_DUP_ENTRY)
		return RC_CONFLICT;
	if (lost(error_no)) {
		rc = sent ? RC_UNCERTAIN : RC_RETRY;
		db_disconnect(db);
	} else if (cut_off(error_no)) {
		rc = sent ? RC_UNCERTAIN : RC_RETRY;
	} else if (undone(error_no) || no_room(error_no)) {
		rc = RC_RETRY;
	} else if (bad_value(error_no)) {
		rc = RC_INVALID;
	}
	log_failure(db, rc, what);
	return rc;
}

enum rc db_too_large(struct db *db, const char *what)
{
	db->error_no = ER_NET_PACKET_TOO_LARGE;
	snprintf(db->error, sizeof db->error,
		 "a value is larger than the server's max_allowed_packet");
	log_failure(db, RC_INVALID, what);
	return RC_INVALID;
}

static MYSQL *handle_new(const char *defaults_file, bool patient)
{
	MYSQL *mysql = mysql_init(NULL);
	unsigned int connect_s = CONNECT_TIMEOUT_S, answer_s = ANSWER_TIMEOUT_S;

	if (!mysql)
		return NULL;
	if (defaults_file)
		mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, defaults_file);
	mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "onejob");
	mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	if (!patient) {
		mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
		mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
	}
	return mysql;
}

void db_be_patient(struct db *db)
{
	db->patient = true;
}

/* packet_max: a larger statement is refused here, as the server would only hang up, again and
 * again. False: an error of the server's, or no database has been chosen. */
static bool read_session(struct db *db, bool *chosen_out)
{
	MYSQL_RES *result = NULL;
	MYSQL_ROW row = NULL;

	if (mysql_query(db->mysql, "SELECT @@SESSION.max_allowed_packet, DATABASE()") == 0)
		result = mysql_store_result(db->mysql);
	if (result)
		row = mysql_fetch_row(result);
	*chosen_out = !row || row[1];
	if (row && row[0])
		db->packet_max = strtoull(row[0], NULL, 10);
	if (result)
		mysql_free_result(result);
	return row && *chosen_out;
}

uint64_t db_packet_max(const struct db *db)
{
	return db->packet_max;
}

/* MySQL has no such variable. Writes that one node alone would not need are left out there. */
static bool read_cluster(struct db *db)
{
	MYSQL_RES *result = NULL;
	MYSQL_ROW row;

	if (mysql_query(db->mysql, "SHOW SESSION VARIABLES LIKE 'wsrep_on'") == 0)
		result = mysql_store_result(db->mysql);
	if (!result)
		return false;
	row = mysql_fetch_row(result);
	db->cluster = row && row[1] && strcmp(row[1], "ON") == 0;
	mysql_free_result(result);
	return true;
}

bool db_in_cluster(const struct db *db)
{
	return db->cluster;
}

/* False: the error has been told. */
static bool connected(struct db *db)
{
	bool chosen = true;

	if (!mysql_real_connect(db->mysql, NULL, NULL, NULL, NULL, 0, NULL, CLIENT_FOUND_ROWS))
		goto fail;
	if (client_never_reconnect(db->mysql) != 0 ||
	    mysql_set_character_set(db->mysql, "utf8mb4") != 0)
		goto fail;
	for (size_t i = 0; i < sizeof session / sizeof session[0]; i++)
		if (mysql_query(db->mysql, session[i]) != 0)
			goto fail;
	if (!read_session(db, &chosen) || !read_cluster(db))
		goto fail;
	return true;
fail:
	if (chosen)
		(void)db_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), "connect",
				false);
	else
		(void)db_failed(db, ER_NO_DB_ERROR,
				"the group [onejob] of the option file names no database",
				"connect", false);
	return false;
}

/* The client library takes a file that isn't there for an empty one. */
static bool has_options(struct db *db)
{
	char words[sizeof db->error - 16];

	if (!db->defaults_file || access(db->defaults_file, R_OK) == 0)
		return true;
	snprintf(words, sizeof words, "%s: %s", db->defaults_file, strerror(errno));
	(void)db_failed(db, CR_UNKNOWN_ERROR, words, "connect", false);
	return false;
}

enum rc db_ready(struct db *db)
{
	if (db->mysql)
		return RC_OK;
	if (clock_monotonic_ms() < db->stay_away_until_ms)
		return RC_RETRY;
	db->mysql = handle_new(db->defaults_file, db->patient);
	if (!db->mysql)
		return RC_FAULT;
	if (has_options(db) && connected(db))
		return RC_OK;
	db_disconnect(db);
	db->stay_away_until_ms = clock_monotonic_ms() + STAY_AWAY_MS;
	return RC_RETRY;
}

bool db_rest(struct db *db)
{
	assert(!db->in_transaction);
	if (!db->mysql || db->mysql->net.max_packet <= BUFFER_KEPT_BYTES)
		return false;
	db_disconnect(db);
	return true;
}

/* A time-out of the server's (1205) has undone nothing here: there was nothing yet. */
static enum rc behind(struct db *db)
{
	enum rc rc =
		db_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), "catch up", false);

	db->behind_until_ms = clock_monotonic_ms() + BEHIND_MS;
	return rc == RC_FAULT ? RC_FAULT : RC_RETRY;
}

enum rc db_catch_up(struct db *db)
{
	enum rc rc = db_ready(db);
	MYSQL_RES *result;

	if (rc != RC_OK || !db->cluster)
		return rc;
	if (clock_monotonic_ms() < db->behind_until_ms)
		return RC_RETRY;
	if (mysql_query(db->mysql, "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1") != 0)
		return behind(db);
	result = mysql_store_result(db->mysql);
	if (!result)
		return behind(db);
	mysql_free_result(result);
	db->caught_up_ms = clock_monotonic_ms();
	return RC_OK;
}

/* What is read from here on is no older than FRESH_MS. */
static enum rc be_fresh(struct db *db)
{
	enum rc rc = db_ready(db);

	if (rc != RC_OK || !db->cluster ||
	    (db->caught_up_ms > 0 && clock_monotonic_ms() - db->caught_up_ms < FRESH_MS))
		return rc;
	return db_catch_up(db);
}

/* Nothing is only taken away, so what isn't there to be taken away was not done before. */
static bool there_already(unsigned int error_no)
{
	switch (error_no) {
	case ER_TABLE_EXISTS_ERROR:
	case ER_DUP_FIELDNAME:
	case ER_DUP_KEYNAME: return true;
	default: return false;
	}
}

static enum rc execute(struct db *db, const char *text, bool again)
{
	enum rc rc = db_ready(db);

	if (rc != RC_OK)
		return rc;
	if (mysql_query(db->mysql, text) == 0 || (again && there_already(mysql_errno(db->mysql))))
		return RC_OK;
	return db_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), "execute", true);
}

enum rc db_execute(struct db *db, const char *text)
{
	return execute(db, text, false);
}

enum rc db_execute_again(struct db *db, const char *text)
{
	return execute(db, text, true);
}

enum rc db_limit_waits(struct db *db, unsigned int seconds)
{
	char text[64];

	snprintf(text, sizeof text, "SET SESSION lock_wait_timeout = %u", seconds);
	return db_execute(db, text);
}

enum rc db_begin(struct db *db)
{
	assert(!db->in_transaction); /* the server would commit the outer one without a word */
	enum rc rc = be_fresh(db);

	if (rc != RC_OK)
		return rc;
	if (mysql_query(db->mysql, "START TRANSACTION") != 0)
		return db_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), "begin",
				 false);
	db->in_transaction = true;
	db->wrote = false;
	return RC_OK;
}

/* MariaDB, measured with 10.11: where another node's write throws a transaction out while a SELECT
 * of it runs, that SELECT has its rows and no error; what comes next would be done without the
 * transaction, and COMMIT would say yes to nothing. But each answer tells whether one is open. */
bool db_still_open(struct db *db, const char *what)
{
	if (!db->in_transaction || (db->mysql->server_status & SERVER_STATUS_IN_TRANS))
		return true;
	(void)db_failed(db, ER_LOCK_DEADLOCK, "the transaction has ended without a word", what,
			false);
	db->in_transaction = false;
	return false;
}

enum rc db_commit(struct db *db)
{
	if (!db->mysql || !db_still_open(db, "commit"))
		return RC_RETRY;
	if (mysql_query(db->mysql, "COMMIT") == 0) {
		db->in_transaction = false;
		return RC_OK;
	}
	/* Only what the server itself calls undone is known not to be committed. */
	bool known = undone(mysql_errno(db->mysql));
	enum rc rc = db_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), "commit", true);

	if (known)
		return rc;
	db_disconnect(db);
	return RC_UNCERTAIN;
}

void db_rollback(struct db *db)
{
	bool open = db->in_transaction;

	db->in_transaction = false;
	if (!db->mysql || !open)
		return;
	if (mysql_query(db->mysql, "ROLLBACK") != 0)
		db_disconnect(db);
}

/* Grows with the rounds and differs between callers, so that two that met don't meet again. */
void db_pause(int round)
{
	unsigned char random;
	struct timespec pause = { 0 };

	clock_random(&random, sizeof random);
	pause.tv_nsec = (long)round * 1000000L * (1 + random % 8);
	nanosleep(&pause, NULL);
}

static enum rc transact_once(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg)
{
	enum rc rc = db_begin(db);

	if (rc == RC_OK)
		rc = work(db, arg);
	if (rc == RC_OK)
		rc = db_commit(db);
	if (rc != RC_OK)
		db_rollback(db);
	return rc;
}

/* Other nodes may know better: what isn't found here, or what a certification was lost to. Once for
 * all rounds, as it may take a while. RC_NOT_FOUND: nothing to wait for. */
static enum rc ask_others(struct db *db, enum rc rc, bool *asked)
{
	if ((rc != RC_NOT_FOUND && rc != RC_RETRY) || *asked || !db->mysql || !db->cluster)
		return RC_NOT_FOUND;
	*asked = true;
	return db_catch_up(db);
}

/* Another node's write would have thrown out what wrote something itself. */
static bool may_be_out_of_date(const struct db *db, enum rc rc)
{
	return rc == RC_CONFLICT || (rc == RC_OK && !db->wrote);
}

static enum rc transact(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg,
			bool sure)
{
	enum rc rc = RC_RETRY;
	bool asked = false, again = true;

	for (int round = 0; again && round < ROUNDS_MAX; round++) {
		if (round > 0)
			db_pause(round);
		rc = transact_once(db, work, arg);
		if (rc == RC_RETRY && db_was_locked_out(db))
			break;
		bool doubted = sure && may_be_out_of_date(db, rc);
		enum rc others = ask_others(db, doubted ? RC_NOT_FOUND : rc, &asked);

		if (others != RC_OK && others != RC_NOT_FOUND)
			return others;
		again = rc == RC_RETRY || others == RC_OK;
	}
	return rc;
}

enum rc db_transact(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg)
{
	return transact(db, work, arg, false);
}

enum rc db_transact_sure(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg)
{
	return transact(db, work, arg, true);
}

bool db_refused(enum rc rc)
{
	return rc == RC_FAULT || rc == RC_INVALID || rc == RC_CONFLICT;
}

static enum rc read_once(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg)
{
	enum rc rc = be_fresh(db);

	return rc == RC_OK ? work(db, arg) : rc;
}

enum rc db_read(struct db *db, enum rc (*work)(struct db *db, void *arg), void *arg)
{
	enum rc rc = read_once(db, work, arg);
	bool asked = false;

	if (rc == RC_RETRY)
		rc = read_once(db, work, arg);
	enum rc others = ask_others(db, rc == RC_CONFLICT ? RC_NOT_FOUND : rc, &asked);

	if (others == RC_NOT_FOUND)
		return rc;
	return others == RC_OK ? work(db, arg) : others;
}

const char *db_error(const struct db *db)
{
	return db->error;
}

bool db_lacks_right(const struct db *db)
{
	switch (db->error_no) {
	case ER_DBACCESS_DENIED_ERROR:	  /* 1044: on the whole database */
	case ER_TABLEACCESS_DENIED_ERROR: /* 1142 */
	case ER_COLUMNACCESS_DENIED_ERROR: return true;
	default: return false;
	}
}

bool db_was_too_large(const struct db *db)
{
	return db->error_no == ER_NET_PACKET_TOO_LARGE;
}

bool db_was_there(const struct db *db)
{
	return there_already(db->error_no);
}

bool db_lacks_room(const struct db *db)
{
	return no_room(db->error_no);
}

bool db_was_locked_out(const struct db *db)
{
	return db->error_no == ER_LOCK_WAIT_TIMEOUT;
}

unsigned int db_errno(const struct db *db)
{
	return db->error_no;
}

const char *db_versions(struct db *db)
{
	struct client_library client = db_client_library();

	snprintf(db->versions, sizeof db->versions, "%s by %s %s",
		 db->mysql ? mysql_get_server_info(db->mysql) : "no server", client.name,
		 client.version);
	return db->versions;
}

/* Neither tells whose it is. MariaDB's is at version 3, which Oracle's left behind long ago. */
struct client_library db_client_library(void)
{
	const char *version = mysql_get_client_info();
	bool mariadb = strncmp(version, "3.", 2) == 0 || strstr(version, "MariaDB");

	return (struct client_library){ .name = mariadb ? "libmariadb" : "libmysqlclient",
					.version = version,
					.compiled_name = CLIENT_COMPILED_NAME,
					.compiled_version = CLIENT_COMPILED_VERSION };
}
