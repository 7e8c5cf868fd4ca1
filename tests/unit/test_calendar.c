/* SPDX-License-Identifier: MIT */
/* Dates and times as a person types them. */
#include "base/calendar.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/text.h"

#define S	INT64_C(1000000000)
#define LAST_NS (S - 1)

/* 2026-11-30T00:00:00Z */
#define DAY INT64_C(1795996800)

static const struct {
	const char *text;
	size_t len;
	int64_t ns;
} cases[] = {
	{"1970-01-01", 10, 86400 * S - 1},
	{"2026-11-30", 10, (DAY + 86400) * S - 1},
	{"2026-11-30:a.toml", 10, (DAY + 86400) * S - 1},
	{"2026-11-30T", 10, (DAY + 86400) * S - 1},
	{"2026-11-30T03:00", 10, (DAY + 86400) * S - 1},
	{"2026-11-30T03:00:07", 19, (DAY + 10807) * S + LAST_NS},
	{"2026-11-30 03:00:07Z", 20, (DAY + 10807) * S + LAST_NS},
	{"2026-11-30t03:00:07z", 20, (DAY + 10807) * S + LAST_NS},
	{"2026-11-30T03:00:07Z:a.toml", 20, (DAY + 10807) * S + LAST_NS},
	{"2026-11-30T03:00:07.5Z", 22, (DAY + 10807) * S + S / 2},
	{"2026-11-30T03:00:07.000000001Z", 30, (DAY + 10807) * S + 1},
	{"2026-11-30T03:00:07.00000000199Z", 32, (DAY + 10807) * S + 1},
	{"2026-11-30T03:00:07+01:00", 25, (DAY + 7207) * S + LAST_NS},
	{"2026-11-30T03:00:07-01:30", 25, (DAY + 16207) * S + LAST_NS},
	{"2026-11-30T03:00:07+1", 19, (DAY + 10807) * S + LAST_NS},
	{"2026-11-30T23:59:60Z", 20, (DAY + 86400) * S + LAST_NS},
	{"2024-02-29", 10, INT64_C(1709251200) * S - 1},
	{"2261-12-31", 10, INT64_C(9214646400) * S - 1},
	{"2023-02-29", 0, 0},
	{"2100-02-29", 0, 0},
	{"2026-13-01", 0, 0},
	{"2026-00-01", 0, 0},
	{"2026-11-31", 0, 0},
	{"2026-11-00", 0, 0},
	{"1969-12-31", 0, 0},
	{"2262-01-01", 0, 0},
	{"2026-11-3", 0, 0},
	{"2026-1-30", 0, 0},
	{"26-11-30", 0, 0},
	{"2026", 0, 0},
	{"000042-20261130T030007Z", 0, 0},
	{"", 0, 0},
};

Test(calendar, scan)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		int64_t ns = 0;
		const size_t len = hf_calendar_scan(cases[i].text, &ns);

		cr_expect_eq(len, cases[i].len, "'%s': length %zu",
			     cases[i].text, len);
		cr_expect_eq(ns, cases[i].ns, "'%s': %lld", cases[i].text,
			     (long long)ns);
	}
}

/* What we print is what we read. */
Test(calendar, the_reverse_of_what_is_printed)
{
	for (int64_t ns = 1; ns < INT64_C(9214646400) * S;
	     ns += INT64_C(86399) * 97 * S + 12345) {
		struct hf_short_text text;
		int64_t found = 0;

		cr_assert_eq(
			hf_calendar_scan(hf_format_time(&text, ns), &found), 30,
			"%s", text.text);
		cr_assert_eq(found, ns, "%s", text.text);
	}
}
