/* SPDX-License-Identifier: MIT */
/*
 * A second copy of the contents that a session may have to put back, out of
 *reach of whoever removes or rewrites the store meanwhile.
 *
 * The packs are held open: removed or moved they can still be read.  Against
 *one that is written over, the contents of a small set are held in memory,
 *which all processes forked after hf_spare_new() share; only what had the right
 *hash gets there.
 *
 *	rc = hf_spare_new(&store, &packs, &spare);	(before the fork)
 *	hf_spare_fill(spare, &tree);			(in one process, at
 *leisure) rc = hf_spare_read(spare, wants, ...);		(in any of them)
 */
#ifndef HF_CORE_SPARE_H
#define HF_CORE_SPARE_H

#include "core/pack.h"
#include "core/pack_lost.h"
#include "core/tree.h"

struct hf_error;

/* A larger set is not held in memory at all: reading it would take too long. */
#define HF_SPARE_SIZE_MAX  ((uint64_t)16 << 20)
#define HF_SPARE_COUNT_MAX ((size_t)1 << 14)
/* How many packs are held open: 4 GiB of contents, mostly; less where a process may
 * have fewer than 1,024 descriptors. */
#define HF_SPARE_PACKS_MAX ((size_t)64)
#define HF_SPARE_FDS_MAX   (2 * HF_SPARE_PACKS_MAX)

struct hf_spare;
#define cleanup_spare CLEANUP(hf_spare_free)

/* -errno; what cannot be opened is merely not held. */
MUST_CHECK int hf_spare_new(const struct hf_store *store,
			    const struct hf_packs *packs,
			    struct hf_spare **ret_spare);
/* The descriptors that it needs, at most HF_SPARE_FDS_MAX; how many. */
size_t hf_spare_descriptors(const struct hf_spare *spare, int *fds);
/* Take the contents of tree into memory, if that is a small set. */
void hf_spare_fill(struct hf_spare *spare, const struct hf_tree *tree);
/* As hf_pack_read(), from memory and from the packs that are held. */
MUST_CHECK int hf_spare_read(const struct hf_spare *spare,
			     const struct hf_pack_want *wants, size_t count,
			     const struct hf_pack_sink *sink,
			     struct hf_error *err);
/*
 * Write the pack that is held, and its index, into a store anew.  0 when there
 * is none, 1 when it is done.
 */
MUST_CHECK int hf_spare_write_pack(const struct hf_spare *spare, uint32_t pack,
				   const struct hf_store *store,
				   struct hf_error *err);
/* What is held of a pack, as it is now; -errno. */
MUST_CHECK int hf_spare_stat(const struct hf_spare *spare, uint32_t pack,
			     struct hf_stat *ret_stat);
void hf_spare_free(struct hf_spare **spare);

#endif /* HF_CORE_SPARE_H */
