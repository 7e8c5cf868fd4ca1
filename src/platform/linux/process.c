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
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/job.h"

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

/* All len bytes, or -errno; -EPIPE when they end before. */
static int read_result(int fd, char *result, size_t len)
{
	while (len > 0) {
		const ssize_t count = read(fd, result, len);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count < 0 ? -errno : -EPIPE;
		result += count;
		len -= (size_t)count;
	}
	return 0;
}

int hf_process_apart(void (*function)(void *context, void *result),
		     void *context, void *result, size_t len)
{
	int ends[2];
	pid_t child;
	pid_t ended;
	int rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		function(context, result);
		rc = hf_file_write(ends[1], result, len);
		_exit(rc < 0);
	}
	rc = child < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (rc == 0)
		rc = read_result(ends[0], result, len);
	(void)close(ends[0]);
	if (child < 0)
		return rc;
	do
		ended = waitpid(child, NULL, 0);
	while (ended < 0 && errno == EINTR);
	return rc;
}
