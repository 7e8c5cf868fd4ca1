/* SPDX-License-Identifier: MIT */
/* How a project's tests are run, by the files that it has. */
#ifndef HF_CORE_RUNNERS_H
#define HF_CORE_RUNNERS_H

#include <stddef.h>

#include "base/defs.h"

#define HF_RUNNERS_MAX 8

struct hf_runners {
	const char *commands[HF_RUNNERS_MAX]; /* the likeliest first */
	size_t count;
};

/* Looks for a few names and into the beginning of a few files; what cannot be
 * read says nothing. */
void hf_runners_find(int root_fd, struct hf_runners *found);

#endif /* HF_CORE_RUNNERS_H */
