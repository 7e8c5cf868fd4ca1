/* SPDX-License-Identifier: MIT */
/* Write what a snapshot has into a directory that a person names. */
#include "cli/restore_to.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/repair.h"
#include "cli/selection.h"
#include "core/pattern.h"
#include "core/restore_elsewhere.h"
#include "core/scan.h"
#include "guard/repair.h"
#include "platform/system.h"

struct writing {
	struct hf_cli_repair repair;
	struct hf_manifest manifest;
	struct hf_tree want;
	char **paths;
	char *directory; /* canonical; it need not exist */
	int dir_fd;
};

static void writing_done(struct writing *writing)
{
	hf_file_close_quietly(&writing->dir_fd);
	hf_free_pointee(&writing->directory);
	hf_selection_free(&writing->paths);
	hf_tree_done(&writing->want);
	hf_manifest_done(&writing->manifest);
	hf_cli_repair_close(&writing->repair);
}

/* -- the directory -----------------------------------------------------------
 */

static int fail_directory(const char *verb, const char *directory, int rc,
			  struct hf_error *err)
{
	return hf_fail_system(err, rc, "cannot %s '%s'", verb,
			      HF_QUOTE(directory));
}

static int find_directory(struct writing *writing, const char *typed,
			  struct hf_error *err)
{
	cleanup_free char *here = NULL;
	cleanup_free char *joined = NULL;
	int rc;

	if (typed[0] == '\0')
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '--to ': it is empty");
	rc = hf_system_working_directory(&here);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot find the working directory");
	joined = hf_path_is_absolute(typed) ? strdup(typed)
					    : hf_path_join(here, typed);
	if (joined == NULL)
		return hf_fail_memory(err);
	writing->directory = hf_scan_canonical(joined);
	return writing->directory == NULL
		       ? fail_directory("use", typed, -errno, err)
		       : 0;
}

static bool is_in(const char *path, const char *directory)
{
	return strcmp(path, directory) == 0 ||
	       hf_path_is_beneath(path, directory);
}

/* What is put into the tree must not be what the policy protects. */
static int check_tree(const struct writing *writing, struct hf_error *err)
{
	const struct hf_project *const project = &writing->repair.project;
	const char *const root = project->root;
	const char *beneath = writing->directory + strlen(root);

	if (!is_in(writing->directory, root))
		return 0;
	beneath += strspn(beneath, "/");
	for (size_t i = 0; i < writing->want.count; i++) {
		const struct hf_entry *const entry = &writing->want.entries[i];
		cleanup_free char *path = hf_path_join(beneath, entry->path);

		if (path == NULL)
			return hf_fail_memory(err);
		if (hf_patterns_match(project->policy.protect, path,
				      entry->stat.kind == HF_KIND_DIRECTORY) ==
		    NULL)
			continue;
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot write '%s': the policy protects it",
			      HF_QUOTE(path));
		return hf_fail_hint(err, "name a directory outside the project "
					 "after --to; without it the tree is "
					 "put back");
	}
	return 0;
}

static int check_directory(const struct writing *writing, struct hf_error *err)
{
	const char *const store = writing->repair.project.store.path;

	if (is_in(writing->directory, store))
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot write into '%s': it is in the store",
			       HF_QUOTE(writing->directory));
	return check_tree(writing, err);
}

/* -1 when it is not there yet. */
static int open_directory(struct writing *writing, bool is_made,
			  struct hf_error *err)
{
	int rc = 0;

	if (is_made)
		rc = hf_file_mkdir_path(writing->directory);
	if (rc < 0)
		return fail_directory("make", writing->directory, rc, err);
	rc = hf_file_open_directory(writing->directory);
	if (rc == -ENOENT && !is_made)
		return 0;
	if (rc < 0)
		return fail_directory("open", writing->directory, rc, err);
	writing->dir_fd = rc;
	return 0;
}

/* -- copies ------------------------------------------------------------------
 */

static void say_step(void *context, const struct hf_step *step)
{
	hf_cli_repair_say_step(context, step);
}

static int write_copies(struct writing *writing, struct hf_plan *plan,
			const struct hf_cli_repair_words *words,
			int *ret_status, struct hf_error *err)
{
	struct hf_cli_repair *const repair = &writing->repair;
	const struct hf_restore_context context = {
		.store = &repair->project.store,
		.root_fd = writing->dir_fd,
		.is_elsewhere = true,
		.done = say_step,
		.context = repair,
	};
	struct hf_error failed;
	int rc;

	/* Each failure is said when it happens. */
	if (hf_restore_apply(plan, &context, &failed) < 0)
		*ret_status = HF_STATUS_FAILED;
	rc = hf_file_sync(writing->dir_fd);
	if (rc < 0)
		return fail_directory("flush", writing->directory, rc, err);
	return hf_cli_repair_tell_copies(repair, plan, words, err);
}

static int choose(struct writing *writing, const struct hf_options *options,
		  struct hf_error *err)
{
	const struct hf_project *const project = &writing->repair.project;
	cleanup_tree struct hf_tree chosen = HF_TREE_INIT;
	const struct hf_tree *wanted = &writing->manifest.tree;
	int rc;

	rc = hf_selection_resolve(project->root, options->words,
				  &writing->paths, err);
	if (rc == 0)
		rc = hf_cli_repair_load(&writing->repair,
					(const char *const *)writing->paths,
					&writing->manifest, err);
	if (rc == 0 && writing->paths != NULL) {
		const char *const *const paths =
			(const char *const *)writing->paths;

		rc = hf_selection_check(paths, &writing->manifest, NULL, NULL,
					err);
		if (rc == 0)
			rc = hf_selection_copy(wanted, paths, &chosen, err);
		wanted = &chosen;
	}
	return rc < 0 ? rc
		      : hf_elsewhere_tree(wanted, hf_system_time_ns(),
					  &writing->want, err);
}

static int restore_to(struct writing *writing, const struct hf_options *options,
		      struct hf_output *output, int *ret_status,
		      struct hf_error *err)
{
	struct hf_cli_repair *const repair = &writing->repair;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	struct hf_cli_repair_words words = {.kind = "restore"};
	int rc;

	if (options->is_removing)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '--remove-additions' with '--to': "
			       "nothing is removed elsewhere");
	/* The store is only read: no lock. */
	repair->options = options;
	repair->output = output;
	rc = hf_command_open(&repair->project, options, HF_STORE_MUST_EXIST,
			     err);
	if (rc == 0)
		rc = choose(writing, options, err);
	if (rc == 0)
		rc = find_directory(writing, options->to, err);
	if (rc == 0)
		rc = check_directory(writing, err);
	if (rc == 0)
		rc = open_directory(writing, !options->is_dry_run, err);
	if (rc == 0)
		rc = hf_elsewhere_plan(writing->dir_fd, &writing->want, &plan,
				       err);
	if (rc < 0)
		return rc;
	words.snapshot = writing->manifest.name.text;
	repair->directory = writing->directory;
	if (options->is_dry_run)
		return hf_cli_repair_preview(repair, &plan, &words, err);
	return write_copies(writing, &plan, &words, ret_status, err);
}

int hf_cli_restore_to(const struct hf_options *options,
		      struct hf_output *output)
{
	CLEANUP(writing_done)
	struct writing writing = {
		.repair = HF_CLI_REPAIR_INIT,
		.manifest = HF_MANIFEST_INIT,
		.want = HF_TREE_INIT,
		.dir_fd = -1,
	};
	struct hf_error err = {0};
	int status = HF_STATUS_DONE;

	if (restore_to(&writing, options, output, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
