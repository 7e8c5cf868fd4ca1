/* SPDX-License-Identifier: MIT */
/* The word that somebody may have meant. */
#ifndef HF_CLI_SUGGEST_H
#define HF_CLI_SUGGEST_H

#include <stddef.h>

/* Letters to add, drop, change or swap to get from a to b; bounded words. */
size_t hf_suggest_distance(const char *a, const char *b);

/* Keeps the nearest of the words it is shown. */
struct hf_suggestion {
	const char *typed;
	const char *nearest;	/* NULL while nothing is near enough */
	size_t distance;
};

void hf_suggest(struct hf_suggestion *suggestion, const char *word);

#endif /* HF_CLI_SUGGEST_H */
