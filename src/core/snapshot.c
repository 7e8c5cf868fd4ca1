/* SPDX-License-Identifier: MIT */
/* Record the tree, or say what it is now. */
#include "core/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/archiver.h"
#include "core/policy.h"
#include "core/replace.h"
#include "core/scan_side.h"
#include "core/snapshot_load.h"
#include "platform/system.h"

/*
 * When so much had to be read again although nothing differs, the stat data in
 * the manifest are renewed: the next run then reads nothing (git does the same
 * with its index).
 */
#define STALE_ENTRIES 64
#define STALE_BYTES   ((uint64_t)1 << 20)

/* -- what belongs in a manifest ------------------------------------------- */

/* Mark the entries that literal patterns name: they stay, absent or not. */
static void mark_literals(const struct hf_tree *tree,
			  const struct hf_patterns *patterns, bool *is_literal)
{
	size_t position = 0;
	const char *path;
	const char *rule;

	while (hf_patterns_literal(patterns, &position, &path, &rule)) {
		const struct hf_entry *const entry = hf_tree_find(tree, path);

		if (entry)
			is_literal[entry - tree->entries] = true;
	}
}

/* Keep what is marked, and the directories that lead to it. */
static void keep_marked(struct hf_tree *tree, bool *is_kept)
{
	const char *next = NULL;

	/* What lies in a directory stands right behind it. */
	for (size_t i = tree->count; i-- > 0;) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->role == HF_ROLE_ANCESTOR)
			is_kept[i] |=
				next && hf_path_is_beneath(next, entry->path);
		if (is_kept[i])
			next = entry->path;
	}
	hf_tree_keep(tree, is_kept);
}

/*
 * Forget what was looked at only since the previous snapshot had it: entries
 * that are gone, and directories that lead to nothing any more.
 */
static int prune(struct hf_tree *tree, const struct hf_patterns *patterns,
		 struct hf_error *err)
{
	cleanup_free bool *is_kept = calloc(tree->count + 1, sizeof(*is_kept));

	if (!is_kept)
		return hf_fail_memory(err);
	mark_literals(tree, patterns, is_kept);
	for (size_t i = 0; i < tree->count; i++)
		is_kept[i] |= tree->entries[i].role != HF_ROLE_ANCESTOR &&
			      tree->entries[i].stat.kind != HF_KIND_ABSENT;
	keep_marked(tree, is_kept);
	return 0;
}

/* Does the policy name the entry, or the file that it is a side file of? */
static bool is_named(const struct hf_patterns *patterns,
		     const struct hf_entry *entry)
{
	const char *const name = hf_path_name(entry->path);
	const size_t base_len = hf_scan_side_base_len(name);
	char path[HF_PATH_MAX];

	if (hf_patterns_match_past(patterns, entry->path,
				   hf_scan_skipped_len(entry->path),
				   entry->stat.kind == HF_KIND_DIRECTORY))
		return true;
	if (entry->role == HF_ROLE_ANCESTOR || base_len == 0)
		return false;
	(void)snprintf(path, sizeof(path), "%.*s",
		       (int)((size_t)(name - entry->path) + base_len),
		       entry->path);
	return hf_patterns_match_past(patterns, path, hf_scan_skipped_len(path),
				      false);
}

/*
 * Forget of an earlier snapshot what the policy does not name any more: that is
 * neither looked at nor drift.
 */
static int forget_unnamed(struct hf_tree *tree,
			  const struct hf_patterns *patterns,
			  struct hf_error *err)
{
	cleanup_free bool *is_kept = calloc(tree->count + 1, sizeof(*is_kept));

	if (!is_kept)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++)
		is_kept[i] = tree->entries[i].role != HF_ROLE_ANCESTOR &&
			     is_named(patterns, &tree->entries[i]);
	keep_marked(tree, is_kept);
	return 0;
}

/* Would the manifest say the same, stat data aside?  Content was compared. */
static bool has_same_entries(const struct hf_tree *a, const struct hf_tree *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct hf_entry *const left = &a->entries[i];
		const struct hf_entry *const right = &b->entries[i];

		if (left->role != right->role ||
		    strcmp(left->path, right->path) != 0)
			return false;
	}
	return true;
}

static char *format_patterns(const struct hf_patterns *patterns)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	for (size_t i = 0; i < hf_patterns_count(patterns); i++) {
		const char *const pattern = hf_patterns_text(patterns, i);

		hf_buffer_add_quoted(&text, pattern, strlen(pattern));
		hf_buffer_add(&text, "\n", 1);
	}
	return hf_buffer_take(&text);
}

bool hf_snapshot_has_patterns(const struct hf_manifest *manifest,
			      const struct hf_policy *policy)
{
	cleanup_free char *patterns = format_patterns(policy->protect);

	return patterns && strcmp(patterns, manifest->patterns) == 0;
}

/* -- taking --------------------------------------------------------------- */

/* What hf_snapshot_take() works with. */
struct taking {
	const struct hf_store *store;
	const struct hf_snapshot_options *options;
	const struct hf_manifest *previous; /* loaded; NULL when none */
	struct hf_manifest loaded;
	struct hf_manifest manifest;
	struct hf_snapshot_result result;
	bool is_stale;
	bool is_changed;
};

static int decide(const struct taking *taking, struct hf_error *err)
{
	cleanup_deltas struct hf_deltas drift = HF_DELTAS_INIT;
	const struct hf_snapshot_options *const options = taking->options;
	const struct hf_tree *const tree = &taking->manifest.tree;
	int rc;

	if (taking->previous) {
		rc = hf_compare(&taking->previous->tree, tree, &drift, err);
		if (rc < 0)
			return rc;
	}
	if (options->decide) {
		rc = options->decide(options->context, tree, &drift, err);
		if (rc < 0)
			return rc;
	}
	return drift.count > 0 ? 1 : 0;
}

/* How much the cache did not know. */
static bool is_stale(const struct hf_tree *tree)
{
	size_t entries = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->stat.kind != HF_KIND_FILE || entry->has_hash ||
		    entry->role == HF_ROLE_SIDE_CACHE)
			continue;
		entries++;
		bytes += entry->stat.size;
	}
	return entries > STALE_ENTRIES || bytes > STALE_BYTES;
}

/* What the manifest says besides its entries. */
static int describe(struct taking *taking, struct hf_error *err)
{
	const struct hf_scan_options *const scan = taking->options->scan;
	struct hf_manifest *const manifest = &taking->manifest;

	manifest->root = strdup(scan->root);
	manifest->patterns = format_patterns(scan->policy->protect);
	if (!manifest->root || !manifest->patterns)
		return hf_fail_memory(err);
	return 0;
}

/* What the caller does not take is what the previous manifest says. */
static int keep_recorded(struct taking *taking, struct hf_error *err)
{
	const struct hf_snapshot_options *const options = taking->options;
	const struct hf_tree *const previous = &taking->loaded.tree;
	struct hf_tree *const tree = &taking->manifest.tree;
	cleanup_tree struct hf_tree kept = HF_TREE_INIT;

	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *entry = &tree->entries[i];
		const struct hf_entry *const before =
			hf_tree_find(previous, entry->path);
		const bool is_taken =
			entry->role != HF_ROLE_ANCESTOR &&
			options->is_taken(options->context, entry->path);

		if (!is_taken && before)
			entry = before;
		else if (!is_taken && entry->role != HF_ROLE_ANCESTOR)
			continue;
		if (!hf_tree_add_copy(&kept, entry))
			return hf_fail_memory(err);
	}
	hf_tree_done(tree);
	*tree = kept;
	kept = (struct hf_tree)HF_TREE_INIT;
	return hf_tree_sort(tree, err);
}

/* Most of the scan is done while a second thread reads the old manifest. */
static int load_and_scan(struct taking *taking, struct hf_error *err)
{
	cleanup_snapshot_loading struct hf_snapshot_loading *loading = NULL;
	struct hf_scan_options options = *taking->options->scan;
	struct hf_tree *const tree = &taking->manifest.tree;
	struct hf_error unloaded;
	int rc;

	rc = hf_snapshot_load_begin(
		taking->store, taking->options->sessions,
		taking->options->may_be_gone ? &taking->result.gone : NULL,
		&loading, &unloaded);
	if (rc < 0 && rc != HF_ERR_NOTHING) {
		*err = unloaded;
		return rc;
	}
	rc = hf_scan_begin(&options, tree, taking->options->notes, err);
	if (rc < 0)
		return rc;
	if (loading) {
		rc = hf_snapshot_load_finish(&loading, &taking->loaded, err);
		if (rc < 0)
			return rc;
		rc = hf_pack_forget_lost(taking->store, &taking->loaded.tree,
					 &taking->result.lost, err);
		if (rc < 0)
			return rc;
		taking->previous = &taking->loaded;
		taking->result.has_previous = true;
		taking->result.protected_before =
			hf_tree_protected_count(&taking->loaded.tree);
		/* What the same patterns have named they name still. */
		if (strcmp(taking->loaded.patterns,
			   taking->manifest.patterns) != 0)
			rc = forget_unnamed(&taking->loaded.tree,
					    options.policy->protect, err);
		if (rc < 0)
			return rc;
		options.before = &taking->loaded.tree;
	}
	rc = hf_scan_finish(&options, tree, taking->options->notes, err);
	if (rc < 0)
		return rc;
	if (taking->previous && taking->options->is_taken) {
		rc = keep_recorded(taking, err);
		if (rc < 0)
			return rc;
	}
	if (taking->previous)
		(void)hf_scan_use_cache(tree, &taking->loaded.tree);
	/* Where the contents of a lost pack lie now must be written down. */
	taking->is_stale = is_stale(tree) || taking->result.lost.count > 0;
	return 0;
}

/* Read what is not known, archive what is new, ask whether to go on. */
static int read_and_archive(struct taking *taking, struct hf_error *err)
{
	const struct hf_snapshot_options *const options = taking->options;
	const struct hf_manifest *const previous = taking->previous;
	cleanup_archiver struct hf_archiver *archiver = NULL;
	struct hf_scan_sink sink;
	int rc;

	if (!previous) {
		rc = decide(taking, err);
		if (rc < 0)
			return rc;
		taking->is_changed = true;
	}
	rc = hf_archiver_new(taking->store, previous ? &previous->tree : NULL,
			     taking->result.lost.last, options->notes,
			     &archiver, err);
	if (rc < 0)
		return rc;
	sink = hf_archiver_sink(archiver);
	rc = hf_scan_read(options->scan, &taking->manifest.tree, &sink, false,
			  options->progress, err);
	if (rc < 0)
		return rc;
	if (previous) {
		rc = decide(taking, err);
		if (rc < 0)
			return rc;
		taking->is_changed = rc > 0;
	}
	return hf_archiver_commit(archiver, &taking->result.archived,
				  &taking->result.archived_bytes, err);
}

static int write_manifest(const struct taking *taking, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	rc = hf_manifest_encode(&taking->manifest, &text, err);
	if (rc < 0)
		return rc;
	return hf_replace_write(taking->store->folder_fd[HF_STORE_SNAPSHOTS],
				taking->manifest.name.text, 0600, text.data,
				text.len, err);
}

/* Name the manifest: anew, or as the previous one. */
static int finish(struct taking *taking, struct hf_error *err)
{
	const struct hf_manifest *const previous = taking->previous;
	struct hf_manifest *const manifest = &taking->manifest;
	const bool is_gone = taking->result.gone.snapshot.text[0] != '\0';
	int rc;

	rc = prune(&manifest->tree, taking->options->scan->policy->protect,
		   err);
	if (rc < 0)
		return rc;
	if (!taking->is_changed && previous && !is_gone &&
	    strcmp(previous->patterns, manifest->patterns) == 0 &&
	    has_same_entries(&previous->tree, &manifest->tree)) {
		manifest->name = previous->name;
		manifest->created_ns = previous->created_ns;
		return taking->is_stale ? write_manifest(taking, err) : 0;
	}
	taking->result.is_new = true;
	manifest->created_ns = hf_system_time_ns();
	/* Newer than what is gone, or that would be missed again. */
	rc = hf_store_next_name_after(
		taking->store, HF_STORE_SNAPSHOTS,
		is_gone ? hf_name_number(&taking->result.gone.snapshot) : 0,
		&manifest->name, err);
	if (rc < 0)
		return rc;
	return write_manifest(taking, err);
}

int hf_snapshot_take(const struct hf_store *store,
		     const struct hf_snapshot_options *options,
		     struct hf_manifest *ret_previous,
		     struct hf_manifest *ret_manifest,
		     struct hf_snapshot_result *ret_result,
		     struct hf_error *err)
{
	struct taking taking = {
		.store = store,
		.options = options,
		.loaded = HF_MANIFEST_INIT,
		.manifest = HF_MANIFEST_INIT,
	};
	int rc;

	rc = describe(&taking, err);
	if (rc == 0)
		rc = load_and_scan(&taking, err);
	if (rc == 0)
		rc = read_and_archive(&taking, err);
	if (rc == 0)
		rc = finish(&taking, err);
	if (rc < 0) {
		hf_manifest_done(&taking.loaded);
		hf_manifest_done(&taking.manifest);
		return rc;
	}
	if (ret_previous)
		*ret_previous = taking.loaded;
	else
		hf_manifest_done(&taking.loaded);
	*ret_manifest = taking.manifest;
	*ret_result = taking.result;
	return 0;
}

/* -- looking -------------------------------------------------------------- */

int hf_snapshot_look(const struct hf_scan_options *scan_options,
		     const struct hf_tree *before, struct hf_progress *progress,
		     struct hf_tree *ret_tree, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_scan_options options = *scan_options;
	int rc;

	options.before = before;
	options.is_tolerant = true;
	rc = hf_scan(&options, &tree, NULL, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_side_files(&options, before, &tree, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_read(&options, &tree, NULL, true, progress, err);
	if (rc < 0)
		return rc;
	*ret_tree = tree;
	tree = (struct hf_tree)HF_TREE_INIT;
	return 0;
}

int hf_snapshot_compare(const struct hf_store *store, const char *typed,
			const struct hf_scan_options *scan,
			struct hf_progress *progress,
			struct hf_manifest *ret_manifest,
			struct hf_tree *ret_now, struct hf_deltas *ret_deltas,
			struct hf_error *err)
{
	int rc;

	rc = hf_snapshot_load_typed(store, typed, ret_manifest, err);
	if (rc < 0)
		return rc;
	rc = hf_snapshot_look(scan, &ret_manifest->tree, progress, ret_now,
			      err);
	if (rc < 0)
		return rc;
	return hf_compare(&ret_manifest->tree, ret_now, ret_deltas, err);
}
