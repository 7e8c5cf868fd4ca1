/* SPDX-License-Identifier: MIT */
/* Turn bytes into text that is safe to show, and text back into values. */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

#define NS_PER_S  INT64_C(1000000000)
#define S_PER_DAY INT64_C(86400)

static const char hex_digits[] = "0123456789abcdef";

bool hf_is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* -- UTF-8 --------------------------------------------------------------- */

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Length of the character that data starts with; 0 when it is not UTF-8. */
static size_t utf8_len(const char *data, size_t len)
{
	const unsigned char *const s = (const unsigned char *)data;

	if (len >= 1 && s[0] < 0x80)
		return 1;
	if (len < 2 || s[0] < 0xc2 || s[0] > 0xf4 || !is_continuation(s[1]))
		return 0;
	if (s[0] < 0xe0)
		return 2;
	if (len < 3 || !is_continuation(s[2]))
		return 0;
	if (s[0] < 0xf0) {
		const bool is_overlong = s[0] == 0xe0 && s[1] < 0xa0;
		const bool is_surrogate = s[0] == 0xed && s[1] > 0x9f;

		return is_overlong || is_surrogate ? 0 : 3;
	}
	if (len < 4 || !is_continuation(s[3]))
		return 0;
	/* Neither what fits into three bytes nor above U+10FFFF. */
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return 4;
}

/* Most text is ASCII: how much of it is so, in whole words. */
static size_t ascii_len(const char *data, size_t len)
{
	size_t done = 0;
	uint64_t word;

	for (; len - done >= sizeof(word); done += sizeof(word)) {
		memcpy(&word, data + done, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	return done;
}

bool hf_is_utf8(const char *data, size_t len)
{
	const size_t ascii = ascii_len(data, len);

	data += ascii;
	len -= ascii;
	while (len > 0) {
		const size_t used = utf8_len(data, len);

		if (used == 0)
			return false;
		data += used;
		len -= used;
	}
	return true;
}

/* U+0080 to U+009F: some terminals obey them like their ESC forms. */
static bool is_c1(const char *data, size_t len)
{
	return len == 2 && (unsigned char)data[0] == 0xc2 &&
	       (unsigned char)data[1] < 0xa0;
}

/* -- quoting ------------------------------------------------------------- */

/* Of a character: as many bytes as one has at most, each escaped. */
#define ESCAPE_MAX 16

static size_t escape_byte(char *out, unsigned char c)
{
	size_t len = 0;

	out[len++] = '\\';
	if (c == '\n') {
		out[len++] = 'n';
	} else if (c == '\t') {
		out[len++] = 't';
	} else if (c == 0x1b) {
		out[len++] = 'e';
	} else if (c == '\\') {
		out[len++] = '\\';
	} else {
		out[len++] = 'x';
		out[len++] = hex_digits[c >> 4];
		out[len++] = hex_digits[c & 0xf];
	}
	return len;
}

/* The first character of text as it is printed; how many bytes it has. */
static size_t quote_one(char out[ESCAPE_MAX], const char *text, size_t len,
			size_t *ret_used)
{
	const unsigned char c = (unsigned char)text[0];
	const size_t used = utf8_len(text, len);

	*ret_used = used > 0 ? used : 1;
	if (used == 0 || c < 0x20 || c == 0x7f || c == '\\')
		return escape_byte(out, c);
	if (is_c1(text, used)) {
		const size_t first = escape_byte(out, c);

		return first + escape_byte(out + first, (unsigned char)text[1]);
	}
	memcpy(out, text, used);
	return used;
}

const char *hf_quote(struct hf_quoted *quoted, const char *name)
{
	size_t left = strlen(name);
	size_t len = 0;

	while (left > 0) {
		char one[ESCAPE_MAX];
		size_t used;
		const size_t one_len = quote_one(one, name, left, &used);

		if (one_len >= sizeof(quoted->text) - len)
			break;
		memcpy(quoted->text + len, one, one_len);
		len += one_len;
		name += used;
		left -= used;
	}
	quoted->text[len] = '\0';
	return quoted->text;
}

void hf_buffer_add_quoted(struct hf_buffer *buffer, const char *text,
			  size_t len)
{
	while (len > 0) {
		char one[ESCAPE_MAX];
		size_t used;

		hf_buffer_add(buffer, one, quote_one(one, text, len, &used));
		text += used;
		len -= used;
	}
}

/* How much of it is printable ASCII, or a tab. */
static size_t plain_len(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len &&
	       ((text[i] >= ' ' && text[i] <= '~') || text[i] == '\t'))
		i++;
	return i;
}

void hf_buffer_add_shown(struct hf_buffer *buffer, const char *text, size_t len)
{
	while (len > 0) {
		const size_t plain = plain_len(text, len);
		char one[ESCAPE_MAX];
		size_t used = plain;

		if (plain > 0)
			hf_buffer_add(buffer, text, plain);
		else
			hf_buffer_add(buffer, one,
				      quote_one(one, text, len, &used));
		text += used;
		len -= used;
	}
}

/* -- JSON ---------------------------------------------------------------- */

/* How many bytes stand in a JSON string as they are, and are ASCII. */
static size_t json_plain_len(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' &&
	       text[i] != '\\')
		i++;
	return i;
}

static void add_json_escape(struct hf_buffer *buffer, unsigned code)
{
	static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
		if ((unsigned char)names[i] == code) {
			const char escape[] = {'\\', names[i + 1]};

			hf_buffer_add(buffer, escape, sizeof(escape));
			return;
		}
	}
	hf_buffer_printf(buffer, "\\u%04x", code);
}

/* Append one character that may not stand as it is; its length. */
static size_t add_json_one(struct hf_buffer *buffer, const char *text,
			   size_t len)
{
	const size_t used = utf8_len(text, len);

	if (used == 0) {
		hf_buffer_add_text(buffer, "\xef\xbf\xbd");
		return 1;
	}
	/* DEL and C1 controls as well: JSON may land on a terminal, too. */
	if (used == 1 || is_c1(text, used))
		add_json_escape(buffer, (unsigned char)text[used - 1]);
	else
		hf_buffer_add(buffer, text, used);
	return used;
}

void hf_buffer_add_json(struct hf_buffer *buffer, const char *text, size_t len)
{
	hf_buffer_add(buffer, "\"", 1);
	while (len > 0) {
		size_t used = json_plain_len(text, len);

		if (used > 0)
			hf_buffer_add(buffer, text, used);
		else
			used = add_json_one(buffer, text, len);
		text += used;
		len -= used;
	}
	hf_buffer_add(buffer, "\"", 1);
}

/* -- numbers ------------------------------------------------------------- */

/* The value of a digit in any base up to 36, or 36. */
static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (unsigned)(c - 'A') + 10;
	return 36;
}

int hf_parse_u64(const char *text, size_t len, unsigned base,
		 uint64_t *ret_value)
{
	uint64_t value = 0;
	bool is_too_large = false;

	if (len == 0)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		const unsigned digit = digit_value(text[i]);

		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			is_too_large = true;
	}
	if (is_too_large)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int hf_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	size_t len = strlen(text);
	unsigned shift = 0;
	uint64_t value;
	int rc;

	if (len > 0) {
		const char *const unit = strchr(units, text[len - 1]);

		if (unit) {
			shift = 10 * (unsigned)(unit - units + 1);
			len--;
		}
	}
	rc = hf_parse_u64(text, len, 10, &value);
	if (rc < 0)
		return rc;
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}

/* -- for people ---------------------------------------------------------- */

const char *hf_format_size(struct hf_short_text *out, uint64_t bytes)
{
	static const char prefixes[] = "KMGTPE";
	uint64_t unit = 1024;
	uint64_t tenths;
	size_t i = 0;

	if (bytes < 1024) {
		(void)snprintf(out->text, sizeof(out->text), "%" PRIu64 " %s",
			       bytes, bytes == 1 ? "byte" : "bytes");
		return out->text;
	}
	for (;;) {
		tenths = bytes / unit * 10 +
			 (bytes % unit * 10 + unit / 2) / unit;
		/* Rounding may reach the next unit: 1.0 MiB, not 1024.0 KiB. */
		if (tenths < 10240 || prefixes[i + 1] == '\0')
			break;
		unit *= 1024;
		i++;
	}
	(void)snprintf(out->text, sizeof(out->text),
		       "%" PRIu64 ".%" PRIu64 " %ciB", tenths / 10, tenths % 10,
		       prefixes[i]);
	return out->text;
}

const char *hf_format_span(struct hf_short_text *out, int64_t span_ns)
{
	int64_t count = span_ns > 0 ? span_ns / NS_PER_S : 0;
	const char *unit = "s";

	if (count >= S_PER_DAY) {
		count /= S_PER_DAY;
		unit = count == 1 ? "day" : "days";
	} else if (count >= 3600) {
		count /= 3600;
		unit = "h";
	} else if (count >= 60) {
		count /= 60;
		unit = "min";
	}
	(void)snprintf(out->text, sizeof(out->text), "%" PRId64 " %s", count,
		       unit);
	return out->text;
}

/*
 * Day, month and year of a day number since 1970, in the Gregorian calendar.
 * Years are counted from March, so that the leap day is the last one.
 */
static void civil_date(int64_t days, int64_t *year, unsigned *month,
		       unsigned *day)
{
	/* 0000-03-01 begins the era of 400 years (146097 days) in use. */
	const int64_t shifted = days + 719468;
	const int64_t era = shifted / 146097;
	const unsigned in_era = (unsigned)(shifted % 146097);
	const unsigned era_year =
		(in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) /
		365;
	const unsigned in_year =
		in_era - (365 * era_year + era_year / 4 - era_year / 100);
	const unsigned march_month = (5 * in_year + 2) / 153;

	*day = in_year - (153 * march_month + 2) / 5 + 1;
	*month = march_month < 10 ? march_month + 3 : march_month - 9;
	*year = era * 400 + era_year + (*month <= 2 ? 1 : 0);
}

const char *hf_format_time(struct hf_short_text *out, int64_t unix_ns)
{
	int64_t seconds = unix_ns / NS_PER_S;
	int64_t ns = unix_ns % NS_PER_S;
	int64_t days;
	int64_t year;
	unsigned month;
	unsigned day;

	if (ns < 0) {
		ns += NS_PER_S;
		seconds--;
	}
	days = seconds / S_PER_DAY;
	seconds %= S_PER_DAY;
	if (seconds < 0) {
		seconds += S_PER_DAY;
		days--;
	}
	civil_date(days, &year, &month, &day);
	(void)snprintf(out->text, sizeof(out->text),
		       "%04" PRId64 "-%02u-%02uT%02u:%02u:%02u.%09" PRId64 "Z",
		       year, month, day, (unsigned)(seconds / 3600),
		       (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
		       ns);
	return out->text;
}
