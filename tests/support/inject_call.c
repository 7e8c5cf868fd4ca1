/* SPDX-License-Identifier: MIT */
/*
 * Calls that change a file: one row each, with which argument tells about what.
 *
 * An open counts when it is for writing, a write when it is to a regular file
 * on a disk or in memory: pipes, terminals and /proc lose nothing.
 */
#include "support/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/vfs.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRITE_FLAGS  (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "how does a call fail here?"
#endif

enum about { ABOUT_FD, ABOUT_PATH, ABOUT_OPEN, ABOUT_OPENAT, ABOUT_OPENAT2 };

struct row {
	long number;
	const char *name;
	enum about about;
	unsigned argument;
};

/* clang-format off */
static const struct row rows[] = {
#ifdef SYS_open
	{SYS_open, "open", ABOUT_OPEN, 0},
	{SYS_creat, "creat", ABOUT_PATH, 0},
	{SYS_rename, "rename", ABOUT_PATH, 1},
	{SYS_link, "link", ABOUT_PATH, 1},
	{SYS_symlink, "symlink", ABOUT_PATH, 1},
	{SYS_unlink, "unlink", ABOUT_PATH, 0},
	{SYS_mkdir, "mkdir", ABOUT_PATH, 0},
	{SYS_rmdir, "rmdir", ABOUT_PATH, 0},
	{SYS_mknod, "mknod", ABOUT_PATH, 0},
	{SYS_chmod, "chmod", ABOUT_PATH, 0},
	{SYS_chown, "chown", ABOUT_PATH, 0},
	{SYS_lchown, "lchown", ABOUT_PATH, 0},
#endif
#ifdef SYS_renameat
	{SYS_renameat, "renameat", ABOUT_PATH, 3},
#endif
	{SYS_openat, "openat", ABOUT_OPENAT, 1},
	{SYS_openat2, "openat2", ABOUT_OPENAT2, 1},
	{SYS_write, "write", ABOUT_FD, 0},
	{SYS_pwrite64, "pwrite64", ABOUT_FD, 0},
	{SYS_writev, "writev", ABOUT_FD, 0},
	{SYS_pwritev, "pwritev", ABOUT_FD, 0},
	{SYS_pwritev2, "pwritev2", ABOUT_FD, 0},
	{SYS_sendfile, "sendfile", ABOUT_FD, 0},
	{SYS_copy_file_range, "copy_file_range", ABOUT_FD, 2},
	{SYS_fsync, "fsync", ABOUT_FD, 0},
	{SYS_fdatasync, "fdatasync", ABOUT_FD, 0},
	{SYS_sync_file_range, "sync_file_range", ABOUT_FD, 0},
	{SYS_ftruncate, "ftruncate", ABOUT_FD, 0},
	{SYS_fallocate, "fallocate", ABOUT_FD, 0},
	{SYS_truncate, "truncate", ABOUT_PATH, 0},
	{SYS_renameat2, "renameat2", ABOUT_PATH, 3},
	{SYS_linkat, "linkat", ABOUT_PATH, 3},
	{SYS_symlinkat, "symlinkat", ABOUT_PATH, 2},
	{SYS_unlinkat, "unlinkat", ABOUT_PATH, 1},
	{SYS_mkdirat, "mkdirat", ABOUT_PATH, 1},
	{SYS_mknodat, "mknodat", ABOUT_PATH, 1},
	{SYS_fchmod, "fchmod", ABOUT_FD, 0},
	{SYS_fchmodat, "fchmodat", ABOUT_PATH, 1},
	{452, "fchmodat2", ABOUT_PATH, 1},
	{SYS_fchown, "fchown", ABOUT_FD, 0},
	{SYS_fchownat, "fchownat", ABOUT_PATH, 1},
	{SYS_utimensat, "utimensat", ABOUT_PATH, 1},
	{SYS_setxattr, "setxattr", ABOUT_PATH, 0},
	{SYS_lsetxattr, "lsetxattr", ABOUT_PATH, 0},
	{SYS_fsetxattr, "fsetxattr", ABOUT_FD, 0},
	{SYS_removexattr, "removexattr", ABOUT_PATH, 0},
	{SYS_lremovexattr, "lremovexattr", ABOUT_PATH, 0},
	{SYS_fremovexattr, "fremovexattr", ABOUT_FD, 0},
};
/* clang-format on */

/* -- the filter -------------------------------------------------------------
 */

int inject_filter(void)
{
	struct sock_filter code[2 * COUNT(rows) + 5];
	struct sock_fprog program = {.filter = code};
	size_t len = 0;

	/* Another architecture's calls are a helper's, never the program's. */
	code[len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						   ARCH, 1, 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						   SECCOMP_RET_ALLOW);
	code[len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(rows); i++) {
		code[len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rows[i].number, 0,
			1);
		code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							   SECCOMP_RET_TRACE);
	}
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						   SECCOMP_RET_ALLOW);
	program.len = (unsigned short)len;

	/* Root needs no promise, which would be inherited as well. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 0;
	if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* -- what a call is about ---------------------------------------------------
 */

static size_t peek(pid_t pid, uint64_t at, void *ret_bytes, size_t len)
{
	struct iovec local = {.iov_base = ret_bytes, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)at,
			       .iov_len = len};
	const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static void read_path(pid_t pid, uint64_t at, struct inject_call *call)
{
	size_t len = 0;

	/* Byte for byte: the next page may not be there. */
	while (at != 0 && len < sizeof(call->about) - 1 &&
	       peek(pid, at + len, call->about + len, 1) == 1 &&
	       call->about[len] != '\0')
		len++;
	call->about[len] = '\0';
}

static bool read_fd(pid_t pid, uint64_t fd, struct inject_call *call)
{
	struct stat stat_of;
	struct statfs system;
	char link[64];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)fd);
	len = readlink(link, call->about, sizeof(call->about) - 1);
	call->about[len < 0 ? 0 : len] = '\0';
	if (stat(link, &stat_of) < 0 || statfs(link, &system) < 0)
		return false;
	return (S_ISREG(stat_of.st_mode) || S_ISDIR(stat_of.st_mode)) &&
	       system.f_type != PROC_SUPER_MAGIC;
}

static bool is_written(const char *path, uint64_t flags)
{
	return (flags & WRITE_FLAGS) != 0 && strncmp(path, "/dev/", 5) != 0 &&
	       strncmp(path, "/proc/", 6) != 0;
}

static bool judge(pid_t pid, const struct row *row, const uint64_t *args,
		  struct inject_call *call)
{
	struct open_how how = {.flags = 0};

	if (row->about == ABOUT_FD)
		return read_fd(pid, args[row->argument], call);
	read_path(pid, args[row->argument], call);
	switch (row->about) {
	case ABOUT_OPEN:
		return is_written(call->about, args[1]);
	case ABOUT_OPENAT:
		return is_written(call->about, args[2]);
	case ABOUT_OPENAT2:
		(void)peek(pid, args[2], &how, sizeof(how));
		return is_written(call->about, how.flags);
	default:
		return true;
	}
}

bool inject_read_call(pid_t pid, struct inject_call *ret_call)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return false;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if ((uint64_t)rows[i].number != info.seccomp.nr)
			continue;
		ret_call->name = rows[i].name;
		return judge(pid, &rows[i], (uint64_t *)info.seccomp.args,
			     ret_call);
	}
	return false;
}

/* -- a failure --------------------------------------------------------------
 */

/* The kernel makes no call -1, and returns what the register holds. */
int inject_fail(pid_t pid, int failure)
{
#if defined(__x86_64__)
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, 0, &registers) < 0)
		return -1;
	registers.orig_rax = (unsigned long long)-1;
	registers.rax = (unsigned long long)-failure;
	return ptrace(PTRACE_SETREGS, pid, 0, &registers) < 0 ? -1 : 0;
#else
	struct user_regs_struct registers;
	struct iovec all = {.iov_base = &registers,
			    .iov_len = sizeof(registers)};
	int number = -1;
	struct iovec call = {.iov_base = &number, .iov_len = sizeof(number)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all) < 0)
		return -1;
	registers.regs[0] = (unsigned long long)-failure;
	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all) < 0)
		return -1;
	return ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &call) < 0 ? -1
									    : 0;
#endif
}
