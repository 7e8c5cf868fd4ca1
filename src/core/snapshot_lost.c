/* SPDX-License-Identifier: MIT */
/* Find out which snapshots cannot be restored in full any more. */
#include "core/snapshot_lost.h"

#include "base/fail.h"
#include "base/text.h"
#include "core/snapshot.h"

/* Has every number up to the last a pack that is whole? */
static int are_all_whole(const struct hf_store *store,
			 const struct hf_tree *newest, struct hf_error *err)
{
	cleanup_packs struct hf_packs there = HF_PACKS_INIT;
	cleanup_packs struct hf_packs needed = HF_PACKS_INIT;
	uint32_t last;
	int rc;

	rc = hf_packs_add_there(&there, store, err);
	if (rc == 0)
		rc = hf_packs_add_tree(&needed, newest, err);
	if (rc < 0)
		return rc;
	last = there.count > 0 ? there.items[there.count - 1] : 0;
	if (there.count != last ||
	    (needed.count > 0 && needed.items[needed.count - 1] > last))
		return 0;
	rc = hf_packs_keep_lost(store, &there, err);
	return rc < 0 ? rc : there.count == 0;
}

/* Nobody waits for the lock to look: it may be dropped meanwhile, and before the
 * packs that it refers to are. */
static bool is_dropped(const struct hf_store *store, const struct hf_name *name)
{
	struct hf_stat stat;

	return hf_file_stat_at(store->folder_fd[HF_STORE_SNAPSHOTS],
			       name->text, &stat) == -ENOENT;
}

/* Add what one snapshot needs and is lost; 1 when there is anything. */
static int add_lost(const struct hf_store *store, const struct hf_name *name,
		    struct hf_packs *packs, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_packs struct hf_packs lost = HF_PACKS_INIT;
	int rc;

	rc = hf_snapshot_load(store, name, &manifest, err);
	if (rc < 0)
		return rc == HF_ERR_CORRUPT || is_dropped(store, name) ? 0 : rc;
	rc = hf_packs_add_tree(&lost, &manifest.tree, err);
	if (rc == 0)
		rc = hf_packs_keep_lost(store, &lost, err);
	if (rc == 0 && lost.count > 0 && is_dropped(store, name))
		return 0;
	for (size_t i = 0; rc == 0 && i < lost.count; i++)
		rc = hf_packs_add(packs, lost.items[i], err);
	return rc < 0 ? rc : lost.count > 0;
}

int hf_snapshot_find_lost(const struct hf_store *store,
			  const struct hf_tree *newest,
			  struct hf_pack_lost *ret_lost,
			  struct hf_name *ret_snapshot, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	struct hf_pack_lost lost = {.count = 0};
	struct hf_name newest_name = {""};
	int rc;

	rc = are_all_whole(store, newest, err);
	if (rc == 0)
		rc = hf_store_list(store, HF_STORE_SNAPSHOTS, "", &names, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < names.count; i++) {
		rc = add_lost(store, &names.items[i], &packs, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			newest_name = names.items[i];
	}
	lost.count = packs.count;
	if (lost.count > 0) {
		lost.first = packs.items[0];
		lost.last = packs.items[packs.count - 1];
		*ret_snapshot = newest_name;
	}
	*ret_lost = lost;
	return 0;
}
