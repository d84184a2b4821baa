/* command.c: see command.h. */
#include "ctl/command.h"

#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "core/job.h"
#include "ctl/cmd.h"

#define BIT(option) (1u << (option))
#define PAGE (BIT(OPTION_LIMIT) | BIT(OPTION_BEFORE) | BIT(OPTION_JSON))
#define AN_ID "0192f0c1-2345-7abc-8def-0123456789ab"

static const struct {
	const char *name;
	const char *value; /* what it takes, for people; NULL: nothing */
	const char *help;
} option_rows[OPTION__MAX] = {
	[OPTION_HELP] = { "help", NULL, "show this" },
	[OPTION_JSON] = { "json", NULL, "print JSON, for scripts" },
	[OPTION_OWNER] = { "owner", "OWNER",
			   "a user or tenant: 1 to 255 bytes without control bytes" },
	[OPTION_ROLE] = { "role", "ROLE",
			  "user (the default) sees its owner's jobs; operator sees and settles "
			  "all" },
	[OPTION_EXPIRES_IN] = { "expires-in", "LENGTH", "30s, 15m, 12h or 90d; without it, never" },
	[OPTION_STATE] = { "state", "STATE", "only those in this state" },
	[OPTION_PROVIDER] = { "provider", "NAME", "a provider by its name" },
	[OPTION_LIMIT] = { "limit", "N", "how many rows, 1 to 200; 50 by default" },
	[OPTION_BEFORE] = { "before", "ID", "only those older than this one: the next page" },
	[OPTION_UNKNOWN] = { "unknown", NULL,
			     "only those in doubt, each with the commands that settle it" },
	[OPTION_RESULT] = { "result", "FILE", "the result, one JSON text; - is standard input" },
	[OPTION_ERROR] = { "error", "TEXT", "what went wrong; the job's owner can read it" },
	[OPTION_NOTE] = { "note", "TEXT", "how you know; kept with the attempt" },
	[OPTION_PAYLOADS_AFTER] = { "payloads-after", "LENGTH",
				    "empty settled jobs that didn't change for so long: 30d" },
	[OPTION_KEYS_AFTER] = { "keys-after", "LENGTH",
				"remove their rows too, so that their keys are new again: 365d" },
	[OPTION_URL] = { "url", "URL", "where messages go: https or http, the whole address" },
	[OPTION_SECRET] = { "secret", "REF",
			    "where the poller finds the secret, ${file:/path} or ${env:NAME}; "
			    "twice "
			    "while it changes" },
	[OPTION_ROUTE] = { "route", "PROVIDER",
			   "only this route, by its provider; may be given 16 times" },
	[OPTION_SIDE_EFFECTS] = { "side-effects", NULL,
				  "the work has side effects, and they are meant" },
	[OPTION_NO_WAIT] = { "no-wait", NULL, "ask for it, and don't wait for the verdicts" },
	[OPTION_RENEW] = { "renew", NULL,
			   "those routes whose certificate has expired or is about to; for cron" },
	[OPTION_WITHIN] = { "within", "LENGTH",
			    "with --renew: about to is so long; 24h by default" },
};

/* How often an option may be given. */
static int times_of(int option)
{
	return option == OPTION_SECRET ? 2 : option == OPTION_ROUTE ? TIMES_MAX : 1;
}

const struct command command_rows[] = {
	{ "migrate", NULL, "", "Bring the schema up to date; nothing to do is no error.",
	  "onejob migrate", BIT(OPTION_JSON), 0, cmd_migrate },

	{ "token", "create", "--owner OWNER [--role user|operator] [--expires-in LENGTH]",
	  "Make a bearer token and print it, once: only its SHA-256 is kept.",
	  "onejob token create --owner alice --expires-in 90d",
	  BIT(OPTION_OWNER) | BIT(OPTION_ROLE) | BIT(OPTION_EXPIRES_IN) | BIT(OPTION_JSON), 0,
	  cmd_token_create },
	{ "token", "list", "", "List the tokens by id, owner and role.", "onejob token list",
	  BIT(OPTION_JSON), 0, cmd_token_list },
	{ "token", "revoke", "ID", "Make a token useless, at once.",
	  "onejob token revoke 3f9a0c77be12", BIT(OPTION_JSON), 1, cmd_token_revoke },

	{ "provider", "put", "NAME FILE|-", "Create or change a provider from a JSON file.",
	  "onejob provider put inkjet inkjet.json", BIT(OPTION_JSON), 2, cmd_provider_put },
	{ "provider", "list", "", "List the providers.", "onejob provider list", BIT(OPTION_JSON),
	  0, cmd_provider_list },
	{ "provider", "show", "NAME", "Show a provider's definition, with all defaults.",
	  "onejob provider show inkjet", BIT(OPTION_JSON), 1, cmd_provider_show },
	{ "provider", "delete", "NAME",
	  "Remove a provider that no queued job, no open attempt and no contract's route names.",
	  "onejob provider delete inkjet", BIT(OPTION_JSON), 1, cmd_provider_delete },

	{ "contract", "put", "NAME FILE|-", "Create or change a contract from a JSON file.",
	  "onejob contract put summary summary.json", BIT(OPTION_JSON), 2, cmd_contract_put },
	{ "contract", "list", "", "List the contracts.", "onejob contract list", BIT(OPTION_JSON),
	  0, cmd_contract_list },
	{ "contract", "show", "NAME",
	  "Show a contract: how its routes stand, and its definition with all defaults.",
	  "onejob contract show summary", BIT(OPTION_JSON), 1, cmd_contract_show },
	{ "contract", "delete", "NAME",
	  "Remove a contract: no new job may name it; jobs in flight keep their version.",
	  "onejob contract delete summary", BIT(OPTION_JSON), 1, cmd_contract_delete },
	{ "contract", "certify",
	  "NAME [--route PROVIDER ...] [--side-effects] [--no-wait]\n"
	  "       onejob contract certify --renew [NAME] [--within LENGTH] [--side-effects] "
	  "[--no-wait]",
	  "Prove that routes meet the contract, by its fixtures, at the real providers.\n"
	  "A poller does the work; the report comes when every route has its verdict. Exits 1 if "
	  "one has failed.\n"
	  "Jobs fail over only to routes with a certificate that is valid at that moment.",
	  "onejob contract certify summary --route spare",
	  BIT(OPTION_ROUTE) | BIT(OPTION_SIDE_EFFECTS) | BIT(OPTION_NO_WAIT) | BIT(OPTION_RENEW) |
		  BIT(OPTION_WITHIN) | BIT(OPTION_JSON),
	  1 | LAST_MAY_LACK, cmd_contract_certify },
	{ "contract", "certificates", "[NAME]",
	  "List the newest verdict on each route, and whether it is valid now.",
	  "onejob contract certificates summary", BIT(OPTION_JSON), 1 | LAST_MAY_LACK,
	  cmd_contract_certificates },

	{ "job", "list", "[--state S] [--owner O] [--provider P] [--limit N] [--before ID]",
	  "List jobs, newest first.\nSTATE is one of " JOB_STATE_NAMES ".",
	  "onejob job list --state unknown --owner alice",
	  BIT(OPTION_STATE) | BIT(OPTION_OWNER) | BIT(OPTION_PROVIDER) | PAGE, 0, cmd_job_list },
	{ "job", "show", "ID", "Show a job, its attempts, and what can be done next.",
	  "onejob job show " AN_ID, BIT(OPTION_JSON), 1, cmd_job_show },
	{ "job", "cancel", "ID", "Cancel a job; what its attempts bring later is thrown away.",
	  "onejob job cancel " AN_ID, BIT(OPTION_JSON), 1, cmd_job_cancel },

	{ "attempt", "list", "[--unknown | --state S] [--limit N] [--before ID]",
	  "List attempts, newest first.\nSTATE is one of " ATTEMPT_STATE_NAMES ".",
	  "onejob attempt list --unknown", BIT(OPTION_UNKNOWN) | BIT(OPTION_STATE) | PAGE, 0,
	  cmd_attempt_list },
	{ "attempt", "settle",
	  "ID succeeded --result FILE|- | failed --error TEXT | cancelled | released\n"
	  "       [--note TEXT] [--provider NAME]    (--provider: where the next attempt goes, at "
	  "once; not with succeeded)",
	  "Say what became of an attempt that nobody here can tell about.\n"
	  "  succeeded   it had its effect; this is its result\n"
	  "  failed      it had no effect and never will, or one that can't be used\n"
	  "  cancelled   it was stopped; whatever it brings later is thrown away\n"
	  "  released    still not known, but another attempt may race it; the first result wins",
	  "onejob attempt settle " AN_ID " failed --error 'paper jam' --note 'asked by phone'",
	  BIT(OPTION_RESULT) | BIT(OPTION_ERROR) | BIT(OPTION_NOTE) | BIT(OPTION_PROVIDER) |
		  BIT(OPTION_JSON),
	  2, cmd_attempt_settle },

	{ "race", "list", "[--limit N] [--before ID]",
	  "List results that came too late and were thrown away.", "onejob race list --limit 20",
	  PAGE, 0, cmd_race_list },

	{ "webhook", "put", "OWNER --url URL --secret REF [--secret REF]",
	  "Tell an owner's endpoint what becomes of its jobs (Standard Webhooks), from now on.\n"
	  "A secret is whsec_ and base64 of 24 to 64 bytes, and stays where REF says; with two, "
	  "both "
	  "sign.\n"
	  "Messages that were given up are sent again.",
	  "onejob webhook put alice --url https://alice.example/hooks "
	  "--secret '${file:/etc/onejob/alice.whsec}'",
	  BIT(OPTION_URL) | BIT(OPTION_SECRET) | BIT(OPTION_JSON), 1, cmd_webhook_put },
	{ "webhook", "list", "", "List the endpoints, and what waits for them.",
	  "onejob webhook list", BIT(OPTION_JSON), 0, cmd_webhook_list },
	{ "webhook", "enable", "OWNER",
	  "Enable an endpoint again; messages that were given up are sent again.",
	  "onejob webhook enable alice", BIT(OPTION_JSON), 1, cmd_webhook_enable },
	{ "webhook", "delete", "OWNER", "Remove an endpoint, with the messages that wait for it.",
	  "onejob webhook delete alice", BIT(OPTION_JSON), 1, cmd_webhook_delete },

	{ "purge", NULL, "--payloads-after LENGTH [--keys-after LENGTH]",
	  "Empty old settled jobs, and reports of certificates that don't count any more; keys "
	  "stay "
	  "taken unless --keys-after is given.",
	  "onejob purge --payloads-after 30d",
	  BIT(OPTION_PAYLOADS_AFTER) | BIT(OPTION_KEYS_AFTER) | BIT(OPTION_JSON), 0, cmd_purge },

	{ "doctor", NULL, "",
	  "Tell what is wrong with this deployment, and how to mend it. Exits 1 if a row is bad.",
	  "onejob doctor", BIT(OPTION_JSON), 0, cmd_doctor },
};
const size_t command_rows_len = sizeof command_rows / sizeof command_rows[0];

static bool starts_noun(size_t row)
{
	return row == 0 || strcmp(command_rows[row].noun, command_rows[row - 1].noun) != 0;
}

static bool is_noun(const char *word)
{
	for (size_t i = 0; i < command_rows_len; i++) {
		if (strcmp(command_rows[i].noun, word) == 0)
			return true;
	}
	return false;
}

/* The noun's row with that verb; NULL matches a noun that stands alone. */
static const struct command *find(const char *noun, const char *verb)
{
	for (size_t i = 0; i < command_rows_len; i++) {
		const struct command *row = &command_rows[i];

		if (strcmp(row->noun, noun) == 0 &&
		    (!row->verb || (verb && strcmp(row->verb, verb) == 0)))
			return row;
	}
	return NULL;
}

static void fill_getopt(const struct command *command, struct option *list)
{
	for (int i = 0; i < OPTION__MAX; i++) {
		if (i != OPTION_HELP && !(command->options & BIT(i)))
			continue;
		*list++ = (struct option){ option_rows[i].name,
					   option_rows[i].value ? required_argument : no_argument,
					   NULL, i };
	}
	*list = (struct option){ NULL, 0, NULL, 0 };
}

/* `bad` is what getopt_long stopped at. */
static enum parsed option_refused(int found, char *const *argv, struct text *why)
{
	if (found == ':')
		text_addf(why, "%s wants a value", argv[optind - 1]);
	else if (optopt > OPTION_HELP && optopt < OPTION__MAX)
		text_addf(why, "%s takes no value", argv[optind - 1]);
	else if (optopt)
		text_addf(why, "there is no option -%c here", optopt);
	else
		text_addf(why, "there is no option %s here", argv[optind - 1]);
	return PARSED_USAGE;
}

static enum parsed parse_operands(int argc, char *const *argv, struct args *args, struct text *why)
{
	size_t given = (size_t)(argc - optind);
	size_t most = args->command->operands & ~(size_t)LAST_MAY_LACK;
	size_t least = most - (most != args->command->operands);

	if (given < least || given > most) {
		/* The usage goes on below, in the help: here its first line is enough. */
		text_addf(why, "%s: onejob %s%s%s %.*s",
			  given > most ? "too many words" : "something is missing",
			  args->command->noun, args->command->verb ? " " : "",
			  args->command->verb ? args->command->verb : "",
			  (int)strcspn(args->command->usage, "\n"), args->command->usage);
		return PARSED_USAGE;
	}
	for (size_t i = 0; i < given; i++)
		args->operand[i] = argv[optind + (int)i];
	return PARSED_COMMAND;
}

static bool keep_option(struct args *args, int found, struct text *why)
{
	const char *value = optarg ? optarg : "";
	int times = times_of(found);

	if (!args->option[found] || found == OPTION_HELP) {
		args->option[found] = value;
		return true;
	}
	for (int i = 0; i + 1 < times; i++) {
		if (args->again[found][i])
			continue;
		args->again[found][i] = value;
		return true;
	}
	text_addf(why, "--%s is given %s", option_rows[found].name,
		  times == 1   ? "twice"
		  : times == 2 ? "three times"
			       : "too often");
	return false;
}

static enum parsed parse_options(int argc, char **argv, struct args *args, struct text *why)
{
	struct option list[OPTION__MAX + 1];
	int found;

	fill_getopt(args->command, list);
	optind = 0; /* a fresh start, glibc's way: no state is left of an earlier parse */
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":", list, NULL)) != -1) {
		if (found == ':' || found == '?')
			return option_refused(found, argv, why);
		if (!keep_option(args, found, why))
			return PARSED_USAGE;
	}
	if (args->option[OPTION_HELP])
		return PARSED_HELP;
	return parse_operands(argc, argv, args, why);
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* The command that the noun and perhaps the verb name. PARSED_COMMAND: args->command is set. */
static enum parsed parse_names(const char *noun, const char *verb, struct args *args,
			       struct text *why)
{
	if (is_help(noun))
		return PARSED_HELP;
	if (strcmp(noun, "--version") == 0)
		return PARSED_VERSION;
	if (!is_noun(noun)) {
		text_addf(why,
			  noun[0] == '-' ? "%s can't stand here: options follow the verb"
					 : "there is no noun '%s'",
			  noun);
		return PARSED_USAGE;
	}
	args->noun = noun;
	args->command = find(noun, verb);
	if (args->command)
		return PARSED_COMMAND;
	if (verb && is_help(verb))
		return PARSED_HELP;
	if (verb)
		text_addf(why, "'%s' can't be done to a %s", verb, noun);
	else
		text_addf(why, "what shall be done with the %s?", noun);
	return PARSED_USAGE;
}

enum parsed command_parse(int argc, char **argv, struct args *args_out, struct text *why)
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;

	*args_out = (struct args){ 0 };
	argc -= json;
	argv += json;
	if (argc < 2) {
		text_add_str(why, "what shall be done?");
		return PARSED_USAGE;
	}
	enum parsed parsed = parse_names(argv[1], argc > 2 ? argv[2] : NULL, args_out, why);
	if (parsed != PARSED_COMMAND)
		return parsed;
	if (json && !(args_out->command->options & BIT(OPTION_JSON))) {
		text_add_str(why, "there is no option --json here");
		return PARSED_USAGE;
	}
	if (json)
		args_out->option[OPTION_JSON] = "";
	int skip = args_out->command->verb ? 2 : 1;
	return parse_options(argc - skip, argv + skip, args_out, why);
}

static void help_line(FILE *to, const struct command *command)
{
	fprintf(to, "onejob %s%s%s%s%s\n", command->noun, command->verb ? " " : "",
		command->verb ? command->verb : "", command->usage[0] ? " " : "", command->usage);
}

void command_usage(FILE *to, const struct command *command)
{
	fputs("usage: ", to);
	help_line(to, command);
	fputs("--help behind it tells more\n", to);
}

static void help_command(FILE *to, const struct command *command)
{
	fputs("usage: ", to);
	help_line(to, command);
	fprintf(to, "\n%s\n\n", command->summary);
	for (int i = 0; i < OPTION__MAX; i++) {
		char left[40];

		if (i != OPTION_HELP && !(command->options & BIT(i)))
			continue;
		snprintf(left, sizeof left, "--%s %s", option_rows[i].name,
			 option_rows[i].value ? option_rows[i].value : "");
		fprintf(to, "  %-24s %s\n", left, option_rows[i].help);
	}
	fprintf(to, "\nexample: %s\n", command->example);
}

static void help_noun(FILE *to, const char *noun)
{
	const char *example = NULL;

	fputs("usage:\n", to);
	for (size_t i = 0; i < command_rows_len; i++) {
		if (strcmp(command_rows[i].noun, noun) != 0)
			continue;
		fputs("  ", to);
		help_line(to, &command_rows[i]);
		if (!example)
			example = command_rows[i].example;
	}
	fprintf(to, "\n--help after a verb tells more.\n\nexample: %s\n", example);
}

static void help_all(FILE *to)
{
	fputs("usage: onejob NOUN [VERB] [OPTION...]      onejob [NOUN [VERB]] --help      onejob "
	      "--version\n",
	      to);
	for (size_t i = 0; i < command_rows_len; i++) {
		const struct command *row = &command_rows[i];
		char left[40];

		if (starts_noun(i))
			fputc('\n', to);
		snprintf(left, sizeof left, "%s %s", row->noun, row->verb ? row->verb : "");
		fprintf(to, "  %-18s %.*s\n", left, (int)strcspn(row->summary, "\n"), row->summary);
	}
	fputs("\nThe database's address comes from the MySQL option files, group [onejob]; "
	      "ONEJOB_DEFAULTS_FILE names one\n"
	      "file instead of the usual ones. Exit status: 0 done; 1 refused or not found; 2 this "
	      "can't be meant;\n"
	      "3 the database can't be reached or failed.\n\nexample: onejob doctor\n",
	      to);
}

void command_help(FILE *to, const struct args *args)
{
	if (args->command)
		help_command(to, args->command);
	else if (args->noun)
		help_noun(to, args->noun);
	else
		help_all(to);
}

void command_version(FILE *to)
{
	fprintf(to, "onejob %s\n", PACKAGE_VERSION);
}
