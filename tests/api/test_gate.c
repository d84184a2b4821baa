/* test_gate.c: whether a request's bytes are good, whole, or not there yet. Record types and
 * layout: FastCGI Specification 1.0, sections 3.3 and 8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/gate.h"

#define ROWS(array) (sizeof(array) / sizeof(array)[0])

/* Version, type, request id, content's length, padding, reserved. */
#define RECORD(type, id, content, padding) "\1" type id "\0" content padding "\0"
#define ONE "\0\1"
#define BEGIN RECORD("\1", ONE, "\10", "\0") "\0\1\0\0\0\0\0\0"
#define PAIR "\1\2aBC" /* five bytes */
#define PARAMS RECORD("\4", ONE, "\5", "\0") PAIR RECORD("\4", ONE, "\0", "\0")
#define STDIN(content, padding) RECORD("\5", ONE, content, padding)
#define BODY_END STDIN("\0", "\0")

static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	enum gate want;
} rows[] = {
#define ROW(name, bytes, want)                                                                     \
	{                                                                                          \
		name, bytes, sizeof(bytes) - 1, want                                               \
	}
	ROW("nothing", "", GATE_MORE),
	ROW("half a begin", "\1\1\0\1\0\10\0\0\0\1", GATE_MORE),
	ROW("no parameters yet", BEGIN, GATE_MORE),
	ROW("parameters, and no end of them", BEGIN RECORD("\4", ONE, "\5", "\0") PAIR, GATE_MORE),
	ROW("a parameter cut", BEGIN RECORD("\4", ONE, "\5", "\0") "\1\2a", GATE_MORE),
	ROW("no body yet", BEGIN PARAMS, GATE_GOOD),
	ROW("an empty body", BEGIN PARAMS BODY_END, GATE_WHOLE),
	ROW("a body", BEGIN PARAMS STDIN("\3", "\0") "abc" BODY_END, GATE_WHOLE),
	ROW("a body with padding", BEGIN PARAMS STDIN("\3", "\5") "abc\0\0\0\0\0" BODY_END,
	    GATE_WHOLE),
	ROW("a body in two records",
	    BEGIN PARAMS STDIN("\3", "\0") "abc" STDIN("\2", "\0") "de" BODY_END, GATE_WHOLE),
	ROW("a body without its end", BEGIN PARAMS STDIN("\3", "\0") "abc", GATE_GOOD),
	ROW("a body cut", BEGIN PARAMS STDIN("\3", "\0") "ab", GATE_GOOD),
	ROW("a body cut in its padding", BEGIN PARAMS STDIN("\3", "\5") "abc\0\0", GATE_GOOD),
	ROW("the end's header cut", BEGIN PARAMS STDIN("\3", "\0") "abc\1\5\0\1\0\0\0", GATE_GOOD),
	ROW("the end of another's body", BEGIN PARAMS RECORD("\5", "\0\2", "\0", "\0"), GATE_GOOD),
	ROW("something else where the body's end should be",
	    BEGIN PARAMS STDIN("\3", "\0") "abc" RECORD("\2", ONE, "\0", "\0"), GATE_GOOD),
	ROW("an end that only looks like one, inside the body",
	    BEGIN PARAMS STDIN("\20", "\0") BODY_END, GATE_GOOD),
	ROW("a pair over two records",
	    BEGIN RECORD("\4", ONE, "\2", "\0") "\1\2" RECORD("\4", ONE, "\3", "\0") "aBC" RECORD(
		    "\4", ONE, "\0", "\0") BODY_END,
	    GATE_WHOLE),
	ROW("an end that cuts a pair",
	    BEGIN RECORD("\4", ONE, "\3", "\0") "\1\2a" RECORD("\4", ONE, "\0", "\0"), GATE_BAD),
	ROW("a length past any request's", BEGIN RECORD("\4", ONE, "\5", "\0") "\1\377\377\377\377",
	    GATE_BAD),
	ROW("another's parameters", BEGIN RECORD("\4", "\0\2", "\5", "\0") PAIR, GATE_BAD),
	ROW("a body before the parameters", BEGIN BODY_END, GATE_BAD),
	ROW("no responder's", RECORD("\1", ONE, "\10", "\0") "\0\2\0\0\0\0\0\0", GATE_BAD),
	ROW("another version", "\2\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0", GATE_BAD),
	ROW("a request without a number", RECORD("\1", "\0\0", "\10", "\0") "\0\1\0\0\0\0\0\0",
	    GATE_BAD),
};

static void what_has_not_arrived_whole_is_not_taken_for_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		enum gate gate = gate_check((const unsigned char *)rows[i].bytes, rows[i].len);

		if (gate != rows[i].want)
			fail_msg("%s: %d", rows[i].name, (int)gate);
	}
}

static void the_beginning_of_a_good_request_is_never_bad_and_only_all_of_it_whole(void **state)
{
	static const char request[] = BEGIN PARAMS STDIN("\3", "\5") "abc\0\0\0\0\0" BODY_END;

	(void)state;
	for (size_t len = 0; len < sizeof request - 1; len++) {
		enum gate gate = gate_check((const unsigned char *)request, len);

		if (gate != GATE_MORE && gate != GATE_GOOD)
			fail_msg("%zu bytes: %d", len, (int)gate);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_not_arrived_whole_is_not_taken_for_whole),
		cmocka_unit_test(
			the_beginning_of_a_good_request_is_never_bad_and_only_all_of_it_whole),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
