/* SPDX-License-Identifier: MIT */
/*
 * After a checkout, merge or rewrite: what is gone, what git has changed.
 *
 * Git is asked only where something differs from what is recorded.
 */
#include "guard/hook_ask.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/pattern.h"

/* -- is it a time to do anything
 * ------------------------------------------------ */

/* The first line of a file in git's directory; NULL where there is none. */
static char *read_line(const struct hf_hook_work *work, const char *name)
{
	cleanup_free char *path = hf_path_join(work->git_dir, name);
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = path ? hf_file_open_read_path(path) : -1;

	if (fd < 0 || hf_file_read_all(fd, HF_PATH_MAX, &text) < 0 ||
	    !text.data)
		return NULL;
	return strndup(text.data, strcspn(text.data, "\n"));
}

/*
 * At the end of a bisection git goes back to the branch where it began, and
 * clears up behind the hook; until then it stands on no branch.
 */
static bool is_back_from_bisect(const struct hf_hook_work *work)
{
	static const char branch[] = "ref: refs/heads/";
	cleanup_free char *head = NULL;
	cleanup_free char *start = NULL;

	if (work->hook != HF_HOOK_POST_CHECKOUT || !work->args[0] ||
	    !work->args[1] || !hf_is_same_text(work->args[2], "1") ||
	    strcmp(work->args[0], work->args[1]) == 0)
		return false;
	head = read_line(work, "HEAD");
	start = read_line(work, "BISECT_START");
	return head && start &&
	       strncmp(head, branch, sizeof(branch) - 1) == 0 &&
	       strcmp(head + sizeof(branch) - 1, start) == 0;
}

/*
 * Git calls post-rewrite at the end of a rebase and post-merge at that of a
 * merge, before it clears up: those are over.
 */
static bool is_over(const struct hf_hook_work *work, const char *name)
{
	return (work->hook == HF_HOOK_POST_MERGE &&
		strcmp(name, "MERGE_HEAD") == 0) ||
	       (work->hook == HF_HOOK_POST_REWRITE &&
		strncmp(name, "rebase-", strlen("rebase-")) == 0) ||
	       (strcmp(name, "BISECT_LOG") == 0 && is_back_from_bisect(work));
}

static int look_for_progress(struct hf_hook_work *work, struct hf_error *err)
{
	static const char *const names[] = {
		"rebase-merge",	    "rebase-apply", "MERGE_HEAD", "BISECT_LOG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD",  "sequencer"};
	/* An amended commit within a rebase ends nothing. */
	const bool is_amend = work->hook == HF_HOOK_POST_REWRITE &&
			      hf_is_same_text(work->args[0], "amend");

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		cleanup_free char *path = hf_path_join(work->git_dir, names[i]);
		struct hf_stat stat;

		if (!path)
			return hf_fail_memory(err);
		if (hf_file_stat_path(path, &stat) == 0 &&
		    (is_amend || !is_over(work, names[i])))
			work->is_in_progress = true;
	}
	return 0;
}

static bool is_id(const char *text)
{
	return text && strlen(text) >= 40 && strlen(text) < HF_GIT_ID_MAX &&
	       strspn(text, "0123456789abcdef") == strlen(text) &&
	       strspn(text, "0") != strlen(text);
}

static const char *find_before(const struct hf_hook_work *work)
{
	if (work->hook == HF_HOOK_POST_CHECKOUT)
		return is_id(work->args[0]) ? work->args[0] : NULL;
	if (work->hook == HF_HOOK_POST_REWRITE &&
	    hf_is_same_text(work->args[0], "amend"))
		return "HEAD@{1}";
	return "ORIG_HEAD";
}

/* -- what differs
 * --------------------------------------------------------------- */

static int compare(struct hf_hook_work *work, struct hf_error *err)
{
	struct hf_scan_options scan =
		hf_project_scan_options(work->project, NULL);
	int rc;

	scan.is_tolerant = true;
	scan.before = &work->manifest.tree;
	rc = hf_scan(&scan, &work->now, NULL, err);
	if (rc < 0)
		return rc;
	(void)hf_scan_use_cache(&work->now, &work->manifest.tree);
	rc = hf_scan_read(&scan, &work->now, NULL, true, NULL, err);
	return rc < 0 ? rc
		      : hf_compare(&work->manifest.tree, &work->now,
				   &work->deltas, err);
}

/* Does the policy file still name it?  Without one, what was recorded counts.
 */
static bool is_meant(const struct hf_hook_work *work,
		     const struct hf_entry *entry)
{
	const struct hf_policy *const policy = &work->project->policy;

	return entry->role == HF_ROLE_PROTECTED &&
	       !hf_path_is_absolute(entry->path) &&
	       strcmp(entry->path, ".") != 0 &&
	       (!policy->file ||
		hf_patterns_match_past(policy->protect, entry->path,
				       hf_scan_skipped_len(entry->path),
				       entry->stat.kind == HF_KIND_DIRECTORY));
}

static int make_items(struct hf_hook_work *work, struct hf_error *err)
{
	for (size_t i = 0; i < work->deltas.count; i++) {
		const struct hf_delta *const delta = &work->deltas.items[i];
		const struct hf_entry *const entry = hf_delta_entry(delta);
		struct hf_hook_item *item;

		if (!is_meant(work, entry))
			continue;
		item = hf_hook_add(work, entry->path);
		if (!item)
			return hf_fail_memory(err);
		item->delta = delta;
	}
	hf_hook_sort(work);
	return 0;
}

/* Does something else stand where a directory above it was? */
static bool is_blocked(const struct hf_hook_work *work, const char *path)
{
	char above[HF_PATH_MAX];
	size_t len;

	memcpy(above, path, strlen(path) + 1);
	for (len = hf_path_parent_len(above); len > 0;
	     len = hf_path_parent_len(above)) {
		const struct hf_entry *entry;

		above[len] = '\0';
		entry = hf_tree_find(&work->now, above);
		if (entry && entry->stat.kind != HF_KIND_DIRECTORY &&
		    entry->stat.kind != HF_KIND_ABSENT)
			return true;
	}
	return false;
}

/* -- deciding
 * ------------------------------------------------------------------- */

/*
 * A directory is nothing to git.  It is gone for good when all that was
 * recorded in it is; it comes back with what lies in it, or by itself where it
 * was empty.
 */
static enum hf_hook_fate judge_directory(const struct hf_hook_work *work,
					 const struct hf_hook_item *item,
					 const struct hf_hook_after *fact)
{
	bool is_empty = true;
	bool is_gone = true;

	if (!fact->is_missing)
		return HF_FATE_LEAVE;
	for (size_t i = 0; i < work->manifest.tree.count; i++) {
		const char *const path = work->manifest.tree.entries[i].path;
		const struct hf_hook_item *inner;

		if (!hf_path_is_beneath(path, item->path))
			continue;
		is_empty = false;
		inner = hf_hook_item(work, path);
		if (!inner || hf_hook_is_directory(inner->delta))
			continue;
		if (hf_hook_is_put_back(inner))
			return HF_FATE_PUT_BACK;
		is_gone &= inner->fate == HF_FATE_RECORD;
	}
	if (is_empty)
		return hf_hook_judge_after(fact);
	return is_gone ? HF_FATE_RECORD : HF_FATE_LEAVE;
}

/* What the journals say of it. */
static int learn_past(const struct hf_hook_work *work,
		      const struct hf_hook_item *item,
		      struct hf_hook_after *fact, struct hf_error *err)
{
	const struct hf_name *session = NULL;
	int rc = 0;

	if (fact->is_missing)
		fact->past = hf_hook_history_past(&work->history, item->path);
	else if (fact->is_tracked && fact->is_clean)
		rc = hf_hook_history_find_damage(
			&work->history, item->delta->after, &session, err);
	fact->is_damage = session != NULL;
	return rc;
}

static int decide(struct hf_hook_asking *asking, struct hf_error *err)
{
	struct hf_hook_work *const work = asking->work;

	for (size_t i = 0; i < work->count; i++) {
		struct hf_hook_item *const item = &work->items[i];
		struct hf_hook_after *const fact = &asking->facts[i];
		const int rc = learn_past(work, item, fact, err);

		if (rc < 0)
			return rc;
		if (!hf_hook_is_directory(item->delta))
			item->fate = hf_hook_judge_after(fact);
	}
	for (size_t i = 0; i < work->count; i++) {
		struct hf_hook_item *const item = &work->items[i];

		if (hf_hook_is_directory(item->delta))
			item->fate =
				judge_directory(work, item, &asking->facts[i]);
		if (hf_hook_is_put_back(item) && is_blocked(work, item->path))
			item->fate = HF_FATE_LEAVE;
	}
	return 0;
}

/* What is put back is as it was recorded last, but for what was found above. */
static int make_want(struct hf_hook_work *work, struct hf_error *err)
{
	cleanup_tree struct hf_tree want = HF_TREE_INIT;
	int rc;

	rc = hf_tree_sort(&work->want, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < work->manifest.tree.count; i++) {
		const struct hf_entry *const entry =
			&work->manifest.tree.entries[i];
		const struct hf_entry *const own =
			hf_tree_find(&work->want, entry->path);

		if (!hf_tree_add_copy(&want, own ? own : entry))
			return hf_fail_memory(err);
	}
	hf_tree_done(&work->want);
	work->want = want;
	want = (struct hf_tree)HF_TREE_INIT;
	return hf_tree_sort(&work->want, err);
}

int hf_hook_look_after(struct hf_hook_work *work, struct hf_error *err)
{
	cleanup_hook_asking struct hf_hook_asking asking = {.work = work};
	int rc;

	rc = compare(work, err);
	if (rc == 0)
		rc = make_items(work, err);
	if (rc < 0 || work->count == 0)
		return rc;
	rc = hf_hook_find_git(work, err);
	if (rc == 0)
		rc = look_for_progress(work, err);
	if (rc < 0 || work->is_in_progress) {
		work->count = 0;
		return rc;
	}
	asking.before = find_before(work);
	rc = hf_hook_ask(&asking, err);
	if (rc == 0)
		rc = hf_hook_history_read(&work->project->store, &work->history,
					  err);
	if (rc == 0 &&
	    hf_hook_history_is_imported(&work->history, &work->manifest.name))
		work->count = 0;
	if (rc == 0)
		rc = decide(&asking, err);
	return rc < 0 ? rc : make_want(work, err);
}
