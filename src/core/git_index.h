/* SPDX-License-Identifier: MIT */
/*
 * Which paths git holds, by its index: read directly, since git itself would
 *run what a repository's configuration names.
 *
 *	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
 *
 *	if (hf_git_index_load(root, &index, err) == 0)
 *		is_held = hf_git_index_has(&index, "data/a.csv");
 */
#ifndef HF_CORE_GIT_INDEX_H
#define HF_CORE_GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/defs.h"

struct hf_error;

struct hf_git_index {
	struct hf_arena arena;
	const char **names; /* in git's order: by bytes */
	size_t count;
	size_t capacity;
	const char *shared; /* hash that names the other half; NULL for none */
	char *prefix; /* of the root within the work tree; "" for its top */
};

#define HF_GIT_INDEX_INIT              \
	{                              \
		.arena = HF_ARENA_INIT \
	}
#define cleanup_git_index CLEANUP(hf_git_index_done)

/*
 * The index of the repository that root (canonical) lies in.  One that nothing
 * was added to holds nothing.  HF_ERR_NOTHING where there is no repository,
 * HF_ERR_CORRUPT, HF_ERR_LIMIT or HF_ERR_SYSTEM where the index cannot be read.
 */
MUST_CHECK int hf_git_index_load(const char *root, struct hf_git_index *index,
				 struct hf_error *err);

/*
 * The parser behind it, of versions 2 to 4 with hashes of SHA-1 or SHA-256;
 * adds to what index has.  What is only intended to be added is not held.
 */
MUST_CHECK int hf_git_index_parse(struct hf_git_index *index, const char *data,
				  size_t len, struct hf_error *err);
/* Once all is parsed. */
void hf_git_index_sort(struct hf_git_index *index);

/* path is relative to the root and plain; the content of it may have changed.
 */
bool hf_git_index_has(const struct hf_git_index *index, const char *path);
void hf_git_index_done(struct hf_git_index *index);

#endif /* HF_CORE_GIT_INDEX_H */
