/* SPDX-License-Identifier: MIT */
/*
 * Run a command between front, canary and guard.
 *
 *	shell - front		the shell's child, in the job's process group
 *		  |- canary	same group
 *		  `- guard	a session of its own
 *		       `- command	in the job's group
 *
 * Guard must be an ancestor of the command, because Yama lets nobody else look
 * into it, and must not be in the job's group, because a signal to the group
 * may be SIGKILL.  So it forks the command first, while it still is in that
 * group, and then leaves for a session of its own.  A group of its own in the
 * same session would not do: then it would be what ties the job's group to the
 * session, and where nothing else does, as in a CI job, the command's end would
 * orphan the group, which the kernel hangs up when a process in it is stopped
 * (kill_orphaned_pgrp() in kernel/exit.c; POSIX, _exit()).
 *
 * Front and guard block every signal and take them from a signalfd.  What the
 * terminal sends (SI_KERNEL) the command has got by itself; what somebody sent
 * to front alone is forwarded, and the canary tells that from a signal to the
 * group. It is forked when the command has run for a moment, or is stopped
 * before: a short command has no need of it. A signalfd inherited over fork()
 * reads the signals of whoever reads it.
 *
 * Each of front and guard notices the other's death by the end of their socket,
 * ends the tree and settles.  Both are subreapers: orphans come to guard, and
 * after its death to front.
 */
#include "platform/job.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "platform/file.h"
#include "platform/gate.h"
#include "platform/linux/descriptor.h"
#include "platform/linux/job_internal.h"

/* -- messages ---------------------------------------------------------------
 */

void hf_message_send_with(int fd, const struct hf_message *message,
			  int attached_fd)
{
	/* A vanished peer is noticed where its end is polled. */
	hf_descriptor_send(fd, message, sizeof(*message), attached_fd,
			   MSG_DONTWAIT);
}

void hf_message_send(int fd, const struct hf_message *message)
{
	hf_message_send_with(fd, message, -1);
}

int hf_message_receive_with(int fd, struct hf_message *ret_message,
			    int *ret_attached_fd)
{
	ssize_t len;

	/* A peer that ended with something unread has reset us; that is told
	 * once, and before what it said at last. */
	do
		len = hf_descriptor_receive(
			fd, ret_message, sizeof(*ret_message), ret_attached_fd);
	while (len == -ECONNRESET);
	return len == (ssize_t)sizeof(*ret_message);
}

int hf_message_receive(int fd, struct hf_message *ret_message)
{
	cleanup_fd int unwanted_fd = -1;

	return hf_message_receive_with(fd, ret_message, &unwanted_fd);
}

bool hf_job_next_signal(const struct hf_job *job,
			struct signalfd_siginfo *ret_signal)
{
	ssize_t len;

	do
		len = read(job->signal_fd, ret_signal, sizeof(*ret_signal));
	while (len < 0 && errno == EINTR);
	return len == (ssize_t)sizeof(*ret_signal);
}

void hf_job_note_status(struct hf_job_end *end, int wait_status)
{
	end->code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
	end->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
}

/* -- descriptors ------------------------------------------------------------
 */

static int lower(int fd, int first, int lowest)
{
	return fd >= first && (lowest < 0 || fd < lowest) ? fd : lowest;
}

/* The lowest descriptor not below first that we need; -1 when there is none. */
static int next_needed(const struct hf_job *job, int first)
{
	const int own[] = {job->signal_fd, job->peer_fd, job->canary_fd,
			   job->alive_fd,  job->go_fd,	 job->error_fd,
			   job->proc_fd,   job->gate_fd, job->gate_socket_fd};
	int lowest = -1;

	for (size_t i = 0; i < HF_COUNT(own); i++)
		lowest = lower(own[i], first, lowest);
	for (size_t i = 0; i < job->options->keep_count; i++)
		lowest = lower(job->options->keep[i], first, lowest);
	return lowest;
}

/*
 * A pipe that we hold open keeps its reader waiting after the command has
 * closed it; a terminal that we read from would steal the command's input.
 */
void hf_job_close_inherited(const struct hf_job *job)
{
	const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int first = STDERR_FILENO + 1;
	int needed;

	if (null_fd >= 0) {
		(void)dup2(null_fd, STDIN_FILENO);
		(void)dup2(null_fd, STDOUT_FILENO);
	} else {
		(void)close(STDIN_FILENO);
		(void)close(STDOUT_FILENO);
	}
	while ((needed = next_needed(job, first)) >= 0) {
		if (needed > first)
			(void)close_range((unsigned)first, (unsigned)needed - 1,
					  0);
		first = needed + 1;
	}
	(void)close_range((unsigned)first, ~0u, 0);
}

/* -- the start --------------------------------------------------------------
 */

int hf_job_fail_start(struct hf_error *err, const char *what)
{
	return hf_fail_system(err, -errno, "cannot start the command: %s",
			      what);
}

static int block_signals(struct hf_job *job, struct hf_error *err)
{
	struct sigaction before;

	/* A debugger's breakpoint must keep working. */
	(void)sigfillset(&job->all);
	(void)sigdelset(&job->all, SIGTRAP);
	if (sigprocmask(SIG_BLOCK, &job->all, &job->inherited) < 0 ||
	    sigaction(SIGCHLD, NULL, &before) < 0)
		return hf_job_fail_start(err, "signals");
	/* Ignored, the ends of children would not be told. */
	job->ignores_children = before.sa_handler == SIG_IGN;
	if (job->ignores_children)
		(void)signal(SIGCHLD, SIG_DFL);
	job->signal_fd = signalfd(-1, &job->all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signal_fd < 0)
		return hf_job_fail_start(err, "signals");
	return 0;
}

static int fork_guard(struct hf_job *job, struct hf_error *err)
{
	int alive[2];
	int pair[2];

	if (pipe2(alive, O_CLOEXEC) < 0)
		return hf_job_fail_start(err, "pipe");
	job->alive_fd = alive[0];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		(void)close(alive[1]);
		return hf_job_fail_start(err, "socket");
	}
	job->peer_fd = pair[0];
	job->guard = fork();
	if (job->guard == 0) {
		(void)close(pair[0]);
		(void)close(alive[0]);
		job->peer_fd = pair[1];
		job->alive_fd = alive[1];
		hf_job_guard(job);
	}
	(void)close(pair[1]);
	(void)close(alive[1]);
	return job->guard < 0 ? hf_job_fail_start(err, "fork") : 0;
}

static int run(struct hf_job *job, struct hf_job_result *ret_result,
	       struct hf_error *err)
{
	uint64_t pid;
	uint64_t start;
	int rc;

	/* Without it the processes of the command cannot be found and ended.
	 * The command may mount something else there; what is open stays. */
	hf_process_self(&pid, &start);
	job->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (start == 0 || job->proc_fd < 0)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "cannot start the command: /proc cannot be "
			       "read");
	job->front = getpid();
	rc = block_signals(job, err);
	if (rc < 0)
		return rc;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return hf_job_fail_start(err, "subreaper");
	rc = fork_guard(job, err);
	if (rc < 0)
		return rc;
	return hf_job_front(job, ret_result, err);
}

void hf_job_end_canary(struct hf_job *job)
{
	/* Number 0 would be our own group. */
	if (job->canary <= 0)
		return;
	(void)kill(job->canary, SIGKILL);
	(void)waitpid(job->canary, NULL, 0);
	job->canary = 0;
}

int hf_job_run(const struct hf_job_options *options,
	       struct hf_job_result *ret_result, struct hf_error *err)
{
	struct hf_job job = {
		.options = options,
		.signal_fd = -1,
		.peer_fd = -1,
		.canary_fd = -1,
		.alive_fd = -1,
		.go_fd = -1,
		.error_fd = -1,
		.gate_socket_fd = -1,
		.gate_fd = -ENOSYS,
		.proc_fd = -1,
		.end = {.code = -1},
	};
	const int rc = run(&job, ret_result, err);

	hf_job_end_canary(&job);
	hf_file_close_quietly(&job.signal_fd);
	hf_file_close_quietly(&job.peer_fd);
	hf_file_close_quietly(&job.canary_fd);
	hf_file_close_quietly(&job.alive_fd);
	hf_file_close_quietly(&job.proc_fd);
	hf_file_close_quietly(&job.gate_fd);
	hf_processes_done(&job.end.leftovers);
	/*
	 * After a run all signals stay blocked: a late Ctrl-C must not take the
	 * verdict's place.  The caller is about to exit.
	 */
	if (rc < 0)
		(void)sigprocmask(SIG_SETMASK, &job.inherited, NULL);
	return rc;
}

/* -- for hooks --------------------------------------------------------------
 */

void hf_job_listen(struct hf_job *job, int fd)
{
	assert(job->listen_count < HF_JOB_LISTEN_MAX);
	job->listen_fds[job->listen_count++] = fd;
}

int hf_job_gate(struct hf_job *job)
{
	int rc;

	if (job->gate_socket_fd < 0)
		return job->gate_fd;
	/* It may have ended before it could say anything. */
	rc = hf_gate_receive(job->gate_socket_fd, &job->gate_fd);
	if (rc < 0)
		job->gate_fd = rc;
	hf_file_close_quietly(&job->gate_socket_fd);
	return job->gate_fd;
}

int hf_job_proc(const struct hf_job *job)
{
	return job->proc_fd;
}

void hf_job_set_alarm(struct hf_job *job, int64_t boot_ns)
{
	job->alarm_ns = boot_ns;
}

void hf_job_stop(struct hf_job *job)
{
	job->is_stopping = true;
}

int hf_job_processes(struct hf_job *job, struct hf_processes *ret_processes)
{
	return hf_tree_processes(job->proc_fd, ret_processes);
}

/* -- for the caller ---------------------------------------------------------
 */

int hf_process_exec(const char *const *argv)
{
	/* execvp() does not write to the words; its type is older than const.
	 */
	union {
		const char *const *given;
		char *const *taken;
	} words = {.given = argv};

	(void)execvp(argv[0], words.taken);
	return -errno;
}

_Noreturn void hf_process_die_by(int signal_number)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	/* The command has left its own core file, if any. */
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(signal_number, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal_number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(signal_number);
	_exit(128 + signal_number);
}
