/* SPDX-License-Identifier: MIT */
/* Advisory locks by flock(2). */
#include "platform/lock.h"

#include <sys/file.h>
#include <time.h>

#include "platform/linux/file_internal.h"

#define PAUSE_MS 5u

static int operation_of(enum hf_lock_mode mode)
{
	return mode == HF_LOCK_EXCLUSIVE ? LOCK_EX : LOCK_SH;
}

int hf_lock_try(int fd, enum hf_lock_mode mode)
{
	return HF_CALL(flock(fd, operation_of(mode) | LOCK_NB));
}

int hf_lock_wait(int fd, enum hf_lock_mode mode)
{
	return HF_CALL(flock(fd, operation_of(mode)));
}

/* flock(2) has no limit of its own, and a signal would be the caller's. */
int hf_lock_wait_for(int fd, enum hf_lock_mode mode, unsigned limit_ms)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000L * 1000};
	int rc = hf_lock_try(fd, mode);

	for (unsigned waited = 0; rc == -EAGAIN && waited < limit_ms;
	     waited += PAUSE_MS) {
		(void)nanosleep(&pause, NULL);
		rc = hf_lock_try(fd, mode);
	}
	return rc;
}

void hf_lock_release(int fd)
{
	(void)flock(fd, LOCK_UN);
}
