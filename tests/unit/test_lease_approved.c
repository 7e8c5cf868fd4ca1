/* SPDX-License-Identifier: MIT */
/* Leases and the calls that the gate has approved. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/lease_internal.h"
#include "platform/system.h"
#include "platform/watch.h"
#include "support/check.h"
#include "support/leased.h"

static struct hf_leased leased;

static void setup(void)
{
	hf_leased_setup(&leased, getpid());
}

static void teardown(void)
{
	hf_leased_teardown(&leased);
}

TestSuite(lease_approved, .init = setup, .fini = teardown);

static void judge_without_openers(void)
{
	struct pollfd fd = {.fd = leased.signal_fd, .events = POLLIN};

	cr_assert_eq(poll(&fd, 1, -1), 1);
	hf_leased_take_signals(&leased);
	cr_assert_eq(hf_leases_judge(leased.leases, &leased.openers), 0);
	cr_expect_eq(leased.openers.count, 0);
}

Test(lease_approved, meets_no_lease)
{
	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_expect_eq(hf_leases_approve(leased.leases, 0, getpid()), 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0);
	hf_leases_retake(leased.leases, 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect(hf_leases_was_held(leased.leases, 0));
}

Test(lease_approved, of_an_unknown_file_is_nothing)
{
	cr_expect_eq(hf_leases_approve(leased.leases, 0, getpid()), 0);
	cr_expect_eq(hf_leases_approve(leased.leases, 1000, getpid()), 0);
	hf_leases_forget(leased.leases, getpid());
	hf_leases_release(leased.leases, 5);
	hf_leases_retake(leased.leases, 5);
	hf_leases_renew(leased.leases, 5);
	cr_expect_not(hf_leases_was_held(leased.leases, 5));
}

/* The lease was retaken before the call got so far. */
Test(lease_approved, that_meets_a_retaken_lease_goes_on)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	opener = hf_opener_start(&leased, "f", O_RDWR, 0);
	/* Not approved yet, so that it waits for certain. */
	hf_opener_wait_blocked(opener.pid, opener.pid);
	cr_assert_eq(hf_leases_approve(leased.leases, 0, opener.pid), 0);
	cr_expect(hf_opener_is_busy(&opener), "released what was broken");
	judge_without_openers();
	cr_expect_eq(hf_opener_result(&opener), 0);
	cr_expect(hf_leases_was_held(leased.leases, 0));
}

Test(lease_approved, of_a_call_that_is_over_is_none)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	opener = hf_opener_start(&leased, "f", O_RDWR, 0);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	cr_assert_eq(hf_leases_approve(leased.leases, 0, opener.pid), 0);
	hf_leases_forget(leased.leases, opener.pid);
	hf_leased_judge(&leased);
	cr_expect_eq(leased.openers.count, 1);
	cr_expect_eq(leased.openers.items[0].side, HF_LEASE_INSIDE);
	hf_leases_release(leased.leases, 0);
	cr_expect_eq(hf_opener_result(&opener), 0);
}

/* Approved while one file had the name, opened when another has it. */
Test(lease_approved, is_of_the_name_as_well)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	hf_put_file(leased.dir_fd, "new", "other\n");
	opener = hf_opener_start_held(&leased, "f", O_RDWR);
	cr_assert_eq(hf_leases_approve(leased.leases, 0, opener.pid), 0);
	cr_assert_eq(renameat(leased.dir_fd, "new", leased.dir_fd, "f"), 0);
	hf_leases_renew(leased.leases, 0);
	hf_opener_go(&opener);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	judge_without_openers();
	cr_expect_eq(hf_opener_result(&opener), 0);
}

/* No close follows an open that fails. */
Test(lease_approved, wakes_the_main_thread)
{
	struct pollfd fd = {.fd = hf_leases_fd(leased.leases),
			    .events = POLLIN};

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_expect_eq(poll(&fd, 1, 0), 0);
	cr_expect_eq(hf_leases_approve(leased.leases, 0, getpid()), 0);
	cr_expect_eq(poll(&fd, 1, 0), 1);
	cr_expect(hf_leases_due(leased.leases) > 0);
	cr_expect_eq(poll(&fd, 1, 0), 0);
	cr_expect_eq(hf_leases_approve(leased.leases, 0, getpid()), 0);
	cr_expect_eq(poll(&fd, 1, 0), 0, "it comes anyway");
}

Test(lease_approved, of_another_file_is_none)
{
	struct hf_opener opener;

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_assert_eq(hf_leased_add(&leased, "g", 1), 1);
	opener = hf_opener_start(&leased, "f", O_RDWR, 0);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	cr_assert_eq(hf_leases_approve(leased.leases, 1, opener.pid), 0);
	hf_leased_judge(&leased);
	cr_expect_eq(leased.openers.count, 1);
	cr_expect_eq(leased.openers.items[0].side, HF_LEASE_INSIDE);
	cr_expect_eq(leased.openers.items[0].tag, 0);
	hf_leases_release(leased.leases, 0);
	cr_expect_eq(hf_opener_result(&opener), 0);
}

/* Threads that came and went leave places; those that live keep theirs. */
Test(lease_approved, are_remembered_in_any_number)
{
	const struct hf_lease file = {.file = {1, 2}, .tag = 0};
	const struct hf_lease other = {.file = {1, 3}, .tag = 1};
	struct hf_lease_calls calls = {.items = NULL};
	int64_t tids[2];

	cr_assert_eq(
		hf_lease_calls_note(&calls, leased.proc_fd, getpid(), &file),
		0);
	/* Numbers beyond any thread's. */
	for (int64_t tid = 1 << 23; tid < (1 << 23) + 10000; tid++)
		cr_assert_eq(hf_lease_calls_note(&calls, leased.proc_fd, tid,
						 &other),
			     0);
	cr_expect(calls.size <= 1024, "those that have ended fill it");
	cr_expect(hf_lease_calls_has(&calls, getpid(), &file));
	cr_expect(hf_lease_calls_has(&calls, getpid(), NULL));
	cr_expect_not(hf_lease_calls_has(&calls, getpid(), &other));
	cr_expect_eq(hf_lease_calls_of(&calls, &file, tids, 2), 1);
	cr_expect_eq(tids[0], getpid());
	cr_expect_eq(hf_lease_calls_of(&calls, &other, tids, 2), 2);
	hf_lease_calls_end(&calls, getpid());
	cr_expect_not(hf_lease_calls_has(&calls, getpid(), NULL));
	free(calls.items);
}

/* -- a storm ------------------------------------------------------------- */

#define CHILDREN 4
#define OPENS	 2500

struct storm {
	int ask[2]; /* the number of a child, to the gate */
	int answer[CHILDREN][2];
	pid_t pids[CHILDREN];
	atomic_int is_over;
};

/* Ask, open, close: how a gated program looks from here. */
static _Noreturn void open_often(const struct storm *storm, int number)
{
	for (int i = 0; i < OPENS; i++) {
		char go;
		int fd;

		if (write(storm->ask[1], &number, sizeof(number)) !=
			    (ssize_t)sizeof(number) ||
		    read(storm->answer[number][0], &go, 1) != 1)
			_exit(1);
		fd = openat(leased.dir_fd, "f", O_RDWR | O_CLOEXEC);
		if (fd < 0 || close(fd) < 0)
			_exit(2);
	}
	_exit(0);
}

static void approve_all(void *context)
{
	struct storm *const storm = context;
	int number;

	while (read(storm->ask[0], &number, sizeof(number)) ==
	       (ssize_t)sizeof(number)) {
		if (hf_leases_approve(leased.leases, 0, storm->pids[number]) <
		    0)
			break;
		if (write(storm->answer[number][1], "g", 1) != 1)
			break;
	}
	storm->is_over = 1;
}

static void start_storm(struct storm *storm)
{
	cr_assert_eq(pipe2(storm->ask, O_CLOEXEC), 0);
	for (int i = 0; i < CHILDREN; i++)
		cr_assert_eq(pipe2(storm->answer[i], O_CLOEXEC), 0);
	for (int i = 0; i < CHILDREN; i++) {
		storm->pids[i] = fork();
		cr_assert(storm->pids[i] >= 0);
		if (storm->pids[i] == 0) {
			hf_opener_end_with_us();
			(void)close(storm->ask[0]);
			open_often(storm, i);
		}
	}
	(void)close(storm->ask[1]);
}

/* Guard's loop: how many openers were told. */
static size_t watch_over(struct storm *storm, struct hf_watch *watch)
{
	struct pollfd fds[2] = {
		{.fd = leased.signal_fd, .events = POLLIN},
		{.fd = hf_watch_fd(watch), .events = POLLIN},
	};
	size_t told = 0;

	while (!storm->is_over) {
		struct hf_watch_event event;

		cr_assert(poll(fds, 2, 10) >= 0);
		hf_leased_take_signals(&leased);
		cr_assert_eq(hf_leases_judge(leased.leases, &leased.openers),
			     0);
		for (size_t i = 0; i < leased.openers.count; i++) {
			told += leased.openers.items[i].side != HF_LEASE_NOBODY;
			hf_leases_release(leased.leases, 0);
		}
		hf_lease_openers_done(&leased.openers);
		while (hf_watch_next(watch, &event) == 1)
			if (event.kinds & HF_WATCH_CLOSED)
				hf_leases_retake(leased.leases, 0);
		(void)hf_leases_due(leased.leases);
	}
	return told;
}

Test(lease_approved, ten_thousand_get_through_and_none_is_told)
{
	cleanup_watch struct hf_watch *watch = NULL;
	struct hf_thread *gate = NULL;
	struct storm storm = {.is_over = 0};
	char path[512];

	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	(void)snprintf(path, sizeof(path), "%s/f", leased.dir);
	cr_assert_eq(hf_watch_new(&watch), 0);
	cr_assert_eq(hf_watch_add_file(watch, path, 0), 0);
	start_storm(&storm);
	cr_assert_eq(hf_thread_start(approve_all, &storm, &gate), 0);
	cr_expect_eq(watch_over(&storm, watch), 0);
	hf_thread_join(&gate);
	for (int i = 0; i < CHILDREN; i++) {
		int status;

		cr_assert_eq(waitpid(storm.pids[i], &status, 0), storm.pids[i]);
		cr_expect_eq(status, 0);
	}
	hf_leases_retake(leased.leases, 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN, "armed at the end");
}
