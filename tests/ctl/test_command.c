/* test_command.c: what the command line means. The handlers are stand-ins; no database is near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/cmd.h"

#define WORDS_MAX 24

/* Only their addresses count: a row is known by its handler. */
#define STAND_IN(name)                                                                             \
	enum ctl_exit name(struct ctl *ctl, const struct args *args)                               \
	{                                                                                          \
		(void)ctl;                                                                         \
		(void)args;                                                                        \
		return CTL_DONE;                                                                   \
	}
STAND_IN(cmd_migrate)
STAND_IN(cmd_token_create)
STAND_IN(cmd_token_list)
STAND_IN(cmd_token_revoke)
STAND_IN(cmd_provider_put)
STAND_IN(cmd_provider_list)
STAND_IN(cmd_provider_show)
STAND_IN(cmd_provider_delete)
STAND_IN(cmd_contract_put)
STAND_IN(cmd_contract_list)
STAND_IN(cmd_contract_show)
STAND_IN(cmd_contract_delete)
STAND_IN(cmd_contract_certify)
STAND_IN(cmd_contract_certificates)
STAND_IN(cmd_job_list)
STAND_IN(cmd_job_show)
STAND_IN(cmd_job_cancel)
STAND_IN(cmd_attempt_list)
STAND_IN(cmd_attempt_settle)
STAND_IN(cmd_race_list)
STAND_IN(cmd_webhook_put)
STAND_IN(cmd_webhook_list)
STAND_IN(cmd_webhook_enable)
STAND_IN(cmd_webhook_delete)
STAND_IN(cmd_purge)
STAND_IN(cmd_doctor)

/* A command line cut at blanks, quotes around a word allowed; it lives until the next. */
struct line {
	char bytes[512];
	char *argv[WORDS_MAX + 1];
	int argc;
};

static void cut(const char *text, struct line *line)
{
	char *at = line->bytes;

	*line = (struct line){ .argc = 0 };
	snprintf(line->bytes, sizeof line->bytes, "%s", text);
	while (*at && line->argc < WORDS_MAX) {
		char end = *at == '\'' ? '\'' : ' ';

		at += end == '\'';
		line->argv[line->argc++] = at;
		at += strcspn(at, (char[]){ end, '\0' });
		while (*at == end || *at == ' ')
			*at++ = '\0';
	}
}

static enum parsed parse(const char *text, struct line *line, struct args *args, struct text *why)
{
	cut(text, line);
	text_clear(why);
	return command_parse(line->argc, line->argv, args, why);
}

static void each_line_means_what_it_says(void **state)
{
	static const struct {
		const char *line;
		enum parsed want;
		enum ctl_exit (*run)(struct ctl *ctl, const struct args *args);
	} rows[] = {
		{ "onejob", PARSED_USAGE, NULL },
		{ "onejob --help", PARSED_HELP, NULL },
		{ "onejob help", PARSED_HELP, NULL },
		{ "onejob --version", PARSED_VERSION, NULL },
		{ "onejob frob", PARSED_USAGE, NULL },
		{ "onejob --frob", PARSED_USAGE, NULL },
		{ "onejob job", PARSED_USAGE, NULL },
		{ "onejob job --help", PARSED_HELP, NULL },
		{ "onejob job frob", PARSED_USAGE, NULL },
		{ "onejob job list", PARSED_COMMAND, cmd_job_list },
		{ "onejob job list --help", PARSED_HELP, cmd_job_list },
		{ "onejob job list --limit 3 --json", PARSED_COMMAND, cmd_job_list },
		{ "onejob job list --limit=3", PARSED_COMMAND, cmd_job_list },
		{ "onejob --json job list", PARSED_COMMAND, cmd_job_list },
		{ "onejob --json migrate", PARSED_COMMAND, cmd_migrate },
		{ "onejob --json", PARSED_USAGE, NULL },
		{ "onejob job list --limit", PARSED_USAGE, cmd_job_list },
		{ "onejob job list --limit 3 --limit 4", PARSED_USAGE, cmd_job_list },
		{ "onejob job list --json=yes", PARSED_USAGE, cmd_job_list },
		{ "onejob job list --error x", PARSED_USAGE, cmd_job_list },
		{ "onejob job list -x", PARSED_USAGE, cmd_job_list },
		{ "onejob job list one", PARSED_USAGE, cmd_job_list },
		{ "onejob job show", PARSED_USAGE, cmd_job_show },
		{ "onejob job show one", PARSED_COMMAND, cmd_job_show },
		{ "onejob job show one two", PARSED_USAGE, cmd_job_show },
		{ "onejob provider put inkjet -", PARSED_COMMAND, cmd_provider_put },
		{ "onejob contract put summary - --json", PARSED_COMMAND, cmd_contract_put },
		{ "onejob contract delete summary --json", PARSED_COMMAND, cmd_contract_delete },
		{ "onejob contract certificates", PARSED_COMMAND, cmd_contract_certificates },
		{ "onejob contract certificates one", PARSED_COMMAND, cmd_contract_certificates },
		{ "onejob contract certificates one two", PARSED_USAGE, cmd_contract_certificates },
		{ "onejob contract certify one --renew one", PARSED_USAGE, cmd_contract_certify },
		{ "onejob contract certify one --no-wait --no-wait", PARSED_USAGE,
		  cmd_contract_certify },
		{ "onejob contract certify one --route=1 --route=2 --route=3 --route=4 --route=5 "
		  "--route=6 --route=7 --route=8 --route=9 --route=10 --route=11 --route=12",
		  PARSED_COMMAND, cmd_contract_certify },
		{ "onejob doctor", PARSED_COMMAND, cmd_doctor },
		{ "onejob doctor --help", PARSED_HELP, cmd_doctor },
		{ "onejob migrate now", PARSED_USAGE, cmd_migrate },
		{ "onejob attempt settle one cancelled --note 'asked by phone'", PARSED_COMMAND,
		  cmd_attempt_settle },
		{ "onejob attempt settle --note x one cancelled", PARSED_COMMAND,
		  cmd_attempt_settle },
		{ "onejob webhook put ann --url x --secret y --secret z", PARSED_COMMAND,
		  cmd_webhook_put },
		{ "onejob webhook put ann --secret x --secret y --secret z", PARSED_USAGE,
		  cmd_webhook_put },
		{ "onejob webhook put ann --url x --url y", PARSED_USAGE, cmd_webhook_put },
		{ "onejob webhook put --url x", PARSED_USAGE, cmd_webhook_put },
		{ "onejob attempt settle one cancelled --state x", PARSED_USAGE,
		  cmd_attempt_settle },
	};
	struct line line;
	struct args args;
	struct text why;

	(void)state;
	text_init(&why, 4096);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum parsed got = parse(rows[i].line, &line, &args, &why);

		if (got != rows[i].want)
			fail_msg("%s: got %d, want %d", rows[i].line, got, rows[i].want);
		if ((args.command ? args.command->run : NULL) != rows[i].run)
			fail_msg("%s: another row's handler", rows[i].line);
		if ((got == PARSED_USAGE) != (why.len > 0))
			fail_msg("%s: a reason is given exactly when it is refused", rows[i].line);
	}
	text_release(&why);
}

static void values_and_operands_arrive_where_they_belong(void **state)
{
	struct line line;
	struct args args;
	struct text why;

	(void)state;
	text_init(&why, 4096);
	assert_int_equal(
		parse("onejob attempt settle --error 'paper jam' one failed --provider laser",
		      &line, &args, &why),
		PARSED_COMMAND);
	assert_string_equal(args.operand[0], "one");
	assert_string_equal(args.operand[1], "failed");
	assert_string_equal(args.option[OPTION_ERROR], "paper jam");
	assert_string_equal(args.option[OPTION_PROVIDER], "laser");
	assert_null(args.option[OPTION_NOTE]);
	assert_null(args.option[OPTION_JSON]);
	assert_int_equal(
		parse("onejob webhook put ann --secret x --url z --secret y", &line, &args, &why),
		PARSED_COMMAND);
	assert_string_equal(args.option[OPTION_SECRET], "x");
	assert_string_equal(args.again[OPTION_SECRET][0], "y");
	assert_null(args.again[OPTION_URL][0]);
	assert_int_equal(parse("onejob contract certify summary --route a --route b --route c",
			       &line, &args, &why),
			 PARSED_COMMAND);
	assert_string_equal(args.option[OPTION_ROUTE], "a");
	assert_string_equal(args.again[OPTION_ROUTE][0], "b");
	assert_string_equal(args.again[OPTION_ROUTE][1], "c");
	assert_null(args.again[OPTION_ROUTE][2]);
	assert_string_equal(args.operand[0], "summary");
	assert_int_equal(parse("onejob contract certify --renew --within 12h", &line, &args, &why),
			 PARSED_COMMAND);
	assert_null(args.operand[0]);
	assert_string_equal(args.option[OPTION_WITHIN], "12h");
	assert_int_equal(parse("onejob attempt settle one", &line, &args, &why), PARSED_USAGE);
	assert_non_null(strstr(why.bytes, "something is missing: onejob attempt settle ID"));
	assert_null(strchr(why.bytes, '\n')); /* it is said in one line */
	text_release(&why);
}

static void the_example_of_each_row_is_that_row(void **state)
{
	struct line line;
	struct args args;
	struct text why;

	(void)state;
	text_init(&why, 4096);
	for (size_t i = 0; i < command_rows_len; i++) {
		const struct command *row = &command_rows[i];

		if (parse(row->example, &line, &args, &why) != PARSED_COMMAND ||
		    args.command != row)
			fail_msg("%s: %s", row->example, why.bytes ? why.bytes : "another row");
	}
	text_release(&why);
}

static char *help_of(const char *text)
{
	struct line line;
	struct args args;
	struct text why;
	char *help = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&help, &len);

	text_init(&why, 4096);
	assert_non_null(to);
	assert_int_equal(parse(text, &line, &args, &why), PARSED_HELP);
	command_help(to, &args);
	fclose(to);
	text_release(&why);
	return help;
}

static void help_on_every_level_has_usage_and_an_example(void **state)
{
	(void)state;
	for (size_t i = 0; i < command_rows_len * 2 + 1; i++) {
		const struct command *row = &command_rows[i / 2 % command_rows_len];
		char ask[64];

		if (i == command_rows_len * 2)
			snprintf(ask, sizeof ask, "onejob --help");
		else if (i % 2 == 0)
			snprintf(ask, sizeof ask, "onejob %s --help", row->noun);
		else
			snprintf(ask, sizeof ask, "onejob %s %s --help", row->noun,
				 row->verb ? row->verb : "");
		char *help = help_of(ask);
		if (!strstr(help, "usage:") || !strstr(help, "example: onejob "))
			fail_msg("%s: no usage or no example in:\n%s", ask, help);
		free(help);
	}
}

static void help_of_a_row_names_every_option_it_takes(void **state)
{
	(void)state;
	char *help = help_of("onejob attempt settle --help");
	static const char *const names[] = { "--result FILE",	"--error TEXT", "--note TEXT",
					     "--provider NAME", "--json",	"--help" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!strstr(help, names[i]))
			fail_msg("%s isn't in the help", names[i]);
	}
	free(help);
}

static void a_word_too_long_for_the_message_is_still_refused(void **state)
{
	struct args args;
	struct text why;
	char noun[8192];
	char *argv[] = { (char[]){ "onejob" }, noun, NULL };

	(void)state;
	memset(noun, 'x', sizeof noun - 1);
	noun[sizeof noun - 1] = '\0';
	text_init(&why, 4096);
	assert_int_equal(command_parse(2, argv, &args, &why), PARSED_USAGE);
	assert_false(text_ok(&why));
	text_release(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_means_what_it_says),
		cmocka_unit_test(values_and_operands_arrive_where_they_belong),
		cmocka_unit_test(the_example_of_each_row_is_that_row),
		cmocka_unit_test(help_on_every_level_has_usage_and_an_example),
		cmocka_unit_test(help_of_a_row_names_every_option_it_takes),
		cmocka_unit_test(a_word_too_long_for_the_message_is_still_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
