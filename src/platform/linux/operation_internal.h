/* SPDX-License-Identifier: MIT */
/*
 * What the files of the table of operations share: the names of a stage, raw
 * system calls, and the numbers that not every architecture has.
 */
#ifndef HF_PLATFORM_LINUX_OPERATION_INTERNAL_H
#define HF_PLATFORM_LINUX_OPERATION_INTERNAL_H

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/operation.h"

/* Protected. */
#define STAGE_KEPT	 "kept.toml"
#define STAGE_ABSENT	 "absent.toml"
#define STAGE_NEAR	 "near"
#define STAGE_NEAR_KEPT	 STAGE_NEAR "/kept.toml"
#define STAGE_NEAR_NEW	 STAGE_NEAR "/new.toml"
#define STAGE_TREE	 "kept.d"
#define STAGE_TREE_NEW	 STAGE_TREE "/new.txt"
#define STAGE_MOUNT	 "mount.d"
#define STAGE_MOUNT_KEPT STAGE_MOUNT "/kept.toml"
/* Not protected. */
#define STAGE_OTHER	 "other.txt"
#define STAGE_OTHER_DIR	 "other.d"
#define STAGE_GONE	 "gone.txt"
#define STAGE_LINK	 "link"
#define STAGE_DANGLING	 "dangling"
#define STAGE_LINKED_DIR "linked.d"
#define STAGE_HARD	 "hard"

#define STAGE_ATTRIBUTE	 "user.holdfast"
#define STAGE_MODE	 0644
#define STAGE_DIR_MODE	 0755

/* A raw system call: its result or -errno. */
#define RAW(...)	 hf_raw_result(syscall(__VA_ARGS__))

static inline long hf_raw_result(long result)
{
	return result < 0 ? -errno : result;
}

/* Damage through what an open returned, and close it; 0 or -errno. */
long hf_stage_spoil(long fd);
/* The same through a path, beneath a directory or AT_FDCWD. */
long hf_stage_spoil_path(long dir_fd, const char *path);
/* A descriptor for reading: enough for many operations. */
long hf_stage_open_kept(void);

/* The parameter of an operation that aims by the working directory alone. */
#define NO_STAGE	 const struct hf_stage *stage __attribute__((unused))

/* One operation: OPERATION(renameat2, ".away", renameat2_away, 0). */
#define OPERATION(call, variant, function, set)			\
	{ #call variant, #call, __NR_##call, set, NULL, function }
#define OPERATION_PREPARED(call, variant, before, function, set)	\
	{ #call variant, #call, __NR_##call, set, before, function }

struct hf_operation_list {
	const struct hf_operation *items;
	size_t count;
};

extern const struct hf_operation_list hf_operations_open;
extern const struct hf_operation_list hf_operations_way;
extern const struct hf_operation_list hf_operations_thread;
extern const struct hf_operation_list hf_operations_name;
extern const struct hf_operation_list hf_operations_metadata;
extern const struct hf_operation_list hf_operations_mount;

/* Calls that newer architectures have left out. */
#ifndef __NR_open
#define __NR_open -1
#endif
#ifndef __NR_creat
#define __NR_creat -1
#endif
#ifndef __NR_rename
#define __NR_rename -1
#endif
#ifndef __NR_renameat
#define __NR_renameat -1
#endif
#ifndef __NR_unlink
#define __NR_unlink -1
#endif
#ifndef __NR_rmdir
#define __NR_rmdir -1
#endif
#ifndef __NR_link
#define __NR_link -1
#endif
#ifndef __NR_symlink
#define __NR_symlink -1
#endif
#ifndef __NR_mknod
#define __NR_mknod -1
#endif
#ifndef __NR_mkdir
#define __NR_mkdir -1
#endif
#ifndef __NR_chmod
#define __NR_chmod -1
#endif
#ifndef __NR_chown
#define __NR_chown -1
#endif
#ifndef __NR_lchown
#define __NR_lchown -1
#endif
#ifndef __NR_utime
#define __NR_utime -1
#endif
#ifndef __NR_utimes
#define __NR_utimes -1
#endif
#ifndef __NR_futimesat
#define __NR_futimesat -1
#endif
/* Calls of 32-bit architectures alone. */
#ifndef __NR_truncate64
#define __NR_truncate64 -1
#endif
#ifndef __NR_chown32
#define __NR_chown32 -1
#endif
#ifndef __NR_lchown32
#define __NR_lchown32 -1
#endif
#ifndef __NR_fchown32
#define __NR_fchown32 -1
#endif
#ifndef __NR_utimensat_time64
#define __NR_utimensat_time64 -1
#endif
#ifndef __NR_socketcall
#define __NR_socketcall -1
#endif
/* Calls that older headers do not know; the same numbers everywhere. */
#ifndef __NR_open_tree
#define __NR_open_tree 428
#endif
#ifndef __NR_move_mount
#define __NR_move_mount 429
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif

#endif /* HF_PLATFORM_LINUX_OPERATION_INTERNAL_H */
