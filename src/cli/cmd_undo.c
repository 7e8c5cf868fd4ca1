/* SPDX-License-Identifier: MIT */
/* holdfast undo: bring back what a restore has replaced. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/repair.h"
#include "cli/sessions.h"
#include "core/scan.h"

/*
 * The newest session that replaced something and has not been undone.  Undos are
 * no candidates, but they count: one that was itself undone does not.  What an
 * undo undid stands in its journal as the command.
 */
struct search {
	char **undone;		/* names of sessions */
	size_t count;
};

static void search_done(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		free(search->undone[i]);
	hf_free_pointee(&search->undone);
	search->count = 0;
}

static bool is_undone(const struct search *search, const char *name)
{
	for (size_t i = 0; i < search->count; i++)
		if (strcmp(search->undone[i], name) == 0)
			return true;
	return false;
}

/* Sessions come from new to old.  *ret_found: this is the one. */
static int consider(struct search *search,
		    const struct hf_session_record *record, bool *ret_found,
		    struct hf_error *err)
{
	*ret_found = false;
	if (record->kept_count == 0 || is_undone(search, record->name.text))
		return 0;
	if (strcmp(record->kind, "undo") != 0) {
		*ret_found = true;
		return 0;
	}
	if (record->argv == NULL || record->argv[0] == NULL)
		return 0;
	search->undone[search->count] = strdup(record->argv[0]);
	if (search->undone[search->count] == NULL)
		return hf_fail_memory(err);
	search->count++;
	return 0;
}

static int fail_none(struct hf_output *output, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot undo: nothing has been replaced that is not "
		      "undone already");
	return hf_fail_hint(err, "'holdfast log%s' lists the sessions",
			    output->style.location);
}

static int find_newest(const struct hf_store *store, struct hf_output *output,
		       struct hf_session_record *ret_record,
		       struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	CLEANUP(search_done) struct search search = { .undone = NULL };
	int rc;

	rc = hf_sessions_list(store, &names, err);
	if (rc < 0)
		return rc;
	search.undone = calloc(names.count + 1, sizeof(char *));
	if (search.undone == NULL)
		return hf_fail_memory(err);
	for (size_t i = names.count; i > 0; i--) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;
		bool is_found;

		rc = hf_journal_read(store, &names.items[i - 1], &record, err);
		if (rc < 0)
			return rc;
		rc = consider(&search, &record, &is_found, err);
		if (rc < 0)
			return rc;
		if (is_found) {
			*ret_record = record;
			record = (struct hf_session_record)
				HF_SESSION_RECORD_INIT;
			return 0;
		}
	}
	return fail_none(output, err);
}

static int find_named(const struct hf_store *store, const char *typed,
		      struct hf_session_record *ret_record,
		      struct hf_error *err)
{
	struct hf_name name;
	int rc;

	rc = hf_store_resolve(store, HF_STORE_SESSIONS, typed, &name, err);
	if (rc < 0)
		return rc;
	rc = hf_journal_read(store, &name, ret_record, err);
	if (rc < 0)
		return rc;
	if (ret_record->kept_count == 0)
		return hf_fail(err, HF_ERR_USAGE, "cannot undo session %s: it "
			       "replaced nothing", name.text);
	return 0;
}

/* What stands at path now. */
static int look_at(const struct hf_project *project, const char *path,
		   struct hf_tree *tree, struct hf_error *err)
{
	const char *name;
	cleanup_fd int dir_fd = hf_scan_open_parent(project->root_fd, path,
						    &name);
	struct hf_entry *entry = hf_tree_add(tree, path);

	if (entry == NULL)
		return hf_fail_memory(err);
	/* A directory above is gone, or something else now: so is the entry. */
	if (dir_fd == -ENOENT || dir_fd == -ENOTDIR || dir_fd == -ELOOP)
		return 0;
	if (dir_fd < 0)
		return hf_fail_system(err, dir_fd, "cannot look at '%s'",
				      HF_QUOTE(path));
	return hf_scan_entry(dir_fd, name, tree, entry, err);
}

static int compare_paths(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* The tree as it is, at every path the session replaced something; once each. */
static int look(const struct hf_project *project,
		const struct hf_session_record *record,
		struct hf_progress *progress, struct hf_tree *tree,
		struct hf_error *err)
{
	const struct hf_scan_options scan =
		hf_project_scan_options(project, NULL);
	cleanup_free const char **paths =
		calloc(record->kept_count + 1, sizeof(const char *));
	int rc;

	if (paths == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < record->kept_count; i++)
		paths[i] = record->kept[i].replaced->path;
	qsort(paths, record->kept_count, sizeof(*paths), compare_paths);
	for (size_t i = 0; i < record->kept_count; i++) {
		if (i > 0 && strcmp(paths[i], paths[i - 1]) == 0)
			continue;
		rc = look_at(project, paths[i], tree, err);
		if (rc < 0)
			return rc;
	}
	rc = hf_tree_sort(tree, err);
	if (rc < 0)
		return rc;
	return hf_scan_read(&scan, tree, NULL, true, progress, err);
}

static int undo(struct hf_repair *repair, const struct hf_options *options,
		struct hf_output *output, int *ret_status, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const char *argv[2] = { NULL };
	const struct hf_repair_words words = {
		.kind = "undo",
		.snapshot = "",
		.argv = argv,
	};
	int rc;

	rc = hf_repair_open(repair, "undo", options, output,
			    HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	if (options->word_count > 0)
		rc = find_named(&repair->project.store, options->words[0],
				&record, err);
	else
		rc = find_newest(&repair->project.store, output, &record, err);
	if (rc < 0)
		return rc;
	argv[0] = record.name.text;
	rc = look(&repair->project, &record,
		  hf_output_progress(output, "comparing"), &now, err);
	if (rc < 0)
		return rc;
	rc = hf_restore_plan_undo(&record, &now, &plan, err);
	if (rc < 0)
		return rc;
	if (plan.count == 0) {
		if (!options->is_quiet)
			hf_output_say(output, "session %s is undone already",
				      record.name.text);
		return 0;
	}
	return hf_repair_apply(repair, &plan, &words, ret_status, err);
}

int hf_cmd_undo(const struct hf_options *options, struct hf_output *output)
{
	cleanup_repair struct hf_repair repair = HF_REPAIR_INIT;
	struct hf_error err = { 0 };
	int status = HF_STATUS_DONE;

	if (options->word_count > 1) {
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot undo more than one session at a time");
		return hf_output_fail(output, &err);
	}
	if (undo(&repair, options, output, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
