/* SPDX-License-Identifier: MIT */
/* Advisory locks by flock(2). */
#include "platform/lock.h"

#include <sys/file.h>

#include "platform/linux/file_internal.h"

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

void hf_lock_release(int fd)
{
	(void)flock(fd, LOCK_UN);
}
