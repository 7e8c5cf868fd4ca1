/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot says of some paths, without all of its entries: hundreds of
 * snapshots of many thousands of files can be asked.
 *
 *	rc = hf_snapshot_peek(store, &name, paths, &tree, err);	(is it worth
 *it?) rc = hf_snapshot_prove(store, &name, paths, &tree, err);
 */
#ifndef HF_CORE_SNAPSHOT_PEEK_H
#define HF_CORE_SNAPSHOT_PEEK_H

#include "core/store.h"
#include "core/tree.h"

/*
 * The entries of paths (NULL-terminated) and of what lies beneath them are
 * added to the tree, path by path: it is not sorted.  Nothing of it is proven,
 * not even that something is absent.
 */
MUST_CHECK int hf_snapshot_peek(const struct hf_store *store,
				const struct hf_name *name,
				const char *const *paths, uint64_t *hints,
				struct hf_tree *tree, struct hf_error *err);
/* The same with the manifest read and proven whole: HF_ERR_CORRUPT. */
MUST_CHECK int hf_snapshot_prove(const struct hf_store *store,
				 const struct hf_name *name,
				 const char *const *paths, struct hf_tree *tree,
				 struct hf_error *err);
/* Entries and bytes of files in all of it, proven. */
MUST_CHECK int hf_snapshot_measure(const struct hf_store *store,
				   const struct hf_name *name,
				   size_t *ret_entries, uint64_t *ret_bytes,
				   struct hf_error *err);

#endif /* HF_CORE_SNAPSHOT_PEEK_H */
