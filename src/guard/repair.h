/* SPDX-License-Identifier: MIT */
/*
 * Changes made by hand: a restore or an undo, each a session of its own.
 *
 *	rc = hf_repair_lock(project, "restore", HF_STORE_MUST_EXIST, &dead, err);
 *	...a plan (core/restore.h)...
 *	rc = hf_repair_apply(project, &plan, &words, &session, err);
 *
 * The store stays locked until the project is closed.
 */
#ifndef HF_GUARD_REPAIR_H
#define HF_GUARD_REPAIR_H

#include "core/journal.h"
#include "core/project.h"
#include "core/restore.h"

struct hf_buffer;
struct hf_error;

/*
 * Open the store and take its lock.  HF_ERR_BUSY when a run is in progress: it
 * puts back what it must itself; another repair by hand is waited for.  verb is
 * for that message.  ret_dead: the
 * sessions that did not end; their temporary names are swept.
 */
MUST_CHECK int hf_repair_lock(struct hf_project *project, const char *verb,
			      enum hf_store_open_mode mode,
			      struct hf_names *ret_dead, struct hf_error *err);

/*
 * Remove the temporary names that sessions which did not end have left in the
 * project, see hf_restore_sweep().
 */
void hf_repair_sweep(const struct hf_project *project,
		     const struct hf_names *dead);
/* The tree is right again, or accepted: the sessions that did not end are done. */
MUST_CHECK int hf_repair_settle(const struct hf_project *project,
				const struct hf_names *dead,
				struct hf_error *err);

/* What the session's journal says, and who is told of each step. */
struct hf_repair_options {
	const char *kind;		/* "restore" or "undo" */
	const char *snapshot;		/* "" when none */
	const char *const *argv;	/* what was asked for; NULL for nothing */
	void (*done)(void *context, const struct hf_step *step);	/* or NULL */
	void *context;
};

/*
 * Apply a plan in a session of its own, whose name is what undo takes.  Returns
 * 0 with *ret_failed, the first step that failed (code 0: none did); negative
 * when the session itself could not be kept.
 */
MUST_CHECK int hf_repair_apply(struct hf_project *project, struct hf_plan *plan,
			       const struct hf_repair_options *options,
			       struct hf_name *ret_session,
			       struct hf_error *ret_failed,
			       struct hf_error *err);

/*
 * What earlier undos of the session undone did not bring to an end is done now;
 * so is undone itself, where it is such an undo.
 */
MUST_CHECK int hf_repair_settle_undos(const struct hf_store *store,
				      const char *undone,
				      struct hf_error *err);

/* Did a step not do what it should? */
bool hf_repair_has_failed(const struct hf_step *step);

/*
 * The session to undo: the one that was typed, or (NULL) the newest that replaced
 * something and is not undone already.  HF_ERR_USAGE when there is none.  Damaged
 * journals are passed over; notes (may be NULL) gets a line for each.
 */
MUST_CHECK int hf_repair_find_undo(const struct hf_store *store,
				   const char *typed,
				   struct hf_session_record *ret_record,
				   struct hf_buffer *notes,
				   struct hf_error *err);

/* Add what stands at path now, or that nothing does; a file is not read yet. */
MUST_CHECK int hf_repair_look_at(const struct hf_project *project,
				 const char *path, struct hf_tree *tree,
				 struct hf_error *err);
/* What it takes to undo it: the plan, and the tree that the plan borrows from. */
MUST_CHECK int hf_repair_plan_undo(const struct hf_project *project,
				   const struct hf_session_record *record,
				   struct hf_progress *progress,
				   struct hf_tree *ret_now,
				   struct hf_plan *ret_plan,
				   struct hf_error *err);

#endif /* HF_GUARD_REPAIR_H */
