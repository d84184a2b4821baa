/* test_outbox.c: messages to owners' endpoints, from the job's change to their end. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/outbox_take.h"
#include "store/vitals.h"
#include "store/webhook_store.h"

#define URL "https://ann.example/hooks"
#define WAITING "SELECT COUNT(*) FROM outbox WHERE next_at IS NOT NULL"
#define PARKED "SELECT COUNT(*) FROM outbox WHERE next_at IS NULL"

static bool put(const char *owner, const char *url)
{
	char *secrets[] = { (char *)(uintptr_t) "${file:/etc/onejob/whsec}",
			    (char *)(uintptr_t) "${env:OLD}" };
	struct webhook_def def = { .url = (char *)(uintptr_t)url,
				   .secrets = { secrets[0], secrets[1] },
				   .secrets_len = 2 };
	bool is_new = false;

	assert_int_equal(webhook_store_put(here.db, owner, strlen(owner), &def, &is_new), RC_OK);
	return is_new;
}

static enum rc add(struct db *db, void *arg)
{
	return outbox_add(db, arg);
}

/* Ann's endpoint comes first. RC_NOT_FOUND: she has none. */
static enum rc anns(struct webhook_row *row_out)
{
	struct webhook_row *rows;
	bool more;
	size_t len;
	enum rc rc = webhook_store_list(here.db, "", 0, 1, &rows, &len, &more);

	*row_out = (struct webhook_row){ 0 };
	if (rc != RC_OK)
		return rc;
	if (len == 1 && rows[0].owner_len == 3 && memcmp(rows[0].owner, "ann", 3) == 0) {
		*row_out = rows[0];
		free(rows);
		return RC_OK;
	}
	webhook_list_free(rows, len);
	return RC_NOT_FOUND;
}

static void tell(const struct id *job)
{
	assert_int_equal(db_transact(here.db, add, (void *)(uintptr_t)job), RC_OK);
}

static struct id told_job(const char *owner)
{
	struct id job =
		job_new((struct a_job){ .owner = owner, .state = JOB_SUCCEEDED, .version = 1 });

	tell(&job);
	return job;
}

static struct outbox_list take_by(struct outbox_turns *turns, size_t max)
{
	struct outbox_list messages;

	assert_int_equal(outbox_take(here.db, max, turns, &messages), RC_OK);
	return messages;
}

/* By a poller that has nothing in hand. */
static struct outbox_list take_all(size_t max)
{
	struct outbox_turns turns = { 0 };

	return take_by(&turns, max);
}

static void nobody_is_due(void)
{
	struct outbox_list messages = take_all(OUTBOX_MAX);

	assert_int_equal(messages.len, 0);
	outbox_list_free(&messages);
}

static void make_due(void)
{
	raw_run(here.raw, "UPDATE outbox SET next_at = UTC_TIMESTAMP(6) WHERE next_at IS NOT NULL");
}

static void a_message_is_written_for_the_states_that_are_told(void **state)
{
	(void)state;
	put("ann", URL);
	for (int s = 0; s < JOB_STATE__MAX; s++) {
		struct id job = job_new((struct a_job){ .state = (enum job_state)s, .version = 7 });
		const char *name = job_state_name((enum job_state)s);
		char want[64] = "";

		if (s == JOB_SUCCEEDED || s == JOB_FAILED || s == JOB_CANCELLED || s == JOB_UNKNOWN)
			snprintf(want, sizeof want, "job.%s %s 7 ann", name, name);
		tell(&job);
		const char *got = raw_text("SELECT COALESCE(MAX(CONCAT(type, ' ', state, ' ', "
					   "version, ' ', owner)), '') FROM outbox "
					   "WHERE job_id = %s",
					   x(&job));

		if (strcmp(got, want) != 0)
			fail_msg("%s: %s", name, got);
	}
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox o JOIN jobs j ON j.id = o.job_id "
				    "WHERE o.created_at = "
				    "j.updated_at AND o.idempotency_key = j.idempotency_key AND "
				    "o.tries = 0 AND "
				    "o.next_at <= UTC_TIMESTAMP(6)"),
			 4);
}

static void nothing_is_written_where_nobody_listens(void **state)
{
	(void)state;
	told_job("ann");
	put("ann", URL);
	put("Ann ", URL);
	told_job("ANN");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 0);
	told_job("Ann ");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 1);
}

static void what_happens_while_an_endpoint_is_disabled_is_told_once_it_is_enabled(void **state)
{
	(void)state;
	put("bob", URL);
	raw_run(here.raw, "UPDATE webhooks SET enabled = 0");
	told_job("bob");
	nobody_is_due();
	assert_int_equal(raw_number(PARKED), 1);
	assert_int_equal(webhook_store_enable(here.db, "bob", 3), RC_OK);
	struct outbox_list messages = take_all(1);

	assert_int_equal(messages.len, 1);
	outbox_list_free(&messages);
}

static enum rc add_and_fail(struct db *db, void *arg)
{
	enum rc rc = outbox_add(db, arg);

	return rc == RC_OK ? RC_CONFLICT : rc;
}

static void a_change_that_is_rolled_back_tells_nobody(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_FAILED });

	(void)state;
	put("ann", URL);
	assert_int_equal(db_transact(here.db, add_and_fail, &job), RC_CONFLICT);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 0);
}

static void a_message_is_told_as_it_was_then(void **state)
{
	struct id job =
		job_new((struct a_job){ .key = "k \"1\"",
					.state = JOB_UNKNOWN,
					.version = 3,
					.more = "updated_at = '2026-12-01 22:40:47.123456'" });

	(void)state;
	put("ann", URL);
	tell(&job);
	raw_run(here.raw,
		"UPDATE jobs SET state = 'succeeded', version = 4, updated_at = UTC_TIMESTAMP(6)");
	struct outbox_list messages = take_all(OUTBOX_MAX);

	assert_int_equal(messages.len, 1);
	const struct outbox_message *message = &messages.list[0];

	assert_true(id_equal(&message->event.job_id, &job));
	assert_string_equal(message->event.type, "job.unknown");
	assert_int_equal(message->event.state, JOB_UNKNOWN);
	assert_int_equal(message->event.version, 3);
	assert_true(message->event.at_us == INT64_C(1796164847123456));
	assert_int_equal(message->event.key_len, 5);
	assert_memory_equal(message->event.key, "k \"1\"", 5);
	assert_int_equal(message->owner_len, 3);
	assert_memory_equal(message->owner, "ann", 3);
	assert_int_equal(message->tries, 1);
	assert_string_equal(message->def.url, URL);
	assert_int_equal(message->def.secrets_len, 2);
	assert_string_equal(message->def.secrets[0], "${file:/etc/onejob/whsec}");
	assert_string_equal(message->def.secrets[1], "${env:OLD}");
	outbox_list_free(&messages);
}

static void who_has_taken_a_message_holds_it_for_a_while(void **state)
{
	struct vitals vitals;

	(void)state;
	put("ann", URL);
	told_job("ann");
	struct outbox_list first = take_all(OUTBOX_MAX);

	assert_int_equal(first.len, 1);
	nobody_is_due();
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE next_at BETWEEN "
				    "UTC_TIMESTAMP(6) + INTERVAL 50 SECOND AND "
				    "UTC_TIMESTAMP(6) + INTERVAL 60 SECOND"),
			 1);
	make_due();
	struct outbox_list second = take_all(OUTBOX_MAX);

	assert_int_equal(second.len, 1);
	assert_true(id_equal(&first.list[0].event.id, &second.list[0].event.id));
	assert_int_equal(second.list[0].tries, 2);
	/* The first one's word comes too late; the second's counts. */
	assert_int_equal(outbox_failed(here.db, &first.list[0], "late", -1), RC_OK);
	assert_int_equal(raw_number(WAITING), 1);
	assert_int_equal(outbox_failed(here.db, &second.list[0], "it answered 503", 30000), RC_OK);
	assert_int_equal(vitals_read(here.db, &vitals), RC_OK);
	assert_int_equal(vitals.messages_failing, 1);
	assert_string_equal(vitals.failing_answer, "it answered 503");
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE last_answer = 'it answered "
				    "503' AND next_at BETWEEN "
				    "UTC_TIMESTAMP(6) + INTERVAL 20 SECOND AND UTC_TIMESTAMP(6) + "
				    "INTERVAL 30 SECOND"),
			 1);
	outbox_list_free(&first);
	outbox_list_free(&second);
}

/* By an operator's session, or by a poller that was frozen in a transaction. */
static void an_endpoint_whose_row_is_held_elsewhere_keeps_nobody_waiting(void **state)
{
	MYSQL *other = testdb_raw();
	struct outbox_turns turns = { 0 };
	struct outbox_list messages;

	(void)state;
	put("ann", URL);
	put("ben", URL);
	told_job("ann");
	struct id job = told_job("ben");

	raw_run(other, "START TRANSACTION");
	raw_run(other, "SELECT owner FROM webhooks WHERE owner = 'ann' FOR UPDATE");
	enum rc rc = outbox_take(here.db, OUTBOX_MAX, &turns, &messages);

	raw_run(other, "ROLLBACK"); /* before a failure: the next test would wait for it */
	mysql_close(other);
	assert_int_equal(rc, RC_OK);
	assert_int_equal(messages.len, 1);
	assert_true(id_equal(&messages.list[0].event.job_id, &job));
	outbox_list_free(&messages);
	messages = take_by(&turns, OUTBOX_MAX);
	assert_int_equal(messages.len, 1);
	outbox_list_free(&messages);
}

/* Endpoints refuse what was signed more than minutes ago, or will be. */
static void f03_a_message_is_dated_by_the_databases_clock_and_rather_too_early(void **state)
{
	const char *now = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

	(void)state;
	put("ann", URL);
	told_job("ann");
	int64_t before_us = (int64_t)raw_number("%s", now), before_ms = clock_monotonic_ms();
	struct outbox_list messages = take_all(OUTBOX_MAX);
	int64_t took_us = (clock_monotonic_ms() - before_ms + 2) * 1000;

	assert_int_equal(messages.len, 1);
	assert_true(messages.list[0].taken_ms >= before_ms);
	assert_true(messages.list[0].taken_us >= before_us - took_us);
	assert_true(messages.list[0].taken_us < (int64_t)raw_number("%s", now));
	outbox_list_free(&messages);
}

static void a_delivered_message_is_gone_and_a_given_up_one_stays(void **state)
{
	(void)state;
	put("ann", URL);
	told_job("ann");
	told_job("ann");
	struct outbox_list messages = take_all(OUTBOX_MAX);

	assert_int_equal(messages.len, 2);
	assert_int_equal(outbox_delivered(here.db, &messages.list[0]), RC_OK);
	assert_int_equal(outbox_delivered(here.db, &messages.list[0]), RC_OK);
	assert_int_equal(outbox_failed(here.db, &messages.list[1], "it answered 500", -1), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 1);
	assert_int_equal(raw_number(PARKED), 1);
	nobody_is_due();
	outbox_list_free(&messages);
}

static size_t taken_of(const struct outbox_list *messages, const char *owner)
{
	size_t len = 0;

	for (size_t i = 0; i < messages->len; i++)
		len += messages->list[i].owner_len == strlen(owner) &&
		       memcmp(messages->list[i].owner, owner, strlen(owner)) == 0;
	return len;
}

static void at_most_as_many_are_taken_as_asked_for(void **state)
{
	static const char *const owners[] = { "ann", "bob", "cy" };
	struct outbox_turns turns = { 0 };

	(void)state;
	for (size_t i = 0; i < ROWS(owners); i++) {
		put(owners[i], URL);
		told_job(owners[i]);
		told_job(owners[i]);
	}
	struct outbox_list messages = take_by(&turns, 3);

	assert_int_equal(messages.len, 3);
	assert_int_equal(taken_of(&messages, "ann"), 2);
	assert_int_equal(taken_of(&messages, "bob"), 1);
	outbox_list_free(&messages);
	messages = take_by(&turns, 64); /* from where it stopped, and around */
	assert_int_equal(messages.len, 3);
	assert_int_equal(taken_of(&messages, "cy"), 2);
	assert_int_equal(taken_of(&messages, "bob"), 1);
	outbox_list_free(&messages);
}

static void f06_a_backlog_of_one_owner_delays_no_other(void **state)
{
	struct outbox_turns turns = { 0 };

	(void)state;
	put("ann", URL);
	put("bob", URL);
	for (int i = 0; i < 50; i++)
		told_job("ann");
	raw_run(here.raw, "UPDATE outbox SET next_at = '2001-01-01'");
	told_job("bob");
	struct outbox_list first = take_by(&turns, 16);

	assert_int_equal(taken_of(&first, "ann"), 2);
	assert_int_equal(taken_of(&first, "bob"), 1);
	/* While those are on their way, nothing more of hers. */
	struct outbox_list second = take_by(&turns, 16);

	assert_int_equal(second.len, 0);
	outbox_list_free(&second);
	outbox_returned(&turns, &first.list[0]);
	second = take_by(&turns, 16);
	assert_int_equal(second.len, 1);
	assert_int_equal(taken_of(&second, "ann"), 1);
	outbox_list_free(&first);
	outbox_list_free(&second);
}

static uint64_t rest_s(void)
{
	return raw_number("SELECT COALESCE(CEIL(TIMESTAMPDIFF(MICROSECOND, NOW(6), rest_until) / "
			  "1e6), 0) FROM webhooks WHERE owner = 'ann'");
}

/* One message of each owner is taken, and its endpoint doesn't answer. */
static void times_out(void)
{
	struct outbox_list messages = take_all(1);

	assert_int_equal(messages.len, 1);
	assert_memory_equal(messages.list[0].owner, "ann", 3);
	assert_int_equal(outbox_timed_out(here.db, &messages.list[0], "it timed out", 1000), RC_OK);
	outbox_list_free(&messages);
}

static void f06_an_endpoint_that_does_not_answer_is_left_alone_with_all_its_messages(void **state)
{
	(void)state;
	put("ann", URL);
	for (int i = 0; i < 5; i++)
		told_job("ann");
	times_out();
	assert_in_range(rest_s(), 1, 5);
	nobody_is_due();
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE next_at < NOW(6)"), 0);
	assert_int_equal(raw_number("SELECT SUM(tries) FROM outbox"), 1); /* no try was spent */
	for (int i = 0; i < 9; i++) {
		uint64_t before = rest_s();

		raw_run(here.raw, "UPDATE webhooks SET rest_until = NOW(6) - INTERVAL 1 SECOND");
		make_due();
		times_out();
		assert_true(rest_s() > before || before >= 590);
	}
	assert_in_range(rest_s(), 590, 600);
	/* Two that were on their way together count once, and an answer ends it. */
	raw_run(here.raw, "UPDATE webhooks SET rest_until = NULL, timeouts = 0");
	make_due();
	struct outbox_list messages = take_all(OUTBOX_MAX);

	assert_int_equal(messages.len, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(outbox_timed_out(here.db, &messages.list[i], "it timed out", 1),
				 RC_OK);
	outbox_list_free(&messages);
	assert_int_equal(raw_number("SELECT timeouts FROM webhooks"), 1);
	raw_run(here.raw, "UPDATE webhooks SET rest_until = NOW(6) - INTERVAL 1 SECOND");
	make_due();
	messages = take_all(OUTBOX_MAX);
	assert_int_equal(messages.len, 2);
	assert_int_equal(outbox_failed(here.db, &messages.list[0], "it answered 500", 1), RC_OK);
	outbox_list_free(&messages);
	assert_int_equal(raw_number("SELECT timeouts = 0 AND rest_until IS NULL FROM webhooks"), 1);
}

/* One statement for all of it would take longer than a poller's lease. */
static void f06_a_backlog_that_cannot_be_told_is_moved_a_batch_at_a_turn(void **state)
{
	struct outbox_turns turns = { 0 };
	struct outbox_list messages;

	(void)state;
	put("ann", URL);
	told_job("ann");
	raw_run(here.raw,
		"INSERT INTO outbox (id, job_id, owner, type, idempotency_key, state, version, "
		"next_at, created_at) SELECT UNHEX(LPAD(HEX(seq), 32, '0')), o.job_id, o.owner, "
		"o.type, o.idempotency_key, o.state, 1, o.next_at, o.created_at FROM outbox o JOIN "
		"seq_1_to_1200");
	messages = take_by(&turns, 1);
	assert_int_equal(outbox_gone(here.db, &messages.list[0], "it answered 410"), RC_OK);
	outbox_returned(&turns, &messages.list[0]);
	outbox_list_free(&messages);
	assert_in_range(raw_number(PARKED), 500, 501);
	messages = take_by(&turns, 1);
	assert_int_equal(messages.len, 0);
	assert_true(messages.more);
	outbox_list_free(&messages);
	assert_in_range(raw_number(PARKED), 1000, 1001);
	messages = take_by(&turns, 1);
	assert_false(messages.more);
	outbox_list_free(&messages);
	assert_int_equal(raw_number(PARKED), 1201);
	nobody_is_due();
	/* An operator's word goes for all of it. */
	assert_int_equal(webhook_store_enable(here.db, "ann", 3), RC_OK);
	assert_int_equal(raw_number(PARKED), 0);
	assert_int_equal(webhook_store_delete(here.db, "ann", 3), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 0);
}

static void an_endpoint_that_is_gone_is_disabled_and_its_messages_wait(void **state)
{
	struct webhook_row row;
	struct vitals vitals;

	(void)state;
	put("ann", URL);
	put("bob", URL);
	told_job("ann");
	told_job("ann");
	told_job("bob");
	struct outbox_list messages = take_all(1);

	assert_int_equal(messages.len, 1);
	assert_memory_equal(messages.list[0].owner, "ann", 3);
	assert_int_equal(outbox_gone(here.db, &messages.list[0], "it answered 410"), RC_OK);
	outbox_list_free(&messages);
	assert_int_equal(anns(&row), RC_OK);
	assert_false(row.enabled);
	assert_string_equal(row.disabled_why.bytes, "it answered 410");
	assert_string_equal(row.last_answer.bytes, "it answered 410");
	assert_int_equal(row.given_up, 2);
	assert_int_equal(row.waiting, 0);
	webhook_row_release(&row);
	assert_int_equal(vitals_read(here.db, &vitals), RC_OK);
	assert_int_equal(vitals.endpoints_disabled, 1);
	assert_int_equal(vitals.messages_given_up, 2);
	assert_int_equal(raw_number(WAITING), 1); /* bob's */
	told_job("ann");			  /* meanwhile */

	assert_int_equal(webhook_store_enable(here.db, "ann", 3), RC_OK);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE next_at <= UTC_TIMESTAMP(6) "
				    "AND tries = 0"),
			 4);
	assert_int_equal(anns(&row), RC_OK);
	assert_true(row.enabled);
	assert_null(row.disabled_why.bytes);
	webhook_row_release(&row);
}

static void the_old_address_cannot_disable_the_new_one(void **state)
{
	(void)state;
	put("ann", URL);
	told_job("ann");
	struct outbox_list messages = take_all(OUTBOX_MAX);

	assert_false(put("ann", URL "/new"));
	assert_int_equal(outbox_gone(here.db, &messages.list[0], "it answered 410"), RC_OK);
	outbox_list_free(&messages);
	assert_int_equal(raw_number("SELECT enabled FROM webhooks"), 1);
	messages = take_all(OUTBOX_MAX);
	assert_int_equal(messages.len, 1);
	assert_string_equal(messages.list[0].def.url, URL "/new");
	outbox_list_free(&messages);
}

/* What was added while the endpoint was being disabled or deleted. */
static void a_message_without_a_way_is_not_handed_out(void **state)
{
	(void)state;
	put("ann", URL);
	put("bob", URL);
	put("cy", URL);
	told_job("ann");
	told_job("bob");
	told_job("cy");
	raw_run(here.raw, "UPDATE webhooks SET enabled = 0 WHERE owner = 'ann'");
	raw_run(here.raw, "UPDATE webhooks SET secrets = '{' WHERE owner = 'cy'");
	raw_run(here.raw, "DELETE FROM webhooks WHERE owner = 'bob'");
	nobody_is_due();
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE owner = 'bob'"), 0);
	assert_int_equal(raw_number(PARKED), 2);
	assert_int_equal(raw_number("SELECT SUM(tries) FROM outbox"), 0);
}

static void the_endpoints_are_listed_a_page_at_a_time(void **state)
{
	struct webhook_row *rows;
	size_t len;
	bool more;

	(void)state;
	assert_true(put("bob", URL));
	assert_true(put("ann", URL));
	assert_true(put("cy", URL));
	assert_false(put("cy", URL));
	raw_run(here.raw, "UPDATE webhooks SET secrets = '[]' WHERE owner = 'cy'");
	assert_int_equal(webhook_store_list(here.db, NULL, 0, 2, &rows, &len, &more), RC_OK);
	assert_int_equal(len, 2);
	assert_true(more);
	assert_string_equal(rows[0].owner, "ann");
	assert_string_equal(rows[1].owner, "bob");
	assert_true(rows[1].readable && rows[1].enabled);
	webhook_list_free(rows, len);
	assert_int_equal(webhook_store_list(here.db, "bob", 3, 2, &rows, &len, &more), RC_OK);
	assert_int_equal(len, 1);
	assert_false(more);
	assert_false(rows[0].readable);
	webhook_list_free(rows, len);
}

static void an_endpoint_goes_with_its_messages(void **state)
{
	struct webhook_row row;

	(void)state;
	put("ann", URL);
	put("bob", URL);
	told_job("ann");
	told_job("bob");
	assert_int_equal(webhook_store_delete(here.db, "ann", 3), RC_OK);
	assert_int_equal(webhook_store_delete(here.db, "ann", 3), RC_NOT_FOUND);
	assert_int_equal(webhook_store_enable(here.db, "ann", 3), RC_NOT_FOUND);
	assert_int_equal(anns(&row), RC_NOT_FOUND);
	assert_string_equal(raw_text("SELECT GROUP_CONCAT(owner) FROM outbox"), "bob");
}

static void a_purged_job_leaves_no_message(void **state)
{
	struct id job = job_new((struct a_job){ .state = JOB_SUCCEEDED });
	uint64_t purged;

	(void)state;
	put("ann", URL);
	tell(&job);
	told_job("ann");
	raw_run(here.raw,
		"UPDATE jobs SET id = CONCAT(X'0001', SUBSTR(id, 3)), updated_at = '2001-01-01' "
		"WHERE id = %s",
		x(&job));
	raw_run(here.raw,
		"UPDATE outbox SET job_id = CONCAT(X'0001', SUBSTR(job_id, 3)) WHERE job_id = %s",
		x(&job));
	assert_int_equal(job_store_purge_rows(here.db, 86400, &purged), RC_OK);
	assert_int_equal(purged, 1);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox"), 1);
}

#define CREW 4
#define MESSAGES 60

struct haul {
	size_t taken[CREW];
	enum rc rc[CREW];
};

static void take_until_empty(struct db *db, size_t index, void *arg)
{
	struct haul *haul = arg;
	struct outbox_turns turns = { 0 };
	struct outbox_list messages;

	for (int empty = 0; empty < 3 && haul->rc[index] == RC_OK;) {
		haul->rc[index] = outbox_take(db, 4, &turns, &messages);
		empty += messages.len == 0;
		for (size_t i = 0; i < messages.len && haul->rc[index] == RC_OK; i++)
			haul->rc[index] = outbox_delivered(db, &messages.list[i]);
		for (size_t i = 0; i < messages.len; i++)
			outbox_returned(&turns, &messages.list[i]);
		haul->taken[index] += messages.len;
		outbox_list_free(&messages);
	}
}

static void many_pollers_take_each_message_once(void **state)
{
	struct haul haul = { 0 };
	size_t taken = 0;

	(void)state;
	put("ann", URL);
	for (int i = 0; i < MESSAGES; i++)
		told_job("ann");
	crew_run(CREW, take_until_empty, &haul);
	for (size_t i = 0; i < CREW; i++) {
		assert_int_equal(haul.rc[i], RC_OK);
		taken += haul.taken[i];
	}
	assert_int_equal(taken + raw_number("SELECT COUNT(*) FROM outbox"), MESSAGES);
	assert_int_equal(raw_number("SELECT COUNT(*) FROM outbox WHERE tries > 0"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_is_written_for_the_states_that_are_told),
		TEST(nothing_is_written_where_nobody_listens),
		TEST(what_happens_while_an_endpoint_is_disabled_is_told_once_it_is_enabled),
		TEST(a_change_that_is_rolled_back_tells_nobody),
		TEST(a_message_is_told_as_it_was_then),
		TEST(who_has_taken_a_message_holds_it_for_a_while),
		TEST(an_endpoint_whose_row_is_held_elsewhere_keeps_nobody_waiting),
		TEST(f03_a_message_is_dated_by_the_databases_clock_and_rather_too_early),
		TEST(a_delivered_message_is_gone_and_a_given_up_one_stays),
		TEST(at_most_as_many_are_taken_as_asked_for),
		TEST(f06_a_backlog_of_one_owner_delays_no_other),
		TEST(f06_an_endpoint_that_does_not_answer_is_left_alone_with_all_its_messages),
		TEST(f06_a_backlog_that_cannot_be_told_is_moved_a_batch_at_a_turn),
		TEST(an_endpoint_that_is_gone_is_disabled_and_its_messages_wait),
		TEST(the_old_address_cannot_disable_the_new_one),
		TEST(a_message_without_a_way_is_not_handed_out),
		TEST(the_endpoints_are_listed_a_page_at_a_time),
		TEST(an_endpoint_goes_with_its_messages),
		TEST(a_purged_job_leaves_no_message),
		TEST(many_pollers_take_each_message_once),
	};

	return cmocka_run_group_tests_name("outbox", tests, testdb_open, testdb_close);
}
