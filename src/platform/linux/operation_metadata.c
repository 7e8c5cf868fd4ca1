/* SPDX-License-Identifier: MIT */
/* Operations that change what is known about a file: mode, owner, times,
 * attributes, flags. */
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/fs.h>
#include <linux/fsverity.h>

#include "platform/linux/operation_internal.h"

#define NEW_MODE  0600
#define NEW_OWNER 12345
#define NEW_TIME  1

/* What the kernel reads, whatever width the C library gives to time_t. */
struct kernel_time {
	long seconds;
	long fraction;
};

struct kernel_time64 {
	int64_t seconds;
	int64_t fraction;
};

struct attribute_value {
	uint64_t value;
	uint32_t size;
	uint32_t flags;
};

struct file_attributes {
	uint64_t flags;
	uint32_t extent_size;
	uint32_t extents;
	uint32_t project;
	uint32_t copy_extent_size;
};

static const struct kernel_time times[2] = {{NEW_TIME, 0}, {NEW_TIME, 0}};
static const struct kernel_time64 times64[2] = {{NEW_TIME, 0}, {NEW_TIME, 0}};

static long chmod_kept(NO_STAGE)
{
	return RAW(__NR_chmod, STAGE_KEPT, NEW_MODE);
}

static long chmod_tree(NO_STAGE)
{
	return RAW(__NR_chmod, STAGE_TREE "/.", NEW_MODE | 0100);
}

static long fchmod_kept(NO_STAGE)
{
	return RAW(__NR_fchmod, hf_stage_open_kept(), NEW_MODE);
}

static long fchmodat_kept(const struct hf_stage *stage)
{
	return RAW(__NR_fchmodat, stage->dir_fd, STAGE_KEPT, NEW_MODE);
}

static long fchmodat2_kept(const struct hf_stage *stage)
{
	return RAW(__NR_fchmodat2, stage->dir_fd, STAGE_KEPT, NEW_MODE,
		   AT_SYMLINK_NOFOLLOW);
}

static long fchmodat2_empty_path(NO_STAGE)
{
	return RAW(__NR_fchmodat2, hf_stage_open_kept(), "", NEW_MODE,
		   AT_EMPTY_PATH);
}

static long chown_kept(NO_STAGE)
{
	return RAW(__NR_chown, STAGE_LINK, NEW_OWNER, -1);
}

static long lchown_kept(NO_STAGE)
{
	return RAW(__NR_lchown, STAGE_KEPT, NEW_OWNER, -1);
}

static long fchown_kept(NO_STAGE)
{
	return RAW(__NR_fchown, hf_stage_open_kept(), -1, NEW_OWNER);
}

static long fchownat_kept(const struct hf_stage *stage)
{
	return RAW(__NR_fchownat, stage->dir_fd, STAGE_KEPT, NEW_OWNER,
		   NEW_OWNER, AT_SYMLINK_NOFOLLOW);
}

static long fchownat_empty_path(NO_STAGE)
{
	return RAW(__NR_fchownat, hf_stage_open_kept(), "", -1, NEW_OWNER,
		   AT_EMPTY_PATH);
}

static long chown32_kept(NO_STAGE)
{
	return RAW(__NR_chown32, STAGE_KEPT, NEW_OWNER, -1);
}

static long lchown32_kept(NO_STAGE)
{
	return RAW(__NR_lchown32, STAGE_KEPT, NEW_OWNER, -1);
}

static long fchown32_kept(NO_STAGE)
{
	return RAW(__NR_fchown32, hf_stage_open_kept(), NEW_OWNER, -1);
}

static long utime_kept(NO_STAGE)
{
	const long both[2] = {NEW_TIME, NEW_TIME};

	return RAW(__NR_utime, STAGE_KEPT, both);
}

static long utime_now(NO_STAGE)
{
	return RAW(__NR_utime, STAGE_KEPT, NULL);
}

static long utimes_kept(NO_STAGE)
{
	return RAW(__NR_utimes, STAGE_LINK, times);
}

static long futimesat_kept(const struct hf_stage *stage)
{
	return RAW(__NR_futimesat, stage->dir_fd, STAGE_KEPT, times);
}

static long futimesat_descriptor(NO_STAGE)
{
	return RAW(__NR_futimesat, hf_stage_open_kept(), NULL, times);
}

static long utimensat_kept(const struct hf_stage *stage)
{
	return RAW(__NR_utimensat, stage->dir_fd, STAGE_KEPT, times,
		   AT_SYMLINK_NOFOLLOW);
}

static long utimensat_now(NO_STAGE)
{
	return RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, NULL, 0);
}

static long utimensat_descriptor(NO_STAGE)
{
	return RAW(__NR_utimensat, hf_stage_open_kept(), NULL, times, 0);
}

static long utimensat_empty_path(NO_STAGE)
{
	return RAW(__NR_utimensat, hf_stage_open_kept(), "", times,
		   AT_EMPTY_PATH);
}

static long utimensat_time64_kept(NO_STAGE)
{
	return RAW(__NR_utimensat_time64, AT_FDCWD, STAGE_KEPT, times64, 0);
}

static long setxattr_kept(NO_STAGE)
{
	return RAW(__NR_setxattr, STAGE_LINK, STAGE_ATTRIBUTE, "damage", 6, 0);
}

static long lsetxattr_kept(NO_STAGE)
{
	return RAW(__NR_lsetxattr, STAGE_KEPT, STAGE_ATTRIBUTE, "damage", 6, 0);
}

static long fsetxattr_kept(NO_STAGE)
{
	return RAW(__NR_fsetxattr, hf_stage_open_kept(), STAGE_ATTRIBUTE,
		   "damage", 6, 0);
}

static long setxattrat_kept(NO_STAGE)
{
	const struct attribute_value value = {.value = (uintptr_t) "damage",
					      .size = 6};

	return RAW(__NR_setxattrat, AT_FDCWD, STAGE_KEPT, 0, STAGE_ATTRIBUTE,
		   &value, sizeof(value));
}

static long removexattr_kept(NO_STAGE)
{
	return RAW(__NR_removexattr, STAGE_LINK, STAGE_ATTRIBUTE);
}

static long lremovexattr_kept(NO_STAGE)
{
	return RAW(__NR_lremovexattr, STAGE_KEPT, STAGE_ATTRIBUTE);
}

static long fremovexattr_kept(NO_STAGE)
{
	return RAW(__NR_fremovexattr, hf_stage_open_kept(), STAGE_ATTRIBUTE);
}

static long removexattrat_kept(NO_STAGE)
{
	return RAW(__NR_removexattrat, AT_FDCWD, STAGE_KEPT, 0,
		   STAGE_ATTRIBUTE);
}

static long ioctl_flags(NO_STAGE)
{
	const unsigned flags = FS_NODUMP_FL | FS_NOATIME_FL;

	return RAW(__NR_ioctl, hf_stage_open_kept(), FS_IOC_SETFLAGS, &flags);
}

static long ioctl_attributes(NO_STAGE)
{
	const struct fsxattr attributes = {.fsx_xflags = FS_XFLAG_NODUMP};

	return RAW(__NR_ioctl, hf_stage_open_kept(), FS_IOC_FSSETXATTR,
		   &attributes);
}

static long ioctl_verity(NO_STAGE)
{
	const struct fsverity_enable_arg argument = {
		.version = 1,
		.hash_algorithm = FS_VERITY_HASH_ALG_SHA256,
		.block_size = 4096};

	return RAW(__NR_ioctl, hf_stage_open_kept(), FS_IOC_ENABLE_VERITY,
		   &argument);
}

static long file_setattr_kept(NO_STAGE)
{
	const struct file_attributes attributes = {.flags = FS_XFLAG_NODUMP};

	return RAW(__NR_file_setattr, AT_FDCWD, STAGE_KEPT, &attributes,
		   sizeof(attributes), 0);
}

#define ROOT   HF_OPERATION_PRIVILEGED
#define DENIED HF_OPERATION_DENIED

static const struct hf_operation operations[] = {
	OPERATION(chmod, "", chmod_kept, 0),
	OPERATION(chmod, ".tree", chmod_tree, 0),
	OPERATION(fchmod, "", fchmod_kept, 0),
	OPERATION(fchmodat, "", fchmodat_kept, 0),
	OPERATION(fchmodat2, "", fchmodat2_kept, 0),
	OPERATION(fchmodat2, ".empty-path", fchmodat2_empty_path, 0),
	OPERATION(chown, "", chown_kept, ROOT),
	OPERATION(lchown, "", lchown_kept, ROOT),
	OPERATION(fchown, "", fchown_kept, ROOT),
	OPERATION(fchownat, "", fchownat_kept, ROOT),
	OPERATION(fchownat, ".empty-path", fchownat_empty_path, ROOT),
	OPERATION(chown32, "", chown32_kept, ROOT),
	OPERATION(lchown32, "", lchown32_kept, ROOT),
	OPERATION(fchown32, "", fchown32_kept, ROOT),
	OPERATION(utime, "", utime_kept, 0),
	OPERATION(utime, ".now", utime_now, 0),
	OPERATION(utimes, "", utimes_kept, 0),
	OPERATION(futimesat, "", futimesat_kept, 0),
	OPERATION(futimesat, ".descriptor", futimesat_descriptor, 0),
	OPERATION(utimensat, "", utimensat_kept, 0),
	OPERATION(utimensat, ".now", utimensat_now, 0),
	OPERATION(utimensat, ".descriptor", utimensat_descriptor, 0),
	OPERATION(utimensat, ".empty-path", utimensat_empty_path, 0),
	OPERATION(utimensat_time64, "", utimensat_time64_kept, 0),
	OPERATION(setxattr, "", setxattr_kept, 0),
	OPERATION(lsetxattr, "", lsetxattr_kept, 0),
	OPERATION(fsetxattr, "", fsetxattr_kept, 0),
	OPERATION(setxattrat, "", setxattrat_kept, DENIED),
	OPERATION(removexattr, "", removexattr_kept, 0),
	OPERATION(lremovexattr, "", lremovexattr_kept, 0),
	OPERATION(fremovexattr, "", fremovexattr_kept, 0),
	OPERATION(removexattrat, "", removexattrat_kept, DENIED),
	OPERATION(ioctl, ".flags", ioctl_flags, 0),
	OPERATION(ioctl, ".attributes", ioctl_attributes, 0),
	OPERATION(ioctl, ".verity", ioctl_verity, 0),
	OPERATION(file_setattr, "", file_setattr_kept, DENIED),
};

const struct hf_operation_list hf_operations_metadata = {operations,
							 HF_COUNT(operations)};
