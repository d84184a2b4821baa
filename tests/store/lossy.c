#include "lossy.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMMAND_QUERY 0x03
#define COMMAND_EXECUTE 0x17
#define HEADER 4 /* of a packet of the protocol; then the command */

static char server_path[108], line_path[108], defaults_path[256];
static atomic_int armed, skips, left;

static int make_socket(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void pass_on(int to, const char *bytes, ssize_t len)
{
	for (ssize_t done = 0; done < len;) {
		ssize_t sent = send(to, bytes + done, (size_t)(len - done), MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		done += sent;
	}
}

static int is_meant(const char *bytes, ssize_t len)
{
	if (len <= HEADER || left == 0)
		return 0;
	int execute = bytes[HEADER] == COMMAND_EXECUTE;
	int commit = bytes[HEADER] == COMMAND_QUERY && len >= HEADER + 7 &&
		     memcmp(bytes + HEADER + 1, "COMMIT", 6) == 0;

	if (armed == LOSE_EXECUTE || armed == LOSE_EXECUTE_ANSWER ? !execute : !commit)
		return 0;
	return atomic_fetch_sub(&skips, 1) <= 0;
}

/* 0: the line is cut. */
static int from_client(int client, int server)
{
	char bytes[65536];
	ssize_t len = recv(client, bytes, sizeof bytes, 0);

	if (len <= 0)
		return 0;
	if (!is_meant(bytes, len)) {
		pass_on(server, bytes, len);
		return 1;
	}
	if (armed == LOSE_EXECUTE_ANSWER || armed == LOSE_COMMIT_ANSWER) {
		pass_on(server, bytes, len);
		(void)recv(server, bytes, sizeof bytes, 0);
	}
	left--;
	return 0;
}

static void *carry(void *arg)
{
	int client = (int)(long)arg;
	struct sockaddr_un address;
	int server = make_socket(server_path, &address);
	struct pollfd ends[2] = { { .fd = client, .events = POLLIN },
				  { .fd = server, .events = POLLIN } };
	char bytes[65536];

	if (connect(server, (struct sockaddr *)&address, sizeof address) != 0)
		goto out;
	while (poll(ends, 2, -1) > 0) {
		if (ends[1].revents) {
			ssize_t len = recv(server, bytes, sizeof bytes, 0);

			if (len <= 0)
				break;
			pass_on(client, bytes, len);
		}
		if (ends[0].revents && !from_client(client, server))
			break;
	}
out:
	close(client);
	close(server);
	return NULL;
}

static void *answer_calls(void *arg)
{
	int listening = (int)(long)arg;

	for (;;) {
		int client = accept(listening, NULL, NULL);
		pthread_t thread;

		if (client < 0)
			return NULL;
		pthread_create(&thread, NULL, carry, (void *)(long)client);
		pthread_detach(thread);
	}
}

static void write_defaults(const char *from)
{
	char line[256];
	FILE *in = fopen(from, "r"), *out;

	snprintf(defaults_path, sizeof defaults_path, "%s.lossy", from);
	out = fopen(defaults_path, "w");
	if (!in || !out)
		abort();
	while (fgets(line, sizeof line, in)) {
		if (sscanf(line, "socket=%107s", server_path) == 1) {
			snprintf(line_path, sizeof line_path, "%.100s.lossy", server_path);
			fprintf(out, "socket=%s\n", line_path);
		} else {
			fputs(line, out);
		}
	}
	fclose(in);
	fclose(out);
}

const char *lossy_open(void)
{
	struct sockaddr_un address;
	pthread_t thread;

	if (defaults_path[0])
		return defaults_path;
	write_defaults(getenv("ONEJOB_DEFAULTS_FILE"));
	int listening = make_socket(line_path, &address);

	unlink(line_path);
	if (bind(listening, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(listening, 16) != 0)
		abort();
	pthread_create(&thread, NULL, answer_calls, (void *)(long)listening);
	pthread_detach(thread);
	return defaults_path;
}

void lossy_arm(enum lossy what, int skip, int times)
{
	armed = what;
	skips = skip;
	left = times;
}

int lossy_left(void)
{
	return left;
}
