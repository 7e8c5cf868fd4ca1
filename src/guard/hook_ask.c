/* SPDX-License-Identifier: MIT */
/*
 * Ask git about entries that differ.
 *
 * Once for all paths: which are tracked, which differ from the index, which
 * were in the tree before, which a stash holds.
 */
#include "guard/hook_ask.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/fetch.h"
#include "core/holdings.h"

/* Objects to ask for of one stash: the tree, its base, what was not tracked. */
#define STASH_SPECS 3
/* More are not looked into; what they may hold is left alone. */
#define STASHES_MAX ((size_t)1000)

void hf_hook_asking_done(struct hf_hook_asking *asking)
{
	hf_buffer_done(&asking->stashes);
	hf_git_names_done(&asking->changed);
	hf_git_names_done(&asking->tracked);
	hf_free_pointee(&asking->facts);
}

bool hf_hook_is_missing(const struct hf_delta *delta)
{
	return !delta->after || delta->after->stat.kind == HF_KIND_ABSENT;
}

bool hf_hook_is_directory(const struct hf_delta *delta)
{
	return hf_delta_entry(delta)->stat.kind == HF_KIND_DIRECTORY;
}

/* -- what git says
 * --------------------------------------------------------------- */

/*
 * Is what was asked of git what stands in the commit?  A checkout of some files
 * and a squashed merge leave it in the index alone.
 */
static bool is_of_the_commit(const struct hf_hook_work *work)
{
	if (work->hook == HF_HOOK_POST_CHECKOUT)
		return !work->args[0] || !work->args[1] ||
		       !hf_is_same_text(work->args[2], "0");
	return work->hook != HF_HOOK_POST_MERGE ||
	       !hf_is_same_text(work->args[0], "1");
}

/* What is not as in the commit, or in the index; that where there is no commit.
 */
static int ask_changed(struct hf_hook_asking *asking, struct hf_error *err)
{
	static const char *const verify[] = {"rev-parse", "-q", "--verify",
					     "HEAD^{commit}", NULL};
	const char *words[] = {"-c",
			       "diff.relative=false",
			       "diff",
			       "--name-only",
			       "-z",
			       "--no-ext-diff",
			       "--no-textconv",
			       "--no-renames",
			       "--ignore-submodules",
			       "HEAD",
			       "--",
			       NULL};
	const struct hf_git *const git = &asking->work->git;
	cleanup_buffer struct hf_buffer commit = HF_BUFFER_INIT;
	int rc = 1;

	if (is_of_the_commit(asking->work))
		rc = hf_git_ask(git, verify, NULL, HF_GIT_ANSWER_MAX, &commit,
				err);
	if (rc < 0)
		return rc;
	if (rc > 0)
		words[9] = "--";
	return hf_git_names(git, words, &asking->changed, err);
}

static int ask_lists(struct hf_hook_asking *asking, struct hf_error *err)
{
	static const char *const tracked[] = {"ls-files", "-z", "-v",
					      "--full-name", NULL};
	static const char *const stashes[] = {"stash", "list", "--format=%H",
					      NULL};
	const struct hf_git *const git = &asking->work->git;
	int rc;

	rc = hf_git_names(git, tracked, &asking->tracked, err);
	if (rc == 0)
		rc = ask_changed(asking, err);
	if (rc == 0)
		rc = hf_git_must(git, stashes, NULL, &asking->stashes, err);
	return rc;
}

/* Does git list it with one of those letters?  line is "H path". */
static bool is_listed(const struct hf_hook_asking *asking, char *line,
		      const char *tags)
{
	for (; *tags != '\0'; tags++) {
		line[0] = *tags;
		if (hf_git_names_have(&asking->tracked, line))
			return true;
	}
	return false;
}

/*
 * Git answers "H path", or with another letter.  It never looks at one that is
 * skipped (S), or assumed to be unchanged (a small letter), nor below one that
 * is a repository of its own: what it does not call changed may be.
 */
static int learn_tracked(const struct hf_hook_asking *asking, const char *path,
			 struct hf_hook_after *fact, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	bool is_unseen;
	char *text;
	int rc;

	hf_buffer_printf(&line, "H %s", path);
	rc = hf_buffer_check(&line, err);
	if (rc < 0)
		return rc;
	text = line.data + strlen("H ");
	is_unseen = is_listed(asking, line.data, "Shms");
	fact->is_tracked = is_unseen || is_listed(asking, line.data, "HM");
	for (size_t len = hf_path_parent_len(text); len > 0;
	     len = hf_path_parent_len(text)) {
		text[len] = '\0';
		is_unseen |= is_listed(asking, line.data, "HMShms");
	}
	fact->is_tracked |= is_unseen;
	fact->is_clean =
		!is_unseen && !hf_git_names_have(&asking->changed, path);
	return 0;
}

static int learn_lists(struct hf_hook_asking *asking, struct hf_error *err)
{
	struct hf_hook_work *const work = asking->work;

	for (size_t i = 0; i < work->count; i++) {
		struct hf_hook_after *const fact = &asking->facts[i];
		const char *const path =
			hf_hook_git_path(work, work->items[i].path);
		int rc;

		if (!path)
			return hf_fail_memory(err);
		fact->is_missing = hf_hook_is_missing(work->items[i].delta);
		rc = learn_tracked(asking, path, fact, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Of what is gone and not tracked, is it in a tree, in a stash? */
static bool is_asked(const struct hf_hook_asking *asking, size_t index)
{
	return asking->facts[index].is_missing &&
	       !asking->facts[index].is_tracked &&
	       !hf_hook_is_directory(asking->work->items[index].delta);
}

static void add_specs(const struct hf_hook_asking *asking, const char *path,
		      struct hf_buffer *specs, size_t *count)
{
	const char *at = asking->stashes.data;

	hf_buffer_printf(specs, "%s:%s\n", asking->before ? asking->before : "",
			 path);
	(*count)++;
	for (size_t i = 0; i < asking->stash_count; i++) {
		const int len = (int)strcspn(at, "\n");

		hf_buffer_printf(specs, "%.*s:%s\n%.*s^1:%s\n%.*s^3:%s\n", len,
				 at, path, len, at, path, len, at, path);
		at += len + 1;
		*count += STASH_SPECS;
	}
}

/* The ids of one path: before, then of each stash its own three. */
static void learn_objects(const struct hf_hook_asking *asking,
			  const char (*ids)[HF_GIT_ID_MAX],
			  struct hf_hook_after *fact)
{
	fact->was_tracked = asking->before && ids[0][0] != '\0';
	for (size_t i = 0; i < asking->stash_count; i++) {
		const char(*const stash)[HF_GIT_ID_MAX] =
			&ids[1 + i * STASH_SPECS];

		fact->is_stashed |= stash[2][0] != '\0' ||
				    (stash[0][0] != '\0' &&
				     strcmp(stash[0], stash[1]) != 0);
	}
}

static void count_stashes(struct hf_hook_asking *asking)
{
	for (size_t i = 0; i < asking->stashes.len; i++)
		asking->stash_count += asking->stashes.data[i] == '\n';
}

static int ask_objects(struct hf_hook_asking *asking, struct hf_error *err)
{
	struct hf_hook_work *const work = asking->work;
	cleanup_buffer struct hf_buffer specs = HF_BUFFER_INIT;
	cleanup_git_ids struct hf_git_ids ids = HF_GIT_IDS_INIT;
	size_t count = 0;
	size_t at = 0;
	int rc;

	for (size_t i = 0; i < work->count; i++) {
		const char *const path =
			hf_hook_git_path(work, work->items[i].path);

		if (!path)
			return hf_fail_memory(err);
		/* Git reads a spec a line: nobody knows of such a name. */
		if (is_asked(asking, i) && strchr(path, '\n'))
			asking->facts[i].is_stashed = true;
		else if (is_asked(asking, i))
			add_specs(asking, path, &specs, &count);
	}
	rc = hf_buffer_check(&specs, err);
	if (rc == 0)
		rc = hf_git_find_objects(&work->git, &specs, count, &ids, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < work->count; i++) {
		if (!is_asked(asking, i) || asking->facts[i].is_stashed)
			continue;
		learn_objects(asking,
			      (const char(*)[HF_GIT_ID_MAX])ids.items + at,
			      &asking->facts[i]);
		at += 1 + asking->stash_count * STASH_SPECS;
	}
	return 0;
}

static int ask_ignored(struct hf_hook_work *work, const char *path,
		       bool *ret_ignored, struct hf_error *err)
{
	const char *words[] = {"check-ignore", "-q", "--no-index",
			       "--",	       NULL, NULL};
	cleanup_buffer struct hf_buffer name = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
	int rc;

	/* It takes names from where it stands, and a colon first for more. */
	hf_buffer_printf(&name, "./%s", path);
	rc = hf_buffer_check(&name, err);
	if (rc < 0)
		return rc;
	words[4] = name.data;
	rc = hf_git_ask(&work->git, words, NULL, HF_GIT_ANSWER_MAX, &answer,
			err);
	*ret_ignored = rc == 0;
	return rc < 0 ? rc : 0;
}

/* -- what was there before git's
 * -------------------------------------------------- */

/* Has git that content, of this path or another?  1, or 0: not as far as can be
 * told. */
static int is_gits(struct hf_hook_work *work, const struct hf_entry *entry,
		   struct hf_error *err)
{
	cleanup_buffer struct hf_buffer content = HF_BUFFER_INIT;
	const char *const git_path = hf_hook_git_path(work, entry->path);
	int rc;

	if (!git_path)
		return hf_fail_memory(err);
	rc = hf_fetch(&work->project->store, entry, &content, err);
	return rc < 0 ? rc
		      : hf_git_has_content(&work->git, git_path, &content, err);
}

/* The newest recorded file that git does not have, into work->want. */
static int find_own(const struct hf_hook_asking *asking, const char *path,
		    bool *ret_found, struct hf_error *err)
{
	struct hf_hook_work *const work = asking->work;
	const char *const paths[] = {path, NULL};
	cleanup_holdings struct hf_holdings holdings = HF_HOLDINGS_INIT;
	struct hf_holding holding;
	struct hf_hash asked = {{0}};
	int rc;

	rc = hf_holdings_begin(&holdings, &work->project->store, paths, err);
	if (rc < 0)
		return rc;
	while ((rc = hf_holdings_next(&holdings, &holding, err)) > 0) {
		const struct hf_entry *const entry =
			hf_tree_find(holding.tree, path);

		if (!entry || !entry->has_hash ||
		    entry->stat.size > HF_GIT_ANSWER_MAX ||
		    hf_hash_equal(&entry->hash, &asked))
			continue;
		asked = entry->hash;
		rc = is_gits(work, entry, err);
		/* What cannot be read cannot be put back either. */
		if (rc > 0 || rc == HF_ERR_CORRUPT)
			continue;
		if (rc < 0)
			return rc;
		*ret_found = true;
		return hf_tree_add_copy(&work->want, entry)
			       ? 0
			       : hf_fail_memory(err);
	}
	return rc;
}

static int learn_own(const struct hf_hook_asking *asking, size_t index,
		     struct hf_error *err)
{
	struct hf_hook_after *const fact = &asking->facts[index];
	const char *const path = asking->work->items[index].path;
	int rc;

	if (!fact->was_tracked || fact->is_stashed)
		return 0;
	rc = ask_ignored(asking->work, path, &fact->is_ignored, err);
	if (rc == 0 && fact->is_ignored)
		rc = find_own(asking, path, &fact->has_own, err);
	return rc;
}

int hf_hook_ask(struct hf_hook_asking *asking, struct hf_error *err)
{
	struct hf_hook_work *const work = asking->work;
	int rc;

	asking->facts = calloc(work->count, sizeof(*asking->facts));
	if (!asking->facts)
		return hf_fail_memory(err);
	rc = ask_lists(asking, err);
	if (rc == 0)
		rc = learn_lists(asking, err);
	if (rc < 0)
		return rc;
	count_stashes(asking);
	if (asking->stash_count > STASHES_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot look into more than %zu stashes",
			       STASHES_MAX);
	rc = ask_objects(asking, err);
	for (size_t i = 0; rc == 0 && i < work->count; i++)
		if (!hf_hook_is_directory(work->items[i].delta))
			rc = learn_own(asking, i, err);
	return rc;
}
