/* SPDX-License-Identifier: MIT */
/*
 * Record the tree: scan, read what is new, archive it, write the manifest.
 *
 * Order of a commit: packs durable, then the manifest.  An unchanged tree writes
 * neither.  Callers hold the store's lock.
 */
#ifndef HF_CORE_SNAPSHOT_H
#define HF_CORE_SNAPSHOT_H

#include <stdbool.h>

#include "core/compare.h"
#include "core/journal.h"
#include "core/manifest.h"
#include "core/pack_lost.h"
#include "core/scan.h"
#include "core/snapshot_used.h"
#include "core/store.h"

struct hf_policy;

struct hf_snapshot_result {
	bool has_previous;	/* something was recorded before */
	size_t protected_before;	/* by that, under its policy */
	bool is_new;		/* a manifest was written */
	size_t archived;	/* contents */
	uint64_t archived_bytes;
	/* What the snapshot before needed; archived again as far as it can be. */
	struct hf_pack_lost lost;
	/* The newest snapshot that a session used is gone; "" when it is not. */
	struct hf_snapshot_used gone;
};

/*
 * The newest manifest, or HF_ERR_NOTHING "nothing is recorded yet".  HF_ERR_CORRUPT
 * also when a session used a newer one, which is gone.
 */
MUST_CHECK int hf_snapshot_load_newest(const struct hf_store *store,
				       struct hf_manifest *ret_manifest,
				       struct hf_error *err);
MUST_CHECK int hf_snapshot_load(const struct hf_store *store,
				const struct hf_name *name,
				struct hf_manifest *ret_manifest,
				struct hf_error *err);
/* The name of the newest alone, with the failures of hf_snapshot_load_newest().
 */
MUST_CHECK int hf_snapshot_find_newest(const struct hf_store *store,
				       struct hf_name *ret_name,
				       struct hf_error *err);
/* The one that a person means, see core/moment.h; the newest for NULL. */
MUST_CHECK int hf_snapshot_load_typed(const struct hf_store *store,
				      const char *typed,
				      struct hf_manifest *ret_manifest,
				      struct hf_error *err);
/*
 * Scan and record.  The result's tree has a hash and a location for every file;
 * its name is that of the newest manifest when nothing differs from it.  Before
 * anything is written the caller may look at what changed: decide(context, tree,
 * deltas) is called with the difference to that manifest, none when there is no
 * such (files hashed already) and may refuse (negative).  decide may be NULL.
 */
struct hf_snapshot_options {
	const struct hf_scan_options *scan;
	int (*decide)(void *context, const struct hf_tree *tree,
		      const struct hf_deltas *drift, struct hf_error *err);
	void *context;
	struct hf_progress *progress;	/* may be NULL */
	struct hf_buffer *notes;	/* may be NULL */
	const struct hf_journal_names *sessions; /* NULL: to be listed */
	/* A person wants the tree recorded: also where the newest one is gone.
	 */
	bool may_be_gone;
	/*
	 * Does the new snapshot take this path as it is now?  Of all others it
	 * says what the newest one says.  NULL: it takes all.
	 */
	bool (*is_taken)(void *context, const char *path);
};

/* Did the newest manifest follow the same patterns? */
bool hf_snapshot_has_patterns(const struct hf_manifest *manifest,
			      const struct hf_policy *policy);

/* ret_previous (may be NULL): what was the newest manifest; empty when none. */
MUST_CHECK int hf_snapshot_take(const struct hf_store *store,
				const struct hf_snapshot_options *options,
				struct hf_manifest *ret_previous,
				struct hf_manifest *ret_manifest,
				struct hf_snapshot_result *ret_result,
				struct hf_error *err);

/*
 * The tree as it is now, every file hashed by reading it (the final look,
 * `verify`): tolerant, and with new side files added.  before: what was recorded.
 */
MUST_CHECK int hf_snapshot_look(const struct hf_scan_options *scan,
				const struct hf_tree *before,
				struct hf_progress *progress,
				struct hf_tree *ret_tree, struct hf_error *err);

/*
 * The snapshot that is typed (hf_snapshot_load_typed()), the tree now
 * (hf_snapshot_look()), and how they differ.  The deltas borrow from both.
 */
MUST_CHECK int hf_snapshot_compare(const struct hf_store *store,
				   const char *typed,
				   const struct hf_scan_options *scan,
				   struct hf_progress *progress,
				   struct hf_manifest *ret_manifest,
				   struct hf_tree *ret_now,
				   struct hf_deltas *ret_deltas,
				   struct hf_error *err);

#endif /* HF_CORE_SNAPSHOT_H */
