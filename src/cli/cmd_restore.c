/* SPDX-License-Identifier: MIT */
/* holdfast restore: put entries back as a snapshot has them. */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "cli/versions.h"
#include "core/snapshot.h"

/* What is wanted, what there is, and the names that were typed. */
struct restoring {
	struct hf_cli_repair repair;
	struct hf_manifest manifest;
	struct hf_tree want; /* of the manifest, what the paths name */
	struct hf_tree now;
	struct hf_deltas deltas;
	char **paths; /* NULL-terminated; NULL for everything */
};

static void restoring_done(struct restoring *restoring)
{
	hf_deltas_done(&restoring->deltas);
	hf_tree_done(&restoring->now);
	hf_tree_done(&restoring->want);
	hf_manifest_done(&restoring->manifest);
	for (size_t i = 0;
	     restoring->paths != NULL && restoring->paths[i] != NULL; i++)
		free(restoring->paths[i]);
	hf_free_pointee(&restoring->paths);
	hf_cli_repair_close(&restoring->repair);
}

static const char *const *paths_of(const struct restoring *restoring)
{
	return (const char *const *)restoring->paths;
}

static int resolve_paths(struct restoring *restoring,
			 const struct hf_options *options, struct hf_error *err)
{
	const char *root = restoring->repair.project.root;
	int rc;

	if (options->word_count == 0)
		return 0;
	restoring->paths = calloc(options->word_count + 1, sizeof(char *));
	if (restoring->paths == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < options->word_count; i++) {
		rc = hf_paths_resolve(root, options->words[i],
				      &restoring->paths[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The names that a path stands for: itself and what lies beneath it. */
static bool is_named(const char *path, const char *named)
{
	return strcmp(path, named) == 0 || hf_path_is_beneath(path, named);
}

static bool has_name(const struct hf_tree *tree, const char *named)
{
	for (size_t i = 0; i < tree->count; i++)
		if (is_named(tree->entries[i].path, named))
			return true;
	return false;
}

/* Copies of what the paths name and of the directories above; all when there
 * are no paths. */
static int select_entries(const struct hf_tree *from, const char *const *paths,
			  struct hf_tree *to, struct hf_error *err)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct hf_entry *entry = &from->entries[i];
		struct hf_entry *copy;
		bool is_meant = false;
		bool is_above = false;

		for (size_t k = 0; paths[k] != NULL; k++) {
			is_meant |= is_named(entry->path, paths[k]);
			is_above |= hf_path_is_beneath(paths[k], entry->path);
		}
		if (!is_meant && !is_above)
			continue;
		copy = hf_tree_add_copy(to, entry);
		if (copy == NULL)
			return hf_fail_memory(err);
		/* Who names a path wants it, whatever a command may do. */
		if (is_meant && copy->role == HF_ROLE_ALLOWED)
			copy->role = HF_ROLE_PROTECTED;
	}
	return hf_tree_sort(to, err);
}

static int check_paths(const struct restoring *restoring,
		       const struct hf_tree *all_now, bool may_remove,
		       struct hf_error *err)
{
	const char *const *paths = paths_of(restoring);

	for (size_t i = 0; paths[i] != NULL; i++) {
		if (has_name(&restoring->manifest.tree, paths[i]) ||
		    (may_remove && has_name(all_now, paths[i])))
			continue;
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot restore '%s': it is not in snapshot %s",
			      HF_QUOTE(paths[i]),
			      restoring->manifest.name.text);
		return hf_fail_hint(err, "'holdfast log' lists the snapshots, "
					 "'--from SNAPSHOT' chooses one");
	}
	return 0;
}

/* Only what is named is read: the rest may be large. */
static int look_at_paths(struct restoring *restoring,
			 const struct hf_scan_options *scan,
			 struct hf_progress *progress, struct hf_error *err)
{
	cleanup_tree struct hf_tree all = HF_TREE_INIT;
	int rc;

	rc = hf_scan(scan, &all, NULL, err);
	if (rc < 0)
		return rc;
	rc = check_paths(restoring, &all,
			 restoring->repair.options->is_removing, err);
	if (rc < 0)
		return rc;
	rc = select_entries(&all, paths_of(restoring), &restoring->now, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_read(scan, &restoring->now, NULL, true, progress, err);
	if (rc < 0)
		return rc;
	return select_entries(&restoring->manifest.tree, paths_of(restoring),
			      &restoring->want, err);
}

static int look(struct restoring *restoring, struct hf_error *err)
{
	struct hf_scan_options scan =
		hf_project_scan_options(&restoring->repair.project, NULL);
	struct hf_progress *progress =
		hf_output_progress(restoring->repair.output, "comparing");
	const struct hf_tree *want = &restoring->manifest.tree;
	int rc;

	scan.before = want;
	scan.is_tolerant = true;
	if (restoring->paths == NULL) {
		rc = hf_snapshot_look(&scan, want, progress, &restoring->now,
				      err);
	} else {
		rc = look_at_paths(restoring, &scan, progress, err);
		want = &restoring->want;
	}
	if (rc < 0)
		return rc;
	return hf_compare(want, &restoring->now, &restoring->deltas, err);
}

/* What a restore leaves as it is. */
static void count_left(const struct restoring *restoring,
		       struct hf_cli_repair_words *words)
{
	const struct hf_deltas *deltas = &restoring->deltas;
	const bool is_removing = restoring->repair.options->is_removing;

	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *delta = &deltas->items[i];

		if (hf_delta_entry(delta)->role == HF_ROLE_ALLOWED)
			words->allowed++;
		else if (delta->change & HF_CHANGE_ADDED && !is_removing)
			words->additions++;
	}
}

/* The tree is as wanted: say so, or what else there is to choose from. */
static int say_nothing_differs(struct restoring *restoring,
			       const struct hf_cli_repair_words *words,
			       int *ret_status, struct hf_error *err)
{
	struct hf_cli_repair *repair = &restoring->repair;
	size_t count = 0;
	int rc;

	*ret_status = HF_STATUS_DONE;
	if (restoring->paths != NULL && repair->options->from == NULL) {
		rc = hf_versions_list(repair, paths_of(restoring),
				      &restoring->now, &count, err);
		if (rc < 0)
			return rc;
	}
	if (count > 0)
		*ret_status = HF_STATUS_USAGE;
	else if (!repair->options->is_quiet && !repair->options->is_json &&
		 words->allowed == 0)
		hf_output_say(repair->output,
			      "nothing differs from snapshot "
			      "%s",
			      restoring->manifest.name.text);
	return 0;
}

static int say_or_preview(struct restoring *restoring,
			  const struct hf_plan *plan,
			  const struct hf_cli_repair_words *words,
			  int *ret_status, struct hf_error *err)
{
	struct hf_cli_repair *repair = &restoring->repair;
	int rc;

	if (words->is_settling) {
		rc = hf_cli_repair_settle(repair, err);
		if (rc < 0)
			return rc;
	}
	rc = say_nothing_differs(restoring, words, ret_status, err);
	if (rc < 0)
		return rc;
	/* An empty plan: JSON, and what else there is. */
	return hf_cli_repair_preview(repair, plan, words, err);
}

static int carry_out(struct restoring *restoring, struct hf_plan *plan,
		     const struct hf_cli_repair_words *words, int *ret_status,
		     struct hf_error *err)
{
	struct hf_cli_repair *repair = &restoring->repair;
	bool has_work = false;

	for (size_t i = 0; i < plan->count; i++)
		has_work |= plan->steps[i].change != 0;
	if (!has_work)
		return say_or_preview(restoring, plan, words, ret_status, err);
	if (repair->options->is_dry_run)
		return hf_cli_repair_preview(repair, plan, words, err);
	return hf_cli_repair_apply(repair, plan, words, ret_status, err);
}

static int restore(struct restoring *restoring, struct hf_output *output,
		   const struct hf_options *options, int *ret_status,
		   struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	struct hf_cli_repair_words words = { .kind = "restore" };
	struct hf_plan_options plan_options = {
		.remove_additions = options->is_removing,
	};
	int rc;

	rc = hf_cli_repair_open(&restoring->repair, "restore", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	/* What is not certain, or has nobody to judge it, is put back below, since a
	 * person asks for it. */
	rc = hf_cli_repair_recover(&restoring->repair, "restore", err);
	if (rc < 0 && rc != HF_ERR_UNDECIDED && rc != HF_ERR_CORRUPT)
		return rc;
	rc = hf_snapshot_load_typed(&restoring->repair.project.store,
				    options->from, &restoring->manifest, err);
	if (rc < 0)
		return rc;
	rc = resolve_paths(restoring, options, err);
	if (rc < 0)
		return rc;
	rc = look(restoring, err);
	if (rc < 0)
		return rc;
	plan_options.paths = paths_of(restoring);
	rc = hf_restore_plan(&restoring->deltas, &restoring->manifest.tree,
			     &plan_options, &plan, err);
	if (rc < 0)
		return rc;
	words.snapshot = restoring->manifest.name.text;
	words.argv = options->word_count == 0 ? NULL : options->words;
	words.is_settling = restoring->paths == NULL && !options->is_dry_run;
	count_left(restoring, &words);
	return carry_out(restoring, &plan, &words, ret_status, err);
}

int hf_cmd_restore(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(restoring_done)
	struct restoring restoring = {
		.repair = HF_CLI_REPAIR_INIT,
		.manifest = HF_MANIFEST_INIT,
		.want = HF_TREE_INIT,
		.now = HF_TREE_INIT,
		.deltas = HF_DELTAS_INIT,
	};
	struct hf_error err = { 0 };
	int status = HF_STATUS_DONE;

	if (restore(&restoring, output, options, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
