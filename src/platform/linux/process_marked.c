/* SPDX-License-Identifier: MIT */
/*
 * End what a run has left behind that nobody watches any more.
 *
 * When every process of ours was killed, the command's belong to nobody: what
 * they have is the environment that they were started with
 * (proc_pid_environ(5)).  A process is named by a descriptor of its own from
 * the look to its end, so that another one that gets its number is never met.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/file.h"
#include "platform/job.h"
#include "platform/linux/file_internal.h"
#include "platform/linux/job_internal.h"
#include "platform/linux/task_internal.h"
#include "platform/system.h"

#define NS_PER_S    ((int64_t)1000 * 1000 * 1000)
/* Larger than any environment that exec() takes with the usual stack. */
#define ENVIRON_MAX ((size_t)8 << 20)
/* What has forked meanwhile is met by the next look. */
#define LOOKS_MAX   20u
#define WAIT_MS	    2000
/* Between looks at what becomes a program, and how many of those. */
#define EXEC_NS	    (2L * 1000 * 1000)
#define EXECS_MAX   500u

enum mark { MARK_NONE, MARK_FOUND, MARK_NOT_YET };

static bool has_variable(const struct hf_buffer *text, const char *variable)
{
	const char *at = text->data;
	const char *const end = at ? at + text->len : NULL;

	while (at && at < end) {
		const size_t len = strnlen(at, (size_t)(end - at));

		if (len == strlen(variable) && memcmp(at, variable, len) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

/* In ticks of the clock that starts are told in. */
static uint64_t ticks_of(int64_t boot_ns)
{
	const int64_t per_second = sysconf(_SC_CLK_TCK);

	return boot_ns <= 0
		       ? 0
		       : (uint64_t)(boot_ns / NS_PER_S * per_second +
				    boot_ns % NS_PER_S * per_second / NS_PER_S);
}

static bool has_variables(const struct hf_buffer *text,
			  const char *const *variables)
{
	for (size_t i = 0; variables[i]; i++)
		if (!has_variable(text, variables[i]))
			return false;
	return true;
}

/*
 * Its environment has just been read as empty.  So it is in the middle of
 * execve(), when it has its new memory, and has closed what is closed there,
 * but the environment is not in place yet; and of what has none, or no memory.
 */
static bool is_becoming(int proc_fd, pid_t pid)
{
	struct hf_task_stat now;

	if (hf_task_stat_read(proc_fd, pid, &now) < 0 || now.size == 0)
		return false;
	return now.image[HF_TASK_ENVIRON_END] == 0 ||
	       now.image[HF_TASK_ENVIRON_END] !=
		       now.image[HF_TASK_ENVIRON_BEGIN];
}

static enum mark look(int proc_fd, pid_t pid, const char *const *variables,
		      uint64_t since)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct hf_task_stat stat;
	char path[64];

	if (pid == getpid() || hf_task_stat_read(proc_fd, pid, &stat) < 0 ||
	    stat.start < since)
		return MARK_NONE;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = hf_file_open_read_path(path);
	if (fd < 0 || hf_file_read_all(fd, ENVIRON_MAX, &text) < 0)
		return MARK_NONE;
	if (text.len > 0)
		return has_variables(&text, variables) ? MARK_FOUND : MARK_NONE;
	return is_becoming(proc_fd, pid) ? MARK_NOT_YET : MARK_NONE;
}

static int send_signal(int pid_fd, int signal_number)
{
	return HF_CALL((int)syscall(SYS_pidfd_send_signal, pid_fd,
				    signal_number, NULL, 0));
}

/* 1: it has ended; 0: it is there still. */
static int end_process(int pid_fd)
{
	struct pollfd fd = {.fd = pid_fd, .events = POLLIN};

	if (send_signal(pid_fd, SIGKILL) == -EPERM)
		return 0;
	return poll(&fd, 1, WAIT_MS) > 0;
}

/* What one look at all of them has found. */
struct found {
	size_t ended;
	size_t becoming; /* a program: what they carry is not known yet */
	int left;	 /* cannot be ended */
};

static void end_one(int proc_fd, pid_t pid, int pid_fd,
		    const char *const *variables, uint64_t since,
		    struct found *found)
{
	const enum mark mark = look(proc_fd, pid, variables, since);

	if (mark == MARK_NOT_YET)
		found->becoming++;
	else if (mark == MARK_FOUND && end_process(pid_fd) > 0)
		found->ended++;
	else if (mark == MARK_FOUND)
		found->left++;
}

static int end_all(const char *const *variables, uint64_t since,
		   struct found *found)
{
	cleanup_fd int proc_fd = hf_file_open_directory("/proc");
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	int rc;

	*found = (struct found){.ended = 0};
	if (proc_fd < 0)
		return proc_fd;
	rc = hf_directory_open(proc_fd, &directory);
	while (rc >= 0) {
		cleanup_fd int pid_fd = -1;
		int pid;

		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (sscanf(name, "%d", &pid) != 1 || pid <= 1)
			continue;
		pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (pid_fd < 0 && errno == ESRCH)
			continue;
		if (pid_fd < 0) {
			rc = -errno;
			break;
		}
		/* Looked at behind its descriptor: it is this one. */
		end_one(proc_fd, pid, pid_fd, variables, since, found);
	}
	return rc;
}

int hf_process_end_marked(const char *const *variables, int64_t since_boot_ns,
			  size_t *ret_ended)
{
	const struct timespec pause = {.tv_nsec = EXEC_NS};
	const uint64_t since = ticks_of(since_boot_ns);
	unsigned looks = 0;
	unsigned execs = 0;
	struct found found;

	*ret_ended = 0;
	for (;;) {
		const int rc = end_all(variables, since, &found);

		if (rc < 0)
			return rc;
		*ret_ended += found.ended;
		if (found.ended > 0) {
			/* It forks faster than we look. */
			if (++looks == LOOKS_MAX)
				return found.left + (int)found.ended;
		} else if (found.becoming == 0 || ++execs == EXECS_MAX) {
			return found.left;
		}
		if (found.becoming > 0)
			(void)nanosleep(&pause, NULL);
	}
}
