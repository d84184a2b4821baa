/* fcgi.h: the FastCGI responder: threads that wait on a listening socket, read requests, send
 * replies; creates and reads several at a time, all else one by one. */
#ifndef API_FCGI_H
#define API_FCGI_H

#include <stdint.h>

#include "api/handlers.h"

/* Runs a thread for each of `apis` (1 to 64), which nothing else uses meanwhile; the first one is
 * the caller's. They serve the listening socket on descriptor `listen_fd` (0 as it is handed over)
 * until SIGTERM, SIGINT or SIGUSR1, which never cut a request short: a thread leaves when all that
 * it has taken is answered. Signals are blocked and SIGPIPE is ignored from here on. Returns the
 * process's exit code. A socket that other processes wait on too is shared fairly. */
int fcgi_serve(const struct api *apis, size_t n, int listen_fd);

#endif
