/* SPDX-License-Identifier: MIT */
/*
 * What the files behind platform/file.h share, and the ways taken on kernels
 * that lack a call, so that tests can take them anywhere.
 */
#ifndef HF_PLATFORM_LINUX_FILE_INTERNAL_H
#define HF_PLATFORM_LINUX_FILE_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/defs.h"
#include "holdfast/holdfast.h"

/* The result of a system call, or -errno.  A signal is no reason to fail. */
#define HF_CALL(call)							\
	({								\
		__typeof__(call) result_;				\
									\
		do							\
			result_ = (call);				\
		while (result_ < 0 && errno == EINTR);			\
		result_ < 0 ? -errno : result_;				\
	})

/* The kind in a st_mode; what no kind of ours is, is absent. */
enum hf_kind hf_file_kind(mode_t mode);

/* Both halves of a struct timespec as nanoseconds, within the type's range. */
int64_t hf_file_time_ns(const struct timespec *time);

/* hf_file_open_beneath() where openat2 is missing; path is plain. */
MUST_CHECK int hf_file_open_beneath_walk(int dir_fd, const char *path);

/* hf_file_set_mode_at() where fchmodat2 is missing. */
MUST_CHECK int hf_file_set_mode_by_proc(int dir_fd, const char *name,
					uint32_t mode);

/* hf_file_rename_new_at() where the file system has no RENAME_NOREPLACE. */
MUST_CHECK int hf_file_rename_new_by_link(int from_fd, const char *from,
					  int to_fd, const char *to);

#endif /* HF_PLATFORM_LINUX_FILE_INTERNAL_H */
