/* SPDX-License-Identifier: MIT */
/* holdfast restore: put entries back as a snapshot has them. */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "cli/restore_choice.h"
#include "cli/restore_to.h"
#include "cli/selection.h"
#include "core/moment.h"
#include "core/snapshot.h"
#include "guard/repair.h"

/* What is wanted, what there is, and the names that were typed. */
struct restoring {
	struct hf_cli_repair repair;
	struct hf_manifest manifest;
	struct hf_restore_choice choice;
	struct hf_tree want; /* what the paths name, as it is to be */
	struct hf_tree now;
	struct hf_deltas deltas;
	char **paths; /* NULL-terminated; NULL for everything */
};

static void restoring_done(struct restoring *restoring)
{
	hf_deltas_done(&restoring->deltas);
	hf_tree_done(&restoring->now);
	hf_tree_done(&restoring->want);
	hf_restore_choice_done(&restoring->choice);
	hf_manifest_done(&restoring->manifest);
	hf_selection_free(&restoring->paths);
	hf_cli_repair_close(&restoring->repair);
}

static const char *const *paths_of(const struct restoring *restoring)
{
	return (const char *const *)restoring->paths;
}

/* A path that the policy does not name any more stands there all the same. */
static int look_at_rest(struct restoring *restoring, struct hf_error *err)
{
	const char *const *paths = paths_of(restoring);
	int rc = hf_tree_sort(&restoring->now, err);

	for (size_t i = 0; rc == 0 && paths[i] != NULL; i++) {
		if (hf_tree_find(&restoring->now, paths[i]) != NULL)
			continue;
		rc = hf_repair_look_at(&restoring->repair.project, paths[i],
				       &restoring->now, err);
		if (rc == 0)
			rc = hf_tree_sort(&restoring->now, err);
	}
	return rc;
}

/* Of the newest snapshot, but where something older was chosen. */
static int want_chosen(struct restoring *restoring, struct hf_error *err)
{
	struct hf_tree *const want = &restoring->want;
	struct hf_tree *const chosen = &restoring->choice.want;
	cleanup_free bool *is_kept = calloc(want->count + 1, sizeof(*is_kept));

	if (is_kept == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < want->count; i++)
		is_kept[i] =
			want->entries[i].role == HF_ROLE_ANCESTOR ||
			hf_tree_find(chosen, want->entries[i].path) == NULL;
	hf_tree_keep(want, is_kept);
	if (hf_tree_adopt(want, chosen) < 0)
		return hf_fail_memory(err);
	return hf_tree_sort_merge(want, err);
}

/* What the paths are to be: as the snapshot has them, or a choice has to be
 * made. */
static int want_paths(struct restoring *restoring, const struct hf_tree *all,
		      struct hf_error *err)
{
	const struct hf_options *const options = restoring->repair.options;
	int rc = 0;

	if (options->from == NULL)
		rc = hf_restore_choose(&restoring->repair, &restoring->manifest,
				       &restoring->now, paths_of(restoring),
				       &restoring->choice, err);
	/* Each path must be something: what was chosen, or in the snapshot. */
	if (rc == 0 && !restoring->choice.is_open)
		rc = hf_selection_check(paths_of(restoring),
					&restoring->manifest,
					&restoring->choice.want,
					options->is_removing ? all : NULL, err);
	if (rc == 0)
		rc = hf_selection_copy(&restoring->manifest.tree,
				       paths_of(restoring), &restoring->want,
				       err);
	return rc < 0 ? rc : want_chosen(restoring, err);
}

/* Only what is named is read: the rest may be large. */
static int look_at_paths(struct restoring *restoring,
			 const struct hf_scan_options *scan,
			 struct hf_progress *progress, struct hf_error *err)
{
	cleanup_tree struct hf_tree all = HF_TREE_INIT;
	int rc;

	rc = hf_scan(scan, &all, NULL, err);
	if (rc == 0)
		rc = hf_selection_copy(&all, paths_of(restoring),
				       &restoring->now, err);
	if (rc == 0)
		rc = look_at_rest(restoring, err);
	if (rc == 0)
		rc = hf_scan_read(scan, &restoring->now, NULL, true, progress,
				  err);
	return rc < 0 ? rc : want_paths(restoring, &all, err);
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

/* A directory that stands where something else is to be goes with all that is
 * in it. */
static bool is_in_the_way(const struct hf_delta *delta)
{
	return delta->before != NULL && delta->after != NULL &&
	       (delta->change & HF_CHANGE_KIND) &&
	       delta->after->stat.kind == HF_KIND_DIRECTORY &&
	       delta->before->role != HF_ROLE_ALLOWED;
}

/* What a restore leaves as it is. */
static void count_left(const struct restoring *restoring,
		       struct hf_cli_repair_words *words)
{
	const struct hf_deltas *deltas = &restoring->deltas;
	const bool is_removing = restoring->repair.options->is_removing;
	const char *goes = NULL;

	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *delta = &deltas->items[i];
		const char *const path = hf_delta_entry(delta)->path;

		/* What is beneath a path follows it at once. */
		if (goes != NULL && hf_path_is_beneath(path, goes))
			continue;
		goes = is_in_the_way(delta) ? path : NULL;
		if (hf_delta_entry(delta)->role == HF_ROLE_ALLOWED)
			words->allowed++;
		else if (delta->change & HF_CHANGE_ADDED && !is_removing)
			words->additions++;
	}
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
	*ret_status = HF_STATUS_DONE;
	if (!repair->options->is_quiet && !repair->options->is_json &&
	    words->allowed == 0)
		hf_output_say(repair->output,
			      "nothing differs from snapshot %s",
			      words->snapshot);
	/* An empty plan: JSON. */
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

/* Nothing is done before all is decided. */
static int say_open(const struct restoring *restoring, int *ret_status)
{
	*ret_status = HF_STATUS_USAGE;
	hf_output_say(restoring->repair.output,
		      "nothing was restored: choose by --from");
	return 0;
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
	rc = hf_selection_resolve(restoring->repair.project.root,
				  options->words, &restoring->paths, err);
	if (rc == 0)
		rc = hf_cli_repair_load(&restoring->repair, paths_of(restoring),
					&restoring->manifest, err);
	if (rc == 0)
		rc = look(restoring, err);
	if (rc < 0)
		return rc;
	if (restoring->choice.is_open)
		return say_open(restoring, ret_status);
	plan_options.paths = paths_of(restoring);
	rc = hf_restore_plan(&restoring->deltas,
			     restoring->paths == NULL
				     ? &restoring->manifest.tree
				     : &restoring->want,
			     &plan_options, &plan, err);
	if (rc < 0)
		return rc;
	words.snapshot = restoring->choice.count > 0
				 ? restoring->choice.snapshot.text
				 : restoring->manifest.name.text;
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
		.choice = HF_RESTORE_CHOICE_INIT,
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
