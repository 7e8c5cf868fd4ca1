/* SPDX-License-Identifier: MIT */
/* List the names in a directory that is held open. */
#include "platform/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/linux/file_internal.h"

struct hf_directory {
	DIR *stream;
	uint64_t inode;
};

int hf_directory_open(int dir_fd, struct hf_directory **ret)
{
	cleanup_fd int fd = HF_CALL(fcntl(dir_fd, F_DUPFD_CLOEXEC, 0));
	cleanup_directory struct hf_directory *directory = NULL;

	if (fd < 0)
		return fd;
	directory = calloc(1, sizeof(*directory));
	if (!directory)
		return -ENOMEM;
	directory->stream = fdopendir(fd);
	if (!directory->stream)
		return -errno;
	(void)take_fd(&fd);

	/* The duplicate shares its place with dir_fd, where an earlier listing
	 * may have left it at the end. */
	rewinddir(directory->stream);
	*ret = take_ptr(&directory);
	return 0;
}

static bool is_dot_or_dot_dot(const char *name)
{
	return name[0] == '.' &&
	       (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

int hf_directory_next(struct hf_directory *directory, const char **ret_name,
		      enum hf_kind *ret_kind)
{
	const struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(directory->stream);
		if (!entry)
			return -errno;
	} while (is_dot_or_dot_dot(entry->d_name));

	directory->inode = entry->d_ino;
	*ret_name = entry->d_name;
	*ret_kind = hf_file_kind((mode_t)DTTOIF(entry->d_type));
	return 1;
}

uint64_t hf_directory_inode(const struct hf_directory *directory)
{
	return directory->inode;
}

void hf_directory_close(struct hf_directory **directory)
{
	const int saved = errno;

	if (*directory && (*directory)->stream)
		(void)closedir((*directory)->stream);
	hf_free_pointee(directory);
	errno = saved;
}
