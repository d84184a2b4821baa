#include "lossy.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMMAND_QUERY 0x03
#define COMMAND_PREPARE 0x16
#define COMMAND_EXECUTE 0x17
#define HEADER 4	/* of a packet of the protocol; then the command */
#define COMMAND_BYTES 7 /* "COMMIT" and what stands before it */

static char server_path[108], line_path[108], defaults_path[256];
static atomic_int armed, skips, left, refusal;

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

struct packet {
	char head[HEADER + COMMAND_BYTES];
	size_t in_head, rest; /* bytes */
};

static bool read_packet(int from, struct packet *packet)
{
	const unsigned char *length = (const unsigned char *)packet->head;

	if (recv(from, packet->head, HEADER, MSG_WAITALL) != HEADER)
		return false;
	size_t len = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16;
	size_t now = len < COMMAND_BYTES ? len : COMMAND_BYTES;

	packet->in_head = HEADER + now;
	packet->rest = len - now;
	return now == 0 || recv(from, packet->head + HEADER, now, MSG_WAITALL) == (ssize_t)now;
}

/* The rest of it, still to be read, goes with it. `to` -1: nowhere. */
static void pass_packet(const struct packet *packet, int from, int to)
{
	char bytes[65536];

	if (to >= 0)
		pass_on(to, packet->head, (ssize_t)packet->in_head);
	for (size_t more = packet->rest; more > 0;) {
		ssize_t len = recv(from, bytes, more < sizeof bytes ? more : sizeof bytes, 0);

		if (len <= 0)
			return;
		if (to >= 0)
			pass_on(to, bytes, len);
		more -= (size_t)len;
	}
}

static bool is_of_kind(const struct packet *packet, enum lossy what)
{
	char command = packet->head[HEADER];
	bool query = command == COMMAND_QUERY, execute = command == COMMAND_EXECUTE;

	switch (what) {
	case LOSE_NOTHING: return false;
	case LOSE_EXECUTE:
	case LOSE_EXECUTE_ANSWER:
	case REFUSE_EXECUTE: return execute;
	case LOSE_COMMIT:
	case LOSE_COMMIT_ANSWER:
	case REFUSE_COMMIT: return query && memcmp(packet->head + HEADER + 1, "COMMIT", 6) == 0;
	case REFUSE_ALL: return query || execute || command == COMMAND_PREPARE;
	}
	return false;
}

/* A command opens an exchange: its packet has the number 0. */
static bool is_meant(const struct packet *packet)
{
	if (left == 0 || packet->in_head < HEADER + COMMAND_BYTES || packet->head[3] != 0)
		return false;
	return is_of_kind(packet, (enum lossy)armed) && atomic_fetch_sub(&skips, 1) <= 0;
}

static const char *state_of(int error)
{
	switch (error) {
	case 1213: return "40001";
	case 1047: return "08S01";
	default: return "HY000";
	}
}

static void refuse(int client, int server, int error)
{
	static const char rollback[] = "\x09\0\0\0\x03ROLLBACK";
	char answer[64] = { 0, 0, 0, 1, (char)0xff, (char)(error & 0xff), (char)(error >> 8) };
	int len = 3 + snprintf(answer + HEADER + 3, sizeof answer - HEADER - 3, "#%s%s",
			       state_of(error), "refused on the line");

	if (error == 1213 || error == 1020) {
		pass_on(server, rollback, sizeof rollback - 1);
		(void)recv(server, (char[256]){ 0 }, 256, 0);
	}
	answer[0] = (char)len;
	pass_on(client, answer, HEADER + len);
}

/* false: the line is cut. */
static bool from_client(int client, int server)
{
	struct packet packet = { .in_head = 0 };
	char bytes[65536];

	if (!read_packet(client, &packet))
		return false;
	if (!is_meant(&packet)) {
		pass_packet(&packet, client, server);
		return true;
	}
	left--;
	if (armed >= REFUSE_EXECUTE) {
		pass_packet(&packet, client, -1);
		refuse(client, server, refusal);
		return true;
	}
	if (armed == LOSE_EXECUTE_ANSWER || armed == LOSE_COMMIT_ANSWER) {
		pass_packet(&packet, client, server);
		(void)recv(server, bytes, sizeof bytes, 0);
	}
	return false;
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

void lossy_refuse(enum lossy what, unsigned int error, int skip, int times)
{
	refusal = (int)error;
	lossy_arm(what, skip, times);
}

int lossy_left(void)
{
	return left;
}
