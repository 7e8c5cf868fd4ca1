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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/job.h"
#include "platform/linux/job_internal.h"

/* Deeper than any tree of processes; ends a walk through a changing /proc. */
#define ANCESTORS_MAX	4096

bool hf_process_look(uint64_t pid, uint64_t *ret_parent, uint64_t *ret_start)
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

int64_t hf_process_pid(void)
{
	return getpid();
}

void hf_process_self(uint64_t *ret_pid, uint64_t *ret_start)
{
	uint64_t parent;

	*ret_pid = (uint64_t)getpid();
	if (!hf_process_look(*ret_pid, &parent, ret_start))
		*ret_start = 0;
}

bool hf_process_is_ancestor(uint64_t pid, uint64_t start)
{
	uint64_t at = (uint64_t)getpid();

	for (size_t i = 0; i < ANCESTORS_MAX && at > 1; i++) {
		uint64_t parent;
		uint64_t began;

		if (!hf_process_look(at, &parent, &began))
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

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

unsigned hf_process_hold_ends(void)
{
	unsigned held = 0;
	sigset_t before;
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < HF_COUNT(ends); i++)
		(void)sigaddset(&set, ends[i]);
	if (sigprocmask(SIG_BLOCK, &set, &before) < 0)
		return 0;
	for (size_t i = 0; i < HF_COUNT(ends); i++)
		if (!sigismember(&before, ends[i]))
			held |= 1u << i;
	return held;
}

void hf_process_release_ends(const unsigned *held)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < HF_COUNT(ends); i++)
		if (*held & 1u << i)
			(void)sigaddset(&set, ends[i]);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void hf_process_leave_group(void)
{
	/* It fails for the leader of a session alone, who is alone anyway. */
	(void)setpgid(0, 0);
}

/* Opened for writing, and not closed by an exec. */
static bool is_passed_on(int fd, struct hf_inherited *ret_item)
{
	const int flags = fcntl(fd, F_GETFD);
	const int how = fcntl(fd, F_GETFL);
	struct stat stat;

	if (flags < 0 || flags & FD_CLOEXEC || how < 0 || how & O_PATH ||
	    (how & O_ACCMODE) == O_RDONLY || fstat(fd, &stat) < 0 ||
	    !S_ISREG(stat.st_mode))
		return false;
	*ret_item = (struct hf_inherited){
		.fd = fd,
		.dev = stat.st_dev,
		.ino = stat.st_ino,
	};
	return true;
}

int hf_process_inherited(struct hf_inherited **ret_items)
{
	cleanup_fd int dir_fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY |
							 O_CLOEXEC);
	cleanup_directory struct hf_directory *directory = NULL;
	cleanup_free struct hf_inherited *items = NULL;
	struct hf_inherited item;
	enum hf_kind kind;
	const char *name;
	int count = 0;
	int fd;
	int rc;

	if (dir_fd < 0)
		return -errno;
	rc = hf_directory_open(dir_fd, &directory);
	if (rc < 0)
		return rc;
	while ((rc = hf_directory_next(directory, &name, &kind)) > 0) {
		struct hf_inherited *more;

		if (sscanf(name, "%d", &fd) != 1 || !is_passed_on(fd, &item))
			continue;
		more = reallocarray(items, (size_t)count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		items = more;
		items[count++] = item;
	}
	if (rc < 0)
		return rc;
	*ret_items = take_ptr(&items);
	return count;
}
