/* SPDX-License-Identifier: MIT */
/*
 * Take system calls away from this process and its children, so that the ways
 * around them are tested on any kernel.
 */
#ifndef HF_TESTS_DENY_CALLS_H
#define HF_TESTS_DENY_CALLS_H

#include <stddef.h>

/*
 * From now on each of the calls fails with error: ENOSYS as on an old kernel,
 * EPERM as in some containers.  0, or -1 with errno.
 */
int hf_deny_calls(const long *calls, size_t count, int error);

/* The calls that we use where they exist and can do without. */
int hf_deny_newer_calls(int error);

#endif /* HF_TESTS_DENY_CALLS_H */
