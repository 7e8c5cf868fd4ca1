/* SPDX-License-Identifier: MIT */
/* Which session to undo, and what that takes. */
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "guard/repair.h"

/* Sessions that a later undo has undone. */
struct undone {
	struct hf_name *names;
	size_t count;
};

static void undone_done(struct undone *undone)
{
	hf_free_pointee(&undone->names);
	undone->count = 0;
}

static bool is_undone(const struct undone *undone, const struct hf_name *name)
{
	for (size_t i = 0; i < undone->count; i++)
		if (strcmp(undone->names[i].text, name->text) == 0)
			return true;
	return false;
}

/*
 * Sessions come from new to old.  Undos are no candidates, but they count, unless
 * they were undone themselves.  What an undo undid stands in its journal as the
 * command.
 */
static bool is_candidate(struct undone *undone,
			 const struct hf_session_record *record)
{
	struct hf_name *name;

	if (record->kept_count == 0 || is_undone(undone, &record->name))
		return false;
	if (strcmp(record->kind, "undo") != 0)
		return true;
	/* One that did not come to its end is to be done again. */
	if (!record->has_ended || record->outcome == HF_OUTCOME_UNRESTORED)
		return false;
	if (record->argv && record->argv[0] &&
	    strlen(record->argv[0]) < sizeof(name->text)) {
		name = &undone->names[undone->count++];
		memcpy(name->text, record->argv[0],
		       strlen(record->argv[0]) + 1);
	}
	return false;
}

static int find_newest(const struct hf_store *store,
		       struct hf_session_record *ret_record,
		       struct hf_buffer *notes, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	CLEANUP(undone_done) struct undone undone = { .names = NULL };
	int rc;

	rc = hf_journal_list(store, &names, err);
	if (rc < 0)
		return rc;
	undone.names = calloc(names.count + 1, sizeof(*undone.names));
	if (!undone.names)
		return hf_fail_memory(err);
	for (size_t i = names.count; i > 0; i--) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		rc = hf_journal_read(store, &names.items[i - 1], &record, err);
		if (rc == HF_ERR_CORRUPT) {
			if (notes)
				hf_buffer_printf(notes, "passed over: %s\n",
						 err->text);
			continue;
		}
		if (rc < 0)
			return rc;
		if (!is_candidate(&undone, &record))
			continue;
		*ret_record = record;
		record = (struct hf_session_record)HF_SESSION_RECORD_INIT;
		return 0;
	}
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot undo: nothing has been replaced that is not "
		      "undone already");
	return hf_fail_hint(err, "'holdfast log' lists the sessions");
}

int hf_repair_find_undo(const struct hf_store *store, const char *typed,
			struct hf_session_record *ret_record,
			struct hf_buffer *notes, struct hf_error *err)
{
	struct hf_name name;
	int rc;

	if (!typed)
		return find_newest(store, ret_record, notes, err);
	rc = hf_store_resolve(store, HF_STORE_SESSIONS, typed, &name, err);
	if (rc < 0)
		return rc;
	rc = hf_journal_read(store, &name, ret_record, err);
	if (rc < 0)
		return rc;
	if (ret_record->kept_count == 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot undo session %s: it replaced nothing",
			       name.text);
	return 0;
}

/* -- what it takes ------------------------------------------------------------ */

int hf_repair_look_at(const struct hf_project *project, const char *path,
		      struct hf_tree *tree, struct hf_error *err)
{
	cleanup_fd int dir_fd = -1;
	struct hf_entry *const entry = hf_tree_add(tree, path);
	const char *name;

	if (!entry)
		return hf_fail_memory(err);
	dir_fd = hf_scan_open_parent(project->root_fd, path, &name);
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
	const char *const *const left = a;
	const char *const *const right = b;

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
		calloc(record->kept_count + 1, sizeof(*paths));
	int rc;

	if (!paths)
		return hf_fail_memory(err);
	for (size_t i = 0; i < record->kept_count; i++)
		paths[i] = record->kept[i].replaced->path;
	qsort(paths, record->kept_count, sizeof(*paths), compare_paths);
	for (size_t i = 0; i < record->kept_count; i++) {
		if (i > 0 && strcmp(paths[i], paths[i - 1]) == 0)
			continue;
		rc = hf_repair_look_at(project, paths[i], tree, err);
		if (rc < 0)
			return rc;
	}
	rc = hf_tree_sort(tree, err);
	if (rc < 0)
		return rc;
	return hf_scan_read(&scan, tree, NULL, true, progress, err);
}

int hf_repair_plan_undo(const struct hf_project *project,
			const struct hf_session_record *record,
			struct hf_progress *progress, struct hf_tree *ret_now,
			struct hf_plan *ret_plan, struct hf_error *err)
{
	int rc;

	rc = look(project, record, progress, ret_now, err);
	if (rc < 0)
		return rc;
	return hf_restore_plan_undo(record, ret_now, ret_plan, err);
}
