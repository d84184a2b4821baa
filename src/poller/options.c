#include "poller/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR_MAX_S 86400u
#define EXIT_USAGE 2

static const char usage[] =
	"usage: onejob-poller [--once | --for SECONDS]\n"
	"\n"
	"Claims queued jobs, sends each attempt to its provider once, and writes down what came "
	"back.\n"
	"\n"
	"  --once          leave when nothing is due and nothing is on its way; with 1 where the "
	"database\n"
	"                  can't be reached or `onejob migrate` has work to do\n"
	"  --for SECONDS   claim for so long (1 to 86400), finish what is on its way, leave: for "
	"cron\n"
	"  --help          this text\n"
	"  --version\n"
	"\n"
	"SIGTERM stops the claiming and waits ONEJOB_GRACE_SECONDS for answers; a second one "
	"doesn't wait.\n"
	"Settings come from ONEJOB_* (onejob doctor lists them), the database from MySQL option "
	"files, group [onejob].\n"
	"\n"
	"example, a cron line that keeps one running:\n"
	"  * * * * * onejob-poller --for 55\n";

static bool read_seconds(const char *text, uint32_t *seconds_out)
{
	uint64_t seconds = 0;

	if (strlen(text) < 1 || strlen(text) > 5)
		return false;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		seconds = seconds * 10 + (uint64_t)(*c - '0');
	}
	*seconds_out = (uint32_t)seconds;
	return seconds >= 1 && seconds <= FOR_MAX_S;
}

static bool refuse(int *code_out, const char *what, const char *value)
{
	fprintf(stderr, "onejob-poller: %s%s\n%s", what, value, usage);
	*code_out = EXIT_USAGE;
	return false;
}

bool options_read(int argc, char **argv, struct options *options_out, int *code_out)
{
	static const struct option known[] = {
		{ "once", no_argument, NULL, 'o' },
		{ "for", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*options_out = (struct options){ 0 };
	*code_out = EXIT_SUCCESS;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		switch (option) {
		case 'o': options_out->once = true; break;
		case 'f':
			if (!read_seconds(optarg, &options_out->for_s))
				return refuse(code_out, "--for takes 1 to 86400 seconds, not ",
					      optarg);
			break;
		case 'h': fputs(usage, stdout); return false;
		case 'v': puts("onejob-poller " PACKAGE_VERSION); return false;
		case ':': return refuse(code_out, "a value is missing after ", argv[optind - 1]);
		default: return refuse(code_out, "no such option: ", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return refuse(code_out, "takes no arguments, but got ", argv[optind]);
	if (options_out->once && options_out->for_s)
		return refuse(code_out, "--once and --for exclude each other", "");
	return true;
}
