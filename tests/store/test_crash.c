/* test_crash.c: the server is killed while it works, and comes back: nothing acknowledged is lost,
 * nothing doubled. */
#include "testdb.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define WRITERS 4
#define KEYS_MAX 20000

static struct {
	char cmdline[8192];
	char *argv[64];
	pid_t pid;
	bool ours;
} server;

static void read_command_line(void)
{
	char path[64];
	size_t argc = 0;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)server.pid);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	size_t len = fread(server.cmdline, 1, sizeof server.cmdline - 1, file);

	fclose(file);
	for (size_t at = 0; at < len && argc < ROWS(server.argv) - 1;
	     at += strlen(server.cmdline + at) + 1)
		server.argv[argc++] = server.cmdline + at;
	assert_true(argc > 3);
}

static int open_durable(void **state)
{
	if (testdb_open(state) != 0 || !getenv("ONEJOB_TEST_MARIADBD"))
		return -1;
	raw_run(here.raw, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
	server.pid = (pid_t)atoi(getenv("ONEJOB_TEST_MARIADBD"));
	read_command_line();
	return 0;
}

static void kill_server(void)
{
	assert_int_equal(kill(server.pid, SIGKILL), 0);
	if (server.ours)
		waitpid(server.pid, NULL, 0);
	mysql_close(here.raw);
	here.raw = NULL;
}

static void start_server(void)
{
	server.pid = fork();
	if (server.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
			execvp(server.argv[0], server.argv);
		_exit(127);
	}
	server.ours = true;
	struct db *db = db_new(getenv("ONEJOB_DEFAULTS_FILE"));

	for (int i = 0; i < 600 && db_ready(db) != RC_OK; i++)
		poll(NULL, 0, 50);
	assert_int_equal(db_ready(db), RC_OK);
	db_free(db);
	here.raw = testdb_raw();
}

static int close_server(void **state)
{
	testdb_close(state);
	if (server.ours) {
		kill(server.pid, SIGTERM);
		waitpid(server.pid, NULL, 0);
	}
	return 0;
}

/* Each writer's creates and what it was told. */
struct writers {
	atomic_bool over;
	atomic_uint acknowledged;
	struct {
		unsigned int asked;
		struct id told[KEYS_MAX]; /* all zero: no answer that counts */
	} of[WRITERS];
};

static void write_jobs(struct db *db, size_t index, void *arg)
{
	struct writers *writers = arg;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;
	char key[32];

	while (!writers->over && writers->of[index].asked < KEYS_MAX) {
		unsigned int n = writers->of[index].asked++;

		snprintf(key, sizeof key, "w%zu-%u", index, n);
		if (create(db, &ann, key, &intent, &job) == CREATED_NEW) {
			writers->of[index].told[n] = job.id;
			writers->acknowledged++;
		}
		job_release(&job);
	}
}

static void look_after(const struct writers *writers, size_t w)
{
	static const struct id none;
	struct caller ann = caller_with("ann-token");
	struct intent intent = intent_of("press", "{}");
	struct job job;
	char key[32];

	for (unsigned int n = 0; n < writers->of[w].asked; n++) {
		const struct id *told = &writers->of[w].told[n];

		snprintf(key, sizeof key, "w%zu-%u", w, n);
		enum created created = create(here.db, &ann, key, &intent, &job);

		if (!id_equal(told, &none) &&
		    (created != CREATED_REPLAYED || !id_equal(&job.id, told)))
			fail_msg("%s was acknowledged and is lost: %d", key, (int)created);
		if (created != CREATED_REPLAYED && created != CREATED_NEW)
			fail_msg("%s: %d", key, (int)created);
		job_release(&job);
	}
}

static void r12_what_was_acknowledged_outlives_kill_9(void **state)
{
	struct writers *writers = calloc(1, sizeof *writers);
	unsigned int asked = 0;

	(void)state;
	assert_non_null(writers);
	struct crew *crew = crew_start(WRITERS, write_jobs, writers);

	while (writers->acknowledged < 300)
		poll(NULL, 0, 1);
	kill_server();
	writers->over = true;
	crew_join(crew);
	start_server();
	for (size_t w = 0; w < WRITERS; w++) {
		look_after(writers, w);
		asked += writers->of[w].asked;
	}
	assert_int_equal(raw_number("SELECT COUNT(*) FROM jobs"), asked);
	free(writers);
}

static void r12_a_result_and_a_claim_outlive_kill_9(void **state)
{
	struct id done = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 }),
		  queued = job_new((struct a_job){ 0 });
	struct id attempt = attempt_new(
			  (struct an_attempt){ .job = &done, .state = ATTEMPT_STARTING }),
		  poller = poller_new();
	struct claim_cursor *cursor = calloc(1, sizeof *cursor);
	struct taken *taken = malloc(sizeof *taken);
	size_t reaped;

	(void)state;
	assert_true(cursor && taken);
	assert_int_equal(say(result_of(&attempt, "\"kept\"")), SETTLED_MADE);
	take(here.db, &poller, 4, cursor, taken);
	assert_int_equal(taken->len, 1);
	kill_server();
	start_server();
	job_is(&done, "succeeded", 1);
	attempt_is(&attempt, "succeeded");
	assert_string_equal(raw_text("SELECT result FROM jobs WHERE id = %s", x(&done)),
			    "\"kept\"");
	attempt_is(&taken->claims[0].attempt_id, "starting");
	job_is(&queued, "running", 0);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
	assert_int_equal(claim_reap(here.db, &reaped), RC_OK);
	job_is(&queued, "unknown", 0); /* and is not sent again */
	free(cursor);
	free(taken);
}

static void b10_without_a_server_nothing_is_claimed_and_nothing_is_said_to_be_absent(void **state)
{
	struct id job = job_new((struct a_job){ 0 }), poller = poller_new(), attempt = clock_id();
	struct caller ann = caller_with("ann-token");
	struct identity who = user_named("ann");
	struct intent intent = intent_of("press", "{}");
	struct claim_cursor *cursor = calloc(1, sizeof *cursor);
	struct taken *taken = malloc(sizeof *taken);
	struct word word = result_of(&attempt, "1");
	enum settled verdict;
	struct job got;
	enum rc rc;

	(void)state;
	assert_true(cursor && taken);
	kill_server();
	assert_int_equal(create(here.db, &ann, "k", &intent, &got), CREATED_NOT_STORED);
	assert_int_equal(job_store_get(here.db, &ann, &job, &got), RC_RETRY);
	assert_int_equal(job_store_cancel(here.db, &who, &job, NULL, &got), CHANGED_NOT_STORED);
	take(here.db, &poller, 4, cursor, taken);
	assert_int_equal(taken->rc, RC_RETRY);
	rc = settle_words(here.db, &word, 1, &verdict);
	assert_int_equal(rc, RC_RETRY);
	start_server();
	job_is(&job, "queued", 0);
	take(here.db, &poller, 4, cursor, taken);
	assert_int_equal(taken->len, 1);
	assert_int_equal(create(here.db, &ann, "k", &intent, &got),
			 CREATED_NEW); /* its key was not used up */
	job_release(&got);
	free(cursor);
	free(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(r12_what_was_acknowledged_outlives_kill_9),
		TEST(r12_a_result_and_a_claim_outlive_kill_9),
		TEST(b10_without_a_server_nothing_is_claimed_and_nothing_is_said_to_be_absent),
	};

	return cmocka_run_group_tests_name("crash", tests, open_durable, close_server);
}
