/* fcgi.h: the FastCGI responder: waits on a listening socket, reads requests, sends replies, one at
 * a time. */
#ifndef API_FCGI_H
#define API_FCGI_H

#include <stdint.h>

#include "api/handlers.h"

/* Serves the listening socket on descriptor `listen_fd` (0 as it is handed over) until SIGTERM,
 * SIGINT or SIGUSR1, which never cut a request short: the loop leaves between two. Signals are
 * blocked and SIGPIPE is ignored from here on. Returns the process's exit code. A socket that other
 * processes wait on too is shared fairly. */
int fcgi_serve(const struct api *api, int listen_fd);

#endif
