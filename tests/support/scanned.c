/* SPDX-License-Identifier: MIT */
/* What the tests of scanning share. */
#include "support/scanned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

static void give_up(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	abort();
}

static void add_patterns(struct hf_patterns *patterns, const char *words)
{
	while (*words != '\0') {
		const size_t len = strcspn(words, " ");
		char word[HF_PATTERN_LEN_MAX + 1];
		struct hf_error err;

		if (len >= sizeof(word))
			give_up("pattern too long");
		memcpy(word, words, len);
		word[len] = '\0';
		if (hf_patterns_add(patterns, word, &err) < 0)
			give_up(err.text);
		words += len;
		words += strspn(words, " ");
	}
}

void hf_make_policy(struct hf_policy *policy, const char *protect,
		    const char *allow)
{
	*policy = (struct hf_policy)HF_POLICY_INIT;
	policy->protect = hf_patterns_new();
	policy->allow = hf_patterns_new();
	if (!policy->protect || !policy->allow)
		give_up("out of memory");
	add_patterns(policy->protect, protect);
	add_patterns(policy->allow, allow);
}

const char *hf_tree_text(const struct hf_tree *tree)
{
	static struct hf_buffer text = HF_BUFFER_INIT;

	hf_buffer_clear(&text);
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		hf_buffer_printf(&text, "%c%c %s\n", "PALSC"[entry->role],
				 "-fdlpscb"[entry->stat.kind], entry->path);
	}
	return text.data ? text.data : "";
}
