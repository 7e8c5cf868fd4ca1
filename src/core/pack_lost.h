/* SPDX-License-Identifier: MIT */
/*
 * Packs that are not there any more, or are not as long as they were written.
 *
 * Only names, sizes and the first line of an index are looked at: cheap enough for
 * the start of every run.  What is wrong inside a pack shows when it is read.
 */
#ifndef HF_CORE_PACK_LOST_H
#define HF_CORE_PACK_LOST_H

#include <stddef.h>
#include <stdint.h>

#include "core/store.h"
#include "core/tree.h"

struct hf_error;

/* Numbers of packs, sorted, each once. */
struct hf_packs {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

#define HF_PACKS_INIT	{ .items = NULL }
#define cleanup_packs	CLEANUP(hf_packs_done)
void hf_packs_done(struct hf_packs *packs);

MUST_CHECK int hf_packs_add(struct hf_packs *packs, uint32_t number,
			    struct hf_error *err);
/* Those that are in the store, whole or not. */
MUST_CHECK int hf_packs_add_there(struct hf_packs *packs,
				  const struct hf_store *store,
				  struct hf_error *err);
/* Those that a tree refers to. */
MUST_CHECK int hf_packs_add_tree(struct hf_packs *packs,
				 const struct hf_tree *tree,
				 struct hf_error *err);
/* Drop all that are whole. */
MUST_CHECK int hf_packs_keep_lost(const struct hf_store *store,
				  struct hf_packs *packs, struct hf_error *err);

struct hf_pack_lost {
	size_t count;		/* of packs that are lost */
	uint32_t first;		/* the smallest of them; 0 when none */
	uint32_t last;		/* the largest that is referred to, lost or not */
};

/*
 * Forget in a recorded tree where contents lie whose pack is lost: they count as
 * not archived, and their files as changed, so that they are read again.
 */
MUST_CHECK int hf_pack_forget_lost(const struct hf_store *store,
				   struct hf_tree *tree,
				   struct hf_pack_lost *ret_lost,
				   struct hf_error *err);

#endif /* HF_CORE_PACK_LOST_H */
