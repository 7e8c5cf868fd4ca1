/* SPDX-License-Identifier: MIT */
/*
 * Start a viewer with a pipe for its input, write, and wait for its end.
 *
 * Meanwhile the keys that interrupt are the viewer's alone: they are sent to
 * all processes of the terminal, and we must not leave before it has put the
 * terminal in order.
 */
#include "platform/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/file_internal.h"
#include "platform/terminal.h"

#define LESS_OPTIONS "LESS=FRX"

struct viewer {
	char *argv[4];
	char **environment; /* with LESS_OPTIONS, where there was none */
	pid_t pid;
};

/* posix_spawn() writes to neither words nor environment; its types are older
 * than const. */
static char *mutable(const char *word)
{
	union {
		const char *given;
		char *taken;
	} words = {.given = word};

	return words.taken;
}

static int choose(struct viewer *viewer)
{
	const char *const wanted = secure_getenv("PAGER");

	if (wanted && (wanted[0] == '\0' || strcmp(wanted, "cat") == 0))
		return -ENOENT;
	if (!wanted) {
		viewer->argv[0] = mutable("less");
		return 0;
	}
	/* It may have options of its own. */
	viewer->argv[0] = mutable("sh");
	viewer->argv[1] = mutable("-c");
	viewer->argv[2] = mutable(wanted);
	return 0;
}

static int make_environment(struct viewer *viewer)
{
	size_t count = 0;

	while (environ[count])
		count++;
	viewer->environment = calloc(count + 2, sizeof(*viewer->environment));
	if (!viewer->environment)
		return -ENOMEM;
	if (count > 0)
		memcpy(viewer->environment, environ,
		       count * sizeof(*viewer->environment));
	if (!getenv("LESS"))
		viewer->environment[count] = mutable(LESS_OPTIONS);
	return 0;
}

/* Its input is the pipe; signals are as they were for us. */
static int start(struct viewer *viewer, int input_fd, const sigset_t *mask)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc;

	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return -rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = posix_spawn_file_actions_adddup2(&actions, input_fd,
						      STDIN_FILENO);
		if (rc == 0)
			rc = posix_spawnattr_setsigmask(&attributes, mask);
		if (rc == 0)
			rc = posix_spawnattr_setflags(&attributes,
						      POSIX_SPAWN_SETSIGMASK);
		if (rc == 0)
			rc = posix_spawnp(&viewer->pid, viewer->argv[0],
					  &actions, &attributes, viewer->argv,
					  viewer->environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Has it ended as a viewer does, or by a key?  One that was not found is told
 * by its shell with 127, one that did not understand its options in its own
 * way. */
static int wait_for(pid_t pid)
{
	int status = 0;
	const pid_t ended = (pid_t)HF_CALL(waitpid(pid, &status, 0));

	if (ended < 0)
		return (int)ended;
	if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

static int feed(struct viewer *viewer, const char *text, size_t len,
		const sigset_t *mask)
{
	int ends[2];
	int rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	rc = start(viewer, ends[0], mask);
	(void)close(ends[0]);
	/* A viewer that ends before is a reader that left. */
	if (rc == 0)
		(void)hf_terminal_write(ends[1], text, len, -1);
	(void)close(ends[1]);
	return rc < 0 ? rc : wait_for(viewer->pid);
}

int hf_pager_show(const char *text, size_t len)
{
	struct viewer viewer = {.pid = -1};
	sigset_t keys;
	sigset_t before;
	int rc;

	rc = choose(&viewer);
	if (rc == 0)
		rc = make_environment(&viewer);
	if (rc < 0)
		return rc;
	(void)sigemptyset(&keys);
	(void)sigaddset(&keys, SIGINT);
	(void)sigaddset(&keys, SIGQUIT);
	(void)pthread_sigmask(SIG_BLOCK, &keys, &before);
	rc = feed(&viewer, text, len, &before);
	/* A key that was pressed meanwhile was meant for the viewer. */
	while (sigtimedwait(&keys, NULL, &(struct timespec){.tv_sec = 0}) > 0)
		continue;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(viewer.environment);
	return rc;
}
