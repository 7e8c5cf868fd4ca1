/* SPDX-License-Identifier: MIT */
/* Locks: who keeps whom out, and for how long. */
#include "platform/lock.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;
static int a_fd;
static int b_fd;

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hf_put_file(top_fd, "lock", "");
	a_fd = openat(top_fd, "lock", O_RDONLY | O_CLOEXEC);
	b_fd = openat(top_fd, "lock", O_RDONLY | O_CLOEXEC);
	cr_assert(top_fd >= 0 && a_fd >= 0 && b_fd >= 0);
}

static void teardown(void)
{
	(void)close(a_fd);
	(void)close(b_fd);
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(lock, .init = setup, .fini = teardown, .timeout = 60);

Test(lock, who_keeps_whom_out)
{
	static const struct {
		enum hf_lock_mode first;
		enum hf_lock_mode second;
		int rc;
	} rows[] = {
		{HF_LOCK_SHARED, HF_LOCK_SHARED, 0},
		{HF_LOCK_SHARED, HF_LOCK_EXCLUSIVE, -EAGAIN},
		{HF_LOCK_EXCLUSIVE, HF_LOCK_SHARED, -EAGAIN},
		{HF_LOCK_EXCLUSIVE, HF_LOCK_EXCLUSIVE, -EAGAIN},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cr_expect_eq(hf_lock_try(a_fd, rows[i].first), 0);
		cr_expect_eq(hf_lock_try(b_fd, rows[i].second), rows[i].rc,
			     "%zu", i);
		hf_lock_release(a_fd);
		cr_expect_eq(hf_lock_try(b_fd, HF_LOCK_EXCLUSIVE), 0);
		hf_lock_release(b_fd);
	}
	cr_expect_eq(hf_lock_try(-1, HF_LOCK_SHARED), -EBADF);
	cr_expect_eq(hf_lock_wait(-1, HF_LOCK_SHARED), -EBADF);
}

/* A child that holds the lock through a descriptor of ours until the end. */
static pid_t fork_holder(int *ret_end)
{
	int pipe_fds[2];
	pid_t pid;

	cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		char byte;

		(void)close(pipe_fds[1]);
		_exit(read(pipe_fds[0], &byte, 1) < 0 ? 1 : 0);
	}
	(void)close(pipe_fds[0]);
	*ret_end = pipe_fds[1];
	return pid;
}

Test(lock, is_shared_with_a_child_and_gone_with_the_last)
{
	pid_t pid;
	int end;

	cr_assert_eq(hf_lock_try(a_fd, HF_LOCK_EXCLUSIVE), 0);
	pid = fork_holder(&end);
	(void)close(a_fd);
	cr_expect_eq(hf_lock_try(b_fd, HF_LOCK_EXCLUSIVE), -EAGAIN);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_expect_eq(hf_lock_try(b_fd, HF_LOCK_EXCLUSIVE), 0);
	(void)close(end);
	a_fd = -1;
}

static int end_of_holder;
static int signals_left;

/* The third signal lets the holder go. */
static void count_signal(int signal_number)
{
	(void)signal_number;
	if (--signals_left == 0)
		(void)close(end_of_holder);
}

Test(lock, wait_outlasts_signals)
{
	const struct sigaction action = {.sa_handler = count_signal};
	const struct itimerval often = {.it_interval = {.tv_usec = 20000},
					.it_value = {.tv_usec = 20000}};
	const struct itimerval never = {.it_value = {.tv_sec = 0}};
	pid_t pid;

	cr_assert_eq(hf_lock_try(a_fd, HF_LOCK_EXCLUSIVE), 0);
	pid = fork_holder(&end_of_holder);
	(void)close(a_fd);
	a_fd = -1;

	signals_left = 3;
	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	cr_expect_eq(hf_lock_wait(b_fd, HF_LOCK_EXCLUSIVE), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	cr_expect_leq(signals_left, 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
