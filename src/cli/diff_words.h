/* SPDX-License-Identifier: MIT */
/*
 * Which of the words behind `diff` are snapshots and which are paths.  Pure.
 */
#ifndef HF_CLI_DIFF_WORDS_H
#define HF_CLI_DIFF_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_error;

struct hf_diff_words {
	const char *const *words; /* NULL-terminated */
	size_t count;
	/* "--" stood behind so many of them: snapshots before it, paths behind.
	 */
	bool has_dashes;
	size_t before_dashes;
};

/* Does it read as a snapshot, whether there is such a one or not? */
bool hf_diff_is_snapshot(const char *word);

/*
 * How many words are snapshots: two at most, from the first on.  Without "--"
 * one that reads as a snapshot and names a path, too (is_path), is
 * HF_ERR_USAGE.
 */
MUST_CHECK int hf_diff_words_split(const struct hf_diff_words *words,
				   bool (*is_path)(void *context,
						   const char *word),
				   void *context, size_t *ret_snapshots,
				   struct hf_error *err);

#endif /* HF_CLI_DIFF_WORDS_H */
