/* test_turn.c: whose turn it is, with one thread that speaks for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/turn.h"

#define LONG_MS 20000 /* for what must happen; only a failure waits that long */

static turn_ticket first, second;

static struct turn *turn_of_the_first(int patience_ms)
{
	struct turn *turn = turn_new(patience_ms);

	first = second = 0;
	assert_non_null(turn);
	assert_int_equal(turn_wait(turn, &first, LONG_MS), TURN_MINE);
	return turn;
}

static void the_first_keeps_its_turn_while_others_wait(void **state)
{
	struct turn *turn = turn_of_the_first(1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(turn_wait(turn, &second, 1), TURN_NOT_YET); /* it rests */
		turn_took(turn, 100, 0);
		assert_int_equal(turn_wait(turn, &first, LONG_MS), TURN_MINE);
	}
	turn_free(turn);
}

static void who_is_busy_for_too_long_loses_its_turn(void **state)
{
	struct turn *turn = turn_of_the_first(1);

	(void)state;
	turn_busy(turn, first);
	assert_true(turn_is_mine(turn, first));
	assert_int_equal(turn_wait(turn, &second, LONG_MS), TURN_MINE);
	assert_false(turn_is_mine(turn, first));
	turn_busy(turn, first); /* not its to say any more */
	turn_pass(turn, first);
	assert_int_equal(turn_wait(turn, &first, 1), TURN_NOT_YET);
	assert_true(turn_is_mine(turn, second));
	turn_free(turn);
}

static void who_passes_it_gets_it_after_the_others(void **state)
{
	struct turn *turn = turn_of_the_first(LONG_MS);

	(void)state;
	turn_busy(turn, first);
	turn_pass(turn, first);
	assert_int_equal(turn_wait(turn, &second, LONG_MS), TURN_MINE);
	assert_int_equal(turn_wait(turn, &first, 1), TURN_NOT_YET);
	turn_free(turn);
}

static void it_is_open_to_all_while_one_in_five_can_share_no_statement(void **state)
{
	struct turn *turn = turn_of_the_first(LONG_MS);

	(void)state;
	turn_took(turn, 0, 8);
	assert_int_equal(turn_wait(turn, &second, 1), TURN_NOT_YET); /* a few are an accident */
	turn_took(turn, 0, 100);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(turn_wait(turn, &second, LONG_MS), TURN_MINE);
		assert_int_equal(turn_wait(turn, &first, LONG_MS), TURN_MINE);
		turn_took(turn, 4, 1);
	}
	for (int i = 0; i < 100; i++)
		turn_took(turn, 5, 1);
	assert_int_equal(turn_wait(turn, &second, 1), TURN_MINE); /* nobody's, until one comes */
	assert_int_equal(turn_wait(turn, &first, 1), TURN_NOT_YET);
	turn_free(turn);
}

/* What it does was begun while the turn was open, when nobody looks for how long. */
static void who_is_at_work_when_it_closes_holds_up_nobody(void **state)
{
	struct turn *turn = turn_of_the_first(LONG_MS);

	(void)state;
	turn_took(turn, 0, 100);
	turn_busy(turn, first);
	for (int i = 0; i < 100; i++)
		turn_took(turn, 1, 0);
	assert_int_equal(turn_wait(turn, &second, 1), TURN_MINE);
	assert_int_equal(turn_wait(turn, &first, 1), TURN_NOT_YET);
	turn_free(turn);
}

static void when_it_is_stopped_nobody_gets_it(void **state)
{
	struct turn *turn = turn_of_the_first(LONG_MS);

	(void)state;
	turn_stop(turn);
	assert_int_equal(turn_wait(turn, &second, LONG_MS), TURN_STOPPED);
	assert_int_equal(turn_wait(turn, &first, LONG_MS), TURN_STOPPED);
	turn_free(turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_keeps_its_turn_while_others_wait),
		cmocka_unit_test(who_is_busy_for_too_long_loses_its_turn),
		cmocka_unit_test(who_passes_it_gets_it_after_the_others),
		cmocka_unit_test(it_is_open_to_all_while_one_in_five_can_share_no_statement),
		cmocka_unit_test(who_is_at_work_when_it_closes_holds_up_nobody),
		cmocka_unit_test(when_it_is_stopped_nobody_gets_it),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
