#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/moves.h"

#define SEVEN 7

static const char *job_text(const struct move *move)
{
	return move->job_moves ? job_state_name(move->job_to) : "stays";
}

/* The design's table, line by line, for an attempt that holds its job. */
static void each_event_moves_attempt_and_job_as_the_table_says(void **state)
{
	static const struct {
		enum attempt_event event;
		enum attempt_state from;
		enum job_state job;
		bool may_retry;
		enum attempt_state to;
		const char *job_to;
		bool version_up;
	} rows[] = {
		{ ON_ACKNOWLEDGED, ATTEMPT_STARTING, JOB_RUNNING, true, ATTEMPT_RUNNING, "stays",
		  false },
		{ ON_RESULT, ATTEMPT_STARTING, JOB_RUNNING, true, ATTEMPT_SUCCEEDED, "succeeded",
		  true },
		{ ON_RESULT, ATTEMPT_RUNNING, JOB_RUNNING, false, ATTEMPT_SUCCEEDED, "succeeded",
		  true },
		{ ON_RESULT, ATTEMPT_UNKNOWN, JOB_UNKNOWN, false, ATTEMPT_SUCCEEDED, "succeeded",
		  true },
		{ ON_RESULT, ATTEMPT_RELEASED, JOB_QUEUED, false, ATTEMPT_SUCCEEDED, "succeeded",
		  true },
		{ ON_RESULT, ATTEMPT_RELEASED, JOB_RUNNING, false, ATTEMPT_SUCCEEDED, "succeeded",
		  true },
		{ ON_FAILURE, ATTEMPT_STARTING, JOB_RUNNING, true, ATTEMPT_FAILED, "queued",
		  false },
		{ ON_FAILURE, ATTEMPT_STARTING, JOB_RUNNING, false, ATTEMPT_FAILED, "failed",
		  true },
		{ ON_FAILURE, ATTEMPT_UNKNOWN, JOB_UNKNOWN, true, ATTEMPT_FAILED, "queued", false },
		{ ON_FAILURE, ATTEMPT_UNKNOWN, JOB_UNKNOWN, false, ATTEMPT_FAILED, "failed", true },
		{ ON_FAILURE, ATTEMPT_RELEASED, JOB_QUEUED, false, ATTEMPT_FAILED, "stays", false },
		{ ON_TRACK_LOST, ATTEMPT_STARTING, JOB_RUNNING, true, ATTEMPT_UNKNOWN, "unknown",
		  false },
		{ ON_TRACK_LOST, ATTEMPT_RUNNING, JOB_RUNNING, false, ATTEMPT_UNKNOWN, "unknown",
		  false },
		{ ON_RELEASE, ATTEMPT_UNKNOWN, JOB_UNKNOWN, true, ATTEMPT_RELEASED, "queued",
		  false },
		{ ON_RELEASE, ATTEMPT_RUNNING, JOB_RUNNING, true, ATTEMPT_RELEASED, "queued",
		  false },
		{ ON_CANCEL, ATTEMPT_UNKNOWN, JOB_UNKNOWN, true, ATTEMPT_CANCELLED, "queued",
		  false },
		{ ON_CANCEL, ATTEMPT_UNKNOWN, JOB_UNKNOWN, false, ATTEMPT_CANCELLED, "failed",
		  true },
		{ ON_CANCEL, ATTEMPT_RELEASED, JOB_QUEUED, false, ATTEMPT_CANCELLED, "stays",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct job_facts job = { .state = rows[i].job,
					 .version = SEVEN,
					 .may_retry = rows[i].may_retry };
		struct move move =
			moves_decide(&job, rows[i].from, SEVEN, rows[i].event, BY_POLLER);

		if (move.verdict != MOVE_MADE || move.attempt_to != rows[i].to ||
		    strcmp(job_text(&move), rows[i].job_to) != 0 ||
		    move.version_up != rows[i].version_up)
			fail_msg("row %zu: attempt %s -> %s, job %s -> %s, version_up %d, verdict "
				 "%d",
				 i, attempt_state_name(rows[i].from),
				 attempt_state_name(move.attempt_to), job_state_name(rows[i].job),
				 job_text(&move), move.version_up, move.verdict);
	}
}

/* Calls `check` with every combination there is. */
struct every {
	struct job_facts job;
	enum attempt_state from;
	uint64_t version_read;
	enum attempt_event event;
	enum mover by;
	struct move move;
};

static void with_each_flag(struct every *e, void (*check)(const struct every *))
{
	for (unsigned int bits = 0; bits < 32; bits++) {
		e->job.completed = bits & 1;
		e->job.other_in_doubt = bits & 2;
		e->job.may_retry = bits & 4;
		e->job.sent_since = bits & 16;
		e->version_read = bits & 8 ? SEVEN : SEVEN - 1;
		e->job.version = SEVEN;
		e->move = moves_decide(&e->job, e->from, e->version_read, e->event, e->by);
		check(e);
	}
}

static void with_every_case(void (*check)(const struct every *))
{
	struct every e = { .job = { .state = JOB_QUEUED } };

	for (int job = 0; job < JOB_STATE__MAX; job++)
		for (int from = 0; from < ATTEMPT_STATE__MAX; from++)
			for (int event = 0; event < ATTEMPT_EVENT__MAX; event++)
				for (int by = 0; by < MOVER__MAX; by++) {
					e.job.state = (enum job_state)job;
					e.from = (enum attempt_state)from;
					e.event = (enum attempt_event)event;
					e.by = (enum mover)by;
					with_each_flag(&e, check);
				}
}

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("%s: job %s, attempt %s, event %d, by %d, completed %d, other "   \
				 "in doubt %d, "                                                   \
				 "may retry %d, version %s",                                       \
				 #condition, job_state_name(e->job.state),                         \
				 attempt_state_name(e->from), e->event, e->by, e->job.completed,   \
				 e->job.other_in_doubt, e->job.may_retry,                          \
				 e->version_read == SEVEN ? "read" : "stale");                     \
	} while (0)

static void check_settled_stays(const struct every *e)
{
	if (!job_open(e->job.state) || e->job.completed || e->version_read != SEVEN)
		MUST(!e->move.job_moves);
}

static void an_attempt_that_does_not_hold_its_job_moves_alone(void **state)
{
	(void)state;
	with_every_case(check_settled_stays);
}

static void check_r8(const struct every *e)
{
	bool open = job_open(e->job.state) && !e->job.completed && e->version_read == SEVEN;

	if (e->move.verdict == MOVE_MADE && e->move.attempt_to == ATTEMPT_SUCCEEDED)
		MUST(open && e->move.job_moves && e->move.job_to == JOB_SUCCEEDED &&
		     e->move.why == RACE_NONE);
	if (e->event == ON_RESULT && e->move.verdict == MOVE_MADE && !open)
		MUST(e->move.attempt_to == ATTEMPT_DISCARDED && e->move.why != RACE_NONE);
	if (e->event != ON_RESULT)
		MUST(e->move.why == RACE_NONE &&
		     (e->move.verdict != MOVE_MADE || e->move.attempt_to != ATTEMPT_SUCCEEDED));
}

static void r8_a_result_wins_only_for_the_version_read_and_an_empty_slot(void **state)
{
	(void)state;
	with_every_case(check_r8);
}

static void check_r7(const struct every *e)
{
	if (e->move.job_moves && e->move.job_to == JOB_QUEUED)
		MUST(!e->job.other_in_doubt && e->job.state != JOB_QUEUED &&
		     !attempt_in_doubt(e->move.attempt_to));
}

static void r7_nothing_queues_a_job_while_an_attempt_is_in_doubt(void **state)
{
	(void)state;
	with_every_case(check_r7);
}

static void check_r6(const struct every *e)
{
	if (e->event == ON_TRACK_LOST && e->move.verdict == MOVE_MADE)
		MUST(e->move.attempt_to == ATTEMPT_UNKNOWN &&
		     (!e->move.job_moves || e->move.job_to == JOB_UNKNOWN));
	if (e->from == ATTEMPT_UNKNOWN && e->event == ON_TRACK_LOST)
		MUST(e->move.verdict != MOVE_MADE);
}

static void r6_losing_track_is_never_a_failure(void **state)
{
	(void)state;
	with_every_case(check_r6);
}

static void check_r9(const struct every *e)
{
	bool decision = e->move.job_moves &&
			(e->move.job_to == JOB_SUCCEEDED || e->move.job_to == JOB_FAILED);

	MUST(e->move.version_up == decision);
}

static void r9_the_version_goes_up_with_decisions_and_nothing_else(void **state)
{
	(void)state;
	with_every_case(check_r9);
}

static void check_sent_since(const struct every *e)
{
	if (e->job.sent_since && e->move.verdict == MOVE_MADE)
		MUST(e->event != ON_FAILURE && e->event != ON_RELEASE && e->event != ON_CANCEL);
}

static void what_was_sent_again_since_is_freed_by_no_earlier_word(void **state)
{
	(void)state;
	with_every_case(check_sent_since);
}

static void
an_answer_counts_for_the_last_sending_and_a_word_beside_it_when_that_is_over(void **state)
{
	static const struct {
		struct sendings sendings;
		bool since;
	} rows[] = {
		{ { .of_one = true }, false },
		{ { .of_one = true, .under_way = true },
		  true }, /* by a program that doesn't count */
		{ { .of_one = true, .resent = 1 }, true },
		{ { .of_one = true, .answered = 1, .resent = 1, .under_way = true }, false },
		{ { .of_one = true, .answered = 1, .resent = 1 }, false },
		{ { .of_one = true, .answered = 1, .resent = 2 }, true },
		{ { .resent = 2 }, false },
		{ { .resent = 2, .under_way = true }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (moves_sent_since(&rows[i].sendings) != rows[i].since)
			fail_msg("row %zu", i);
}

static void check_starting(const struct every *e)
{
	if (e->from == ATTEMPT_STARTING && e->by == BY_OPERATOR && e->event != ON_RESULT)
		MUST(e->move.verdict == MOVE_REFUSED && !e->move.job_moves &&
		     e->move.attempt_to == ATTEMPT_STARTING);
}

static void an_operator_may_only_bring_a_result_to_a_starting_attempt(void **state)
{
	(void)state;
	with_every_case(check_starting);
}

static void check_ended(const struct every *e)
{
	if (!attempt_in_play(e->from))
		MUST(e->move.verdict != MOVE_MADE && e->move.attempt_to == e->from &&
		     !e->move.job_moves);
	if (!attempt_in_play(e->from) && e->event == ON_FAILURE)
		MUST(e->move.why == RACE_NONE);
	if (!attempt_in_play(e->from) && e->event == ON_RESULT)
		MUST(e->move.why != RACE_NONE);
}

static void an_ended_attempt_never_moves_and_only_a_late_result_is_a_race(void **state)
{
	(void)state;
	with_every_case(check_ended);
}

static void released_twice_queues_nothing_again(void **state)
{
	struct job_facts job = { .state = JOB_QUEUED, .version = SEVEN, .may_retry = true };
	struct move move = moves_decide(&job, ATTEMPT_RELEASED, SEVEN, ON_RELEASE, BY_OPERATOR);

	(void)state;
	assert_int_equal(move.verdict, MOVE_REPEATED);
	assert_false(move.job_moves);
}

static void a_lost_result_says_what_it_lost_to(void **state)
{
	static const struct {
		enum job_state job;
		bool completed;
		uint64_t version_read;
		enum attempt_state from;
		enum race_why why;
	} rows[] = {
		{ JOB_SUCCEEDED, true, SEVEN - 1, ATTEMPT_RELEASED, RACE_LOST_SWAP },
		{ JOB_CANCELLED, false, SEVEN - 1, ATTEMPT_UNKNOWN, RACE_JOB_CANCELLED },
		{ JOB_FAILED, false, SEVEN - 1, ATTEMPT_RELEASED, RACE_JOB_FAILED },
		{ JOB_QUEUED, false, SEVEN - 1, ATTEMPT_RELEASED,
		  RACE_JOB_FAILED }, /* failed, then tried again */
		{ JOB_RUNNING, false, SEVEN, ATTEMPT_CANCELLED, RACE_ATTEMPT_CANCELLED },
		{ JOB_RUNNING, false, SEVEN, ATTEMPT_FAILED, RACE_ATTEMPT_FAILED },
		{ JOB_SUCCEEDED, true, SEVEN, ATTEMPT_DISCARDED, RACE_ATTEMPT_DISCARDED },
		{ JOB_SUCCEEDED, true, SEVEN - 1, ATTEMPT_SUCCEEDED, RACE_CONTRADICTION },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct job_facts job = { .state = rows[i].job,
					 .version = SEVEN,
					 .completed = rows[i].completed };
		struct move move = moves_decide(&job, rows[i].from, rows[i].version_read, ON_RESULT,
						BY_POLLER);

		if (move.why != rows[i].why)
			fail_msg("row %zu: %s, want %s", i, race_why_name(move.why),
				 race_why_name(rows[i].why));
	}
}

static void cancelling_a_job_is_refused_after_success_only(void **state)
{
	(void)state;
	assert_int_equal(moves_cancel_job(JOB_QUEUED), MOVE_MADE);
	assert_int_equal(moves_cancel_job(JOB_RUNNING), MOVE_MADE);
	assert_int_equal(moves_cancel_job(JOB_UNKNOWN), MOVE_MADE);
	assert_int_equal(moves_cancel_job(JOB_FAILED), MOVE_MADE);
	assert_int_equal(moves_cancel_job(JOB_CANCELLED), MOVE_REPEATED);
	assert_int_equal(moves_cancel_job(JOB_SUCCEEDED), MOVE_LATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_moves_attempt_and_job_as_the_table_says),
		cmocka_unit_test(an_attempt_that_does_not_hold_its_job_moves_alone),
		cmocka_unit_test(r8_a_result_wins_only_for_the_version_read_and_an_empty_slot),
		cmocka_unit_test(r7_nothing_queues_a_job_while_an_attempt_is_in_doubt),
		cmocka_unit_test(r6_losing_track_is_never_a_failure),
		cmocka_unit_test(r9_the_version_goes_up_with_decisions_and_nothing_else),
		cmocka_unit_test(what_was_sent_again_since_is_freed_by_no_earlier_word),
		cmocka_unit_test(
			an_answer_counts_for_the_last_sending_and_a_word_beside_it_when_that_is_over),
		cmocka_unit_test(an_operator_may_only_bring_a_result_to_a_starting_attempt),
		cmocka_unit_test(an_ended_attempt_never_moves_and_only_a_late_result_is_a_race),
		cmocka_unit_test(released_twice_queues_nothing_again),
		cmocka_unit_test(a_lost_result_says_what_it_lost_to),
		cmocka_unit_test(cancelling_a_job_is_refused_after_success_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
