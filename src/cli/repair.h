/* SPDX-License-Identifier: MIT */
/*
 * What the commands share that write: the store under its lock, no run beside
 * them, a journal of their own, and the words about what was done.
 */
#ifndef HF_CLI_REPAIR_H
#define HF_CLI_REPAIR_H

#include <stdbool.h>

#include "cli/command.h"
#include "core/journal.h"
#include "core/manifest.h"
#include "core/project.h"
#include "core/restore.h"

struct hf_cli_repair {
	struct hf_project project;
	struct hf_names dead;	/* sessions that did not end */
	const struct hf_options *options;
	struct hf_output *output;
	/* Where copies are written (restore --to); NULL: the tree is put back.
	 */
	const char *directory;
	/* As in struct hf_project; NULL: wait, and say so. */
	bool (*on_wait)(void *context);
};

#define HF_CLI_REPAIR_INIT	{ .project = HF_PROJECT_INIT, .dead = HF_NAMES_INIT }
#define cleanup_cli_repair	CLEANUP(hf_cli_repair_close)

/*
 * Project, store and its lock.  HF_ERR_BUSY when a run is in progress; verb is
 * for that message ("restore").  A dry run only reads: no lock, at any time.
 */
MUST_CHECK int hf_cli_repair_open(struct hf_cli_repair *repair,
				  const char *verb,
				  const struct hf_options *options,
				  struct hf_output *output,
				  enum hf_store_open_mode mode,
				  struct hf_error *err);
void hf_cli_repair_close(struct hf_cli_repair *repair);

/*
 * Settle what did not end as far as it is certain, and say so. HF_ERR_UNDECIDED
 * when a person must look; what is left is in repair->dead.
 */
MUST_CHECK int hf_cli_repair_recover(struct hf_cli_repair *repair,
				     const char *verb, struct hf_error *err);
/*
 * For commands that only look: what is certain of sessions that died is put back by
 * whichever command comes next, so by this one, where nobody else is at work.  What
 * is not, or cannot be done, is left for them to show.  The store is open, not
 * locked.
 */
void hf_cli_recover(struct hf_project *project, struct hf_output *output);

/*
 * The snapshot that --from means for these paths (NULL: for all), see
 * core/moment.h; the newest without it.
 */
MUST_CHECK int hf_cli_repair_load(const struct hf_cli_repair *repair,
				  const char *const *paths,
				  struct hf_manifest *ret_manifest,
				  struct hf_error *err);

/* A note when a purge was cut off. */
void hf_cli_note_purge(const char *store_path, struct hf_output *output);

/* Sessions that did not end are settled: the tree is right, or accepted. */
MUST_CHECK int hf_cli_repair_settle(struct hf_cli_repair *repair,
				    struct hf_error *err);

/* What is said of a plan, and how it went. */
struct hf_cli_repair_words {
	const char *kind;	/* of the journal: "restore" or "undo" */
	const char *snapshot;	/* name, "" when none */
	const char *const *argv;	/* for the journal */
	size_t additions;	/* left, since they were not to be removed */
	size_t allowed;		/* left, since commands may change them */
	bool is_settling;	/* all is right then: settle what did not end */
};

/*
 * Apply plan in a session of its own, print a line an entry and the line that
 * undoes it.  ret_status: 0, or 98 when a step failed.  A failure is one of the
 * session itself.
 */
MUST_CHECK int hf_cli_repair_apply(struct hf_cli_repair *repair,
				   struct hf_plan *plan,
				   const struct hf_cli_repair_words *words,
				   int *ret_status, struct hf_error *err);
/*
 * Bring back what record tells of, all of it or what of it was left in: the one
 * way of undo and of kept copies.  argv NULL: the session is undone by that;
 * else these are its words, and what else it has replaced can still be undone.
 */
MUST_CHECK int hf_cli_repair_undo(struct hf_cli_repair *repair,
				  const struct hf_session_record *record,
				  const char *const *argv, int *ret_status,
				  struct hf_error *err);
/* The line of one step that did something, or failed. */
void hf_cli_repair_say_step(const struct hf_cli_repair *repair,
			    const struct hf_step *step);
/* Of copies that were written into repair->directory: how many, or JSON. */
MUST_CHECK int hf_cli_repair_tell_copies(
	const struct hf_cli_repair *repair, const struct hf_plan *plan,
	const struct hf_cli_repair_words *words, struct hf_error *err);
/* Print what it would do instead. */
MUST_CHECK int hf_cli_repair_preview(struct hf_cli_repair *repair,
				     const struct hf_plan *plan,
				     const struct hf_cli_repair_words *words,
				     struct hf_error *err);

#endif /* HF_CLI_REPAIR_H */
