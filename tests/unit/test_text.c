/* SPDX-License-Identifier: MIT */
/* Text in and out, with the bytes that an attacker would choose. */
#include "base/text.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"

Test(text, is_same)
{
	const char text[] = "a";

	cr_expect(hf_is_same_text(NULL, NULL));
	cr_expect(hf_is_same_text(text, "a"));
	cr_expect_not(hf_is_same_text(text, "b"));
	cr_expect_not(hf_is_same_text(text, NULL));
	cr_expect_not(hf_is_same_text(NULL, text));
}

/* -- UTF-8 and quoting --------------------------------------------------- */

Test(text, is_utf8)
{
	static const struct {
		const char *name;
		const char *data;
		bool is_valid;
	} rows[] = {
		{"empty", "", true},
		{"ASCII", "a\n\x7f", true},
		{"two bytes, smallest", "\xc2\x80", true},
		{"two bytes, largest", "\xdf\xbf", true},
		{"three bytes, smallest", "\xe0\xa0\x80", true},
		{"before the surrogates", "\xed\x9f\xbf", true},
		{"after the surrogates", "\xee\x80\x80", true},
		{"three bytes, largest", "\xef\xbf\xbf", true},
		{"four bytes, smallest", "\xf0\x90\x80\x80", true},
		{"four bytes, largest", "\xf4\x8f\xbf\xbf", true},
		{"continuation alone", "\x80", false},
		{"overlong slash", "\xc0\xaf", false},
		{"overlong, two", "\xc1\xbf", false},
		{"overlong, three", "\xe0\x9f\xbf", false},
		{"overlong, four", "\xf0\x8f\xbf\xbf", false},
		{"surrogate, first", "\xed\xa0\x80", false},
		{"surrogate, last", "\xed\xbf\xbf", false},
		{"above U+10FFFF", "\xf4\x90\x80\x80", false},
		{"five bytes", "\xf8\x88\x80\x80\x80", false},
		{"cut after one of two", "a\xc3", false},
		{"cut after two of three", "\xe2\x82", false},
		{"cut after three of four", "\xf0\x9f\x98", false},
		{"second is ASCII", "\xc3(", false},
		{"third is ASCII", "\xe2\x82(", false},
		{"fourth is ASCII", "\xf0\x9f\x98(", false},
		{"0xff", "\xff", false},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_is_utf8(rows[i].data, strlen(rows[i].data)),
			     rows[i].is_valid, "%s", rows[i].name);
	cr_expect(hf_is_utf8("a\0b", 3));
}

static const struct {
	const char *name;
	const char *text;
	const char *quoted;
} quote_rows[] = {
	{"plain", "a b/c-d.toml'\"", "a b/c-d.toml'\""},
	{"empty", "", ""},
	{"named escapes", "\n\t\x1b[2J\\", "\\n\\t\\e[2J\\\\"},
	{"other controls", "\r\a\x01\x7f", "\\x0d\\x07\\x01\\x7f"},
	{"UTF-8 stays", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	 "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
	{"C1: CSI",
	 "\xc2\x9b"
	 "2J",
	 "\\xc2\\x9b2J"},
	{"first above C1", "\xc2\xa0", "\xc2\xa0"},
	{"no UTF-8", "a\xff\x80z", "a\\xff\\x80z"},
	{"overlong", "\xc0\xaf", "\\xc0\\xaf"},
	{"cut", "\xe2\x82", "\\xe2\\x82"},
};

Test(text, quote)
{
	for (size_t i = 0; i < HF_COUNT(quote_rows); i++) {
		cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;

		cr_expect_str_eq(HF_QUOTE(quote_rows[i].text),
				 quote_rows[i].quoted);
		hf_buffer_add(&buffer, "", 0);
		hf_buffer_add_quoted(&buffer, quote_rows[i].text,
				     strlen(quote_rows[i].text));
		cr_expect_str_eq(buffer.data, quote_rows[i].quoted);
	}
}

Test(text, quote_keeps_within_its_room)
{
	/* One byte more than fits, every one of them escaped. */
	static char name[4096 + 2];
	struct hf_quoted quoted;

	memset(name, '\x01', sizeof(name) - 1);
	cr_expect_eq(hf_quote(&quoted, name), quoted.text);
	cr_expect_eq(strlen(quoted.text), HF_QUOTE_MAX - 1);
	name[4096] = '\0';
	cr_expect_eq(strlen(hf_quote(&quoted, name)), HF_QUOTE_MAX - 1);
}

Test(text, quote_cuts_between_characters)
{
	static char name[HF_QUOTE_MAX + 10];
	struct hf_quoted quoted;

	/* The last character would end one byte behind the room. */
	memset(name, 'a', HF_QUOTE_MAX - 2);
	(void)memcpy(name + HF_QUOTE_MAX - 2, "\xc3\xa4", 3);
	cr_expect_eq(strlen(hf_quote(&quoted, name)), HF_QUOTE_MAX - 2);
}

Test(text, add_quoted_takes_nul)
{
	cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;

	hf_buffer_add_quoted(&buffer, "a\0b", 3);
	cr_expect_str_eq(buffer.data, "a\\x00b");
}

Test(text, add_json)
{
	static const struct {
		const char *name;
		const char *text;
		size_t len;
		const char *json;
	} rows[] = {
		{"empty", "", 0, "\"\""},
		{"plain", "a/b c", 5, "\"a/b c\""},
		{"quotes", "\"\\", 2, "\"\\\"\\\\\""},
		{"named", "\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
		{"NUL", "a\0b", 3, "\"a\\u0000b\""},
		{"controls", "\x1b\x1f\x7f", 3, "\"\\u001b\\u001f\\u007f\""},
		{"C1", "\xc2\x9b", 2, "\"\\u009b\""},
		{"UTF-8", "\xc3\xa4\xf0\x9f\x98\x80", 6,
		 "\"\xc3\xa4\xf0\x9f\x98\x80\""},
		{"no UTF-8", "a\xff\xfez", 4, "\"a\xef\xbf\xbd\xef\xbf\xbdz\""},
		{"surrogate", "\xed\xa0\x80", 3,
		 "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;

		hf_buffer_add_json(&buffer, rows[i].text, rows[i].len);
		cr_expect_str_eq(buffer.data, rows[i].json, "%s: %s",
				 rows[i].name, buffer.data);
	}
}

/* -- numbers ------------------------------------------------------------- */

Test(text, parse_u64)
{
	static const struct {
		const char *text;
		unsigned base;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0", 10, 0, 0},
		{"007", 10, 0, 7},
		{"18446744073709551615", 10, 0, UINT64_MAX},
		{"fFfFfFfFfFfFfFfF", 16, 0, UINT64_MAX},
		{"1777777777777777777777", 8, 0, UINT64_MAX},
		{"zz", 36, 0, 1295},
		{"18446744073709551616", 10, -ERANGE, 0},
		{"10000000000000000", 16, -ERANGE, 0},
		{"99999999999999999999999999999999999", 10, -ERANGE, 0},
		{"99999999999999999999999999999999999x", 10, -EINVAL, 0},
		{"", 10, -EINVAL, 0},
		{"-1", 10, -EINVAL, 0},
		{"+1", 10, -EINVAL, 0},
		{" 1", 10, -EINVAL, 0},
		{"1 ", 10, -EINVAL, 0},
		{"1\n", 10, -EINVAL, 0},
		{"0x1", 16, -EINVAL, 0},
		{"8", 8, -EINVAL, 0},
		{"g", 16, -EINVAL, 0},
		{"\xff", 10, -EINVAL, 0},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		uint64_t value = 4711;
		const int rc = hf_parse_u64(rows[i].text, strlen(rows[i].text),
					    rows[i].base, &value);

		cr_expect_eq(rc, rows[i].rc, "'%s': %d", rows[i].text, rc);
		cr_expect_eq(value, rc < 0 ? 4711 : rows[i].value, "'%s'",
			     rows[i].text);
	}
}

Test(text, parse_u64_obeys_the_length)
{
	uint64_t value = 0;

	cr_expect_eq(hf_parse_u64("123", 2, 10, &value), 0);
	cr_expect_eq(value, 12);
	cr_expect_eq(hf_parse_u64("1\0002", 3, 10, &value), -EINVAL);
}

Test(text, parse_size)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t bytes;
	} rows[] = {
		{"0", 0, 0},
		{"512", 0, 512},
		{"1K", 0, 1024},
		{"3M", 0, UINT64_C(3) << 20},
		{"2G", 0, UINT64_C(2) << 30},
		{"16777215T", 0, UINT64_C(16777215) << 40},
		{"16777216T", -ERANGE, 0},
		{"18446744073709551615K", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{"1k", -EINVAL, 0},
		{"1KK", -EINVAL, 0},
		{"1.5G", -EINVAL, 0},
		{"-1G", -EINVAL, 0},
		{"1 G", -EINVAL, 0},
		{"1GB", -EINVAL, 0},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		uint64_t bytes = 4711;
		const int rc = hf_parse_size(rows[i].text, &bytes);

		cr_expect_eq(rc, rows[i].rc, "'%s': %d", rows[i].text, rc);
		cr_expect_eq(bytes, rc < 0 ? 4711 : rows[i].bytes, "'%s'",
			     rows[i].text);
	}
}

/* -- for people ---------------------------------------------------------- */

Test(text, format_size)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{0, "0 bytes"},		  {1, "1 byte"},
		{94, "94 bytes"},	  {1023, "1023 bytes"},
		{1024, "1.0 KiB"},	  {1587, "1.5 KiB"},
		{2048, "2.0 KiB"},	  {1048524, "1023.9 KiB"},
		{1048525, "1.0 MiB"},	  {UINT64_C(1503238554), "1.4 GiB"},
		{UINT64_MAX, "16.0 EiB"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_short_text out;

		cr_expect_str_eq(hf_format_size(&out, rows[i].bytes),
				 rows[i].text);
	}
}

Test(text, format_span)
{
	static const int64_t s = 1000000000;
	static const struct {
		int64_t seconds;
		const char *text;
	} rows[] = {
		{-5, "0 s"},	  {0, "0 s"},
		{12, "12 s"},	  {59, "59 s"},
		{60, "1 min"},	  {3599, "59 min"},
		{3600, "1 h"},	  {86399, "23 h"},
		{86400, "1 day"}, {86400 * 5 + 86399, "5 days"},
	};
	struct hf_short_text out;

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_str_eq(hf_format_span(&out, rows[i].seconds * s),
				 rows[i].text);
	cr_expect_str_eq(hf_format_span(&out, 1999999999), "1 s");
	cr_expect_str_eq(hf_format_span(&out, INT64_MIN), "0 s");
	cr_expect_str_eq(hf_format_span(&out, INT64_MAX), "106751 days");
}

Test(text, format_time)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "1970-01-01T00:00:00.000000000Z"},
		{INT64_C(1796007607000000001),
		 "2026-11-30T03:00:07.000000001Z"},
		{INT64_C(951782400000000000), "2000-02-29T00:00:00.000000000Z"},
		{INT64_C(951868799999999999), "2000-02-29T23:59:59.999999999Z"},
		{INT64_C(951868800000000000), "2000-03-01T00:00:00.000000000Z"},
		{INT64_C(4107542400000000000),
		 "2100-03-01T00:00:00.000000000Z"},
		{INT64_C(4107542399000000000),
		 "2100-02-28T23:59:59.000000000Z"},
		{-1, "1969-12-31T23:59:59.999999999Z"},
		{INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
		{INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_short_text out;

		cr_expect_str_eq(hf_format_time(&out, rows[i].ns),
				 rows[i].text);
	}
}
