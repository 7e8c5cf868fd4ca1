/* SPDX-License-Identifier: MIT */
/*
 * A git hook at work on one project: what it looks at, what comes of it.
 *
 *	cleanup_hook_work struct hf_hook_work work = HF_HOOK_WORK_INIT;
 *
 *	rc = hf_hook_work_begin(&work, project, hook, args, err);
 *	rc = hf_hook_look_after(&work, err);	(or _staged, _pushed)
 *	...work.items...
 *	rc = hf_hook_put_back(&work, done, context, err);
 *	rc = hf_hook_record(&work, err);
 *
 * The store is open; it is locked where something is to be written.
 */
#ifndef HF_GUARD_HOOK_WORK_H
#define HF_GUARD_HOOK_WORK_H

#include "base/arena.h"
#include "core/git.h"
#include "core/manifest.h"
#include "core/project.h"
#include "core/restore.h"
#include "guard/hook_past.h"
#include "guard/hook_script.h"

struct hf_hook_item {
	const char *path;
	enum hf_hook_fate fate;	       /* after */
	enum hf_hook_verdict verdict;  /* before */
	bool is_deleted;	       /* staged so */
	bool is_there;		       /* in the work tree */
	const struct hf_delta *delta;  /* after; else NULL */
	const struct hf_name *session; /* that found the damage; or NULL */
	const char *commit;	       /* of a push; or NULL */
};

struct hf_hook_work {
	struct hf_project *project;
	enum hf_hook hook;
	const char *const *args; /* as git gave them; NULL-terminated */
	struct hf_git git;
	char *prefix; /* of the root in the work tree: "" or "a/" */
	char *git_dir;
	struct hf_manifest manifest; /* the newest */
	struct hf_tree now;
	struct hf_tree want; /* what is put back comes from here */
	struct hf_deltas deltas;
	struct hf_hook_history history;
	struct hf_hook_item *items;
	size_t count;
	size_t capacity;
	struct hf_arena arena; /* strings that nobody else has */
	bool is_in_progress;   /* a rebase, merge or bisect: nothing done */
	/* Of what was put back: "" when nothing was. */
	struct hf_name session;
	size_t failed;
	struct hf_error first_error;
	/* Of what was recorded: "" when nothing was. */
	struct hf_name snapshot;
};

#define HF_HOOK_WORK_INIT                                          \
	{                                                          \
		.manifest = HF_MANIFEST_INIT, .now = HF_TREE_INIT, \
		.want = HF_TREE_INIT, .deltas = HF_DELTAS_INIT,    \
		.history = HF_HOOK_HISTORY_INIT                    \
	}
#define cleanup_hook_work CLEANUP(hf_hook_work_done)
void hf_hook_work_done(struct hf_hook_work *work);

/* HF_ERR_NOTHING: nothing is recorded, so nothing is to be done. */
MUST_CHECK int hf_hook_work_begin(struct hf_hook_work *work,
				  struct hf_project *project, enum hf_hook hook,
				  const char *const *args,
				  struct hf_error *err);

/* What a checkout, merge or rewrite has left. */
MUST_CHECK int hf_hook_look_after(struct hf_hook_work *work,
				  struct hf_error *err);
/* What the commit would change. */
MUST_CHECK int hf_hook_look_staged(struct hf_hook_work *work,
				   struct hf_error *err);
/* What would be pushed; text is what git says on standard input. */
MUST_CHECK int hf_hook_look_pushed(struct hf_hook_work *work, char *text,
				   struct hf_error *err);

bool hf_hook_is_put_back(const struct hf_hook_item *item);
/* Items for which that is so. */
size_t hf_hook_count(const struct hf_hook_work *work,
		     bool (*is_so)(const struct hf_hook_item *item));

/* In a session of its own, if there is something. */
MUST_CHECK int hf_hook_put_back(struct hf_hook_work *work,
				void (*done)(void *context,
					     const struct hf_step *step),
				void *context, struct hf_error *err);
/* Git's changes are the new state, if there are some. */
MUST_CHECK int hf_hook_record(struct hf_hook_work *work, struct hf_error *err);

/* Private to guard/hook_*.c. */

/* Where git is, and whether it works on this project; asked once. */
MUST_CHECK int hf_hook_find_git(struct hf_hook_work *work,
				struct hf_error *err);
/* A new item of that path, copied; NULL: no memory. */
struct hf_hook_item *hf_hook_add(struct hf_hook_work *work, const char *path);
/* Sort them by path, and find one; NULL. */
void hf_hook_sort(struct hf_hook_work *work);
struct hf_hook_item *hf_hook_item(const struct hf_hook_work *work,
				  const char *path);
/* The path as git has it, in the arena; NULL: no memory. */
const char *hf_hook_git_path(struct hf_hook_work *work, const char *path);
/* The other way round; NULL for one outside the root. */
const char *hf_hook_own_path(const struct hf_hook_work *work,
			     const char *git_path);
/* Recorded as protected, a file or a link? */
const struct hf_entry *hf_hook_recorded(const struct hf_hook_work *work,
					const char *path);
/*
 * The session that knows the blob as damage of path; NULL: none.  The content
 * itself stays with git.
 */
MUST_CHECK int hf_hook_find_damage(struct hf_hook_work *work, const char *path,
				   const struct hf_git_change *change,
				   const struct hf_name **ret_session,
				   struct hf_entry *ret_entry,
				   struct hf_error *err);

#endif /* HF_GUARD_HOOK_WORK_H */
