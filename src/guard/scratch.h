/* SPDX-License-Identifier: MIT */
/*
 * A directory to try something in, which is gone afterwards.
 *
 *	cleanup_scratch struct hf_scratch scratch = HF_SCRATCH_INIT;
 *
 *	rc = hf_scratch_make(&scratch, directory, err);
 */
#ifndef HF_GUARD_SCRATCH_H
#define HF_GUARD_SCRATCH_H

#include "base/defs.h"

struct hf_error;

struct hf_scratch {
	char *path;		/* canonical; NULL: none was made */
	int fd;
	int parent_fd;
};

#define HF_SCRATCH_INIT { .fd = -1, .parent_fd = -1 }
#define cleanup_scratch CLEANUP(hf_scratch_remove)

/* directory NULL: where programs keep their state. */
MUST_CHECK int hf_scratch_make(struct hf_scratch *scratch,
			       const char *directory, struct hf_error *err);
/* With all that is in it. */
void hf_scratch_remove(struct hf_scratch *scratch);

#endif /* HF_GUARD_SCRATCH_H */
