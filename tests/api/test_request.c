/* test_request.c: parameters, the raw path, media types, conditional headers, queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/if_match.h"
#include "api/query.h"
#include "api/request.h"

static struct request read_params(const char *const *params)
{
	struct request request;

	request_read(&request, (char *const *)params);
	return request;
}

static void doubled_parameters_are_noticed(void **state)
{
	const char *const once[] = { "REQUEST_URI=/a", "HTTP_IDEMPOTENCY_KEY=k", NULL };
	const char *const twice[] = { "HTTP_IDEMPOTENCY_KEY=k", "REQUEST_URI=/a",
				      "HTTP_IDEMPOTENCY_KEY=", NULL };
	const char *const near[] = { "HTTP_IDEMPOTENCY_KEYS=k", "HTTP_IDEMPOTENCY=k",
				     "XHTTP_IDEMPOTENCY_KEY=k", NULL };
	struct request request = read_params(once);

	(void)state;
	assert_string_equal(request_param(&request, PARAM_KEY), "k");
	assert_false(request_doubled(&request, PARAM_KEY));
	request = read_params(twice);
	assert_true(request_doubled(&request, PARAM_KEY));
	assert_string_equal(request_nth(&request, PARAM_KEY, 1), "");
	assert_null(request_nth(&request, PARAM_KEY, 2));
	request = read_params(near);
	assert_null(request_param(&request, PARAM_KEY));
}

static void d07_the_path_is_the_raw_uri(void **state)
{
	static const struct {
		const char *uri;
		const char *path;
		const char *query;
		bool plain;
	} rows[] = {
		{ "REQUEST_URI=/v1/jobs?a=b?c", "/v1/jobs", "a=b?c", true },
		{ "REQUEST_URI=/v1/jobs?", "/v1/jobs", "", true },
		{ "REQUEST_URI=/v1/jobs", "/v1/jobs", NULL, true },
		{ "REQUEST_URI=/v1/%6aobs", "/v1/%6aobs", NULL, false },
		{ "REQUEST_URI=/v1//jobs", "/v1//jobs", NULL, false },
		{ "REQUEST_URI=/v1/jobs?a=%2F//", "/v1/jobs", "a=%2F//", true },
		{ "REQUEST_URI=", "", NULL, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].uri, "DOCUMENT_URI=/v1/other", NULL };
		struct request request = read_params(params);

		if (request.path_len != strlen(rows[i].path) ||
		    memcmp(request.path, rows[i].path, request.path_len) != 0)
			fail_msg("%s: path <%.*s>", rows[i].uri, (int)request.path_len,
				 request.path);
		if (!request.query != !rows[i].query ||
		    (rows[i].query && strcmp(request.query, rows[i].query) != 0))
			fail_msg("%s: query <%s>", rows[i].uri,
				 request.query ? request.query : "none");
		if (request_path_plain(&request) != rows[i].plain)
			fail_msg("%s: plain is wrong", rows[i].uri);
	}
}

static void only_json_is_json(void **state)
{
	static const struct {
		const char *type;
		bool json;
	} rows[] = {
		{ "CONTENT_TYPE=application/json", true },
		{ "CONTENT_TYPE=Application/JSON", true },
		{ "CONTENT_TYPE= application/json ", true },
		{ "CONTENT_TYPE=application/json;charset=utf-8", true },
		{ "CONTENT_TYPE=application/json; charset=UTF-8", true },
		{ "CONTENT_TYPE=application/json ; charset=\"utf-8\"", true },
		{ "CONTENT_TYPE=application/json;", true },
		{ "CONTENT_TYPE=application/json; charset=utf-16", false },
		{ "CONTENT_TYPE=application/json; charset=utf-8; x=y", false },
		{ "CONTENT_TYPE=application/json; charset=\"utf-8", false },
		{ "CONTENT_TYPE=application/json, application/json", false },
		{ "CONTENT_TYPE=application/jsonx", false },
		{ "CONTENT_TYPE=application/problem+json", false },
		{ "CONTENT_TYPE=text/json", false },
		{ "CONTENT_TYPE=", false },
		{ "CONTENT_TYPES=application/json", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].type, NULL };
		struct request request = read_params(params);

		if (request_is_json(&request) != rows[i].json)
			fail_msg("%s", rows[i].type);
	}
}

static void the_announced_length_is_read_strictly(void **state)
{
	static const struct {
		const char *length;
		size_t want;
	} rows[] = {
		{ "CONTENT_LENGTH=0", 0 },
		{ "CONTENT_LENGTH=1048576", 1048576 },
		{ "CONTENT_LENGTH=", 7 },
		{ "CONTENT_LENGTH=-1", 7 },
		{ "CONTENT_LENGTH=1x", 7 },
		{ "X=1", 7 },
		{ "CONTENT_LENGTH=99999999999999999999999999", SIZE_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].length, NULL };
		struct request request = read_params(params);

		if (request_announced(&request, 7) != rows[i].want)
			fail_msg("%s: %zu", rows[i].length, request_announced(&request, 7));
	}
}

static void the_request_id_is_the_web_servers_if_it_can_be_one(void **state)
{
	static const struct {
		const char *id;
		bool kept;
	} rows[] = {
		{ "ONEJOB_REQUEST_ID=a", true },
		{ "ONEJOB_REQUEST_ID=0123456789abcdefABCDEFxyzXYZ-"
		  "0123456789abcdef0123456789abcdef012",
		  true },
		{ "ONEJOB_REQUEST_ID=0123456789abcdefABCDEFxyzXYZ-"
		  "0123456789abcdef0123456789abcdef0123",
		  false },
		{ "ONEJOB_REQUEST_ID=", false },
		{ "ONEJOB_REQUEST_ID=a\r\nX: y", false },
		{ "HTTP_X_REQUEST_ID=a", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].id, NULL };
		struct request request = read_params(params);
		bool kept = strcmp(request.id, strchr(rows[i].id, '=') + 1) == 0;

		if (kept != rows[i].kept || (!kept && strlen(request.id) != 32))
			fail_msg("%s: <%s>", rows[i].id, request.id);
	}
}

static void if_match_is_a_list_of_strong_tags(void **state)
{
	static const struct {
		const char *value;
		bool read;
		bool any;
		size_t len;
	} rows[] = {
		{ "HTTP_IF_MATCH=\"3-7\"", true, false, 1 },
		{ "HTTP_IF_MATCH=*", true, true, 0 },
		{ "HTTP_IF_MATCH= * ", true, true, 0 },
		{ "HTTP_IF_MATCH=\"3-7\", \"4-1\" ,\"0-0\"", true, false, 3 },
		{ "HTTP_IF_MATCH=W/\"3-7\"", true, false, 0 },
		{ "HTTP_IF_MATCH=\"abc\", \"03-7\", \"3--7\", \"3- 7\", \"+3-7\"", false, false,
		  0 },
		{ "HTTP_IF_MATCH=\"abc\", \"03-7\", \"3--7\", \"+3-7\", \"3-7x\"", true, false, 0 },
		{ "HTTP_IF_MATCH=\"18446744073709551615-0\"", true, false, 1 },
		{ "HTTP_IF_MATCH=\"18446744073709551616-0\"", true, false, 0 },
		{ "HTTP_IF_MATCH=", false, false, 0 },
		{ "HTTP_IF_MATCH=3-7", false, false, 0 },
		{ "HTTP_IF_MATCH=\"3-7", false, false, 0 },
		{ "HTTP_IF_MATCH=*, \"3-7\"", false, false, 0 },
		{ "HTTP_IF_MATCH=\"3-7\" \"4-1\"", false, false, 0 },
		{ "HTTP_IF_MATCH=\"1-1\",\"1-2\",\"1-3\",\"1-4\",\"1-5\",\"1-6\",\"1-7\",\"1-8\"",
		  true, false, 8 },
		{ "HTTP_IF_MATCH=\"1-1\",\"1-2\",\"1-3\",\"1-4\",\"1-5\",\"1-6\",\"1-7\",\"1-8\","
		  "\"1-9\"",
		  false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].value, NULL };
		struct request request = read_params(params);
		struct if_match match;
		bool read = if_match_read(&request, &match);

		if (read != rows[i].read)
			fail_msg("%s: read is %d", rows[i].value, read);
		if (read &&
		    (!match.present || match.any != rows[i].any || match.len != rows[i].len))
			fail_msg("%s: present %d, any %d, len %zu", rows[i].value, match.present,
				 match.any, match.len);
	}
}

static void if_match_on_two_lines_is_one_list(void **state)
{
	const char *const params[] = { "HTTP_IF_MATCH=\"1-1\"", "HTTP_IF_MATCH=\"2-9\"", NULL };
	const char *const none[] = { "A=b", NULL };
	struct request request = read_params(params);
	struct if_match match;

	(void)state;
	assert_true(if_match_read(&request, &match));
	assert_int_equal(match.len, 2);
	assert_int_equal(match.list[1].version, 2);
	assert_int_equal(match.list[1].revision, 9);
	request = read_params(none);
	assert_true(if_match_read(&request, &match));
	assert_false(match.present);
}

static void if_none_match_compares_weakly(void **state)
{
	static const struct {
		const char *value;
		bool holds;
	} rows[] = {
		{ "HTTP_IF_NONE_MATCH=\"3-7\"", true },
		{ "HTTP_IF_NONE_MATCH=W/\"3-7\"", true },
		{ "HTTP_IF_NONE_MATCH=*", true },
		{ "HTTP_IF_NONE_MATCH=\"x\", W/\"3-7\"", true },
		{ "HTTP_IF_NONE_MATCH=\"3-8\"", false },
		{ "HTTP_IF_NONE_MATCH=\"3-77\"", false },
		{ "HTTP_IF_NONE_MATCH=3-7", false },
		{ "HTTP_IF_NONE_MATCH=", false },
		{ "HTTP_IF_NONE_MATCH=w/\"3-7\"", false },
		{ "A=b", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const params[] = { rows[i].value, NULL };
		struct request request = read_params(params);

		struct if_match pairs;
		bool has = if_none_match_read(&request, &pairs) && pairs.any;

		for (size_t j = 0; j < pairs.len; j++)
			has |= pairs.list[j].version == 3 && pairs.list[j].revision == 7;
		if (if_none_match_holds(&request, "\"3-7\"") != rows[i].holds ||
		    has != rows[i].holds)
			fail_msg("%s", rows[i].value);
	}
}

/* The rest is compared when the job has been read. */
static void of_a_long_list_of_tags_the_first_eight_are_pairs(void **state)
{
	static const char *const params[] = { "HTTP_IF_NONE_MATCH=\"1-1\", \"x\", \"1-2\", \"1-3\"",
					      "HTTP_IF_NONE_MATCH=\"1-4\", \"1-5\", \"1-6\"",
					      "HTTP_IF_NONE_MATCH=\"1-7\", \"1-8\", \"3-7\"",
					      NULL };
	struct request request = read_params(params);
	struct if_match pairs;

	(void)state;
	assert_true(if_none_match_read(&request, &pairs));
	assert_int_equal(pairs.len, 8);
	assert_int_equal(pairs.list[7].revision, 8);
	assert_true(if_none_match_holds(&request, "\"3-7\""));
}

static void a_query_is_read_strictly(void **state)
{
	static const struct {
		const char *query;
		bool read;
		const char *name;
		const char *limit;
	} rows[] = {
		{ "name=a&limit=5", true, "a", "5" },
		{ "limit=5", true, NULL, "5" },
		{ "", true, NULL, NULL },
		{ "name=a+b%2Bc%c3%a9", true, "a b+c\xc3\xa9", NULL },
		{ "name=a=b", true, "a=b", NULL },
		{ "name=a&name=b", false, NULL, NULL },
		{ "Name=a", false, NULL, NULL },
		{ "other=a", false, NULL, NULL },
		{ "name", false, NULL, NULL },
		{ "name=", false, NULL, NULL },
		{ "name=a&", false, NULL, NULL },
		{ "&name=a", false, NULL, NULL },
		{ "name=%", false, NULL, NULL },
		{ "name=%4", false, NULL, NULL },
		{ "name=%zz", false, NULL, NULL },
		{ "name=a%00b", false, NULL, NULL },
		{ "name=a%0d%0ab", false, NULL, NULL },
		{ "%6eame=a", false, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct query_member members[] = { { .name = "name" }, { .name = "limit" } };
		char detail[QUERY_DETAIL_MAX] = "";
		bool read = query_read(rows[i].query, strlen(rows[i].query), members, 2, detail);

		if (read != rows[i].read || (!read && !*detail))
			fail_msg("%s: read is %d, detail <%s>", rows[i].query, read, detail);
		if (read && members[0].given != (rows[i].name != NULL))
			fail_msg("%s: name is given: %d", rows[i].query, members[0].given);
		if (read && rows[i].name && strcmp(members[0].value, rows[i].name) != 0)
			fail_msg("%s: <%s>", rows[i].query, members[0].value);
		if (read && rows[i].limit && strcmp(members[1].value, rows[i].limit) != 0)
			fail_msg("%s: <%s>", rows[i].query, members[1].value);
	}
}

static void a_query_value_has_255_bytes_at_most(void **state)
{
	struct query_member members[] = { { .name = "n" } };
	char detail[QUERY_DETAIL_MAX];
	char query[300];

	(void)state;
	memset(query, 'x', sizeof query);
	memcpy(query, "n=", 2);
	assert_true(query_read(query, 2 + 255, members, 1, detail));
	assert_int_equal(members[0].len, 255);
	members[0] = (struct query_member){ .name = "n" };
	assert_false(query_read(query, 2 + 256, members, 1, detail));
}

static void limits_are_1_to_200(void **state)
{
	static const struct {
		const char *query;
		bool read;
		uint32_t limit;
	} rows[] = {
		{ NULL, true, 50 },	{ "l=1", true, 1 },
		{ "l=200", true, 200 }, { "l=0", false, 0 },
		{ "l=201", false, 0 },	{ "l=-1", false, 0 },
		{ "l=1.0", false, 0 },	{ "l=99999999999999999999", false, 0 },
		{ "l=0x10", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct query_member members[] = { { .name = "l" } };
		char detail[QUERY_DETAIL_MAX];
		uint32_t limit;

		assert_true(query_read(rows[i].query, rows[i].query ? strlen(rows[i].query) : 0,
				       members, 1, detail));
		if (query_limit(&members[0], &limit) != rows[i].read ||
		    (rows[i].read && limit != rows[i].limit))
			fail_msg("%s: %u", rows[i].query, limit);
	}
}

static void cursors_come_back_as_they_went(void **state)
{
	struct id id = { { 1, 2, 3, 0xff } };
	struct id back;
	char cursor[CURSOR_MAX + 1];
	char name[NAME_MAX_LEN + 1];
	struct query_member member = { .name = "cursor" };

	(void)state;
	cursor_of_id(&id, cursor);
	member.len = (size_t)snprintf(member.value, sizeof member.value, "%s", cursor);
	assert_true(cursor_to_id(&member, &back));
	assert_true(id_equal(&id, &back));
	assert_false(cursor_to_name(&member, name));
	member.len--;
	assert_false(cursor_to_id(&member, &back));
	cursor_of_name("print-2", cursor);
	member.len = (size_t)snprintf(member.value, sizeof member.value, "%s", cursor);
	assert_true(cursor_to_name(&member, name));
	assert_string_equal(name, "print-2");
	member.len = (size_t)snprintf(member.value, sizeof member.value, "7a7");
	assert_false(cursor_to_name(&member, name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubled_parameters_are_noticed),
		cmocka_unit_test(d07_the_path_is_the_raw_uri),
		cmocka_unit_test(only_json_is_json),
		cmocka_unit_test(the_announced_length_is_read_strictly),
		cmocka_unit_test(the_request_id_is_the_web_servers_if_it_can_be_one),
		cmocka_unit_test(if_match_is_a_list_of_strong_tags),
		cmocka_unit_test(if_match_on_two_lines_is_one_list),
		cmocka_unit_test(if_none_match_compares_weakly),
		cmocka_unit_test(of_a_long_list_of_tags_the_first_eight_are_pairs),
		cmocka_unit_test(a_query_is_read_strictly),
		cmocka_unit_test(a_query_value_has_255_bytes_at_most),
		cmocka_unit_test(limits_are_1_to_200),
		cmocka_unit_test(cursors_come_back_as_they_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
