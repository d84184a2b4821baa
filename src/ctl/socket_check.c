/* socket_check.c: see socket_check.h. */
#include "ctl/socket_check.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *reason_of(int error)
{
	switch (error) {
	case ENOENT: return "there is no such socket";
	case ECONNREFUSED: return "the socket is there and nobody listens";
	case EACCES: return "this user may not connect to it";
	case EAGAIN: return "its queue is full";
	default: return "it can't be connected to";
	}
}

const char *socket_check(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *why = NULL;

	if (strlen(path) >= sizeof address.sun_path)
		return "the path is longer than a socket's can be";
	memcpy(address.sun_path, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0); /* a full queue must not hold us */
	if (fd < 0)
		return "no socket can be made here";
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
		why = reason_of(errno);
	close(fd);
	return why;
}
