/* SPDX-License-Identifier: MIT */
/* Operations that take a protected name away, or make one. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <linux/fs.h>
#include <linux/net.h>

#include "platform/linux/operation_internal.h"

/* A descriptor's path is at most so long. */
#define DESCRIPTOR_PATH 64

static long rename_away(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_KEPT, STAGE_GONE);
}

static long rename_over(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_OTHER, STAGE_KEPT);
}

static long rename_new(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_OTHER, STAGE_ABSENT);
}

static long rename_ancestor(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_NEAR, STAGE_GONE);
}

static long rename_tree(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_TREE, STAGE_GONE);
}

static long rename_into_tree(NO_STAGE)
{
	return RAW(__NR_rename, STAGE_OTHER, STAGE_TREE_NEW);
}

/* Into a directory, whose name in the path says nothing about the file's. */
static long renameat_away(const struct hf_stage *stage)
{
	return RAW(__NR_renameat, stage->dir_fd, STAGE_NEAR_KEPT, AT_FDCWD,
		   STAGE_OTHER_DIR "/" STAGE_OTHER);
}

static long renameat_over(const struct hf_stage *stage)
{
	return RAW(__NR_renameat, AT_FDCWD, STAGE_OTHER, stage->dir_fd,
		   STAGE_NEAR_KEPT);
}

static long renameat_ancestor(const struct hf_stage *stage)
{
	return RAW(__NR_renameat, stage->dir_fd, STAGE_NEAR "/", stage->dir_fd,
		   STAGE_OTHER_DIR "/" STAGE_NEAR);
}

static long rename2(const char *from, const char *to, unsigned flags)
{
	return RAW(__NR_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static long renameat2_away(NO_STAGE)
{
	return rename2(STAGE_KEPT, STAGE_GONE, 0);
}

static long renameat2_over(NO_STAGE)
{
	return rename2(STAGE_OTHER, STAGE_KEPT, 0);
}

static long renameat2_new(NO_STAGE)
{
	return rename2(STAGE_OTHER, STAGE_ABSENT, RENAME_NOREPLACE);
}

static long renameat2_ancestor(NO_STAGE)
{
	return rename2(STAGE_NEAR, STAGE_GONE, 0);
}

static long renameat2_exchange_from(NO_STAGE)
{
	return rename2(STAGE_KEPT, STAGE_OTHER, RENAME_EXCHANGE);
}

static long renameat2_exchange_to(NO_STAGE)
{
	return rename2(STAGE_OTHER, STAGE_KEPT, RENAME_EXCHANGE);
}

static long renameat2_exchange_ancestor(NO_STAGE)
{
	return rename2(STAGE_OTHER_DIR, STAGE_NEAR, RENAME_EXCHANGE);
}

static long renameat2_linked_directory(NO_STAGE)
{
	return rename2(STAGE_OTHER, STAGE_LINKED_DIR "/" STAGE_KEPT, 0);
}

static long unlink_kept(NO_STAGE)
{
	return RAW(__NR_unlink, STAGE_KEPT);
}

static long unlinkat_kept(const struct hf_stage *stage)
{
	return RAW(__NR_unlinkat, stage->dir_fd, STAGE_NEAR_KEPT, 0);
}

static long unlinkat_linked_directory(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_LINKED_DIR "/" STAGE_KEPT, 0);
}

static long unlinkat_tree(NO_STAGE)
{
	return RAW(__NR_unlinkat, AT_FDCWD, STAGE_TREE, AT_REMOVEDIR);
}

static long rmdir_tree(NO_STAGE)
{
	return RAW(__NR_rmdir, STAGE_TREE);
}

static long link_new(NO_STAGE)
{
	return RAW(__NR_link, STAGE_OTHER, STAGE_ABSENT);
}

static long linkat_new(const struct hf_stage *stage)
{
	return RAW(__NR_linkat, AT_FDCWD, STAGE_OTHER, stage->dir_fd,
		   STAGE_ABSENT, 0);
}

static long link_descriptor(long fd)
{
	char path[DESCRIPTOR_PATH];

	if (fd < 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%ld", fd);
	return RAW(__NR_linkat, AT_FDCWD, path, AT_FDCWD, STAGE_ABSENT,
		   AT_SYMLINK_FOLLOW);
}

/* A file gets its first name. */
static long linkat_unnamed(NO_STAGE)
{
	return link_descriptor(RAW(__NR_openat, AT_FDCWD, ".",
				   O_TMPFILE | O_WRONLY, STAGE_MODE));
}

static long linkat_descriptor(NO_STAGE)
{
	return link_descriptor(
		RAW(__NR_openat, AT_FDCWD, STAGE_OTHER, O_RDONLY));
}

/* Before Linux 6.10 for root alone. */
static long linkat_empty_path(NO_STAGE)
{
	const long fd = RAW(__NR_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY,
			    STAGE_MODE);

	return fd < 0 ? fd
		      : RAW(__NR_linkat, fd, "", AT_FDCWD, STAGE_ABSENT,
			    AT_EMPTY_PATH);
}

static long symlink_new(NO_STAGE)
{
	return RAW(__NR_symlink, STAGE_OTHER, STAGE_ABSENT);
}

static long symlinkat_new(const struct hf_stage *stage)
{
	return RAW(__NR_symlinkat, STAGE_OTHER, stage->dir_fd, STAGE_ABSENT);
}

static long mknod_new(NO_STAGE)
{
	return RAW(__NR_mknod, STAGE_ABSENT, S_IFIFO | STAGE_MODE, 0);
}

static long mknodat_new(const struct hf_stage *stage)
{
	return RAW(__NR_mknodat, stage->dir_fd, STAGE_ABSENT,
		   S_IFREG | STAGE_MODE, 0);
}

static long mkdir_new(NO_STAGE)
{
	return RAW(__NR_mkdir, STAGE_ABSENT, STAGE_DIR_MODE);
}

static long mkdirat_new(const struct hf_stage *stage)
{
	return RAW(__NR_mkdirat, stage->dir_fd, STAGE_ABSENT "/",
		   STAGE_DIR_MODE);
}

/* A path of a socket has 107 bytes: from the working directory. */
static long bind_number(long number)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX,
				      .sun_path = STAGE_ABSENT};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long arguments[] = {fd, (long)&address, sizeof(address)};

	if (fd < 0)
		return -errno;
	return number == __NR_bind ? RAW(number, fd, &address, sizeof(address))
				   : RAW(number, SYS_BIND, arguments);
}

static long bind_new(NO_STAGE)
{
	return bind_number(__NR_bind);
}

static long socketcall_new(NO_STAGE)
{
	return bind_number(__NR_socketcall);
}

static const struct hf_operation operations[] = {
	OPERATION(rename, ".away", rename_away, 0),
	OPERATION(rename, ".over", rename_over, 0),
	OPERATION(rename, ".new", rename_new, 0),
	OPERATION(rename, ".ancestor", rename_ancestor, 0),
	OPERATION(rename, ".tree", rename_tree, 0),
	OPERATION(rename, ".into-tree", rename_into_tree, 0),
	OPERATION(renameat, ".away", renameat_away, 0),
	OPERATION(renameat, ".over", renameat_over, 0),
	OPERATION(renameat, ".ancestor", renameat_ancestor, 0),
	OPERATION(renameat2, ".away", renameat2_away, 0),
	OPERATION(renameat2, ".over", renameat2_over, 0),
	OPERATION(renameat2, ".new", renameat2_new, 0),
	OPERATION(renameat2, ".ancestor", renameat2_ancestor, 0),
	OPERATION(renameat2, ".exchange-from", renameat2_exchange_from, 0),
	OPERATION(renameat2, ".exchange-to", renameat2_exchange_to, 0),
	OPERATION(renameat2, ".exchange-ancestor", renameat2_exchange_ancestor,
		  0),
	OPERATION(renameat2, ".linked-directory", renameat2_linked_directory,
		  0),
	OPERATION(unlink, "", unlink_kept, 0),
	OPERATION(unlinkat, "", unlinkat_kept, 0),
	OPERATION(unlinkat, ".linked-directory", unlinkat_linked_directory, 0),
	OPERATION(unlinkat, ".tree", unlinkat_tree, 0),
	OPERATION(rmdir, "", rmdir_tree, 0),
	OPERATION(link, "", link_new, 0),
	OPERATION(linkat, "", linkat_new, 0),
	OPERATION(linkat, ".unnamed", linkat_unnamed, 0),
	OPERATION(linkat, ".descriptor", linkat_descriptor, 0),
	OPERATION(linkat, ".empty-path", linkat_empty_path, 0),
	OPERATION(symlink, "", symlink_new, 0),
	OPERATION(symlinkat, "", symlinkat_new, 0),
	OPERATION(mknod, "", mknod_new, 0),
	OPERATION(mknodat, "", mknodat_new, 0),
	OPERATION(mkdir, "", mkdir_new, 0),
	OPERATION(mkdirat, "", mkdirat_new, 0),
	OPERATION(bind, "", bind_new, 0),
	OPERATION(socketcall, "", socketcall_new, 0),
};

const struct hf_operation_list hf_operations_name = {operations,
						     HF_COUNT(operations)};
