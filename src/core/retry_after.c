#include "core/retry_after.h"

#include <stdbool.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)
#define DAY_S INT64_C(86400)

struct moment {
	int year, month, day, hour, minute, second;
};

/* Reads along a value; `ok` goes false at the first thing that isn't there and stays so. */
struct reader {
	const char *at;
	const char *end;
	bool ok;
};

static void take(struct reader *r, const char *literal)
{
	size_t len = strlen(literal);

	r->ok = r->ok && (size_t)(r->end - r->at) >= len && memcmp(r->at, literal, len) == 0;
	if (r->ok)
		r->at += len;
}

static int take_digits(struct reader *r, size_t count)
{
	int number = 0;

	r->ok = r->ok && (size_t)(r->end - r->at) >= count;
	for (size_t i = 0; r->ok && i < count; i++) {
		r->ok = r->at[i] >= '0' && r->at[i] <= '9';
		number = number * 10 + (r->at[i] - '0');
	}
	if (r->ok)
		r->at += count;
	return number;
}

/* One of `count` names; its place in the list. */
static int take_name(struct reader *r, const char *const *names, int count)
{
	for (int i = 0; r->ok && i < count; i++) {
		size_t len = strlen(names[i]);

		if ((size_t)(r->end - r->at) < len || memcmp(r->at, names[i], len) != 0)
			continue;
		r->at += len;
		return i;
	}
	r->ok = false;
	return 0;
}

static void take_day_name(struct reader *r)
{
	static const char *const names[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };

	(void)take_name(r, names, 7);
}

static int take_month(struct reader *r)
{
	static const char *const names[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

	return take_name(r, names, 12) + 1;
}

static void take_time(struct reader *r, struct moment *m)
{
	m->hour = take_digits(r, 2);
	take(r, ":");
	m->minute = take_digits(r, 2);
	take(r, ":");
	m->second = take_digits(r, 2);
}

/* Days from 1970-01-01 in the Gregorian calendar; years are counted from March, so that a leap day
 * comes last. */
static int64_t days_from_epoch(const struct moment *m)
{
	int64_t year = m->month > 2 ? m->year : m->year - 1;
	int64_t month = m->month > 2 ? m->month - 3 : m->month + 9;
	int64_t leap_days = year / 4 - year / 100 + year / 400;

	return 365 * year + leap_days + (153 * month + 2) / 5 + m->day - 1 - 719468;
}

static bool moment_valid(const struct moment *m)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = m->year % 4 == 0 && (m->year % 100 != 0 || m->year % 400 == 0);
	int days = lengths[m->month - 1] + (m->month == 2 && leap);

	return m->year >= 1 && m->day >= 1 && m->day <= days && m->hour <= 23 && m->minute <= 59 &&
	       m->second <= 60;
}

/* Before 1970 is 0: nothing here needs to tell such dates apart, and negative means unreadable. */
static int64_t moment_us(const struct reader *r, const struct moment *m)
{
	if (!r->ok || r->at != r->end || !moment_valid(m))
		return -1;

	int64_t seconds = days_from_epoch(m) * DAY_S + m->hour * 3600 + m->minute * 60 + m->second;
	return seconds < 0 ? 0 : seconds * SECOND_US;
}

/* Sun, 06 Nov 1994 08:49:37 GMT */
static int64_t parse_imf(struct reader r)
{
	struct moment m;

	take_day_name(&r);
	take(&r, ", ");
	m.day = take_digits(&r, 2);
	take(&r, " ");
	m.month = take_month(&r);
	take(&r, " ");
	m.year = take_digits(&r, 4);
	take(&r, " ");
	take_time(&r, &m);
	take(&r, " GMT");
	return moment_us(&r, &m);
}

/* Sunday, 06-Nov-94 08:49:37 GMT. A year that looks more than 50 years ahead is the one a century
 * before (RFC 9110). */
static int64_t parse_rfc850(struct reader r, int64_t now_us)
{
	static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
					     "Friday", "Saturday", "Sunday" };
	struct moment m;

	(void)take_name(&r, names, 7);
	take(&r, ", ");
	m.day = take_digits(&r, 2);
	take(&r, "-");
	m.month = take_month(&r);
	take(&r, "-");
	int short_year = take_digits(&r, 2);
	take(&r, " ");
	take_time(&r, &m);
	take(&r, " GMT");
	if (!r.ok)
		return -1;

	int this_year = (int)(1970 + now_us / SECOND_US / DAY_S * 400 / 146097);
	m.year = this_year - this_year % 100 + short_year;
	if (m.year < this_year - 49)
		m.year += 100;
	if (m.year > this_year + 50)
		m.year -= 100;
	return moment_us(&r, &m);
}

/* Sun Nov  6 08:49:37 1994: a day of one digit has a blank before it. */
static int64_t parse_asctime(struct reader r)
{
	struct moment m;

	take_day_name(&r);
	take(&r, " ");
	m.month = take_month(&r);
	take(&r, " ");
	bool padded = r.ok && r.at < r.end && *r.at == ' ';
	if (padded)
		r.at++;
	m.day = take_digits(&r, padded ? 1 : 2);
	take(&r, " ");
	take_time(&r, &m);
	take(&r, " ");
	m.year = take_digits(&r, 4);
	return moment_us(&r, &m);
}

static struct reader trimmed(const char *value, size_t len)
{
	struct reader r = { .at = value, .end = value + len, .ok = true };

	while (r.at < r.end && (*r.at == ' ' || *r.at == '\t'))
		r.at++;
	while (r.end > r.at && (r.end[-1] == ' ' || r.end[-1] == '\t'))
		r.end--;
	return r;
}

int64_t http_date_parse(const char *value, size_t len, int64_t now_us)
{
	struct reader r = trimmed(value, len);
	int64_t us = parse_imf(r);

	if (us < 0)
		us = parse_rfc850(r, now_us);
	return us < 0 ? parse_asctime(r) : us;
}

static int64_t parse_seconds(struct reader r)
{
	int64_t ms = 0;

	if (r.at == r.end)
		return -1;
	for (; r.at < r.end; r.at++) {
		if (*r.at < '0' || *r.at > '9')
			return -1;
		ms = ms * 10 + (*r.at - '0') * INT64_C(1000);
		if (ms > RETRY_AFTER_MAX_MS)
			ms = RETRY_AFTER_MAX_MS;
	}
	return ms;
}

int64_t retry_after_parse(const char *value, size_t len, int64_t now_us)
{
	int64_t ms = parse_seconds(trimmed(value, len));

	if (ms >= 0)
		return ms;

	int64_t date_us = http_date_parse(value, len, now_us);
	if (date_us < 0)
		return -1;
	if (date_us <= now_us)
		return 0;

	int64_t wait_ms = (date_us - now_us + 999) / 1000; /* up: never earlier than told */
	return wait_ms > RETRY_AFTER_MAX_MS ? RETRY_AFTER_MAX_MS : wait_ms;
}
