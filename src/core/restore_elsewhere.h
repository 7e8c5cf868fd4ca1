/* SPDX-License-Identifier: MIT */
/*
 * Copies of recorded entries in a directory that is not the tree.
 *
 *	rc = hf_elsewhere_tree(&wanted, now_ns, &want, err);	(pure)
 *	rc = hf_elsewhere_plan(dir_fd, &want, &plan, err);
 *	...hf_restore_apply() with is_elsewhere...
 *
 * An entry keeps its path below the directory; one from outside the root lies
 * where it does in a pack, below "outside".
 */
#ifndef HF_CORE_RESTORE_ELSEWHERE_H
#define HF_CORE_RESTORE_ELSEWHERE_H

#include <stdint.h>

#include "core/restore.h"

/*
 * What is to stand there: the entries of wanted that are something, and every
 * directory above them, of now where nothing tells what it was.
 */
MUST_CHECK int hf_elsewhere_tree(const struct hf_tree *wanted, int64_t now_ns,
				 struct hf_tree *ret_want,
				 struct hf_error *err);
/*
 * Directories that stand already are left as they are, and dropped from want.
 * HF_ERR_USAGE when something stands where anything else is to go.  dir_fd -1:
 * the directory is still to be made.
 */
MUST_CHECK int hf_elsewhere_plan(int dir_fd, struct hf_tree *want,
				 struct hf_plan *ret_plan,
				 struct hf_error *err);

#endif /* HF_CORE_RESTORE_ELSEWHERE_H */
