/* socket_check.c: see socket_check.h. */
#include "ctl/socket_check.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

void socket_rights(const char *path, char *out, size_t size)
{
	struct stat is;

	if (stat(path, &is) != 0) {
		snprintf(out, size, "gone");
		return;
	}
	const struct passwd *user = getpwuid(is.st_uid);
	int len = user ? snprintf(out, size, "%s:", user->pw_name)
		       : snprintf(out, size, "%ju:", (uintmax_t)is.st_uid);
	const struct group *group = getgrgid(is.st_gid);

	if (len < 0 || (size_t)len >= size)
		return;
	if (group)
		snprintf(out + len, size - (size_t)len, "%s, mode %04o", group->gr_name,
			 is.st_mode & 07777);
	else
		snprintf(out + len, size - (size_t)len, "%ju, mode %04o", (uintmax_t)is.st_gid,
			 is.st_mode & 07777);
}

#define ANSWER_WAIT_MS 3000

static const char *connect_to(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = 0;
	socklen_t len = sizeof error;

	if (fd < 0)
		return "no socket can be made here";
	if (connect(fd, address->ai_addr, address->ai_addrlen) != 0)
		error = errno;
	if (error == EINPROGRESS) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		error = ETIMEDOUT;
		if (poll(&p, 1, ANSWER_WAIT_MS) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
	close(fd);
	switch (error) {
	case 0: return NULL;
	case ECONNREFUSED: return "nobody listens there";
	case ETIMEDOUT: return "it doesn't answer";
	default: return "it can't be connected to";
	}
}

/* False: it isn't one. */
static bool split_url(const char *url, char *host_out, size_t host_size, char port_out[6])
{
	bool tls = strncmp(url, "https://", 8) == 0;
	const char *host = url + (tls ? 8 : 7), *port;

	if (!tls && strncmp(url, "http://", 7) != 0)
		return false;
	bool brackets = *host == '[';

	host += brackets;
	size_t len = strcspn(host, brackets ? "]" : ":/?#");

	if (len == 0 || len >= host_size || (brackets && host[len] != ']'))
		return false;
	snprintf(host_out, host_size, "%.*s", (int)len, host);
	port = host + len + brackets;
	snprintf(port_out, 6, "%s", tls ? "443" : "80");
	if (*port != ':')
		return true;
	len = strspn(++port, "0123456789");
	snprintf(port_out, 6, "%.*s", (int)len, port);
	return len >= 1 && len <= 5;
}

const char *socket_check_url(const char *url)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
	const char *why = "its host has no address";
	struct addrinfo *found = NULL;
	char host[256], port[6];

	if (!split_url(url, host, sizeof host, port))
		return "it is no http or https URL";
	if (getaddrinfo(host, port, &wanted, &found) != 0)
		return "its host's name leads nowhere";
	for (const struct addrinfo *at = found; why && at; at = at->ai_next)
		why = connect_to(at);
	freeaddrinfo(found);
	return why;
}
