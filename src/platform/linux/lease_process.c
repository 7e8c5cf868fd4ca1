/* SPDX-License-Identifier: MIT */
/* Who an opener is: its process, whose it is, and where it stands. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/file_internal.h"
#include "platform/linux/lease_internal.h"

/* Deeper than any tree of processes; ends a walk through a changing /proc. */
#define ANCESTORS_MAX	 4096
#define WALKS_MAX 8
#define COMMAND_LINE_MAX 4096

static int read_proc(int proc_fd, int64_t pid, const char *what, char *data,
		     size_t size)
{
	cleanup_fd int fd = -1;
	char name[64];
	int64_t len;

	(void)snprintf(name, sizeof(name), "%" PRId64 "/%s", pid, what);
	fd = HF_CALL(openat(proc_fd, name, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return fd;
	len = hf_file_read(fd, data, size - 1);
	if (len < 0)
		return (int)len;
	data[len] = '\0';
	return (int)len;
}

/*
 * proc_pid_stat(5): "PID (COMM) STATE PARENT ...".  COMM may hold anything; the
 * last parenthesis ends it.
 */
static bool look(int proc_fd, int64_t pid, struct hf_process *ret_process)
{
	char text[512];
	const char *begin;
	const char *end;
	size_t len;

	if (read_proc(proc_fd, pid, "stat", text, sizeof(text)) <= 0)
		return false;
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (!begin || !end || end < begin ||
	    sscanf(end + 1, " %*c %" SCNd64, &ret_process->parent) != 1)
		return false;
	len = (size_t)(end - begin - 1);
	if (len >= sizeof(ret_process->comm))
		len = sizeof(ret_process->comm) - 1;
	memcpy(ret_process->comm, begin + 1, len);
	ret_process->comm[len] = '\0';
	ret_process->pid = pid;
	return true;
}

/* 1 or 0; -ESRCH when one of them has ended meanwhile. */
static int descends(int proc_fd, int64_t pid, int64_t from)
{
	for (size_t i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		struct hf_process process;

		if (!look(proc_fd, pid, &process))
			return -ESRCH;
		if (process.parent == from)
			return 1;
		pid = process.parent;
	}
	return 0;
}

bool hf_lease_descends(int proc_fd, int64_t pid, int64_t from)
{
	int rc = -ESRCH;

	/* Whoever had an ancestor that ended has another one now. */
	for (unsigned i = 0; i < WALKS_MAX && rc < 0; i++)
		rc = descends(proc_fd, pid, from);
	return rc > 0;
}

/* The second number of "Uid:" is the effective one (proc_pid_status(5)). */
static uint32_t uid_of(int proc_fd, int64_t pid)
{
	char text[4096];
	const char *at;
	uint32_t uid;

	if (read_proc(proc_fd, pid, "status", text, sizeof(text)) <= 0)
		return UINT32_MAX;
	at = strstr(text, "\nUid:");
	if (!at || sscanf(at, "\nUid: %*u %" SCNu32, &uid) != 1)
		return UINT32_MAX;
	return uid;
}

static bool has_same(int proc_fd, int64_t pid, const char *name)
{
	char theirs[64];
	char ours[64];
	struct stat a;
	struct stat b;

	(void)snprintf(theirs, sizeof(theirs), "%" PRId64 "/ns/%s", pid, name);
	(void)snprintf(ours, sizeof(ours), "self/ns/%s", name);
	return fstatat(proc_fd, theirs, &a, 0) == 0 &&
	       fstatat(proc_fd, ours, &b, 0) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int hf_lease_describe(int proc_fd, int64_t pid, struct hf_lease_opener *opener)
{
	struct hf_process process = {.pid = 0};
	char text[COMMAND_LINE_MAX];
	int len;

	if (!look(proc_fd, pid, &process)) {
		/* Hidden (hidepid, see proc(5)) is not gone. */
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return -ESRCH;
		opener->process.pid = pid;
		return 0;
	}
	len = read_proc(proc_fd, pid, "cmdline", text, sizeof(text));
	if (len > 0) {
		process.command_line = malloc((size_t)len + 1);
		if (!process.command_line)
			return -ENOMEM;
		memcpy(process.command_line, text, (size_t)len + 1);
		process.command_line_len = (size_t)len;
	}
	opener->process = process;
	opener->uid = uid_of(proc_fd, pid);
	opener->is_in_namespaces =
		has_same(proc_fd, pid, "pid") && has_same(proc_fd, pid, "mnt");
	return 0;
}
