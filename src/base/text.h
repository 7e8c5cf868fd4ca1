/* SPDX-License-Identifier: MIT */
/*
 * Text in and out: names made safe to print, numbers read strictly, sizes and
 * ages for people, UTF-8.
 */
#ifndef HF_BASE_TEXT_H
#define HF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_buffer;

/* Long enough for a path of 4096 bytes with every one of them escaped. */
#define HF_QUOTE_MAX	(4 * 4096 + 1)

struct hf_quoted {
	char text[HF_QUOTE_MAX];
};

/*
 * A name as it is printed: control bytes, DEL, C1 controls and bytes that are
 * not UTF-8 become \n, \t, \e or \xNN, a backslash \\; all else stays.  The
 * result lies in *quoted and is returned, so that one line does it:
 *
 *	hf_fail(err, code, "cannot read '%s'", hf_quote(&(struct hf_quoted){ 0 }, name))
 *
 * (HF_QUOTE(name) is that expression.)  Cut at HF_QUOTE_MAX.
 */
const char *hf_quote(struct hf_quoted *quoted, const char *name);
#define HF_QUOTE(name)	hf_quote(&(struct hf_quoted){ .text = "" }, (name))

/* The same appended to a buffer, without a bound. */
void hf_buffer_add_quoted(struct hf_buffer *buffer, const char *text,
			  size_t len);

/* A line of a text for a terminal: tabs and backslashes stay as they are, what
 * would do something there is escaped. */
void hf_buffer_add_shown(struct hf_buffer *buffer, const char *text,
			 size_t len);

/* Are both the same, or both NULL? */
bool hf_is_same_text(const char *a, const char *b);

/* Is data valid UTF-8 (no surrogates, no overlong form)? */
bool hf_is_utf8(const char *data, size_t len);

/*
 * A whole string as an unsigned number of the given base: no sign, no space,
 * no prefix, nothing behind it.  0, or -EINVAL, -ERANGE.
 */
MUST_CHECK int hf_parse_u64(const char *text, size_t len, unsigned base,
			    uint64_t *ret_value);

/* Bytes with an optional K, M, G, T (powers of 1024): "2G".  As above. */
MUST_CHECK int hf_parse_size(const char *text, uint64_t *ret_bytes);

/* Text that fits any of the formatting functions below. */
struct hf_short_text {
	char text[64];
};

/* "94 bytes", "2.0 KiB", "1.4 GiB". */
const char *hf_format_size(struct hf_short_text *out, uint64_t bytes);

/* "12 s", "3 min", "2 h", "5 days" for a span of time. */
const char *hf_format_span(struct hf_short_text *out, int64_t span_ns);

/* RFC 3339 in UTC with nanoseconds: "2026-11-30T03:00:07.000000001Z". */
const char *hf_format_time(struct hf_short_text *out, int64_t unix_ns);

/*
 * text as a JSON string with its quotes.  Bytes that are not UTF-8 become
 * U+FFFD: whoever needs them exactly writes base64 beside it.
 */
void hf_buffer_add_json(struct hf_buffer *buffer, const char *text, size_t len);

#endif /* HF_BASE_TEXT_H */
