/* SPDX-License-Identifier: MIT */
/*
 * A program to be looked at: changes its environment, or what else the
 *arguments say, tells the thread to look at and waits until its standard input
 *ends.
 *
 *	environ_sample WHAT...
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "PYTEST_CURRENT_TEST"

extern char **environ;

/* By putenv() the program keeps the string. */
static char put[] = NAME "=put.py::test (call)";
/* An array that ends nowhere. */
static char *garbage[] = {(char *)1, (char *)2, NULL};
static char *repaired[] = {put, NULL};

static void grow(void)
{
	char name[32];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "VARIABLE_%04d", i);
		if (setenv(name, "a value that makes 64 KB of it soon", 1))
			abort();
	}
	if (setenv(NAME, "big.py::test (call)", 1) != 0)
		abort();
}

/* The second and later values are longer than a page. */
static void set_long(void)
{
	static char value[3 * 4096];

	memset(value, 'x', sizeof(value) - 1);
	if (setenv(NAME, value, 1) != 0)
		abort();
}

static int wait_for_end(void)
{
	char byte;

	(void)printf("%ld\n", (long)syscall(SYS_gettid));
	(void)fflush(stdout);
	/* Each byte stands for a change to be made. */
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == 'c' && chdir("/") != 0)
			abort();
		if (byte == 'n')
			(void)prctl(PR_SET_NAME, "re) R 1 (x");
		if (byte == 'r')
			environ = repaired;
		if (byte == 's')
			(void)setenv(NAME, "second.py::test (call)", 1);
		(void)printf("done\n");
		(void)fflush(stdout);
	}
	return 0;
}

static void *run_thread(void *argument)
{
	(void)argument;
	(void)prctl(PR_SET_NAME, "tests::it_runs");
	(void)wait_for_end();
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 1; i < argc; i++) {
		const char *const what = argv[i];

		if (strcmp(what, "set") == 0)
			(void)setenv(NAME, "set.py::test (call)", 1);
		else if (strcmp(what, "put") == 0)
			(void)putenv(put);
		else if (strcmp(what, "unset") == 0)
			(void)unsetenv(NAME);
		else if (strcmp(what, "big") == 0)
			grow();
		else if (strcmp(what, "long") == 0)
			set_long();
		else if (strcmp(what, "null") == 0)
			environ = NULL;
		else if (strcmp(what, "garbage") == 0)
			environ = garbage;
		else if (strcmp(what, "hide") == 0)
			(void)prctl(PR_SET_DUMPABLE, 0);
		else if (strcmp(what, "exec") == 0 && i + 1 < argc)
			return execv(argv[i + 1], argv + i + 1);
		else if (strcmp(what, "thread") == 0)
			return pthread_create(&thread, NULL, run_thread,
					      NULL) != 0 ||
			       pthread_join(thread, NULL) != 0;
	}
	return wait_for_end();
}
