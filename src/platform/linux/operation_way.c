/* SPDX-License-Identifier: MIT */
/* Operations that reach a protected file by another way than its name. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/io_uring.h>

#include "platform/linux/operation_internal.h"

/* fmt has one %ld, for a descriptor of the file that is opened for reading. */
#define SPOIL_DESCRIPTOR(fmt, ...)                                      \
	({                                                              \
		char path_[64];                                         \
		(void)snprintf(path_, sizeof(path_), fmt, __VA_ARGS__); \
		hf_stage_spoil_path(AT_FDCWD, path_);                   \
	})

static long way_directory(NO_STAGE)
{
	const long fd = RAW(__NR_openat, AT_FDCWD, STAGE_NEAR, O_PATH);

	return fd < 0 ? fd : hf_stage_spoil_path(fd, STAGE_KEPT);
}

static long way_dot_dot(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD, STAGE_OTHER_DIR
				   "/.././" STAGE_NEAR "//../" STAGE_KEPT);
}

static long way_link(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD, STAGE_LINK);
}

static long way_dangling_link(NO_STAGE)
{
	return hf_stage_spoil(RAW(__NR_openat, AT_FDCWD, STAGE_DANGLING,
				  O_WRONLY | O_CREAT, STAGE_MODE));
}

static long way_linked_directory(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD, STAGE_LINKED_DIR "/" STAGE_KEPT);
}

static long way_hard_link(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD, STAGE_HARD);
}

/* A second name made just now, with a name that says nothing. */
static long way_new_hard_link(NO_STAGE)
{
	const long rc =
		RAW(__NR_linkat, AT_FDCWD, STAGE_KEPT, AT_FDCWD, STAGE_GONE, 0);

	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_GONE);
}

static long way_new_link(NO_STAGE)
{
	const long rc =
		RAW(__NR_symlinkat, STAGE_NEAR_KEPT, AT_FDCWD, STAGE_GONE);

	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_GONE);
}

static long way_absolute(const struct hf_stage *stage)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", stage->path, STAGE_KEPT);
	return hf_stage_spoil_path(AT_FDCWD, path);
}

static long way_proc_self_fd(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/self/fd/%ld", hf_stage_open_kept());
}

static long way_dev_fd(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/dev/fd/%ld", hf_stage_open_kept());
}

static long way_proc_pid_fd(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/%ld/fd/%ld", (long)getpid(),
				hf_stage_open_kept());
}

static long way_proc_thread_fd(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/thread-self/fd/%ld",
				hf_stage_open_kept());
}

/* From a directory of /proc. */
static long way_proc_directory(NO_STAGE)
{
	char name[32];
	const long fd = RAW(__NR_openat, AT_FDCWD, "/proc/self/fd", O_PATH);

	(void)snprintf(name, sizeof(name), "%ld", hf_stage_open_kept());
	return fd < 0 ? fd : hf_stage_spoil_path(fd, name);
}

static long way_below_descriptor(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/self/fd/%ld/" STAGE_KEPT,
				RAW(__NR_openat, AT_FDCWD, STAGE_NEAR, O_PATH));
}

static long way_dev_stdout(NO_STAGE)
{
	const long rc = RAW(__NR_dup3, hf_stage_open_kept(), STDOUT_FILENO, 0);

	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, "/dev/stdout");
}

static long way_proc_task_cwd(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/self/task/%ld/cwd/" STAGE_KEPT,
				RAW(__NR_gettid));
}

/* What such a link leads to depends on who follows it. */
static long way_link_to_proc_self(NO_STAGE)
{
	const long rc = RAW(__NR_symlinkat, "/proc/self/cwd/" STAGE_KEPT,
			    AT_FDCWD, STAGE_GONE);

	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_GONE);
}

static long way_link_to_dev_fd(NO_STAGE)
{
	char text[64];
	long rc;

	(void)snprintf(text, sizeof(text), "/dev/fd/%ld", hf_stage_open_kept());
	rc = RAW(__NR_symlinkat, text, AT_FDCWD, STAGE_GONE);
	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_GONE);
}

/* A name whose end is the end of the memory that can be read. */
static long way_page_end(NO_STAGE)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *name;

	if (pages == MAP_FAILED || munmap(pages + page, page) < 0)
		return -errno;
	name = pages + page - sizeof(STAGE_KEPT);
	(void)memcpy(name, STAGE_KEPT, sizeof(STAGE_KEPT));
	return hf_stage_spoil_path(AT_FDCWD, name);
}

static long way_path_descriptor(NO_STAGE)
{
	return SPOIL_DESCRIPTOR("/proc/self/fd/%ld",
				RAW(__NR_openat, AT_FDCWD, STAGE_KEPT, O_PATH));
}

static long way_proc_self_cwd(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD, "/proc/self/cwd/" STAGE_KEPT);
}

static long way_proc_thread_cwd(NO_STAGE)
{
	return hf_stage_spoil_path(AT_FDCWD,
				   "/proc/thread-self/cwd/" STAGE_KEPT);
}

static long way_proc_self_root(const struct hf_stage *stage)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/self/root%s/%s", stage->path,
		       STAGE_KEPT);
	return hf_stage_spoil_path(AT_FDCWD, path);
}

/* A ring with room for one entry, opening the file; the result or -errno. */
static long ring_open(long ring, const struct io_uring_params *params)
{
	const size_t sq_len =
		params->sq_off.array + params->sq_entries * sizeof(unsigned);
	const size_t cq_len = params->cq_off.cqes +
			      params->cq_entries * sizeof(struct io_uring_cqe);
	char *const sq = mmap(NULL, sq_len, PROT_READ | PROT_WRITE, MAP_SHARED,
			      (int)ring, IORING_OFF_SQ_RING);
	char *const cq = mmap(NULL, cq_len, PROT_READ | PROT_WRITE, MAP_SHARED,
			      (int)ring, IORING_OFF_CQ_RING);
	struct io_uring_sqe *const entry =
		mmap(NULL, sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED,
		     (int)ring, IORING_OFF_SQES);
	const struct io_uring_cqe *const answers =
		(const void *)(cq + params->cq_off.cqes);
	long rc;

	if (sq == MAP_FAILED || cq == MAP_FAILED || entry == MAP_FAILED)
		return -errno;
	entry->opcode = IORING_OP_OPENAT;
	entry->fd = AT_FDCWD;
	entry->addr = (uintptr_t)STAGE_KEPT;
	entry->open_flags = O_WRONLY | O_TRUNC;
	*(unsigned *)(void *)(sq + params->sq_off.array) = 0;
	__atomic_store_n((unsigned *)(void *)(sq + params->sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	rc = RAW(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL,
		 0);
	return rc < 0 ? rc : answers[0].res;
}

static long way_io_uring(NO_STAGE)
{
	struct io_uring_params params;
	long ring;

	(void)memset(&params, 0, sizeof(params));
	ring = RAW(__NR_io_uring_setup, 1, &params);
	return ring < 0 ? ring : hf_stage_spoil(ring_open(ring, &params));
}

static const struct hf_operation operations[] = {
	OPERATION(openat, ".directory", way_directory, 0),
	OPERATION(openat, ".dot-dot", way_dot_dot, 0),
	OPERATION(openat, ".link", way_link, 0),
	OPERATION(openat, ".dangling-link", way_dangling_link, 0),
	OPERATION(openat, ".linked-directory", way_linked_directory, 0),
	OPERATION(openat, ".hard-link", way_hard_link, 0),
	OPERATION(openat, ".new-hard-link", way_new_hard_link, 0),
	OPERATION(openat, ".new-link", way_new_link, 0),
	OPERATION(openat, ".absolute", way_absolute, 0),
	OPERATION(openat, ".proc-self-fd", way_proc_self_fd, 0),
	OPERATION(openat, ".dev-fd", way_dev_fd, 0),
	OPERATION(openat, ".proc-pid-fd", way_proc_pid_fd, 0),
	OPERATION(openat, ".proc-thread-fd", way_proc_thread_fd, 0),
	OPERATION(openat, ".proc-directory", way_proc_directory, 0),
	OPERATION(openat, ".path-descriptor", way_path_descriptor, 0),
	OPERATION(openat, ".below-descriptor", way_below_descriptor, 0),
	OPERATION(openat, ".dev-stdout", way_dev_stdout, 0),
	OPERATION(openat, ".link-to-proc-self", way_link_to_proc_self, 0),
	OPERATION(openat, ".link-to-dev-fd", way_link_to_dev_fd, 0),
	OPERATION(openat, ".page-end", way_page_end, 0),
	OPERATION(openat, ".proc-task-cwd", way_proc_task_cwd, 0),
	OPERATION(openat, ".proc-self-cwd", way_proc_self_cwd, 0),
	OPERATION(openat, ".proc-thread-cwd", way_proc_thread_cwd, 0),
	OPERATION(openat, ".proc-self-root", way_proc_self_root, 0),
	OPERATION(io_uring_setup, "", way_io_uring, HF_OPERATION_DENIED),
};

const struct hf_operation_list hf_operations_way = {operations,
						    HF_COUNT(operations)};
