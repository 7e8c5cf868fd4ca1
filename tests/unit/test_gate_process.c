/* SPDX-License-Identifier: MIT */
/* What a process behind the gate gets otherwise, and copies instead of links.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/check.h"
#include "support/gated.h"

#define REFUSED	      EDQUOT
#define X32_BIT	      0x40000000L
#define SETXATTRAT    463L
#define REMOVEXATTRAT 466L
#define FILE_SETATTR  469L

static struct hf_gated gated;

static void setup(void)
{
	hf_gated_setup(&gated);
	hf_put_file(gated.dir_fd, "f", "content\n");
	cr_assert_eq(mkdir("d", 0755), 0);
	gated.answer = REFUSED;
}

static void teardown(void)
{
	hf_gated_teardown(&gated);
}

TestSuite(gate_process, .init = setup, .fini = teardown, .timeout = 120);

#define ARGS(...) ((const long[6]){__VA_ARGS__})

/* -- processes ---------------------------------------------------------------
 */

enum {
	URING,
	DUMPABLE,
	STILL_DUMPABLE,
	X32,
	NEW_SETXATTR,
	NEW_REMOVEXATTR,
	NEW_SETATTR,
	LISTENER,
	TRACE,
	PRIVILEGES
};

static void be_a_process(struct hf_gated *child)
{
	struct sock_filter pass[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 1, .filter = pass};
	static char nothing[256];

	hf_gated_mark(child, URING);
	hf_gated_call(child, SYS_io_uring_setup, ARGS(1, (long)nothing));
	hf_gated_mark(child, LISTENER);
	hf_gated_call(child, SYS_seccomp,
		      ARGS(SECCOMP_SET_MODE_FILTER,
			   SECCOMP_FILTER_FLAG_NEW_LISTENER, (long)&program));
	hf_gated_mark(child, X32);
#ifdef __x86_64__
	hf_gated_call(child, X32_BIT | SYS_getpid, ARGS(0));
#else
	child->shared->results[X32] = -ENOSYS;
#endif
	hf_gated_mark(child, NEW_SETXATTR);
	hf_gated_call(child, SETXATTRAT, ARGS(AT_FDCWD, (long)"f", 0));
	hf_gated_mark(child, NEW_REMOVEXATTR);
	hf_gated_call(child, REMOVEXATTRAT, ARGS(AT_FDCWD, (long)"f", 0));
	hf_gated_mark(child, NEW_SETATTR);
	hf_gated_call(child, FILE_SETATTR, ARGS(AT_FDCWD, (long)"f", 0));
	hf_gated_mark(child, PRIVILEGES);
	hf_gated_call(child, SYS_prctl, ARGS(PR_GET_NO_NEW_PRIVS));
	hf_gated_mark(child, TRACE);
	hf_gated_call(child, SYS_ptrace, ARGS(PTRACE_ATTACH, 0));
	hf_gated_mark(child, DUMPABLE);
	hf_gated_call(child, SYS_prctl, ARGS(PR_SET_DUMPABLE, 0));
	hf_gated_mark(child, STILL_DUMPABLE);
	hf_gated_call(child, SYS_prctl, ARGS(PR_GET_DUMPABLE));
}

static void expect_process(size_t mark, long rc, unsigned effects)
{
	cr_expect_eq(gated.shared->results[mark], rc, "%zu: %ld", mark,
		     gated.shared->results[mark]);
	cr_expect_eq(gated.calls[mark].effects, effects, "%zu: %#x", mark,
		     gated.calls[mark].effects);
	cr_expect_eq(gated.calls[mark].count, 0, "%zu is judged", mark);
}

Test(gate_process, gets_some_things_otherwise)
{
	const bool is_root = geteuid() == 0;

	hf_gated_run(&gated, be_a_process);
	expect_process(URING, -ENOSYS, 1u << HF_GATE_NO_IO_URING);
	expect_process(LISTENER, -EBUSY, 1u << HF_GATE_NO_LISTENER);
	expect_process(X32, -ENOSYS, 0);
	expect_process(NEW_SETXATTR, -ENOSYS, 0);
	expect_process(NEW_REMOVEXATTR, -ENOSYS, 0);
	expect_process(NEW_SETATTR, -ENOSYS, 0);
	expect_process(TRACE, -ESRCH, 1u << HF_GATE_TRACED);
	/* Root reads its memory anyway. */
	expect_process(DUMPABLE, 0, 0);
	expect_process(STILL_DUMPABLE, is_root ? 0 : 1, 0);
	expect_process(PRIVILEGES, is_root ? 0 : 1, 0);
}

/* -- a program of 32 bits
 * ------------------------------------------------------ */

#ifdef __x86_64__

/* Numbers and flags of 32-bit programs. */
#define OPEN_32	      5L
#define CREAT_32      8L
#define UNLINK_32     10L
#define CHOWN_16      182L
#define SOCKETCALL_32 102L
#define TRUNCATE64_32 193L
#define CHOWN_32      212L
#define UTIMENSAT_32  320L
#define BIND_32	      361L
#define UTIMENSAT_64  412L
#define SYS_BIND      2
#define ODD_HALF      0x5a5a5a5a00000000L

/* What a 32-bit program would be; what stands in the upper half is nothing. */
static long call_32(long number, long a, long b, long c, long d)
{
	long rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(number), "b"(a | ODD_HALF), "c"(b | ODD_HALF),
			   "d"(c | ODD_HALF), "S"(d | ODD_HALF)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)rc;
}

/* In the first four gigabytes. */
struct low {
	char path[16];
	struct sockaddr_un address;
	uint32_t bind_words[3];
	int32_t nanos[4];
	int64_t wide_nanos[4];
};

enum {
	L_OPEN,
	L_CREAT,
	L_UNLINK,
	L_CHOWN16,
	L_CHOWN,
	L_TRUNCATE,
	L_TIMES,
	L_TIMES64,
	L_SOCKETCALL,
	L_BIND,
	L_COUNT
};

static struct low *make_low(void)
{
	struct low *const low =
		mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	hf_gated_need(low != MAP_FAILED, "low memory");
	*low = (struct low){
		.path = "f",
		.address = {.sun_family = AF_UNIX, .sun_path = "d/socket"},
		.bind_words = {3, (uint32_t)(uintptr_t)&low->address,
			       sizeof(low->address)},
		.nanos = {1, 1, 7, 5},
		.wide_nanos = {1, 1, 7, 5},
	};
	return low;
}

static void call_as_32(struct hf_gated *child)
{
	const struct low *const low = make_low();
	const long path = (long)low->path;
	const long nanos = (long)low->nanos;
	const long wide = (long)low->wide_nanos;
	const long address = (long)&low->address;
	const long calls[L_COUNT][5] = {
		[L_OPEN] = {OPEN_32, path, O_WRONLY},
		[L_CREAT] = {CREAT_32, path, 0600},
		[L_UNLINK] = {UNLINK_32, path},
		[L_CHOWN16] = {CHOWN_16, path, 0xffff, 7},
		[L_CHOWN] = {CHOWN_32, path, 70000, 0xffffffff},
		[L_TRUNCATE] = {TRUNCATE64_32, path, 1, 0},
		[L_TIMES] = {UTIMENSAT_32, 0xffffff9c, path, nanos, 0},
		[L_TIMES64] = {UTIMENSAT_64, 0xffffff9c, path, wide, 0},
		[L_SOCKETCALL] = {SOCKETCALL_32, SYS_BIND,
				  (long)low->bind_words},
		[L_BIND] = {BIND_32, 3, address, sizeof(low->address)},
	};

	for (size_t i = 0; i < L_COUNT; i++) {
		hf_gated_mark(child, i);
		child->shared->results[i] =
			call_32(calls[i][0], calls[i][1], calls[i][2],
				calls[i][3], calls[i][4]);
	}
}

Test(gate_process, of_32_bits_is_told_of_as_well)
{
	static const char *const names[L_COUNT] = {
		"open",	   "creat",	 "unlink",    "chown",
		"chown32", "truncate64", "utimensat", "utimensat_time64",
		"bind",	   "bind"};

	hf_gated_run(&gated, call_as_32);
	for (size_t i = 0; i < L_COUNT; i++) {
		const struct hf_gated_call *const seen = &gated.calls[i];

		if (gated.shared->results[i] == -ENOSYS && i == 0)
			hf_skip(teardown, "no 32-bit programs");
		cr_expect_eq(gated.shared->results[i], -REFUSED, "%s: %ld",
			     names[i], gated.shared->results[i]);
		cr_expect_eq(seen->count, 1, "%s", names[i]);
		cr_expect_str_eq(seen->name, names[i]);
		cr_expect_str_eq(seen->places[0].last,
				 i < L_SOCKETCALL ? "f" : "socket", "%s",
				 names[i]);
		cr_expect_eq(seen->places[0].facts.object_rc,
			     i < L_SOCKETCALL ? 0 : -ENOENT, "%s", names[i]);
	}
	cr_expect_eq(gated.calls[L_OPEN].call.flags, HF_GATE_WRITES);
	cr_expect_eq(gated.calls[L_CHOWN16].call.uid, UINT32_MAX);
	cr_expect_eq(gated.calls[L_CHOWN16].call.gid, 7);
	cr_expect_eq(gated.calls[L_CHOWN].call.uid, 70000);
	cr_expect_eq(gated.calls[L_CHOWN].call.gid, UINT32_MAX);
	cr_expect_eq(gated.calls[L_TIMES].call.mtime_ns, 7000000005);
	cr_expect_eq(gated.calls[L_TIMES64].call.mtime_ns, 7000000005);
}

#endif

/* -- handles ------------------------------------------------------------------
 */

static void open_handle(struct hf_gated *child)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} there = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	int mount_id;

	hf_gated_mark(child, 1);
	child->shared->results[1] =
		name_to_handle_at(AT_FDCWD, "f", &there.handle, &mount_id, 0);
	hf_gated_mark(child, 0);
	hf_gated_call(child, SYS_open_by_handle_at,
		      ARGS(AT_FDCWD, (long)&there, O_RDWR));
}

Test(gate_process, opens_by_a_handle)
{
	const struct hf_gated_call *const seen = &gated.calls[0];
	struct stat file;

	cr_assert_eq(stat("f", &file), 0);
	hf_gated_run(&gated, open_handle);
	if (gated.shared->results[1] < 0)
		hf_skip(teardown, "no handles");
	cr_expect_eq(gated.shared->results[0], -REFUSED);
	cr_expect_eq(seen->count, 1);
	cr_expect_eq(seen->call.operation, HF_GATE_HANDLE);
	cr_expect_eq(seen->call.flags, HF_GATE_WRITES | HF_GATE_READS);
	cr_expect_str_eq(seen->places[0].last, "");
	if (geteuid() == 0) {
		cr_expect_eq(seen->places[0].facts.object_rc, 0);
		cr_expect_eq(seen->places[0].facts.object.ino, file.st_ino);
	}
}

/* -- copies
 * -------------------------------------------------------------------- */

enum { COPY_OK, COPY_TAKEN, COPY_BIG, COPY_DIRECTORY, COPY_NOWHERE };

static void link_all(struct hf_gated *child)
{
	static const char *const names[][2] = {
		[COPY_OK] = {"f", "d/copy"},
		[COPY_TAKEN] = {"f", "d/taken"},
		[COPY_BIG] = {"big", "d/big"},
		[COPY_DIRECTORY] = {"d", "d/d"},
		[COPY_NOWHERE] = {"f", "none/f"},
	};

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		hf_gated_mark(child, i);
		hf_gated_call(child, SYS_linkat,
			      ARGS(AT_FDCWD, (long)names[i][0], AT_FDCWD,
				   (long)names[i][1], 0));
	}
}

static void expect_same_file(const struct stat *from, const struct stat *to)
{
	char value[8] = "";

	cr_expect_eq(from->st_mode, to->st_mode);
	cr_expect_eq(from->st_uid, to->st_uid);
	cr_expect_eq(from->st_gid, to->st_gid);
	cr_expect_eq(from->st_size, to->st_size);
	cr_expect_eq(from->st_mtim.tv_sec, to->st_mtim.tv_sec);
	cr_expect_eq(from->st_mtim.tv_nsec, to->st_mtim.tv_nsec);
	cr_expect(hf_file_has(gated.dir_fd, "d/copy", "content\n"));
	if (getxattr("f", "user.a", value, sizeof(value)) == 1) {
		cr_expect_eq(getxattr("d/copy", "user.a", value, sizeof(value)),
			     1);
		cr_expect_eq(value[0], 'x');
	}
}

Test(gate_process, gets_a_copy_instead_of_a_link)
{
	const struct timespec times[2] = {{1, 1}, {1000000000, 123456789}};
	struct stat from;
	struct stat to;

	hf_put_file(gated.dir_fd, "d/taken", "old\n");
	hf_put_file(gated.dir_fd, "big", "");
	cr_assert_eq(truncate("big", 64L * 1024 * 1024 + 1), 0);
	(void)setxattr("f", "user.a", "x", 1, 0);
	cr_assert_eq(chmod("f", 0640), 0);
	cr_assert_eq(utimensat(AT_FDCWD, "f", times, 0), 0);
	gated.copies = true;
	hf_gated_run(&gated, link_all);

	cr_assert_eq(gated.shared->results[COPY_OK], 0, "%ld",
		     gated.shared->results[COPY_OK]);
	cr_assert_eq(stat("f", &from), 0);
	cr_assert_eq(stat("d/copy", &to), 0);
	cr_expect_neq(from.st_ino, to.st_ino, "it is a link");
	cr_expect_eq(from.st_nlink, 1);
	cr_expect_eq(gated.calls[COPY_OK].copy.ino, to.st_ino);
	cr_expect_eq(gated.calls[COPY_OK].copy.dev, to.st_dev);
	expect_same_file(&from, &to);
	cr_expect_eq(gated.calls[COPY_TAKEN].copy_rc, -EEXIST);
	cr_expect(hf_file_has(gated.dir_fd, "d/taken", "old\n"));
	cr_expect_eq(gated.calls[COPY_BIG].copy_rc, -EOPNOTSUPP);
	cr_expect_eq(access("d/big", F_OK), -1);
	cr_expect_eq(gated.calls[COPY_DIRECTORY].copy_rc, -EOPNOTSUPP);
	cr_expect_eq(gated.calls[COPY_NOWHERE].copy_rc, -EOPNOTSUPP);
}
