/* SPDX-License-Identifier: MIT */
/*
 * Run a command on a machine that has run out of inotify.
 *
 *	no_inotify watches|instances COMMAND [ARG...]
 *
 * The limits of a user namespace of its own are set to nothing, so that nobody
 * else is disturbed.  Exits with 77 where there can be no such namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define EXIT_SKIP 77

static void put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len) {
		perror(path);
		exit(EXIT_SKIP);
	}
	(void)close(fd);
}

static void enter_namespace(void)
{
	const unsigned uid = geteuid();
	const unsigned gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER) < 0) {
		perror("no user namespace");
		exit(EXIT_SKIP);
	}
	put("/proc/self/setgroups", "deny");
	(void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
}

/* A test that took nothing away would prove nothing. */
static void prove_exhausted(void)
{
	const int fd = inotify_init1(IN_CLOEXEC);

	if (fd >= 0 && inotify_add_watch(fd, "/", IN_CREATE) >= 0) {
		(void)fprintf(stderr, "inotify still works\n");
		exit(EXIT_SKIP);
	}
	if (fd >= 0)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	char path[64];

	if (argc < 3) {
		(void)fprintf(stderr, "usage: %s watches|instances COMMAND\n",
			      argv[0]);
		return 2;
	}
	enter_namespace();
	(void)snprintf(path, sizeof(path), "/proc/sys/user/max_inotify_%s",
		       argv[1]);
	put(path, "0");
	prove_exhausted();

	(void)execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
