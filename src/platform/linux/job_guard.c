/* SPDX-License-Identifier: MIT */
/*
 * Guard: forks the command, watches over it, and settles when it has ended.
 *
 * The command is ended in three steps.  When it has exited and something it
 * started still lives, that is asked to end (TERM), and killed after a grace;
 * or waited for, if the policy says so.  hf_job_stop(), front's death and the
 * end of patience kill at once.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "platform/file.h"
#include "platform/linux/job_internal.h"
#include "platform/system.h"

#define NS_PER_MS     ((int64_t)1000 * 1000)
#define TERM_GRACE_NS ((int64_t)1500 * NS_PER_MS)

enum guard_phase {
	PHASE_RUNNING,
	PHASE_LEFTOVERS, /* the command has ended, others have not */
	PHASE_KILL,
	PHASE_DONE
};

/* A flood of events is taken in one go: each wake costs the command a switch. */
#define REST_NS (2 * NS_PER_MS)

struct guard {
	struct hf_job *job;
	int64_t rest_until_ns;	/* no events are taken before */
	enum guard_phase phase;
	int64_t patience_ns; /* when PHASE_LEFTOVERS becomes PHASE_KILL */
	bool is_waiting;     /* for leftovers, instead of ending them */
};

/* -- the command ------------------------------------------------------------
 */

/*
 * The errno of exec(), 0 when it worked: the pipe closes with it.  Called when
 * it can be read, since the command may be stopped before it comes to that.
 */
static void take_exec_error(struct hf_job *job)
{
	int rc = 0;
	ssize_t len;

	do
		len = read(job->error_fd, &rc, sizeof(rc));
	while (len < 0 && errno == EINTR);
	job->end.exec_errno = len == (ssize_t)sizeof(rc) ? -rc : 0;
	job->end.has_run = job->end.exec_errno == 0;
	hf_file_close_quietly(&job->error_fd);
}

/*
 * Signals that came before the command was there to get them.  It blocks them
 * until it begins, and then meets them as its first.
 */
static void pass_on_early_signals(struct hf_job *job)
{
	struct pollfd fd = {.fd = job->peer_fd, .events = POLLIN};
	struct hf_message message;

	while (poll(&fd, 1, 0) > 0 && fd.revents == POLLIN &&
	       hf_message_receive(job->peer_fd, &message))
		if (message.kind == HF_MESSAGE_FORWARD)
			(void)kill(job->command, message.value);
}

/* Our session, our descriptors, the layers; then the command may go. */
static int start(struct hf_job *job, struct hf_error *err)
{
	const struct hf_job_hooks *const hooks = &job->options->hooks;
	int rc;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	rc = hf_job_fork_command(job, err);
	if (rc < 0)
		return rc;
	if (setsid() < 0)
		return hf_fail_system(err, -errno,
				      "cannot start the command: session");
	hf_job_close_inherited(job);
	rc = hooks->arm(hooks->context, job, err);
	if (rc < 0)
		return rc;

	/* Front's copy, whether arm asked for it or not. */
	rc = job->options->wants_gate ? hf_job_gate(job) : -1;
	pass_on_early_signals(job);
	hf_message_send_with(job->peer_fd,
			     &(struct hf_message){.kind = HF_MESSAGE_STARTED,
						  .value = job->command},
			     rc);
	if (write(job->go_fd, "g", 1) != 1)
		return hf_fail_system(err, -errno,
				      "cannot start the command: pipe");
	hf_file_close_quietly(&job->go_fd);
	return 0;
}

/* -- the end of the tree ----------------------------------------------------
 */

static void note_command(void *context, pid_t pid, int status)
{
	struct hf_job *const job = context;

	if (pid == job->command)
		hf_job_note_status(&job->end, status);
}

/* What has ended by now; by itself, unless we have done something about it. */
static void mark_leftovers(struct guard *guard)
{
	struct hf_processes *const leftovers = &guard->job->end.leftovers;

	for (size_t i = 0; i < leftovers->count; i++) {
		struct hf_process *const process = &leftovers->items[i];

		process->has_ended =
			kill((pid_t)process->pid, 0) < 0 && errno == ESRCH;
		if (guard->is_waiting)
			process->has_ended_itself = process->has_ended;
	}
	guard->is_waiting = false;
}

static void kill_tree(struct guard *guard)
{
	struct hf_job *const job = guard->job;

	mark_leftovers(guard);
	job->end.unended = hf_tree_end(job->proc_fd, note_command, job);
	guard->phase = PHASE_DONE;
}

static void ask_to_end(struct guard *guard)
{
	const struct hf_processes *const leftovers = &guard->job->end.leftovers;

	(void)hf_tree_signal(leftovers, SIGTERM);
	(void)hf_tree_signal(leftovers, SIGCONT);
	guard->patience_ns = hf_system_boot_ns() + TERM_GRACE_NS;
}

/* The command has ended and something it started has not. */
static void begin_leftovers(struct guard *guard)
{
	struct hf_job *const job = guard->job;
	const struct hf_job_options *const options = job->options;

	guard->phase = PHASE_LEFTOVERS;
	if (hf_tree_processes(job->proc_fd, &job->end.leftovers) < 0) {
		guard->phase = PHASE_KILL;
		return;
	}
	if (!options->wait_for_leftovers) {
		ask_to_end(guard);
		return;
	}
	guard->is_waiting = true;
	guard->patience_ns =
		hf_system_boot_ns() + options->leftover_limit_ms * NS_PER_MS;
}

static void note_stop(struct hf_job *job, int status)
{
	if (WIFSTOPPED(status)) {
		job->is_command_stopped = true;
		hf_message_send(
			job->peer_fd,
			&(struct hf_message){.kind = HF_MESSAGE_STOPPED,
					     .value = WSTOPSIG(status)});
		return;
	}
	/* Continued from outside: front may still sleep. */
	job->is_command_stopped = false;
	(void)kill(job->front, SIGCONT);
}

static void reap(struct guard *guard)
{
	struct hf_job *const job = guard->job;

	for (;;) {
		int status;
		const pid_t pid =
			waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);

		if (pid < 0) {
			guard->phase = PHASE_DONE;
			return;
		}
		if (pid == 0)
			break;
		if (pid != job->command)
			continue;
		if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
			note_stop(job, status);
			continue;
		}
		hf_job_note_status(&job->end, status);
		guard->phase = PHASE_LEFTOVERS;
		guard->patience_ns = 0;
	}
	if (guard->phase == PHASE_LEFTOVERS && guard->patience_ns == 0)
		begin_leftovers(guard);
}

/* -- the loop ---------------------------------------------------------------
 */

static void take_signals(struct guard *guard)
{
	struct hf_job *const job = guard->job;
	const struct hf_job_hooks *const hooks = &job->options->hooks;
	struct signalfd_siginfo info;
	bool is_child = false;
	int told = 0;

	/* What is sent to guard itself is not obeyed: front speaks for the job.
	 */
	while (hf_job_next_signal(job, &info)) {
		const int number = (int)info.ssi_signo;

		is_child = is_child || number == SIGCHLD;
		if (!hooks->signalled || (number != SIGIO && number < SIGRTMIN))
			continue;
		hooks->signalled(hooks->context, job, number, info.ssi_fd);
		told = number;
	}
	if (told != 0)
		hooks->signalled(hooks->context, job, told, -1);
	if (is_child)
		reap(guard);
}

/* Whoever interrupts while we wait for what is left does not want to wait. */
static void lose_patience(struct guard *guard, const struct hf_message *message)
{
	const bool is_signal = message->kind == HF_MESSAGE_SEEN ||
			       message->kind == HF_MESSAGE_FORWARD;

	if (!guard->is_waiting || !is_signal ||
	    (message->value != SIGINT && message->value != SIGTERM &&
	     message->value != SIGHUP))
		return;
	mark_leftovers(guard);
	ask_to_end(guard);
}

static void take_message(struct guard *guard)
{
	struct hf_job *const job = guard->job;
	struct hf_message message;

	if (!hf_message_receive(job->peer_fd, &message)) {
		guard->phase = PHASE_KILL;
		job->end.is_survivor = true;
		return;
	}
	if (message.kind == HF_MESSAGE_STOP) {
		job->is_stopping = true;
		job->end.error = message.error;
	}
	if (guard->phase == PHASE_LEFTOVERS)
		lose_patience(guard, &message);
	if (guard->phase != PHASE_RUNNING)
		return;
	if (message.kind == HF_MESSAGE_FORWARD)
		(void)kill(job->command, message.value);
	if (message.kind != HF_MESSAGE_RESUMED)
		return;
	/* What continued front has mostly continued the command as well. */
	reap(guard);
	if (job->is_command_stopped)
		(void)kill(job->command, SIGCONT);
}

static int poll_timeout(const struct guard *guard)
{
	int64_t next = guard->job->alarm_ns;
	int64_t left;

	if (guard->phase == PHASE_LEFTOVERS &&
	    (next == 0 || guard->patience_ns < next))
		next = guard->patience_ns;
	if (next == 0)
		return -1;
	left = (next - hf_system_boot_ns() + NS_PER_MS - 1) / NS_PER_MS;
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static void check_times(struct guard *guard)
{
	struct hf_job *const job = guard->job;
	const struct hf_job_hooks *const hooks = &job->options->hooks;
	const int64_t now = hf_system_boot_ns();

	/* A tree that is to end gets nothing more from us. */
	if (!job->is_stopping && job->alarm_ns != 0 && now >= job->alarm_ns) {
		job->alarm_ns = 0;
		hooks->alarm(hooks->context, job);
	}
	if (guard->phase == PHASE_LEFTOVERS && now >= guard->patience_ns)
		guard->phase = PHASE_KILL;
	if (job->is_stopping && guard->phase != PHASE_DONE) {
		job->end.was_stopped = true;
		guard->phase = PHASE_KILL;
	}
}

static bool has_events(const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* When to look up again: what is due, or the end of the rest. */
static int loop_timeout(const struct guard *guard, bool is_resting)
{
	const int rest = (int)(REST_NS / NS_PER_MS);
	const int timeout = poll_timeout(guard);

	return is_resting && (timeout < 0 || timeout > rest) ? rest : timeout;
}

static void take_ready(struct guard *guard)
{
	const struct hf_job_hooks *const hooks = &guard->job->options->hooks;

	hooks->ready(hooks->context, guard->job);
	guard->rest_until_ns = hf_system_boot_ns() + REST_NS;
}

static void loop(struct guard *guard)
{
	struct hf_job *const job = guard->job;

	while (guard->phase != PHASE_DONE) {
		const bool is_resting =
			hf_system_boot_ns() < guard->rest_until_ns;
		const size_t count = is_resting ? 0 : job->listen_count;
		struct pollfd fds[3 + HF_JOB_LISTEN_MAX] = {
			{ .fd = job->signal_fd, .events = POLLIN },
			{ .fd = job->peer_fd, .events = POLLIN },
			{ .fd = job->error_fd, .events = POLLIN },
		};

		for (size_t i = 0; i < count; i++)
			fds[3 + i] = (struct pollfd){
				.fd = job->listen_fds[i],
				.events = POLLIN,
			};
		if (poll(fds, 3 + count, loop_timeout(guard, is_resting)) < 0)
			continue;
		if (fds[2].revents)
			take_exec_error(job);
		/* Events before the exit they led to. */
		if (has_events(fds + 3, count) ||
		    (is_resting && fds[0].revents))
			take_ready(guard);
		if (fds[1].revents)
			take_message(guard);
		if (fds[0].revents)
			take_signals(guard);
		check_times(guard);
		if (guard->phase == PHASE_KILL)
			kill_tree(guard);
	}
}

static void give_up(struct hf_job *job, const struct hf_error *err)
{
	if (job->command > 0) {
		(void)kill(job->command, SIGKILL);
		(void)waitpid(job->command, NULL, 0);
	}
	hf_message_send(
		job->peer_fd,
		&(struct hf_message){.kind = HF_MESSAGE_FAILED, .error = *err});
}

_Noreturn void hf_job_guard(struct hf_job *job)
{
	const struct hf_job_hooks *const hooks = &job->options->hooks;
	struct guard guard = {.job = job};
	struct hf_message message = {.kind = HF_MESSAGE_ENDED};
	struct hf_error err = {0};

	job->guard = getpid();
	if (start(job, &err) < 0) {
		give_up(job, &err);
		_exit(0);
	}
	loop(&guard);
	if (job->error_fd >= 0)
		take_exec_error(job);

	mark_leftovers(&guard);
	message.result = (struct hf_job_result){
		.status = hooks->settle(hooks->context, &job->end),
		.has_run = job->end.has_run,
		.exec_errno = job->end.exec_errno,
		.code = job->end.code,
		.signal = job->end.signal,
	};
	hf_message_send(job->peer_fd, &message);
	_exit(0);
}
