/* SPDX-License-Identifier: MIT */
/*
 * The system calls that the gate is told of, and where their arguments stand.
 *
 * One list for two readers: the generator makes the filter and the tables of
 * numbers from it when holdfast is built, the decoder finds the arguments.
 *
 *	X(name of the call, what it does, shape)
 *
 * dir and path are arguments counted from 1 (0: there is none); a path without a
 * dir is relative to the working directory.  Sources: the manual pages of
 * section 2, and syscalls(2) for those of 32-bit systems.
 */
#ifndef HF_PLATFORM_LINUX_GATE_CALLS_H
#define HF_PLATFORM_LINUX_GATE_CALLS_H

/* How the times of a call are given. */
enum gate_times {
	GATE_TIMES_NONE,
	GATE_TIMES_UTIMBUF,	/* two seconds */
	GATE_TIMES_TIMEVAL,	/* seconds and microseconds */
	GATE_TIMES_TIMESPEC,	/* seconds and nanoseconds */
	GATE_TIMES_TIMESPEC64	/* the same, 64 bits wide in a 32-bit program */
};

/* What is special about a call. */
enum gate_trait {
	GATE_NO_FOLLOW = 1 << 0,	/* a link as the last component is meant */
	GATE_OF_DESCRIPTOR = 1 << 1,	/* dir is the object, there is no path */
	GATE_HOW = 1 << 2,		/* flags is a pointer to struct open_how */
	GATE_SHORT_IDS = 1 << 3,	/* 16 bits in a 32-bit program */
	GATE_MAKES_DIRECTORY = 1 << 4,
	GATE_REMOVES_ATTRIBUTE = 1 << 5,
	GATE_MAKES_LINK = 1 << 6	/* to the text that comes first */
};

#define HF_GATE_CALLS(X)						\
	X(open, OPEN, .path = { 1 }, .flags = 2)			\
	X(openat, OPEN, .dir = { 1 }, .path = { 2 }, .flags = 3)	\
	X(openat2, OPEN, .dir = { 1 }, .path = { 2 }, .flags = 3,	\
	  .traits = GATE_HOW)						\
	X(creat, OPEN, .path = { 1 })					\
	X(open_by_handle_at, HANDLE, .dir = { 1 }, .flags = 3)		\
	X(truncate, TRUNCATE, .path = { 1 })				\
	X(truncate64, TRUNCATE, .path = { 1 })				\
	X(rename, RENAME, .path = { 1, 2 }, .traits = GATE_NO_FOLLOW)	\
	X(renameat, RENAME, .dir = { 1, 3 }, .path = { 2, 4 },		\
	  .traits = GATE_NO_FOLLOW)					\
	X(renameat2, RENAME, .dir = { 1, 3 }, .path = { 2, 4 },		\
	  .flags = 5, .traits = GATE_NO_FOLLOW)				\
	X(unlink, REMOVE, .path = { 1 }, .traits = GATE_NO_FOLLOW)	\
	X(unlinkat, REMOVE, .dir = { 1 }, .path = { 2 }, .flags = 3,	\
	  .traits = GATE_NO_FOLLOW)					\
	X(rmdir, REMOVE_DIRECTORY, .path = { 1 },			\
	  .traits = GATE_NO_FOLLOW)					\
	X(link, LINK, .path = { 1, 2 }, .traits = GATE_NO_FOLLOW)	\
	X(linkat, LINK, .dir = { 1, 3 }, .path = { 2, 4 }, .flags = 5,	\
	  .traits = GATE_NO_FOLLOW)					\
	X(symlink, CREATE, .path = { 2 },				\
	  .traits = GATE_NO_FOLLOW | GATE_MAKES_LINK)	\
	X(symlinkat, CREATE, .dir = { 2 }, .path = { 3 },		\
	  .traits = GATE_NO_FOLLOW | GATE_MAKES_LINK)					\
	X(mknod, CREATE, .path = { 1 }, .traits = GATE_NO_FOLLOW)	\
	X(mknodat, CREATE, .dir = { 1 }, .path = { 2 },			\
	  .traits = GATE_NO_FOLLOW)					\
	X(mkdir, CREATE, .path = { 1 },					\
	  .traits = GATE_NO_FOLLOW | GATE_MAKES_DIRECTORY)		\
	X(mkdirat, CREATE, .dir = { 1 }, .path = { 2 },			\
	  .traits = GATE_NO_FOLLOW | GATE_MAKES_DIRECTORY)		\
	X(bind, BIND, .dir = { 1 }, .traits = GATE_NO_FOLLOW)		\
	X(socketcall, BIND, .traits = GATE_NO_FOLLOW)			\
	X(chmod, MODE, .path = { 1 }, .value = 2)			\
	X(fchmod, MODE, .dir = { 1 }, .value = 2,			\
	  .traits = GATE_OF_DESCRIPTOR)					\
	X(fchmodat, MODE, .dir = { 1 }, .path = { 2 }, .value = 3)	\
	X(fchmodat2, MODE, .dir = { 1 }, .path = { 2 }, .value = 3,	\
	  .flags = 4)							\
	X(chown, OWNER, .path = { 1 }, .value = 2,			\
	  .traits = GATE_SHORT_IDS)					\
	X(lchown, OWNER, .path = { 1 }, .value = 2,			\
	  .traits = GATE_NO_FOLLOW | GATE_SHORT_IDS)			\
	X(fchown, OWNER, .dir = { 1 }, .value = 2,			\
	  .traits = GATE_OF_DESCRIPTOR | GATE_SHORT_IDS)		\
	X(chown32, OWNER, .path = { 1 }, .value = 2)			\
	X(lchown32, OWNER, .path = { 1 }, .value = 2,			\
	  .traits = GATE_NO_FOLLOW)					\
	X(fchown32, OWNER, .dir = { 1 }, .value = 2,			\
	  .traits = GATE_OF_DESCRIPTOR)					\
	X(fchownat, OWNER, .dir = { 1 }, .path = { 2 }, .value = 3,	\
	  .flags = 5)							\
	X(utime, TIMES, .path = { 1 }, .value = 2,			\
	  .times = GATE_TIMES_UTIMBUF)					\
	X(utimes, TIMES, .path = { 1 }, .value = 2,			\
	  .times = GATE_TIMES_TIMEVAL)					\
	X(futimesat, TIMES, .dir = { 1 }, .path = { 2 }, .value = 3,	\
	  .times = GATE_TIMES_TIMEVAL)					\
	X(utimensat, TIMES, .dir = { 1 }, .path = { 2 }, .value = 3,	\
	  .flags = 4, .times = GATE_TIMES_TIMESPEC)			\
	X(utimensat_time64, TIMES, .dir = { 1 }, .path = { 2 },		\
	  .value = 3, .flags = 4, .times = GATE_TIMES_TIMESPEC64)	\
	X(setxattr, ATTRIBUTE, .path = { 1 }, .value = 2)		\
	X(lsetxattr, ATTRIBUTE, .path = { 1 }, .value = 2,		\
	  .traits = GATE_NO_FOLLOW)					\
	X(fsetxattr, ATTRIBUTE, .dir = { 1 }, .value = 2,		\
	  .traits = GATE_OF_DESCRIPTOR)					\
	X(removexattr, ATTRIBUTE, .path = { 1 }, .value = 2,		\
	  .traits = GATE_REMOVES_ATTRIBUTE)				\
	X(lremovexattr, ATTRIBUTE, .path = { 1 }, .value = 2,		\
	  .traits = GATE_NO_FOLLOW | GATE_REMOVES_ATTRIBUTE)		\
	X(fremovexattr, ATTRIBUTE, .dir = { 1 }, .value = 2,		\
	  .traits = GATE_OF_DESCRIPTOR | GATE_REMOVES_ATTRIBUTE)	\
	X(ioctl, FLAGS, .dir = { 1 }, .value = 2,			\
	  .traits = GATE_OF_DESCRIPTOR)					\
	X(mount, MOUNT, .path = { 2 }, .flags = 4)			\
	X(move_mount, MOUNT, .dir = { 3 }, .path = { 4 })		\
	X(umount, UNMOUNT, .path = { 1 })				\
	X(umount2, UNMOUNT, .path = { 1 }, .flags = 2)			\
	X(chdir, DIRECTORY)						\
	X(fchdir, DIRECTORY)						\
	X(chroot, VIEW)							\
	X(pivot_root, VIEW)						\
	X(setns, VIEW)							\
	X(unshare, VIEW)						\
	X(clone, VIEW)							\
	X(prctl, PROCESS)						\
	X(io_uring_setup, PROCESS)					\
	X(seccomp, PROCESS)						\
	X(ptrace, PROCESS)						\
	X(setuid, PROCESS)						\
	X(setresuid, PROCESS)						\
	X(setreuid, PROCESS)						\
	X(setuid32, PROCESS)						\
	X(setresuid32, PROCESS)						\
	X(setreuid32, PROCESS)

enum gate_call {
	GATE_CALL_NONE,
#define HF_GATE_ENUM(name, operation, ...) GATE_CALL_##name,
	HF_GATE_CALLS(HF_GATE_ENUM)
#undef HF_GATE_ENUM
	GATE_CALLS
};

/* PTRACE_SEIZE, and CLONE_NEWNS, which headers show only to some. */
#define GATE_PTRACE_SEIZE	0x4206
#define GATE_CLONE_NEWNS	0x00020000

#endif /* HF_PLATFORM_LINUX_GATE_CALLS_H */
