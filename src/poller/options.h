/* options.h: the poller's command line. */
#ifndef POLLER_OPTIONS_H
#define POLLER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	bool once;	/* leave when nothing is due and nothing is on its way */
	uint32_t for_s; /* stop claiming after so many seconds, finish, leave; 0: run until told to
			   stop */
};

/* True: go on. False: *code_out is what main returns (help and version were printed, or what is
 * wrong). */
bool options_read(int argc, char **argv, struct options *options_out, int *code_out);

#endif
