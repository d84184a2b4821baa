/* test_desk.c: when the desk's thread waits, and when not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "poller/desk_own.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_of_a_batch_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
