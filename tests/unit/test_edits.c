/* SPDX-License-Identifier: MIT */
/* What differs between two sequences: right always, and as little as can be. */
#include "base/edits.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64

/* A letter each. */
static size_t spans_of(const char *letters, struct hf_span *spans)
{
	const size_t count = strlen(letters);

	for (size_t i = 0; i < count; i++)
		spans[i] = (struct hf_span){.text = letters + i, .len = 1};
	return count;
}

/* "a-b+c": with what was removed behind '-', what was added behind '+'. */
static void show(const char *a, const char *b, const struct hf_edits *edits,
		 char *out)
{
	size_t i = 0;
	size_t k = 0;

	while (a[i] != '\0' || b[k] != '\0') {
		if (a[i] != '\0' && edits->is_removed[i]) {
			*out++ = '-';
			*out++ = a[i++];
		} else if (b[k] != '\0' && edits->is_added[k]) {
			*out++ = '+';
			*out++ = b[k++];
		} else {
			cr_assert(a[i] != '\0' && a[i] == b[k],
				  "what stays is not the same");
			*out++ = a[i++];
			k++;
		}
	}
	*out = '\0';
}

static bool find(const char *a, const char *b, uint64_t effort, char *out)
{
	struct hf_span first[LENGTH_MAX];
	struct hf_span second[LENGTH_MAX];
	const size_t a_count = spans_of(a, first);
	const size_t b_count = spans_of(b, second);
	cleanup_edits struct hf_edits edits = HF_EDITS_INIT;

	cr_assert_eq(
		hf_edits_find(first, a_count, second, b_count, effort, &edits),
		0);
	show(a, b, &edits, out);
	return edits.is_rough;
}

static const struct {
	const char *a;
	const char *b;
	const char *shown;
} cases[] = {
	{"", "", ""},
	{"a", "", "-a"},
	{"", "a", "+a"},
	{"a", "a", "a"},
	{"a", "b", "-a+b"},
	{"abc", "abc", "abc"},
	{"abc", "abd", "ab-c+d"},
	{"abc", "ac", "a-bc"},
	{"ac", "abc", "a+bc"},
	{"abc", "bcd", "-abc+d"},
	{"xab", "yab", "-x+yab"},
	/* As far down as it can go. */
	{"aa", "aaa", "aa+a"},
	{"[x.[z.", "[x.[y.[z.", "[x.[+y+.+[z."},
	{"abab", "ab", "ab-a-b"},
};

Test(edits, cases)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		char shown[4 * LENGTH_MAX + 1];

		cr_expect_not(
			find(cases[i].a, cases[i].b, HF_EDITS_EFFORT, shown));
		cr_expect_str_eq(shown, cases[i].shown, "%s, %s: %s",
				 cases[i].a, cases[i].b, shown);
	}
}

static size_t longest_common(const char *a, const char *b)
{
	size_t row[LENGTH_MAX + 1] = {0};

	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t before = 0;

		for (size_t k = 0; b[k] != '\0'; k++) {
			const size_t above = row[k + 1];

			row[k + 1] = a[i] == b[k]     ? before + 1
				     : above > row[k] ? above
						      : row[k];
			before = above;
		}
	}
	return row[strlen(b)];
}

static void make(char *text, unsigned *seed)
{
	size_t len;
	unsigned letters;

	*seed = *seed * 1103515245u + 12345u;
	len = (*seed >> 16) % (LENGTH_MAX - 1);
	letters = 1 + (*seed >> 8) % 6;
	for (size_t i = 0; i < len; i++) {
		*seed = *seed * 1103515245u + 12345u;
		text[i] = (char)('a' + (*seed >> 16) % letters);
	}
	text[len] = '\0';
}

/* No shorter way exists; with little effort it is longer, but right. */
Test(edits, shortest)
{
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		char a[LENGTH_MAX];
		char b[LENGTH_MAX];
		char shown[4 * LENGTH_MAX + 1];
		size_t changes = 0;

		make(a, &seed);
		make(b, &seed);
		cr_assert_not(find(a, b, HF_EDITS_EFFORT, shown));
		for (size_t i = 0; shown[i] != '\0'; i++)
			changes += shown[i] == '-' || shown[i] == '+';
		cr_assert_eq(changes,
			     strlen(a) + strlen(b) - 2 * longest_common(a, b),
			     "%s, %s: %s", a, b, shown);
		(void)find(a, b, seed % 200, shown);
	}
}

/* A hundred thousand different lines and as many others take no time; so many
 * of few sorts take no more than was allowed. */
Test(edits, large)
{
	enum { COUNT = 100000 };
	static char words[2][COUNT][8];
	static struct hf_span a[COUNT];
	static struct hf_span b[COUNT];

	for (unsigned sorts = 1000000; sorts >= 10; sorts /= 1000) {
		cleanup_edits struct hf_edits edits = HF_EDITS_INIT;
		unsigned seed = 7;

		for (size_t i = 0; i < COUNT; i++) {
			for (size_t k = 0; k < 2; k++) {
				seed = seed * 1103515245u + 12345u;
				(void)snprintf(words[k][i], 8, "%06u",
					       (seed >> 8) % sorts % 1000000u);
			}
			a[i] = (struct hf_span){words[0][i], 6};
			b[i] = (struct hf_span){words[1][i], 6};
		}
		cr_expect_eq(hf_edits_find(a, COUNT, b, COUNT, 1000000, &edits),
			     0);
		cr_expect(edits.is_rough);
	}
}

Test(edits, too_many)
{
	cleanup_edits struct hf_edits edits = HF_EDITS_INIT;

	cr_expect_eq(hf_edits_find(NULL, HF_EDITS_MAX, NULL, 1, 1, &edits),
		     -EFBIG);
}
