/* SPDX-License-Identifier: MIT */
/*
 * Operations by a thread that shares less with its process than usual, and by
 * calls of another architecture's numbers.
 */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/linux/operation_internal.h"

#define STACK_LEN ((size_t)64 * 1024)

#define THREAD_FLAGS                                                        \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
	 CLONE_SYSVSEM)

struct task {
	long (*function)(void);
	long result;
	atomic_bool is_done;
};

static int start(void *argument)
{
	struct task *task = argument;

	task->result = task->function();
	atomic_store(&task->is_done, true);
	/* Of the thread alone; its stack is left to the end of the process. */
	return (int)RAW(__NR_exit, 0);
}

/* In a thread that no C library knows of: it only makes raw calls. */
static long in_thread(long (*function)(void))
{
	struct task task = {.function = function};
	char *const stack = mmap(NULL, STACK_LEN, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED ||
	    clone(start, stack + STACK_LEN, THREAD_FLAGS, &task) < 0)
		return -errno;
	while (!atomic_load(&task.is_done))
		(void)sched_yield();
	return task.result;
}

static long plain_thread(void)
{
	return hf_stage_spoil_path(AT_FDCWD, STAGE_KEPT);
}

/* Its process stands where there is no such file. */
static long own_directory(void)
{
	long rc = RAW(__NR_unshare, CLONE_FS);

	if (rc == 0)
		rc = RAW(__NR_chdir, STAGE_NEAR);
	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_KEPT);
}

/* The number means another directory in its process. */
static long own_descriptors(void)
{
	const long other = RAW(__NR_openat, AT_FDCWD, STAGE_OTHER_DIR, O_PATH);
	long near;
	long rc = RAW(__NR_unshare, CLONE_FILES);

	if (rc < 0 || other < 0)
		return rc < 0 ? rc : other;
	near = RAW(__NR_openat, AT_FDCWD, STAGE_NEAR, O_PATH);
	rc = near < 0 ? near : RAW(__NR_dup3, near, other, 0);
	return rc < 0 ? rc : hf_stage_spoil_path(other, STAGE_KEPT);
}

static long thread_plain(NO_STAGE)
{
	return in_thread(plain_thread);
}

static long thread_directory(NO_STAGE)
{
	return in_thread(own_directory);
}

static long thread_descriptors(NO_STAGE)
{
	return in_thread(own_descriptors);
}

#if defined(__x86_64__) && defined(__LP64__)

#define NR_OPEN_32 5
#define X32_BIT	   0x40000000
#define HAS_INT80  __NR_open

/* A 64-bit program may make 32-bit calls, with addresses that fit. */
static long int80_open(NO_STAGE)
{
	char *const name =
		mmap(NULL, sizeof(STAGE_KEPT), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long rc;

	if (name == MAP_FAILED)
		return -errno;
	(void)memcpy(name, STAGE_KEPT, sizeof(STAGE_KEPT));
	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(NR_OPEN_32), "b"(name), "c"(O_WRONLY | O_TRUNC),
			   "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return hf_stage_spoil(rc);
}

static long x32_open(NO_STAGE)
{
	return hf_stage_spoil(RAW(__NR_openat | X32_BIT, AT_FDCWD, STAGE_KEPT,
				  O_WRONLY | O_TRUNC));
}

#else

#define HAS_INT80  -1
#define int80_open NULL
#define x32_open   NULL

#endif

static const struct hf_operation operations[] = {
	OPERATION(openat, ".thread", thread_plain, 0),
	OPERATION(openat, ".thread-directory", thread_directory, 0),
	OPERATION(openat, ".thread-descriptors", thread_descriptors, 0),
	{"open.int80", "open", HAS_INT80, 0, NULL, int80_open},
	{"openat.x32", "openat", HAS_INT80, HF_OPERATION_DENIED, NULL,
	 x32_open},
};

const struct hf_operation_list hf_operations_thread = {operations,
						       HF_COUNT(operations)};
