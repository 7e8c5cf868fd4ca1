/* SPDX-License-Identifier: MIT */
/*
 * The canary: a process in the job's group that only listens.
 *
 * A signal that reaches it as well as front was sent to the group, so the
 * command has it already: front asks, and an answer says all that came before
 * it.  And when guard dies while the job is stopped, front is asleep and cannot
 * take over: the canary cannot be stopped, except by SIGSTOP, and wakes it.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/job_internal.h"

static void tell(int front_fd, int number, int value)
{
	const int seen[2] = {number, value};

	(void)send(front_fd, seen, sizeof(seen), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What has come so far, and then the question's own number: that was all. */
static void answer(const struct hf_job *job, int front_fd)
{
	struct signalfd_siginfo info;
	int asked;

	while (recv(front_fd, &asked, sizeof(asked), MSG_DONTWAIT) ==
	       (ssize_t)sizeof(asked)) {
		while (hf_job_next_signal(job, &info))
			if (info.ssi_code != SI_KERNEL)
				tell(front_fd, (int)info.ssi_signo,
				     (int)info.ssi_pid);
		tell(front_fd, 0, asked);
	}
}

static _Noreturn void be_canary(struct hf_job *job, int front_fd)
{
	struct pollfd fds[2];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != job->front)
		_exit(0);

	(void)dup2(job->alive_fd, STDIN_FILENO);
	(void)dup2(front_fd, STDOUT_FILENO);
	(void)dup2(job->signal_fd, STDERR_FILENO);
	job->signal_fd = STDERR_FILENO;
	(void)close_range(STDERR_FILENO + 1, ~0u, 0);

	fds[0] = (struct pollfd){.fd = STDOUT_FILENO, .events = POLLIN};
	fds[1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			answer(job, STDOUT_FILENO);
		if (fds[1].revents) {
			(void)kill(job->front, SIGCONT);
			_exit(0);
		}
	}
}

void hf_job_start_canary(struct hf_job *job)
{
	int pair[2];

	if (job->canary > 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	job->canary = fork();
	if (job->canary == 0)
		be_canary(job, pair[1]);
	(void)close(pair[1]);
	job->canary_fd = pair[0];
	hf_file_close_quietly(&job->alive_fd);
}
