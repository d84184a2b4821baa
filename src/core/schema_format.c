#include "core/schema_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/schema_uri.h"

/* What is left to be read. */
struct rest {
	const char *at, *end;
};

static enum format_verdict is(bool yes)
{
	return yes ? FORMAT_IS : FORMAT_IS_NOT;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool take(struct rest *rest, const char *any)
{
	if (rest->at == rest->end || *rest->at == '\0' || !strchr(any, *rest->at))
		return false;
	rest->at++;
	return true;
}

/* Exactly so many digits. */
static bool take_number(struct rest *rest, int digits, int *number_out)
{
	int number = 0;

	if (rest->end - rest->at < digits)
		return false;
	for (int i = 0; i < digits; i++, rest->at++) {
		if (!is_digit(*rest->at))
			return false;
		number = number * 10 + (*rest->at - '0');
	}
	*number_out = number;
	return true;
}

/* full-date */
static bool take_date(struct rest *rest)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year, month, day;

	if (!take_number(rest, 4, &year) || !take(rest, "-") || !take_number(rest, 2, &month) ||
	    !take(rest, "-") || !take_number(rest, 2, &day))
		return false;
	if (month < 1 || month > 12 || day < 1)
		return false;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return day <= days[month - 1] + (month == 2 && leap);
}

/* full-time. A leap second comes at the end of a day in UTC. */
static bool take_time(struct rest *rest)
{
	int hour, minute, second, offset_hour = 0, offset_minute = 0, sign = 1;

	if (!take_number(rest, 2, &hour) || !take(rest, ":") || !take_number(rest, 2, &minute) ||
	    !take(rest, ":") || !take_number(rest, 2, &second))
		return false;
	if (take(rest, ".")) {
		const char *begin = rest->at;
		while (rest->at < rest->end && is_digit(*rest->at))
			rest->at++;
		if (rest->at == begin)
			return false;
	}
	if (!take(rest, "Zz")) {
		sign = rest->at < rest->end && *rest->at == '-' ? -1 : 1;
		if (!take(rest, "+-") || !take_number(rest, 2, &offset_hour) || !take(rest, ":") ||
		    !take_number(rest, 2, &offset_minute))
			return false;
	}
	if (hour > 23 || minute > 59 || second > 60 || offset_hour > 23 || offset_minute > 59)
		return false;
	int utc = hour * 60 + minute - sign * (offset_hour * 60 + offset_minute);
	return second < 60 || (utc + 2 * 1440) % 1440 == 1439;
}

static enum format_verdict judge_date_time(const char *text, size_t len)
{
	struct rest rest = { text, text + len };

	return is(take_date(&rest) && take(&rest, "Tt") && take_time(&rest) && rest.at == rest.end);
}

static enum format_verdict judge_date(const char *text, size_t len)
{
	struct rest rest = { text, text + len };

	return is(take_date(&rest) && rest.at == rest.end);
}

static enum format_verdict judge_time(const char *text, size_t len)
{
	struct rest rest = { text, text + len };

	return is(take_time(&rest) && rest.at == rest.end);
}

static enum format_verdict judge_uuid(const char *text, size_t len)
{
	if (len != 36)
		return FORMAT_IS_NOT;
	for (size_t i = 0; i < len; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
		if (hyphen ? text[i] != '-' : !is_hex(text[i]))
			return FORMAT_IS_NOT;
	}
	return FORMAT_IS;
}

static enum format_verdict judge_ipv4(const char *text, size_t len)
{
	struct rest rest = { text, text + len };

	for (int part = 0; part < 4; part++) {
		const char *begin = rest.at;
		int number = 0;

		if (part > 0 && !take(&rest, "."))
			return FORMAT_IS_NOT;
		begin = rest.at;
		while (rest.at < rest.end && is_digit(*rest.at) && rest.at - begin < 3)
			number = number * 10 + (*rest.at++ - '0');
		if (rest.at == begin || number > 255 || (rest.at - begin > 1 && *begin == '0'))
			return FORMAT_IS_NOT;
	}
	return is(rest.at == rest.end);
}

/* Groups of hex digits between colons; an IPv4 address may be the last and counts as two. -1: they
 * are none. */
static int count_groups(const char *text, size_t len, bool last)
{
	int groups = 0;

	for (size_t at = 0; len > 0;) {
		const char *colon = memchr(text + at, ':', len - at);
		size_t part = colon ? (size_t)(colon - text) - at : len - at;

		if (!colon && last && memchr(text + at, '.', part))
			return judge_ipv4(text + at, part) == FORMAT_IS ? groups + 2 : -1;
		if (part == 0 || part > 4 || ++groups > 8)
			return -1;
		for (size_t i = 0; i < part; i++)
			if (!is_hex(text[at + i]))
				return -1;
		if (!colon)
			break;
		at += part + 1;
	}
	return groups;
}

static enum format_verdict judge_ipv6(const char *text, size_t len)
{
	const char *gap = memmem(text, len, "::", 2);

	if (!gap)
		return is(count_groups(text, len, true) == 8);
	size_t before = (size_t)(gap - text);
	int first = count_groups(text, before, false);
	int rest = count_groups(gap + 2, len - before - 2, true);
	return is(first >= 0 && rest >= 0 && first + rest < 8);
}

static enum format_verdict judge_label(const char *label, size_t len)
{
	if (len == 0 || len > 63 || label[0] == '-' || label[len - 1] == '-')
		return FORMAT_IS_NOT;
	for (size_t i = 0; i < len; i++)
		if (!is_letter(label[i]) && !is_digit(label[i]) && label[i] != '-')
			return FORMAT_IS_NOT;
	bool punycode = len >= 4 && (label[0] | 0x20) == 'x' && (label[1] | 0x20) == 'n' &&
			label[2] == '-' && label[3] == '-';
	return punycode ? FORMAT_OPEN : FORMAT_IS;
}

static enum format_verdict judge_hostname(const char *text, size_t len)
{
	enum format_verdict verdict = FORMAT_IS;

	if (len > 253)
		return FORMAT_IS_NOT;
	for (size_t at = 0; at <= len && verdict != FORMAT_IS_NOT;) {
		const char *point = memchr(text + at, '.', len - at);
		size_t part = point ? (size_t)(point - text) - at : len - at;
		enum format_verdict label = judge_label(text + at, part);

		if (label > verdict)
			verdict = label;
		at += part + 1;
	}
	return verdict;
}

/* Local-part of RFC 5321: atoms between points, or a quoted string. */
static bool is_local_part(const char *text, size_t len)
{
	if (len == 0 || len > 64)
		return false;
	if (text[0] == '"') {
		if (len < 2 || text[len - 1] != '"')
			return false;
		for (size_t i = 1; i + 1 < len; i++) {
			if (text[i] < ' ' || text[i] > '~' || text[i] == '"')
				return false;
			if (text[i] == '\\' && (++i + 1 >= len || text[i] < ' ' || text[i] > '~'))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < len; i++) {
		bool point = text[i] == '.';

		if (point && (i == 0 || i + 1 == len || text[i - 1] == '.'))
			return false;
		if (!point && !is_letter(text[i]) && !is_digit(text[i]) &&
		    (text[i] == '\0' || !strchr("!#$%&'*+-/=?^_`{|}~", text[i])))
			return false;
	}
	return true;
}

/* Behind the @: a host, or an address in brackets. */
static enum format_verdict judge_domain(const char *text, size_t len)
{
	static const char tag[] = "IPv6:";
	size_t tag_len = sizeof tag - 1;

	if (len < 2 || text[0] != '[' || text[len - 1] != ']')
		return judge_hostname(text, len);
	text++;
	len -= 2;
	if (len > tag_len && memcmp(text, tag, tag_len) == 0)
		return judge_ipv6(text + tag_len, len - tag_len);
	return judge_ipv4(text, len);
}

static enum format_verdict judge_email(const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);

	if (!at || !is_local_part(text, (size_t)(at - text)))
		return FORMAT_IS_NOT;
	return judge_domain(at + 1, len - (size_t)(at - text) - 1);
}

/* In brackets stands an IPv6 address or `v`, its version, a point and more (RFC 3986, 3.2.2). */
static bool is_literal(const char *text, size_t len)
{
	size_t i = 1;

	if (len == 0 || (text[0] | 0x20) != 'v')
		return judge_ipv6(text, len) == FORMAT_IS;
	while (i < len && is_hex(text[i]))
		i++;
	return i > 1 && i + 1 < len && text[i] == '.' && !memchr(text, '%', len);
}

static enum format_verdict judge_uri(const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *close = memchr(text, ']', len);
	bool absolute;

	if (!schema_uri_valid(text, len, &absolute) || !absolute)
		return FORMAT_IS_NOT;
	/* Brackets are valid only around a host. */
	return is(!open || (close && is_literal(open + 1, (size_t)(close - open) - 1)));
}

static const struct {
	const char *name;
	schema_format_judge *judge;
} formats[] = {
	{ "date-time", judge_date_time }, { "date", judge_date },   { "time", judge_time },
	{ "uuid", judge_uuid },		  { "email", judge_email }, { "uri", judge_uri },
	{ "ipv4", judge_ipv4 },		  { "ipv6", judge_ipv6 },   { "hostname", judge_hostname },
};

schema_format_judge *schema_format_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0)
			return formats[i].judge;
	return NULL;
}
