/* main.c: the FastCGI program. Its listening socket is descriptor 0. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fcgi.h"
#include "base/conf.h"
#include "base/log.h"

#define LISTEN_FD 0

/* A thread's connection is its own; they share nothing. */
static bool open_thread(struct api *api, const struct conf *conf)
{
	*api = (struct api){ .db = db_new(conf->defaults_file),
			     .max_body_bytes = conf->max_body_bytes,
			     .trust_owner = conf->trust_owner == 1 };
	if (!api->db)
		return false;
	return keyring_load(conf->callback_keys, &api->keyring) == RC_OK;
}

static void close_thread(struct api *api)
{
	db_free(api->db);
	keyring_release(&api->keyring);
}

/* It takes none; who gives one wants to know what this is. */
static int tell(const char *argument)
{
	bool version = strcmp(argument, "--version") == 0;
	bool help = strcmp(argument, "--help") == 0;

	if (version)
		return puts("onejob-api " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	fprintf(help ? stdout : stderr, "usage: onejob-api [--help | --version]\n\n"
					"A FastCGI responder: descriptor 0 is its listening "
					"socket, so spawn-fcgi or the like starts\n"
					"it (see README.md). Settings are ONEJOB_... in the "
					"environment; `onejob doctor` lists them.\n");
	return help ? EXIT_SUCCESS : 2;
}

int main(int argc, char **argv)
{
	struct conf conf;
	struct api *apis;
	size_t opened = 0;
	bool ok;
	int code = EXIT_FAILURE;

	if (argc > 1)
		return tell(argv[1]);
	/* malloc_trim() gives back the end of the first arena only, and with one for each thread
	 * each would keep as much as its largest request has taken. */
	(void)mallopt(M_ARENA_MAX, 1);
	log_open("onejob-api");
	if (conf_load(&conf) != RC_OK)
		return EXIT_FAILURE;
	apis = calloc(conf.threads, sizeof *apis);
	for (ok = apis != NULL; ok && opened < conf.threads; opened++)
		ok = open_thread(&apis[opened], &conf);
	if (ok)
		code = fcgi_serve(apis, conf.threads, LISTEN_FD);
	else
		log_error("api.start", "error=\"its threads can't be set up\"");
	while (opened > 0)
		close_thread(&apis[--opened]);
	free(apis);
	return code;
}
