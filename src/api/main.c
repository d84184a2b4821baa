/* main.c: the FastCGI program. Its listening socket is descriptor 0. */
#include <stdlib.h>

#include "api/fcgi.h"
#include "base/conf.h"
#include "base/log.h"

#define LISTEN_FD 0

int main(void)
{
	struct conf conf;
	struct api api;
	int code;

	log_open("onejob-api");
	if (conf_load(&conf) != RC_OK)
		return EXIT_FAILURE;
	api = (struct api){ .db = db_new(conf.defaults_file),
			    .max_body_bytes = conf.max_body_bytes,
			    .trust_owner = conf.trust_owner == 1 };
	if (!api.db || keyring_load(conf.callback_keys, &api.keyring) != RC_OK)
		return EXIT_FAILURE;
	code = fcgi_serve(&api, LISTEN_FD);
	db_free(api.db);
	keyring_release(&api.keyring);
	return code;
}
