/* SPDX-License-Identifier: MIT */
/* The command, until it is executed: forked, behind the gate, held. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "platform/file.h"
#include "platform/gate.h"
#include "platform/linux/job_internal.h"

/* In the child: wait for "go", then become the command. */
static _Noreturn void become_command(const struct hf_job *job, int go_fd,
				     int error_fd, int gate_fd)
{
	const struct hf_job_options *const options = job->options;
	char go;
	ssize_t len;
	int rc;

	for (size_t i = 0; i < options->keep_count; i++)
		(void)fcntl(options->keep[i], F_SETFD, FD_CLOEXEC);
	if (options->wants_gate)
		hf_gate_install(gate_fd);
	do
		len = read(go_fd, &go, 1);
	while (len < 0 && errno == EINTR);
	if (len != 1)
		_exit(HF_EXIT_NEVER_STARTED);

	for (size_t i = 0; options->variables && options->variables[i]; i++) {
		/* putenv() keeps the pointer; this process is about to exec. */
		char *const variable = strdup(options->variables[i]);

		if (variable)
			(void)putenv(variable);
	}
	if (job->ignores_children)
		(void)signal(SIGCHLD, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &job->inherited, NULL);
	rc = hf_process_exec(options->argv);
	do
		len = write(error_fd, &rc, sizeof(rc));
	while (len < 0 && errno == EINTR);
	_exit(HF_EXIT_NEVER_STARTED);
}

/* What ties guard to the child that will be the command: guard's end first. */
struct ties {
	int go[2];
	int error[2];
	int gate[2];
};

static void close_side(struct ties *ties, int side)
{
	/* A pipe is written at its second end. */
	hf_file_close_quietly(&ties->go[1 - side]);
	hf_file_close_quietly(&ties->error[side]);
	hf_file_close_quietly(&ties->gate[side]);
}

static int make_ties(struct ties *ties, struct hf_error *err)
{
	if (pipe2(ties->go, O_CLOEXEC) < 0 || pipe2(ties->error, O_CLOEXEC) < 0)
		return hf_job_fail_start(err, "pipe");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ties->gate) <
	    0)
		return hf_job_fail_start(err, "socket");
	return 0;
}

int hf_job_fork_command(struct hf_job *job, struct hf_error *err)
{
	struct ties ties = {{-1, -1}, {-1, -1}, {-1, -1}};
	int rc;

	rc = make_ties(&ties, err);
	if (rc == 0) {
		job->command = fork();
		if (job->command < 0)
			rc = hf_job_fail_start(err, "fork");
	}
	if (rc < 0) {
		close_side(&ties, 0);
		close_side(&ties, 1);
		return rc;
	}
	if (job->command == 0) {
		close_side(&ties, 0);
		become_command(job, ties.go[0], ties.error[1], ties.gate[1]);
	}
	close_side(&ties, 1);
	job->go_fd = ties.go[1];
	job->error_fd = ties.error[0];
	if (job->options->wants_gate)
		job->gate_socket_fd = ties.gate[0];
	else
		hf_file_close_quietly(&ties.gate[0]);
	return 0;
}
