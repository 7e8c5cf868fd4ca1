/* SPDX-License-Identifier: MIT */
/*
 * Run a command and disturb it at the Nth call that changes a file.
 *
 *	inject LIST count    0 PROGRAM [ARG...]
 *	inject LIST kill     N PROGRAM [ARG...]	who is about to make it
 *	inject LIST kill-all N PROGRAM [ARG...]	every process of PROGRAM
 *	inject LIST NAME     N PROGRAM [ARG...]	it fails: ENOSPC, EIO ...
 *	inject LIST NAME+    N PROGRAM [ARG...]	and every one after it
 *
 * Counted are the calls of processes that execute PROGRAM, all together,
 *whoever makes them; not those of what it executes.  LIST gets a line for each:
 *its number, the call, and what it is about.  Ends as PROGRAM ends, when nobody
 *is left; whoever is left when inject itself dies is killed by the kernel.
 *
 * The calls are stopped at by a filter that asks the tracer.  A filter that
 *asks a listener, as the gate's, has precedence over it, and works as ever.
 */
#include "support/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACEES_MAX 512
#define EXIT_USAGE  2
#define EXIT_LOST   120
#define OPTIONS                                                           \
	(PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | \
	 PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

enum deed { DEED_COUNT, DEED_KILL, DEED_KILL_ALL, DEED_FAIL };

struct inject {
	enum deed deed;
	int failure;
	bool is_persistent;
	unsigned long at;
	unsigned long count;
	bool is_over; /* PROGRAM is to be dead */
	struct stat program;
	FILE *list;
	pid_t tracees[TRACEES_MAX];
	size_t tracee_count;
};

static void lost(const char *what)
{
	perror(what);
	exit(EXIT_LOST);
}

/* -- who is there -----------------------------------------------------------
 */

static void add_tracee(struct inject *inject, pid_t pid)
{
	for (size_t i = 0; i < inject->tracee_count; i++)
		if (inject->tracees[i] == pid)
			return;
	if (inject->tracee_count == TRACEES_MAX) {
		errno = E2BIG;
		lost("tracees");
	}
	inject->tracees[inject->tracee_count++] = pid;
}

static void drop_tracee(struct inject *inject, pid_t pid)
{
	for (size_t i = 0; i < inject->tracee_count; i++)
		if (inject->tracees[i] == pid) {
			inject->tracees[i] =
				inject->tracees[--inject->tracee_count];
			return;
		}
}

static bool executes_program(const struct inject *inject, pid_t pid)
{
	struct stat stat_of;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &stat_of) == 0 &&
	       stat_of.st_dev == inject->program.st_dev &&
	       stat_of.st_ino == inject->program.st_ino;
}

static void kill_all(struct inject *inject)
{
	inject->is_over = true;
	for (size_t i = 0; i < inject->tracee_count; i++)
		if (executes_program(inject, inject->tracees[i]))
			(void)kill(inject->tracees[i], SIGKILL);
}

/* -- the deed ---------------------------------------------------------------
 */

static void do_deed(struct inject *inject, pid_t pid)
{
	switch (inject->deed) {
	case DEED_COUNT:
		return;
	case DEED_KILL:
		if (inject->count == inject->at)
			(void)kill(pid, SIGKILL);
		return;
	case DEED_KILL_ALL:
		if (inject->count == inject->at)
			kill_all(inject);
		return;
	case DEED_FAIL:
		if (inject->count == inject->at ||
		    (inject->is_persistent && inject->count > inject->at)) {
			(void)fprintf(inject->list, "%lu fails\n",
				      inject->count);
			if (inject_fail(pid, inject->failure) < 0 &&
			    errno != ESRCH)
				lost("fail a call");
		}
		return;
	}
}

static void at_call(struct inject *inject, pid_t pid)
{
	struct inject_call call;

	if (!executes_program(inject, pid))
		return;
	if (inject->is_over) {
		(void)kill(pid, SIGKILL);
		return;
	}
	if (!inject_read_call(pid, &call))
		return;
	inject->count++;
	(void)fprintf(inject->list, "%lu %s %s\n", inject->count, call.name,
		      call.about);
	do_deed(inject, pid);
}

/* -- the tracer -------------------------------------------------------------
 */

/* A stop of a tracee, and how it goes on. */
static void at_stop(struct inject *inject, pid_t pid, int status)
{
	const int event = status >> 16;
	const int number = WSTOPSIG(status);

	if (inject->is_over && executes_program(inject, pid)) {
		(void)kill(pid, SIGKILL);
		return;
	}
	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		at_call(inject, pid);
		(void)ptrace(PTRACE_CONT, pid, 0, 0);
		return;
	case PTRACE_EVENT_STOP:
		/* A new one, or one that was told to stop as a whole. */
		(void)ptrace(number == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN,
			     pid, 0, 0);
		return;
	case 0:
		(void)ptrace(PTRACE_CONT, pid, 0, number);
		return;
	default:
		(void)ptrace(PTRACE_CONT, pid, 0, 0);
		return;
	}
}

/* Returns the wait status of first. */
static int trace(struct inject *inject, pid_t first)
{
	int ended = 0;
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return ended;
		if (WIFSTOPPED(status)) {
			add_tracee(inject, pid);
			at_stop(inject, pid, status);
			continue;
		}
		drop_tracee(inject, pid);
		if (pid == first)
			ended = status;
	}
}

/* -- the start --------------------------------------------------------------
 */

static pid_t start(char **argv)
{
	int gate[2];
	pid_t pid;
	char byte;

	if (pipe2(gate, O_CLOEXEC) < 0)
		lost("pipe2");
	pid = fork();
	if (pid < 0)
		lost("fork");
	if (pid == 0) {
		(void)close(gate[1]);
		if (read(gate[0], &byte, 1) != 1 || inject_filter() < 0)
			lost("filter");
		(void)execv(argv[0], argv);
		lost(argv[0]);
	}
	if (ptrace(PTRACE_SEIZE, pid, 0, OPTIONS) < 0)
		lost("PTRACE_SEIZE");
	if (write(gate[1], "", 1) != 1)
		lost("write");
	(void)close(gate[0]);
	(void)close(gate[1]);
	return pid;
}

static int read_deed(struct inject *inject, const char *word)
{
	static const struct {
		const char *name;
		int failure;
	} failures[] = {
		{"ENOSPC", ENOSPC}, {"EIO", EIO},	{"EDQUOT", EDQUOT},
		{"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EINTR", EINTR},
		{"EROFS", EROFS},
	};
	const size_t len = strcspn(word, "+");

	if (strcmp(word, "count") == 0 || strcmp(word, "kill") == 0 ||
	    strcmp(word, "kill-all") == 0) {
		inject->deed = word[0] == 'c'	   ? DEED_COUNT
			       : strlen(word) == 4 ? DEED_KILL
						   : DEED_KILL_ALL;
		return 0;
	}
	inject->deed = DEED_FAIL;
	inject->is_persistent = word[len] == '+';
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if (strlen(failures[i].name) == len &&
		    strncmp(failures[i].name, word, len) == 0) {
			inject->failure = failures[i].failure;
			return 0;
		}
	return -1;
}

int main(int argc, char **argv)
{
	struct inject inject = {.tracee_count = 0};
	int status;

	if (argc < 5 || read_deed(&inject, argv[2]) < 0) {
		(void)fprintf(stderr,
			      "usage: %s LIST DEED N PROGRAM [ARG...]\n",
			      argv[0]);
		return EXIT_USAGE;
	}
	inject.at = strtoul(argv[3], NULL, 10);
	inject.list = fopen(argv[1], "we");
	if (!inject.list || stat(argv[4], &inject.program) < 0)
		lost(argv[inject.list ? 4 : 1]);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		lost("PR_SET_CHILD_SUBREAPER");

	status = trace(&inject, start(argv + 4));
	if (fclose(inject.list) != 0)
		lost(argv[1]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}
