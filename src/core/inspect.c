/* SPDX-License-Identifier: MIT */
/*
 * Manifests first, since they say what the packs must hold; then the packs,
 * each read once; then journals and kept copies.  Only where contents are lost
 * the manifests are read a second time, to name what that costs.
 */
#include "core/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/inspect_run.h"
#include "core/scan.h"
#include "core/snapshot.h"
#include "core/snapshot_used.h"
#include "core/store_identity.h"

bool hf_inspect_has(const struct hf_inspect_run *run,
		    enum hf_store_folder folder)
{
	return run->store->folder_fd[folder] >= 0;
}

bool hf_inspect_has_failed(const struct hf_error *err)
{
	return err->sys_errno == ENOMEM || err->sys_errno == EMFILE ||
	       err->sys_errno == ENFILE;
}

void hf_inspect_add_bytes(struct hf_inspect_run *run, uint64_t bytes)
{
	run->counts.bytes += bytes;
	/* It ends with a count of its own: the store may grow meanwhile. */
	if (run->progress && run->counts.bytes < run->all_bytes)
		run->progress->update(run->progress->context, run->counts.bytes,
				      run->all_bytes, 0, 0);
}

void hf_inspect_tell(struct hf_inspect_run *run, const char *file,
		     const char *reason, const char *cost)
{
	const struct hf_store_damage damage = {
		.file = file,
		.reason = reason,
		.cost = cost,
	};

	run->counts.damaged++;
	run->sink->damaged(run->sink->context, &damage);
}

/* -- the directory itself ------------------------------------------------- */

static size_t count_folders(const struct hf_store *store)
{
	size_t count = 0;

	for (size_t i = 0; i < HF_STORE_FOLDERS; i++)
		count += store->folder_fd[i] >= 0;
	return count;
}

/* Whose it is; a directory with neither that nor a folder is no store. */
static int inspect_identity(struct hf_inspect_run *run, const char *root,
			    int root_fd, struct hf_error *err)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	static const char *const cost =
		"all else can be had; 'holdfast store adopt' writes it anew";
	const struct hf_store *const store = run->store;
	struct hf_error found;
	int rc;

	rc = hf_store_identity_read(store->dir_fd, store->path, &identity,
				    &found);
	if (rc == 0)
		return hf_store_identity_check(&identity, store->path, root,
					       root_fd, err);
	if (found.sys_errno == ENOENT && count_folders(store) == 0)
		return hf_fail(err, HF_ERR_NOTHING, "nothing is recorded yet");
	if (rc == HF_ERR_UNSUPPORTED || hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	hf_inspect_tell(
		run, HF_STORE_IDENTITY_NAME,
		found.sys_errno == ENOENT ? "it is missing" : found.text, cost);
	return 0;
}

static void inspect_folders(struct hf_inspect_run *run)
{
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		const enum hf_store_folder folder = (enum hf_store_folder)i;

		if (!hf_inspect_has(run, folder))
			hf_inspect_tell(run, hf_store_folder_name(folder),
					"it is no directory, or cannot be "
					"opened",
					"what was in it is lost");
	}
}

/* -- snapshots ------------------------------------------------------------ */

static void tell_snapshot(struct hf_inspect_run *run,
			  const struct hf_name *name, const char *reason)
{
	char file[sizeof(name->text) + 16];
	char cost[200];

	(void)snprintf(file, sizeof(file), "snapshots/%s", name->text);
	(void)snprintf(cost, sizeof(cost),
		       "snapshot %" PRIu64 " cannot be restored by holdfast; "
		       "its contents are in the packs, for tar",
		       hf_name_number(name));
	hf_inspect_tell(run, file, reason, cost);
}

/* 1 when it was loaded, 0 when it is damaged. */
static int load_snapshot(struct hf_inspect_run *run, const struct hf_name *name,
			 bool tells, struct hf_manifest *manifest,
			 struct hf_error *err)
{
	struct hf_error found;
	const int rc = hf_snapshot_load(run->store, name, manifest, &found);

	if (rc == 0)
		return 1;
	if (hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	if (tells)
		tell_snapshot(run, name, found.text);
	return 0;
}

static int gather_refs(struct hf_inspect_run *run, const struct hf_names *names,
		       struct hf_error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		struct hf_stat stat;
		int rc;

		rc = load_snapshot(run, &names->items[i], true, &manifest, err);
		if (rc > 0) {
			run->counts.snapshots++;
			rc = hf_refs_add_tree(&run->refs, &manifest.tree, err);
		}
		if (rc < 0)
			return rc;
		if (hf_file_stat_at(run->store->folder_fd[HF_STORE_SNAPSHOTS],
				    names->items[i].text, &stat) == 0)
			hf_inspect_add_bytes(run, stat.size);
	}
	hf_refs_sort(&run->refs);
	return 0;
}

/* The newest one that a session used must be there. */
static int check_used(struct hf_inspect_run *run, const struct hf_names *names,
		      struct hf_error *err)
{
	cleanup_names struct hf_names sessions = HF_NAMES_INIT;
	struct hf_snapshot_used used;
	struct hf_error found;
	int rc;

	if (!hf_inspect_has(run, HF_STORE_SESSIONS))
		return 0;
	rc = hf_journal_list(run->store, &sessions, &found);
	if (rc == 0)
		rc = hf_snapshot_find_used(run->store, &sessions, &used,
					   &found);
	if (rc < 0 && hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	/* The journals are looked at for themselves. */
	if (rc < 0)
		return 0;
	if (used.snapshot.text[0] != '\0' &&
	    (names->count == 0 ||
	     hf_name_number(&names->items[names->count - 1]) <
		     hf_name_number(&used.snapshot)))
		tell_snapshot(run, &used.snapshot, "it is missing");
	return 0;
}

static void tell_incomplete(struct hf_inspect_run *run,
			    const struct hf_manifest *manifest)
{
	struct hf_incomplete snapshot = {.snapshot = &manifest->name};

	for (size_t i = 0; i < manifest->tree.count; i++) {
		const struct hf_entry *const entry = &manifest->tree.entries[i];
		const struct hf_ref *ref;

		if (!hf_refs_wants(entry))
			continue;
		snapshot.files++;
		ref = hf_refs_find(&run->refs, entry);
		/* NULL: it was written since. */
		if (!ref || !ref->is_bad)
			continue;
		snapshot.lost++;
		if (snapshot.path_count < HF_INSPECT_PATHS)
			snapshot.paths[snapshot.path_count++] = entry->path;
	}
	if (snapshot.lost == 0)
		return;
	run->counts.incomplete++;
	run->sink->incomplete(run->sink->context, &snapshot);
}

/* What the contents that are lost cost. */
static int name_losses(struct hf_inspect_run *run, const struct hf_names *names,
		       struct hf_error *err)
{
	bool is_any = false;

	for (size_t i = 0; i < run->refs.count; i++)
		is_any |= run->refs.items[i].is_bad;
	for (size_t i = 0; is_any && i < names->count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		const int rc = load_snapshot(run, &names->items[i], false,
					     &manifest, err);

		if (rc < 0)
			return rc;
		if (rc > 0)
			tell_incomplete(run, &manifest);
	}
	return 0;
}

static int inspect_contents(struct hf_inspect_run *run, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc = 0;

	if (hf_inspect_has(run, HF_STORE_SNAPSHOTS))
		rc = hf_store_list(run->store, HF_STORE_SNAPSHOTS, "", &names,
				   err);
	if (rc == 0)
		rc = gather_refs(run, &names, err);
	if (rc == 0)
		rc = check_used(run, &names, err);
	if (rc == 0)
		rc = hf_inspect_packs(run, err);
	return rc < 0 ? rc : name_losses(run, &names, err);
}

/* ------------------------------------------------------------------------- */

static void end_progress(const struct hf_inspect_run *run)
{
	if (run->progress)
		run->progress->update(run->progress->context, run->all_bytes,
				      run->all_bytes, 0, 0);
}

static int inspect_once(const char *path, const char *root, int root_fd,
			bool locks, struct hf_inspect_run *run,
			struct hf_error *err)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;
	struct hf_error ignored;
	int rc;

	run->store = &store;
	run->sink->begin(run->sink->context);
	rc = hf_store_open_as_is(&store, path, err);
	if (rc < 0)
		return rc;
	/* Where it cannot be had (a store that is read only) nobody writes. */
	if (locks)
		rc = hf_store_lock(&store, true, &ignored);
	if (hf_store_size(&store, &run->all_bytes, &ignored) < 0)
		run->all_bytes = 0;
	rc = inspect_identity(run, root, root_fd, err);
	if (rc < 0)
		return rc;
	inspect_folders(run);
	rc = inspect_contents(run, err);
	if (rc == 0)
		rc = hf_inspect_sessions(run, err);
	end_progress(run);
	run->store = NULL;
	return rc;
}

int hf_inspect(const char *path, const char *root, int root_fd,
	       const struct hf_inspect_sink *sink, struct hf_progress *progress,
	       struct hf_inspect_counts *ret_counts, struct hf_error *err)
{
	for (int i = 0;; i++) {
		cleanup_refs struct hf_refs refs = HF_REFS_INIT;
		struct hf_inspect_run run = {
			.sink = sink,
			.progress = progress,
		};
		const int rc =
			inspect_once(path, root, root_fd, i > 0, &run, err);

		refs = run.refs;
		if (rc < 0)
			return rc;
		*ret_counts = run.counts;
		if (run.counts.damaged == 0 || i > 0)
			return 0;
	}
}
