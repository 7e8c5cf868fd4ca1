/* SPDX-License-Identifier: MIT */
/* Read a date or a time of RFC 3339. */
#include "base/calendar.h"

#include <stdbool.h>
#include <string.h>

#define NS_PER_S   ((int64_t)1000000000)
#define DAY_S	   ((int64_t)86400)
#define FIRST_YEAR 1970u
#define LAST_YEAR  2261u

/* Exactly so many digits; *at is behind them then. */
static bool take_digits(const char **at, size_t count, unsigned *ret_value)
{
	unsigned value = 0;

	for (size_t i = 0; i < count; i++) {
		if ((*at)[i] < '0' || (*at)[i] > '9')
			return false;
		value = 10 * value + (unsigned)((*at)[i] - '0');
	}
	*at += count;
	*ret_value = value;
	return true;
}

static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30,
					     31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

/* Days from the first of 1970: at most three hundred years are counted. */
static int64_t days_until(unsigned year, unsigned month, unsigned day)
{
	int64_t days = day - 1;

	for (unsigned y = FIRST_YEAR; y < year; y++)
		days += is_leap(y) ? 366 : 365;
	for (unsigned m = 1; m < month; m++)
		days += days_of(year, m);
	return days;
}

static bool take_date(const char **at, int64_t *ret_seconds)
{
	unsigned year;
	unsigned month;
	unsigned day;

	if (!take_digits(at, 4, &year) || !take(at, '-') ||
	    !take_digits(at, 2, &month) || !take(at, '-') ||
	    !take_digits(at, 2, &day))
		return false;
	if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 ||
	    day < 1 || day > days_of(year, month))
		return false;
	*ret_seconds = days_until(year, month, day) * DAY_S;
	return true;
}

static bool take_clock(const char **at, bool has_seconds, int64_t *ret_seconds)
{
	unsigned hour;
	unsigned minute;
	unsigned second = 0;

	if (!take_digits(at, 2, &hour) || !take(at, ':') ||
	    !take_digits(at, 2, &minute))
		return false;
	if (has_seconds && (!take(at, ':') || !take_digits(at, 2, &second)))
		return false;
	/* 60: a leap second. */
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	*ret_seconds = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
	return true;
}

/* Of a second that was given in parts the named one, else its last. */
static int64_t take_fraction(const char **at)
{
	int64_t ns = 0;
	int64_t unit = NS_PER_S / 10;

	if (**at != '.' || (*at)[1] < '0' || (*at)[1] > '9')
		return NS_PER_S - 1;
	for ((*at)++; **at >= '0' && **at <= '9'; (*at)++) {
		ns += unit * (**at - '0');
		unit /= 10;
	}
	return ns;
}

/* What is to be taken off; nothing where no zone is named. */
static int64_t take_zone(const char **at)
{
	const char *behind = *at + 1;
	int64_t seconds;

	if (**at == 'Z' || **at == 'z') {
		(*at)++;
		return 0;
	}
	if ((**at != '+' && **at != '-') ||
	    !take_clock(&behind, false, &seconds))
		return 0;
	seconds = **at == '+' ? seconds : -seconds;
	*at = behind;
	return seconds;
}

size_t hf_calendar_scan(const char *text, int64_t *ret_ns)
{
	const char *at = text;
	const char *time_at;
	int64_t seconds;
	int64_t of_day;
	int64_t ns;

	if (!take_date(&at, &seconds))
		return 0;
	time_at = at + 1;
	if (*at == '\0' || !strchr("Tt ", *at) ||
	    !take_clock(&time_at, true, &of_day)) {
		*ret_ns = (seconds + DAY_S) * NS_PER_S - 1;
		return (size_t)(at - text);
	}
	ns = take_fraction(&time_at);
	seconds += of_day - take_zone(&time_at);
	*ret_ns = seconds * NS_PER_S + ns;
	return (size_t)(time_at - text);
}
