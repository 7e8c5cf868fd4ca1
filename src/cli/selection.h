/* SPDX-License-Identifier: MIT */
/*
 * Entries that a person names: paths as they were typed, each with what lies
 * beneath it.
 */
#ifndef HF_CLI_SELECTION_H
#define HF_CLI_SELECTION_H

#include <stdbool.h>

#include "core/manifest.h"

/*
 * The words (NULL-terminated) as entries name them, see hf_paths_resolve();
 * NULL for no words: everything is meant.  For hf_selection_free(), also on
 * failure.
 */
MUST_CHECK int hf_selection_resolve(const char *root, const char *const *words,
				    char ***ret_paths, struct hf_error *err);
void hf_selection_free(char ***paths);

/* HF_ERR_USAGE when a path names nothing in manifest, nor in one of the two
 * trees (each may be NULL). */
MUST_CHECK int hf_selection_check(const char *const *paths,
				  const struct hf_manifest *manifest,
				  const struct hf_tree *also,
				  const struct hf_tree *or_in,
				  struct hf_error *err);
/* Copies of what the paths name and of the directories above, sorted. */
MUST_CHECK int hf_selection_copy(const struct hf_tree *from,
				 const char *const *paths, struct hf_tree *to,
				 struct hf_error *err);

#endif /* HF_CLI_SELECTION_H */
