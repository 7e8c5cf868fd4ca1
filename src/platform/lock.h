/* SPDX-License-Identifier: MIT */
/*
 * Advisory locks on an open file (flock): shared by all duplicates of the
 * descriptor, forked ones too, and gone when the last of them is closed.  A
 * dead owner holds nothing.
 */
#ifndef HF_PLATFORM_LOCK_H
#define HF_PLATFORM_LOCK_H

#include "base/defs.h"

enum hf_lock_mode { HF_LOCK_SHARED, HF_LOCK_EXCLUSIVE };

/* 0 when taken, -EAGAIN when somebody else holds it. */
MUST_CHECK int hf_lock_try(int fd, enum hf_lock_mode mode);
/* Waits until it is free. */
MUST_CHECK int hf_lock_wait(int fd, enum hf_lock_mode mode);
/* The same, but not much longer than this: -EAGAIN then. */
MUST_CHECK int hf_lock_wait_for(int fd, enum hf_lock_mode mode,
				unsigned limit_ms);
void hf_lock_release(int fd);

#endif /* HF_PLATFORM_LOCK_H */
