/* SPDX-License-Identifier: MIT */
/*
 * Directories that "**" does not enter: version control, installed packages,
 * virtual environments, caches.  Private to core/scan*.c; pure.
 *
 * What is named past such a directory is protected all the same: ".git/config"
 * is, and so is what ".git/hooks/" names.
 */
#ifndef HF_CORE_SCAN_SKIP_H
#define HF_CORE_SCAN_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/pattern.h"

/* A directory of this name is one. */
bool hf_scan_is_skipped_name(const char *name);
/* A directory that holds this name is one. */
bool hf_scan_is_skip_mark(const char *name);

/* The patterns that count beneath a skipped directory, made when needed. */
struct hf_scan_named {
	const struct hf_patterns *patterns;	/* all of them; borrowed */
	struct hf_patterns **sets;	/* by depth; NULL: not needed so far */
	size_t count;
};

#define cleanup_named	CLEANUP(hf_scan_named_done)

/* Components of a path: 2 for "a/b" and for "/a/b". */
size_t hf_scan_path_depth(const char *path);

/*
 * Those that reach a directory of this depth without "**", and all that take
 * out; all there are when depth is 0.
 */
MUST_CHECK int hf_scan_named_get(struct hf_scan_named *named, size_t depth,
				 const struct hf_patterns **ret_patterns,
				 struct hf_error *err);
void hf_scan_named_done(struct hf_scan_named *named);

#endif /* HF_CORE_SCAN_SKIP_H */
