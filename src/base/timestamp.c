/* timestamp.c: RFC 3339 and the proleptic Gregorian calendar. No libc time function, so neither TZ
 * nor the locale counts. */
#include "base/timestamp.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define US_PER_S INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)
#define DAYS_PER_400_YEARS INT64_C(146097)
#define US_PER_DAY (S_PER_DAY * US_PER_S)
#define DAYS_0000_03_01_TO_1970 INT64_C(719468)

/* Years run from March here, so that the leap day is a year's last one and the months' lengths
 * repeat: 153 days in five. */
static int64_t days_from_civil(int year, int month, int day)
{
	int from_march = (month + 9) % 12;
	int64_t march_year = year - (month <= 2);
	int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
	int64_t year_of_era = march_year - era * 400;
	int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;

	return era * DAYS_PER_400_YEARS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - DAYS_0000_03_01_TO_1970;
}

/* For days from 0000-03-01 on. */
static void civil_from_days(int64_t days, int *year_out, int *month_out, int *day_out)
{
	days += DAYS_0000_03_01_TO_1970;
	int64_t era = days / DAYS_PER_400_YEARS, day_of_era = days % DAYS_PER_400_YEARS;
	/* Without the leap days that came before it, every year has 365 days. */
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int day_of_year =
		(int)(day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100));
	int from_march = (5 * day_of_year + 2) / 153;

	*day_out = day_of_year - (153 * from_march + 2) / 5 + 1;
	*month_out = from_march < 10 ? from_march + 3 : from_march - 9;
	*year_out = (int)(era * 400 + year_of_era) + (*month_out <= 2);
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

struct reader {
	const char *at;
	const char *end;
};

static bool read_digits(struct reader *r, int count, int *value_out)
{
	int value = 0;

	if (r->end - r->at < count)
		return false;
	for (int i = 0; i < count; i++, r->at++) {
		if (*r->at < '0' || *r->at > '9')
			return false;
		value = value * 10 + (*r->at - '0');
	}
	*value_out = value;
	return true;
}

static bool read_either(struct reader *r, char a, char b)
{
	if (r->at == r->end || (*r->at != a && *r->at != b))
		return false;
	r->at++;
	return true;
}

static bool read_char(struct reader *r, char c)
{
	return read_either(r, c, c);
}

static const char *read_date(struct reader *r, int64_t *days_out)
{
	int year, month, day;

	if (!read_digits(r, 4, &year) || !read_char(r, '-') || !read_digits(r, 2, &month) ||
	    !read_char(r, '-') || !read_digits(r, 2, &day))
		return "it doesn't begin with a date like 2026-12-31";
	if (month < 1 || month > 12)
		return "there is no such month";
	if (day < 1 || day > days_in_month(year, month))
		return "there is no such day in that month";
	*days_out = days_from_civil(year, month, day);
	return NULL;
}

static const char *read_time(struct reader *r, int64_t *seconds_out)
{
	int hour, minute, second;

	if (!read_either(r, 'T', 't'))
		return "no T stands between date and time";
	if (!read_digits(r, 2, &hour) || !read_char(r, ':') || !read_digits(r, 2, &minute) ||
	    !read_char(r, ':') || !read_digits(r, 2, &second))
		return "no time like 23:59:59 follows the date";
	if (hour > 23 || minute > 59 || second > 60)
		return "there is no such time of day";
	if (second == 60)
		return "a leap second can't be kept";
	*seconds_out = hour * 3600 + minute * 60 + second;
	return NULL;
}

static const char *read_fraction(struct reader *r, int64_t *us_out)
{
	int64_t us = 0, unit = US_PER_S / 10;

	*us_out = 0;
	if (!read_char(r, '.'))
		return NULL;
	if (r->at == r->end || *r->at < '0' || *r->at > '9')
		return "no digit follows the decimal point";
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, unit /= 10) {
		if (unit == 0 && *r->at != '0')
			return "it is finer than a microsecond";
		us += (*r->at - '0') * unit;
	}
	*us_out = us;
	return NULL;
}

static const char *read_offset(struct reader *r, int64_t *seconds_out)
{
	int hours, minutes;

	*seconds_out = 0;
	if (read_either(r, 'Z', 'z'))
		return NULL;
	bool west = r->at < r->end && *r->at == '-';
	if (!read_either(r, '+', '-') || !read_digits(r, 2, &hours) || !read_char(r, ':') ||
	    !read_digits(r, 2, &minutes))
		return "no Z or offset like +01:00 follows the time";
	if (hours > 23 || minutes > 59)
		return "there is no such offset";
	*seconds_out = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return NULL;
}

const char *timestamp_parse(const char *text, size_t len, int64_t *us_out)
{
	struct reader r = { text, text + len };
	int64_t days = 0, seconds = 0, fraction_us = 0, offset_s = 0;
	const char *flaw = read_date(&r, &days);

	if (!flaw)
		flaw = read_time(&r, &seconds);
	if (!flaw)
		flaw = read_fraction(&r, &fraction_us);
	if (!flaw)
		flaw = read_offset(&r, &offset_s);
	if (flaw)
		return flaw;
	if (r.at != r.end)
		return "something follows it";
	int64_t us = (days * S_PER_DAY + seconds - offset_s) * US_PER_S + fraction_us;
	if (us < TIMESTAMP_MIN_US || us > TIMESTAMP_MAX_US)
		return "it is outside the years 1000 to 9999";
	*us_out = us;
	return NULL;
}

static void put_digits(char *at, int64_t value, int count)
{
	for (int i = count - 1; i >= 0; i--, value /= 10)
		at[i] = (char)('0' + value % 10);
}

struct timestamp_parts timestamp_split(int64_t us)
{
	struct timestamp_parts parts;

	assert(us >= TIMESTAMP_MIN_US && us <= TIMESTAMP_MAX_US);
	/* The range begins at a midnight, so nothing below divides a negative number. */
	int64_t since_min_us = us - TIMESTAMP_MIN_US;
	int64_t us_of_day = since_min_us % US_PER_DAY;
	int s_of_day = (int)(us_of_day / US_PER_S);

	civil_from_days(since_min_us / US_PER_DAY + TIMESTAMP_MIN_US / US_PER_DAY, &parts.year,
			&parts.month, &parts.day);
	parts.hour = s_of_day / 3600;
	parts.minute = s_of_day / 60 % 60;
	parts.second = s_of_day % 60;
	parts.us = (int)(us_of_day % US_PER_S);
	return parts;
}

int64_t timestamp_join(const struct timestamp_parts *parts)
{
	int64_t days = days_from_civil(parts->year, parts->month, parts->day);

	return (days * S_PER_DAY + parts->hour * 3600 + parts->minute * 60 + parts->second) *
		       US_PER_S +
	       parts->us;
}

char *timestamp_format(int64_t us, char text_out[TIMESTAMP_TEXT_LEN + 1])
{
	struct timestamp_parts parts = timestamp_split(us);

	memcpy(text_out, "yyyy-mm-ddThh:mm:ss.uuuuuuZ", TIMESTAMP_TEXT_LEN + 1);
	put_digits(text_out, parts.year, 4);
	put_digits(text_out + 5, parts.month, 2);
	put_digits(text_out + 8, parts.day, 2);
	put_digits(text_out + 11, parts.hour, 2);
	put_digits(text_out + 14, parts.minute, 2);
	put_digits(text_out + 17, parts.second, 2);
	put_digits(text_out + 20, parts.us, 6);
	return text_out;
}
