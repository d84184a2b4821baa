/* command.h: what can be said on the command line: a row for each noun and verb. The rows parse and
 * print their help. */
#ifndef CTL_COMMAND_H
#define CTL_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "ctl/ctl.h"

enum option_name {
	OPTION_HELP,
	OPTION_JSON,
	OPTION_OWNER,
	OPTION_ROLE,
	OPTION_EXPIRES_IN,
	OPTION_STATE,
	OPTION_PROVIDER,
	OPTION_LIMIT,
	OPTION_BEFORE,
	OPTION_UNKNOWN,
	OPTION_RESULT,
	OPTION_ERROR,
	OPTION_NOTE,
	OPTION_PAYLOADS_AFTER,
	OPTION_KEYS_AFTER,
	OPTION_URL,
	OPTION_SECRET,
	OPTION_ROUTE,
	OPTION_SIDE_EFFECTS,
	OPTION_NO_WAIT,
	OPTION_RENEW,
	OPTION_WITHIN,
	OPTION__MAX
};

#define OPERANDS_MAX 2
#define LAST_MAY_LACK 16u /* added to a row's operands: the last one may be left out */
#define TIMES_MAX 16	  /* that any option may be given */

struct command;

struct args {
	const char *noun;		 /* NULL: none was given */
	const struct command *command;	 /* NULL: no verb was given */
	const char *option[OPTION__MAX]; /* NULL: not given; "" for one that takes no value */
	const char *again[OPTION__MAX][TIMES_MAX - 1]; /* what comes after, NULLs behind it */
	const char *operand[OPERANDS_MAX]; /* as many as the row says; NULL: it was left out */
};

struct command {
	const char *noun;
	const char *verb;     /* NULL: the noun alone */
	const char *usage;    /* what follows, for people */
	const char *summary;  /* a sentence */
	const char *example;  /* a whole command line */
	unsigned int options; /* 1 << OPTION_X, besides --help */
	size_t operands;      /* exactly; see LAST_MAY_LACK */
	enum ctl_exit (*run)(struct ctl *ctl, const struct args *args);
};

extern const struct command command_rows[];
extern const size_t command_rows_len;

enum parsed {
	PARSED_COMMAND, /* args_out is whole: run it */
	PARSED_HELP,	/* for the noun and command in args_out, which may be NULL */
	PARSED_VERSION,
	PARSED_USAGE, /* `why` says what is wrong; args_out's noun and command say how far it made
			 sense */
	PARSED__MAX
};

/* getopt_long may put argv into another order. Options stand after the verb, each at most once
 * (--secret twice, --route 16 times); --json may stand before the noun too. */
enum parsed command_parse(int argc, char **argv, struct args *args_out, struct text *why);

/* How the command is used, in a line or two. */
void command_usage(FILE *to, const struct command *command);

/* Usage, options and an example: of everything, of a noun, or of one command. */
void command_help(FILE *to, const struct args *args);
void command_version(FILE *to);

#endif
