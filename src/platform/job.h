/* SPDX-License-Identifier: MIT */
/*
 * The process seam: run one command as if holdfast were not there, outlive it
 * with all its descendants, and survive the death of any process of ours.
 *
 * Three processes besides the command: front is the caller, guard watches and
 * settles, canary tells the two about signals and deaths.  The mechanics are
 * the system's; what is watched and what settling means is told by hooks, which
 * run in guard.  After guard's death settle runs in front.
 */
#ifndef HF_PLATFORM_JOB_H
#define HF_PLATFORM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "holdfast/error.h"

struct hf_job;

/* A process as far as it could be looked at; strings are "" when unknown. */
struct hf_process {
	int64_t pid;
	int64_t parent;
	char comm[32];
	char *command_line;	/* argv, each word ended by NUL; may be NULL */
	size_t command_line_len;
	bool has_ended;		/* of a leftover: did it end in time? */
	bool has_ended_itself;	/* while it was only waited for */
};

struct hf_processes {
	struct hf_process *items;
	size_t count;
	size_t capacity;
};

#define HF_PROCESSES_INIT { .items = NULL }
#define cleanup_processes CLEANUP(hf_processes_done)
void hf_processes_done(struct hf_processes *processes);

/* How it all ended, for settle. */
struct hf_job_end {
	bool has_run;		/* the command was executed */
	int exec_errno;		/* why it was not; 0 when it never came to it */
	int code;		/* exit code; -1 when there is none */
	int signal;		/* that ended it; 0 when none */
	bool was_stopped;	/* ended by hf_job_stop(), or because of error */
	struct hf_error error;	/* of started; code 0 when none */
	bool is_survivor;	/* another process of ours died before */
	/* Alive when the command had ended; those that could not be ended are
	 * counted in unended. */
	struct hf_processes leftovers;
	size_t unended;
};

struct hf_job_hooks {
	void *context;
	/* The command is forked and held.  Negative: it never starts. */
	int (*arm)(void *context, struct hf_job *job, struct hf_error *err);
	/* A descriptor given to hf_job_listen() is readable. */
	void (*ready)(void *context, struct hf_job *job);
	/*
	 * A signal of leases has come (platform/lease.h), with this descriptor;
	 * -1 with the last of those that were there together.  May be NULL.
	 */
	void (*signalled)(void *context, struct hf_job *job, int signal,
			  int fd);
	/* The time given to hf_job_set_alarm() has come. */
	void (*alarm)(void *context, struct hf_job *job);
	/*
	 * In front, when the command has run for a moment: slow work, so that
	 * guard need not wait for a disk and a short command pays nothing.  May
	 * never be called.  Negative: the command is ended.
	 */
	int (*started)(void *context, struct hf_error *err);
	/*
	 * Everything has ended.  Returns what run exits with: 0 for the
	 * command's own status, or 97, 98, 125.
	 */
	int (*settle)(void *context, const struct hf_job_end *end);
};

struct hf_job_options {
	const char *const *argv;	/* NULL-terminated */
	/* "NAME=VALUE" each, added for the command; NULL-terminated, or NULL.
	 */
	const char *const *variables;
	bool wants_gate;	 /* see hf_job_gate() */
	bool wait_for_leftovers;	/* up to the limit, instead of ending them */
	uint32_t leftover_limit_ms;	/* how long to wait then */
	/* Descriptors of ours that front and guard keep; all others are closed
	 * there, and these are closed in the command. */
	const int *keep;
	size_t keep_count;
	struct hf_job_hooks hooks;
};

struct hf_job_result {
	int status;		/* settle's */
	bool has_run;
	int exec_errno;
	int code;
	int signal;
};

/*
 * Returns in front, when all has ended, with all signals blocked and
 * descriptors 0 and 1 on /dev/null: the caller exits.  It must have one thread
 * and no children.  HF_ERR_SYSTEM when the processes cannot be made; arm's
 * failure is passed on as it is.
 */
MUST_CHECK int hf_job_run(const struct hf_job_options *options,
			  struct hf_job_result *ret_result,
			  struct hf_error *err);

/* -- for hooks ------------------------------------------------------------ */

/* Poll this descriptor too and call ready. */
void hf_job_listen(struct hf_job *job, int fd);
/*
 * The listener of the command's filter (platform/gate.h), which stays the
 * job's; or why there is none, -errno.
 */
MUST_CHECK int hf_job_gate(struct hf_job *job);
/* /proc as it was before the command. */
int hf_job_proc(const struct hf_job *job);
/* Call alarm at this time of hf_system_boot_ns(); 0 for never. */
void hf_job_set_alarm(struct hf_job *job, int64_t boot_ns);
/* End the whole tree at once; settle follows. */
void hf_job_stop(struct hf_job *job);
/* The command's processes that live now. */
MUST_CHECK int hf_job_processes(struct hf_job *job,
				struct hf_processes *ret_processes);

/* -- for the caller ------------------------------------------------------- */

/* The calling process. */
int64_t hf_process_pid(void);
/* The calling process and its start time, as in a journal. */
void hf_process_self(uint64_t *ret_pid, uint64_t *ret_start);
/* Is (pid, start) an ancestor of the calling process? */
bool hf_process_is_ancestor(uint64_t pid, uint64_t start);
/*
 * Call function in a child process and wait for it: what it does to
 * descriptors, signals and memory stays there.  It fills in len bytes at
 * result, which come back to the caller; -EPIPE when the child died before.
 */
MUST_CHECK int hf_process_apart(void (*function)(void *context, void *result),
				void *context, void *result, size_t len);
/* Into a process group of its own: what a terminal sends to the caller's does not
 * come here. */
void hf_process_leave_group(void);
/* A descriptor that whatever we execute would have, and could write to. */
struct hf_inherited {
	int fd;
	uint64_t dev;
	uint64_t ino;
};

/* Those of files; to free().  Returns how many, or -errno. */
MUST_CHECK int hf_process_inherited(struct hf_inherited **ret_items);
/*
 * End at once every process that was started since then (hf_system_boot_ns())
 * with all of these "NAME=VALUE" in its environment (NULL-terminated), and wait
 * for it, for a moment.  Of other users only where the system lets us.
 * *ret_ended: how many; returns how many are still there, or -errno.
 */
MUST_CHECK int hf_process_end_marked(const char *const *variables,
				     int64_t since_boot_ns, size_t *ret_ended);
/*
 * Let the signals wait by which a person or a system ends a program (of a
 * terminal, a hang-up, SIGTERM), and the stop key: a repair by hand is brought
 *to its end first.  Released, they do what they do.
 *
 *	cleanup_ends unsigned held = hf_process_hold_ends();
 */
MUST_CHECK unsigned hf_process_hold_ends(void);
void hf_process_release_ends(const unsigned *held);
#define cleanup_ends CLEANUP(hf_process_release_ends)
/* Become the command; returns -errno. */
int hf_process_exec(const char *const *argv);
/* End by this signal, without a core file; exits with 128 + signal where the
 * signal does not end a process. */
_Noreturn void hf_process_die_by(int signal);

#endif /* HF_PLATFORM_JOB_H */
