/* SPDX-License-Identifier: MIT */
/*
 * A set of entries, sorted by hf_path_compare(), each path once.
 *
 *	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
 *
 *	entry = hf_tree_add(&tree, "a/b");	(in any order)
 *	rc = hf_tree_sort(&tree, err);		(before find and walks)
 *
 * About 300 bytes an entry: a set of 100,000 files is 30 MB.
 */
#ifndef HF_CORE_TREE_H
#define HF_CORE_TREE_H

#include <stddef.h>

#include "base/arena.h"
#include "core/entry.h"

struct hf_error;

struct hf_tree {
	struct hf_entry *entries;
	size_t count;
	size_t capacity;
	struct hf_arena arena;	/* every string of every entry */
	/* Of a tolerant scan: a directory that it could not look into, of which
	 * nobody knows what is new in it; NULL for none. */
	const char *unread;
};

#define HF_TREE_INIT	{ .entries = NULL }
#define cleanup_tree	CLEANUP(hf_tree_done)

/*
 * A cleared entry with a copy of path, rule and xattrs "", location none.
 * NULL when out of memory.  Valid until the next add.
 */
struct hf_entry *hf_tree_add(struct hf_tree *tree, const char *path);
/* A copy of entry, strings included; NULL when out of memory. */
struct hf_entry *hf_tree_add_copy(struct hf_tree *tree,
				  const struct hf_entry *entry);
/* Add all entries of from, which is empty then; -ENOMEM, and nothing done. */
MUST_CHECK int hf_tree_adopt(struct hf_tree *tree, struct hf_tree *from);
/* Sort; HF_ERR_CORRUPT when a path is there twice. */
MUST_CHECK int hf_tree_sort(struct hf_tree *tree, struct hf_error *err);
/* Sort; of entries with one path one stays, an ancestor only if all are. */
MUST_CHECK int hf_tree_sort_merge(struct hf_tree *tree, struct hf_error *err);
/* Drop the entries for which is_kept, by index, is false. */
void hf_tree_keep(struct hf_tree *tree, const bool *is_kept);
/* NULL when not there.  The tree must be sorted. */
struct hf_entry *hf_tree_find(const struct hf_tree *tree, const char *path);
/* How many are protected and exist: what "protected" counts in the report. */
size_t hf_tree_protected_count(const struct hf_tree *tree);
void hf_tree_done(struct hf_tree *tree);

#endif /* HF_CORE_TREE_H */
