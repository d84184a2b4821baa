/* printshop.c: a small provider program for tests and demos: it does work over HTTP, misbehaves on
 * demand in every way that a caller must survive, and counts what it has received, so that a test
 * can prove "one wire request".
 *
 *	printshop --port N [--address A] [--pid-file F]
 *
 * Listens on 127.0.0.1, or that address alone (port 0: any that is free) and says, once it does,
 * `printshop listening on ADDRESS:PORT`. Any method on /<printer>[/<mode>...] is work: see
 * printshop_work.c, and the modes in printshop_modes.h. Under /shop/ the shop itself is asked:
 * printshop_control.c. SIGTERM and SIGINT end it, with status 0.
 *
 * One process, one epoll loop; the files are printshop*.c, with nothing but libc below them. */
#include "printshop_conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { EVENTS_MAX = 256, ACCEPTS_MAX = 64, BACKLOG = 4096 };

struct options {
	uint16_t port;
	struct in_addr address;
	const char *pid_file;
};

struct listener {
	int epoll_fd;
	int fd;
	bool deaf; /* out of descriptors: accepts nothing until a connection has ended */
};

static bool parse_options(int argc, char **argv, struct options *options_out)
{
	static const struct option known[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "address", required_argument, NULL, 'a' },
		{ "pid-file", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	bool has_port = false;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'p') {
			char *end = NULL;
			unsigned long port = strtoul(optarg, &end, 10);

			if (optarg[0] < '0' || optarg[0] > '9' || *end || port > UINT16_MAX)
				return false;
			options_out->port = (uint16_t)port;
			has_port = true;
		} else if (option == 'a') {
			if (inet_pton(AF_INET, optarg, &options_out->address) != 1)
				return false;
		} else if (option == 'f') {
			options_out->pid_file = optarg;
		} else {
			return false;
		}
	}
	return has_port && optind == argc;
}

static bool listen_on(const struct options *options, int *fd_out, uint16_t *port_out)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(options->port),
				       .sin_addr = options->address };
	socklen_t len = sizeof address;
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* accepted ones inherit it */
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
		close(fd);
		return false;
	}
	*fd_out = fd;
	*port_out = ntohs(address.sin_port);
	return true;
}

static bool write_pid_file(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	bool fine = fprintf(file, "%ld\n", (long)getpid()) > 0;
	return fclose(file) == 0 && fine;
}

static void use_every_descriptor(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The signals come in by a descriptor: under load epoll_pwait would return with events again and
 * again, and the signal would wait. */
static int open_signals(void)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	if (sigprocmask(SIG_BLOCK, &ending, NULL) < 0)
		return -1;
	return signalfd(-1, &ending, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void listen_again(struct listener *listener, bool deaf)
{
	struct epoll_event event = { .events = deaf ? 0 : EPOLLIN, .data.ptr = listener };

	if (listener->deaf == deaf)
		return;
	listener->deaf = deaf;
	epoll_ctl(listener->epoll_fd, EPOLL_CTL_MOD, listener->fd, &event);
}

static void accept_some(struct listener *listener)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		enum accepted accepted = conn_accept(listener->fd);

		if (accepted == ACCEPT_FULL)
			listen_again(listener, true);
		if (accepted != ACCEPT_ONE)
			return;
	}
}

static bool watch_fd(int epoll_fd, int fd, void *data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = data };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool serve(struct listener *listener)
{
	struct epoll_event events[EVENTS_MAX];

	for (bool stop = false; !stop;) {
		int count = epoll_wait(listener->epoll_fd, events, EVENTS_MAX, conn_timeout_ms());

		if (count < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr == listener)
				accept_some(listener);
			else if (events[i].data.ptr)
				conn_event(events[i].data.ptr, events[i].events);
			else
				stop = true;
		}
		conn_run_timers();
		control_check_watches();
		if (conn_bury())
			listen_again(listener, false);
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options options = { .address.s_addr = htonl(INADDR_LOOPBACK) };
	struct listener listener = { 0 };
	uint16_t port = 0;

	if (!parse_options(argc, argv, &options)) {
		fprintf(stderr, "usage: printshop --port N [--address A] [--pid-file F]\n");
		return 2;
	}
	use_every_descriptor();
	int signal_fd = open_signals();
	listener.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (signal_fd < 0 || listener.epoll_fd < 0 || !listen_on(&options, &listener.fd, &port) ||
	    !watch_fd(listener.epoll_fd, listener.fd, &listener) ||
	    !watch_fd(listener.epoll_fd, signal_fd, NULL) ||
	    (options.pid_file && !write_pid_file(options.pid_file))) {
		fprintf(stderr, "printshop: cannot start: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	conn_set_up(listener.epoll_fd);
	printf("printshop listening on %s:%u\n", inet_ntoa(options.address), (unsigned int)port);
	fflush(stdout);
	bool fine = serve(&listener);
	conn_tear_down();
	book_release();
	close(listener.fd);
	close(signal_fd);
	close(listener.epoll_fd);
	if (options.pid_file)
		unlink(options.pid_file);
	return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
