/* SPDX-License-Identifier: MIT */
/*
 * Operations on names and metadata that change nothing: because what they set
 * is there already, or because the kernel fails them.  Whoever refuses others
 * must leave these alone.
 */
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <linux/fs.h>

#include "support/operate.h"

#define UNKNOWN_FLAGS 0x4000

struct kernel_time {
	long seconds;
	long fraction;
};

static struct stat kept_stat(void)
{
	struct stat st;

	if (stat(STAGE_KEPT, &st) < 0)
		_exit(ENOTRECOVERABLE);
	return st;
}

/* The same time of modification, another of access. */
static long utimensat_same(NO_STAGE)
{
	const struct stat st = kept_stat();
	const struct kernel_time times[2] = {
		{1, 0},
		{(long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec},
	};

	return RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, times, 0);
}

static long utimensat_omit(NO_STAGE)
{
	const struct kernel_time times[2] = {{1, 0}, {0, UTIME_OMIT}};

	return RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, times, 0);
}

static long utimensat_descriptor_omit(NO_STAGE)
{
	const struct kernel_time times[2] = {{1, 0}, {0, UTIME_OMIT}};

	return RAW(__NR_utimensat, hf_stage_open_kept(), NULL, times, 0);
}

static long utimensat_bad_pointer(NO_STAGE)
{
	return RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, 8L, 0);
}

static long utimensat_bad_time(NO_STAGE)
{
	const struct kernel_time times[2] = {{1, 0}, {1, -5}};

	return RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, times, 0);
}

static long chmod_same(NO_STAGE)
{
	return RAW(__NR_fchmodat, AT_FDCWD, STAGE_KEPT, STAGE_MODE);
}

static long fchmod_same(NO_STAGE)
{
	return RAW(__NR_fchmod, hf_stage_open_kept(), STAGE_MODE);
}

static long fchmod_path_descriptor(NO_STAGE)
{
	return RAW(__NR_fchmod, RAW(__NR_openat, AT_FDCWD, STAGE_KEPT, O_PATH),
		   0600);
}

static long chown_same(NO_STAGE)
{
	return RAW(__NR_fchownat, AT_FDCWD, STAGE_KEPT, geteuid(), getegid(),
		   0);
}

static long chown_none(NO_STAGE)
{
	return RAW(__NR_fchownat, AT_FDCWD, STAGE_KEPT, -1, -1, 0);
}

static long fchown_same(NO_STAGE)
{
	return RAW(__NR_fchown, hf_stage_open_kept(), geteuid(), -1);
}

static long setxattr_same(NO_STAGE)
{
	return RAW(__NR_setxattr, STAGE_KEPT, STAGE_ATTRIBUTE, "kept", 4, 0);
}

static long setxattr_exists(NO_STAGE)
{
	return RAW(__NR_setxattr, STAGE_KEPT, STAGE_ATTRIBUTE, "damage", 6,
		   1 /* XATTR_CREATE */);
}

static long fsetxattr_same(NO_STAGE)
{
	return RAW(__NR_fsetxattr, hf_stage_open_kept(), STAGE_ATTRIBUTE,
		   "kept", 4, 0);
}

static long removexattr_none(NO_STAGE)
{
	return RAW(__NR_removexattr, STAGE_KEPT, "user.none");
}

static long ioctl_same(NO_STAGE)
{
	const long fd = hf_stage_open_kept();
	unsigned flags = 0;
	const long rc = RAW(__NR_ioctl, fd, FS_IOC_GETFLAGS, &flags);

	return rc < 0 ? rc : RAW(__NR_ioctl, fd, FS_IOC_SETFLAGS, &flags);
}

static long rename_twin(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_HARD, AT_FDCWD, STAGE_KEPT,
		   0);
}

static long rename_twin_from(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_KEPT, AT_FDCWD, STAGE_HARD,
		   0);
}

static long rename_itself(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_KEPT, AT_FDCWD,
		   "./" STAGE_KEPT, 0);
}

static long rename_missing(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_GONE, AT_FDCWD, STAGE_KEPT,
		   0);
}

static long rename_exists(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER, AT_FDCWD, STAGE_KEPT,
		   RENAME_NOREPLACE);
}

static long rename_unknown_flags(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER, AT_FDCWD, STAGE_KEPT,
		   UNKNOWN_FLAGS);
}

static long rename_exchange_missing(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_KEPT, AT_FDCWD, STAGE_GONE,
		   RENAME_EXCHANGE);
}

static long rename_over_full(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER_DIR, AT_FDCWD,
		   STAGE_NEAR, 0);
}

static long rename_file_over_directory(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER, AT_FDCWD, STAGE_TREE,
		   0);
}

static long rename_directory_over_file(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER_DIR, AT_FDCWD,
		   STAGE_KEPT, 0);
}

static long rename_into_itself(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_NEAR, AT_FDCWD,
		   STAGE_NEAR "/in", 0);
}

/* To the file system of shared memory, which is not that of a test. */
static long rename_devices(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_KEPT, AT_FDCWD,
		   "/dev/shm/hf-operate", 0);
}

static long link_devices(NO_STAGE)
{
	return RAW(__NR_linkat, AT_FDCWD, "/proc/version", AT_FDCWD,
		   STAGE_ABSENT, 0);
}

static long link_exists(NO_STAGE)
{
	return RAW(__NR_linkat, AT_FDCWD, STAGE_OTHER, AT_FDCWD, STAGE_KEPT, 0);
}

static long link_directory(NO_STAGE)
{
	return RAW(__NR_linkat, AT_FDCWD, STAGE_OTHER_DIR, AT_FDCWD,
		   STAGE_ABSENT, 0);
}

static long symlink_exists(NO_STAGE)
{
	return RAW(__NR_symlinkat, STAGE_OTHER, AT_FDCWD, STAGE_KEPT);
}

static long symlink_empty(NO_STAGE)
{
	return RAW(__NR_symlinkat, "", AT_FDCWD, STAGE_ABSENT);
}

static long mknod_exists(NO_STAGE)
{
	return RAW(__NR_mknodat, AT_FDCWD, STAGE_KEPT, S_IFIFO | STAGE_MODE, 0);
}

static long mkdir_exists(NO_STAGE)
{
	return RAW(__NR_mkdirat, AT_FDCWD, STAGE_TREE, STAGE_DIR_MODE);
}

static long mkdir_over_file(NO_STAGE)
{
	return RAW(__NR_mkdirat, AT_FDCWD, STAGE_KEPT, STAGE_DIR_MODE);
}

static long mkdir_beneath_file(NO_STAGE)
{
	return RAW(__NR_mkdirat, AT_FDCWD, STAGE_KEPT "/in.toml",
		   STAGE_DIR_MODE);
}

static long mkdir_dot(NO_STAGE)
{
	return RAW(__NR_mkdirat, AT_FDCWD, STAGE_TREE "/.", STAGE_DIR_MODE);
}

static long rmdir_full(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_NEAR, AT_REMOVEDIR);
}

static long rmdir_file(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_KEPT, AT_REMOVEDIR);
}

static long rmdir_dot(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_TREE "/.", AT_REMOVEDIR);
}

static long unlink_directory(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_TREE, 0);
}

static long unlink_missing(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_ABSENT, 0);
}

static long unlink_slash(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_KEPT "/", 0);
}

static long unlink_unknown_flags(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_KEPT, UNKNOWN_FLAGS);
}

/* Another name of the same file is nobody's loss. */
static long unlink_twin(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_HARD, 0);
}

static long unlink_link(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_LINK, 0);
}

static long bind_exists(NO_STAGE)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX,
					    .sun_path = STAGE_KEPT};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return RAW(__NR_bind, fd, &address, sizeof(address));
}

/* What happens to others is nobody's concern. */
static long rename_other(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER, AT_FDCWD,
		   STAGE_OTHER_DIR "/" STAGE_GONE, 0);
}

static long rename_over_link(NO_STAGE)
{
	return RAW(__NR_renameat2, AT_FDCWD, STAGE_OTHER, AT_FDCWD, STAGE_LINK,
		   0);
}

static long mkdir_other(NO_STAGE)
{
	return RAW(__NR_mkdirat, AT_FDCWD, STAGE_NEAR "/" STAGE_GONE,
		   STAGE_DIR_MODE);
}

static long unlink_other(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_OTHER, 0);
}

static long rmdir_other(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_OTHER_DIR, AT_REMOVEDIR);
}

static long chmod_other(NO_STAGE)
{
	return RAW(__NR_fchmodat, AT_FDCWD, STAGE_OTHER, 0600);
}

static long link_to_kept(NO_STAGE)
{
	return RAW(__NR_symlinkat, STAGE_KEPT, AT_FDCWD, STAGE_GONE);
}

static long lchown_link(NO_STAGE)
{
	return RAW(__NR_fchownat, AT_FDCWD, STAGE_LINK, 12345, 12345,
		   AT_SYMLINK_NOFOLLOW);
}

static long utimensat_link(NO_STAGE)
{
	const struct kernel_time times[2] = {{1, 0}, {1, 0}};

	return RAW(__NR_utimensat, AT_FDCWD, STAGE_LINK, times,
		   AT_SYMLINK_NOFOLLOW);
}

/* Somebody to whom the file does not belong; only root can become one. */
static long become_foreign(void)
{
	return RAW(__NR_setuid, 65534);
}

static long chmod_foreign(NO_STAGE)
{
	const long rc = become_foreign();

	return rc < 0 ? rc : RAW(__NR_fchmodat, AT_FDCWD, STAGE_KEPT, 0600);
}

static long utimensat_foreign(NO_STAGE)
{
	const struct kernel_time times[2] = {{1, 0}, {1, 0}};
	const long rc = become_foreign();

	return rc < 0 ? rc
		      : RAW(__NR_utimensat, AT_FDCWD, STAGE_KEPT, times, 0);
}

static long unlink_foreign(NO_STAGE)
{
	const long rc = become_foreign();

	return rc < 0 ? rc : RAW(__NR_unlinkat, AT_FDCWD, STAGE_KEPT, 0);
}

static long mkdir_foreign(NO_STAGE)
{
	const long rc = become_foreign();

	return rc < 0 ? rc
		      : RAW(__NR_mkdirat, AT_FDCWD, STAGE_ABSENT,
			    STAGE_DIR_MODE);
}

static const struct noop noops[] = {
	NOOP(utimensat, ".same", utimensat_same, 0),
	NOOP(utimensat, ".omit", utimensat_omit, 0),
	NOOP(utimensat, ".descriptor-omit", utimensat_descriptor_omit, 0),
	NOOP(utimensat, ".bad-pointer", utimensat_bad_pointer, EFAULT),
	NOOP(utimensat, ".bad-time", utimensat_bad_time, EINVAL),
	NOOP(fchmodat, ".same", chmod_same, 0),
	NOOP(fchmod, ".same", fchmod_same, 0),
	NOOP(fchmod, ".path-descriptor", fchmod_path_descriptor, EBADF),
	NOOP(fchownat, ".same", chown_same, 0),
	NOOP(fchownat, ".none", chown_none, 0),
	NOOP(fchown, ".same", fchown_same, 0),
	NOOP(setxattr, ".same", setxattr_same, 0),
	NOOP(setxattr, ".exists", setxattr_exists, EEXIST),
	NOOP(fsetxattr, ".same", fsetxattr_same, 0),
	NOOP(removexattr, ".none", removexattr_none, ENODATA),
	NOOP(ioctl, ".same", ioctl_same, 0),
	NOOP(renameat2, ".twin", rename_twin, 0),
	NOOP(renameat2, ".twin-from", rename_twin_from, 0),
	NOOP(renameat2, ".itself", rename_itself, 0),
	NOOP(renameat2, ".missing", rename_missing, ENOENT),
	NOOP(renameat2, ".exists", rename_exists, EEXIST),
	NOOP(renameat2, ".unknown-flags", rename_unknown_flags, EINVAL),
	NOOP(renameat2, ".exchange-missing", rename_exchange_missing, ENOENT),
	NOOP(renameat2, ".over-full", rename_over_full, ENOTEMPTY),
	NOOP(renameat2, ".file-over-directory", rename_file_over_directory,
	     EISDIR),
	NOOP(renameat2, ".directory-over-file", rename_directory_over_file,
	     ENOTDIR),
	NOOP(renameat2, ".into-itself", rename_into_itself, EINVAL),
	NOOP(renameat2, ".devices", rename_devices, EXDEV),
	NOOP(linkat, ".devices", link_devices, EXDEV),
	NOOP(linkat, ".exists", link_exists, EEXIST),
	NOOP(linkat, ".directory", link_directory, EPERM),
	NOOP(symlinkat, ".exists", symlink_exists, EEXIST),
	NOOP(symlinkat, ".empty", symlink_empty, ENOENT),
	NOOP(mknodat, ".exists", mknod_exists, EEXIST),
	NOOP(mkdirat, ".exists", mkdir_exists, EEXIST),
	NOOP(mkdirat, ".over-file", mkdir_over_file, EEXIST),
	NOOP(mkdirat, ".beneath-file", mkdir_beneath_file, ENOTDIR),
	NOOP(mkdirat, ".dot", mkdir_dot, EEXIST),
	NOOP(unlinkat, ".full", rmdir_full, ENOTEMPTY),
	NOOP(unlinkat, ".rmdir-file", rmdir_file, ENOTDIR),
	NOOP(unlinkat, ".rmdir-dot", rmdir_dot, EINVAL),
	NOOP(unlinkat, ".directory", unlink_directory, EISDIR),
	NOOP(unlinkat, ".missing", unlink_missing, ENOENT),
	NOOP(unlinkat, ".slash", unlink_slash, ENOTDIR),
	NOOP(unlinkat, ".unknown-flags", unlink_unknown_flags, EINVAL),
	NOOP(unlinkat, ".twin", unlink_twin, 0),
	NOOP(unlinkat, ".link", unlink_link, 0),
	NOOP(bind, ".exists", bind_exists, EADDRINUSE),
	NOOP(renameat2, ".other", rename_other, 0),
	NOOP(renameat2, ".over-link", rename_over_link, 0),
	NOOP(mkdirat, ".other", mkdir_other, 0),
	NOOP(unlinkat, ".other", unlink_other, 0),
	NOOP(unlinkat, ".other-directory", rmdir_other, 0),
	NOOP(fchmodat, ".other", chmod_other, 0),
	NOOP(symlinkat, ".to-kept", link_to_kept, 0),
	NOOP_OF_ROOT(fchownat, ".link", lchown_link, 0),
	NOOP(utimensat, ".link", utimensat_link, 0),
	NOOP_OF_ROOT(fchmodat, ".foreign", chmod_foreign, EPERM),
	NOOP_OF_ROOT(utimensat, ".foreign", utimensat_foreign, EPERM),
	NOOP_OF_ROOT(unlinkat, ".foreign", unlink_foreign, EACCES),
	NOOP_OF_ROOT(mkdirat, ".foreign", mkdir_foreign, EACCES),
};

const struct noop *noop_at(size_t index)
{
	return index < HF_COUNT(noops) ? &noops[index]
				       : noop_open_at(index - HF_COUNT(noops));
}
