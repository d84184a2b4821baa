#ifndef _GNU_SOURCE
#endif
#include "shop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

int silent_listener(int *port_out)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port_out = ntohs(address.sin_port);
	return fd;
}

static bool request_whole(const struct peer *peer)
{
	const char *end = memmem(peer->got, peer->got_len, "\r\n\r\n", 4);

	return end && (size_t)(peer->got + peer->got_len - end - 4) >= peer->want;
}

static void *peer_run(void *arg)
{
	struct peer *peer = arg;
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	int fd = accept(peer->listener, NULL, NULL);

	while (fd >= 0 && !request_whole(peer)) {
		ssize_t got = read(fd, peer->got + peer->got_len, sizeof peer->got - peer->got_len);

		if (got <= 0)
			break;
		peer->got_len += (size_t)got;
	}
	for (size_t at = 0; fd >= 0 && at < peer->reply_len;) {
		ssize_t put = send(fd, peer->reply + at, peer->reply_len - at, MSG_NOSIGNAL);

		if (put <= 0)
			break;
		at += (size_t)put;
	}
	if (peer->reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
	return NULL;
}

void peer_start(struct peer *peer)
{
	peer->listener = silent_listener(&peer->port);
	assert_int_equal(pthread_create(&peer->thread, NULL, peer_run, peer), 0);
}

void peer_end(struct peer *peer)
{
	assert_int_equal(pthread_join(peer->thread, NULL), 0);
	close(peer->listener);
}
