/* SPDX-License-Identifier: MIT */
/* Broken leases: who is named, who is let through, who is kept waiting. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/lease_internal.h"
#include "support/check.h"
#include "support/leased.h"

/* Nobody descends from this. */
#define NO_PROCESS (-1)

static struct hf_leased leased;

static void setup(void)
{
	hf_leased_setup(&leased, getpid());
}

static void setup_outside(void)
{
	hf_leased_setup(&leased, NO_PROCESS);
}

static void teardown(void)
{
	hf_leased_teardown(&leased);
}

TestSuite(lease_inside, .init = setup, .fini = teardown);
TestSuite(lease_outside, .init = setup_outside, .fini = teardown);

static void expect_one(const struct hf_opener *opener, enum hf_lease_side side)
{
	const struct hf_lease_opener *const told = leased.openers.items;

	cr_assert_eq(leased.openers.count, 1);
	cr_expect_eq(leased.lost, 0, "the signal does not name the file");
	cr_expect_eq(told->side, side);
	cr_expect_eq(told->tag, 3);
	cr_expect(told->is_certain);
	cr_expect_eq(told->process.pid, opener->pid);
	cr_expect_eq(told->process.parent, getpid());
	cr_expect_eq(told->tid, opener->pid);
	cr_expect_eq(told->uid, geteuid());
	cr_expect(told->is_in_namespaces);
	cr_expect(told->process.comm[0] != '\0');
	cr_expect(told->process.command_line_len > 0);
}

Test(lease_inside, an_opener_is_named_and_waits)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	opener = hf_opener_start(&leased, "f", O_RDWR, 0);
	hf_leased_judge(&leased);
	expect_one(&opener, HF_LEASE_INSIDE);

	/* It goes on waiting, whatever we do meanwhile. */
	hf_opener_wait_blocked(opener.pid, opener.pid);
	hf_leases_retake(leased.leases, 3);
	(void)hf_leases_due(leased.leases);
	cr_expect(hf_opener_is_busy(&opener));

	/* Ended first, it has done nothing. */
	cr_assert_eq(kill(opener.pid, SIGKILL), 0);
	cr_assert_eq(waitpid(opener.pid, NULL, 0), opener.pid);
	(void)close(opener.result_fd);
	hf_leases_release_all(leased.leases);
	cr_expect(hf_file_has(leased.dir_fd, "f", "content\n"));
}

Test(lease_outside, an_opener_is_named_and_let_through)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	opener = hf_opener_start(&leased, "f", O_WRONLY | O_TRUNC, 0);
	hf_leased_judge(&leased);
	expect_one(&opener, HF_LEASE_OUTSIDE);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	hf_leases_release(leased.leases, 3);
	cr_expect_eq(hf_opener_result(&opener), 0);

	hf_leases_retake(leased.leases, 3);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_not(hf_leases_was_held(leased.leases, 3));
}

Test(lease_outside, truncating_by_path_is_an_opening)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	opener = hf_truncater_start(&leased, "f");
	hf_leased_judge(&leased);
	expect_one(&opener, HF_LEASE_OUTSIDE);
	cr_expect(hf_file_has(leased.dir_fd, "f", "content\n"));
	hf_leases_release(leased.leases, 3);
	cr_expect_eq(hf_opener_result(&opener), 0);
	cr_expect(hf_file_has(leased.dir_fd, "f", ""));
}

Test(lease_outside, one_that_does_not_wait_is_nobody)
{
	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
		hf_leased_judge(&leased);
		cr_assert_eq(leased.openers.count, 1);
		cr_expect_eq(leased.openers.items[0].side, HF_LEASE_NOBODY);
		cr_expect_eq(leased.openers.items[0].process.pid, 0);
	}
	cr_expect(hf_leases_was_held(leased.leases, 3));
}

Test(lease_outside, one_that_was_ended_meanwhile_is_nobody)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	opener = hf_opener_start(&leased, "f", O_RDWR, 0);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	cr_assert_eq(kill(opener.pid, SIGKILL), 0);
	cr_assert_eq(waitpid(opener.pid, NULL, 0), opener.pid);
	(void)close(opener.result_fd);
	hf_leased_judge(&leased);
	cr_assert_eq(leased.openers.count, 1);
	cr_expect_eq(leased.openers.items[0].side, HF_LEASE_NOBODY);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
}

Test(lease_outside, each_waits_for_its_own_file)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct hf_opener openers[HF_COUNT(names)];
	size_t told = 0;

	for (size_t i = 0; i < HF_COUNT(names); i++)
		cr_assert_eq(hf_leased_add(&leased, names[i], i), 1);
	for (size_t i = 0; i < HF_COUNT(names); i++)
		openers[i] = hf_opener_start(&leased, names[i], O_RDWR, 0);
	while (told < HF_COUNT(names)) {
		hf_leased_judge(&leased);
		for (size_t i = 0; i < leased.openers.count; i++) {
			const struct hf_lease_opener *const opener =
				&leased.openers.items[i];

			cr_expect(opener->is_certain);
			cr_expect_eq(opener->process.pid,
				     openers[opener->tag].pid);
			hf_leases_release(leased.leases, opener->tag);
			told++;
		}
	}
	for (size_t i = 0; i < HF_COUNT(names); i++)
		cr_expect_eq(hf_opener_result(&openers[i]), 0);
}

Test(lease_outside, all_who_wait_for_one_file_are_named)
{
	struct hf_opener openers[5];

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	for (size_t i = 0; i < HF_COUNT(openers); i++) {
		openers[i] = hf_opener_start(&leased, "f", O_RDWR, 0);
		hf_opener_wait_blocked(openers[i].pid, openers[i].pid);
	}
	hf_leased_judge(&leased);
	cr_expect_eq(leased.openers.count, HF_COUNT(openers));
	hf_leases_release(leased.leases, 3);
	for (size_t i = 0; i < HF_COUNT(openers); i++)
		cr_expect_eq(hf_opener_result(&openers[i]), 0);
}

/* After lease-break-time, when guard had stood still for so long. */
Test(lease_outside, a_lease_that_the_kernel_took_away_was_not_held)
{
	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	cr_assert_eq(fcntl(leased.leases->items[0].fd, F_SETLEASE, F_UNLCK), 0);
	hf_leases_signals_lost(leased.leases);
	cr_assert_eq(hf_leases_judge(leased.leases, &leased.openers), 0);
	cr_assert_eq(leased.openers.count, 1);
	cr_expect_eq(leased.openers.items[0].side, HF_LEASE_NOBODY);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_not(hf_leases_was_held(leased.leases, 3));
}

Test(lease_outside, what_was_released_is_not_broken)
{
	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	hf_leases_release(leased.leases, 3);
	hf_leases_retake(leased.leases, 3);
	hf_leases_release_all(leased.leases);
	hf_leased_take_signals(&leased);
	hf_leases_signals_lost(leased.leases);
	cr_assert_eq(hf_leases_judge(leased.leases, &leased.openers), 0);
	cr_expect_eq(leased.openers.count, 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0);
}

/* Two protected names of one file: neither can be let go alone. */
Test(lease_outside, both_names_of_a_file_are_released)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	cr_assert_eq(linkat(leased.dir_fd, "f", leased.dir_fd, "g", 0), 0);
	cr_assert_eq(hf_leases_add(leased.leases, leased.dir_fd, "g", 4), 1);
	opener = hf_opener_start(&leased, "g", O_RDWR, 0);
	hf_leased_judge(&leased);
	cr_expect_eq(leased.openers.count, 2);
	hf_leases_release(leased.leases, 3);
	cr_expect_eq(hf_opener_result(&opener), 0);

	hf_leases_retake(leased.leases, 3);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	hf_leased_judge(&leased);
	cr_expect_eq(hf_leases_approve(leased.leases, 4, getpid()), 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0);
}

static void *open_it(void *result)
{
	const int fd = openat(leased.dir_fd, "f", O_RDWR | O_CLOEXEC);

	(void)close(fd);
	*(int *)result = fd < 0 ? errno : 0;
	return NULL;
}

/* In a process of two threads it is the second that opens. */
static pid_t start_threaded(void)
{
	const pid_t pid = fork();
	pthread_t thread;
	int result = -1;

	if (pid != 0)
		return pid;
	hf_opener_end_with_us();
	if (pthread_create(&thread, NULL, open_it, &result) != 0)
		_exit(1);
	(void)pthread_join(thread, NULL);
	_exit(result);
}

/* How often the process is found, by its threads. */
static size_t count_waiting(pid_t pid)
{
	cleanup_lease_waiters struct hf_lease_waiters waiters =
		HF_LEASE_WAITERS_INIT;
	size_t count = 0;

	cr_assert_eq(hf_lease_find_by_threads(leased.proc_fd, &waiters), 0);
	for (size_t i = 0; i < waiters.count; i++)
		if (waiters.items[i].pid == pid)
			count += waiters.items[i].count;
	return count;
}

Test(lease_outside, the_thread_is_named)
{
	const struct hf_lease_opener *told;
	pid_t pid;
	int status;

	cr_assert_eq(hf_leased_add(&leased, "f", 3), 1);
	pid = start_threaded();
	while (count_waiting(pid) == 0)
		continue;
	hf_leased_judge(&leased);
	told = leased.openers.items;
	cr_assert_eq(leased.openers.count, 1);
	cr_expect_eq(told->process.pid, pid);
	cr_expect_eq(hf_lease_thread_look(leased.proc_fd, pid, told->tid),
		     HF_LEASE_THREAD_WAITS);
	cr_expect_neq(told->tid, pid);
	hf_leases_release(leased.leases, 3);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}
