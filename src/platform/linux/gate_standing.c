/* SPDX-License-Identifier: MIT */
/*
 * Where a caller stands: its working directory, held open, so that a loop of calls
 * does not pay for finding it through /proc each time.
 *
 * Only a second call in a row by the same thread makes it worth it.  chdir() and
 * fchdir() are told of before they happen, by a thread that may share its
 * directory with others: for a while after one nothing is held.  What is held is
 * given up after as long, before the number can be another thread's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/gate_internal.h"

#define NS_PER_SECOND	INT64_C(1000000000)
#define HELD_NS		(NS_PER_SECOND / 10)

/* To the next tick, for little. */
static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

void gate_standing_moves(struct gate_standing *standing)
{
	standing->tid = 0;
	standing->moving_until_ns = now_ns() + HELD_NS;
}

int gate_standing_of(struct gate_standing *standing, int proc_fd, uint32_t tid)
{
	const bool is_again = standing->last_tid == tid;
	char path[GATE_LEAD_MAX];
	int64_t now;

	standing->last_tid = tid;
	if (!is_again)
		return -1;
	now = now_ns();
	if (now < standing->moving_until_ns)
		return -1;
	if (standing->tid == tid && now < standing->until_ns)
		return standing->fd;
	hf_file_close_quietly(&standing->fd);
	(void)snprintf(path, sizeof(path), "%u/cwd", tid);
	standing->fd =
		openat(proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	standing->tid = standing->fd < 0 ? 0 : tid;
	standing->until_ns = now + HELD_NS;
	return standing->fd;
}
