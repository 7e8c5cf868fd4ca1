/* SPDX-License-Identifier: MIT */
/* holdfast restore: put entries back as a snapshot has them. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "cli/restore_to.h"
#include "cli/selection.h"
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
	hf_selection_free(&restoring->paths);
	hf_cli_repair_close(&restoring->repair);
}

static const char *const *paths_of(const struct restoring *restoring)
{
	return (const char *const *)restoring->paths;
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
	rc = hf_selection_check(
		paths_of(restoring), &restoring->manifest,
		restoring->repair.options->is_removing ? &all : NULL, err);
	if (rc < 0)
		return rc;
	rc = hf_selection_copy(&all, paths_of(restoring), &restoring->now, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_read(scan, &restoring->now, NULL, true, progress, err);
	if (rc < 0)
		return rc;
	return hf_selection_copy(&restoring->manifest.tree, paths_of(restoring),
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
	rc = hf_selection_resolve(restoring->repair.project.root,
				  options->words, &restoring->paths, err);
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

	if (options->to != NULL)
		return hf_cli_restore_to(options, output);
	if (restore(&restoring, output, options, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
