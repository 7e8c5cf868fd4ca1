/* SPDX-License-Identifier: MIT */
/*
 * Find the names that match the policy.  Private to core/scan*.c.
 *
 * Entries are added with path, rule and role, in order within one walk; what
 * they are is not looked at.  One directory is open at a time, each reached
 * anew from the start with no link followed, so that neither depth nor a
 * directory that is moved or swapped for a link can lead astray.
 */
#ifndef HF_CORE_SCAN_WALK_H
#define HF_CORE_SCAN_WALK_H

#include "base/defs.h"

struct hf_buffer;
struct hf_error;
struct hf_scan_options;
struct hf_tree;

/* All beneath the root. */
MUST_CHECK int hf_scan_walk_root(const struct hf_scan_options *options,
				 struct hf_tree *tree, struct hf_buffer *notes,
				 struct hf_error *err);

/*
 * All beneath a directory outside, which a pattern writes so.  real is its
 * canonical path: entries are named by that (relative ones when it turns out to
 * lie beneath the root).  Nothing when there is no such directory.
 */
MUST_CHECK int hf_scan_walk_outside(const struct hf_scan_options *options,
				    const char *written, const char *real,
				    struct hf_tree *tree,
				    struct hf_buffer *notes,
				    struct hf_error *err);

#endif /* HF_CORE_SCAN_WALK_H */
