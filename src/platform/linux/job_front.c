/* SPDX-License-Identifier: MIT */
/*
 * Front: the process that the shell knows.
 *
 * It stops when the command stops, passes on what was sent to it alone, and
 * takes over when guard dies.
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/job_internal.h"

/* When the command has run this long, slow work may begin. */
#define MOMENT_MS 5

/* How long the canary may take to answer: it may be stopped. */
#define CANARY_WAIT_MS 500

/* What the canary has got so far, into canary_saw. */
static void ask_canary(struct hf_job *job)
{
	struct pollfd fd = {.fd = job->canary_fd, .events = POLLIN};
	int seen[2];

	job->asked++;
	if (send(job->canary_fd, &job->asked, sizeof(job->asked),
		 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
	while (poll(&fd, 1, CANARY_WAIT_MS) > 0) {
		if (recv(job->canary_fd, seen, sizeof(seen), 0) !=
			    (ssize_t)sizeof(seen) ||
		    (seen[0] == 0 && seen[1] == job->asked))
			return;
		if (seen[0] > 0 && seen[0] < NSIG)
			job->canary_saw[seen[0]] = seen[1] + 1;
	}
}

/*
 * A stop takes a SIGCONT away that waits, and a SIGCONT all stops: the canary
 * may have the second of two where front has the first.  The job has met both.
 */
static bool take_opposites(struct hf_job *job, int number)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	bool is_stop = false;
	bool has_any = false;

	for (size_t i = 0; i < HF_COUNT(stops); i++) {
		is_stop = is_stop || number == stops[i];
		if (number != SIGCONT)
			continue;
		has_any = has_any || job->canary_saw[stops[i]] != 0;
		job->canary_saw[stops[i]] = 0;
	}
	if (!is_stop)
		return has_any;
	has_any = job->canary_saw[SIGCONT] != 0;
	job->canary_saw[SIGCONT] = 0;
	return has_any;
}

/*
 * Did the canary get this signal as well?  The kernel sends to a whole group
 * before any of it can answer.
 */
static bool was_for_the_group(struct hf_job *job,
			      const struct signalfd_siginfo *info)
{
	const int number = (int)info->ssi_signo % NSIG;
	bool is_known;

	if (job->canary_fd < 0)
		return false;
	ask_canary(job);
	is_known = job->canary_saw[number] == (pid_t)info->ssi_pid + 1;
	if (is_known)
		job->canary_saw[number] = 0;
	return take_opposites(job, number) || is_known;
}

static void tell_guard(const struct hf_job *job, enum hf_message_kind kind,
		       int value)
{
	const struct hf_message message = {.kind = kind, .value = value};

	hf_message_send(job->peer_fd, &message);
}

/* Zombies of ours; and guard must not stay stopped: its leases would break. */
static void reap(const struct hf_job *job)
{
	int status;

	while (waitpid(job->guard, &status, WNOHANG | WUNTRACED) > 0)
		if (WIFSTOPPED(status))
			(void)kill(job->guard, SIGCONT);
}

/*
 * The terminal sends to the whole group, so the command has it, unless it was
 * not there yet: then it gets it before it begins.
 */
static void take_signal(struct hf_job *job, const struct signalfd_siginfo *info)
{
	const pid_t sender = (pid_t)info->ssi_pid;
	bool is_known = false;

	if (info->ssi_code == SI_KERNEL)
		is_known = job->command > 0;
	else if (sender == job->front || sender == job->command ||
		 sender == job->guard ||
		 (job->canary > 0 && sender == job->canary))
		return;
	else
		is_known = was_for_the_group(job, info);
	tell_guard(job, is_known ? HF_MESSAGE_SEEN : HF_MESSAGE_FORWARD,
		   (int)info->ssi_signo);
}

static void take_signals(struct hf_job *job)
{
	struct signalfd_siginfo info;

	while (hf_job_next_signal(job, &info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(job);
			continue;
		}
		take_signal(job, &info);
	}
}

/*
 * Stop by this signal, unless the command goes on by now: whoever continued the
 * job has continued us as well, before we stopped.  A stop key waits, blocked,
 * while that is asked, and a SIGCONT that comes later takes it away.  SIGSTOP
 * cannot wait; there an instant is left.
 */
static bool stop_by(const struct hf_job *job, int signal_number)
{
	const struct timespec none = {0};
	const bool can_wait = signal_number != SIGSTOP;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal_number);
	if (can_wait) {
		(void)signal(signal_number, SIG_DFL);
		(void)kill(getpid(), signal_number);
	}
	if (!hf_tree_is_stopped(job->proc_fd, job->command)) {
		if (can_wait)
			(void)sigtimedwait(&set, NULL, &none);
		return false;
	}
	if (!can_wait)
		(void)kill(getpid(), signal_number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Here the shell has its prompt, until it continues us. */
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return true;
}

/* The command was stopped: so must the shell's child be, for the same reason.
 */
static void stop_too(struct hf_job *job, int signal_number)
{
	/* Who else would wake us if guard died meanwhile? */
	hf_job_start_canary(job);
	if (stop_by(job, signal_number))
		tell_guard(job, HF_MESSAGE_RESUMED, 0);
}

static void note_command(void *context, pid_t pid, int status)
{
	struct hf_job *const job = context;

	if (pid == job->command)
		hf_job_note_status(&job->end, status);
}

/* Guard is gone: do what it would have done. */
static void take_over(struct hf_job *job, struct hf_job_result *ret_result)
{
	job->end.is_survivor = true;
	job->end.has_run = job->command > 0;
	job->end.was_stopped = true;
	/* Its work is done, and the tree has ended when no child is left. */
	hf_job_end_canary(job);
	job->end.unended = hf_tree_end(job->proc_fd, note_command, job);
	*ret_result = (struct hf_job_result){
		.status = job->options->hooks.settle(
			job->options->hooks.context, &job->end),
		.has_run = job->end.has_run,
		.code = job->end.code,
		.signal = job->end.signal,
	};
}

/* 1 when all has ended, 0 to go on, negative when nothing was started. */
static int take_message(struct hf_job *job, struct hf_job_result *ret_result,
			struct hf_error *err)
{
	cleanup_fd int attached_fd = -1;
	struct hf_message message;

	if (!hf_message_receive_with(job->peer_fd, &message, &attached_fd)) {
		take_over(job, ret_result);
		return 1;
	}
	switch (message.kind) {
	case HF_MESSAGE_STARTED:
		job->command = message.value;
		/* If guard dies, calls wait at the gate until we have ended who
		 * made them. */
		job->gate_fd = take_fd(&attached_fd);
		return 0;
	case HF_MESSAGE_STOPPED:
		stop_too(job, message.value);
		return 0;
	case HF_MESSAGE_ENDED:
		*ret_result = message.result;
		if (job->canary > 0)
			(void)kill(job->canary, SIGKILL);
		(void)waitpid(job->guard, NULL, 0);
		return 1;
	case HF_MESSAGE_FAILED:
		*err = message.error;
		(void)waitpid(job->guard, NULL, 0);
		return err->code;
	case HF_MESSAGE_STOP:
	case HF_MESSAGE_SEEN:
	case HF_MESSAGE_FORWARD:
	case HF_MESSAGE_RESUMED:
		break;
	}
	return 0;
}

static void do_slow_work(struct hf_job *job)
{
	const struct hf_job_hooks *const hooks = &job->options->hooks;
	struct hf_message message = {.kind = HF_MESSAGE_STOP};

	hf_job_start_canary(job);
	if (hooks->started(hooks->context, &message.error) < 0)
		hf_message_send(job->peer_fd, &message);
}

int hf_job_front(struct hf_job *job, struct hf_job_result *ret_result,
		 struct hf_error *err)
{
	struct pollfd fds[2] = {
		{.fd = job->peer_fd, .events = POLLIN},
		{.fd = job->signal_fd, .events = POLLIN},
	};

	bool has_worked = false;

	hf_job_close_inherited(job);
	for (;;) {
		const bool is_due = job->command > 0 && !has_worked;
		const int ready = poll(fds, 2, is_due ? MOMENT_MS : -1);
		int rc;

		if (ready == 0) {
			has_worked = true;
			do_slow_work(job);
		}
		if (ready <= 0)
			continue;
		if (fds[1].revents)
			take_signals(job);
		if (!fds[0].revents)
			continue;
		rc = take_message(job, ret_result, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
}
