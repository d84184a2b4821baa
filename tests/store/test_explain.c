/* test_explain.c: how the server means to run every statement there is, beside some thousands of
 * rows: none walks a table that grows, and what is named by its id is looked for by its id. */
#include "testdb.h"

#include <stdio.h>

#define GROWN 5000
#define ID_A "X'00000000000000000000000000000001'"

static unsigned int faults;

static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void report(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	print_error("%s\n", line);
	faults++;
}

/* Walks that are meant, each with why that is cheap. `type` is EXPLAIN's. */
static const struct pardon {
	enum sql id;
	const char *table;
	const char *type;
	const char *why;
} pardons[] = {
	{ SQL_CONTRACTS_NAMED, "contracts", "ALL", "64 of 200" },
	{ SQL_OUTBOX_WANTED, "webhooks", "index", "64 of 50" },
	{ SQL_PURGE_ATTEMPTS, "attempts", "ALL",
	  "where there is anything to purge its statistics are older than that" },
	{ SQL_PROVIDER_IN_USE, "contracts", "*",
	  "one row for each name a contract ever had; for a deletion" },
	{ SQL_CERTIFICATE_LIST, "contracts", "*",
	  "one row for each name a contract ever had; an operator's list" },
	{ SQL_CERTIFICATE_SIZES, "contracts", "*", "the same" },
	{ SQL_CERTIFY_FIND, "certify_runs", "*",
	  "what is under way: one row for each route at most, gone with its verdict; in order "
	  "of the key and limited" },
	{ SQL_ASTRAY_FIND, "contract_routes", "index", "one row for each route there is" },
	{ SQL_ASTRAY_FIND, "providers or pollers", "*", "a small table" },
	{ SQL_TOKEN_LIST, "tokens", "index",
	  "the operator's list, in order of the key and limited" },
	{ SQL_CERTIFICATES_FOLLOW, "certificates", "*",
	  "of a few rows the server may rather read all; a change of a provider's row" },
	{ SQL_CERTIFICATES_DIE_BY_PROVIDER, "certificates", "*", "the same" },
	{ SQL_PROVIDER_LIST, "providers", "*", "a small table, in order of the key and limited" },
	{ SQL_PROVIDERS_NAMED, "providers or pollers", "index",
	  "a handful of rows here, whose names alone are read" },
	{ SQL_POLLER_BURY, "pollers", "*", "one row for each running poller" },
	{ SQL_VITALS, "pollers", "*", "one row for each running poller" },
	{ SQL_QUEUE_DUE, "providers or pollers", "*", "a small table; only for --once" },
	{ SQL_QUEUE_PROVIDERS, "providers or pollers", "*", "a small table" },
	{ SQL_WEBHOOK_LIST, "webhooks", "*", "in order of the key and limited" },
	{ SQL_VITALS_OUTBOX, "webhooks", "*",
	  "one row for each owner with an endpoint; the doctor's" },
	{ SQL_MIGRATION_LIST, "schema_migrations", "*", "one row for each migration" },
	{ SQL_MIGRATION_TABLE, "tables", "*", "the server's own dictionary" },
	{ SQL_VITALS_NODE, "global_status", "*", "the server's own" },
};

/* A literal for the question mark that follows `before`. */
static const char *literal_after(const char *before, size_t len)
{
	static const struct {
		const char *end, *literal;
	} rows[] = {
		{ "id < ", "X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'" },
		{ "id <= ", "X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'" },
		{ "id > ", "X'00000000000000000000000000000000'" },
		{ "id = ", ID_A },
		{ "id <> ", ID_A },
		{ " IN (", ID_A },
		{ "jobs.id, ", ID_A },
		{ "owner = ", "'1'" },
		{ "owner > ", "'5'" },
		{ "idempotency_key = ", "'1'" },
		{ "LIMIT ", "50" },
		{ "p.version = ", "1" },
		{ "version = ", "0" },
		{ "provider = ", "'press'" },
		{ "contract = ", "'press'" },
		{ "claimed_by = ", ID_A },
		{ "name = ", "'press'" },
		{ "name > ", "''" },
		{ "state = ", "'unknown'" },
		{ "INTERVAL ", "60" },
		{ "sha256 = ", "REPEAT('s', 32)" },
		{ "sha256 >= ", "REPEAT('s', 32)" },
		{ "sha256 <= ", "REPEAT('t', 32)" },
		{ "number = ", "1" },
		{ "attempt_count + ", "1" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		size_t end = strlen(rows[i].end);

		if (len >= end && memcmp(before + len - end, rows[i].end, end) == 0)
			return rows[i].literal;
	}
	return "NULL";
}

static const char *literal_of(unsigned int n)
{
	static char literal[64];

	snprintf(literal, sizeof literal, "X'%032X'", n);
	return literal;
}

/* The statement's text with its groups `times` times, at least twice, and a literal for each
 * question mark. */
static void spell(enum sql id, unsigned int times, char *out, size_t size)
{
	const char *open = NULL, *bar = NULL;
	unsigned int round = 1;
	struct text text;

	text_init(&text, size - 1);
	text_add_str(&text, "EXPLAIN ");
	for (const char *c = sql_text(id); *c; c++) {
		if (*c == '?') {
			text_add_str(&text, round > 1 && text.bytes[text.len - 2] == ','
						    ? literal_of(round)
						    : literal_after(text.bytes, text.len));
		} else if (*c == '{') {
			round = 1;
			open = c;
			bar = c = strchr(c, '|');
		} else if (*c == '}' && round < times) {
			round++;
			text_add(&text, open + 1, (size_t)(bar - open - 1));
			c = bar;
		} else if (*c != '}') {
			text_add(&text, c, 1);
		}
	}
	assert_true(text_ok(&text));
	snprintf(out, size, "%s", text.bytes);
	text_release(&text);
}

/* The table behind an alias of sql.c. */
static const char *table_of(enum sql id, const char *alias)
{
	if (strlen(alias) != 1)
		return alias;
	if (alias[0] == 'r' && id == SQL_ASTRAY_FIND)
		return "contract_routes";
	if (alias[0] == 'r' && id >= SQL_CERTIFY_ASK && id <= SQL_CERTIFY_RUNS)
		return "certify_runs";
	switch (alias[0]) {
	case 'e':
	case 'j': return "jobs";
	case 't': return "tokens";
	case 'p': return "providers or pollers";
	case 'w': return "webhooks";
	case 'c': return "certificates";
	case 'k': return "contracts";
	case 'v': return "contract_versions";
	default: return "attempts";
	}
}

static bool is_pardoned(enum sql id, const char *table, const char *type)
{
	for (size_t i = 0; i < ROWS(pardons); i++)
		if (pardons[i].id == id && strcmp(pardons[i].table, table) == 0 &&
		    (strcmp(pardons[i].type, type) == 0 || pardons[i].type[0] == '*'))
			return true;
	return false;
}

static bool is_of_the_claim(enum sql id)
{
	return (id >= SQL_QUEUE_PROVIDERS && id <= SQL_CLAIM_JOBS) || id == SQL_PROVIDER_CLAIM;
}

/* A statement that writes or locks what it names by id, whether or not its text has a hint that
 * says so. */
static bool must_go_by_id(enum sql id, const char *select_type)
{
	static const char *const names[] = { "WHERE id = ?", "WHERE id IN ({", "WHERE j.id IN ({",
					     "WHERE a.id IN ({", "ON jobs.id = d.job" };
	const char *text = sql_text(id);
	bool locks = strncmp(text, "UPDATE", 6) == 0 || strncmp(text, "DELETE", 6) == 0 ||
		     strstr(text, "FOR UPDATE");
	bool named = false;

	for (size_t i = 0; i < ROWS(names); i++)
		named = named || strstr(text, names[i]);
	return locks && named && !strstr(select_type, "SUBQUERY");
}

enum { SELECT_TYPE = 1, TABLE, TYPE, KEY = 5, EXTRA = 9 };

/* Whose own tables were looked at, and not found to hold nothing of the kind. */
static bool explained[SQL__MAX];

static void judge(const char *shape, enum sql id, MYSQL_ROW row)
{
	const char *type = row[TYPE] ? row[TYPE] : "", *extra = row[EXTRA] ? row[EXTRA] : "";
	const char *table = row[TABLE] ? table_of(id, row[TABLE]) : "";
	bool walks = strcmp(type, "ALL") == 0 ||
		     (strcmp(type, "index") == 0 && !strstr(extra, "group-by"));

	/* No table at all; a derived one, whose parts have rows of their own here; the target of
	 * VALUES, which is only written to. */
	explained[id] =
		explained[id] || (table[0] != '\0' && !strstr(row[SELECT_TYPE], "DEPENDENT"));
	if (table[0] == '\0' || table[0] == '<' || strcmp(row[SELECT_TYPE], "INSERT") == 0)
		return;
	if (walks && !is_pardoned(id, table, type))
		report("%s, %s: %s of %s by %s (%s)", shape, sql_name(id), type, table,
		       row[KEY] ? row[KEY] : "-", extra);
	if (is_of_the_claim(id) && (strstr(extra, "filesort") || strstr(extra, "temporary")))
		report("%s, %s: %s", shape, sql_name(id), extra);
	if (must_go_by_id(id, row[SELECT_TYPE]) && (!row[KEY] || strcmp(row[KEY], "PRIMARY") != 0))
		report("%s, %s: looks for %s by %s", shape, sql_name(id), table,
		       row[KEY] ? row[KEY] : "-");
}

static void explain_all(const char *shape, unsigned int times)
{
	static char text[256 << 10];

	faults = 0;
	for (int i = 0; i < SQL__MAX; i++) {
		spell((enum sql)i, times, text, sizeof text);
		if (mysql_query(here.raw, text) != 0)
			fail_msg("%s: %s", sql_name((enum sql)i), mysql_error(here.raw));
		MYSQL_RES *result = mysql_store_result(here.raw);
		MYSQL_ROW row;

		while ((row = mysql_fetch_row(result)))
			judge(shape, (enum sql)i, row);
		mysql_free_result(result);
	}
	assert_int_equal(faults, 0);
}

/* 200 contracts with ten versions each, of two routes, and three verdicts on each route; one of
 * them bears the name that literals name. Every other job is by contract. */
static void grow_contracts(void)
{
	raw_run(here.raw, "INSERT INTO contracts SELECT IF(seq = 1, 'press', CONCAT('c', seq)), "
			  "IF(seq = 1, 0, 9), seq MOD 20 > 0, 'press', NOW(6), NOW(6) FROM "
			  "seq_1_to_200");
	raw_run(here.raw,
		"INSERT INTO contract_versions SELECT c.name, v.seq, '{}', 'stop', 'stop', 'stop', "
		"'stop', NOW(6) FROM contracts c JOIN seq_0_to_9 v");
	raw_run(here.raw, "INSERT INTO contract_routes SELECT v.name, v.version, p.seq, ELT(1 + "
			  "p.seq, 'press', 'second') FROM contract_versions v JOIN seq_0_to_1 p");
	raw_run(here.raw,
		"INSERT INTO certificates (id, contract, contract_version, provider, "
		"provider_version, rule_version, subject, passed, rounds, report, issued_at, "
		"expires_at, died_at, superseded_at) SELECT UNHEX(LPAD(HEX(ROW_NUMBER() OVER "
		"(ORDER BY r.name)), 32, '0')), r.name, r.version, r.provider, 1, 1, REPEAT('s', "
		"32), 1, 3, '[]', NOW(6), NOW(6) + INTERVAL 7 DAY, IF(r.version < 9, NOW(6), "
		"NULL), IF(n.seq < 3, NOW(6), NULL) FROM contract_routes r JOIN seq_1_to_3 n");
	raw_run(here.raw,
		"INSERT INTO certify_runs SELECT UNHEX(LPAD(HEX(ROW_NUMBER() OVER (ORDER BY "
		"name)), 32, '0')), name, version, 'press', " ID_A ", 0, 3, NOW(6) FROM contracts "
		"WHERE live = 1");
	raw_run(here.raw, "UPDATE jobs SET contract = CONCAT('c', owner), contract_version = 9 "
			  "WHERE MOD(owner, 2)");
}

static void grow(const char *job_states, const char *attempt_states)
{
	raw_run(here.raw,
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, "
		"next_provider, input, state, version, "
		"max_attempts, attempts_allowed, attempt_count, run_after, created_at, updated_at) "
		"SELECT UNHEX(LPAD(HEX(seq), 32, "
		"'0')), seq MOD 50, seq, REPEAT('f', 32), 'press', IF(seq MOD 3, 'press', "
		"'second'), '{}', ELT(%s), 0, 3, 3, 1, "
		"NOW(6) - INTERVAL seq SECOND, NOW(6) - INTERVAL seq SECOND, NOW(6) - INTERVAL seq "
		"SECOND FROM seq_1_to_%d",
		job_states, GROWN);
	raw_run(here.raw,
		"INSERT INTO attempts (id, job_id, number, provider, provider_version, generation, "
		"state, version_read, "
		"started_at) SELECT UNHEX(LPAD(HEX(seq), 32, '0')), UNHEX(LPAD(HEX(seq), 32, "
		"'0')), 1, 'press', 1, 0, ELT(%s), 0, "
		"NOW(6) FROM seq_1_to_%d",
		attempt_states, GROWN);
	raw_run(here.raw, "INSERT INTO races SELECT id, job_id, id, NULL, 'lost_swap', REPEAT('s', "
			  "32), 1, NOW(6) FROM attempts");
	raw_run(here.raw, "INSERT INTO tokens SELECT UNHEX(SHA2(seq, 256)), seq, 'user', NOW(6), "
			  "NULL FROM seq_1_to_1000");
	raw_run(here.raw, "INSERT INTO tokens VALUES (REPEAT('s', 32), '1', 'user', NOW(6), NULL)");
	raw_run(here.raw, "INSERT INTO pollers SELECT UNHEX(LPAD(HEX(seq), 32, '0')), 'h', 1, "
			  "NOW(6), NOW(6) + INTERVAL 60 SECOND "
			  "FROM seq_1_to_20");
	raw_run(here.raw,
		"INSERT INTO outbox (id, job_id, owner, type, idempotency_key, state, version, "
		"next_at, created_at) SELECT id, id, owner, 'job.failed', 'k', 'failed', 1, "
		"IF(turn MOD 2, NOW(6), NULL), NOW(6) FROM (SELECT id, owner, "
		"CAST(idempotency_key AS UNSIGNED) AS turn FROM jobs) g");
	raw_run(here.raw, "INSERT INTO webhooks (owner, url, secrets, enabled, created_at, "
			  "updated_at) SELECT "
			  "seq, 'http://h/', '[]', 1, NOW(6), NOW(6) FROM seq_0_to_49");
	raw_run(here.raw, "INSERT INTO counters SELECT IF(seq = 1, 'races', seq), seq FROM "
			  "seq_1_to_1000");
	provider_new("second", 64);
	grow_contracts();
	raw_run(here.raw, "ANALYZE TABLE outbox, webhooks, jobs, attempts, races, tokens, pollers, "
			  "providers, "
			  "contracts, contract_versions, contract_routes, certificates, "
			  "certify_runs, counters");
}

static void no_statement_walks_a_table_while_work_piles_up(void **state)
{
	(void)state;
	grow("1 + seq MOD 6, 'queued', 'running', 'unknown', 'succeeded', 'failed', 'cancelled'",
	     "1 + seq MOD 8, 'starting', 'running', 'unknown', 'released', 'succeeded', 'failed', "
	     "'cancelled', 'discarded'");
	explain_all("piled up", 2);
}

/* Where hardly anything is open, the index over states looks best to the optimizer, whatever is
 * named. */
static void no_statement_goes_by_state_where_it_names_a_row(void **state)
{
	(void)state;
	grow("IF(seq < 4, seq, 4), 'queued', 'running', 'unknown', 'succeeded'",
	     "IF(seq < 5, seq, 5), 'starting', 'running', 'unknown', 'released', 'succeeded'");
	explain_all("quiet", 2);
}

static void a_flooded_queue_is_claimed_without_sorting(void **state)
{
	(void)state;
	grow("1, 'queued'", "1, 'failed'");
	explain_all("flooded", 2);
}

/* So it is at first, and until the server makes its statistics anew the optimizer takes a table
 * that has grown to thousands since to hold nothing: it would rather read all of it, once for a
 * statement, than look each row up. */
static void no_statement_walks_a_table_that_is_taken_to_be_empty(void **state)
{
	(void)state;
	grow("1 + seq MOD 6, 'queued', 'running', 'unknown', 'succeeded', 'failed', 'cancelled'",
	     "1, 'failed'");
	raw_run(here.raw, "TRUNCATE attempts");
	explain_all("no attempts", 64);
	raw_run(here.raw, "TRUNCATE jobs");
	explain_all("no jobs", 64);
}

static void every_statement_about_contracts_meets_rows_here(void **state)
{
	(void)state;
	memset(explained, 0, sizeof explained);
	grow("1, 'queued'", "1, 'failed'");
	explain_all("flooded", 2);
	for (int i = 0; i < SQL__MAX; i++)
		if (!explained[i] && ((i >= SQL_CONTRACT_LOCK && i <= SQL_CERTIFY_RUNS) ||
				      i == SQL_CONTRACT_JOB_CREATE_BY_TOKEN ||
				      i == SQL_CONTRACT_JOB_CREATE_BY_OWNER ||
				      i == SQL_CONTRACT_JOB_CREATE_BY_TOKEN_ONCE ||
				      i == SQL_CONTRACT_JOB_CREATE_BY_OWNER_ONCE))
			fail_msg("%s", sql_name((enum sql)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_statement_walks_a_table_while_work_piles_up),
		TEST(no_statement_goes_by_state_where_it_names_a_row),
		TEST(a_flooded_queue_is_claimed_without_sorting),
		TEST(no_statement_walks_a_table_that_is_taken_to_be_empty),
		TEST(every_statement_about_contracts_meets_rows_here),
	};

	return cmocka_run_group_tests_name("explain", tests, testdb_open, testdb_close);
}
