/* SPDX-License-Identifier: MIT */
/*
 * One guarded run, from the lock to the last word.
 *
 * hf_session_run() records the tree, starts the command, watches, ends what is
 * left, looks at every protected entry, restores, and closes the journal.  What
 * it finds stands in struct hf_session, which the report layer reads; whoever
 * runs a session is told of each step by an observer.
 *
 * The observer's calls come from guard (or, when guard died, from front): another
 * process than the caller's, with the same standard error.
 */
#ifndef HF_GUARD_SESSION_H
#define HF_GUARD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/compare.h"
#include "core/journal.h"
#include "core/project.h"
#include "core/snapshot.h"
#include "guard/violation.h"
#include "platform/job.h"
#include "platform/watch.h"

struct hf_error;

/* Exit statuses of a run that are ours. */
#define HF_STATUS_VIOLATION	97
#define HF_STATUS_UNDECIDED	98
#define HF_STATUS_FAILURE	125
#define HF_STATUS_NOT_EXECUTABLE 126
#define HF_STATUS_NOT_FOUND	127

enum hf_session_status {
	HF_SESSION_RUNNING,
	HF_SESSION_CLEAN,
	HF_SESSION_VIOLATED,
	HF_SESSION_UNRESTORED,
	HF_SESSION_ERROR
};

/* Is a layer at work? */
enum hf_layer_state { HF_LAYER_UNAVAILABLE, HF_LAYER_OFF, HF_LAYER_ON };

/* A process that the command did not start and that opened a protected file for
 * writing, or changed one; strings live as long as the violations. */
struct hf_outsider {
	const char *path;
	struct hf_process process;	/* pid 0: nobody knows who */
	/* The user's own, in the same namespaces; not a service or container. */
	bool is_person;
	int64_t time_ns;	/* of the last time */
	bool has_changed;
};

/* What holdfast itself made different for a program of the command. */
struct hf_side_effect {
	const char *what;	/* a whole clause: "io_uring was refused" */
	struct hf_process process;
	uint64_t count;
};

struct hf_session;

/* What the command has in its environment: the session's name, and the store's
 * path, without which the name says little. */
#define HF_SESSION_VARIABLE "HOLDFAST_SESSION"
#define HF_STORE_VARIABLE   "HOLDFAST_STORE"

struct hf_session_observer {
	void *context;
	/* Sessions that did not end were settled before anything was recorded:
	 * what was done, a line each. */
	void (*recovered)(void *context, const char *lines);
	/* Recorded; the command is about to start.  drift: what changed since the
	 * session before, unguarded; NULL on the first. */
	void (*begun)(void *context, const struct hf_session *session,
		      const struct hf_deltas *drift);
	/* A layer does not hold, as the session says: the gate cannot be had, or
	 * the watch is not whole.  Once; the command is about to go. */
	void (*degraded)(void *context, const struct hf_session *session);
	/* A new violation. */
	void (*violation)(void *context, const struct hf_session *session,
			  const struct hf_violation *violation);
	/* Put back while the command goes on: violations have changed, in what
	 * became of them and in how often they were seen. */
	void (*restored)(void *context, const struct hf_session *session);
	/*
	 * The very end; all fields are final.  Returns 0, or the status to end
	 * with when what was asked for could not be done (a report); it counts
	 * only where the run itself would end with the command's.
	 */
	int (*finished)(void *context, const struct hf_session *session);
};

struct hf_session_options {
	const char *const *argv;
	const struct hf_session_observer *observer;	/* may be NULL */
	struct hf_progress *progress;			/* may be NULL */
	/* The first violation ends the command, a refused one as well. */
	bool fail_fast;
	/* Descriptors of the caller to keep open in our processes (report). */
	const int *keep;
	size_t keep_count;
};

struct hf_session {
	const struct hf_project *project;
	const char *const *argv;
	struct hf_name name;		/* "" before it is journalled */
	struct hf_manifest snapshot;	/* what the tree must be at the end */
	struct hf_snapshot_result recorded;
	bool is_first;			/* nothing was recorded before */
	bool has_policy_changed;
	struct hf_name previous;	/* the snapshot before; "" on the first */
	/* When the tree was last seen to be so: recorded, or a run ended. */
	int64_t previous_ns;
	size_t protected_before;	/* by the policy of the run before */
	enum hf_session_status status;
	int exit_status;		/* ours; 0 means the command's own */
	bool has_command_result;
	int command_code;		/* -1: none */
	int command_signal;
	int exec_errno;
	int64_t started_ns;
	int64_t ended_ns;		/* 0 while running */
	bool was_stopped;		/* a change that landed ended the command */
	bool is_survivor;		/* guard or front died */
	bool is_store_lost;		/* the command has damaged the store */
	bool is_store_mended;		/* what this run needs of it is there again */
	bool is_store_elsewhere;	/* but beside it, since its name was taken */
	bool look_failed;		/* the end could not be looked at */
	bool has_looked;		/* every entry was compared at the end */
	enum hf_layer_state gate;
	const char *gate_why;		/* NULL when on */
	size_t leases_wanted;
	size_t leases_held;		/* throughout the run */
	struct hf_outsider *outsiders;
	size_t outsider_count;
	struct hf_side_effect *side_effects;
	size_t side_effect_count;
	/* Changed and put back by other runs meanwhile. */
	size_t beside_count;
	const char *beside_path;	/* of the first */
	struct hf_name beside_session;	/* who did it, of the last */
	bool is_watch_complete;
	bool is_watch_told;		/* at the start */
	const char *watch_why;		/* NULL when complete */
	size_t protected_count;
	size_t verified_count;		/* right by content at the end */
	struct hf_processes leftovers;
	size_t unended;
	struct hf_violations violations;
	/* Paths that the policy lets the command change and that it changed. */
	const char **allowed;
	size_t allowed_count;
	struct hf_error error;		/* status ERROR or UNRESTORED: why */
	struct hf_buffer *notes;	/* lines of the scan worth saying */
};

struct hf_session_result {
	int status;		/* ours; 0: the command's own */
	int command_code;	/* -1: none */
	int command_signal;	/* die of it when status is 0 and this is not */
	int exec_errno;		/* why the command was not executed; 0 if it was */
};

/*
 * Run it all.  Returns 0 with *ret_result, or a failure before the command was
 * started (exit status by hf_session_failure_status()).  The project's store is
 * opened inside.
 */
MUST_CHECK int hf_session_run(struct hf_project *project,
			      const struct hf_session_options *options,
			      struct hf_session_result *ret_result,
			      struct hf_error *err);

/* 127 for a command that is not there, 126 for one that cannot be executed. */
int hf_session_exec_status(int exec_errno);
/* Say why, as a shell would; returns the error's code. */
int hf_session_fail_exec(struct hf_error *err, const char *command,
			 int exec_errno);

/* 98 for HF_ERR_UNDECIDED, 125 for all else. */
int hf_session_failure_status(const struct hf_error *err);

/*
 * Is the calling process inside a run of the same root?  Then `run` steps aside
 * and other commands say so.  False when there is no store.
 */
bool hf_session_is_inside(struct hf_project *project);

#endif /* HF_GUARD_SESSION_H */
