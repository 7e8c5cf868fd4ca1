/* SPDX-License-Identifier: MIT */
/*
 * Manifests that get their names all together.  Private to core/import*.c.
 *
 * They are added from new to old and get the numbers behind the newest
 * snapshot; that one is written once more behind them, first of all, so that it
 * is the newest at every moment.
 */
#ifndef HF_CORE_IMPORT_COMMIT_H
#define HF_CORE_IMPORT_COMMIT_H

#include "core/manifest.h"
#include "core/replace.h"
#include "core/store.h"

struct hf_error;
struct hf_packs;

struct hf_import_commit {
	const struct hf_store *store;
	size_t count; /* how many there are to be */
	size_t added;
	struct hf_name *names;	   /* new to old */
	struct hf_replace *files;  /* closed, under temporary names */
	struct hf_manifest newest; /* the copy; name "" when there is none */
};

#define HF_IMPORT_COMMIT_INIT               \
	{                                   \
		.newest = HF_MANIFEST_INIT, \
	}

MUST_CHECK int hf_import_commit_begin(struct hf_import_commit *commit,
				      const struct hf_store *store,
				      size_t count, struct hf_error *err);
/* The next older one; it gets its name, root and time. */
MUST_CHECK int hf_import_commit_add(struct hf_import_commit *commit,
				    struct hf_manifest *manifest,
				    struct hf_error *err);
MUST_CHECK int hf_import_commit(struct hf_import_commit *commit,
				struct hf_error *err);
void hf_import_commit_done(struct hf_import_commit *commit);

/* Add to packs, whose last one is then the largest number that was ever given,
 * what the newest snapshot refers to. */
MUST_CHECK int hf_import_last_pack(const struct hf_store *store,
				   struct hf_packs *packs,
				   struct hf_error *err);

#endif /* HF_CORE_IMPORT_COMMIT_H */
