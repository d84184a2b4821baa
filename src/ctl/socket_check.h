/* socket_check.h: does anything listen on a unix socket? */
#ifndef CTL_SOCKET_CHECK_H
#define CTL_SOCKET_CHECK_H

/* NULL: something accepts there (the connection is closed again, nothing is said). Else why not, as
 * a constant sentence. */
const char *socket_check(const char *path);

#endif
