/* query.c: see query.h. */
#include "api/query.h"

#include <stdio.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX 200

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Two hex digits as a byte, or -1. */
static int hex_byte(const char *at, const char *end)
{
	int high = at < end ? hex_digit(at[0]) : -1;
	int low = at + 1 < end ? hex_digit(at[1]) : -1;

	return high < 0 || low < 0 ? -1 : 16 * high + low;
}

static bool decode(const char *at, const char *end, struct query_member *member)
{
	while (at < end) {
		int byte = (unsigned char)*at++;

		if (byte == '+') {
			byte = ' ';
		} else if (byte == '%') {
			byte = hex_byte(at, end);
			at += 2;
		}
		if (byte < 0x20 || byte == 0x7f || member->len == QUERY_VALUE_MAX)
			return false;
		member->value[member->len++] = (char)byte;
	}
	member->value[member->len] = '\0';
	return true;
}

static struct query_member *find(const char *name, size_t len, struct query_member *members,
				 size_t members_len)
{
	for (size_t i = 0; i < members_len; i++)
		if (strlen(members[i].name) == len && memcmp(members[i].name, name, len) == 0)
			return &members[i];
	return NULL;
}

/* One name=value. What is quoted in the detail is a name of ours; a stranger's bytes aren't sent
 * back. */
static bool read_pair(const char *at, const char *end, struct query_member *members,
		      size_t members_len, char *detail)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	const char *name_end = equals ? equals : end;
	struct query_member *member = find(at, (size_t)(name_end - at), members, members_len);

	if (!member) {
		size_t used = (size_t)snprintf(detail, QUERY_DETAIL_MAX,
					       "a member is unknown; known here:");

		for (size_t i = 0; i < members_len && used < QUERY_DETAIL_MAX; i++)
			used += (size_t)snprintf(detail + used, QUERY_DETAIL_MAX - used, " %s",
						 members[i].name);
		return false;
	}
	if (member->given) {
		snprintf(detail, QUERY_DETAIL_MAX, "%s stands twice", member->name);
		return false;
	}
	member->given = true;
	if (!equals || !decode(equals + 1, end, member) || member->len == 0) {
		snprintf(detail, QUERY_DETAIL_MAX, "%s has no value that can be read",
			 member->name);
		return false;
	}
	return true;
}

bool query_read(const char *query, size_t len, struct query_member *members, size_t members_len,
		char detail_out[QUERY_DETAIL_MAX])
{
	const char *end = query ? query + len : NULL;

	if (!query || len == 0)
		return true;
	for (;;) {
		const char *amp = memchr(query, '&', (size_t)(end - query));

		if (!read_pair(query, amp ? amp : end, members, members_len, detail_out))
			return false;
		if (!amp)
			return true;
		query = amp + 1;
	}
}

bool query_limit(const struct query_member *member, uint32_t *limit_out)
{
	uint32_t number = 0;

	*limit_out = LIMIT_DEFAULT;
	if (!member->given)
		return true;
	for (size_t i = 0; i < member->len; i++) {
		if (member->value[i] < '0' || member->value[i] > '9' || number > LIMIT_MAX)
			return false;
		number = 10 * number + (uint32_t)(member->value[i] - '0');
	}
	*limit_out = number;
	return number >= 1 && number <= LIMIT_MAX;
}

static void write_hex(const void *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[at[i] >> 4];
		*out++ = digits[at[i] & 15];
	}
	*out = '\0';
}

static bool read_hex(const struct query_member *member, unsigned char *out, size_t len)
{
	if (member->len != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int byte = hex_byte(member->value + 2 * i, member->value + member->len);

		if (byte < 0)
			return false;
		out[i] = (unsigned char)byte;
	}
	return true;
}

void cursor_of_id(const struct id *id, char cursor_out[CURSOR_MAX + 1])
{
	write_hex(id->bytes, sizeof id->bytes, cursor_out);
}

void cursor_of_name(const char *name, char cursor_out[CURSOR_MAX + 1])
{
	write_hex(name, strlen(name), cursor_out);
}

bool cursor_to_id(const struct query_member *member, struct id *id_out)
{
	return read_hex(member, id_out->bytes, sizeof id_out->bytes);
}

bool cursor_to_name(const struct query_member *member, char name_out[NAME_MAX_LEN + 1])
{
	size_t len = member->len / 2;

	if (len > NAME_MAX_LEN || !read_hex(member, (unsigned char *)name_out, len))
		return false;
	name_out[len] = '\0';
	return name_valid(name_out, len);
}
