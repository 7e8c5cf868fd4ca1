/* SPDX-License-Identifier: MIT */
/* Operations that see the files from another root or by another mount, and
 * those that put something else before them. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

#include <linux/mount.h>

#include "platform/linux/operation_internal.h"

/* Root needs no user namespace, and may be in a place that forbids it. */
static long leave_namespaces(int which)
{
	const long rc = which == 0 ? -EPERM : RAW(__NR_unshare, which);

	return rc == -EPERM ? RAW(__NR_unshare, CLONE_NEWUSER | which) : rc;
}

static long change_root(const char *path)
{
	long rc = RAW(__NR_chroot, path);

	if (rc == -EPERM) {
		rc = leave_namespaces(0);
		if (rc == 0)
			rc = RAW(__NR_chroot, path);
	}
	return rc;
}

static long chroot_open(NO_STAGE)
{
	const long rc = change_root(".");

	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, "/" STAGE_KEPT);
}

/* The link means another file outside. */
static long chroot_absolute_link(NO_STAGE)
{
	long rc = RAW(__NR_symlinkat, "/" STAGE_KEPT, AT_FDCWD, STAGE_GONE);

	if (rc == 0)
		rc = change_root(".");
	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, STAGE_GONE);
}

/* The working directory stays outside. */
static long chroot_unlink(NO_STAGE)
{
	const long rc = change_root(STAGE_OTHER_DIR);

	return rc < 0 ? rc : RAW(__NR_unlinkat, AT_FDCWD, STAGE_KEPT, 0);
}

/* A private namespace in which a directory is found at another place. */
static long show_elsewhere(void)
{
	long rc = leave_namespaces(CLONE_NEWNS);

	if (rc == 0)
		rc = RAW(__NR_mount, "none", "/", NULL, MS_REC | MS_PRIVATE,
			 NULL);
	if (rc == 0)
		rc = RAW(__NR_mount, STAGE_NEAR, STAGE_OTHER_DIR, NULL, MS_BIND,
			 NULL);
	return rc;
}

static long namespace_open(NO_STAGE)
{
	const long rc = show_elsewhere();

	return rc < 0 ? rc
		      : hf_stage_spoil_path(AT_FDCWD,
					    STAGE_OTHER_DIR "/" STAGE_KEPT);
}

static long namespace_open_absolute(const struct hf_stage *stage)
{
	char path[PATH_MAX];
	const long rc = show_elsewhere();

	(void)snprintf(path, sizeof(path), "%s/%s/%s", stage->path,
		       STAGE_OTHER_DIR, STAGE_KEPT);
	return rc < 0 ? rc : hf_stage_spoil_path(AT_FDCWD, path);
}

static long namespace_unlink(NO_STAGE)
{
	const long rc = show_elsewhere();

	return rc < 0 ? rc
		      : RAW(__NR_unlinkat, AT_FDCWD,
			    STAGE_OTHER_DIR "/" STAGE_KEPT, 0);
}

static long namespace_create(NO_STAGE)
{
	const long rc = show_elsewhere();

	return rc < 0 ? rc
		      : RAW(__NR_mkdirat, AT_FDCWD, STAGE_OTHER_DIR "/new.toml",
			    STAGE_DIR_MODE);
}

static long mount_over(NO_STAGE)
{
	return RAW(__NR_mount, STAGE_OTHER, STAGE_KEPT, NULL, MS_BIND, NULL);
}

/* Not another directory of the stage: what is put back in front of it would be
 * an addition there. */
static long mount_over_ancestor(NO_STAGE)
{
	return RAW(__NR_mount, "none", STAGE_NEAR, "tmpfs", 0, NULL);
}

static long move_mount_over(NO_STAGE)
{
	const long fd = RAW(__NR_open_tree, AT_FDCWD, STAGE_OTHER,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	return fd < 0 ? fd
		      : RAW(__NR_move_mount, fd, "", AT_FDCWD, STAGE_KEPT,
			    MOVE_MOUNT_F_EMPTY_PATH);
}

/* A protected file that only a mount shows at this place. */
static int show_mounted(int dir_fd)
{
	char from[64];
	char to[64];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d/%s", dir_fd,
		       STAGE_NEAR);
	(void)snprintf(to, sizeof(to), "/proc/self/fd/%d/%s", dir_fd,
		       STAGE_MOUNT);
	return mount(from, to, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

static long unmount(NO_STAGE)
{
	return RAW(__NR_umount2, STAGE_MOUNT, MNT_DETACH);
}

#define ROOT HF_OPERATION_PRIVILEGED

static const struct hf_operation operations[] = {
	OPERATION(openat, ".chroot", chroot_open, 0),
	OPERATION(openat, ".chroot-absolute-link", chroot_absolute_link, 0),
	OPERATION(unlinkat, ".chroot", chroot_unlink, 0),
	OPERATION(openat, ".namespace", namespace_open, 0),
	OPERATION(openat, ".namespace-absolute", namespace_open_absolute, 0),
	OPERATION(unlinkat, ".namespace", namespace_unlink, 0),
	OPERATION(mkdirat, ".namespace", namespace_create, 0),
	OPERATION(mount, ".over", mount_over, ROOT),
	OPERATION(mount, ".over-ancestor", mount_over_ancestor, ROOT),
	OPERATION(move_mount, ".over", move_mount_over, ROOT),
	OPERATION_PREPARED(umount2, "", show_mounted, unmount, ROOT),
};

const struct hf_operation_list hf_operations_mount = {operations,
						      HF_COUNT(operations)};
