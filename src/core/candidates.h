/* SPDX-License-Identifier: MIT */
/*
 * What of a project deserves protection: data files and directories of data,
 *first what git does not hold, since nothing else could bring it back.
 *
 *	cleanup_candidates struct hf_candidates found = HF_CANDIDATES_INIT;
 *
 *	rc = hf_candidates_find(root, root_fd, &found, err);
 *
 * Looks at names and sizes alone, in an order that does not depend on the file
 * system's, and stops at a bound.  Never enters version control, node_modules,
 * virtual environments, what is built, hidden directories, other repositories,
 * or links.  What cannot be read is passed over.
 */
#ifndef HF_CORE_CANDIDATES_H
#define HF_CORE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;

#define HF_CANDIDATES_MAX 40 /* shown to a person */

enum hf_candidate_git {
	HF_CANDIDATE_NO_GIT, /* there is no repository, or none to be read */
	HF_CANDIDATE_UNHELD, /* git holds not all of it */
	HF_CANDIDATE_HELD
};

struct hf_candidate {
	char *pattern; /* as a policy has it: "data/", "*.toml" */
	size_t files;
	size_t unheld; /* of these; 0 without git */
	uint64_t bytes;
	enum hf_candidate_git git;
	bool is_directory;
	/* Taken unless a person says otherwise: not what git holds as a whole
	 * beneath the top, and not what is too large to be recorded often. */
	bool is_default;
};

struct hf_candidates {
	struct hf_candidate items[HF_CANDIDATES_MAX];
	size_t count;
	size_t looked; /* entries */
	bool is_cut;   /* there is more than was looked at or fits */
	bool has_git;
};

#define HF_CANDIDATES_INIT \
	{                  \
		.count = 0 \
	}
#define cleanup_candidates CLEANUP(hf_candidates_done)

/* Sorted: what git does not hold, files at the top, the rest; then by pattern.
 */
MUST_CHECK int hf_candidates_find(const char *root, int root_fd,
				  struct hf_candidates *found,
				  struct hf_error *err);
void hf_candidates_done(struct hf_candidates *found);

#endif /* HF_CORE_CANDIDATES_H */
