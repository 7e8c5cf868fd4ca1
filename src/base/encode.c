/* SPDX-License-Identifier: MIT */
/* Bytes as text, and back. */
#include "base/encode.h"

#include <string.h>

#include "base/buffer.h"

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hf_hex_encode(char *out, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*out++ = hex_digits[data[i] >> 4];
		*out++ = hex_digits[data[i] & 0xf];
	}
	*out = '\0';
}

/* A table: of random digits, branches would guess every second one wrong. */
static unsigned hex_value(char c)
{
	static const uint8_t values_and_one[256] = {
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,
		['5'] = 6,  ['6'] = 7,	['7'] = 8,  ['8'] = 9,	['9'] = 10,
		['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15,
		['f'] = 16, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14,
		['E'] = 15, ['F'] = 16,
	};

	/* What is no digit becomes very large. */
	return values_and_one[(unsigned char)c] - 1u;
}

int hf_hex_decode(uint8_t *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned high = hex_value(text[2 * i]);
		const unsigned low =
			high < 16 ? hex_value(text[2 * i + 1]) : 16;

		if (low >= 16)
			return -EINVAL;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

void hf_base64_encode(struct hf_buffer *out, const void *data, size_t len)
{
	const uint8_t *in = data;

	for (; len > 0; in += 3) {
		const size_t used = len < 3 ? len : 3;
		const uint32_t bits = (uint32_t)in[0] << 16 |
				      (used > 1 ? (uint32_t)in[1] << 8 : 0) |
				      (used > 2 ? (uint32_t)in[2] : 0);
		char quad[4] = {
			base64_digits[bits >> 18],
			base64_digits[bits >> 12 & 63],
			base64_digits[bits >> 6 & 63],
			base64_digits[bits & 63],
		};

		memset(quad + used + 1, '=', 3 - used);
		hf_buffer_add(out, quad, sizeof(quad));
		len -= used;
	}
}

/* The value of a base64 digit, or -1. */
static int base64_value(char c)
{
	const char *const digit = c == '\0' ? NULL : strchr(base64_digits, c);

	return digit ? (int)(digit - base64_digits) : -1;
}

/* Write the bytes of text, less its padding, to out; how many, or -EINVAL. */
static int64_t decode_base64_to(char *out, const char *text, size_t len,
				size_t padding)
{
	int64_t count = 0;
	uint32_t bits = 0;

	for (size_t i = 0; i < len - padding; i++) {
		const int value = base64_value(text[i]);

		if (value < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)value;
		/* The first of four digits completes no byte. */
		if (i % 4 > 0)
			out[count++] = (char)(bits >> (6 - i % 4 * 2));
	}
	/* One text for every value: what the padding cuts off is zero. */
	if (padding > 0 && (bits & (padding == 1 ? 3 : 15)) != 0)
		return -EINVAL;
	return count;
}

int hf_base64_decode(struct hf_buffer *out, const char *text, size_t len)
{
	size_t padding = 0;
	int64_t count;
	char *end;

	if (len % 4 != 0)
		return -EINVAL;
	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	end = hf_buffer_reserve(out, len / 4 * 3);
	if (!end)
		return -ENOMEM;

	count = decode_base64_to(end, text, len, padding);
	/* What was written beyond the end is no part of the buffer. */
	end[count > 0 ? count : 0] = '\0';
	if (count < 0)
		return -EINVAL;
	out->len += (size_t)count;
	return 0;
}
