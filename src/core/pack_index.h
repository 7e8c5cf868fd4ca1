/* SPDX-License-Identifier: MIT */
/* What the index beside a pack says, line by line. */
#ifndef HF_CORE_PACK_INDEX_H
#define HF_CORE_PACK_INDEX_H

#include <stdint.h>

#include "core/hash.h"
#include "core/store.h"

struct hf_error;

struct hf_pack_index_item {
	struct hf_hash hash;
	uint64_t size;
	uint64_t offset;
};

/*
 * Call item for each content that the index of a pack names, in order;
 * pack_bytes is the size of the pack's file.  HF_ERR_CORRUPT when the index is
 * no good or is not that of the pack; a negative return of item is passed on.
 */
MUST_CHECK int hf_pack_index_read(
	const struct hf_store *store, uint32_t pack, uint64_t pack_bytes,
	int (*item)(void *context, const struct hf_pack_index_item *item,
		    struct hf_error *err),
	void *context, struct hf_error *err);

#endif /* HF_CORE_PACK_INDEX_H */
