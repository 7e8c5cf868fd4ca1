/* SPDX-License-Identifier: MIT */
/* Make and remove the temporary directory of a test. */
#include "support/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *hf_tmpdir_make(void)
{
	char path[] = "/tmp/hf-test-XXXXXX";
	char *copy = NULL;

	if (mkdtemp(path))
		copy = strdup(path);
	if (!copy) {
		perror("hf_tmpdir_make");
		abort();
	}
	return copy;
}

static void empty_directory(int dir_fd);

static void remove_name(int dir_fd, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		(void)unlinkat(dir_fd, name, 0);
		return;
	}

	/* A test may have left it unreadable; it is no link, see above. */
	(void)fchmodat(dir_fd, name, 0700, 0);
	fd = openat(dir_fd, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		empty_directory(fd);
	(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Takes dir_fd. */
static void empty_directory(int dir_fd)
{
	DIR *const dir = fdopendir(dir_fd);
	const struct dirent *entry;

	if (!dir) {
		(void)close(dir_fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			remove_name(dir_fd, entry->d_name);
	}
	(void)closedir(dir);
}

void hf_tmpdir_remove(char *path)
{
	if (!path)
		return;
	remove_name(AT_FDCWD, path);
	if (access(path, F_OK) == 0)
		(void)fprintf(stderr, "hf_tmpdir_remove: %s is left\n", path);
	free(path);
}
