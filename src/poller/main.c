/* main.c: the poller. */
#include <curl/curl.h>
#include <stdlib.h>

#include "base/conf.h"
#include "base/log.h"
#include "poller/loop.h"

int main(int argc, char **argv)
{
	struct options options;
	struct conf conf;
	int code;

	log_open("onejob-poller");
	if (!options_read(argc, argv, &options, &code))
		return code;
	if (conf_load(&conf) != RC_OK)
		return EXIT_FAILURE;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		log_error("poller.start", "libcurl can't be used");
		return EXIT_FAILURE;
	}
	code = poller_run(&conf, &options);
	curl_global_cleanup();
	return code;
}
