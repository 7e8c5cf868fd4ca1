/* SPDX-License-Identifier: MIT */
/*
 * The thread that answers: it waits in the kernel for the next call, so that
 * one answer costs one switch each way.
 */
#include "platform/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "platform/linux/gate_internal.h"
#include "platform/system.h"

/* Of Linux 6.6: the answer wakes the caller on the processor that gave it. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#endif
#define SYNC_WAKE_UP UINT64_C(1)

/* Answers that are no results of a call. */
#define GO_ON 1
#define HOLD  2

struct answerer {
	struct gate gate;
	struct hf_gate_question question;
};

const struct hf_gate_call *hf_gate_question_call(
	const struct hf_gate_question *question)
{
	return &question->call;
}

int64_t hf_gate_question_tid(const struct hf_gate_question *question)
{
	return question->notice.pid;
}

bool hf_gate_is_waiting(const struct hf_gate_question *question)
{
	return ioctl(question->gate->listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID,
		     &question->notice.id) == 0;
}

static void effect(struct hf_gate_question *question, enum hf_gate_effect what)
{
	const struct hf_gate_hooks *const hooks = &question->gate->hooks;

	hooks->effect(hooks->context, question, what);
}

/* -- calls that change no entry -----------------------------------------------
 */

/* Told, or answered otherwise. */
static int take_process(struct hf_gate_question *question)
{
	const char *const name = question->shape->name;

	if (strcmp(name, "io_uring_setup") == 0) {
		effect(question, HF_GATE_NO_IO_URING);
		return -ENOSYS;
	}
	if (strcmp(name, "prctl") == 0 &&
	    (int)gate_argument(question, 1) == PR_SET_DUMPABLE)
		/* Root reads its memory anyway; nobody else could. */
		return geteuid() == 0 ? GO_ON : 0;
	if (strcmp(name, "seccomp") == 0) {
		/* Without a filter it is a question what the system knows. */
		if (gate_argument(question, 2) &
			    SECCOMP_FILTER_FLAG_NEW_LISTENER &&
		    gate_argument(question, 3) != 0)
			effect(question, HF_GATE_NO_LISTENER);
	} else if (strcmp(name, "ptrace") == 0) {
		effect(question, HF_GATE_TRACED);
	} else if (gate_has_lost_privilege(question)) {
		effect(question, HF_GATE_NO_PRIVILEGE);
	}
	return GO_ON;
}

/* Paths are walked from here on, and nothing is held that may be unmounted. */
static void see_otherwise(struct gate *gate)
{
	gate->has_other_views = true;
	gate->standing.tid = 0;
	hf_file_close_quietly(&gate->standing.fd);
}

/* GO_ON, HOLD, or what the call returns: 0 or -errno. */
static int answer(struct hf_gate_question *question)
{
	struct gate *const gate = question->gate;
	int rc;

	question->shape =
		gate_shape_of(&question->notice.data, &question->is_compat);
	if (!question->shape)
		return GO_ON;
	if (question->shape->operation == HF_GATE_DIRECTORY) {
		gate_standing_moves(&gate->standing);
		return GO_ON;
	}
	if (question->shape->operation == HF_GATE_VIEW) {
		see_otherwise(gate);
		return GO_ON;
	}
	if (question->shape->operation == HF_GATE_PROCESS)
		return take_process(question);
	/* In mounts that clone3() gave it, which we are not told of. */
	if (question->shape->operation == HF_GATE_MOUNT ||
	    question->shape->operation == HF_GATE_UNMOUNT) {
		see_otherwise(gate);
		effect(question, HF_GATE_MOUNTED);
	}
	rc = gate_decode(question);
	if (rc == -EPERM || rc == -EACCES) {
		effect(question, HF_GATE_NOT_JUDGED);
		return -EACCES;
	}
	/* The kernel finds the same. */
	if (rc < 0)
		return GO_ON;
	rc = gate->hooks.judge(gate->hooks.context, question);
	if (rc == 0 && question->is_unseen) {
		effect(question, HF_GATE_NOT_JUDGED);
		return -EACCES;
	}
	switch (rc) {
	case 0:
		return GO_ON;
	case HF_GATE_DONE:
		return 0;
	case HF_GATE_HOLD:
		return HOLD;
	default:
		return -rc;
	}
}

static void send_answer(const struct hf_gate_question *question, int rc)
{
	struct seccomp_notif_resp reply = {.id = question->notice.id};

	if (rc == HOLD)
		return;
	if (rc == GO_ON)
		reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		reply.error = rc;
	/* ENOENT: it was killed meanwhile. */
	(void)ioctl(question->gate->listener_fd, SECCOMP_IOCTL_NOTIF_SEND,
		    &reply);
}

/* Has every process of the command ended? */
static bool is_over(int listener_fd)
{
	struct pollfd fd = {.fd = listener_fd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLNVAL);
}

static void answer_all(void *argument)
{
	struct answerer *const answerer = argument;
	struct hf_gate_question *const question = &answerer->question;
	const int listener_fd = answerer->gate.listener_fd;
	int rc;

	question->gate = &answerer->gate;
	for (;;) {
		memset(&question->notice, 0, sizeof(question->notice));
		if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV,
			  &question->notice) < 0) {
			if ((errno == EINTR || errno == ENOENT) &&
			    !is_over(listener_fd))
				continue;
			return;
		}
		question->call.place_count = 0;
		rc = answer(question);
		/* Before the caller goes on: it may unmount what we hold. */
		for (size_t i = 0; i < question->call.place_count; i++)
			gate_walk_done(&question->paths[i]);
		send_answer(question, rc);
	}
}

/* -- the start ---------------------------------------------------------------
 */

/*
 * What we have open; our standard descriptors lead to /dev/null.  Descriptors
 * are given out from the lowest, and what was inherited is closed: where a
 * number of them are free in a row there are no more.
 */
static void note_own(struct gate *gate)
{
	int free_count = 0;

	for (int fd = 0;
	     gate->own_count < GATE_OWN_MAX && free_count < GATE_OWN_GAP;
	     fd++) {
		struct stat found;

		if (fstat(fd, &found) < 0) {
			free_count++;
			continue;
		}
		free_count = 0;
		if (!S_ISDIR(found.st_mode))
			gate->own[gate->own_count++] =
				(struct hf_gate_identity){
					.dev = found.st_dev,
					.ino = found.st_ino,
				};
	}
}

int hf_gate_start(int listener_fd, int proc_fd,
		  const struct hf_gate_hooks *hooks)
{
	struct answerer *const answerer = calloc(1, sizeof(*answerer));
	struct hf_thread *thread;
	int rc;

	if (!answerer)
		return -ENOMEM;
	answerer->gate.listener_fd = listener_fd;
	answerer->gate.proc_fd = proc_fd;
	answerer->gate.hooks = *hooks;
	answerer->gate.standing.fd = -1;
	note_own(&answerer->gate);
	/* Older kernels answer as well, only later. */
	(void)ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
	rc = hf_thread_start(answer_all, answerer, &thread);
	if (rc < 0)
		free(answerer);
	return rc;
}
