#include "testdb.h"

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/provider_def.h"
#include "store/migrate.h"
#include "store/token_store.h"

struct testdb here;
struct db *(*crew_connect)(size_t index);

#define SQL_MAX 4096
#define ID_TIME_BYTES 6

MYSQL *testdb_raw(void)
{
	MYSQL *mysql = mysql_init(NULL);

	assert_non_null(mysql);
	mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, getenv("ONEJOB_TEST_ROOT"));
	mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "client");
	if (!mysql_real_connect(mysql, NULL, NULL, NULL, "onejob", 0, NULL, 0))
		fail_msg("connect: %s", mysql_error(mysql));
	raw_run(mysql, "SET time_zone = '+00:00'");
	return mysql;
}

struct db *testdb_another(void)
{
	struct db *db = db_new(getenv("ONEJOB_DEFAULTS_FILE"));

	assert_non_null(db);
	assert_int_equal(db_ready(db), RC_OK);
	return db;
}

unsigned long testdb_connection(struct db *db)
{
	assert_int_equal(db_ready(db), RC_OK);
	return mysql_thread_id(db->mysql);
}

int testdb_open(void **state)
{
	struct schema_state schema;

	(void)state;
	if (!getenv("ONEJOB_DEFAULTS_FILE") || !getenv("ONEJOB_TEST_ROOT")) {
		fprintf(stderr, "run me by tests/support/run_test.sh\n");
		return -1;
	}
	log_open("test");
	here.db = testdb_another();
	here.raw = testdb_raw();
	raw_run(here.raw,
		"SET GLOBAL innodb_flush_log_at_trx_commit = 0"); /* no test here but that of
								     crashes needs more */
	return migrate_run(here.db, NULL, NULL, &schema) == RC_OK ? 0 : -1;
}

int testdb_close(void **state)
{
	(void)state;
	db_free(here.db);
	mysql_close(here.raw);
	here = (struct testdb){ 0 };
	return 0;
}

int testdb_empty(void **state)
{
	static const char *const tables[] = { "outbox",
					      "webhooks",
					      "races",
					      "attempts",
					      "jobs",
					      "pollers",
					      "certify_runs",
					      "certificates",
					      "contract_routes",
					      "contract_versions",
					      "contracts",
					      "providers",
					      "tokens",
					      "provider_versions",
					      "counters" };

	(void)state;
	for (size_t i = 0; i < ROWS(tables); i++)
		raw_run(here.raw, "DELETE FROM %s", tables[i]);
	provider_new("press", 64);
	token_new("ann-token", "ann", ROLE_USER);
	token_new("op-token", "op", ROLE_OPERATOR);
	return 0;
}

static unsigned int run(MYSQL *mysql, const char *format, va_list args)
{
	char sql[SQL_MAX];
	int len = vsnprintf(sql, sizeof sql, format, args);

	assert_true(len > 0 && len < SQL_MAX);
	return mysql_real_query(mysql, sql, (unsigned long)len) == 0 ? 0 : mysql_errno(mysql);
}

/* An error may come after the rows have begun. */
static unsigned int drop_result(MYSQL *mysql)
{
	MYSQL_RES *result = mysql_store_result(mysql);

	if (!result)
		return mysql_errno(mysql);
	mysql_free_result(result);
	return 0;
}

void raw_run(MYSQL *mysql, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	unsigned int error = run(mysql, format, args);

	va_end(args);
	if (!error)
		error = drop_result(mysql);
	if (error)
		fail_msg("%s: %u %s", format, error, mysql_error(mysql));
}

unsigned int raw_try(MYSQL *mysql, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	unsigned int error = run(mysql, format, args);

	va_end(args);
	return error ? error : drop_result(mysql);
}

static const char *one_cell(const char *format, va_list args)
{
	static char cells[8][1024];
	static unsigned int at;
	char *cell = cells[at++ % 8];
	unsigned int error = run(here.raw, format, args);

	if (error)
		fail_msg("%s: %u %s", format, error, mysql_error(here.raw));
	MYSQL_RES *result = mysql_store_result(here.raw);
	MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;

	if (!row)
		fail_msg("no row: %s", format);
	snprintf(cell, sizeof cells[0], "%s", row[0] ? row[0] : "NULL");
	mysql_free_result(result);
	return cell;
}

uint64_t raw_number(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *cell = one_cell(format, args);

	va_end(args);
	return strtoull(cell, NULL, 10);
}

const char *raw_text(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *cell = one_cell(format, args);

	va_end(args);
	return cell;
}

void raw_until(uint64_t least, const char *query)
{
	for (int i = 0; i < 60; i++) {
		if (raw_number("%s", query) >= least)
			return;
		raw_run(here.raw, "DO SLEEP(0.12)"); /* innodb_trx is renewed only when nobody has
							looked for 0.1 s */
	}
	fail_msg("never %llu: %s", (unsigned long long)least, query);
}

const char *x(const struct id *id)
{
	static _Thread_local char texts[16][2 * ID_BYTES + 4];
	static _Thread_local unsigned int at;
	char *text = texts[at++ % 16], *out = text;

	out += sprintf(out, "X'");
	for (int i = 0; i < ID_BYTES; i++)
		out += sprintf(out, "%02x", id->bytes[i]);
	sprintf(out, "'");
	return text;
}

struct id job_new(struct a_job job)
{
	struct id id = clock_id();
	const char *provider = job.provider ? job.provider : "press";
	char key[64] = "";

	if (job.key)
		snprintf(key, sizeof key, "'%s'", job.key);
	raw_run(here.raw,
		"INSERT INTO jobs SET id = %s, owner = '%s', idempotency_key = %s, fingerprint = "
		"REPEAT('f', 32), provider = '%s', "
		"next_provider = '%s', input = '%s', state = '%s', version = %llu, max_attempts = "
		"3, attempts_allowed = %u, "
		"attempt_count = %u, run_after = UTC_TIMESTAMP(6), created_at = UTC_TIMESTAMP(6), "
		"updated_at = UTC_TIMESTAMP(6)",
		x(&id), job.owner ? job.owner : "ann", job.key ? key : x(&id), provider, provider,
		job.input ? job.input : "{}", job_state_name(job.state),
		(unsigned long long)job.version, job.allowed ? job.allowed : 3, job.count);
	if (job.more)
		raw_run(here.raw, "UPDATE jobs SET %s WHERE id = %s", job.more, x(&id));
	return id;
}

struct id attempt_new(struct an_attempt attempt)
{
	struct id id = clock_id();

	raw_run(here.raw,
		"INSERT INTO attempts SET id = %s, job_id = %s, number = %u, provider = '%s', "
		"provider_version = 1, generation = 0, "
		"state = '%s', version_read = %llu, started_at = UTC_TIMESTAMP(6)",
		x(&id), x(attempt.job), attempt.number ? attempt.number : 1,
		attempt.provider ? attempt.provider : "press", attempt_state_name(attempt.state),
		(unsigned long long)attempt.version_read);
	if (attempt.more)
		raw_run(here.raw, "UPDATE attempts SET %s WHERE id = %s", attempt.more, x(&id));
	return id;
}

void provider_new(const char *name, uint32_t max_in_flight)
{
	raw_run(here.raw,
		"INSERT INTO providers SET name = '%s', version = 1, definition = "
		"'{\"url\":\"http://localhost/\",\"max_in_flight\":%u}', enabled = 1, "
		"max_in_flight = %u, "
		"created_at = UTC_TIMESTAMP(6), updated_at = UTC_TIMESTAMP(6)",
		name, max_in_flight, max_in_flight);
}

void token_new(const char *token, const char *owner, enum role role)
{
	raw_run(here.raw,
		"INSERT INTO tokens SET sha256 = UNHEX(SHA2('%s', 256)), owner = '%s', role = "
		"'%s', "
		"created_at = UTC_TIMESTAMP(6)",
		token, owner, role_name(role));
}

struct id poller_new(void)
{
	struct id id = clock_id();

	assert_int_equal(poller_register(here.db, &id, "host", 1, 60), RC_OK);
	return id;
}

struct caller caller_with(const char *token)
{
	struct caller caller = { .has_token = true };

	digest_sha256(token, strlen(token), caller.token_sha256);
	return caller;
}

struct caller caller_named(const char *owner)
{
	return (struct caller){ .owner = owner, .owner_len = strlen(owner) };
}

struct idempotency_key key_of(const char *text)
{
	struct idempotency_key key = { .len = strlen(text) };

	assert_true(key.len <= KEY_MAX);
	memcpy(key.bytes, text, key.len);
	return key;
}

struct intent intent_of(const char *provider, const char *input)
{
	struct intent intent = { .input = input,
				 .input_len = strlen(input),
				 .metadata = "{}",
				 .metadata_len = 2,
				 .max_attempts = 3 };
	char all[256];
	int len = snprintf(all, sizeof all, "%s %s", provider, input);

	snprintf(intent.provider, sizeof intent.provider, "%s", provider);
	digest_sha256(all, (size_t)len < sizeof all ? (size_t)len : sizeof all, intent.fingerprint);
	return intent;
}

static struct identity identity_of(const char *owner, enum role role)
{
	struct identity who = { .owner_len = strlen(owner), .role = role };

	memcpy(who.owner, owner, who.owner_len);
	return who;
}

struct identity user_named(const char *owner)
{
	return identity_of(owner, ROLE_USER);
}

struct identity operator_named(const char *owner)
{
	return identity_of(owner, ROLE_OPERATOR);
}

enum created create_as(struct db *db, const struct caller *caller, const char *key,
		       const struct intent *intent, const char *traceparent, struct job *job_out)
{
	struct idempotency_key bytes = key_of(key);
	struct create c = { .caller = caller,
			    .key = &bytes,
			    .intent = intent,
			    .id = clock_id(),
			    .now_us = clock_real_us(),
			    .traceparent = traceparent };
	struct create *one = &c;

	while (job_store_create(db, &one, 1) == 0)
		continue;
	*job_out = c.job;
	return c.created;
}

enum created create(struct db *db, const struct caller *caller, const char *key,
		    const struct intent *intent, struct job *job_out)
{
	return create_as(db, caller, key, intent, NULL, job_out);
}

enum settled say(struct word word)
{
	enum settled verdict = SETTLED__MAX;

	assert_int_equal(settle_words(here.db, &word, 1, &verdict), RC_OK);
	return verdict;
}

struct word result_of(const struct id *attempt, const char *json)
{
	return (struct word){ .attempt_id = *attempt,
			      .event = ON_RESULT,
			      .by = BY_POLLER,
			      .result = json,
			      .result_len = strlen(json),
			      .phase = PHASE_ANSWER_BEGUN,
			      .http_status = 200,
			      .retry_after_ms = -1 };
}

struct word word_of(const struct id *attempt, enum attempt_event event)
{
	return (struct word){ .attempt_id = *attempt,
			      .event = event,
			      .by = BY_POLLER,
			      .result = "\"late\"",
			      .result_len = 6,
			      .reason = event == ON_RESULT    ? REASON_NONE
					: event == ON_FAILURE ? REASON_REFUSED
							      : REASON_TIMEOUT,
			      .phase = PHASE_SENT,
			      .retryable = true,
			      .retry_after_ms = -1 };
}

void take(struct db *db, const struct id *poller, size_t max, struct claim_cursor *cursor,
	  struct taken *taken_out)
{
	struct claim_list list;
	struct id ids[CLAIM_MAX];

	for (size_t i = 0; i < max; i++)
		ids[i] = clock_id();
	taken_out->rc = claim_jobs(db, poller, 60, ids, max, cursor, &list);
	taken_out->len = taken_out->rc == RC_OK ? list.len : 0;
	taken_out->unwalked = list.unwalked;
	for (size_t i = 0; i < taken_out->len; i++) {
		taken_out->claims[i] = list.list[i];
		taken_out->claims[i].input = (struct blob){ 0 };
		taken_out->claims[i].def = NULL;
	}
	claim_list_free(&list);
}

void job_is(const struct id *job, const char *state, uint64_t version)
{
	const char *now =
		raw_text("SELECT CONCAT(state, ' ', version) FROM jobs WHERE id = %s", x(job));
	char want[64];

	snprintf(want, sizeof want, "%s %llu", state, (unsigned long long)version);
	assert_string_equal(now, want);
}

void attempt_is(const struct id *attempt, const char *state)
{
	assert_string_equal(raw_text("SELECT state FROM attempts WHERE id = %s", x(attempt)),
			    state);
}

struct member {
	pthread_t thread;
	pthread_barrier_t *start;
	struct db *db;
	size_t index;
	void (*work)(struct db *db, size_t index, void *arg);
	void *arg;
};

static void *member_run(void *arg)
{
	struct member *member = arg;

	pthread_barrier_wait(member->start);
	member->work(member->db, member->index, member->arg);
	return NULL;
}

struct crew {
	size_t n;
	pthread_barrier_t start;
	struct member *members;
};

struct crew *crew_start(size_t n, void (*work)(struct db *db, size_t index, void *arg), void *arg)
{
	struct crew *crew = calloc(1, sizeof *crew);

	assert_non_null(crew);
	crew->n = n;
	crew->members = calloc(n, sizeof *crew->members);
	assert_non_null(crew->members);
	pthread_barrier_init(&crew->start, NULL, (unsigned int)n);
	for (size_t i = 0; i < n; i++) {
		struct member *member = &crew->members[i];

		*member = (struct member){ .start = &crew->start,
					   .db = crew_connect ? crew_connect(i) : testdb_another(),
					   .index = i,
					   .work = work,
					   .arg = arg };
		assert_int_equal(pthread_create(&member->thread, NULL, member_run, member), 0);
	}
	return crew;
}

void crew_join(struct crew *crew)
{
	for (size_t i = 0; i < crew->n; i++) {
		pthread_join(crew->members[i].thread, NULL);
		db_free(crew->members[i].db);
	}
	pthread_barrier_destroy(&crew->start);
	free(crew->members);
	free(crew);
}

void crew_run(size_t n, void (*work)(struct db *db, size_t index, void *arg), void *arg)
{
	crew_join(crew_start(n, work, arg));
}

uint64_t found_anywhere(const char *bytes)
{
	uint64_t found = 0;
	char query[1024];
	MYSQL_RES *columns;
	MYSQL_ROW row;

	raw_run(here.raw, "SET SESSION group_concat_max_len = 1000000");
	assert_int_equal(
		mysql_query(here.raw,
			    "SELECT table_name, column_name FROM information_schema.columns "
			    "WHERE table_schema = DATABASE()"),
		0);
	columns = mysql_store_result(here.raw);
	assert_true(mysql_num_rows(columns) > 50);
	while ((row = mysql_fetch_row(columns))) {
		snprintf(query, sizeof query,
			 "SELECT COUNT(*) FROM %s WHERE INSTR(CAST(%s AS BINARY), '%s') > 0",
			 row[0], row[1], bytes);
		found += raw_number("%s", query);
	}
	mysql_free_result(columns);
	return found;
}

void pass_a_millisecond(void)
{
	struct id before = clock_id(), now;

	do
		now = clock_id();
	while (memcmp(now.bytes, before.bytes, ID_TIME_BYTES) <= 0);
}
