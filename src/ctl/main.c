/* main.c: the operator's command. Reads the command line and the settings, runs one row of
 * command.c, and leaves. */
#include <locale.h>
#include <stdio.h>

#include "base/conf.h"
#include "base/log.h"
#include "ctl/command.h"
#include "ctl/ctl.h"

#define WHY_MAX_BYTES 4096

static enum ctl_exit usage(struct ctl *ctl, const struct args *args, const struct text *why)
{
	ctl_say(ctl, "%s",
		text_ok(why) && why->bytes ? why->bytes : "the command line is too long");
	fputc('\n', ctl->err);
	command_help(ctl->err, args);
	return CTL_USAGE;
}

static enum ctl_exit run(struct ctl *ctl, const struct args *args)
{
	ctl->json = args->option[OPTION_JSON] != NULL;
	ctl->conf_ok = conf_load(&ctl->conf) == RC_OK;
	if (!ctl->conf_ok)
		ctl->conf = (struct conf){ 0 };
	enum ctl_exit end = args->command->run(ctl, args);

	if (end == CTL_USAGE)
		command_usage(ctl->err, args->command);
	return end;
}

static enum ctl_exit obey(struct ctl *ctl, int argc, char **argv, struct text *why)
{
	struct args args;

	switch (command_parse(argc, argv, &args, why)) {
	case PARSED_COMMAND: return run(ctl, &args);
	case PARSED_HELP: command_help(ctl->out, &args); return CTL_DONE;
	case PARSED_VERSION: command_version(ctl->out); return CTL_DONE;
	case PARSED_USAGE:
	case PARSED__MAX: break;
	}
	return usage(ctl, &args, why);
}

int main(int argc, char **argv)
{
	struct ctl ctl;
	struct text why;

	setlocale(LC_CTYPE, "");
	log_open("onejob");
	ctl_init(&ctl);
	text_init(&why, WHY_MAX_BYTES);
	enum ctl_exit end = obey(&ctl, argc, argv, &why);
	text_release(&why);
	ctl_release(&ctl);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ctl_say(&ctl, "the output couldn't be written");
		return end == CTL_DONE ? CTL_REFUSED : (int)end;
	}
	return (int)end;
}
