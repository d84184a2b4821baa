/* limit_db.c: what the database alone takes: the row of a create, inserted by a prepared statement
 * over and over on so many connections, a thread each, without HTTP and without a look at token,
 * provider or intent.
 *
 *	limit-db OPTION_FILE DATABASE CONNECTIONS SECONDS INPUT_BYTES
 *
 * DATABASE has a table `jobs` like the product's. The account is that of the option file's group
 * [onejob]. Prints a line as wrk's scripts do:
 *
 *	cell	REQUESTS	MICROSECONDS	P50_US	P99_US	STATUSES
 *
 * Percentiles are corrected as wrk corrects its own, so that they can stand beside them: see
 * correct(). */
#include <mysql.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 1024,
	SECONDS_MAX = 3600,
	INPUT_BYTES_MAX = 8 << 20,
	LATENCY_US_MAX = 10000000,
	ID_BYTES = 16,
	HASH_BYTES = 32,
	PARAMETERS = 4,
};

static const char insert[] =
	"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, next_provider, "
	"input, "
	"metadata, state, max_attempts, attempts_allowed, run_after, created_at, updated_at) "
	"VALUES "
	"(?, 'load', ?, ?, 'load', 'load', ?, NULL, 'queued', 3, 3, NOW(6), NOW(6), NOW(6))";

struct orders {
	const char *option_file;
	const char *database;
	unsigned int connections;
	unsigned int seconds;
	size_t input_bytes;
	char *input;
	pthread_barrier_t ready;
	atomic_bool over;
};

struct client {
	struct orders *orders;
	pthread_t thread;
	unsigned int number;
	uint64_t random;
	uint32_t *latencies_us;
	size_t len;
	size_t size;
};

static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("limit-db: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(EXIT_FAILURE);
}

static uint64_t clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* xorshift64*: ids must differ, nothing more. */
static uint64_t next_random(struct client *client)
{
	uint64_t x = client->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	client->random = x;
	return x * UINT64_C(2685821657736338717);
}

/* In the order of time, like the ids of jobs. */
static void make_id(struct client *client, unsigned char *id)
{
	uint64_t ms = clock_us(CLOCK_REALTIME) / 1000, tail[2] = { 0 };

	tail[0] = next_random(client);
	tail[1] = next_random(client);
	for (int i = 0; i < 6; i++)
		id[i] = (unsigned char)(ms >> (40 - 8 * i));
	memcpy(id + 6, tail, ID_BYTES - 6);
	id[6] = 0x70 | (id[6] & 0x0f);
	id[8] = 0x80 | (id[8] & 0x3f);
}

static void note_latency(struct client *client, uint64_t us)
{
	if (client->len == client->size) {
		client->size = client->size ? 2 * client->size : 4096;
		client->latencies_us =
			realloc(client->latencies_us, client->size * sizeof(uint32_t));
		if (!client->latencies_us)
			fail("no memory");
	}
	client->latencies_us[client->len++] =
		us < LATENCY_US_MAX ? (uint32_t)us : LATENCY_US_MAX - 1;
}

static MYSQL *connect_to_database(const struct orders *orders)
{
	MYSQL *mysql = mysql_init(NULL);

	if (!mysql)
		fail("no memory");
	mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, orders->option_file);
	mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "onejob");
	if (!mysql_real_connect(mysql, NULL, NULL, NULL, orders->database, 0, NULL, 0))
		fail("connect: %s", mysql_error(mysql));
	return mysql;
}

static MYSQL_STMT *prepare(MYSQL *mysql)
{
	MYSQL_STMT *statement = mysql_stmt_init(mysql);

	if (!statement || mysql_stmt_prepare(statement, insert, sizeof insert - 1) != 0)
		fail("prepare: %s", mysql_error(mysql));
	return statement;
}

static void bind_bytes(MYSQL_BIND *bind, void *bytes, unsigned long *len)
{
	bind->buffer_type = MYSQL_TYPE_BLOB;
	bind->buffer = bytes;
	bind->buffer_length = *len;
	bind->length = len;
}

static void insert_until_over(struct client *client, MYSQL_STMT *statement)
{
	struct orders *orders = client->orders;
	unsigned char id[ID_BYTES], hash[HASH_BYTES] = { 0 };
	char key[64];
	unsigned long id_len = sizeof id, key_len = sizeof key, hash_len = sizeof hash,
		      input_len = orders->input_bytes;
	MYSQL_BIND binds[PARAMETERS] = { 0 };

	bind_bytes(&binds[0], id, &id_len);
	bind_bytes(&binds[1], key, &key_len);
	bind_bytes(&binds[2], hash, &hash_len);
	bind_bytes(&binds[3], orders->input, &input_len);
	if (mysql_stmt_bind_param(statement, binds) != 0)
		fail("bind: %s", mysql_stmt_error(statement));
	for (uint64_t i = 0; !atomic_load_explicit(&orders->over, memory_order_relaxed); i++) {
		make_id(client, id);
		key_len = (unsigned long)snprintf(key, sizeof key, "%ld-%u-%" PRIu64,
						  (long)getpid(), client->number, i);
		uint64_t began_us = clock_us(CLOCK_MONOTONIC);

		if (mysql_stmt_execute(statement) != 0)
			fail("insert: %s", mysql_stmt_error(statement));
		note_latency(client, clock_us(CLOCK_MONOTONIC) - began_us);
	}
}

static void *run_client(void *arg)
{
	struct client *client = arg;
	MYSQL *mysql = connect_to_database(client->orders);
	MYSQL_STMT *statement = prepare(mysql);

	pthread_barrier_wait(&client->orders->ready);
	insert_until_over(client, statement);
	mysql_stmt_close(statement);
	mysql_close(mysql);
	mysql_thread_end();
	return NULL;
}

/* A request that took several times as long as the mean hid those that a steady client would have
 * sent meanwhile: they are added, each a mean interval shorter than the one before. */
static uint64_t correct(uint64_t *histogram, uint64_t interval_us)
{
	uint64_t total = 0;

	for (uint64_t us = 2 * interval_us; interval_us > 0 && us < LATENCY_US_MAX; us++)
		for (uint64_t less = us - interval_us; histogram[us] > 0 && less > interval_us;
		     less -= interval_us)
			histogram[less] += histogram[us];
	for (uint64_t us = 0; us < LATENCY_US_MAX; us++)
		total += histogram[us];
	return total;
}

static uint64_t percentile(const uint64_t *histogram, uint64_t total, unsigned int percent)
{
	uint64_t seen = 0, us = 0;

	for (; us < LATENCY_US_MAX; us++) {
		seen += histogram[us];
		if (seen * 100 >= total * percent)
			break;
	}
	return us;
}

static void report(const struct client *clients, const struct orders *orders, uint64_t took_us)
{
	uint64_t *histogram = calloc(LATENCY_US_MAX, sizeof *histogram), requests = 0;

	if (!histogram)
		fail("no memory");
	for (unsigned int i = 0; i < orders->connections; i++) {
		requests += clients[i].len;
		for (size_t k = 0; k < clients[i].len; k++)
			histogram[clients[i].latencies_us[k]]++;
	}
	uint64_t each = requests / orders->connections;
	uint64_t total = correct(histogram, each > 0 ? took_us / each : 0);

	printf("cell\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\tok=%" PRIu64 "\n",
	       requests, took_us, percentile(histogram, total, 50),
	       percentile(histogram, total, 99), requests);
	free(histogram);
}

static unsigned long read_number(const char *name, const char *text, unsigned long min,
				 unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < min || number > max)
		fail("%s goes from %lu to %lu, not '%s'", name, min, max, text);
	return number;
}

static void read_orders(char **argv, struct orders *orders)
{
	orders->option_file = argv[1];
	orders->database = argv[2];
	orders->connections = (unsigned int)read_number("CONNECTIONS", argv[3], 1, CONNECTIONS_MAX);
	orders->seconds = (unsigned int)read_number("SECONDS", argv[4], 1, SECONDS_MAX);
	orders->input_bytes = read_number("INPUT_BYTES", argv[5], 2, INPUT_BYTES_MAX);
	orders->input = malloc(orders->input_bytes);
	if (!orders->input)
		fail("no memory");
	memset(orders->input, 'x', orders->input_bytes);
	orders->input[0] = orders->input[orders->input_bytes - 1] = '"';
	pthread_barrier_init(&orders->ready, NULL, orders->connections + 1);
	atomic_init(&orders->over, false);
}

static struct client *start_clients(struct orders *orders)
{
	struct client *clients = calloc(orders->connections, sizeof *clients);

	if (!clients)
		fail("no memory");
	for (unsigned int i = 0; i < orders->connections; i++) {
		clients[i] = (struct client){ .orders = orders, .number = i };
		if (getrandom(&clients[i].random, sizeof clients[i].random, 0) < 0)
			fail("no randomness");
		clients[i].random |= 1;
		if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
			fail("a thread can't be started");
	}
	return clients;
}

int main(int argc, char **argv)
{
	struct orders orders;

	if (argc != 6) {
		fputs("usage: limit-db OPTION_FILE DATABASE CONNECTIONS SECONDS INPUT_BYTES\n",
		      stderr);
		return 2;
	}
	read_orders(argv, &orders);
	if (mysql_library_init(0, NULL, NULL) != 0)
		fail("the client library can't be set up");
	struct client *clients = start_clients(&orders);

	pthread_barrier_wait(&orders.ready);
	uint64_t began_us = clock_us(CLOCK_MONOTONIC);

	sleep(orders.seconds);
	atomic_store(&orders.over, true);
	for (unsigned int i = 0; i < orders.connections; i++)
		pthread_join(clients[i].thread, NULL);
	report(clients, &orders, clock_us(CLOCK_MONOTONIC) - began_us);
	for (unsigned int i = 0; i < orders.connections; i++)
		free(clients[i].latencies_us);
	free(clients);
	free(orders.input);
	mysql_library_end();
	return EXIT_SUCCESS;
}
