/* SPDX-License-Identifier: MIT */
/*
 * Run a command as on a kernel without openat2 and its younger sisters:
 *
 *	no_openat2 holdfast run -- make check
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "support/deny_calls.h"

int main(int argc, char **argv)
{
	if (argc < 2) {
		(void)fprintf(stderr, "usage: no_openat2 COMMAND [ARG...]\n");
		return 125;
	}
	if (hf_deny_newer_calls(ENOSYS) < 0) {
		perror("no_openat2: cannot install the filter");
		return 77;
	}
	(void)execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
