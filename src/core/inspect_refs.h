/* SPDX-License-Identifier: MIT */
/*
 * The contents that manifests refer to, each once.  Private to core/inspect*.c.
 *
 *	rc = hf_refs_add_tree(&refs, &tree, err);	(any number)
 *	hf_refs_sort(&refs);
 */
#ifndef HF_CORE_INSPECT_REFS_H
#define HF_CORE_INSPECT_REFS_H

#include "core/tree.h"

struct hf_error;

struct hf_ref {
	struct hf_location location;
	uint64_t size;
	struct hf_hash hash;
	bool is_bad; /* it cannot be had */
};

struct hf_refs {
	struct hf_ref *items; /* by pack, offset, size, hash */
	size_t count;
	size_t capacity;
};

#define HF_REFS_INIT          \
	{                     \
		.items = NULL \
	}
#define cleanup_refs CLEANUP(hf_refs_done)
void hf_refs_done(struct hf_refs *refs);

/* Does the entry have a content in a pack? */
bool hf_refs_wants(const struct hf_entry *entry);
MUST_CHECK int hf_refs_add_tree(struct hf_refs *refs,
				const struct hf_tree *tree,
				struct hf_error *err);
void hf_refs_sort(struct hf_refs *refs);
/* Those of one pack: the first, and how many. */
struct hf_ref *hf_refs_of_pack(const struct hf_refs *refs, uint32_t pack,
			       size_t *ret_count);
/* The entry's own; NULL when it was not added. */
const struct hf_ref *hf_refs_find(const struct hf_refs *refs,
				  const struct hf_entry *entry);

#endif /* HF_CORE_INSPECT_REFS_H */
