/* testdb.h: the database of one test program: the store's own connection, a raw one of the server's
 * root beside it, and rows in any state.
 *
 * Whatever goes wrong in here fails the test that called. Threads run by crew_run() must not
 * assert: they keep what they saw. */
#ifndef TESTS_STORE_TESTDB_H
#define TESTS_STORE_TESTDB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/idempotency_key.h"
#include "core/intent.h"
#include "core/job.h"
#include "store/claim.h"
#include "store/db_private.h"
#include "store/job_store.h"
#include "store/settle.h"

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

struct testdb {
	struct db *db;
	MYSQL *raw;
};
extern struct testdb here;

/* Fixtures. The group's opens both and migrates; the test's empties every table and puts back the
 * provider "press" (64 in flight), the token "ann-token" of owner ann and "op-token" of an
 * operator. */
int testdb_open(void **state);
int testdb_close(void **state);
int testdb_empty(void **state);

struct db *testdb_another(void); /* connected; db_free() it */
MYSQL *testdb_raw(void);	 /* root, in the database of the test; mysql_close() it */
unsigned long testdb_connection(struct db *db); /* its id on the server */

/* SQL by printf. raw_try() returns the error's number, 0 for none. raw_number() wants one row with
 * a number; NULL is 0. */
void raw_run(MYSQL *mysql, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned int raw_try(MYSQL *mysql, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t raw_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *raw_text(const char *format, ...)
	__attribute__((format(printf, 1, 2))); /* until the 8th next call */

/* Until the query's number is at least `least`, or some seconds have passed, which fails the test.
 */
void raw_until(uint64_t least, const char *query);
#define LOCK_WAITS                                                                                 \
	"SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"

const char *
x(const struct id *id); /* as a literal of SQL; until the 16th next call of the thread */

struct a_job {
	const char *owner;    /* default ann */
	const char *key;      /* default: its id */
	const char *provider; /* default press; the next one too */
	const char *input;    /* default {} */
	enum job_state state;
	uint64_t version;
	uint32_t count;	  /* attempts so far */
	uint32_t allowed; /* default 3 */
	const char *more; /* further assignments of SQL */
};
struct id job_new(struct a_job job);

struct an_attempt {
	const struct id *job;
	uint32_t number; /* default 1 */
	enum attempt_state state;
	uint64_t version_read;
	const char *provider; /* default press */
	const char *more;
};
struct id attempt_new(struct an_attempt attempt);

void provider_new(const char *name, uint32_t max_in_flight);
void token_new(const char *token, const char *owner, enum role role);
struct id poller_new(void); /* a lease of 60 s */

struct caller caller_with(const char *token);
struct caller caller_named(const char *owner);
struct idempotency_key key_of(const char *text);
struct intent intent_of(const char *provider,
			const char *input); /* fingerprint: of provider and input */
struct identity user_named(const char *owner);
struct identity operator_named(const char *owner);

enum created create_as(struct db *db, const struct caller *caller, const char *key,
		       const struct intent *intent, const char *traceparent, struct job *job_out);
enum created create(struct db *db, const struct caller *caller, const char *key,
		    const struct intent *intent, struct job *job_out);

enum settled say(struct word word); /* through settle_words() */
struct word result_of(const struct id *attempt, const char *json);
struct word word_of(const struct id *attempt, enum attempt_event event);

/* Claims and keeps only what was claimed; -1 with the code in *rc_out where it isn't RC_OK. */
struct taken {
	enum rc rc;
	size_t len;
	bool unwalked;
	struct claim claims[CLAIM_MAX]; /* without input and def */
};
void take(struct db *db, const struct id *poller, size_t max, struct claim_cursor *cursor,
	  struct taken *taken_out);

void job_is(const struct id *job, const char *state, uint64_t version);
void attempt_is(const struct id *attempt, const char *state);

/* n threads with a connection each, started at once; crew_run() waits for them. The connections are
 * crew_connect()'s, if that is set. */
extern struct db *(*crew_connect)(size_t index);
struct crew *crew_start(size_t n, void (*work)(struct db *db, size_t index, void *arg), void *arg);
void crew_join(struct crew *crew);
void crew_run(size_t n, void (*work)(struct db *db, size_t index, void *arg), void *arg);

/* Ids of one millisecond have no order: all that are made after this come after all before. */
void pass_a_millisecond(void);

/* How many columns of how many rows of all tables hold these bytes. */
uint64_t found_anywhere(const char *bytes);

#define TEST(f) cmocka_unit_test_setup(f, testdb_empty)

#endif
