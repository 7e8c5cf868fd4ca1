/* SPDX-License-Identifier: MIT */
/* Which calls change a file, how they are stopped at, and how they fail. */
#ifndef HF_SUPPORT_INJECT_H
#define HF_SUPPORT_INJECT_H

#include <stdbool.h>
#include <sys/types.h>

/* What it is about: the last name it is given, or what the descriptor is. */
struct inject_call {
	const char *name;
	char about[4096];
};

/* From now on this thread, and whatever comes from it, stops at such calls. */
int inject_filter(void);

/* Is the call that pid stopped at one that changes a file? */
bool inject_read_call(pid_t pid, struct inject_call *ret_call);

/* The call that pid stopped at fails; -1 and errno. */
int inject_fail(pid_t pid, int failure);

#endif /* HF_SUPPORT_INJECT_H */
