/* SPDX-License-Identifier: MIT */
/* Make, move and remove names, and set what their inodes carry. */
#include "platform/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/linux/file_internal.h"

/* Linux 6.6; older headers do not name it.  Both are kernel ABI. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

#define NS_PER_S INT64_C(1000000000)

/* -- names --------------------------------------------------------------- */

int hf_file_rename_at(int from_fd, const char *from, int to_fd, const char *to)
{
	return HF_CALL(renameat(from_fd, from, to_fd, to));
}

static int rename_with(int from_fd, const char *from, int to_fd, const char *to,
		       unsigned flags)
{
	return (int)HF_CALL(
		syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}

int hf_file_rename_new_by_link(int from_fd, const char *from, int to_fd,
			       const char *to)
{
	int rc = hf_file_link_at(from_fd, from, to_fd, to);

	/* A directory has no second name. */
	if (rc == -EPERM)
		return -EINVAL;
	if (rc < 0)
		return rc;
	rc = hf_file_unlink_at(from_fd, from);
	if (rc < 0)
		(void)unlinkat(to_fd, to, 0);
	return rc;
}

int hf_file_rename_new_at(int from_fd, const char *from, int to_fd,
			  const char *to)
{
	const int rc = rename_with(from_fd, from, to_fd, to, RENAME_NOREPLACE);

	if (rc == -EINVAL || rc == -ENOSYS)
		return hf_file_rename_new_by_link(from_fd, from, to_fd, to);
	return rc;
}

int hf_file_exchange_at(int a_fd, const char *a, int b_fd, const char *b)
{
	return rename_with(a_fd, a, b_fd, b, RENAME_EXCHANGE);
}

int hf_file_link_at(int from_fd, const char *from, int to_fd, const char *to)
{
	return HF_CALL(linkat(from_fd, from, to_fd, to, 0));
}

int hf_file_unlink_at(int dir_fd, const char *name)
{
	return HF_CALL(unlinkat(dir_fd, name, 0));
}

int hf_file_rmdir_at(int dir_fd, const char *name)
{
	return HF_CALL(unlinkat(dir_fd, name, AT_REMOVEDIR));
}

int hf_file_mkdir_at(int dir_fd, const char *name, uint32_t mode)
{
	return HF_CALL(mkdirat(dir_fd, name, (mode_t)mode));
}

/* The name of a directory that was made is on the disk. */
static int sync_parent(const char *path)
{
	const size_t len = (size_t)(strrchr(path, '/') - path);
	cleanup_free char *parent = strndup(path, len > 0 ? len : 1);
	cleanup_fd int fd = parent ? hf_file_open_directory(parent) : -ENOMEM;

	return fd < 0 ? fd : hf_file_sync(fd);
}

/* Make one directory unless it is there, reached through a link or not. */
static int make_directory(const char *path)
{
	const int rc = HF_CALL(mkdir(path, 0700));
	struct stat st;

	/* Not only -EEXIST: read-only and automounted parents say otherwise. */
	if (rc < 0 && stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	return rc < 0 ? rc : sync_parent(path);
}

int hf_file_mkdir_path(const char *path)
{
	cleanup_free char *copy = NULL;
	char *slash;

	if (path[0] != '/')
		return -EINVAL;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;

	for (slash = strchr(copy + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		int rc;

		*slash = '\0';
		rc = make_directory(copy);
		if (rc < 0)
			return rc;
		*slash = '/';
	}
	return make_directory(copy);
}

int hf_file_symlink_at(const char *text, int dir_fd, const char *name)
{
	return HF_CALL(symlinkat(text, dir_fd, name));
}

int hf_file_mknod_at(int dir_fd, const char *name, enum hf_kind kind,
		     uint32_t mode, uint64_t rdev)
{
	mode_t type;

	if (kind == HF_KIND_FIFO)
		type = S_IFIFO;
	else if (kind == HF_KIND_SOCKET)
		type = S_IFSOCK;
	else if (kind == HF_KIND_CHARACTER_DEVICE)
		type = S_IFCHR;
	else if (kind == HF_KIND_BLOCK_DEVICE)
		type = S_IFBLK;
	else
		return -EINVAL;
	return HF_CALL(mknodat(dir_fd, name, type | (mode_t)(mode & 07777),
			       (dev_t)rdev));
}

/* -- metadata ------------------------------------------------------------ */

int hf_file_set_mode(int fd, uint32_t mode)
{
	return HF_CALL(fchmod(fd, (mode_t)(mode & 07777)));
}

int hf_file_set_mode_by_proc(int dir_fd, const char *name, uint32_t mode)
{
	cleanup_fd int fd =
		HF_CALL(openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	char path[32];
	struct stat st;
	int rc;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* Some file systems would change the mode of a link, and chmod() of
	 * glibc its target's. */
	if (S_ISLNK(st.st_mode))
		return -EOPNOTSUPP;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = HF_CALL(chmod(path, (mode_t)(mode & 07777)));
	/* The file is there, we hold it: what is missing is /proc. */
	return rc == -ENOENT ? -EOPNOTSUPP : rc;
}

int hf_file_set_mode_at(int dir_fd, const char *name, uint32_t mode)
{
	const long rc = HF_CALL(syscall(SYS_fchmodat2, dir_fd, name,
					mode & 07777, AT_SYMLINK_NOFOLLOW));

	/* Filters of containers answer -EPERM to what they do not know. */
	if (rc == -ENOSYS || rc == -EPERM)
		return hf_file_set_mode_by_proc(dir_fd, name, mode);
	return (int)rc;
}

int hf_file_set_owner(int fd, uint32_t uid, uint32_t gid)
{
	return HF_CALL(fchown(fd, uid, gid));
}

int hf_file_set_owner_at(int dir_fd, const char *name, uint32_t uid,
			 uint32_t gid)
{
	return HF_CALL(fchownat(dir_fd, name, uid, gid, AT_SYMLINK_NOFOLLOW));
}

/* The two times that utimensat() takes: access as it is, and mtime_ns. */
static void to_times(struct timespec times[2], int64_t mtime_ns)
{
	int64_t seconds = mtime_ns / NS_PER_S;
	int64_t ns = mtime_ns % NS_PER_S;

	if (ns < 0) {
		ns += NS_PER_S;
		seconds--;
	}
	times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
	times[1] = (struct timespec){.tv_sec = seconds, .tv_nsec = ns};
}

int hf_file_set_mtime(int fd, int64_t mtime_ns)
{
	struct timespec times[2];

	to_times(times, mtime_ns);
	return HF_CALL(futimens(fd, times));
}

int hf_file_set_mtime_at(int dir_fd, const char *name, int64_t mtime_ns)
{
	struct timespec times[2];

	to_times(times, mtime_ns);
	return HF_CALL(utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW));
}
