/* SPDX-License-Identifier: MIT */
/*
 * What a manifest says of one path, without reading all of it: the entries are
 * sorted, a line each, so a handful of places are looked at.
 *
 * Of a manifest in memory that was checked (hf_manifest_check()) the answer is
 * as good as hf_manifest_decode()'s.  From a file nothing is proven: it serves
 * to tell which of many snapshots are worth reading whole.
 */
#ifndef HF_CORE_MANIFEST_FIND_H
#define HF_CORE_MANIFEST_FIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;
struct hf_tree;

/*
 * Add to the tree the entry of path and those beneath it, in order; there may
 * be none.  HF_ERR_CORRUPT where lines are none, or longer than they may be.
 */
MUST_CHECK int hf_manifest_find(const char *data, size_t len, const char *path,
				struct hf_tree *tree, struct hf_error *err);
/*
 * The same from an open file; HF_ERR_SYSTEM when it cannot be read.  *hint:
 * where it stood in a manifest much like this one, 0 when that is not known;
 * then where it stands here.
 */
MUST_CHECK int hf_manifest_find_in(int fd, const char *path, uint64_t *hint,
				   struct hf_tree *tree, struct hf_error *err);
/*
 * How many entries there are, ancestors left out, and how many bytes their
 * files have.  For a manifest in memory that was checked.
 */
void hf_manifest_measure(const char *data, size_t len, size_t *ret_entries,
			 uint64_t *ret_bytes);

#endif /* HF_CORE_MANIFEST_FIND_H */
