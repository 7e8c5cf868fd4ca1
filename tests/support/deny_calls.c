/* SPDX-License-Identifier: MIT */
/* Take system calls away by a seccomp filter. */
#include "support/deny_calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 32

/* Newer than the headers that we want to build with. */
#define CALL_FCHMODAT2	 452
#define CALL_LISTXATTRAT 465

int hf_deny_calls(const long *calls, size_t count, int error)
{
	struct sock_filter filter[2 * CALLS_MAX + 2];
	struct sock_fprog program = {.filter = filter};
	unsigned short len = 0;

	if (count > CALLS_MAX) {
		errno = E2BIG;
		return -1;
	}
	filter[len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < count; i++) {
		filter[len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		filter[len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K,
			SECCOMP_RET_ERRNO |
				((unsigned)error & SECCOMP_RET_DATA));
	}
	filter[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						     SECCOMP_RET_ALLOW);
	program.len = len;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int hf_deny_newer_calls(int error)
{
	static const long calls[] = {SYS_openat2, CALL_FCHMODAT2,
				     CALL_LISTXATTRAT};

	return hf_deny_calls(calls, sizeof(calls) / sizeof(calls[0]), error);
}
