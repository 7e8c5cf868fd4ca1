/* SPDX-License-Identifier: MIT */
/*
 * Read every byte that a store holds and say what is damaged or missing.
 *
 * Nothing is changed, made or repaired.  It needs no lock: what a living run
 * adds meanwhile is whole when it gets its name.  Where something seems to be
 * wrong, all is looked at once more under the store's lock, where that can be
 * had, so that what was just removed or renamed is not taken for damage.
 *
 * The memory it takes follows the number of distinct contents, not their sizes
 * nor the number of snapshots.
 */
#ifndef HF_CORE_INSPECT_H
#define HF_CORE_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/store.h"

struct hf_error;
struct hf_progress;

/* One file of the store that is not what it should be. */
struct hf_store_damage {
	const char *file;   /* in the store: "packs/000003.tar.zst" */
	const char *reason; /* one clause */
	const char *cost;   /* what is lost with it, and what is not */
};

/* How many paths of a snapshot are named. */
#define HF_INSPECT_PATHS 100

/* A snapshot whose manifest is whole and that still cannot be restored in full.
 */
struct hf_incomplete {
	const struct hf_name *snapshot;
	size_t files;			     /* that it has */
	size_t lost;			     /* of them */
	const char *paths[HF_INSPECT_PATHS]; /* the first that are lost */
	size_t path_count;
};

/* What is found; called in the order of the store, all of it before the end. */
struct hf_inspect_sink {
	void *context;
	/* All of it begins anew: what was told before is void. */
	void (*begin)(void *context);
	void (*damaged)(void *context, const struct hf_store_damage *damage);
	void (*incomplete)(void *context, const struct hf_incomplete *snapshot);
};

struct hf_inspect_counts {
	uint64_t bytes; /* read */
	size_t snapshots;
	size_t packs;
	size_t contents; /* in the packs */
	size_t sessions;
	size_t kept; /* copies */
	size_t damaged;
	size_t incomplete;
};

/*
 * The store at path, of root.  A failure says that it could not be done: there
 * is no store, it is another's, memory ran out.
 */
MUST_CHECK int hf_inspect(const char *path, const char *root, int root_fd,
			  const struct hf_inspect_sink *sink,
			  struct hf_progress *progress,
			  struct hf_inspect_counts *ret_counts,
			  struct hf_error *err);

#endif /* HF_CORE_INSPECT_H */
