#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/pattern.h"

static struct pattern *compile(const char *text)
{
	struct pattern *pattern;
	char why[PATTERN_WHY_MAX];

	if (pattern_compile(text, strlen(text), &pattern, why) != RC_OK)
		fail_msg("%s %s", text, why);
	return pattern;
}

/* With as much in the purse as one match may take. */
static enum pattern_verdict match(const struct pattern *pattern, const char *subject, size_t len)
{
	uint64_t steps = UINT64_MAX;
	enum pattern_verdict verdict = pattern_match(pattern, subject, len, &steps);

	assert_in_range(UINT64_MAX - steps, 1, PATTERN_STEPS(len));
	return verdict;
}

struct match {
	const char *pattern, *subject;
	enum pattern_verdict want;
};

static void run(const struct match *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct pattern *pattern = compile(rows[i].pattern);
		enum pattern_verdict got = match(pattern, rows[i].subject, strlen(rows[i].subject));

		if (got != rows[i].want)
			fail_msg("%s on %s: got %d, want %d", rows[i].pattern, rows[i].subject, got,
				 rows[i].want);
		pattern_free(pattern);
	}
}

#define RUN(rows) run(rows, sizeof(rows) / sizeof(rows)[0])

static void a_pattern_means_what_ecma_262_says(void **state)
{
	static const struct match rows[] = {
		{ "b", "abc", PATTERN_MATCHES },
		{ "^b", "abc", PATTERN_DIFFERS },
		{ "^b", "a\nb", PATTERN_DIFFERS },
		{ "a$", "a\n", PATTERN_DIFFERS },
		{ "", "", PATTERN_MATCHES },
		{ "^a|b$", "xb", PATTERN_MATCHES },
		{ "^.$", "\xc3\xa9", PATTERN_MATCHES }, /* a code point, not a byte */
		{ "^.$", "\xf0\x9f\x90\xb2", PATTERN_MATCHES },
		{ "^.$", "\n", PATTERN_DIFFERS },
		{ "^.$", "\r", PATTERN_DIFFERS },
		{ "^.$", "\xe2\x80\xa8", PATTERN_DIFFERS }, /* U+2028 */
		{ "^.$", "\xc2\x85", PATTERN_MATCHES },	    /* U+0085 ends no line there */
		{ "^\\d$", "\xdf\x80", PATTERN_DIFFERS },   /* a digit of N'Ko */
		{ "^\\D$", "\xdf\x80", PATTERN_MATCHES },
		{ "^[^\\d]$", "\xdf\x80", PATTERN_MATCHES },
		{ "^\\w$", "\xc3\xa9", PATTERN_DIFFERS },
		{ "^[\\W]$", "\xc3\xa9", PATTERN_MATCHES },
		{ "^\\s$", "\xc2\xa0", PATTERN_MATCHES },
		{ "^[\\s]$", "\xef\xbb\xbf", PATTERN_MATCHES },
		{ "^\\S$", "\xe2\x80\x83", PATTERN_DIFFERS },
		{ "^[\\S]$", "\xe2\x80\x83", PATTERN_DIFFERS },
		{ "^[^\\s]$", "\xe2\x80\x83", PATTERN_DIFFERS },
		{ "^[\\S]$", "\xee\x80\x80", PATTERN_MATCHES },
		{ "\\ba\\b",
		  "\xc3\xa9"
		  "a"
		  "\xc3\xa9",
		  PATTERN_MATCHES }, /* words are ASCII */
		{ "a\\B", "ab", PATTERN_MATCHES },
		{ "^[\\b]$", "\b", PATTERN_MATCHES },
		{ "^\\cJ\\t\\v\\f\\x41\\u0042\\u{43}$", "\n\t\v\fABC", PATTERN_MATCHES },
		{ "^\\uD83D\\uDC32$", "\xf0\x9f\x90\xb2", PATTERN_MATCHES },
		{ "^[\\u{1F432}-\\u{1F433}]$", "\xf0\x9f\x90\xb3", PATTERN_MATCHES },
		{ "^[]$", "a", PATTERN_DIFFERS },
		{ "^[]*$", "", PATTERN_MATCHES },
		{ "^[^]$", "\n", PATTERN_MATCHES },
		{ "^[a-]$", "-", PATTERN_MATCHES },
		{ "^[-a]$", "-", PATTERN_MATCHES },
		{ "^[\\w.-]+$", "a.b-c", PATTERN_MATCHES },
		{ "^[\\w\\-]+$", "a-c", PATTERN_MATCHES },
		{ "^[[:alpha:]$", "h", PATTERN_MATCHES }, /* no class of POSIX: [ : a l p h */
		{ "^[&&]$", "&", PATTERN_MATCHES },
		{ "^a{2}$", "aa", PATTERN_MATCHES },
		{ "^a{2,}$", "a", PATTERN_DIFFERS },
		{ "^a{0,2}?$", "aa", PATTERN_MATCHES },
		{ "^(?:ab)+?$", "abab", PATTERN_MATCHES },
		{ "^(?<year>\\d{4})$", "2026", PATTERN_MATCHES },
		{ "^(?=.*\\d)(?!.*x)[a-z\\d]+$", "ab1", PATTERN_MATCHES },
		{ "^(?=.*\\d)(?!.*x)[a-z\\d]+$", "ax1", PATTERN_DIFFERS },
		{ "(?<=a|b)c", "bc", PATTERN_MATCHES },
		{ "(?<!a)c", "ac", PATTERN_DIFFERS },
		{ "^\\p{Letter}\\p{Lu}\\P{gc=Nd}$", "\xc3\xa9\xc3\x89x", PATTERN_MATCHES },
		{ "^\\p{Script=Greek}[\\p{sc=Latin}]$", "\xce\xb1z", PATTERN_MATCHES },
		{ "^\\p{Any}\\p{ASCII}\\p{Alphabetic}$", "!!a", PATTERN_MATCHES },
		{ "^\\$\\^\\/\\.$", "$^/.", PATTERN_MATCHES },
		{ "^# x$", "# x", PATTERN_MATCHES },
		{ "^\\0$", "x", PATTERN_DIFFERS },
		{ "\"'<>=!@%,;:&_~`", "\"'<>=!@%,;:&_~`", PATTERN_MATCHES },
	};

	(void)state;
	RUN(rows);
}

static void what_another_dialect_has_is_refused(void **state)
{
	static const char *const rows[] = {
		"a**",
		"a{2}{3}",
		"+",
		"?a",
		"a)",
		"(a",
		"[a",
		"a\\",
		"{1}",
		"a{",
		"a}",
		"]",
		"a{2,1}",
		"a{1001}",
		"\\Z",
		"\\A",
		"\\a",
		"\\e",
		"\\h",
		"\\R",
		"\\K",
		"\\Qa\\E",
		"\\-",
		"\\ ",
		"\\_",
		"(?i)a",
		"(?>a)",
		"(?#a)",
		"(a)\\1",
		"(?<n>a)\\k<n>",
		"(?P<n>a)",
		"(?<1>a)",
		"(?<>a)",
		"a++",
		"(?(1)a)",
		"[z-a]",
		"[\\d-z]",
		"[a-\\d]",
		"\\p{L",
		"\\pL",
		"\\p{Nope}",
		"\\p{^L}",
		"\\p{Script=Nope}",
		"\\p{letter}",
		"\\x1",
		"\\u12",
		"\\u{110000}",
		"\\u{}",
		"\\uD800",
		"\\uDC00",
		"\\00",
		"\\c1",
		"^*",
		"\\b+",
		"(?=a)*",
		"(?<=a+)b",
		"\xc3\x28",
		"(*UCP)a",
		"(*LIMIT_MATCH=1)a",
		"$?",
		"[[:alpha:]]",
		"a{,3}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct pattern *pattern;
		char why[PATTERN_WHY_MAX] = "";

		if (pattern_compile(rows[i], strlen(rows[i]), &pattern, why) != RC_INVALID)
			fail_msg("%s: taken", rows[i]);
		if (pattern || why[0] == '\0')
			fail_msg("%s: no reason", rows[i]);
	}
}

/* The subjects end in what makes the whole attempt fail at last. */
static void a_pattern_that_takes_too_long_is_not_judged(void **state)
{
	static const char *const rows[] = {
		"^(a+)+$",
		"^(a|a)*$",
		"(a+)+[bc]",
		"^(a|aa)+$",
		"^(.*a){12}$",
		"(?=(a+)+$)x?^(a*)*[bc]",
		"(?:a?){50}a{50}[bc]",
		".*.*.*.*.*[bc]",
		"a*a*a*a*a*[bc]",
	};
	enum { LEN = 20000 };
	char *subject = malloc(LEN);

	(void)state;
	assert_non_null(subject);
	memset(subject, 'a', LEN);
	subject[LEN - 1] = '!';
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct pattern *pattern = compile(rows[i]);

		if (match(pattern, subject, LEN) != PATTERN_UNJUDGED)
			fail_msg("%s: judged", rows[i]);
		pattern_free(pattern);
	}
	free(subject);
}

static void a_simple_pattern_judges_a_long_text(void **state)
{
	enum { LEN = 100000 };
	static const struct {
		const char *pattern;
		enum pattern_verdict want;
	} rows[] = {
		{ "^[a-z]+!$", PATTERN_MATCHES },
		{ "!$", PATTERN_MATCHES },
		{ "^(?:ab?|c)*!$", PATTERN_MATCHES },
		{ "[0-9]", PATTERN_DIFFERS },
	};
	char *subject = malloc(LEN);

	(void)state;
	assert_non_null(subject);
	memset(subject, 'a', LEN);
	subject[LEN - 1] = '!';
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct pattern *pattern = compile(rows[i].pattern);
		enum pattern_verdict got = match(pattern, subject, LEN);

		if (got != rows[i].want)
			fail_msg("%s: got %d", rows[i].pattern, got);
		pattern_free(pattern);
	}
	free(subject);
}

static void what_a_match_costs_is_taken_from_the_purse(void **state)
{
	struct pattern *pattern = compile("^a+b$");
	uint64_t steps = 1000, none = 3;

	(void)state;
	assert_int_equal(pattern_match(pattern, "aaab", 4, &steps), PATTERN_MATCHES);
	assert_in_range(steps, 900, 960);
	assert_int_equal(pattern_match(pattern, "aaab", 4, &none), PATTERN_UNJUDGED);
	assert_int_equal(none, 0);
	pattern_free(pattern);
}

/* Its own set-up: or else a thousand patterns for a name of one byte are nearly free. */
static void a_match_of_nothing_costs_something(void **state)
{
	struct pattern *pattern = compile("^x");
	uint64_t steps = 1000;
	int matches = 0;

	(void)state;
	while (matches < 1000 && pattern_match(pattern, "", 0, &steps) == PATTERN_DIFFERS)
		matches++;
	assert_in_range(matches, 10, 50);
	assert_int_equal(steps, 0);
	pattern_free(pattern);
}

static void a_subject_that_is_no_utf8_is_not_judged(void **state)
{
	struct pattern *pattern = compile("a");

	(void)state;
	assert_int_equal(match(pattern,
			       "\xff"
			       "a",
			       2),
			 PATTERN_UNJUDGED);
	assert_int_equal(match(pattern, "\0a", 2), PATTERN_MATCHES);
	pattern_free(pattern);
}

static void a_pattern_too_large_is_refused(void **state)
{
	static const char *const open = "(?:", *const close = "){1000}";
	char text[PATTERN_MAX_BYTES + 2] = "", why[PATTERN_WHY_MAX];
	struct pattern *pattern;

	(void)state;
	for (int i = 0; i < 5; i++)
		strcat(text, open);
	strcat(text, "a");
	for (int i = 0; i < 5; i++)
		strcat(text, close);
	assert_int_equal(pattern_compile(text, strlen(text), &pattern, why), RC_INVALID);
	memset(text, '(', PATTERN_MAX_BYTES);
	assert_int_equal(pattern_compile(text, PATTERN_MAX_BYTES, &pattern, why), RC_INVALID);
	memset(text, 'a', PATTERN_MAX_BYTES + 1);
	assert_int_equal(pattern_compile(text, PATTERN_MAX_BYTES + 1, &pattern, why), RC_INVALID);
	assert_int_equal(pattern_compile(text, PATTERN_MAX_BYTES, &pattern, why), RC_OK);
	pattern_free(pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_means_what_ecma_262_says),
		cmocka_unit_test(what_another_dialect_has_is_refused),
		cmocka_unit_test(a_pattern_that_takes_too_long_is_not_judged),
		cmocka_unit_test(a_simple_pattern_judges_a_long_text),
		cmocka_unit_test(what_a_match_costs_is_taken_from_the_purse),
		cmocka_unit_test(a_match_of_nothing_costs_something),
		cmocka_unit_test(a_subject_that_is_no_utf8_is_not_judged),
		cmocka_unit_test(a_pattern_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
