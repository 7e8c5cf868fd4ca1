/* SPDX-License-Identifier: MIT */
/*
 * Make a copy where the caller asked for a second name.
 *
 * The copy has no name until it is whole, and takes it as a link would: -EEXIST
 * when there is one.  A file that is too big to be copied while its caller
 * waits, is another user's, or lies where files without a name cannot be made,
 * is left to the real call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/linux/gate_internal.h"

#define COPY_MAX (64 * 1024 * 1024)

static int copy_content(int from_fd, int to_fd, off_t size)
{
	while (size > 0) {
		const ssize_t got = copy_file_range(from_fd, NULL, to_fd, NULL,
						    (size_t)size, 0);

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		size -= got;
	}
	return 0;
}

static int copy_metadata(int from_fd, int to_fd, const struct stat *from)
{
	cleanup_buffer struct hf_buffer xattrs = HF_BUFFER_INIT;
	const struct timespec times[2] = {from->st_atim, from->st_mtim};
	int rc;

	if (fchown(to_fd, from->st_uid, from->st_gid) < 0 ||
	    fchmod(to_fd, from->st_mode & 07777) < 0)
		return -errno;
	rc = hf_file_get_xattrs(from_fd, &xattrs);
	if (rc == 0 && xattrs.len > 0)
		rc = hf_file_set_xattrs(to_fd, xattrs.data);
	if (rc == 0 && futimens(to_fd, times) < 0)
		rc = -errno;
	return rc;
}

static int open_again(int path_fd)
{
	char path[GATE_LEAD_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int name_it(int fd, int parent_fd, const char *name)
{
	char path[GATE_LEAD_MAX];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, parent_fd, name, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

int hf_gate_copy(struct hf_gate_question *question,
		 struct hf_gate_identity *ret_copy)
{
	cleanup_fd int path_fd = gate_open_object(question, 0);
	cleanup_fd int parent_fd = gate_open_parent(question, 1);
	struct gate *const gate = question->gate;
	cleanup_fd int from_fd = -1;
	cleanup_fd int to_fd = -1;
	struct stat from;
	struct stat to;
	int rc;

	from_fd = path_fd < 0 ? path_fd : open_again(path_fd);
	if (gate->copy_count == GATE_COPIES_MAX || from_fd < 0 ||
	    parent_fd < 0 || fstat(from_fd, &from) < 0 ||
	    !S_ISREG(from.st_mode) || from.st_size > COPY_MAX)
		return -EOPNOTSUPP;
	to_fd = openat(parent_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (to_fd < 0 || copy_content(from_fd, to_fd, from.st_size) < 0 ||
	    copy_metadata(from_fd, to_fd, &from) < 0 || fstat(to_fd, &to) < 0)
		return -EOPNOTSUPP;
	rc = name_it(to_fd, parent_fd, question->call.places[1].last);
	if (rc < 0)
		return rc;
	*ret_copy = (struct hf_gate_identity){ .dev = to.st_dev,
					       .ino = to.st_ino };
	/* Open for reading alone: nobody takes us for a writer. */
	gate->copies[gate->copy_count] = open_again(to_fd);
	gate->copy_count += gate->copies[gate->copy_count] >= 0;
	return 0;
}
