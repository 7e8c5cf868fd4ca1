/* SPDX-License-Identifier: MIT */
/*
 * Take every content that a path has ever had out of a store: out of packs,
 *kept copies, manifests and journals, hashes and sizes included, since a short
 *secret can be guessed from its hash.
 *
 *	rc = hf_purge_find(store, paths, &purge, err);
 *	...tell what will go...
 *	rc = hf_purge_apply(&purge, err);
 *
 * What is to go is written down first, in the store's file "purging": killed
 * anywhere the store is whole, and the next purge, of whatever path, finishes
 * it; so it is while something damaged could not be searched.  All under the
 *store's lock, while no session lives or waits to be settled.
 */
#ifndef HF_CORE_PURGE_H
#define HF_CORE_PURGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/hash.h"
#include "core/store.h"

struct hf_contents;
struct hf_error;

struct hf_purge_pack; /* one that has some of it */

struct hf_purge {
	const struct hf_store *store;
	const char *const *paths; /* NULL-terminated, as entries have them */
	struct hf_buffer
		old; /* those of a purge that was cut off, a NUL each */
	struct hf_contents *bad;   /* what goes, by hash and size */
	struct hf_buffer lines;	   /* the same for the file "purging" */
	struct hf_contents *clean; /* what lies in packs without any of it */
	struct hf_purge_pack *packs;
	size_t pack_count;
	uint32_t last_pack; /* the largest number there is */
	bool is_begun;	    /* it is written down already */
	/* What is found.  Lists of paths have a NUL behind each. */
	size_t contents;
	size_t snapshots;
	size_t sessions;
	size_t kept;
	struct hf_buffer shared; /* other paths with one of the contents */
	struct hf_buffer gone; /* all that are gone from the newest snapshot */
	struct hf_buffer unsearched; /* what is damaged, a line each */
};

#define HF_PURGE_INIT                                             \
	{                                                         \
		.old = HF_BUFFER_INIT, .lines = HF_BUFFER_INIT,   \
		.shared = HF_BUFFER_INIT, .gone = HF_BUFFER_INIT, \
		.unsearched = HF_BUFFER_INIT                      \
	}
#define cleanup_purge CLEANUP(hf_purge_done)

/* paths are borrowed.  Reads every pack and every kept copy. */
MUST_CHECK int hf_purge_find(const struct hf_store *store,
			     const char *const *paths, struct hf_purge *purge,
			     struct hf_error *err);
MUST_CHECK int hf_purge_apply(struct hf_purge *purge, struct hf_error *err);
/* Was a purge of the store at that path cut off, or is one at work? */
bool hf_purge_is_begun(const char *store_path);
/* Nothing of it is in the store. */
bool hf_purge_is_empty(const struct hf_purge *purge);
/* Is it one of the contents? */
bool hf_purge_has(const struct hf_purge *purge, const struct hf_hash *hash,
		  uint64_t size);
void hf_purge_done(struct hf_purge *purge);

#endif /* HF_CORE_PURGE_H */
