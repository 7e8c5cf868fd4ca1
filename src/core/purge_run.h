/* SPDX-License-Identifier: MIT */
/* What the parts of a purge share.  Private to core/purge*.c. */
#ifndef HF_CORE_PURGE_RUN_H
#define HF_CORE_PURGE_RUN_H

#include "core/entry.h"
#include "core/pack.h"
#include "core/purge.h"

/* Where a member of a pack lies, and what becomes of it. */
struct hf_purge_member {
	uint64_t offset;
	struct hf_hash hash;
	uint64_t size;
	bool is_bad;
	struct hf_location moved; /* pack 0: not yet */
};

struct hf_purge_pack {
	uint32_t number;
	struct hf_purge_member *members; /* in order */
	size_t count;
	size_t capacity;
};

/* Is it, or does it lie beneath, one of the paths? */
bool hf_purge_names(const struct hf_purge *purge, const char *path);
/* Is it to be forgotten: by its path, or by its content? */
bool hf_purge_wants(const struct hf_purge *purge, const struct hf_entry *entry);
MUST_CHECK int hf_purge_add(struct hf_purge *purge, const struct hf_hash *hash,
			    uint64_t size, struct hf_error *err);
/* What cannot be looked at: a damaged file is passed over and named; a failure
 * of another kind is one. */
MUST_CHECK int hf_purge_pass_over(struct hf_purge *purge, const char *folder,
				  const char *name, struct hf_error *err);

/* All manifests, or all journals and kept copies: contents of the paths. */
MUST_CHECK int hf_purge_gather_manifests(struct hf_purge *purge,
					 struct hf_error *err);
MUST_CHECK int hf_purge_gather_sessions(struct hf_purge *purge,
					struct hf_error *err);
/* Then: what has one of them. */
MUST_CHECK int hf_purge_count_manifests(struct hf_purge *purge,
					struct hf_error *err);
MUST_CHECK int hf_purge_find_packs(struct hf_purge *purge,
				   struct hf_error *err);

/* removes false: count what would be. */
MUST_CHECK int hf_purge_journals(struct hf_purge *purge, bool removes,
				 struct hf_error *err);
MUST_CHECK int hf_purge_kept(struct hf_purge *purge, bool removes,
			     struct hf_error *err);
/* The rest of each such pack into others; members know where they are then. */
MUST_CHECK int hf_purge_move(struct hf_purge *purge, struct hf_error *err);
MUST_CHECK int hf_purge_manifests(struct hf_purge *purge, struct hf_error *err);
MUST_CHECK int hf_purge_remove_packs(struct hf_purge *purge,
				     struct hf_error *err);

#endif /* HF_CORE_PURGE_RUN_H */
