/* SPDX-License-Identifier: MIT */
/* Small questions and preparations, without the code under test. */
#include "support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static void give_up(const char *what)
{
	perror(what);
	abort();
}

int hf_open_descriptors(void)
{
	DIR *const dir = opendir("/proc/self/fd");
	int count = 0;

	if (!dir)
		give_up("/proc/self/fd");
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}

void hf_put_file(int dir_fd, const char *name, const char *text)
{
	const int fd = openat(dir_fd, name,
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	const size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) < 0)
		give_up(name);
}

bool hf_file_has(int dir_fd, const char *name, const char *text)
{
	const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	const size_t len = strlen(text);
	char *const data = malloc(len + 1);
	bool is_equal = false;

	if (fd >= 0 && data)
		is_equal = read(fd, data, len + 1) == (ssize_t)len &&
			   memcmp(data, text, len) == 0;
	if (fd >= 0)
		(void)close(fd);
	free(data);
	return is_equal;
}

void hf_become_user(const char *directory)
{
	if (geteuid() != 0)
		return;
	if (chown(directory, NOBODY, NOBODY) < 0 || setegid(NOBODY) < 0 ||
	    seteuid(NOBODY) < 0)
		give_up("cannot become an ordinary user");
}

bool hf_is_same(int fd, int dir_fd, const char *name)
{
	struct stat a;
	struct stat b;

	return fstat(fd, &a) == 0 &&
	       fstatat(dir_fd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool hf_must_work(void)
{
	const char *const value = getenv("HF_MUST_WORK");

	return value && strcmp(value, "1") == 0;
}
