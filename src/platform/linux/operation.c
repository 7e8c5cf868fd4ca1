/* SPDX-License-Identifier: MIT */
/*
 * The table of operations as one, and how one of them is performed: by a child,
 * since some of them give up the root directory, the namespace or rights.
 */
#include "platform/operation.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "platform/linux/operation_internal.h"

static const struct hf_operation_list *const lists[] = {
	&hf_operations_open, &hf_operations_way,      &hf_operations_thread,
	&hf_operations_name, &hf_operations_metadata, &hf_operations_mount,
};

const struct hf_operation *hf_operation_at(size_t index)
{
	for (size_t i = 0; i < HF_COUNT(lists); i++) {
		if (index < lists[i]->count)
			return &lists[i]->items[index];
		index -= lists[i]->count;
	}
	return NULL;
}

const struct hf_operation *hf_operation_find(const char *name)
{
	const struct hf_operation *operation;
	size_t i = 0;

	do {
		operation = hf_operation_at(i++);
	} while (operation != NULL && strcmp(operation->name, name) != 0);
	return operation;
}

/* Never returns; the errno is what the child says. */
static void perform(const struct hf_operation *operation,
		    const struct hf_stage *stage)
{
	long rc = RAW(__NR_fchdir, stage->dir_fd);

	if (rc == 0)
		rc = operation->perform(stage);
	_exit(rc < 0 ? (int)-rc : 0);
}

int hf_operation_perform(const struct hf_operation *operation, int dir_fd,
			 const char *path,
			 struct hf_operation_outcome *ret_outcome)
{
	const struct hf_stage stage = {.dir_fd = dir_fd, .path = path};
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		perform(operation, &stage);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (!WIFEXITED(status))
		return -ECHILD;
	ret_outcome->pid = pid;
	ret_outcome->error = WEXITSTATUS(status);
	return 0;
}

int hf_operation_isolate(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		return -errno;
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? -errno
								       : 0;
}
