/* SPDX-License-Identifier: MIT */
/*
 * What front, guard and canary share.  See job.c for how they fit together.
 */
#ifndef HF_PLATFORM_LINUX_JOB_INTERNAL_H
#define HF_PLATFORM_LINUX_JOB_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "holdfast/error.h"
#include "platform/job.h"

/* Exit status of a child that never became the command; nobody sees it. */
#define HF_EXIT_NEVER_STARTED	127

/* How many descriptors hooks can listen to. */
#define HF_JOB_LISTEN_MAX 4

/* What front and guard tell each other; one packet each. */
enum hf_message_kind {
	HF_MESSAGE_FAILED,	/* guard: arming failed; error */
	HF_MESSAGE_STARTED,	/* guard: the command's pid */
	HF_MESSAGE_STOPPED,	/* guard: the command was stopped by signal value */
	HF_MESSAGE_ENDED,	/* guard: settled; result */
	HF_MESSAGE_STOP,	/* front: end the command; error */
	HF_MESSAGE_SEEN,	/* front: the group has got signal value */
	HF_MESSAGE_FORWARD,	/* front: send signal value to the command */
	HF_MESSAGE_RESUMED	/* front: the job was continued */
};

struct hf_message {
	enum hf_message_kind kind;
	int value;
	struct hf_job_result result;
	struct hf_error error;
};

struct hf_job {
	const struct hf_job_options *options;
	sigset_t all;		/* what we block */
	bool ignores_children;	/* so does the command */
	sigset_t inherited;	/* what the command gets */
	int signal_fd;
	int peer_fd;		/* from front to guard, from guard to front */
	int canary_fd;		/* front: asks, and hears what the canary saw */
	int asked;		/* front: how often */
	/* Front: who sent a signal that the canary got and front not yet, + 1.
	 */
	pid_t canary_saw[NSIG];
	int alive_fd;		/* a pipe: guard holds its end while it lives */
	int go_fd;		/* guard: says "go" to the held command */
	int error_fd;		/* guard: why the command was not executed */
	int gate_socket_fd; /* guard: the listener comes through it */
	int listen_fds[HF_JOB_LISTEN_MAX];
	size_t listen_count;
	int gate_fd; /* the listener; or why there is none, -errno */
	int proc_fd;		/* /proc as it was before the command */
	int64_t alarm_ns;
	pid_t front;
	pid_t guard;
	pid_t canary;
	pid_t command;
	bool is_command_stopped;
	bool is_stopping;	/* hf_job_stop() was called */
	struct hf_job_end end;
};

/* HF_ERR_SYSTEM by errno: "cannot start the command: WHAT". */
int hf_job_fail_start(struct hf_error *err, const char *what);

/* In guard, while it is in the job's group.  Fills in command, go_fd, error_fd and
 * gate_socket_fd. */
MUST_CHECK int hf_job_fork_command(struct hf_job *job, struct hf_error *err);

/* In front, once guard and canary are forked.  Fills in *ret_result. */
MUST_CHECK int hf_job_front(struct hf_job *job,
			    struct hf_job_result *ret_result,
			    struct hf_error *err);
_Noreturn void hf_job_guard(struct hf_job *job);
/*
 * In front.  Without a canary (no process to be had) a signal to the group may
 * reach the command twice, which is better than not at all.
 */
void hf_job_start_canary(struct hf_job *job);

/* In front; nothing when there is none, which a short command never gets. */
void hf_job_end_canary(struct hf_job *job);

void hf_message_send(int fd, const struct hf_message *message);
/* 1 with a message, 0 when the other end is gone. */
int hf_message_receive(int fd, struct hf_message *ret_message);
/* The same with a descriptor (-1: none), which the receiver owns. */
void hf_message_send_with(int fd, const struct hf_message *message,
			  int attached_fd);
int hf_message_receive_with(int fd, struct hf_message *ret_message,
			    int *ret_attached_fd);

/* The next signal; false when there is none. */
bool hf_job_next_signal(const struct hf_job *job,
			struct signalfd_siginfo *ret_signal);

/* /dev/null on 0 and 1, everything else closed but what we need. */
void hf_job_close_inherited(const struct hf_job *job);

/* Note how the command ended. */
void hf_job_note_status(struct hf_job_end *end, int wait_status);

/* -- process.c ------------------------------------------------------------- */

/* Parent and start (field 22 of proc_pid_stat(5), in clock ticks) of a process.
 */
bool hf_process_look(uint64_t pid, uint64_t *ret_parent, uint64_t *ret_start);

/* -- job_tree.c ------------------------------------------------------------- */

/* Our own descendants; zombies left out.  proc_fd: the /proc to look into. */
MUST_CHECK int hf_tree_processes(int proc_fd,
				 struct hf_processes *ret_processes);
/* Is it stopped, by a signal or a debugger? */
bool hf_tree_is_stopped(int proc_fd, pid_t pid);
/* Send a signal to each; how many got it. */
size_t hf_tree_signal(const struct hf_processes *processes, int signal);
/*
 * End all descendants: stopped first so that none can fork away, then killed
 * and reaped, again until there is no child or the bound is reached.
 * ended(context, pid, status) is told of each that was reaped.  Returns how
 * many are still there.
 */
size_t hf_tree_end(int proc_fd,
		   void (*ended)(void *context, pid_t pid, int status),
		   void *context);

#endif /* HF_PLATFORM_LINUX_JOB_INTERNAL_H */
