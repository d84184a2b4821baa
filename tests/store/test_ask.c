/* test_ask.c: what a provider is asked about an attempt in doubt, and when not. */
#include "testdb.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/ask.h"
#include "store/job_store.h"
#include "store/provider_store.h"

#define KEYS "{\"url\":\"http://localhost/\",\"idempotency\":{\"honoured\":true}}"
#define STATUS                                                                                     \
	"{\"url\":\"http://localhost/\",\"status\":{\"url\":\"http://localhost/s\",\"state\":"     \
	"\"/s\",\"map\":{\"d\":\"succeeded\"},\"result\":\"/r\"},\"cancel\":{\"url\":"             \
	"\"http://localhost/c\"}}"
#define DUE "next_ask_at = NOW(6) - INTERVAL 1 SECOND"

static struct id poller;

static void provider_is(const char *definition)
{
	raw_run(here.raw, "UPDATE providers SET definition = '%s'", definition);
	poller = poller_new();
}

static struct id in_doubt(struct id *job_out)
{
	*job_out = job_new((struct a_job){ .state = JOB_UNKNOWN, .count = 1 });
	return attempt_new(
		(struct an_attempt){ .job = job_out, .state = ATTEMPT_UNKNOWN, .more = DUE });
}

/* ASK_KIND__MAX: nothing is asked. More than one question fails. */
static enum ask_kind taken(struct ask *ask_out)
{
	struct ask_turns turns = { .share = ASK_MAX };
	struct ask_list asks;
	enum ask_kind kind = ASK_KIND__MAX;

	*ask_out = (struct ask){ .kind = ASK_KIND__MAX };
	assert_int_equal(ask_take(here.db, &poller, 60, ASK_MAX, &turns, &asks), RC_OK);
	assert_true(asks.len <= 1);
	if (asks.len == 1) {
		*ask_out = asks.list[0];
		kind = ask_out->kind;
		ask_out->def = (struct provider_def){ 0 };
		provider_def_release(&asks.list[0].def);
		ask_out->reference = (struct blob){ 0 };
		ask_out->terms.input = (struct blob){ 0 };
		free(asks.list[0].reference.bytes);
		free(asks.list[0].terms.input.bytes);
		asks.len = 0;
	}
	ask_list_free(&asks);
	return kind;
}

static void note(const struct ask *ask, const char *words, int64_t next_ms)
{
	struct ask_answer answer = { .words = words, .next_ms = next_ms };

	assert_int_equal(ask_note(here.db, ask, &answer), RC_OK);
}

static enum changed tell(const struct id *attempt, enum attempt_event event)
{
	struct word word = word_of(attempt, event);
	struct job job;
	struct refusal refusal;

	word.reason = REASON_OPERATOR;
	enum changed changed = settle_by_operator(here.db, &word, NULL, &job, &refusal);

	job_release(&job);
	return changed;
}

static void the_same_request_goes_out_again_only_while_its_attempt_holds_the_job(void **state)
{
	static const struct {
		const char *jobs, *attempts, *providers;
		enum ask_kind kind;
	} rows[] = {
		{ "id = id", "id = id", "name = name", ASK_RESEND },
		{ "state = 'running'", "id = id", "name = name", ASK_RESEND },
		{ "id = id", "asked = 90, resent = 19", "name = name", ASK_RESEND },
		{ "id = id", "resent = 20", "name = name", ASK_KIND__MAX },
		{ "id = id", "resent = 20, unsent = 1", "name = name", ASK_RESEND },
		{ "id = id", "cancel_due = 1", "name = name", ASK_KIND__MAX },
		{ "id = id", "state = 'released'", "name = name", ASK_KIND__MAX },
		{ "id = id", "state = 'failed'", "name = name", ASK_KIND__MAX },
		{ "id = id", "id = id", "version = 2", ASK_KIND__MAX },
		{ "version = 1", "id = id", "name = name", ASK_KIND__MAX },
		{ "state = 'cancelled', version = 1", "id = id", "name = name", ASK_KIND__MAX },
		{ "state = 'queued'", "id = id", "name = name", ASK_KIND__MAX },
		{ "state = 'failed'", "id = id", "name = name", ASK_KIND__MAX },
		{ "state = 'succeeded', completed_by = REPEAT('w', 16)", "id = id", "name = name",
		  ASK_KIND__MAX },
		{ "deadline_at = NOW(6) - INTERVAL 1 SECOND", "id = id", "name = name",
		  ASK_KIND__MAX },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct id job, attempt;
		struct ask ask;

		testdb_empty(state);
		provider_is(KEYS);
		attempt = in_doubt(&job);
		raw_run(here.raw, "UPDATE jobs SET %s", rows[i].jobs);
		raw_run(here.raw, "UPDATE attempts SET %s", rows[i].attempts);
		raw_run(here.raw, "UPDATE providers SET %s", rows[i].providers);
		if (taken(&ask) != rows[i].kind)
			fail_msg("row %zu", i);
		assert_int_equal(raw_number("SELECT next_ask_at IS NULL FROM attempts WHERE id = "
					    "%s",
					    x(&attempt)),
				 rows[i].kind == ASK_KIND__MAX);
	}
}

static void kept(const char *definition)
{
	raw_run(here.raw,
		"REPLACE INTO provider_versions VALUES ('press', 1, '%s', NOW(6) + INTERVAL 1 "
		"HOUR)",
		definition);
	raw_run(here.raw, "UPDATE providers SET version = 2");
}

static void the_same_request_goes_out_again_by_the_row_that_it_was_built_from(void **state)
{
	struct ask_turns turns = { .share = ASK_MAX };
	struct ask_list asks;
	struct id job;

	(void)state;
	provider_is(KEYS);
	kept("{\"url\":\"http://before/\",\"idempotency\":{\"honoured\":true}}");
	in_doubt(&job);
	assert_int_equal(ask_take(here.db, &poller, 60, ASK_MAX, &turns, &asks), RC_OK);
	assert_int_equal(asks.len, 1);
	assert_int_equal(asks.list[0].kind, ASK_RESEND);
	assert_string_equal(asks.list[0].def.url, "http://before/");
	ask_list_free(&asks);
}

static void an_older_row_is_sent_again_only_where_both_rows_honour_keys(void **state)
{
	static const struct {
		const char *was, *is;
	} rows[] = { { KEYS, "{\"url\":\"http://localhost/\"}" },
		     { "{\"url\":\"http://localhost/\"}", KEYS } };

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct id job;
		struct ask ask;

		testdb_empty(state);
		provider_is(rows[i].is);
		kept(rows[i].was);
		in_doubt(&job);
		assert_int_equal(taken(&ask), ASK_KIND__MAX);
		assert_int_equal(raw_number("SELECT next_ask_at IS NULL FROM attempts"), 1);
	}
}

static void an_older_row_that_this_program_cannot_read_ends_no_questions(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	kept("{\"url\":\"http://localhost/\",\"of_a_newer_program\":1}");
	in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT next_ask_at > NOW(6) FROM attempts"), 1);
	raw_run(here.raw, "UPDATE providers SET definition = '%s'", STATUS);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	assert_int_equal(taken(&ask), ASK_STATUS);
	assert_false(ask.same_row);
}

static void while_it_is_sent_again_nobody_frees_the_job_for_another(void **state)
{
	static const enum attempt_event events[] = { ON_FAILURE, ON_RELEASE, ON_CANCEL };
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	attempt = in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_RESEND);
	for (size_t i = 0; i < ROWS(events); i++)
		assert_int_equal(tell(&attempt, events[i]), CHANGED_IN_DOUBT);
	job_is(&job, "unknown", 0);
	note(&ask, "no answer", 60000);
	assert_int_equal(tell(&attempt, ON_RELEASE), CHANGED_DONE);
	job_is(&job, "queued", 0);
}

/* Claimed by a poller whose lease ran out some time ago, and reaped. */
static struct id reaped(struct id *job_out)
{
	struct id dead = poller_new(), attempt;
	char claimed[128];
	size_t count;

	snprintf(claimed, sizeof claimed, "claimed_by = %s, started_at = NOW(6) - INTERVAL 1 HOUR",
		 x(&dead));
	*job_out = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
	attempt = attempt_new(
		(struct an_attempt){ .job = job_out, .state = ATTEMPT_STARTING, .more = claimed });
	raw_run(here.raw,
		"UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE id = %s",
		x(&dead));
	assert_int_equal(claim_reap(here.db, &count), RC_OK);
	assert_int_equal(count, 1);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	return attempt;
}

static struct word answer_of(const struct id *attempt, enum reason reason, uint32_t sending)
{
	struct word word = word_of(attempt, ON_FAILURE);

	word.reason = reason;
	word.of_sending = true;
	word.sending = sending;
	return word;
}

static void a_failure_of_the_first_sender_settles_nothing_that_was_sent_again_since(void **state)
{
	static const enum reason reasons[] = { REASON_NEVER_SENT, REASON_RETRY_LATER,
					       REASON_REFUSED, REASON_CONTRACT_VIOLATION };

	for (size_t i = 0; i < ROWS(reasons); i++) {
		struct id job, attempt;
		struct ask ask;

		testdb_empty(state);
		provider_is(KEYS);
		attempt = reaped(&job);
		assert_int_equal(taken(&ask), ASK_RESEND);
		assert_int_equal(ask.sending, 1);
		assert_int_equal(say(answer_of(&attempt, reasons[i], 0)), SETTLED_REFUSED);
		note(&ask, "no answer", 60000); /* and not when that is over */
		assert_int_equal(say(answer_of(&attempt, reasons[i], 0)), SETTLED_REFUSED);
		attempt_is(&attempt, "unknown");
		job_is(&job, "unknown", 0);
		assert_int_equal(say(result_of(&attempt, "1")), SETTLED_MADE);
	}
}

static void a_failure_of_the_first_sender_counts_while_nothing_was_sent_again(void **state)
{
	struct id job, attempt;

	(void)state;
	provider_is(KEYS);
	attempt = reaped(&job);
	assert_int_equal(say(answer_of(&attempt, REASON_REFUSED, 0)), SETTLED_MADE);
	job_is(&job, "queued", 0);
}

static void of_two_sendings_again_only_the_last_ones_failure_counts(void **state)
{
	struct id job, attempt;
	struct ask first, second;

	(void)state;
	provider_is(KEYS);
	attempt = reaped(&job);
	assert_int_equal(taken(&first), ASK_RESEND);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	assert_int_equal(taken(&second), ASK_RESEND);
	assert_int_equal(say(answer_of(&attempt, REASON_CONTRACT_VIOLATION, first.sending)),
			 SETTLED_REFUSED);
	attempt_is(&attempt, "unknown");
	assert_int_equal(say(answer_of(&attempt, REASON_CONTRACT_VIOLATION, second.sending)),
			 SETTLED_MADE);
	attempt_is(&attempt, "failed");
}

static void a_callbacks_failure_waits_while_the_request_is_being_sent_again(void **state)
{
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	attempt = reaped(&job);
	assert_int_equal(taken(&ask), ASK_RESEND);
	assert_int_equal(say(word_of(&attempt, ON_FAILURE)), SETTLED_REFUSED);
	note(&ask, "no answer", 60000);
	assert_int_equal(say(word_of(&attempt, ON_FAILURE)), SETTLED_MADE);
}

static void what_a_lost_poller_sent_is_not_sent_again_while_that_may_be_on_its_way(void **state)
{
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	attempt = reaped(&job);
	raw_run(here.raw, "UPDATE attempts SET started_at = NOW(6)");
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT asked = 0 AND resent = 0 AND next_ask_at > NOW(6) + "
				    "INTERVAL 20 SECOND FROM attempts WHERE id = %s",
				    x(&attempt)),
			 1);
	raw_run(here.raw, "UPDATE attempts SET started_at = NOW(6) - INTERVAL 40 SECOND, " DUE);
	assert_int_equal(taken(&ask), ASK_RESEND);
}

static void a_resend_of_a_dead_poller_can_be_cleared(void **state)
{
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	attempt = in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_RESEND);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
	assert_int_equal(tell(&attempt, ON_FAILURE), CHANGED_DONE);
}

static void a_resend_takes_its_place_in_what_is_in_flight(void **state)
{
	struct claim_cursor *cursor = calloc(1, sizeof *cursor);
	static struct taken claimed;
	struct id job, other;
	struct ask ask;

	(void)state;
	assert_non_null(cursor);
	provider_is(KEYS);
	raw_run(here.raw, "UPDATE providers SET max_in_flight = 1");
	in_doubt(&job);
	other = job_new((struct a_job){ .state = JOB_QUEUED });
	assert_int_equal(taken(&ask), ASK_RESEND);
	take(here.db, &poller, 8, cursor, &claimed);
	assert_int_equal(claimed.rc, RC_OK);
	assert_int_equal(claimed.len, 0);
	note(&ask, "no answer", 0);
	take(here.db, &poller, 8, cursor, &claimed);
	assert_int_equal(claimed.len, 1);
	assert_true(id_equal(&claimed.claims[0].job_id, &other));
	/* Now there is no room for the resend: it waits, and isn't counted. */
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT asked = 1 AND resent = 1 AND claimed_by IS NULL AND "
				    "next_ask_at > NOW(6) AND next_ask_at < NOW(6) + INTERVAL 10 "
				    "SECOND FROM attempts WHERE job_id = %s",
				    x(&job)),
			 1);
	free(cursor);
}

static void a_resend_waits_for_nobody_who_holds_its_providers_row(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	in_doubt(&job);
	raw_run(here.raw, "BEGIN");
	raw_run(here.raw, "SELECT name FROM providers FOR UPDATE");
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT next_ask_at <= NOW(6) FROM attempts"), 1);
	raw_run(here.raw, "ROLLBACK");
	assert_int_equal(taken(&ask), ASK_RESEND);
}

static void without_a_lease_nothing_is_sent_again(void **state)
{
	struct ask_turns turns = { .share = ASK_MAX };
	struct ask_list asks;
	struct id job;

	(void)state;
	provider_is(KEYS);
	in_doubt(&job);
	raw_run(here.raw, "UPDATE pollers SET lease_until = NOW(6) - INTERVAL 1 SECOND");
	assert_int_equal(ask_take(here.db, &poller, 60, ASK_MAX, &turns, &asks), RC_OK);
	assert_int_equal(asks.len, 0);
	assert_true(asks.lease_lost);
	ask_list_free(&asks);
	assert_int_equal(raw_number("SELECT asked FROM attempts"), 0);
}

static void what_is_locked_or_broken_holds_up_no_other(void **state)
{
	struct id jobs[3], attempts[3];
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	for (size_t i = 0; i < 3; i++)
		attempts[i] = in_doubt(&jobs[i]);
	provider_new("newer", 64);
	raw_run(here.raw, "UPDATE providers SET definition = "
			  "'{\"url\":\"http://localhost/\",\"of_a_newer_program\":1}' WHERE name = "
			  "'newer'");
	raw_run(here.raw, "UPDATE attempts SET provider = 'newer', cancel_due = 1 WHERE id = %s",
		x(&attempts[0]));
	raw_run(here.raw, "BEGIN");
	raw_run(here.raw, "SELECT id FROM jobs WHERE id = %s FOR UPDATE", x(&jobs[1]));
	assert_int_equal(taken(&ask), ASK_RESEND);
	assert_true(id_equal(&ask.attempt_id, &attempts[2]));
	raw_run(here.raw, "ROLLBACK");
	assert_int_equal(taken(&ask), ASK_RESEND);
	assert_true(id_equal(&ask.attempt_id, &attempts[1]));
	assert_int_equal(
		raw_number("SELECT next_ask_at > NOW(6) + INTERVAL 30 SECOND AND asked = 0 "
			   "AND cancel_due = 1 FROM attempts WHERE id = %s",
			   x(&attempts[0])),
		1);
}

static void what_the_database_never_lets_through_holds_up_no_other(void **state)
{
	struct id jobs[2], attempts[2];
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	for (size_t i = 0; i < 2; i++)
		attempts[i] = in_doubt(&jobs[i]);
	raw_run(here.raw,
		"UPDATE attempts SET next_ask_at = NOW(6) - INTERVAL 1 HOUR WHERE id = %s",
		x(&attempts[0]));
	raw_run(here.raw,
		"CREATE TRIGGER deadlock BEFORE UPDATE ON attempts FOR EACH ROW IF NEW.id = %s AND "
		"NEW.asked > OLD.asked THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF",
		x(&attempts[0]));
	assert_int_equal(taken(&ask), ASK_RESEND);
	assert_true(id_equal(&ask.attempt_id, &attempts[1]));
	raw_run(here.raw, "DROP TRIGGER deadlock");
	assert_int_equal(raw_number("SELECT next_ask_at > NOW(6) AND asked = 0 FROM attempts "
				    "WHERE id = %s",
				    x(&attempts[0])),
			 1);
}

static void a_contract_that_this_program_cannot_read_ends_no_questions(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(STATUS);
	in_doubt(&job);
	raw_run(here.raw, "UPDATE jobs SET contract = 'of-a-newer-program', contract_version = 1");
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT next_ask_at > NOW(6) FROM attempts"), 1);
}

static void a_question_is_one_pollers_until_its_hold_is_over(void **state)
{
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(STATUS);
	attempt = in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_STATUS);
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	assert_int_equal(taken(&ask), ASK_STATUS);
	assert_int_equal(ask.asked, 2);
	attempt_is(&attempt, "unknown");
}

static void an_answer_to_an_earlier_question_is_not_noted(void **state)
{
	struct id job;
	struct ask first, second;

	(void)state;
	provider_is(STATUS);
	in_doubt(&job);
	assert_int_equal(taken(&first), ASK_STATUS);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	assert_int_equal(taken(&second), ASK_STATUS);
	note(&second, "second", 1000);
	note(&first, "first", -1);
	assert_string_equal(raw_text("SELECT last_answer FROM attempts"), "second");
	assert_int_equal(raw_number("SELECT next_ask_at IS NOT NULL FROM attempts"), 1);
}

static void a_cancel_that_comes_due_waits_for_no_other_answer(void **state)
{
	static const int64_t next_ms[] = { 3600000, -1 };

	for (size_t i = 0; i < ROWS(next_ms); i++) {
		struct id job;
		struct ask ask;

		testdb_empty(state);
		provider_is(STATUS);
		in_doubt(&job);
		assert_int_equal(taken(&ask), ASK_STATUS);
		raw_run(here.raw, "UPDATE attempts SET cancel_due = 1");
		note(&ask, "busy", next_ms[i]);
		assert_int_equal(taken(&ask), ASK_CANCEL);
	}
}

static void a_cancel_that_fails_is_tried_again_later_and_one_that_is_told_is_over(void **state)
{
	struct ask_answer told = { .words = "204", .next_ms = 1000, .told = true };
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(STATUS);
	in_doubt(&job);
	raw_run(here.raw, "UPDATE jobs SET state = 'cancelled', version = 1, deadline_at = NOW(6) "
			  "- INTERVAL 1 SECOND");
	raw_run(here.raw, "UPDATE attempts SET cancel_due = 1, asked = 90");
	assert_int_equal(taken(&ask), ASK_CANCEL);
	assert_int_equal(ask.tries, 1);
	assert_int_equal(ask.budget_ms, -1);
	note(&ask, "no answer", 3600000);
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	raw_run(here.raw, "UPDATE attempts SET " DUE);
	assert_int_equal(taken(&ask), ASK_CANCEL);
	assert_int_equal(ask.tries, 2);
	assert_int_equal(ask_note(here.db, &ask, &told), RC_OK);
	assert_int_equal(raw_number("SELECT cancel_due FROM attempts"), 0);
}

static void never_sent(const struct ask *ask)
{
	struct ask_answer never = { .next_ms = 0, .unsent = true };

	assert_int_equal(ask_note(here.db, ask, &never), RC_OK);
}

static void a_question_that_never_went_out_counts_for_no_limit(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(KEYS);
	in_doubt(&job);
	for (int i = 0; i < 2 * ASK_RESENDS_MAX; i++) {
		assert_int_equal(taken(&ask), ASK_RESEND);
		assert_int_equal(ask.tries, 1);
		never_sent(&ask);
		never_sent(&ask); /* said again, for its answer was lost */
	}
	assert_int_equal(raw_number("SELECT unsent FROM attempts"), 2 * ASK_RESENDS_MAX);
}

static void a_cancel_that_never_went_out_is_no_try_and_no_number_is_too_high(void **state)
{
	static const struct {
		uint32_t due, tries;
	} rows[] = { { 1, 1 }, { 7, 7 }, { 255, 255 } };
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(STATUS);
	in_doubt(&job);
	for (size_t i = 0; i < ROWS(rows); i++) {
		raw_run(here.raw, "UPDATE attempts SET cancel_due = %u", rows[i].due);
		assert_int_equal(taken(&ask), ASK_CANCEL);
		assert_int_equal(ask.tries, rows[i].tries);
		never_sent(&ask);
		assert_int_equal(raw_number("SELECT cancel_due <= %u FROM attempts", rows[i].due),
				 1);
	}
}

static void what_was_acknowledged_or_lost_after_a_cancel_is_told_at_once(void **state)
{
	static const enum attempt_event events[] = { ON_ACKNOWLEDGED, ON_TRACK_LOST };

	for (size_t i = 0; i < ROWS(events); i++) {
		struct id job, attempt;
		struct word word;
		struct ask ask;

		testdb_empty(state);
		provider_is(STATUS);
		job = job_new((struct a_job){ .state = JOB_CANCELLED, .version = 1, .count = 1 });
		attempt = attempt_new((struct an_attempt){
			.job = &job, .state = ATTEMPT_STARTING, .more = "cancel_due = 1" });
		word = word_of(&attempt, events[i]);
		word.overdue_ms = 3600000;
		word.ask_after_ms = 3600000;
		assert_int_equal(say(word), SETTLED_MADE);
		assert_int_equal(taken(&ask), ASK_CANCEL);
	}
}

#define ACCEPTED                                                                                   \
	"{\"url\":\"http://localhost/\",\"accepted\":{\"reference\":\"/id\"},\"status\":{"         \
	"\"url\":\"http://localhost/{{reference}}\",\"state\":\"/s\",\"map\":{\"d\":"              \
	"\"succeeded\"},\"result\":\"/r\"}}"

static struct word acknowledged(const struct id *attempt)
{
	struct word word = word_of(attempt, ON_ACKNOWLEDGED);

	word.of_sending = true;
	word.reference = "ref-1";
	word.overdue_ms = 3600000;
	word.ask_after_ms = 0;
	return word;
}

static void work_acknowledged_after_its_poller_was_lost_can_be_asked_about(void **state)
{
	struct id job, attempt;
	struct ask ask;

	(void)state;
	provider_is(ACCEPTED);
	attempt = reaped(&job);
	assert_int_equal(taken(&ask), ASK_KIND__MAX); /* by which name? */
	assert_int_equal(raw_number("SELECT next_ask_at IS NULL FROM attempts"), 1);
	assert_int_equal(say(acknowledged(&attempt)), SETTLED_NOTED);
	attempt_is(&attempt, "unknown");
	job_is(&job, "unknown", 0);
	assert_string_equal(raw_text("SELECT reference FROM attempts"), "ref-1");
	assert_int_equal(taken(&ask), ASK_STATUS);
}

static void advice_is(const struct id *id, const char *advice)
{
	const struct identity operator= { .role = ROLE_OPERATOR };
	struct job job;

	assert_int_equal(job_store_read(here.db, &operator, id, &job), RC_OK);
	assert_string_equal(job_advice(&job), advice);
	job_release(&job);
}

static void where_there_is_nobody_to_ask_a_person_is_needed_as_soon_as_track_is_lost(void **state)
{
	static const struct {
		const char *definition, *attempt, *advice;
	} rows[] = {
		{ "{\"url\":\"http://localhost/\"}", "id = id", "ask_operator" },
		{ ACCEPTED, "id = id", "ask_operator" }, /* by which name? */
		{ ACCEPTED, "reference = 'ref-1'", "wait" },
		{ STATUS, "id = id", "wait" },
		{ KEYS, "id = id", "wait" },
		{ STATUS, "cancel_due = 1", "wait" },
		{ "{\"of\": \"a newer program\"}", "id = id", "wait" },
	};
	static const char *const lost[] = { "started_at = NOW(6)",
					    "state = 'running', overdue_at = NOW(6)" };

	for (size_t i = 0; i < ROWS(lost) * ROWS(rows); i++) {
		bool overdue = i >= ROWS(rows);
		size_t row = i % ROWS(rows), count;
		struct id job;

		testdb_empty(state);
		provider_is(rows[row].definition);
		job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
		attempt_new((struct an_attempt){
			.job = &job, .state = ATTEMPT_STARTING, .more = lost[overdue] });
		raw_run(here.raw, "UPDATE attempts SET %s", rows[row].attempt);
		assert_int_equal(overdue ? ask_overdue(here.db, &count)
					 : claim_reap(here.db, &count),
				 RC_OK);
		assert_int_equal(count, 1);
		advice_is(&job, rows[row].advice);
	}
}

static void a_late_acknowledgement_keeps_the_reference_and_the_hold_there_are(void **state)
{
	struct id job, attempt;

	(void)state;
	provider_is(ACCEPTED);
	attempt = in_doubt(&job);
	raw_run(here.raw, "UPDATE attempts SET reference = 'ref-0', state = 'released', "
			  "next_ask_at = NOW(6) + INTERVAL 1 HOUR");
	assert_int_equal(say(acknowledged(&attempt)), SETTLED_NOTED);
	assert_int_equal(raw_number("SELECT reference = 'ref-0' AND next_ask_at > NOW(6) + "
				    "INTERVAL 50 MINUTE FROM attempts"),
			 1);
}

static void where_nobody_can_be_asked_the_job_shows_that_it_needs_a_person(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	poller = poller_new();
	in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT next_ask_at IS NULL FROM attempts"), 1);
	assert_int_equal(raw_number("SELECT revision FROM jobs WHERE id = %s", x(&job)), 1);
}

static void what_was_sent_before_its_provider_could_be_asked_is_asked_about(void **state)
{
	static const enum attempt_event events[] = { ON_TRACK_LOST, ON_ACKNOWLEDGED };

	for (size_t i = 0; i < 2 * ROWS(events); i++) {
		testdb_empty(state);
		provider_is(i % 2 ? STATUS : "{\"url\":\"http://localhost/\"}");
		raw_run(here.raw, "UPDATE providers SET version = %zu", 1 + i % 2);
		struct id job = job_new((struct a_job){ .state = JOB_RUNNING, .count = 1 });
		struct id attempt =
			attempt_new((struct an_attempt){ .job = &job, .state = ATTEMPT_STARTING });
		struct word word = word_of(&attempt, events[i / 2]);
		struct ask ask;

		word.ask_after_ms = -1;
		word.overdue_ms = 60000;
		assert_int_equal(say(word), SETTLED_MADE);
		assert_int_equal(raw_number("SELECT next_ask_at <= NOW(6) FROM attempts"), i % 2);
		assert_int_equal(taken(&ask), i % 2 ? ASK_STATUS : ASK_KIND__MAX);
	}
}

/* The change arms what has no question, and would not see this one. */
static void no_attempt_stops_by_a_providers_row_that_somebody_is_changing(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	poller = poller_new();
	in_doubt(&job);
	raw_run(here.raw, "BEGIN");
	raw_run(here.raw, "UPDATE providers SET version = 2, definition = '%s'", STATUS);
	assert_int_equal(taken(&ask), ASK_KIND__MAX);
	assert_int_equal(raw_number("SELECT next_ask_at <= NOW(6) FROM attempts"), 1);
	raw_run(here.raw, "COMMIT");
	assert_int_equal(taken(&ask), ASK_STATUS);
}

static struct ask_list take_by(struct ask_turns *turns, size_t max)
{
	struct ask_list asks;

	assert_int_equal(ask_take(here.db, &poller, 60, max, turns, &asks), RC_OK);
	return asks;
}

static size_t asked_of(const struct ask_list *asks, const char *provider)
{
	size_t len = 0;

	for (size_t i = 0; i < asks->len; i++)
		len += strcmp(asks->list[i].provider, provider) == 0;
	return len;
}

static void f06_a_provider_with_a_backlog_of_questions_delays_no_other(void **state)
{
	static const char *const providers[] = { "dead", "fine", "also" };
	struct ask_turns turns = { .share = 2 };
	struct id job;

	(void)state;
	for (size_t p = 0; p < ROWS(providers); p++)
		provider_new(providers[p], 64);
	provider_is(STATUS);
	for (int i = 0; i < 12; i++) {
		struct id attempt = in_doubt(&job);

		raw_run(here.raw,
			"UPDATE attempts SET provider = '%s', next_ask_at = %s WHERE id = %s",
			i < 10 ? "dead" : providers[i - 9], i < 10 ? "'2001-01-01'" : "NOW(6)",
			x(&attempt));
	}
	struct ask_list first = take_by(&turns, 8);

	assert_int_equal(first.len, 4);
	assert_int_equal(asked_of(&first, "dead"), 2);
	assert_int_equal(asked_of(&first, "fine"), 1);
	assert_int_equal(asked_of(&first, "also"), 1);
	/* While those are on their way, the dead one gets no more. */
	struct ask_list second = take_by(&turns, 8);

	assert_int_equal(second.len, 0);
	assert_false(second.more);
	ask_list_free(&second);
	ask_turns_returned(&turns, "dead");
	second = take_by(&turns, 8);
	assert_int_equal(asked_of(&second, "dead"), 1);
	ask_list_free(&second);
	ask_list_free(&first);
	/* By turns, where there isn't room for all. */
	struct ask_turns one = { .share = 2 };

	raw_run(here.raw, "UPDATE attempts SET next_ask_at = '2001-01-01'");
	for (size_t p = 0; p < ROWS(providers); p++) {
		static const char *const in_order[] = { "also", "dead", "fine" };
		struct ask_list third = take_by(&one, 1);

		assert_int_equal(third.len, 1);
		assert_string_equal(third.list[0].provider, in_order[p]);
		ask_list_free(&third);
	}
}

/* The row allows an hour for the work: no slot is held as long for a question. */
static void a_questions_hold_is_not_as_long_as_the_work_may_take(void **state)
{
	struct id job;
	struct ask ask;

	(void)state;
	provider_is("{\"url\":\"http://localhost/\",\"timeout_ms\":3600000,\"status\":{\"url\":"
		    "\"http://localhost/s\",\"state\":\"/s\",\"map\":{\"d\":\"succeeded\"},"
		    "\"result\":\"/r\"}}");
	(void)in_doubt(&job);
	assert_int_equal(taken(&ask), ASK_STATUS);
	assert_in_range(raw_number("SELECT CEIL(TIMESTAMPDIFF(MICROSECOND, NOW(6), next_ask_at) / "
				   "1e6) FROM attempts"),
			20, 35);
}

/* A Retry-After date is measured against it. */
static void f03_a_question_is_dated_by_the_databases_clock_and_rather_too_early(void **state)
{
	const char *now = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
	struct id job;
	struct ask ask;

	(void)state;
	provider_is(STATUS);
	(void)in_doubt(&job);
	int64_t before_us = (int64_t)raw_number("%s", now), before_ms = clock_monotonic_ms();

	assert_int_equal(taken(&ask), ASK_STATUS);
	int64_t took_us = (clock_monotonic_ms() - before_ms + 2) * 1000;

	assert_true(ask.taken_us >= before_us - took_us);
	assert_true(ask.taken_us < (int64_t)raw_number("%s", now));
	assert_true(ask.taken_ms >= before_ms);
}

/* A cancel is passed on as long as there is somebody to pass it on to: to one that is deleted while
 * the cancel waits, or while it is under way, it isn't. */
static void of_a_provider_that_is_deleted_nothing_is_asked_any_more(void **state)
{
	(void)state;
	for (int under_way = 0; under_way < 2; under_way++) {
		testdb_empty(NULL);
		struct id job = job_new((struct a_job){ .state = JOB_CANCELLED, .count = 1 });
		struct ask ask;
		bool due;

		poller = poller_new();
		attempt_new((struct an_attempt){
			.job = &job, .state = ATTEMPT_CANCELLED, .more = DUE ", cancel_due = 1" });
		provider_is(STATUS);
		assert_int_equal(claim_any_due(here.db, &due), RC_OK);
		assert_true(due);
		if (under_way)
			assert_int_equal(taken(&ask), ASK_CANCEL);
		assert_int_equal(provider_store_delete(here.db, "press"), RC_OK);
		if (under_way)
			note(&ask, "503", 0);
		assert_int_equal(claim_any_due(here.db, &due), RC_OK);
		assert_false(due);
		assert_int_equal(taken(&ask), ASK_KIND__MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_request_goes_out_again_only_while_its_attempt_holds_the_job),
		TEST(the_same_request_goes_out_again_by_the_row_that_it_was_built_from),
		TEST(an_older_row_is_sent_again_only_where_both_rows_honour_keys),
		TEST(an_older_row_that_this_program_cannot_read_ends_no_questions),
		TEST(while_it_is_sent_again_nobody_frees_the_job_for_another),
		TEST(a_failure_of_the_first_sender_settles_nothing_that_was_sent_again_since),
		TEST(a_failure_of_the_first_sender_counts_while_nothing_was_sent_again),
		TEST(of_two_sendings_again_only_the_last_ones_failure_counts),
		TEST(a_callbacks_failure_waits_while_the_request_is_being_sent_again),
		TEST(what_a_lost_poller_sent_is_not_sent_again_while_that_may_be_on_its_way),
		TEST(a_resend_of_a_dead_poller_can_be_cleared),
		TEST(a_resend_takes_its_place_in_what_is_in_flight),
		TEST(a_resend_waits_for_nobody_who_holds_its_providers_row),
		TEST(without_a_lease_nothing_is_sent_again),
		TEST(what_is_locked_or_broken_holds_up_no_other),
		TEST(what_the_database_never_lets_through_holds_up_no_other),
		TEST(a_contract_that_this_program_cannot_read_ends_no_questions),
		TEST(a_question_is_one_pollers_until_its_hold_is_over),
		TEST(an_answer_to_an_earlier_question_is_not_noted),
		TEST(a_cancel_that_comes_due_waits_for_no_other_answer),
		TEST(a_cancel_that_fails_is_tried_again_later_and_one_that_is_told_is_over),
		TEST(a_question_that_never_went_out_counts_for_no_limit),
		TEST(a_cancel_that_never_went_out_is_no_try_and_no_number_is_too_high),
		TEST(what_was_acknowledged_or_lost_after_a_cancel_is_told_at_once),
		TEST(work_acknowledged_after_its_poller_was_lost_can_be_asked_about),
		TEST(where_there_is_nobody_to_ask_a_person_is_needed_as_soon_as_track_is_lost),
		TEST(a_late_acknowledgement_keeps_the_reference_and_the_hold_there_are),
		TEST(where_nobody_can_be_asked_the_job_shows_that_it_needs_a_person),
		TEST(what_was_sent_before_its_provider_could_be_asked_is_asked_about),
		TEST(no_attempt_stops_by_a_providers_row_that_somebody_is_changing),
		TEST(f03_a_question_is_dated_by_the_databases_clock_and_rather_too_early),
		TEST(f06_a_provider_with_a_backlog_of_questions_delays_no_other),
		TEST(a_questions_hold_is_not_as_long_as_the_work_may_take),
		TEST(of_a_provider_that_is_deleted_nothing_is_asked_any_more),
	};

	return cmocka_run_group_tests_name("ask", tests, testdb_open, testdb_close);
}
