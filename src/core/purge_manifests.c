/* SPDX-License-Identifier: MIT */
/* What manifests have of a path: find it, and write them without. */
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/purge_run.h"
#include "core/replace.h"
#include "core/snapshot.h"

/* Call work for each that can be read. */
static int each(struct hf_purge *purge,
		int (*work)(struct hf_purge *purge,
			    struct hf_manifest *manifest, bool is_newest,
			    struct hf_error *err),
		struct hf_error *err)
{
	const struct hf_store *const store = purge->store;
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_store_list(store, HF_STORE_SNAPSHOTS, "", &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;

		rc = hf_snapshot_load(store, &names.items[i], &manifest, err);
		/* Named once, when contents are gathered. */
		if (rc == HF_ERR_CORRUPT)
			rc = 0;
		else if (rc == 0)
			rc = work(purge, &manifest, i + 1 == names.count, err);
	}
	return rc;
}

static int gather(struct hf_purge *purge, struct hf_manifest *manifest,
		  bool is_newest, struct hf_error *err)
{
	int rc = 0;

	(void)is_newest;
	for (size_t i = 0; rc == 0 && i < manifest->tree.count; i++) {
		const struct hf_entry *const entry = &manifest->tree.entries[i];

		if (entry->has_hash && hf_purge_names(purge, entry->path))
			rc = hf_purge_add(purge, &entry->hash, entry->stat.size,
					  err);
	}
	return rc;
}

static int name_damaged(struct hf_purge *purge, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_store_list(purge->store, HF_STORE_SNAPSHOTS, "", &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;

		rc = hf_snapshot_load(purge->store, &names.items[i], &manifest,
				      err);
		if (rc < 0)
			rc = hf_purge_pass_over(purge, "snapshots",
						names.items[i].text, err);
	}
	return rc;
}

int hf_purge_gather_manifests(struct hf_purge *purge, struct hf_error *err)
{
	const int rc = name_damaged(purge, err);

	return rc < 0 ? rc : each(purge, gather, err);
}

static void note_path(struct hf_buffer *list, const char *path)
{
	for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1)
		if (strcmp(list->data + at, path) == 0)
			return;
	hf_buffer_add(list, path, strlen(path) + 1);
}

static int count(struct hf_purge *purge, struct hf_manifest *manifest,
		 bool is_newest, struct hf_error *err)
{
	bool is_any = false;

	for (size_t i = 0; i < manifest->tree.count; i++) {
		const struct hf_entry *const entry = &manifest->tree.entries[i];

		if (!hf_purge_wants(purge, entry))
			continue;
		is_any = true;
		if (!hf_purge_names(purge, entry->path))
			note_path(&purge->shared, entry->path);
		if (is_newest)
			note_path(&purge->gone, entry->path);
	}
	purge->snapshots += is_any;
	return hf_buffer_check(&purge->shared, err);
}

int hf_purge_count_manifests(struct hf_purge *purge, struct hf_error *err)
{
	return each(purge, count, err);
}

/* -- without it -------------------------------------------------------------
 */

static int compare_offset(const void *key, const void *item)
{
	const uint64_t offset = *(const uint64_t *)key;
	const uint64_t other = ((const struct hf_purge_member *)item)->offset;

	return offset < other ? -1 : offset > other;
}

/* Where the content lies now; false when it has not moved, or is not known. */
static bool follow(const struct hf_purge *purge, struct hf_entry *entry)
{
	for (size_t i = 0; entry->has_hash && i < purge->pack_count; i++) {
		const struct hf_purge_pack *const pack = &purge->packs[i];
		const struct hf_purge_member *member;

		if (pack->number != entry->location.pack)
			continue;
		member = bsearch(&entry->location.offset, pack->members,
				 pack->count, sizeof(*member), compare_offset);
		if (!member || member->moved.pack == 0)
			return false;
		entry->location = member->moved;
		return true;
	}
	return false;
}

static int rewrite(struct hf_purge *purge, struct hf_manifest *manifest,
		   bool is_newest, struct hf_error *err)
{
	struct hf_tree *const tree = &manifest->tree;
	cleanup_free bool *is_kept = calloc(tree->count + 1, sizeof(bool));
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	bool is_changed = false;
	int rc;

	(void)is_newest;
	if (!is_kept)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++) {
		is_kept[i] = !hf_purge_wants(purge, &tree->entries[i]);
		is_changed |= !is_kept[i];
		if (is_kept[i])
			is_changed |= follow(purge, &tree->entries[i]);
	}
	if (!is_changed)
		return 0;
	hf_tree_keep(tree, is_kept);
	rc = hf_manifest_encode(manifest, &text, err);
	if (rc < 0)
		return rc;
	return hf_replace_write(purge->store->folder_fd[HF_STORE_SNAPSHOTS],
				manifest->name.text, 0600, text.data, text.len,
				err);
}

int hf_purge_manifests(struct hf_purge *purge, struct hf_error *err)
{
	return each(purge, rewrite, err);
}
