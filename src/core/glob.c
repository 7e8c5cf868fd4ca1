/* SPDX-License-Identifier: MIT */
/*
 * A glob is a row of elements (a star, a bracket, an escaped byte, a byte).
 * Only the last star ever has to be tried again, so that matching needs no
 * recursion and at most glob_len * text_len steps.
 */
#include "core/glob.h"

#include <stdint.h>
#include <string.h>

#include "base/defs.h"

struct bracket {
	size_t len;		/* 0 when it is not closed */
	bool is_match;
	const char *fault;
};

/* One byte of a bracket, escaped or not; *at moves behind it. */
static unsigned char bracket_byte(const char *glob, size_t len, size_t *at)
{
	if (glob[*at] == '\\' && *at + 1 < len)
		(*at)++;
	return (unsigned char)glob[(*at)++];
}

static struct bracket read_bracket(const char *glob, size_t len,
				   unsigned char byte)
{
	struct bracket bracket = { .len = 0 };
	bool is_negated = false;
	bool is_in = false;
	size_t at = 1;
	size_t first;

	if (at < len && (glob[at] == '!' || glob[at] == '^')) {
		is_negated = true;
		at++;
	}
	first = at;
	while (at < len) {
		unsigned char low;
		unsigned char high;

		if (glob[at] == ']' && at > first) {
			bracket.len = at + 1;
			bracket.is_match = is_in != is_negated;
			return bracket;
		}
		if (glob[at] == '[' && at + 1 < len && glob[at + 1] == ':')
			bracket.fault = "has a character class";

		low = bracket_byte(glob, len, &at);
		high = low;
		if (at + 1 < len && glob[at] == '-' && glob[at + 1] != ']') {
			at++;
			high = bracket_byte(glob, len, &at);
		}
		if (low > high)
			bracket.fault = "has an empty range";
		if (low <= byte && byte <= high)
			is_in = true;
	}
	bracket.fault = "has no closing bracket";
	return bracket;
}

/* The length of the element (no star) at glob, and whether it takes byte. */
static size_t read_element(const char *glob, size_t len, char byte,
			   bool *ret_is_match)
{
	if (glob[0] == '[') {
		const struct bracket bracket =
			read_bracket(glob, len, (unsigned char)byte);

		if (bracket.len > 0) {
			*ret_is_match = bracket.is_match;
			return bracket.len;
		}
	}
	if (glob[0] == '\\' && len > 1) {
		*ret_is_match = glob[1] == byte;
		return 2;
	}
	*ret_is_match = glob[0] == byte || glob[0] == '?';
	return 1;
}

const char *hf_glob_check(const char *glob, size_t len)
{
	size_t at = 0;

	while (at < len) {
		bool is_match;

		if (glob[at] == '[') {
			const struct bracket bracket =
				read_bracket(glob + at, len - at, 0);

			if (bracket.fault)
				return bracket.fault;
		}
		if (glob[at] == '\\' && at + 1 == len)
			return "ends in a backslash";
		at += read_element(glob + at, len - at, '\0', &is_match);
	}
	return NULL;
}

bool hf_glob_is_literal(const char *glob, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (glob[i] == '*' || glob[i] == '?' || glob[i] == '[')
			return false;
		if (glob[i] == '\\')
			i++;
	}
	return true;
}

bool hf_glob_has_double_star(const char *glob, size_t len)
{
	size_t at = 0;

	while (at < len) {
		bool is_match;

		if (glob[at] == '*' && at + 1 < len && glob[at + 1] == '*')
			return true;
		at += read_element(glob + at, len - at, '\0', &is_match);
	}
	return false;
}

size_t hf_glob_unescape(char *out, const char *glob, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (glob[i] == '\\' && i + 1 < len)
			i++;
		out[used++] = glob[i];
	}
	return used;
}

bool hf_glob_match(const char *glob, size_t glob_len, const char *text,
		   size_t text_len)
{
	size_t g = 0;
	size_t t = 0;
	size_t star = SIZE_MAX;	/* behind the last star */
	size_t star_text = 0;	/* where that star's bytes end */

	while (t < text_len) {
		if (g < glob_len && glob[g] == '*') {
			star = ++g;
			star_text = t;
			continue;
		}
		if (g < glob_len) {
			bool is_match;
			const size_t len = read_element(
				glob + g, glob_len - g, text[t], &is_match);

			if (is_match) {
				g += len;
				t++;
				continue;
			}
		}
		if (star == SIZE_MAX)
			return false;
		g = star;
		t = ++star_text;
	}
	while (g < glob_len && glob[g] == '*')
		g++;
	return g == glob_len;
}

/* -- pairs ---------------------------------------------------------------- */

static void add_pair(struct hf_pairs *pairs, int first, int second)
{
	const uint32_t mixed = ((uint32_t)first << 8 | (uint32_t)second) *
			       0x9E3779B1u;

	pairs->words[mixed >> 30] |= UINT64_C(1) << (mixed >> 24 & 63);
}

void hf_pairs_add_text(struct hf_pairs *pairs, const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		add_pair(pairs, (unsigned char)text[i - 1],
			 (unsigned char)text[i]);
}

/* The byte that the element of this length stands for; -1 for several. */
static int only_byte(const char *element, size_t len)
{
	if (len == 2 && element[0] == '\\')
		return (unsigned char)element[1];
	if (len > 1 || element[0] == '*' || element[0] == '?')
		return -1;
	return (unsigned char)element[0];
}

void hf_pairs_add_glob(struct hf_pairs *pairs, const char *glob, size_t len)
{
	int last = -1;
	size_t at = 0;

	while (at < len) {
		bool is_match;
		const size_t element_len =
			read_element(glob + at, len - at, '\0', &is_match);
		const int byte = only_byte(glob + at, element_len);

		if (last >= 0 && byte >= 0)
			add_pair(pairs, last, byte);
		last = byte;
		at += element_len;
	}
}

bool hf_pairs_has_all(const struct hf_pairs *pairs,
		      const struct hf_pairs *wanted)
{
	for (size_t i = 0; i < HF_COUNT(pairs->words); i++) {
		if ((wanted->words[i] & ~pairs->words[i]) != 0)
			return false;
	}
	return true;
}
