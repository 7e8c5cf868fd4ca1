/* SPDX-License-Identifier: MIT */
/* Tell from a word which snapshot it means. */
#include "core/moment.h"

#include <string.h>

#include "base/calendar.h"
#include "base/fail.h"
#include "base/text.h"

#define NS_PER_S  ((uint64_t)1000000000)
#define DAY_S	  UINT64_C(86400)
#define SEPARATOR " ."
#define WORD_MAX  64 /* bytes of an age */

struct unit {
	const char *names; /* each between blanks */
	uint64_t seconds;
};

static const struct unit units[] = {
	{" s sec secs second seconds ", 1}, {" m min mins minute minutes ", 60},
	{" h hour hours ", 3600},	    {" d day days ", DAY_S},
	{" w week weeks ", 7 * DAY_S},
};

/* How many seconds the unit has that text names with len letters; 0: no unit.
 */
static uint64_t find_unit(const char *text, size_t len)
{
	for (size_t i = 0; i < HF_COUNT(units); i++) {
		const char *at = units[i].names;

		while (*++at != '\0') {
			const size_t name_len = strcspn(at, " ");

			if (name_len == len && memcmp(at, text, len) == 0)
				return units[i].seconds;
			at += name_len;
		}
	}
	return 0;
}

/* "2h", "3 days ago", "3.days.ago": seconds; UINT64_MAX when they are too many.
 */
static bool parse_age(const char *text, uint64_t *ret_seconds)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	const size_t digits = strspn(text, "0123456789");
	uint64_t count;
	uint64_t unit;
	size_t len;

	if (strcmp(text, "yesterday") == 0) {
		*ret_seconds = DAY_S;
		return true;
	}
	if (digits == 0)
		return false;
	if (hf_parse_u64(text, digits, 10, &count) < 0)
		count = UINT64_MAX;
	text += digits;
	text += strspn(text, SEPARATOR);
	len = strspn(text, letters);
	unit = len == 0 ? 0 : find_unit(text, len);
	text += len;
	if (*text != '\0')
		text += strspn(text, SEPARATOR);
	if (unit == 0 || (*text != '\0' && strcmp(text, "ago") != 0))
		return false;
	if (__builtin_mul_overflow(count, unit, ret_seconds))
		*ret_seconds = UINT64_MAX;
	return true;
}

static int64_t before(int64_t now_ns, uint64_t seconds)
{
	uint64_t ns;
	int64_t then;

	if (__builtin_mul_overflow(seconds, NS_PER_S, &ns) ||
	    __builtin_sub_overflow(now_ns, ns, &then))
		return INT64_MIN;
	return then;
}

/* An age or a date. */
static bool parse_time(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	uint64_t seconds;
	int64_t time_ns;
	size_t len;

	if (parse_age(text, &seconds)) {
		*ret_ns = before(now_ns, seconds);
		return true;
	}
	len = hf_calendar_scan(text, &time_ns);
	if (len == 0 || text[len] != '\0')
		return false;
	*ret_ns = time_ns;
	return true;
}

static int parse_braces(const char *typed, const char *word, int64_t now_ns,
			struct hf_moment *moment, struct hf_error *err)
{
	if (hf_parse_u64(word, strlen(word), 10, &moment->steps) == 0) {
		moment->kind = HF_MOMENT_STEPS;
		return 0;
	}
	moment->kind = HF_MOMENT_TIME;
	if (parse_time(word, now_ns, &moment->time_ns))
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot understand '%s': it is neither a number of steps "
		      "nor a time",
		      HF_QUOTE(typed));
	return hf_fail_hint(err, "'@{1}' is what was before, '@{2h}' two hours "
				 "ago, '@{2026-11-30}' at the end of that day");
}

int hf_moment_parse(const char *typed, int64_t now_ns,
		    struct hf_moment *ret_moment, struct hf_error *err)
{
	struct hf_moment moment = {.kind = HF_MOMENT_NAME};
	const size_t len = strlen(typed);
	char word[WORD_MAX];
	int rc = 0;

	if (strcmp(typed, "@") == 0) {
		moment.kind = HF_MOMENT_STEPS;
	} else if (strncmp(typed, "@{", 2) == 0) {
		/* One that is too long, or open, has no meaning either. */
		word[0] = '\0';
		if (len - 2 < sizeof(word) && typed[len - 1] == '}') {
			memcpy(word, typed + 2, len - 3);
			word[len - 3] = '\0';
		}
		rc = parse_braces(typed, word, now_ns, &moment, err);
	} else if (parse_time(typed, now_ns, &moment.time_ns)) {
		moment.kind = HF_MOMENT_TIME;
	}
	if (rc == 0)
		*ret_moment = moment;
	return rc;
}

size_t hf_moment_split(const char *typed)
{
	int64_t time_ns;
	size_t len = 0;

	if (strncmp(typed, "@{", 2) == 0)
		len = strcspn(typed, "}");
	else
		len = hf_calendar_scan(typed, &time_ns);
	return len + strcspn(typed + len, ":");
}
