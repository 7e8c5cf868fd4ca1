/* SPDX-License-Identifier: MIT */
/*
 * Put entries back: a pure plan first, then its steps one by one.
 *
 * Only what differs is touched.  For each step: the new state is made beside the
 * old (temporary name, content verified while it is written, metadata, fsync),
 * what is there is kept and journalled, the names are swapped, the directory is
 * synced, and the result is read again through its path.  A step that fails
 * leaves its entry as it was and does not stop the others.
 *
 *	rc = hf_restore_plan(&deltas, want, &options, &plan, err);
 *	rc = hf_restore_apply(&plan, &context, err);	(first failure, or 0)
 *	...plan.steps[i].result, .err tell about each...
 *
 * A plan has more steps than there are deltas: the directories above each entry
 * are looked at again (change 0, SKIPPED when they are right).
 */
#ifndef HF_CORE_RESTORE_H
#define HF_CORE_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/compare.h"
#include "core/journal.h"
#include "core/metadata.h"
#include "core/store.h"
#include "holdfast/error.h"

struct hf_spare;

enum hf_action {
	HF_ACTION_MAKE_DIRECTORY,	/* missing, or something else is there */
	HF_ACTION_PUT_FILE,
	HF_ACTION_PUT_LINK,
	HF_ACTION_PUT_NODE,		/* fifo, socket, device */
	HF_ACTION_SET_METADATA,		/* content is right */
	HF_ACTION_REMOVE		/* an addition: moves to the kept copies */
};

enum hf_step_result {
	HF_STEP_WAITING,
	HF_STEP_DONE,
	HF_STEP_FAILED,
	HF_STEP_SKIPPED		/* is right already, or its parent failed */
};

struct hf_step {
	enum hf_action action;
	const struct hf_entry *want;	/* kind absent or NULL for a removal */
	const struct hf_entry *now;	/* NULL or kind absent: nothing there */
	unsigned change;		/* why: set of enum hf_change */
	const char *source;		/* a kept path instead of the pack; or NULL */
	enum hf_step_result result;
	char *kept;		/* where the old state went; NULL for nowhere */
	/* Why it failed, or was skipped; NULL when it is right. */
	const struct hf_error *err;
	/* The step of the directory it lies in; HF_STEP_NONE when there is none. */
	size_t parent;
	bool has_worked;	/* a directory: something changed in it */
	/* A removal whose name is that of another step but for its case. */
	bool goes_first;
};

#define HF_STEP_NONE	SIZE_MAX

struct hf_plan {
	/* Parents before children; removals last, deepest first. */
	struct hf_step *steps;
	size_t count;
	size_t capacity;
};

#define HF_PLAN_INIT	{ .steps = NULL }
#define cleanup_plan	CLEANUP(hf_plan_done)

struct hf_plan_options {
	bool remove_additions;
	/* Which deltas to act on: NULL for all, else a NULL-terminated list of
	 * paths, each with what lies beneath it. */
	const char *const *paths;
	/* Entries that must not be touched (role ALLOWED is never touched). */
	bool (*is_left)(const struct hf_delta *delta, void *context);
	void *context;
};

/*
 * Pure.  want is the tree that the deltas' before sides come from: missing
 * directories above a wanted entry are taken from it.
 */
MUST_CHECK int hf_restore_plan(const struct hf_deltas *deltas,
			       const struct hf_tree *want,
			       const struct hf_plan_options *options,
			       struct hf_plan *ret_plan, struct hf_error *err);

/*
 * What undoing a session means: each kept record's old state is wanted again.
 * now is looked up per path by the caller (tree sorted, files hashed).
 */
MUST_CHECK int hf_restore_plan_undo(const struct hf_session_record *session,
				    const struct hf_tree *now,
				    struct hf_plan *ret_plan,
				    struct hf_error *err);

struct hf_restore_context {
	const struct hf_store *store;
	struct hf_journal *journal;	/* of the session that restores */
	int root_fd;
	/*
	 * root_fd is not the tree but a directory for copies.  Nothing that
	 * stands there is replaced; nothing is kept or journalled (journal
	 * NULL), and the metadata are those that the user may give.
	 */
	bool is_elsewhere;
	/* Where contents are that the store has lost; may be NULL. */
	const struct hf_spare *spare;
	/* Called once for each step that has a result; may be NULL. */
	void (*done)(void *context, const struct hf_step *step);
	void *context;
};

MUST_CHECK int hf_restore_apply(struct hf_plan *plan,
				const struct hf_restore_context *context,
				struct hf_error *err);

/* How much of an entry's metadata is to be set, see core/metadata.h. */
enum hf_metadata_extent hf_restore_extent(
	const struct hf_restore_context *context);
/* The entry that a step is about. */
const char *hf_step_path(const struct hf_step *step);
/*
 * Has the file, link or node other names while it is not the one that was
 * recorded?  Then its metadata is not ours to set: the name gets one of its own.
 */
bool hf_step_is_shared(const struct hf_entry *want, const struct hf_stat *now);
/*
 * Is it the very file that was recorded, and had that other names?  Then it must
 * go on being shared: it is written in place.
 */
bool hf_step_must_survive(const struct hf_entry *want,
			  const struct hf_stat *now);
/* For apply: remember why, and forget it. */
void hf_step_fail(struct hf_step *step, const struct hf_error *err);
void hf_step_clear(struct hf_step *step);

/*
 * Remove what a restore that was killed has left beside the entries of tree: our
 * temporary names, when they are no directory or an empty one.  Whether one holds
 * the new content, in part, or what was replaced, it is kept first: in the folder
 * of the session that died.  First failure, or 0.
 */
MUST_CHECK int hf_restore_sweep(const struct hf_store *store,
				const struct hf_name *session, int root_fd,
				const struct hf_tree *tree,
				struct hf_error *err);

/* How many steps ended so. */
size_t hf_plan_count(const struct hf_plan *plan, enum hf_step_result result);
void hf_plan_done(struct hf_plan *plan);

#endif /* HF_CORE_RESTORE_H */
