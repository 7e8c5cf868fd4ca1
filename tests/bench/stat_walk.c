/* SPDX-License-Identifier: MIT */
/*
 * The baseline of the benchmark: look at every entry beneath a directory once,
 * one thread, nothing else.  stat_walk DIRECTORY prints how many there were.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned long walk(int fd)
{
	DIR *const listing = fdopendir(fd);
	const struct dirent *entry;
	unsigned long count = 0;

	if (!listing) {
		(void)close(fd);
		return 0;
	}
	while ((entry = readdir(listing)) != NULL) {
		struct stat st;
		int below;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(listing), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		count++;
		if (!S_ISDIR(st.st_mode))
			continue;
		below = openat(dirfd(listing), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below >= 0)
			count += walk(below);
	}
	(void)closedir(listing);
	return count;
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY |
							 O_CLOEXEC) :
				   -1;

	if (fd < 0) {
		(void)fputs("usage: stat_walk DIRECTORY\n", stderr);
		return 2;
	}
	(void)printf("%lu\n", walk(fd));
	return 0;
}
