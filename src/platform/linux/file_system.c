/* SPDX-License-Identifier: MIT */
/* Look at what files are, and at the file systems they are on. */
#include "platform/file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "platform/linux/file_internal.h"

/* Those that <linux/magic.h> does not have everywhere. */
#define CIFS_MAGIC   0xff534d42u
#define SMB2_MAGIC   0xfe534d42u
#define FUSE_MAGIC   0x65735546u
#define VBOXSF_MAGIC 0x786f4256u

#define PROTECTION_FLAGS (FS_IMMUTABLE_FL | FS_APPEND_FL)

enum hf_kind hf_file_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return HF_KIND_FILE;
	case S_IFDIR:
		return HF_KIND_DIRECTORY;
	case S_IFLNK:
		return HF_KIND_LINK;
	case S_IFIFO:
		return HF_KIND_FIFO;
	case S_IFSOCK:
		return HF_KIND_SOCKET;
	case S_IFCHR:
		return HF_KIND_CHARACTER_DEVICE;
	case S_IFBLK:
		return HF_KIND_BLOCK_DEVICE;
	default:
		return HF_KIND_ABSENT;
	}
}

int64_t hf_file_time_ns(const struct timespec *time)
{
	int64_t ns;

	/* A file may well say that it is from the year 2446. */
	if (__builtin_mul_overflow((int64_t)time->tv_sec, INT64_C(1000000000),
				   &ns) ||
	    __builtin_add_overflow(ns, (int64_t)time->tv_nsec, &ns))
		return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/* -- looking ------------------------------------------------------------- */

static void convert_stat(const struct stat *st, struct hf_stat *ret_stat)
{
	const bool is_device = S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode);

	*ret_stat = (struct hf_stat){
		.kind = hf_file_kind(st->st_mode),
		.mode = st->st_mode & 07777,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.nlink = (uint32_t)st->st_nlink,
		.size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.rdev = is_device ? st->st_rdev : 0,
		.blocks = (uint64_t)st->st_blocks,
		.mtime_ns = hf_file_time_ns(&st->st_mtim),
		.ctime_ns = hf_file_time_ns(&st->st_ctim),
	};
}

int hf_file_stat(int fd, struct hf_stat *ret_stat)
{
	struct stat st;
	const int rc = HF_CALL(fstat(fd, &st));

	if (rc < 0)
		return rc;
	convert_stat(&st, ret_stat);
	return 0;
}

uint64_t hf_file_birth_ns(int fd)
{
	struct statx stx = { .stx_mask = 0 };

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) < 0 ||
	    (stx.stx_mask & STATX_BTIME) == 0 || stx.stx_btime.tv_sec < 0)
		return 0;
	return (uint64_t)stx.stx_btime.tv_sec * 1000000000 +
	       stx.stx_btime.tv_nsec;
}

static int stat_with(int dir_fd, const char *name, int flags,
		     struct hf_stat *ret_stat)
{
	struct stat st;
	const int rc = HF_CALL(fstatat(dir_fd, name, &st, flags));

	if (rc < 0)
		return rc;
	convert_stat(&st, ret_stat);
	return 0;
}

int hf_file_stat_at(int dir_fd, const char *name, struct hf_stat *ret_stat)
{
	return stat_with(dir_fd, name, AT_SYMLINK_NOFOLLOW, ret_stat);
}

int hf_file_stat_path(const char *path, struct hf_stat *ret_stat)
{
	return stat_with(AT_FDCWD, path, 0, ret_stat);
}

int hf_file_read_link_at(int dir_fd, const char *name,
			 struct hf_buffer *ret_text)
{
	char text[HF_PATH_MAX];
	const ssize_t len =
		HF_CALL(readlinkat(dir_fd, name, text, sizeof(text)));

	if (len < 0)
		return (int)len;
	/* A link that fills the room may have been cut. */
	if ((size_t)len == sizeof(text))
		return -ENAMETOOLONG;
	hf_buffer_add(ret_text, text, (size_t)len);
	return ret_text->is_failed ? -ENOMEM : 0;
}

char *hf_file_canonical(const char *path)
{
	return realpath(path, NULL);
}

/* -- protection ---------------------------------------------------------- */

/* The flags of a file or directory; a driver must not be asked. */
static int get_flags(int fd, int *ret_flags)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EOPNOTSUPP;
	rc = HF_CALL(ioctl(fd, FS_IOC_GETFLAGS, ret_flags));
	return rc == -ENOTTY || rc == -ENOSYS ? -EOPNOTSUPP : rc;
}

int hf_file_get_protection(int fd, uint32_t *ret_flags)
{
	int flags;
	const int rc = get_flags(fd, &flags);

	if (rc < 0)
		return rc;
	*ret_flags = (uint32_t)flags & PROTECTION_FLAGS;
	return 0;
}

int hf_file_set_protection(int fd, uint32_t flags)
{
	int old_flags;
	int new_flags;
	const int rc = get_flags(fd, &old_flags);

	if (rc < 0)
		return rc;
	new_flags = (old_flags & ~PROTECTION_FLAGS) |
		    (int)(flags & PROTECTION_FLAGS);
	if (new_flags == old_flags)
		return 0;
	return HF_CALL(ioctl(fd, FS_IOC_SETFLAGS, &new_flags));
}

/* -- file systems -------------------------------------------------------- */

int hf_file_system_traits(int fd, unsigned *ret_traits)
{
	struct statfs fs;
	const int rc = HF_CALL(fstatfs(fd, &fs));

	if (rc < 0)
		return rc;
	switch ((uint32_t)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		*ret_traits = HF_FS_VOLATILE;
		break;
	case OVERLAYFS_SUPER_MAGIC:
		*ret_traits = HF_FS_OVERLAY;
		break;
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_MAGIC:
	case SMB2_MAGIC:
	case FUSE_MAGIC:
	case V9FS_MAGIC:
	case CODA_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case VBOXSF_MAGIC:
		*ret_traits = HF_FS_REMOTE;
		break;
	default:
		*ret_traits = 0;
	}
	return 0;
}

int hf_file_system_free(int fd, uint64_t *ret_bytes)
{
	struct statfs fs;
	const int rc = HF_CALL(fstatfs(fd, &fs));
	uint64_t bytes;

	if (rc < 0)
		return rc;
	/* Blocks are counted in fragments where there are any. */
	if (__builtin_mul_overflow(
		    (uint64_t)fs.f_bavail,
		    (uint64_t)(fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize),
		    &bytes))
		bytes = UINT64_MAX;
	*ret_bytes = bytes;
	return 0;
}
