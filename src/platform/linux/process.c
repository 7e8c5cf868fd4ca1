/* SPDX-License-Identifier: MIT */
/*
 * Who the calling process is and who its ancestors are; a child apart from it.
 *
 * A process is named by its number and its start: numbers are used again.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/job.h"
#include "platform/linux/job_internal.h"

/* Deeper than any tree of processes; ends a walk through a changing /proc. */
#define ANCESTORS_MAX	4096

/* Parent and start (field 22 of proc_pid_stat(5), in clock ticks) of a process. */
static bool look(uint64_t pid, uint64_t *ret_parent, uint64_t *ret_start)
{
	char name[64];
	char text[1024];
	const char *end;
	cleanup_fd int fd = -1;
	ssize_t len;

	(void)snprintf(name, sizeof(name), "/proc/%" PRIu64 "/stat", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	end = strrchr(text, ')');
	return end &&
	       sscanf(end + 1,
		      " %*c %" SCNu64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u"
		      " %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		      ret_parent, ret_start) == 2;
}

bool hf_process_has_job_control(void)
{
	const pid_t group = getpgrp();
	const pid_t session = getsid(0);
	uint64_t at = (uint64_t)getpid();

	for (size_t i = 0; i < ANCESTORS_MAX; i++) {
		uint64_t parent;
		uint64_t start;

		if (!look(at, &parent, &start) || parent == 0 ||
		    getsid((pid_t)parent) != session)
			return false;
		if (getpgid((pid_t)parent) != group)
			return true;
		at = parent;
	}
	return false;
}

void hf_process_self(uint64_t *ret_pid, uint64_t *ret_start)
{
	uint64_t parent;

	*ret_pid = (uint64_t)getpid();
	if (!look(*ret_pid, &parent, ret_start))
		*ret_start = 0;
}

bool hf_process_is_ancestor(uint64_t pid, uint64_t start)
{
	uint64_t at = (uint64_t)getpid();

	for (size_t i = 0; i < ANCESTORS_MAX && at > 1; i++) {
		uint64_t parent;
		uint64_t began;

		if (!look(at, &parent, &began))
			return false;
		if (at == pid && began == start && i > 0)
			return true;
		at = parent;
	}
	return false;
}

/* Wait for the child; 0 when it ended by itself. */
static int wait_for(pid_t child)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPIPE;
}

/*
 * The result comes back in shared memory: a run closes every descriptor that it
 * does not know, a pipe to here among them.
 */
int hf_process_apart(void (*function)(void *context, void *result),
		     void *context, void *result, size_t len)
{
	void *const shared = mmap(NULL, len, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int rc;

	if (shared == MAP_FAILED)
		return -errno;
	memcpy(shared, result, len);
	child = fork();
	if (child == 0) {
		function(context, shared);
		_exit(0);
	}
	rc = child < 0 ? -errno : wait_for(child);
	if (rc == 0)
		memcpy(result, shared, len);
	(void)munmap(shared, len);
	return rc;
}
