/* SPDX-License-Identifier: MIT */
/*
 * Who is at a system call, and in which test.
 *
 *	struct hf_suspect suspect;
 *	rc = hf_culprit_look(tasks, tid, &suspect);
 *	... is there such a violation already? ...
 *	culprit = hf_culprit_keep(&arena, suspect.task);
 */
#ifndef HF_GUARD_CULPRIT_H
#define HF_GUARD_CULPRIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "guard/test_name.h"

struct hf_arena;
struct hf_culprit;
struct hf_task;
struct hf_tasks;

struct hf_suspect {
	const struct hf_task *task;	/* until the next look */
	bool has_test;
	/* From the thread that is held; false: from a process that runs on, or
	 * a name that is cut. */
	bool is_test_exact;
	char test[HF_TEST_NAME_MAX];
};

/*
 * Looks at the held thread.  The test is the one in the environment of its
 * process, else of the nearest parent that has one up to the command, else the
 * one the thread is named after.  0, or -errno: -ESRCH when the thread is gone.
 */
MUST_CHECK int hf_culprit_look(struct hf_tasks *tasks, int64_t tid,
			       struct hf_suspect *ret_suspect);

/* A copy that lives as long as the arena; NULL when out of memory. */
MUST_CHECK struct hf_culprit *hf_culprit_keep(struct hf_arena *arena,
					      const struct hf_task *task);

#endif /* HF_GUARD_CULPRIT_H */
