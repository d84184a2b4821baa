/* test_doctor.c: what the doctor makes of what it saw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/doctor.h"
#include "ctl/socket_check.h"

#define SECOND_US INT64_C(1000000)
#define NOW_US (INT64_C(1796164847) * SECOND_US)

static void only_servers_with_skip_locked_are_supported(void **state)
{
	static const struct {
		const char *versions;
		bool want;
	} rows[] = {
		{ "MariaDB 10.6.0 by libmariadb 3.3.20", true },
		{ "MariaDB 10.5.29 by libmariadb 3.3.20", false },
		{ "MariaDB 10.11.19 by libmariadb 3.3.20", true },
		{ "MariaDB 11.4.2", true },
		{ "MariaDB 9.9.99", false },
		{ "MySQL 8.0.16 by libmysqlclient 8.0.16", true },
		{ "MySQL 8.0.15", false },
		{ "10.11.19-MariaDB-0+deb12u1 by client 3.3.20", true },
		{ "10.5.29-MariaDB by client 3.3.20", false },
		{ "5.5.5-10.11.19-MariaDB by client 8.0.36", true },
		{ "5.5.5-10.4.34-MariaDB by client 8.0.36", false },
		{ "8.0.36 by client 8.0.36", true },
		{ "8.0.15 by MariaDB client 3.3.20", false },
		{ "5.7.44-log by client 3.3.20", false },
		{ "MySQL 8.4.0", true },
		{ "MySQL 5.7.44", false },
		{ "MariaDB", false },
		{ "MariaDB ", false },
		{ "PostgreSQL 16.1", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (doctor_supports(rows[i].versions) != rows[i].want)
			fail_msg("%s", rows[i].versions);
	}
}

static void a_client_library_of_another_make_or_major_version_is_warned_of(void **state)
{
	static const struct {
		struct client_library client;
		enum health want;
	} rows[] = {
		{ { "libmariadb", "3.3.20", "libmariadb", "3.3.20" }, HEALTH_OK },
		{ { "libmariadb", "3.4.1", "libmariadb", "3.3.20" }, HEALTH_OK },
		{ { "libmariadb", "4.0.0", "libmariadb", "3.3.20" }, HEALTH_WARN },
		{ { "libmysqlclient", "8.4.3", "libmysqlclient", "8.0.36" }, HEALTH_OK },
		{ { "libmysqlclient", "9.1.0", "libmysqlclient", "8.4.3" }, HEALTH_WARN },
		{ { "libmysqlclient", "8.0.36", "libmariadb", "3.3.20" }, HEALTH_WARN },
		{ { "libmariadb", "3.3.20", "libmysqlclient", "3.3.20" }, HEALTH_WARN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct client_library *client = &rows[i].client;
		struct findings findings;

		findings_init(&findings);
		doctor_client(&findings, client);
		if (findings_worst(&findings) != rows[i].want ||
		    !strstr(findings.list[0].found, client->name) ||
		    !strstr(findings.list[0].found, client->version) ||
		    (rows[i].want == HEALTH_OK) != (findings.list[0].fix[0] == '\0'))
			fail_msg("row %zu: %s", i, findings.list[0].found);
		findings_release(&findings);
	}
}

static void a_node_of_a_cluster_is_in_step_or_warned_of(void **state)
{
	static const struct {
		struct node_vitals node;
		enum health want;
	} rows[] = {
		{ { "Primary", "Synced", 3, true }, HEALTH_OK },
		{ { "Primary", "Donor/Desynced", 3, true }, HEALTH_WARN },
		{ { "non-Primary", "Initialized", 1, true }, HEALTH_BAD },
		{ { "", "", 0, true }, HEALTH_BAD }, /* it goes down */
		{ { "Primary", "Synced", 3, false }, HEALTH_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct findings findings;

		findings_init(&findings);
		doctor_node(&findings, &rows[i].node);
		if (findings_worst(&findings) != rows[i].want)
			fail_msg("row %zu: %s", i, findings.list[0].found);
		findings_release(&findings);
	}
}

static void clocks_apart_warn_and_then_are_bad(void **state)
{
	static const struct {
		int64_t before_us, after_us, database_us;
		enum health want;
	} rows[] = {
		{ NOW_US, NOW_US + 1000, NOW_US + 500, HEALTH_OK },
		{ NOW_US, NOW_US + 9 * SECOND_US, NOW_US + 4 * SECOND_US,
		  HEALTH_OK }, /* a slow answer is no wrong clock */
		{ NOW_US, NOW_US, NOW_US + 2 * SECOND_US, HEALTH_OK },
		{ NOW_US, NOW_US, NOW_US + 2 * SECOND_US + 1, HEALTH_WARN },
		{ NOW_US, NOW_US, NOW_US - 2 * SECOND_US - 1, HEALTH_WARN },
		{ NOW_US, NOW_US, NOW_US + 60 * SECOND_US, HEALTH_WARN },
		{ NOW_US, NOW_US, NOW_US + 60 * SECOND_US + 1, HEALTH_BAD },
		{ NOW_US, NOW_US, NOW_US - 7200 * SECOND_US, HEALTH_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct findings findings;

		findings_init(&findings);
		doctor_clock(&findings, rows[i].database_us, rows[i].before_us, rows[i].after_us);
		if (findings_worst(&findings) != rows[i].want)
			fail_msg("row %zu: %s", i, findings.list[0].found);
		findings_release(&findings);
	}
}

static const struct finding *find(const struct findings *findings, const char *what)
{
	for (size_t i = 0; i < findings->len; i++) {
		if (strcmp(findings->list[i].what, what) == 0)
			return &findings->list[i];
	}
	return NULL;
}

static struct vitals healthy(void)
{
	return (struct vitals){
		.database_now_us = NOW_US, .pollers_alive = 1, .strict = true, .durable = true
	};
}

static void each_vital_sign_is_judged_by_itself(void **state)
{
	struct vitals none_alive = healthy(), none_alive_due = healthy(), late = healthy(),
		      due = healthy(), lax = healthy(), unsafe = healthy(), unknown = healthy(),
		      stranded = healthy(), dead = healthy(), gone = healthy(),
		      undelivered = healthy(), failing = healthy();

	(void)state;
	none_alive.pollers_alive = 0;
	none_alive_due.pollers_alive = 0;
	none_alive_due.has_oldest_due = late.has_oldest_due = due.has_oldest_due = true;
	none_alive_due.oldest_due_us = due.oldest_due_us = NOW_US - 60 * SECOND_US;
	late.oldest_due_us = NOW_US - 60 * SECOND_US - 1;
	lax.strict = false;
	unsafe.durable = false;
	unknown.has_oldest_unknown = true;
	unknown.oldest_unknown_us = NOW_US - SECOND_US;
	stranded.stranded = 3;
	dead.pollers_dead = 1;
	gone.endpoints_disabled = 2;
	undelivered.messages_given_up = 7;
	failing.messages_failing = 2;
	const struct {
		struct vitals vitals;
		const char *what;
		enum health want;
		enum health worst;
	} rows[] = {
		{ healthy(), "pollers", HEALTH_OK, HEALTH_OK },
		{ none_alive, "pollers", HEALTH_WARN, HEALTH_WARN },
		{ none_alive_due, "pollers", HEALTH_BAD, HEALTH_BAD },
		{ due, "oldest due job", HEALTH_OK, HEALTH_OK },
		{ late, "oldest due job", HEALTH_WARN, HEALTH_WARN },
		{ lax, "strict mode", HEALTH_BAD, HEALTH_BAD },
		{ unsafe, "flush at commit", HEALTH_BAD, HEALTH_BAD },
		{ unknown, "oldest unknown job", HEALTH_WARN, HEALTH_WARN },
		{ stranded, "stranded jobs", HEALTH_WARN, HEALTH_WARN },
		{ dead, "dead pollers", HEALTH_WARN, HEALTH_WARN },
		{ healthy(), "webhooks", HEALTH_OK, HEALTH_OK },
		{ healthy(), "webhook messages", HEALTH_OK, HEALTH_OK },
		{ gone, "webhooks", HEALTH_WARN, HEALTH_WARN },
		{ undelivered, "webhook messages", HEALTH_WARN, HEALTH_WARN },
		{ failing, "failing webhooks", HEALTH_WARN, HEALTH_WARN },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct findings findings;

		findings_init(&findings);
		doctor_vitals(&findings, &rows[i].vitals, 30);
		const struct finding *finding = find(&findings, rows[i].what);
		if (!finding || finding->health != rows[i].want ||
		    findings_worst(&findings) != rows[i].worst)
			fail_msg("row %zu, %s", i, rows[i].what);
		if ((finding->health == HEALTH_OK) != (finding->fix[0] == '\0'))
			fail_msg("row %zu, %s: a fix is told exactly when something is wrong", i,
				 rows[i].what);
		findings_release(&findings);
	}
}

static void what_is_alive_by_its_lease_only_shows_how_long_it_is_silent(void **state)
{
	struct vitals vitals = healthy();
	struct findings findings;

	(void)state;
	vitals.first_lease_us = NOW_US + 4 * SECOND_US;
	findings_init(&findings);
	doctor_vitals(&findings, &vitals, 30);
	assert_non_null(strstr(find(&findings, "pollers")->found, "one 26s ago"));
	findings_release(&findings);
	doctor_vitals(&findings, &vitals, 0);
	assert_string_equal(find(&findings, "pollers")->found, "1 alive");
	findings_release(&findings);
}

static void callbacks_need_an_address_and_good_keys(void **state)
{
	static const struct {
		struct callback_facts facts;
		size_t rows;
		enum health want;
	} rows[] = {
		{ { NULL, NULL, false, true, "" }, 1, HEALTH_OK },
		{ { "https://a", "/keys", false, true, "provider cb" }, 1, HEALTH_OK },
		{ { "https://a", "/keys", true, true, "" }, 1, HEALTH_OK },
		{ { NULL, "/keys", false, true, "" }, 1, HEALTH_OK },
		{ { "https://a", NULL, false, true, "provider cb" }, 1, HEALTH_BAD },
		{ { "https://a", "/keys", false, false, "" }, 1, HEALTH_BAD },
		{ { NULL, "/keys", false, false, "" }, 1, HEALTH_BAD },
		{ { NULL, NULL, false, true, "provider cb" }, 2, HEALTH_WARN },
		{ { NULL, "/keys", true, true, "provider cb" }, 2, HEALTH_WARN },
		{ { NULL, "/keys", false, false, "provider cb" }, 2, HEALTH_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct findings findings;

		findings_init(&findings);
		doctor_callbacks(&findings, &rows[i].facts);
		if (findings.len != rows[i].rows || findings_worst(&findings) != rows[i].want)
			fail_msg("row %zu", i);
		if (rows[i].rows == 2)
			assert_non_null(
				strstr(find(&findings, "callback URL")->found, "provider cb:"));
		findings_release(&findings);
	}
}

static void a_socket_is_told_with_who_may_connect(void **state)
{
	char rights[256], want[64];
	struct stat is;

	(void)state;
	assert_int_equal(stat("/", &is), 0);
	socket_rights("/", rights, sizeof rights);
	snprintf(want, sizeof want, "root:root, mode %04o", is.st_mode & 07777);
	assert_string_equal(rights, want);
	socket_rights("/nowhere", rights, sizeof rights);
	assert_string_equal(rights, "gone");
}

static void an_unknown_setting_is_told_by_name(void **state)
{
	struct findings findings;

	(void)state;
	findings_init(&findings);
	doctor_strangers(&findings, "");
	assert_int_equal(findings.len, 0);
	doctor_strangers(&findings, "ONEJOB_THREDS");
	assert_int_equal(findings_worst(&findings), HEALTH_WARN);
	assert_non_null(strstr(find(&findings, "unknown settings")->found, "ONEJOB_THREDS"));
	findings_release(&findings);
}

static void an_address_where_nobody_listens_is_told(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof at;
	char url[64];

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", ntohs(at.sin_port));
	assert_string_equal(socket_check_url(url), "nobody listens there");
	assert_int_equal(listen(fd, 1), 0);
	assert_null(socket_check_url(url));
	close(fd);
	assert_non_null(socket_check_url("ftp://127.0.0.1/"));
	assert_non_null(socket_check_url("http://127.0.0.1:/"));
	assert_non_null(socket_check_url("http://:80/"));
}

static void an_older_or_another_schema_is_bad_and_a_newer_one_a_warning(void **state)
{
	(void)state;
	for (int verdict = 0; verdict < SCHEMA__MAX; verdict++) {
		struct findings findings;
		struct schema_state schema = {
			.verdict = (enum schema_age)verdict, .at = 3, .wants = 7, .changed = 2
		};

		findings_init(&findings);
		doctor_schema(&findings, &schema);
		enum health want = verdict == SCHEMA_CURRENT ? HEALTH_OK
				   : verdict == SCHEMA_NEWER ? HEALTH_WARN
							     : HEALTH_BAD;

		if (findings_worst(&findings) != want)
			fail_msg("verdict %d", verdict);
		findings_release(&findings);
	}
}

static void too_many_findings_are_no_clean_bill(void **state)
{
	struct findings findings;

	(void)state;
	findings_init(&findings);
	for (int i = 0; i <= FINDINGS_MAX; i++)
		findings_add(&findings, HEALTH_OK, "row", "", "%d", i);
	assert_int_equal(findings_worst(&findings), HEALTH_BAD);
	findings_release(&findings);
}

static struct route_standing route(const char *contract, uint32_t place, enum standing now,
				   bool expiring)
{
	struct route_standing r = { .place = place, .now = now, .expiring = expiring };

	snprintf(r.contract, sizeof r.contract, "%s", contract);
	snprintf(r.provider, sizeof r.provider, "p%u", place);
	return r;
}

static void each_later_route_is_judged_by_its_certificate(void **state)
{
	const struct {
		struct route_standing route;
		const char *what; /* that warns; NULL: none does */
		const char *fix;
	} rows[] = {
		{ route("a", 1, STANDING_VALID, false), NULL, NULL },
		{ route("a", 1, STANDING_VALID, true), "certificates that expire soon",
		  "onejob contract certify --renew" },
		{ route("a", 1, STANDING_EXPIRED, true), "void certificates",
		  "onejob contract certify a --route p1" },
		{ route("a", 2, STANDING_SUBJECT_CHANGED, false), "void certificates",
		  "onejob contract certify a --route p2" },
		{ route("a", 1, STANDING_FAILED, false), "void certificates",
		  "onejob contract certify a --route p1" },
		{ route("a", 1, STANDING_NOT_CERTIFIED, false), "routes never certified",
		  "onejob contract certify a --route p1" },
		{ route("a", 1, STANDING_DISABLED, false), NULL, NULL },
		{ route("a", 0, STANDING_NOT_CERTIFIED, false), NULL, NULL },
		{ route("a", 0, STANDING_EXPIRED, true), NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct findings findings;

		findings_init(&findings);
		doctor_routes(&findings, &rows[i].route, 1);
		for (size_t j = 0; j < findings.len; j++) {
			const struct finding *f = &findings.list[j];
			bool wanted = rows[i].what && strcmp(f->what, rows[i].what) == 0;

			if ((f->health == HEALTH_WARN) != wanted || f->health == HEALTH_BAD)
				fail_msg("row %zu: %s is %s", i, f->what, health_name(f->health));
			if (wanted && !strstr(f->fix, rows[i].fix))
				fail_msg("row %zu: %s", i, f->fix);
		}
		findings_release(&findings);
	}
}

static void many_routes_in_trouble_are_one_row_with_the_first_contracts_command(void **state)
{
	struct route_standing list[2 * FINDINGS_MAX];
	struct findings findings;

	(void)state;
	for (size_t i = 0; i < 2 * FINDINGS_MAX; i++)
		list[i] =
			route(i < 2 ? "first" : "second", 1 + (uint32_t)i, STANDING_EXPIRED, true);
	findings_init(&findings);
	doctor_routes(&findings, list, 2 * FINDINGS_MAX);
	const struct finding *finding = find(&findings, "void certificates");
	assert_non_null(finding);
	assert_int_equal(findings_worst(&findings), HEALTH_WARN);
	assert_non_null(strstr(finding->found,
			       "p1 of first (expired); p2 of first (expired); p3 of second"));
	assert_non_null(strstr(finding->found, "; and 123 more"));
	assert_non_null(strstr(finding->fix, "certify first --route p1 --route p2   "));
	assert_null(strstr(finding->fix, "second"));
	findings_release(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_servers_with_skip_locked_are_supported),
		cmocka_unit_test(a_client_library_of_another_make_or_major_version_is_warned_of),
		cmocka_unit_test(a_node_of_a_cluster_is_in_step_or_warned_of),
		cmocka_unit_test(clocks_apart_warn_and_then_are_bad),
		cmocka_unit_test(each_vital_sign_is_judged_by_itself),
		cmocka_unit_test(what_is_alive_by_its_lease_only_shows_how_long_it_is_silent),
		cmocka_unit_test(callbacks_need_an_address_and_good_keys),
		cmocka_unit_test(a_socket_is_told_with_who_may_connect),
		cmocka_unit_test(an_unknown_setting_is_told_by_name),
		cmocka_unit_test(an_address_where_nobody_listens_is_told),
		cmocka_unit_test(each_later_route_is_judged_by_its_certificate),
		cmocka_unit_test(
			many_routes_in_trouble_are_one_row_with_the_first_contracts_command),
		cmocka_unit_test(an_older_or_another_schema_is_bad_and_a_newer_one_a_warning),
		cmocka_unit_test(too_many_findings_are_no_clean_bill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
