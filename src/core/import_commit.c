/* SPDX-License-Identifier: MIT */
/* Name imported snapshots so that the newest one stays the newest. */
#include "core/import_commit.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/pack_lost.h"
#include "core/snapshot.h"
#include "platform/system.h"

void hf_import_commit_done(struct hf_import_commit *commit)
{
	for (size_t i = 0; commit->files && i < commit->count; i++)
		hf_replace_done(&commit->files[i]);
	hf_free_pointee(&commit->files);
	hf_free_pointee(&commit->names);
	hf_manifest_done(&commit->newest);
}

/* 0 with no name when nothing is recorded yet. */
static int load_newest(const struct hf_store *store,
		       struct hf_manifest *ret_manifest, struct hf_error *err)
{
	const int rc = hf_snapshot_load_newest(store, ret_manifest, err);

	return rc == HF_ERR_NOTHING ? 0 : rc;
}

int hf_import_last_pack(const struct hf_store *store, struct hf_packs *packs,
			struct hf_error *err)
{
	cleanup_manifest struct hf_manifest newest = HF_MANIFEST_INIT;
	int rc;

	rc = load_newest(store, &newest, err);
	return rc < 0 ? rc : hf_packs_add_tree(packs, &newest.tree, err);
}

static int allot_names(struct hf_import_commit *commit, struct hf_error *err)
{
	const uint64_t number = commit->newest.name.text[0] == '\0'
					? 0
					: hf_name_number(&commit->newest.name);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < commit->count; i++)
		rc = hf_store_name_behind(commit->store,
					  number + commit->count - 1 - i,
					  &commit->names[i], err);
	if (rc == 0 && number > 0)
		rc = hf_store_name_behind(commit->store, number + commit->count,
					  &commit->newest.name, err);
	return rc;
}

int hf_import_commit_begin(struct hf_import_commit *commit,
			   const struct hf_store *store, size_t count,
			   struct hf_error *err)
{
	int rc;

	commit->store = store;
	commit->names = calloc(count, sizeof(*commit->names));
	commit->files = calloc(count, sizeof(*commit->files));
	if (!commit->names || !commit->files)
		return hf_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		commit->files[i] = (struct hf_replace)HF_REPLACE_INIT;
	commit->count = count;
	rc = load_newest(store, &commit->newest, err);
	return rc < 0 ? rc : allot_names(commit, err);
}

static int encode(const struct hf_store *store, struct hf_manifest *manifest,
		  const struct hf_name *name, struct hf_buffer *text,
		  struct hf_error *err)
{
	manifest->name = *name;
	manifest->created_ns = hf_system_time_ns();
	free(manifest->root);
	manifest->root = strdup(store->root);
	if (!manifest->root)
		return hf_fail_memory(err);
	return hf_manifest_encode(manifest, text, err);
}

int hf_import_commit_add(struct hf_import_commit *commit,
			 struct hf_manifest *manifest, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const struct hf_name *const name = &commit->names[commit->added];
	struct hf_replace *const file = &commit->files[commit->added];
	int rc;

	rc = encode(commit->store, manifest, name, &text, err);
	if (rc == 0)
		rc = hf_replace_begin(
			file, commit->store->folder_fd[HF_STORE_SNAPSHOTS],
			name->text, 0600, err);
	if (rc < 0)
		return rc;
	rc = hf_file_write(file->fd, text.data, text.len);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot write snapshot '%s'",
				      name->text);
	commit->added++;
	return hf_replace_flush(file, err);
}

static int write_newest(struct hf_import_commit *commit, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const struct hf_name name = commit->newest.name;
	int rc;

	if (name.text[0] == '\0')
		return 0;
	rc = encode(commit->store, &commit->newest, &name, &text, err);
	if (rc < 0)
		return rc;
	return hf_replace_write(commit->store->folder_fd[HF_STORE_SNAPSHOTS],
				name.text, 0600, text.data, text.len, err);
}

int hf_import_commit(struct hf_import_commit *commit, struct hf_error *err)
{
	int rc = write_newest(commit, err);

	for (size_t i = 0; rc == 0 && i < commit->count; i++)
		rc = hf_replace_rename(&commit->files[i], err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(commit->store->folder_fd[HF_STORE_SNAPSHOTS]);
	return rc < 0 ? hf_fail_system(err, rc,
				       "cannot flush the snapshots of '%s'",
				       HF_QUOTE(commit->store->path))
		      : 0;
}
