/* socket_check.h: does anything listen on a unix socket, or at a URL's host and port? */
#ifndef CTL_SOCKET_CHECK_H
#define CTL_SOCKET_CHECK_H

#include <stddef.h>

/* NULL: something accepts there (the connection is closed again, nothing is said). Else why not, as
 * a constant sentence. */
const char *socket_check(const char *path);

/* The same for an http or https URL, each of its host's addresses for a few seconds. */
const char *socket_check_url(const char *url);

/* Whose it is and who may connect, as "onejob:www-data, mode 0660": up to size - 1 bytes. */
void socket_rights(const char *path, char *out, size_t size);

#endif
