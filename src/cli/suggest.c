/* SPDX-License-Identifier: MIT */
/* The distance between two words (Damerau and Levenshtein's). */
#include "cli/suggest.h"

#include <string.h>

#define WORD_MAX 32

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t hf_suggest_distance(const char *a, const char *b)
{
	const size_t a_len = strlen(a);
	const size_t b_len = strlen(b);
	size_t rows[3][WORD_MAX + 1];

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return a_len > b_len ? a_len : b_len;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *now = rows[i % 3];
		const size_t *last = rows[(i - 1) % 3];
		const size_t *older = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			const size_t change = a[i - 1] != b[j - 1];

			now[j] = least(last[j - 1] + change,
				       1 + least(last[j], now[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], older[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

void hf_suggest(struct hf_suggestion *suggestion, const char *word)
{
	const size_t typed_len = strlen(suggestion->typed);
	size_t distance = hf_suggest_distance(suggestion->typed, word);

	/* A beginning is as good as one wrong letter. */
	if (typed_len >= 2 && strncmp(suggestion->typed, word, typed_len) == 0)
		distance = least(distance, 1);
	/* What shares less than half with it was not meant. */
	if (distance > 2 || distance * 2 > typed_len)
		return;
	if (suggestion->nearest == NULL || distance < suggestion->distance) {
		suggestion->nearest = word;
		suggestion->distance = distance;
	}
}
