/* SPDX-License-Identifier: MIT */
/*
 * Before a commit, and before a push: what git is about to take.
 *
 * Only what is recorded is looked at, and the content of a blob only where a
 * run has damaged that path before.
 */
#include "guard/hook_work.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "guard/repair.h"

/* -- a commit -----------------------------------------------------------------
 */

/* Against the last commit, or nothing where there is none yet. */
static int ask_staged(const struct hf_git *git, struct hf_buffer *raw,
		      struct hf_error *err)
{
	static const char *const empty[] = {"hash-object", "-t", "tree",
					    "/dev/null", NULL};
	const char *words[] = {"diff-index",
			       "--cached",
			       "--raw",
			       "-z",
			       "-M",
			       "--no-abbrev",
			       "--ignore-submodules",
			       "HEAD",
			       "--",
			       NULL};
	cleanup_buffer struct hf_buffer tree = HF_BUFFER_INIT;
	int rc;

	rc = hf_git_ask(git, words, NULL, HF_GIT_ANSWER_MAX, raw, err);
	if (rc <= 0)
		return rc;
	hf_buffer_clear(raw);
	rc = hf_git_must(git, empty, NULL, &tree, err);
	if (rc < 0)
		return rc;
	if (tree.data)
		tree.data[strcspn(tree.data, "\n")] = '\0';
	words[7] = tree.data ? tree.data : "";
	return hf_git_must(git, words, NULL, raw, err);
}

/* What becomes of a recorded path; a rename brings a new one. */
static int add_staged(struct hf_hook_work *work,
		      const struct hf_git_change *change, struct hf_error *err)
{
	const char *const path =
		hf_hook_own_path(work, change->to ? change->to : change->path);
	struct hf_hook_item *item;
	struct hf_entry ignored;
	int rc;

	if (!path || !hf_hook_recorded(work, path))
		return 0;
	item = hf_hook_add(work, path);
	if (!item)
		return hf_fail_memory(err);
	item->is_deleted = change->status == 'D';
	if (item->is_deleted)
		return 0;
	rc = hf_hook_find_damage(work, item->path, change, &item->session,
				 &ignored, err);
	/* A person's own. */
	if (rc == 0 && !item->session)
		work->count--;
	return rc;
}

static int look_at_tree(struct hf_hook_work *work, struct hf_error *err)
{
	const struct hf_scan_options scan =
		hf_project_scan_options(work->project, NULL);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < work->count; i++) {
		const char *const path = work->items[i].path;

		rc = hf_repair_look_at(work->project, path, &work->now, err);
		if (rc == 0 &&
		    !hf_tree_add_copy(&work->want, hf_hook_recorded(work, path)))
			rc = hf_fail_memory(err);
	}
	if (rc == 0)
		rc = hf_tree_sort(&work->now, err);
	if (rc == 0)
		rc = hf_tree_sort(&work->want, err);
	return rc < 0 ? rc
		      : hf_scan_read(&scan, &work->now, NULL, true, NULL, err);
}

static int judge(struct hf_hook_work *work, struct hf_hook_item *item,
		 struct hf_error *err)
{
	const struct hf_entry *const now = hf_tree_find(&work->now, item->path);
	const struct hf_name *session = NULL;
	struct hf_hook_staged fact = {
		.is_deleted = item->is_deleted,
		.is_there = now && now->stat.kind != HF_KIND_ABSENT,
		.is_damage = item->session != NULL,
	};
	int rc = 0;

	item->is_there = fact.is_there;
	if (fact.is_deleted)
		fact.past = hf_hook_history_past(&work->history, item->path);
	else if (fact.is_there)
		rc = hf_hook_history_find_damage(&work->history, now, &session,
						 err);
	if (rc < 0)
		return rc;
	fact.has_damage = session != NULL;
	item->verdict = hf_hook_judge_staged(&fact);
	return 0;
}

int hf_hook_look_staged(struct hf_hook_work *work, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer raw = HF_BUFFER_INIT;
	struct hf_git_change change;
	size_t at = 0;
	int rc;

	rc = ask_staged(&work->git, &raw, err);
	if (rc < 0 || raw.len == 0)
		return rc;
	rc = hf_hook_find_git(work, err);
	if (rc < 0)
		return rc;
	rc = hf_hook_history_read(&work->project->store, &work->history, err);
	if (rc == 0 &&
	    hf_hook_history_is_imported(&work->history, &work->manifest.name))
		return 0;
	while (rc == 0 && hf_git_next_change(&raw, &at, &change))
		if (change.status != '\0')
			rc = add_staged(work, &change, err);
	if (rc < 0 || work->count == 0)
		return rc;
	hf_hook_sort(work);
	rc = look_at_tree(work, err);
	for (size_t i = 0; rc == 0 && i < work->count; i++)
		rc = judge(work, &work->items[i], err);
	return rc;
}

/* -- a push -------------------------------------------------------------------
 */

/* "LOCAL-REF ID REMOTE-REF ID" a line: the ids, as questions. */
static size_t add_ids(char *text, int field, struct hf_buffer *out)
{
	size_t count = 0;

	while (text && *text != '\0') {
		const size_t len = strcspn(text, "\n");
		const char *word = text;
		size_t word_len;

		for (int i = 0; i < field; i++) {
			word += strcspn(word, " \n");
			word += *word == ' ';
		}
		word_len = strcspn(word, " \n");
		/* Zeros: it is deleted, or was not there. */
		if ((word_len == 40 || word_len == 64) &&
		    strspn(word, "0") < word_len) {
			hf_buffer_printf(out, "%.*s\n", (int)word_len, word);
			count++;
		}
		text += len + (text[len] == '\n');
	}
	return count;
}

/* Those that the other side does not have, as far as is known here. */
static int ask_commits(struct hf_hook_work *work, char *text,
		       struct hf_buffer *commits, struct hf_error *err)
{
	static const char *const words[] = {"rev-list", "--stdin", "--not",
					    "--remotes", NULL};
	cleanup_buffer struct hf_buffer question = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer theirs = HF_BUFFER_INIT;
	cleanup_git_ids struct hf_git_ids ids = HF_GIT_IDS_INIT;
	size_t count;
	int rc;

	if (add_ids(text, 1, &question) == 0)
		return hf_buffer_check(&question, err);
	count = add_ids(text, 3, &theirs);
	rc = hf_buffer_check(&theirs, err);
	if (rc == 0)
		rc = hf_git_find_objects(&work->git, &theirs, count, &ids, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ids.count; i++)
		if (ids.items[i][0] != '\0')
			hf_buffer_printf(&question, "^%s\n", ids.items[i]);
	rc = hf_buffer_check(&question, err);
	return rc < 0 ? rc
		      : hf_git_must(&work->git, words, &question, commits, err);
}

static int add_pushed(struct hf_hook_work *work,
		      const struct hf_git_change *change, const char *commit,
		      struct hf_error *err)
{
	const char *const path = hf_hook_own_path(work, change->path);
	const struct hf_name *session = NULL;
	struct hf_hook_item *item;
	struct hf_entry ignored;
	int rc;

	if (!path || change->status == 'D' || !hf_hook_recorded(work, path))
		return 0;
	rc = hf_hook_find_damage(work, path, change, &session, &ignored, err);
	if (rc < 0 || !session)
		return rc;
	item = hf_hook_add(work, path);
	if (item)
		item->commit =
			hf_arena_copy(&work->arena, commit, strlen(commit));
	if (!item || !item->commit)
		return hf_fail_memory(err);
	item->session = session;
	item->verdict = HF_VERDICT_STOP;
	return 0;
}

int hf_hook_look_pushed(struct hf_hook_work *work, char *text,
			struct hf_error *err)
{
	static const char *const words[] = {
		"diff-tree", "--stdin",	     "-r",	    "--root", "--raw",
		"-z",	     "--no-renames", "--no-abbrev", NULL};
	cleanup_buffer struct hf_buffer commits = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer raw = HF_BUFFER_INIT;
	struct hf_git_change change;
	const char *commit = "";
	size_t at = 0;
	int rc;

	rc = hf_hook_find_git(work, err);
	if (rc == 0)
		rc = ask_commits(work, text, &commits, err);
	if (rc < 0 || commits.len == 0)
		return rc;
	rc = hf_git_must(&work->git, words, &commits, &raw, err);
	if (rc == 0)
		rc = hf_hook_history_read(&work->project->store, &work->history,
					  err);
	while (rc == 0 && hf_git_next_change(&raw, &at, &change)) {
		if (change.status == '\0')
			commit = change.path;
		else
			rc = add_pushed(work, &change, commit, err);
	}
	return rc;
}
