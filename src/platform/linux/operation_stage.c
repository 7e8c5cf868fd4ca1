/* SPDX-License-Identifier: MIT */
/*
 * The directory that an operation is performed in: making it, looking at its
 * protected entries, and the damage itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <linux/fs.h>

#include "platform/linux/operation_internal.h"

/* The rest follows from the file system. */
#define SET_BY_HAND                                                      \
	(FS_IMMUTABLE_FL | FS_APPEND_FL | FS_NODUMP_FL | FS_NOATIME_FL | \
	 FS_VERITY_FL)

static const char damage[] = "damage\n";

static const char *const protected_names[HF_STAGE_ENTRIES] = {
	STAGE_KEPT, STAGE_ABSENT,   STAGE_NEAR_KEPT,  STAGE_NEAR_NEW,
	STAGE_TREE, STAGE_TREE_NEW, STAGE_MOUNT_KEPT,
};

long hf_stage_spoil(long fd)
{
	long rc = fd;

	if (fd < 0)
		return rc;
	rc = RAW(__NR_write, fd, damage, sizeof(damage) - 1);
	(void)close((int)fd);
	return rc < 0 ? rc : 0;
}

long hf_stage_spoil_path(long dir_fd, const char *path)
{
	return hf_stage_spoil(
		RAW(__NR_openat, dir_fd, path, O_WRONLY | O_TRUNC | O_CLOEXEC));
}

long hf_stage_open_kept(void)
{
	return RAW(__NR_openat, AT_FDCWD, STAGE_KEPT, O_RDONLY | O_CLOEXEC);
}

static int make_file(int dir_fd, const char *name)
{
	const int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		       STAGE_MODE);
	const ssize_t len = (ssize_t)strlen(name);
	int rc = 0;

	if (fd < 0)
		return -errno;
	/* The content tells the files apart.  The mode is set for any umask. */
	if (write(fd, name, (size_t)len) != len || fchmod(fd, STAGE_MODE) < 0)
		rc = -errno;
	/* Where there are no attributes, no operation can change them. */
	if (rc == 0 && fsetxattr(fd, STAGE_ATTRIBUTE, "kept", 4, 0) < 0 &&
	    errno != EOPNOTSUPP && errno != EPERM)
		rc = -errno;
	(void)close(fd);
	return rc;
}

static int make_directory(int dir_fd, const char *name)
{
	if (mkdirat(dir_fd, name, STAGE_DIR_MODE) < 0 ||
	    fchmodat(dir_fd, name, STAGE_DIR_MODE, 0) < 0)
		return -errno;
	return 0;
}

static int make_links(int dir_fd)
{
	if (symlinkat(STAGE_KEPT, dir_fd, STAGE_LINK) < 0 ||
	    symlinkat(STAGE_ABSENT, dir_fd, STAGE_DANGLING) < 0 ||
	    symlinkat(STAGE_NEAR, dir_fd, STAGE_LINKED_DIR) < 0 ||
	    linkat(dir_fd, STAGE_KEPT, dir_fd, STAGE_HARD, 0) < 0)
		return -errno;
	return 0;
}

int hf_stage_build(const struct hf_operation *operation, int dir_fd)
{
	static const char *const directories[] = {STAGE_NEAR, STAGE_TREE,
						  STAGE_OTHER_DIR, STAGE_MOUNT};
	static const char *const files[] = {STAGE_KEPT, STAGE_NEAR_KEPT,
					    STAGE_OTHER};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < HF_COUNT(directories); i++)
		rc = make_directory(dir_fd, directories[i]);
	for (size_t i = 0; rc == 0 && i < HF_COUNT(files); i++)
		rc = make_file(dir_fd, files[i]);
	if (rc == 0)
		rc = make_links(dir_fd);
	return rc == 0 ? hf_stage_prepare(operation, dir_fd) : rc;
}

int hf_stage_prepare(const struct hf_operation *operation, int dir_fd)
{
	return operation->prepare == NULL ? 0 : operation->prepare(dir_fd);
}

/* Only of files and directories: a fifo would keep us waiting. */
static void look_inside(int fd, bool is_file, struct hf_stage_entry *entry)
{
	unsigned flags =
		0; /* the kernel writes an int, whatever the header says */

	if (is_file && read(fd, entry->content, sizeof(entry->content)) < 0)
		entry->content[0] = '?';
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
		entry->flags = flags & SET_BY_HAND;
	if (fgetxattr(fd, STAGE_ATTRIBUTE, entry->attribute,
		      sizeof(entry->attribute)) < 0)
		entry->attribute[0] = '\0';
}

static int look(int dir_fd, const char *name, struct hf_stage_entry *entry)
{
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	entry->mode = st.st_mode;
	entry->uid = st.st_uid;
	entry->gid = st.st_gid;
	/* A directory's follow from what happens inside. */
	if (!S_ISDIR(st.st_mode)) {
		entry->size = (uint64_t)st.st_size;
		entry->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
				  st.st_mtim.tv_nsec;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	look_inside(fd, S_ISREG(st.st_mode), entry);
	(void)close(fd);
	return 0;
}

int hf_stage_look(int dir_fd, struct hf_stage_state *ret_state)
{
	struct hf_stage_state state;
	int rc = 0;

	(void)memset(&state, 0, sizeof(state));
	for (size_t i = 0; rc == 0 && i < HF_STAGE_ENTRIES; i++)
		rc = look(dir_fd, protected_names[i], &state.entries[i]);
	if (rc == 0)
		*ret_state = state;
	return rc;
}

bool hf_stage_is_same(const struct hf_stage_state *a,
		      const struct hf_stage_state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
