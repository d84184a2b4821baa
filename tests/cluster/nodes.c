#include "nodes.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS_MIN 8
#define ROUNDS_MAX 400
#define CONFLICTS_MIN 4

size_t nodes_len;

static MYSQL *raws[NODES_MAX];

static const char *file_of(size_t node, const char *kind)
{
	static char files[NODES_MAX][2][256];
	char *file = files[node][kind[0] == 'r'];

	snprintf(file, sizeof files[0][0], "%s/n%zu.%s.cnf", getenv("ONEJOB_TEST_CLUSTER"),
		 node + 1, kind);
	return file;
}

struct db *node_db(size_t node)
{
	struct db *db = db_new(file_of(node, "onejob"));

	assert_non_null(db);
	assert_int_equal(db_ready(db), RC_OK);
	assert_true(db_in_cluster(db));
	return db;
}

MYSQL *node_raw(size_t node)
{
	return raws[node];
}

static MYSQL *connect_raw(size_t node)
{
	MYSQL *mysql = mysql_init(NULL);

	assert_non_null(mysql);
	mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, file_of(node, "root"));
	mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "client");
	if (!mysql_real_connect(mysql, NULL, NULL, NULL, "onejob", 0, NULL, 0))
		fail_msg("connect: %s", mysql_error(mysql));
	raw_run(mysql, "SET time_zone = '+00:00'");
	return mysql;
}

struct crew_lags crew_lags;

struct db *node_of_member(size_t index)
{
	struct db *db = node_db(index % 2);

	assert_int_equal(db_catch_up(db), RC_OK); /* so that its first transaction needn't */
	if (crew_lags.lags && index == 1)
		nodes_lag(!crew_lags.node, 1500);
	return db;
}

int nodes_open(void **state)
{
	if (!getenv("ONEJOB_TEST_CLUSTER") || testdb_open(state) != 0)
		return -1;
	nodes_len = strtoul(getenv("ONEJOB_TEST_NODES"), NULL, 10);
	for (size_t i = 0; i < nodes_len; i++)
		raws[i] = connect_raw(i);
	raw_run(here.raw, "SET SESSION wsrep_sync_wait = 15");
	crew_connect = node_of_member;
	return 0;
}

int nodes_close(void **state)
{
	for (size_t i = 0; i < nodes_len; i++)
		mysql_close(raws[i]);
	return testdb_close(state);
}

static uint64_t number_of(MYSQL *mysql, const char *query)
{
	if (mysql_query(mysql, query) != 0)
		fail_msg("%s: %s", query, mysql_error(mysql));
	MYSQL_RES *result = mysql_store_result(mysql);
	MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;

	if (!row)
		fail_msg("no row: %s", query);
	uint64_t number = row[0] ? strtoull(row[0], NULL, 10) : 0;

	mysql_free_result(result);
	return number;
}

uint64_t node_number(MYSQL *mysql, const char *format, ...)
{
	char query[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(query, sizeof query, format, args);
	va_end(args);
	return number_of(mysql, query);
}

uint64_t nodes_conflicts(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nodes_len; i++)
		sum += number_of(raws[i],
				 "SELECT SUM(variable_value) FROM information_schema.global_status "
				 "WHERE variable_name IN ('wsrep_local_cert_failures', "
				 "'wsrep_local_bf_aborts')");
	return sum;
}

void nodes_until_they_met(void (*round)(unsigned int n))
{
	uint64_t before = nodes_conflicts(), met = 0;
	unsigned int n = 0;

	while (n < ROUNDS_MIN || (met < CONFLICTS_MIN && n < ROUNDS_MAX)) {
		round(n++);
		met = nodes_conflicts() - before;
	}
	crew_lags.lags = false;
	if (met < CONFLICTS_MIN)
		fail_msg("%u rounds, and only %u conflicts", n, (unsigned int)met);
}

uint64_t node_sees(struct db *db, const char *query)
{
	return number_of(db->mysql, query);
}

void nodes_lag(size_t a, uint32_t rows)
{
	raw_run(raws[a], "CREATE TABLE IF NOT EXISTS lag (id BINARY(16) PRIMARY KEY, filler "
			 "VARCHAR(500), KEY (filler(200)))");
	raw_run(raws[a],
		"INSERT INTO lag SELECT UNHEX(MD5(CONCAT(UUID(), seq))), REPEAT(MD5(RAND()), 8) "
		"FROM "
		"seq_1_to_%u",
		rows);
}
