/* SPDX-License-Identifier: MIT */
/* Find both sides of a comparison, and what differs. */
#include "cli/comparison.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/diff_words.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "core/fetch.h"
#include "core/moment.h"
#include "core/snapshot.h"
#include "core/snapshot_peek.h"

void hf_comparison_done(struct hf_comparison *comparison)
{
	hf_deltas_done(&comparison->deltas);
	hf_tree_done(&comparison->before);
	hf_tree_done(&comparison->after);
	for (size_t i = 0;
	     comparison->named != NULL && comparison->named[i] != NULL; i++)
		free(comparison->named[i]);
	hf_free_pointee(&comparison->named);
	hf_free_pointee(&comparison->paths);
	hf_project_done(&comparison->project);
}

bool hf_comparison_is_named(const struct hf_comparison *comparison,
			    const char *path)
{
	for (size_t i = 0;
	     comparison->named != NULL && comparison->named[i] != NULL; i++)
		if (strcmp(comparison->named[i], path) == 0)
			return true;
	return false;
}

/* -- words ------------------------------------------------------------------
 */

/* Does something stand there, or is it recorded in the newest snapshot? */
static bool is_path(void *context, const char *word)
{
	struct hf_comparison *const comparison = context;
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_free char *path = NULL;
	cleanup_fd int dir_fd = -1;
	const char *paths[] = {NULL, NULL};
	struct hf_error ignored;
	struct hf_name newest;
	struct hf_stat stat;
	const char *name;

	if (hf_paths_resolve(comparison->project.root, word, &path, &ignored) <
	    0)
		return false;
	dir_fd = hf_scan_open_parent(comparison->project.root_fd, path, &name);
	if (dir_fd >= 0 && hf_file_stat_at(dir_fd, name, &stat) == 0)
		return true;
	paths[0] = path;
	return hf_snapshot_find_newest(&comparison->project.store, &newest,
				       &ignored) == 0 &&
	       hf_snapshot_peek(&comparison->project.store, &newest, paths,
				NULL, &tree, &ignored) == 0 &&
	       tree.count > 0;
}

/* Each once, and none beneath another: an entry must not come twice. */
static bool is_covered(char *const *named, size_t index)
{
	for (size_t i = 0; named[i] != NULL; i++)
		if (i != index &&
		    (hf_path_is_beneath(named[index], named[i]) ||
		     (i < index && strcmp(named[index], named[i]) == 0)))
			return true;
	return false;
}

static int resolve_paths(struct hf_comparison *comparison,
			 const char *const *words, size_t count,
			 struct hf_error *err)
{
	char **const named = calloc(count + 1, sizeof(char *));
	size_t kept = 0;

	comparison->named = named;
	comparison->paths = calloc(count + 1, sizeof(char *));
	if (named == NULL || comparison->paths == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		const int rc = hf_paths_resolve(comparison->project.root,
						words[i], &named[i], err);

		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < count; i++)
		if (!is_covered(named, i))
			comparison->paths[kept++] = named[i];
	return 0;
}

static int find_snapshots(struct hf_comparison *comparison,
			  const struct hf_options *options, size_t count,
			  struct hf_output *output, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	const char *const first = count > 0 ? options->words[0] : NULL;
	int rc;

	rc = hf_moment_find(&comparison->project.store, first,
			    comparison->paths, &notes, &comparison->from, err);
	if (rc == 0 && count > 1)
		rc = hf_moment_find(&comparison->project.store,
				    options->words[1], comparison->paths,
				    &notes, &comparison->to, err);
	if (!options->is_quiet)
		hf_output_notes(output, notes.data);
	return rc;
}

static int understand(struct hf_comparison *comparison,
		      const struct hf_options *options,
		      struct hf_output *output, struct hf_error *err)
{
	const struct hf_diff_words words = {
		.words = options->words,
		.count = options->word_count,
		.has_dashes = options->has_dashes,
		.before_dashes = options->before_dashes,
	};
	size_t count;
	int rc;

	rc = hf_diff_words_split(&words, is_path, comparison, &count, err);
	if (rc == 0 && count < options->word_count)
		rc = resolve_paths(comparison, options->words + count,
				   options->word_count - count, err);
	return rc < 0 ? rc
		      : find_snapshots(comparison, options, count, output, err);
}

/* -- sides ------------------------------------------------------------------
 */

static int load_snapshot(const struct hf_comparison *comparison,
			 const struct hf_name *name, struct hf_tree *tree,
			 struct hf_error *err)
{
	const struct hf_store *const store = &comparison->project.store;
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	int rc;

	if (comparison->paths != NULL) {
		rc = hf_snapshot_prove(store, name, comparison->paths, tree,
				       err);
		return rc < 0 ? rc : hf_tree_sort(tree, err);
	}
	rc = hf_snapshot_load(store, name, &manifest, err);
	if (rc < 0)
		return rc;
	*tree = manifest.tree;
	manifest.tree = (struct hf_tree)HF_TREE_INIT;
	hf_manifest_done(&manifest);
	return 0;
}

/* What lies elsewhere need not be read. */
static int keep_named(const struct hf_comparison *comparison,
		      struct hf_tree *tree, struct hf_error *err)
{
	cleanup_free bool *is_kept = calloc(tree->count + 1, sizeof(bool));

	if (is_kept == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++)
		for (size_t k = 0; comparison->paths[k] != NULL; k++)
			is_kept[i] |= strcmp(tree->entries[i].path,
					     comparison->paths[k]) == 0 ||
				      hf_path_is_beneath(tree->entries[i].path,
							 comparison->paths[k]);
	hf_tree_keep(tree, is_kept);
	return 0;
}

static int load_tree(struct hf_comparison *comparison, struct hf_output *output,
		     struct hf_error *err)
{
	struct hf_scan_options scan =
		hf_project_scan_options(&comparison->project, NULL);
	struct hf_tree *const tree = &comparison->after;
	int rc;

	scan.is_tolerant = true;
	scan.before = &comparison->before;
	rc = hf_scan(&scan, tree, NULL, err);
	if (rc == 0 && comparison->paths != NULL)
		rc = keep_named(comparison, tree, err);
	if (rc < 0)
		return rc;
	(void)hf_scan_use_cache(tree, &comparison->before);
	return hf_scan_read(&scan, tree, NULL, true,
			    hf_output_progress(output, "comparing"), err);
}

static bool has(const struct hf_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++)
		if (strcmp(tree->entries[i].path, path) == 0 ||
		    hf_path_is_beneath(tree->entries[i].path, path))
			return true;
	return false;
}

static int check_paths(const struct hf_comparison *comparison,
		       struct hf_error *err)
{
	for (size_t i = 0;
	     comparison->paths != NULL && comparison->paths[i] != NULL; i++) {
		const char *const path = comparison->paths[i];

		if (has(&comparison->before, path) ||
		    has(&comparison->after, path))
			continue;
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot compare '%s': it is neither in snapshot "
			      "%s nor in %s%s",
			      HF_QUOTE(path), comparison->from.text,
			      comparison->to.text[0] == '\0'
				      ? "what is protected"
				      : "snapshot ",
			      comparison->to.text);
		return hf_fail_hint(err, "'holdfast log' lists the snapshots, "
					 "'holdfast show N' what one holds");
	}
	return 0;
}

int hf_comparison_load(struct hf_comparison *comparison,
		       const struct hf_options *options,
		       struct hf_output *output, struct hf_error *err)
{
	int rc;

	rc = hf_command_open(&comparison->project, options, HF_STORE_MUST_EXIST,
			     err);
	if (rc == 0)
		rc = understand(comparison, options, output, err);
	if (rc < 0)
		return rc;
	if (comparison->to.text[0] == '\0')
		hf_cli_recover(&comparison->project, output);
	rc = load_snapshot(comparison, &comparison->from, &comparison->before,
			   err);
	if (rc < 0)
		return rc;
	rc = comparison->to.text[0] == '\0'
		     ? load_tree(comparison, output, err)
		     : load_snapshot(comparison, &comparison->to,
				     &comparison->after, err);
	if (rc == 0)
		rc = check_paths(comparison, err);
	return rc < 0 ? rc
		      : hf_compare(&comparison->before, &comparison->after,
				   &comparison->deltas, err);
}

/* -- contents ---------------------------------------------------------------
 */

static int read_file(const struct hf_comparison *comparison,
		     const struct hf_entry *entry, size_t max,
		     struct hf_buffer *data, struct hf_error *err)
{
	const char *name;
	cleanup_fd int dir_fd = hf_scan_open_parent(comparison->project.root_fd,
						    entry->path, &name);
	cleanup_fd int fd = -1;
	int rc = dir_fd;

	if (rc >= 0) {
		fd = hf_file_open_read_at(dir_fd, name);
		rc = fd;
	}
	if (rc >= 0)
		rc = hf_file_read_all(fd, max, data);
	return rc < 0 ? hf_fail_system(err, rc, "cannot read '%s'",
				       HF_QUOTE(entry->path))
		      : 0;
}

int hf_comparison_read(const struct hf_comparison *comparison,
		       const struct hf_entry *entry, bool is_after, size_t max,
		       struct hf_buffer *ret_data, struct hf_error *err)
{
	if (entry->stat.size > max)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot read '%s': it is too large",
			       HF_QUOTE(entry->path));
	if (is_after && comparison->to.text[0] == '\0')
		return read_file(comparison, entry, max, ret_data, err);
	return hf_fetch(&comparison->project.store, entry, ret_data, err);
}
