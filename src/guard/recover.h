/* SPDX-License-Identifier: MIT */
/*
 * Settle a session that died entirely: what its processes left is ended, what is
 * certain is put back, and what is not is told.  core/recover.h has the rules.
 *
 *	cleanup_recovery struct hf_recovery_work work = HF_RECOVERY_WORK_INIT;
 *
 *	rc = hf_recover_look(project, name, &work, err);
 *	...work.items, each with a decision, which may be changed...
 *	rc = hf_recover_apply(project, &work, &options, &result, err);
 *
 * Under the store's lock, while no other session lives.
 */
#ifndef HF_GUARD_RECOVER_H
#define HF_GUARD_RECOVER_H

#include "core/project.h"
#include "core/recover.h"
#include "core/restore.h"
#include "core/manifest.h"

struct hf_buffer;
struct hf_progress;

struct hf_recovery_item {
	const struct hf_delta *delta;
	const struct hf_entry *left;	/* by the session; NULL: not known */
	enum hf_recovery decision;
};

struct hf_recovery_work {
	struct hf_session_record record;
	struct hf_manifest manifest;	/* what was recorded before it */
	struct hf_tree now;
	struct hf_deltas deltas;
	struct hf_dead dead;
	/* One for each delta; what may differ is HF_RECOVERY_NOTHING. */
	struct hf_recovery_item *items;
	size_t count;
	size_t ended;		/* processes of it that were still there */
};

#define HF_RECOVERY_WORK_INIT						\
	{ .record = HF_SESSION_RECORD_INIT, .manifest = HF_MANIFEST_INIT, \
	  .now = HF_TREE_INIT, .deltas = HF_DELTAS_INIT, .dead = HF_DEAD_INIT }
#define cleanup_recovery	CLEANUP(hf_recovery_work_done)
void hf_recovery_work_done(struct hf_recovery_work *work);

/*
 * End what still lives of the session, and judge what differs from its snapshot.
 * HF_ERR_CORRUPT: its journal, or the snapshot, is damaged.
 */
MUST_CHECK int hf_recover_look(const struct hf_project *project,
			       const struct hf_name *name,
			       struct hf_progress *progress,
			       struct hf_recovery_work *ret_work,
			       struct hf_error *err);
/* The same without ending anything: for those who only show. */
MUST_CHECK int hf_recover_show(const struct hf_project *project,
			       const struct hf_name *name,
			       struct hf_progress *progress,
			       struct hf_recovery_work *ret_work,
			       struct hf_error *err);

/*
 * After decisions were changed: a directory that would be moved away or
 * replaced stays, when something in it is left or undecided.
 */
void hf_recovery_spare_directories(struct hf_recovery_work *work);

/* Items with that decision. */
size_t hf_recovery_count(const struct hf_recovery_work *work,
			 enum hf_recovery decision);

struct hf_recovery_result {
	size_t put_back;
	size_t failed;			/* entries that could not be */
	struct hf_error first_error;	/* of those; code 0 when none */
	struct hf_name session;		/* that put them back: for undo; "" */
	size_t undecided;
};

/*
 * Carry the decisions out: PUT_BACK is put back (in a session of its own), LEAVE
 * is noted as accepted.  The dead session is closed when nothing is left to
 * decide or to do.  done (may be NULL) is told of each step.
 */
MUST_CHECK int hf_recover_apply(struct hf_project *project,
				struct hf_recovery_work *work,
				void (*done)(void *context,
					     const struct hf_step *step),
				void *context,
				struct hf_recovery_result *ret_result,
				struct hf_error *err);

/*
 * Settle every one of these sessions as far as it is certain; those that are closed
 * leave *dead.  notes gets a line of what was done for each.  HF_ERR_UNDECIDED,
 * with what to type, when a person must look; verb is for that message ("run").
 */
MUST_CHECK int hf_recover_all(struct hf_project *project,
			      struct hf_names *dead, const char *verb,
			      struct hf_buffer *notes, struct hf_error *err);

/*
 * Before the tree is recorded by hand: the same, but what was done by hand and
 * did not come to its end, and a session whose journal is damaged, is for
 * whoever records the tree to accept.
 */
MUST_CHECK int hf_recover_before_record(struct hf_project *project,
					struct hf_names *dead,
					struct hf_buffer *notes,
					struct hf_error *err);
/* Is it of a run, by a journal that can be read? */
bool hf_recover_is_of_a_run(const struct hf_project *project,
			    const struct hf_name *name);
/*
 * Is it an undo that did not come to its end?  What that was to bring about
 * stands in no snapshot: *err says so and what to type, code HF_ERR_UNDECIDED.
 * verb is for that message.
 */
bool hf_recover_is_half_undone(const struct hf_project *project,
			       const struct hf_name *name, const char *verb,
			       struct hf_error *err);

#endif /* HF_GUARD_RECOVER_H */
