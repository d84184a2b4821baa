/* test_desk.c: when the desk's thread waits, and when not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "poller/certifying.h"
#include "poller/desk_own.h"
#include "poller/settling.h"

/* Thousands that are due would otherwise go out at one claim a look. */
static void what_a_full_claim_left_is_not_waited_for(void **state)
{
	static const struct {
		bool more, claiming, registered, trouble;
		size_t in_hand, in_flight_max;
		bool due;
	} rows[] = {
		{ true, true, true, false, 0, 100, true },
		{ true, true, true, false, 100 - CLAIM_ROOM_MIN, 100, true },
		{ true, true, true, false, 101 - CLAIM_ROOM_MIN, 100, false }, /* for a few */
		{ true, true, true, false, 4, 8, true },
		{ true, true, true, false, 5, 8, false },
		{ true, true, true, false, 0, 1, true },
		{ true, true, true, false, 1, 1, false },
		{ true, true, true, true, 0, 100, false }, /* the database refused */
		{ true, true, false, false, 0, 100, false },
		{ true, false, true, false, 0, 100, false },
		{ false, true, true, false, 0, 100, false },
	};
	int64_t later_ms = clock_monotonic_ms() + 3600000;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		static struct desk desk;

		desk = (struct desk){ .orders.in_flight_max = rows[i].in_flight_max,
				      .in_hand = rows[i].in_hand,
				      .more = rows[i].more,
				      .claiming = rows[i].claiming,
				      .registered = rows[i].registered,
				      .trouble_until_ms = rows[i].trouble ? later_ms : 0,
				      .look_at_ms = later_ms };
		if (desk_claim_is_due(&desk) != rows[i].due)
			fail_msg("row %zu", i);
	}
}

static void a_look_that_is_due_claims_for_the_last_slot_and_never_for_none(void **state)
{
	static struct desk desk = {
		.orders.in_flight_max = 100, .in_hand = 99, .claiming = true, .registered = true
	};

	(void)state;
	assert_true(desk_claim_is_due(&desk));
	desk.in_hand = 100;
	assert_false(desk_claim_is_due(&desk));
	desk.in_hand = 101; /* what is on its way under an id given up */
	assert_false(desk_claim_is_due(&desk));
}

/* A batch takes 256 words: what is left over must not wait for the next look at something else. */
static void the_rest_of_a_batch_is_not_waited_for(void **state)
{
	static struct desk desk;
	struct errand errand = { .kind = ERRAND_SEND };
	struct errand_list *const lists[] = { &desk.finished, &desk.unsettled, &desk.kept,
					      &desk.told };

	(void)state;
	assert_false(desk_has_work(&desk));
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		errand_push(lists[i], &errand);
		desk.trouble_until_ms = 0;
		assert_true(desk_has_work(&desk));
		desk.trouble_until_ms = clock_monotonic_ms() + 3600000;
		assert_false(desk_has_work(&desk)); /* after the database refused */
		assert_ptr_equal(errand_pop(lists[i]), &errand);
	}
}

/* A batch that takes as long as the lease would lose it, and with it every attempt on its way. */
static void a_slow_database_gets_smaller_batches_and_a_quick_one_full_ones(void **state)
{
	size_t max = SETTLE_MAX;

	(void)state;
	for (int i = 0; i < 20; i++) {
		size_t next = settling_next_max(max, max, 5001, 5000);

		assert_true(next > 0 && (next < max || i > 4));
		max = next;
	}
	assert_in_range(max, 1, 8);
	assert_int_equal(settling_next_max(max, max, 5000, 5000), max);
	for (int i = 0; i < 20; i++)
		max = settling_next_max(max, max, 100, 5000);
	assert_int_equal(max, SETTLE_MAX);
	assert_int_equal(settling_next_max(100, 100, 0, 5000), 200);
	assert_int_equal(settling_next_max(100, 99, 0, 5000), 100); /* nothing was tried */
	assert_int_equal(settling_next_max(256, 20, 5001, 5000), 10);
}

/* A look that stays due is one that the thread never waits for. */
static void a_desk_with_no_room_for_a_certification_waits_for_its_next_look(void **state)
{
	static struct desk desk = { .claiming = true, .registered = true, .runs_len = SIZE_MAX };
	int64_t before_ms = clock_monotonic_ms();

	(void)state;
	desk.certify_at_ms = before_ms;
	certifying_run(&desk);
	assert_true(desk.certify_at_ms > before_ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_full_claim_left_is_not_waited_for),
		cmocka_unit_test(a_look_that_is_due_claims_for_the_last_slot_and_never_for_none),
		cmocka_unit_test(the_rest_of_a_batch_is_not_waited_for),
		cmocka_unit_test(a_slow_database_gets_smaller_batches_and_a_quick_one_full_ones),
		cmocka_unit_test(a_desk_with_no_room_for_a_certification_waits_for_its_next_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
