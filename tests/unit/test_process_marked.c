/* SPDX-License-Identifier: MIT */
/* Only what carries both variables, and began since, is ended. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/job.h"
#include "platform/system.h"

/* Programs that become another one all the time. */
#define EXECS 200
#define ARGS  5

static const char *const variables[] = {"HF_TEST_NAME=000001", NULL, NULL};
static char other[64];
static const char *wanted[3];

static void setup(void)
{
	/* Nobody else's tests carry it. */
	(void)snprintf(other, sizeof(other), "HF_TEST_PLACE=%d", (int)getpid());
	wanted[0] = variables[0];
	wanted[1] = other;
	wanted[2] = NULL;
}

TestSuite(process_marked, .init = setup);

/* A program with this environment. */
static pid_t start_program(const char *const argv[ARGS], const char *first,
			   const char *second)
{
	char *copy[ARGS];
	char *const environment[] = {strdup(first), strdup(second), NULL};
	int ready[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		memcpy(copy, argv, sizeof(copy));
		(void)execve(copy[0], copy, environment);
		_exit(1);
	}
	/* It closes in the middle of the exec. */
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 0);
	(void)close(ready[0]);
	free(environment[0]);
	free(environment[1]);
	return pid;
}

/* One that sleeps. */
static pid_t start(const char *first, const char *second)
{
	static const char *const argv[ARGS] = {"/bin/sleep", "1000", NULL};

	return start_program(argv, first, second);
}

/* The signal that ended it; it is ended if it lives. */
static bool was_ended(pid_t pid)
{
	int status;
	const pid_t ended = waitpid(pid, &status, WNOHANG);

	if (ended == pid)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, &status, 0);
	return false;
}

Test(process_marked, only_with_both)
{
	const int64_t since = hf_system_boot_ns();
	const pid_t both = start(variables[0], other);
	const pid_t swapped = start(other, variables[0]);
	const pid_t one = start(variables[0], "HF_TEST_PLACE=elsewhere");
	const pid_t longer = start("HF_TEST_NAME=0000012", other);
	size_t ended;

	cr_expect_eq(hf_process_end_marked(wanted, since, &ended), 0);
	cr_expect_eq(ended, 2);
	cr_expect(was_ended(both));
	cr_expect(was_ended(swapped));
	cr_expect_not(was_ended(one));
	cr_expect_not(was_ended(longer));
}

/* Until the kernel has put it in place, the environment is empty. */
Test(process_marked, in_the_middle_of_an_exec)
{
	static const char again[] = "exec /bin/sh -c \"$0\" \"$0\"";
	static const char *const argv[ARGS] = {"/bin/sh", "-c", again, again,
					       NULL};

	for (unsigned i = 0; i < EXECS; i++) {
		const int64_t since = hf_system_boot_ns();
		const pid_t pid = start_program(argv, variables[0], other);
		size_t ended;

		cr_expect_eq(hf_process_end_marked(wanted, since, &ended), 0);
		cr_expect_eq(ended, 1, "round %u", i);
		cr_expect(was_ended(pid));
	}
}

Test(process_marked, nothing_older)
{
	const pid_t pid = start(variables[0], other);
	/* Starts are told in ticks: two seconds are many. */
	const int64_t later = hf_system_boot_ns() + INT64_C(2000000000);
	size_t ended;

	cr_expect_eq(hf_process_end_marked(wanted, later, &ended), 0);
	cr_expect_eq(ended, 0);
	cr_expect_not(was_ended(pid));
}
