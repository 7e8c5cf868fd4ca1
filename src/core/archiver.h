/* SPDX-License-Identifier: MIT */
/*
 * Archive contents while they are read: the sink of hf_scan_read().
 *
 * Small contents are buffered, so that a known one is not archived again; a
 * large one is streamed into a pack of its own, which is dropped if it turns out
 * to be known.  Each of the two workers of the reader fills its own pack.
 */
#ifndef HF_CORE_ARCHIVER_H
#define HF_CORE_ARCHIVER_H

#include "core/scan.h"
#include "core/store.h"

struct hf_archiver;
struct hf_contents;
struct hf_buffer;
struct hf_error;

#define cleanup_archiver CLEANUP(hf_archiver_free)

/* previous: where contents of the same paths are known to lie; may be NULL.
 * last_pack: the largest number that was given to a pack, as far as is known.
 * notes may be NULL. */
MUST_CHECK int hf_archiver_new(const struct hf_store *store,
			       const struct hf_tree *previous,
			       uint32_t last_pack,
			       struct hf_buffer *notes,
			       struct hf_archiver **ret_archiver,
			       struct hf_error *err);
struct hf_scan_sink hf_archiver_sink(struct hf_archiver *archiver);
/* What is in the store, instead of what its indexes say; taken over. */
void hf_archiver_know(struct hf_archiver *archiver,
		      struct hf_contents *contents);
/* Is the content of entry, by hash and size, in the store or on its way into
 * it? 1, with its location filled in, or 0. */
MUST_CHECK int hf_archiver_find(struct hf_archiver *archiver,
				struct hf_entry *entry, struct hf_error *err);
/* Everything archived is durable; how many contents and bytes that were. */
MUST_CHECK int hf_archiver_commit(struct hf_archiver *archiver,
				  size_t *ret_count, uint64_t *ret_bytes,
				  struct hf_error *err);
/* Packs that were full are in the store already; nothing refers to them. */
void hf_archiver_free(struct hf_archiver **archiver);

#endif /* HF_CORE_ARCHIVER_H */
