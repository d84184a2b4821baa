/* limit_curl.c: what libcurl alone takes: so many requests, a number of them at once, on one
 *thread, without a database.
 *
 *	limit-curl URL JOBS IN_FLIGHT fresh|kept
 *
 * fresh: a connection a request, as the poller does it where a provider doesn't honour keys; kept:
 * connections are used again. Prints
 *
 *	cell	JOBS	MICROSECONDS	CPU_MICROSECONDS
 *
 * and fails unless every answer was a 200. */
#include <curl/curl.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	JOBS_MAX = 10000000,
	IN_FLIGHT_MAX = 10000,
	EVENTS = 256,
	WAIT_MS_MAX = 1000,
};

static const char body[] =
	"{\"text\":\"It was the best of times, it was the worst of times, it was the "
	"age of wisdom, it was the age of foolishness, it was the epoch of belief, it "
	"was the epoch of incredulity, it was the season of Light, it was the season "
	"of Darkness, it was the spring of hope\"}";

struct race {
	CURLM *multi;
	int epoll_fd;
	int64_t due_ms; /* libcurl's timer; -1: none */
	const char *url;
	struct curl_slist *headers;
	bool fresh;
	unsigned long jobs;
	unsigned long begun;
	unsigned long done;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "limit-curl: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int64_t now_ms(void)
{
	return (int64_t)(now_us() / 1000);
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct race *race = arg;

	(void)multi;
	race->due_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
	return 0;
}

/* `known` isn't NULL where the descriptor is in the set already. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct race *race = arg;
	struct epoll_event event = { .data.fd = fd };

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(race->epoll_fd, EPOLL_CTL_DEL, fd, &event);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	epoll_ctl(race->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	curl_multi_assign(race->multi, fd, race);
	return 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	(void)bytes;
	(void)arg;
	return size * count;
}

static void begin(struct race *race, CURL *easy)
{
	race->begun++;
	if (curl_multi_add_handle(race->multi, easy) != CURLM_OK)
		fail("libcurl", "a request can't be added");
}

static CURL *make_easy(const struct race *race)
{
	CURL *easy = curl_easy_init();

	if (!easy)
		fail("libcurl", "no memory");
	curl_easy_setopt(easy, CURLOPT_URL, race->url);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, race->headers);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, race->fresh ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, race->fresh ? 1L : 0L);
	return easy;
}

/* What has come to its end makes room for the next. */
static void collect(struct race *race)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(race->multi, &left))) {
		CURL *easy = message->easy_handle;
		long status = 0;

		if (message->data.result != CURLE_OK)
			fail(race->url, curl_easy_strerror(message->data.result));
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
		if (status != 200)
			fail(race->url, "an answer wasn't 200");
		race->done++;
		curl_multi_remove_handle(race->multi, easy);
		if (race->begun < race->jobs)
			begin(race, easy);
		else
			curl_easy_cleanup(easy);
	}
}

static void turn(struct race *race)
{
	struct epoll_event events[EVENTS];
	int64_t left_ms = race->due_ms < 0 ? WAIT_MS_MAX : race->due_ms - now_ms();
	int running, count;

	if (left_ms > WAIT_MS_MAX)
		left_ms = WAIT_MS_MAX;
	count = epoll_wait(race->epoll_fd, events, EVENTS, left_ms > 0 ? (int)left_ms : 0);
	for (int i = 0; i < count; i++) {
		int what = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
			   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			   (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);

		curl_multi_socket_action(race->multi, events[i].data.fd, what, &running);
	}
	if (race->due_ms >= 0 && race->due_ms <= now_ms()) {
		race->due_ms = -1;
		curl_multi_socket_action(race->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	collect(race);
}

static void open_race(struct race *race, unsigned long in_flight)
{
	race->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	race->multi = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK ? curl_multi_init() : NULL;
	race->headers = curl_slist_append(NULL, "Content-Type: application/json");
	race->due_ms = -1;
	if (race->epoll_fd < 0 || !race->multi || !race->headers)
		fail("libcurl", "can't be set up");
	curl_multi_setopt(race->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(race->multi, CURLMOPT_SOCKETDATA, race);
	curl_multi_setopt(race->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(race->multi, CURLMOPT_TIMERDATA, race);
	curl_multi_setopt(race->multi, CURLMOPT_MAXCONNECTS, (long)in_flight);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static uint64_t cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static unsigned long read_number(const char *name, const char *text, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < 1 || number > max)
		fail(name, "isn't a number in its range");
	return number;
}

int main(int argc, char **argv)
{
	if (argc != 5 || (strcmp(argv[4], "fresh") != 0 && strcmp(argv[4], "kept") != 0)) {
		fputs("usage: limit-curl URL JOBS IN_FLIGHT fresh|kept\n", stderr);
		return 2;
	}
	struct race race = { .url = argv[1],
			     .jobs = read_number("JOBS", argv[2], JOBS_MAX),
			     .fresh = argv[4][0] == 'f' };
	unsigned long in_flight = read_number("IN_FLIGHT", argv[3], IN_FLIGHT_MAX);

	raise_file_limit();
	open_race(&race, in_flight);
	uint64_t began_us = now_us(), began_cpu_us = cpu_us();

	while (race.begun < race.jobs && race.begun < in_flight)
		begin(&race, make_easy(&race));
	while (race.done < race.jobs)
		turn(&race);
	printf("cell\t%lu\t%" PRIu64 "\t%" PRIu64 "\n", race.jobs, now_us() - began_us,
	       cpu_us() - began_cpu_us);
	curl_multi_cleanup(race.multi);
	curl_slist_free_all(race.headers);
	curl_global_cleanup();
	close(race.epoll_fd);
	return EXIT_SUCCESS;
}
